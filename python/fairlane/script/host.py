"""Interface of the host under test for the calls of the application."""

from __future__ import annotations

from typing import Any, Protocol

from .connection import Connection
from .cookies import Cookies, Request
from .expectations import ScriptFailure
from .flags import Flags
from .lexer import Source
from .model import Syscall
from .settings import Settings


class Host(Protocol):
    """Its clock, its settings and its connections; `fairlane.script.runner` has the one that runs."""

    source: Source
    settings: Settings
    flags: Flags
    cookies: Cookies
    now: int

    def failure(self, line: int, message: str) -> ScriptFailure:
        """Returns the failure of the script at a line."""

    def waited(self, call: Syscall, timeout: int) -> bool:
        """Returns true if the timeout of a waiting call, in milliseconds, is over."""

    def open(self, options: dict[str, Any], passive: bool, echo: int = 0, asked: Request | None = None, listener: Any = None) -> Connection:
        """Opens a connection, the only one whose packets are seen from then on."""

    def port_free(self, options: dict[str, Any]) -> tuple[bool, int]:
        """Returns true if a connection may begin at a bound port, and the timestamp it continues from (tcp_twsk_unique)."""

    def algorithm(self, name: str) -> bool:
        """Returns true if a congestion control of this name exists."""

    def change_algorithm(self, c: Connection, call: Syscall) -> None:
        """Sets the congestion control of an open connection; warns once data was sent."""
