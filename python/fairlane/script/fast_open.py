"""Fast Open in the calls of the application (RFC 7413 section 4.3): MSG_FASTOPEN, TCP_FASTOPEN, TCP_FASTOPEN_CONNECT."""

from __future__ import annotations

from typing import Any

from .connection import IP_TCP
from .cookies import CLIENT, EVERY_LISTENER, KEY, SERVER, Request
from .model import Name, Syscall
from .sockets import BLOCKS, Failed, Socket, Sockets

FLAG = 0x20000000
"""Value of MSG_FASTOPEN."""


class FastOpenCalls(Sockets):
    """Calls that connect and send in one step."""

    def wants_fast_open(self, call: Syscall, sock: Socket, flags: set[str]) -> bool:
        """Returns true if a write may open the connection."""
        call_flags = call.args[3] if call.name in ("send", "sendto") and len(call.args) > 3 else None
        numbers = call_flags if isinstance(call_flags, tuple) else (call_flags,)
        return sock.deferred or sock.opening is call or "MSG_FASTOPEN" in flags or any(isinstance(n, int) and n & FLAG for n in numbers)

    def request(self, sock: Socket) -> Request:
        """Returns the Fast Open request of the SYN of a socket."""
        run = self.run
        mss = run.flags.mtu - IP_TCP[run.flags.header]
        user = sock.options.get("TCP_MAXSEG")
        return run.cookies.request(sock.options, min(mss, user) if user else mss)

    def send_fast(self, call: Syscall, sock: Socket, size: int, flags: set[str]) -> Any:
        """Executes a write that opens the connection (tcp_sendmsg_fastopen); returns None for a normal write."""
        run, waits = self.run, not (sock.nonblocking or "MSG_DONTWAIT" in flags)
        if not sock.deferred and sock.opening is not call:
            unspecified = len(call.args) > 4 and call.args[4] == Name("AF_UNSPEC")
            if not run.cookies.bits() & CLIENT or unspecified:
                return Failed("EOPNOTSUPP")
        if sock.connection is None:
            return self.begin(call, sock, size, waits)
        c = sock.connection
        if sock.opening is call:
            return self.go_on(call, sock, size)
        if c.error is not None or c.dead:
            return None
        if not c.established:
            return Failed("EALREADY")
        if not sock.connecting:
            return Failed("EISCONN")
        sock.connecting = False
        return None

    def begin(self, call: Syscall, sock: Socket, size: int, waits: bool) -> Any:
        """Sends the SYN with as much data as fits."""
        asked = self.request(sock)
        room = min(asked.limit, size)
        if room and len(call.args) > 1 and call.args[1] == Name("NULL"):
            return Failed("EFAULT")
        sock.deferred, sock.connecting = False, True
        c = sock.connection = self.run.open(sock.options, passive=False, asked=asked)
        c.open_with(self.run.now, size if waits else room)
        if not waits:
            return room or Failed("EINPROGRESS")
        sock.opening, sock.handed = call, size != 0
        return BLOCKS

    def go_on(self, call: Syscall, sock: Socket, size: int) -> Any:
        """Returns the result of a call that waits for the handshake."""
        c = sock.connection
        assert c is not None
        if c.error is not None or c.dead:
            sock.opening = None
            error, c.error = c.error, None
            return Failed(error or "EPIPE")
        if not c.established:
            return BLOCKS
        sock.opening, sock.connecting = None, False
        return size if sock.handed else None

    def connect_later(self, sock: Socket) -> Any:
        """Executes connect() with TCP_FASTOPEN_CONNECT: with a cookie the first write opens; None: it opens at once and requests one."""
        if sock.deferred:
            return Failed("EISCONN")
        asked = self.request(sock)
        sock.deferred = asked.option is None or bool(asked.option[0])
        return 0 if sock.deferred else None

    def set_fast_open(self, sock: Socket, name: str, value: Any) -> Any:
        """Sets a Fast Open socket option; returns None for other options, and without an error."""
        if name == "TCP_FASTOPEN_KEY":
            key = _bytes(value)
            if len(key) not in (KEY, 2 * KEY):
                return Failed("EINVAL")
            sock.options[name] = key[:KEY]
            return 0
        if name == "TCP_FASTOPEN_CONNECT":
            if value not in (0, 1) or (value and sock.connection is not None):
                return Failed("EINVAL")
            if value and not self.run.cookies.bits() & CLIENT:
                return Failed("EOPNOTSUPP")
        if name == "TCP_FASTOPEN":
            if sock.connection is not None or not isinstance(value, int) or value < 0:
                return Failed("EINVAL")
            sock.fast_limit = value
        return None

    def listen_fast(self, sock: Socket, backlog: Any) -> None:
        """Executes the part of listen() that enables data in SYNs."""
        both = SERVER | EVERY_LISTENER
        if self.run.cookies.bits() & both == both and not sock.fast_limit:
            sock.fast_limit = backlog if isinstance(backlog, int) else 1


def _bytes(text: Any) -> bytes:
    """Returns a string of a script as bytes, with \\x escapes."""
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1") if isinstance(text, str) else b""
