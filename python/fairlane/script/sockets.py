"""Sockets of a script, and the arguments of calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .connection import Connection
from .host import Host
from .model import WILD, Name, Syscall

BLOCKS = object()
"""Result of a call that would block."""


@dataclass
class Failed:
    """Result of a call that returns -1 and an error."""

    errno: str


@dataclass
class Socket:
    """A file descriptor."""

    fd: int
    options: dict[str, Any] = field(default_factory=dict)
    nonblocking: bool = False
    listening: bool = False
    queue: list[Connection] = field(default_factory=list)
    connection: Connection | None = None
    connecting: bool = False
    epoll: dict[int, Any] | None = None
    pipe: list[int] | None = None
    """Bytes in a pipe, shared by its two ends."""
    file: bool = False
    deferred: bool = False
    """True if connect() left the SYN to the first write."""
    opening: Syscall | None = None
    """Write that waits for the handshake."""
    handed: bool = False
    fast_limit: int = 0
    """Largest number of connections of a listener before the end of their handshake."""
    writing: tuple[Syscall, int] | None = None
    """Call that waits for room, with the bytes written so far."""


class Sockets:
    """The file descriptors of a script."""

    def __init__(self, run: Host) -> None:
        self.run = run
        self.sockets: dict[int, Socket] = {}

    def bad(self, call: Syscall, index: int, message: str, help: str = "") -> Exception:
        token = call.arg_tokens[index] if index < len(call.arg_tokens) else call.token
        return self.run.source.error(token, message, help)

    def number(self, call: Syscall, index: int) -> int:
        value = call.args[index] if index < len(call.args) else None
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if not isinstance(value, int):
            raise self.bad(call, index, f"argument {index + 1} of {call.name} is a number", f"{call.name} takes numbers such as 1000")
        return value

    def socket(self, call: Syscall, index: int = 0) -> Socket | Failed:
        fd = self.number(call, index)
        return self.sockets[fd] if fd in self.sockets else Failed("EBADF")

    @staticmethod
    def words(value: Any) -> set[str]:
        """Returns the names in an expression such as O_RDWR|O_NONBLOCK."""
        parts = value if isinstance(value, tuple) else (value,)
        return {p.text for p in parts if isinstance(p, Name)}

    def fresh(self, call: Syscall) -> int:
        """Returns the number of a new descriptor in the script."""
        fd = call.result
        if not isinstance(fd, int) or fd < 0:
            fd = max([2, *self.sockets]) + 1
        return fd

    def compare(self, call: Syscall, index: int, value: Any) -> None:
        """Compares an argument that the call sets with the script."""
        want = call.args[index] if index < len(call.args) else WILD
        if isinstance(want, list) and len(want) == 1:
            want = want[0]
        if want is WILD or want == value:
            return
        if isinstance(want, Name) and want.text == value:
            return
        raise self.run.failure(call.line, f"{call.name}: argument {index + 1}: expected {want}, actual {value}")
