"""The calls of the application: sockets as the script sees them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .connection import Connection
from .model import WILD, Call, Name, Struct, Syscall
from .trouble import near

if TYPE_CHECKING:
    from .runner import Run

BLOCKS = object()
"""The call would wait."""


@dataclass
class Failed:
    """The call returns -1 and an error."""

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
    epoll: dict[int, int] | None = None


POLL = {"POLLIN": 1, "POLLPRI": 2, "POLLOUT": 4, "POLLERR": 8, "POLLHUP": 16, "POLLRDHUP": 0x2000}
POLL |= {name.replace("POLL", "EPOLL"): bit for name, bit in list(POLL.items())} | {"EPOLLET": 0}
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


class Calls:
    """Carries out calls; every method is one, and answers a number, `Failed` or `BLOCKS`."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.sockets: dict[int, Socket] = {}
        self.names: dict[str, Callable[[Syscall], Any]] = {
            n.removeprefix("call_"): getattr(self, n) for n in dir(self) if n.startswith("call_")
        }
        for alias, name in {"recv": "read", "recvfrom": "read", "recvmsg": "readmsg", "send": "write", "sendto": "write"}.items():
            self.names[alias] = self.names[name]
        self.names |= {"epoll_create1": self.names["epoll_create"], "accept4": self.names["accept"]}

    def known(self, call: Syscall) -> Callable[[Syscall], Any]:
        """The method for a call; a name that nothing has is an error of the script."""
        if call.name not in self.names:
            help = near(call.name, list(self.names), "scripts may call " + ", ".join(sorted(self.names)))
            raise self.run.source.error(call.token, f"the call {call.name}() is not simulated", help)
        return self.names[call.name]

    # Arguments.

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
        """The names in an expression such as O_RDWR|O_NONBLOCK."""
        parts = value if isinstance(value, tuple) else (value,)
        return {p.text for p in parts if isinstance(p, Name)}

    # Calls.

    def call_socket(self, call: Syscall) -> Any:
        kind = self.words(call.args[1]) if len(call.args) > 1 else set()
        if "SOCK_DGRAM" in kind:
            raise self.bad(call, 1, "UDP is not simulated here", "write SOCK_STREAM")
        if call.args and isinstance(call.args[-1], Name) and call.args[-1].text == "IPPROTO_MPTCP":
            raise self.bad(call, len(call.args) - 1, "Multipath TCP is not simulated", "write IPPROTO_TCP")
        fd = self.fresh(call)
        self.sockets[fd] = Socket(fd, nonblocking="SOCK_NONBLOCK" in kind)
        return fd

    def fresh(self, call: Syscall) -> int:
        """The script's number for a new descriptor."""
        fd = call.result
        if not isinstance(fd, int) or fd < 0 or fd in self.sockets:
            fd = max([2, *self.sockets]) + 1
        return fd

    def call_bind(self, call: Syscall) -> Any:
        sock = self.socket(call)
        return sock if isinstance(sock, Failed) else 0

    def call_listen(self, call: Syscall) -> Any:
        sock = self.socket(call)
        if isinstance(sock, Failed):
            return sock
        sock.listening = True
        return 0

    def call_accept(self, call: Syscall) -> Any:
        sock = self.socket(call)
        if isinstance(sock, Failed):
            return sock
        if not sock.listening:
            return Failed("EINVAL")
        for connection in sock.queue:
            if connection.established or connection.was_established:
                sock.queue.remove(connection)
                fd = self.fresh(call)
                nonblocking = len(call.args) > 3 and "SOCK_NONBLOCK" in self.words(call.args[3])
                self.sockets[fd] = Socket(fd, dict(connection.options), nonblocking, connection=connection)
                return fd
        return Failed("EAGAIN") if sock.nonblocking else BLOCKS

    def call_connect(self, call: Syscall) -> Any:
        sock = self.socket(call)
        if isinstance(sock, Failed):
            return sock
        if sock.connection is None:
            sock.connection = self.run.open(sock.options, passive=False)
            sock.connecting = True
            if sock.nonblocking:
                return Failed("EINPROGRESS")
        c = sock.connection
        if c.established:
            if not sock.connecting:
                return Failed("EISCONN")
            sock.connecting = False
            return 0
        if c.error:
            error, c.error = c.error, None
            return Failed(error)
        return Failed("EALREADY") if sock.nonblocking else BLOCKS

    def call_write(self, call: Syscall) -> Any:
        return self.send(call, self.number(call, 2), self.words(call.args[3]) if len(call.args) > 3 else set())

    def call_writev(self, call: Syscall) -> Any:
        return self.send(call, self.lengths(call, call.args[1]), set())

    def call_sendmsg(self, call: Syscall) -> Any:
        message = call.args[1]
        if not isinstance(message, Struct):
            raise self.bad(call, 1, "sendmsg takes a message", "write {msg_name(...)=..., msg_iov(1)=[{..., 1000}], msg_flags=0}")
        flags = self.words(call.args[2]) if len(call.args) > 2 else set()
        return self.send(call, self.lengths(call, message.fields.get("msg_iov", [])), flags)

    def lengths(self, call: Syscall, vector: Any) -> int:
        total = 0
        for item in vector if isinstance(vector, list) else []:
            size = item.fields.get(1) if isinstance(item, Struct) else None
            if not isinstance(size, int):
                raise self.bad(call, 1, "each piece of the vector is {..., LENGTH}")
            total += size
        return total

    def call_sendfile(self, call: Syscall) -> Any:
        return self.send(call, self.number(call, 3), set())

    def send(self, call: Syscall, size: int, flags: set[str]) -> Any:
        sock = self.socket(call)
        if isinstance(sock, Failed):
            return sock
        if "MSG_FASTOPEN" in flags:
            raise self.bad(call, 3, "TCP Fast Open is not simulated", "call connect() first")
        if "MSG_ZEROCOPY" in flags:
            raise self.bad(call, 3, "MSG_ZEROCOPY is not simulated", "write 0")
        c = sock.connection
        if c is None:
            return Failed("EPIPE")
        if c.error is not None:
            error, c.error = c.error, None
            return Failed(error)
        if c.dead or c.closed:
            return Failed("EPIPE")
        if not c.established and not c.was_established:
            return Failed("EAGAIN") if sock.nonblocking or "MSG_DONTWAIT" in flags else BLOCKS
        # How much a send buffer takes depends on how a kernel packs it: a script that knows is believed.
        if call.errno in ("EAGAIN", "EWOULDBLOCK") and (sock.nonblocking or "MSG_DONTWAIT" in flags):
            return Failed(call.errno)
        taken = call.result if isinstance(call.result, int) and 0 < call.result < size else size
        c.write(self.run.now, taken, more="MSG_MORE" in flags)
        return taken

    def call_read(self, call: Syscall) -> Any:
        return self.receive(call, self.number(call, 2), self.words(call.args[3]) if len(call.args) > 3 else set())

    def call_readv(self, call: Syscall) -> Any:
        return self.receive(call, self.lengths(call, call.args[1]), set())

    def call_readmsg(self, call: Syscall) -> Any:
        message = call.args[1]
        flags = self.words(call.args[2]) if len(call.args) > 2 else set()
        if not isinstance(message, Struct):
            raise self.bad(call, 1, f"{call.name} takes a message", "write {msg_name(...)=..., msg_iov(1)=[{..., 1000}], msg_flags=0}")
        control = [m for m in message.fields.get("msg_control", []) if isinstance(m, Struct)]
        strange = [m for m in control if str(m.fields.get("cmsg_type")) not in ("TCP_CM_INQ", "TCP_INQ")]
        if strange or "MSG_ERRQUEUE" in flags:
            raise self.bad(call, 1, "of control messages only TCP_CM_INQ is simulated", "read the data without msg_control")
        taken = self.receive(call, self.lengths(call, message.fields.get("msg_iov", [])), flags)
        sock = self.socket(call)
        if isinstance(taken, int) and isinstance(sock, Socket) and sock.connection is not None:
            # What is left to read; a byte that is not there stands for the end of the stream (tcp_inq_hint of Linux).
            left = sock.connection.readable() or int(sock.connection.at_end())
            for message in control:
                if message.fields.get("cmsg_data", WILD) not in (WILD, left):
                    raise self.run.failure(call.line, f"{call.name}: TCP_CM_INQ: expected {message.fields['cmsg_data']}, actual {left}")
        return taken

    def receive(self, call: Syscall, size: int, flags: set[str]) -> Any:
        sock = self.socket(call)
        if isinstance(sock, Failed):
            return sock
        c = sock.connection
        if c is None:
            return Failed("ENOTCONN")
        have = c.readable()
        wait_all = "MSG_WAITALL" in flags and not c.at_end()
        if have >= size or (have and not wait_all):
            taken = min(size, have)
            if "MSG_PEEK" not in flags:
                c.read_bytes += taken
            return taken
        if c.error is not None:
            error, c.error = c.error, None
            return Failed(error)
        if c.at_end() or not c.receiving:
            return 0
        return Failed("EAGAIN") if sock.nonblocking or "MSG_DONTWAIT" in flags else BLOCKS

    def call_shutdown(self, call: Syscall) -> Any:
        sock = self.socket(call)
        if isinstance(sock, Failed):
            return sock
        if sock.connection is None or sock.connection.dead:
            return Failed("ENOTCONN")
        how = self.words(call.args[1]) if len(call.args) > 1 else set()
        if call.args[1:2] == (1,) or call.args[1:2] == (2,) or how & {"SHUT_WR", "SHUT_RDWR"}:
            sock.connection.close(self.run.now)
        if call.args[1:2] == (0,) or call.args[1:2] == (2,) or how & {"SHUT_RD", "SHUT_RDWR"}:
            sock.connection.receiving = False
        return 0

    def call_close(self, call: Syscall) -> Any:
        sock = self.socket(call)
        if isinstance(sock, Failed):
            return sock
        del self.sockets[sock.fd]
        c = sock.connection
        if c is not None:
            linger = sock.options.get("SO_LINGER")
            if linger == (1, 0) and not c.dead:
                if c.established:
                    c.reset(self.run.now)
                c.dead = True
            else:
                c.release(self.run.now)
        return 0

    def call_fcntl(self, call: Syscall) -> Any:
        sock = self.socket(call)
        if isinstance(sock, Failed):
            return sock
        if "F_SETFL" in self.words(call.args[1]):
            value = call.args[2]
            sock.nonblocking = "O_NONBLOCK" in self.words(value) or (isinstance(value, int) and bool(value & 0o4000))
            return 0
        return 2 | (0o4000 if sock.nonblocking else 0)

    def call_ioctl(self, call: Syscall) -> Any:
        sock = self.socket(call)
        if isinstance(sock, Failed):
            return sock
        c, what = sock.connection, self.words(call.args[1])
        if c is None:
            return Failed("EINVAL")
        v = c.view()
        values = {"SIOCINQ": c.readable(), "FIONREAD": c.readable()}
        values |= {"SIOCOUTQ": c.written + 1 - min(v["una"], c.written + 1), "SIOCOUTQNSD": c.written + 1 - min(v["nxt"], c.written + 1)}
        for name in what & set(values):
            self.compare(call, 2, values[name])
            return 0
        raise self.bad(call, 1, "this ioctl is not simulated", "known are SIOCINQ, SIOCOUTQ, SIOCOUTQNSD")

    def compare(self, call: Syscall, index: int, value: Any) -> None:
        """An argument that the call fills in, against what the script says."""
        want = call.args[index] if index < len(call.args) else WILD
        if isinstance(want, list) and len(want) == 1:
            want = want[0]
        if want is WILD or want == value:
            return
        if isinstance(want, Name) and want.text == value:
            return
        raise self.run.failure(call.line, f"{call.name}: argument {index + 1}: expected {want}, actual {value}")

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

    # Waiting for several.

    def ready(self, fd: int) -> int:
        sock = self.sockets.get(fd)
        if sock is None:
            return POLL["POLLERR"]
        c, out = sock.connection, 0
        if sock.listening:
            return POLL["POLLIN"] if any(x.established or x.was_established for x in sock.queue) else 0
        if c is None:
            return POLL["POLLHUP"] | POLL["POLLOUT"]
        if c.readable() or c.at_end():
            out |= POLL["POLLIN"]
        if c.at_end():
            out |= POLL["POLLRDHUP"]
        if c.dead or (c.at_end() and c.closed):
            out |= POLL["POLLHUP"]
        if c.error:
            out |= POLL["POLLERR"]
        if c.established or c.was_established:
            out |= POLL["POLLOUT"]
        return out

    def bits(self, value: Any) -> int:
        parts = value if isinstance(value, tuple) else (value,)
        return sum(p if isinstance(p, int) else POLL.get(str(p), 0) for p in parts)

    def call_poll(self, call: Syscall) -> Any:
        entries = call.args[0] if isinstance(call.args[0], list) else []
        count = 0
        for entry in entries:
            wanted = self.bits(entry.fields.get("events", 0)) | POLL["POLLERR"] | POLL["POLLHUP"]
            found = self.ready(entry.fields.get("fd", -1)) & wanted
            count += found != 0
            entry.fields["seen"] = found
        timeout = call.args[2] if len(call.args) > 2 and isinstance(call.args[2], int) else 0
        if not count and timeout != 0 and not self.run.waited(call, timeout):
            return BLOCKS
        for entry in entries:
            if "revents" in entry.fields and self.bits(entry.fields["revents"]) != entry.fields["seen"]:
                raise self.run.failure(
                    call.line, f"poll: revents: expected {entry.fields['revents']}, actual {_names(entry.fields['seen'])}"
                )
        return count

    def call_epoll_create(self, call: Syscall) -> Any:
        fd = self.fresh(call)
        self.sockets[fd] = Socket(fd, epoll={})
        return fd

    def call_epoll_ctl(self, call: Syscall) -> Any:
        sock = self.socket(call)
        if isinstance(sock, Failed) or sock.epoll is None:
            return Failed("EBADF")
        fd = self.number(call, 2)
        if "EPOLL_CTL_DEL" in self.words(call.args[1]):
            sock.epoll.pop(fd, None)
        else:
            event = call.args[3]
            sock.epoll[fd] = self.bits(event.fields.get("events", 0)) if isinstance(event, Struct) else 0
        return 0

    def call_epoll_wait(self, call: Syscall) -> Any:
        sock = self.socket(call)
        if isinstance(sock, Failed) or sock.epoll is None:
            return Failed("EBADF")
        always = POLL["POLLERR"] | POLL["POLLHUP"]
        found = [(fd, self.ready(fd) & (bits | always)) for fd, bits in sock.epoll.items()]
        found = [(fd, bits) for fd, bits in found if bits]
        timeout = call.args[3] if len(call.args) > 3 and isinstance(call.args[3], int) else 0
        if not found and timeout != 0 and not self.run.waited(call, timeout):
            return BLOCKS
        event = call.args[1]
        if found and isinstance(event, Struct) and "events" in event.fields and self.bits(event.fields["events"]) != found[0][1]:
            raise self.run.failure(call.line, f"epoll_wait: events: expected {event.fields['events']}, actual {_names(found[0][1])}")
        return len(found)


def _names(bits: int) -> str:
    return "|".join(name for name, bit in POLL.items() if bit and bits & bit and not name.startswith("E")) or "0"


def value_of(result: Any) -> Any:
    """What a script says a call answers, as a number."""
    if isinstance(result, Call) and result.name in ("htons", "htonl") and result.args:
        return result.args[0]
    return result
