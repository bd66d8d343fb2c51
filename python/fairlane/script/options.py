"""setsockopt() and getsockopt()."""

from __future__ import annotations

from typing import Any

from .model import WILD, Name, Struct, Syscall
from .sockets import Failed, Sockets
from .trouble import near

KNOWN = {
    "TCP_CONGESTION",
    "TCP_MAXSEG",
    "TCP_NODELAY",
    "TCP_CORK",
    "SO_RCVBUF",
    "SO_RCVBUFFORCE",
    "SO_SNDBUF",
    "SO_SNDBUFFORCE",
    "SO_LINGER",
    "SO_ERROR",
    "TCP_INFO",
    "TCP_QUICKACK",
}
IGNORED = {
    "SO_REUSEADDR",
    "SO_REUSEPORT",
    "SO_TIMESTAMPING",
    "SO_PRIORITY",
    "SO_MARK",
    "IP_TOS",
    "IPV6_TCLASS",
    "IP_MTU_DISCOVER",
    "IP_RECVERR",
    "SO_BINDTODEVICE",
    "SO_MAX_PACING_RATE",
    "TCP_DEFER_ACCEPT",
    "TCP_SYNCNT",
    "TCP_WINDOW_CLAMP",
    "TCP_LINGER2",
    "TCP_USER_TIMEOUT",
    "TCP_NOTSENT_LOWAT",
    "TCP_FASTOPEN",
    "TCP_KEEPIDLE",
    "TCP_KEEPINTVL",
    "TCP_KEEPCNT",
    "TCP_INQ",
    "TCP_THIN_LINEAR_TIMEOUTS",
    "SO_KEEPALIVE",
    "SO_ZEROCOPY",
    "SO_RCVLOWAT",
    "TCP_SAVE_SYN",
}
"""Options that are taken and, but for REUSEADDR, named in a warning: they change nothing here."""
QUIET = {"SO_REUSEADDR", "SO_REUSEPORT", "SO_PRIORITY", "SO_MARK", "IP_RECVERR"}


class Options(Sockets):
    """The calls that set and read options of sockets."""

    def call_setsockopt(self, call: Syscall) -> Any:
        sock = self.socket(call)
        if isinstance(sock, Failed):
            return sock
        name = call.args[2].text if len(call.args) > 2 and isinstance(call.args[2], Name) else ""
        value = call.args[3] if len(call.args) > 3 else None
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, Struct) and "onoff" in value.fields:
            value = (value.fields["onoff"], value.fields.get("linger", 0))
        if name not in KNOWN | IGNORED:
            raise self.bad(call, 2, f"the socket option {name or call.args[2:3]} is not simulated", near(name, sorted(KNOWN | IGNORED)))
        if name in IGNORED - QUIET and value not in (0, WILD):
            self.run.settings.warn(f"{self.run.source.file}:{call.line}: the socket option {name} changes nothing here")
        if name == "TCP_CONGESTION":
            if not isinstance(value, str):
                raise self.bad(call, 3, "TCP_CONGESTION takes a name", 'write "cubic"')
            if not self.run.algorithm(value):
                return Failed("ENOENT")
        sock.options[name.replace("FORCE", "")] = value
        c = sock.connection
        if c is not None:
            c.options[name] = value
            if name == "TCP_NODELAY" and value:
                c.nodelay = True
                c.feed(self.run.now, push=True)
            elif name == "TCP_NODELAY":
                c.nodelay = False
            elif name == "TCP_CORK":
                c.cork = bool(value)
                if not value:
                    c.feed(self.run.now, push=True)
            elif name == "TCP_QUICKACK" and not value:
                c.core.delay_acks()
            elif name == "TCP_CONGESTION":
                self.run.change_algorithm(c, call)
        return 0

    def call_getsockopt(self, call: Syscall) -> Any:
        sock = self.socket(call)
        if isinstance(sock, Failed):
            return sock
        name = call.args[2].text if len(call.args) > 2 and isinstance(call.args[2], Name) else ""
        c = sock.connection
        if name == "SO_ERROR":
            error = (c.error if c is not None else None) or 0
            if c is not None:
                c.error = None
            self.compare(call, 3, error)
        elif name == "TCP_MAXSEG":
            self.compare(call, 3, c.mss if c is not None else sock.options.get(name, 536))
        elif name == "TCP_CONGESTION":
            self.compare(call, 3, sock.options.get(name, self.run.settings.values["tcp_congestion_control"]))
        elif name in sock.options:
            self.compare(call, 3, sock.options[name])
        elif name == "TCP_INFO" or name in IGNORED | KNOWN:
            self.compare(call, 3, WILD if name == "TCP_INFO" else 0)
        else:
            raise self.bad(call, 2, f"the socket option {name or call.args[2:3]} is not simulated", near(name, sorted(KNOWN | IGNORED)))
        return 0
