"""setsockopt() and getsockopt()."""

from __future__ import annotations

from typing import Any

from . import symbols
from .buffer import LEAST
from .connection import Connection
from .diagnostics import near
from .fast_open import FastOpenCalls
from .model import WILD, Call, Name, Struct, Syscall
from .sockets import Failed, Socket

LEAST_RECEIVE = 2304
"""SOCK_MIN_RCVBUF."""
MSS_BOUNDS = (88, 32767)
"""Range of TCP_MAXSEG (TCP_MIN_MSS, MAX_TCP_WINDOW)."""


class Options(FastOpenCalls):
    """Calls that set and read socket options."""

    def call_setsockopt(self, call: Syscall) -> Any:
        sock = self.socket(call)
        if isinstance(sock, Failed):
            return sock
        name, value = self.option_name(call), self.option_value(call)
        if name in symbols.IGNORED and value not in (0, WILD):
            self.run.settings.warn(f"the socket option {name} has no effect here")
        if name in ("TCP_CONGESTION", "TCP_NODELAY", "TCP_MAXSEG", "SO_SNDBUF", "SO_RCVBUF") and value is WILD:
            raise self.bad(call, 3, f"{name} has to be given", "write a value instead of `...`")
        if name == "TCP_CONGESTION":
            if not isinstance(value, str):
                raise self.bad(call, 3, "TCP_CONGESTION takes a name", 'write "cubic"')
            if not self.run.algorithm(value):
                return Failed("ENOENT")
        if name == "TCP_MAXSEG" and isinstance(value, int) and value and not MSS_BOUNDS[0] <= value <= MSS_BOUNDS[1]:
            return Failed("EINVAL")
        if name.startswith("TCP_FASTOPEN") and (answer := self.set_fast_open(sock, name, value)) is not None:
            return answer
        sock.options[name.replace("FORCE", "")] = value
        if sock.connection is not None:
            self.set_now(call, sock, sock.connection, name, value)
        return 0

    def set_now(self, call: Syscall, sock: Socket, c: Connection, name: str, value: Any) -> None:
        """Sets an option of a connection that is open or opening."""
        now = self.run.now
        c.options[name.replace("FORCE", "")] = value
        if name == "TCP_NODELAY":
            c.nodelay = bool(value)
            if value:
                c.feed(now, push=True)
        elif name == "TCP_CORK":
            c.cork = bool(value)
            if not value:
                c.feed(now, push=c.nodelay)
        elif name == "TCP_QUICKACK" and not value:
            c.core.delay_acks()
        elif name == "TCP_CONGESTION":
            self.run.change_algorithm(c, call)
        elif name.startswith("SO_SNDBUF"):
            c.send_buffer.fix(value)
            c.has_room(now)
        elif name == "TCP_NOTSENT_LOWAT":
            c.has_room(now)
        elif name in ("SO_KEEPALIVE", "TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_USER_TIMEOUT"):
            c.feed(now)
        elif name == "SO_TIMESTAMPING":
            c.errors.first = c.written

    def option_name(self, call: Syscall) -> str:
        """Returns the name of the option; unknown names are refused before the script starts."""
        return call.args[2].text if len(call.args) > 2 and isinstance(call.args[2], Name) else ""

    def option_value(self, call: Syscall) -> Any:
        """Returns the value in the script without brackets."""
        value = call.args[3] if len(call.args) > 3 else None
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, Struct) and "onoff" in value.fields:
            value = (value.fields["onoff"], value.fields.get("linger", 0))
        if call.args[2:3] == (Name("SO_TIMESTAMPING"),):
            return self.words(value)
        if isinstance(value, Name) and value.text in symbols.VALUES:
            return symbols.VALUES[value.text]
        if isinstance(value, (Name, Call)):
            raise self.bad(
                call, 3, f"{value} is not a valid value of a socket option", near(str(value), ["1", "0"], "write a number, as in [1]")
            )
        return value

    def call_getsockopt(self, call: Syscall) -> Any:
        sock = self.socket(call)
        if isinstance(sock, Failed):
            return sock
        self.compare(call, 3, self.read_option(sock, self.option_name(call)))
        return 0

    def read_option(self, sock: Socket, name: str) -> Any:
        """Returns the value of getsockopt()."""
        c, settings = sock.connection, self.run.settings
        own = sock.options.get(name.replace("FORCE", ""))
        if name == "SO_ERROR":
            return self.take_error(c) or 0
        if name == "TCP_MAXSEG":
            return c.mss if c is not None and c.core is not None and c.was_established else own or 536
        if name == "TCP_CONGESTION":
            return own or settings.values["tcp_congestion_control"]
        if name.startswith("SO_SNDBUF"):
            if c is not None:
                return c.send_buffer.limit
            return max(2 * own, LEAST) if own else settings.memory("tcp_wmem")[1]
        if name.startswith("SO_RCVBUF"):
            return max(2 * own, LEAST_RECEIVE) if own else settings.memory("tcp_rmem")[1]
        if name == "SO_ACCEPTCONN":
            return int(sock.listening)
        if name == "SO_RCVLOWAT":
            return own or 1
        if name == "SO_TYPE":
            return 1
        return WILD if name == "TCP_INFO" else 0 if own is None else own

    @staticmethod
    def take_error(c: Connection | None) -> str | None:
        """Returns and clears the pending error of a socket."""
        if c is None:
            return None
        error, c.error = c.error, None
        return error
