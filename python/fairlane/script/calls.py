"""The system calls of the application."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .connection import Connection
from .files import Files
from .host import Host
from .model import WILD, Call, Name, Struct, Syscall
from .options import Options
from .poll import Waiting
from .sockets import BLOCKS, Failed, Socket

PAGES = 17
"""Pages in a buffer of the kernel."""


class Calls(Options, Files, Waiting):
    """Executes calls; every method `call_...` is one and returns a number, `Failed` or `BLOCKS`."""

    def __init__(self, run: Host) -> None:
        super().__init__(run)
        self.names: dict[str, Callable[[Syscall], Any]] = {
            n.removeprefix("call_"): getattr(self, n) for n in dir(self) if n.startswith("call_")
        }
        for alias, name in {"recv": "read", "recvfrom": "read", "recvmsg": "readmsg", "send": "write", "sendto": "write"}.items():
            self.names[alias] = self.names[name]
        self.names |= {"epoll_create1": self.names["epoll_create"], "accept4": self.names["accept"]}

    def known(self, call: Syscall) -> Callable[[Syscall], Any]:
        """Returns the method of a call; unknown names are refused before the script starts."""
        return self.names[call.name]

    # Calls.

    def call_socket(self, call: Syscall) -> Any:
        kind = self.words(call.args[1]) if len(call.args) > 1 else set()
        fd = self.fresh(call)
        self.sockets[fd] = Socket(fd, nonblocking="SOCK_NONBLOCK" in kind)
        return fd

    def call_bind(self, call: Syscall) -> Any:
        sock = self.socket(call)
        return sock if isinstance(sock, Failed) else 0

    def call_listen(self, call: Syscall) -> Any:
        sock = self.socket(call)
        if isinstance(sock, Failed):
            return sock
        sock.listening = True
        self.listen_fast(sock, call.args[1] if len(call.args) > 1 else 1)
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
            asked = None
            if sock.options.get("TCP_FASTOPEN_CONNECT"):
                if (answer := self.connect_later(sock)) is not None:
                    return answer
                asked = self.request(sock)
            free, echo = self.run.port_free(sock.options)
            if not free:
                return Failed("EADDRNOTAVAIL")
            sock.connection = self.run.open(sock.options, passive=False, echo=echo, asked=asked)
            if asked is not None:
                sock.connection.open_with(self.run.now, 0)
            sock.connecting = True
            if sock.nonblocking:
                return Failed("EINPROGRESS")
        c = sock.connection
        if c.established:
            if not sock.connecting:
                return Failed("EISCONN")
            sock.connecting = False
            return 0
        if (error := self.take_error(c)) is not None:
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
        pieces = message.fields.get("msg_iov", [])
        total = self.lengths(call, pieces)
        sock = self.socket(call)
        if "MSG_ZEROCOPY" in flags and isinstance(sock, Socket) and sock.options.get("SO_ZEROCOPY") and sock.connection is not None:
            # Without a copy each piece takes a page, and a buffer has a limited number (MAX_SKB_FRAGS).
            sock.connection.cuts = [self.lengths(call, pieces[:n]) for n in range(PAGES, len(pieces), PAGES)]
        return self.send(call, total, flags)

    def lengths(self, call: Syscall, vector: Any) -> int:
        total = 0
        for item in vector if isinstance(vector, list) else []:
            size = item.fields.get(1) if isinstance(item, Struct) else None
            if not isinstance(size, int):
                raise self.bad(call, 1, "each piece of the vector is {..., LENGTH}")
            total += size
        return total

    def send(self, call: Syscall, size: int, flags: set[str]) -> Any:
        sock = self.socket(call)
        if isinstance(sock, Failed):
            return sock
        if self.wants_fast_open(call, sock, flags) and (answer := self.send_fast(call, sock, size, flags)) is not None:
            if isinstance(answer, int) and answer > 0 and sock.connection is not None:
                self.note_errors(sock, sock.connection, "MSG_ZEROCOPY" in flags)
            return answer
        c = sock.connection
        if c is None:
            return Failed("EPIPE")
        if (error := self.take_error(c)) is not None:
            return Failed(error)
        if c.dead or c.closed:
            return Failed("EPIPE")
        if size and self.null(call):
            return Failed("EFAULT")
        if not c.established and not c.was_established:
            return Failed("EAGAIN") if sock.nonblocking or "MSG_DONTWAIT" in flags else BLOCKS
        return self.fill(call, sock, c, size, flags)

    def fill(self, call: Syscall, sock: Socket, c: Connection, size: int, flags: set[str]) -> Any:
        """Writes as much as the send buffer takes, and waits for the rest if the call may block."""
        before = sock.writing[1] if sock.writing is not None and sock.writing[0] is call else 0
        if sock.writing is not None and sock.writing[0] is call and c.send_buffer.full:
            return BLOCKS
        taken = before + c.write(self.run.now, size - before, "MSG_MORE" in flags, "MSG_EOR" in flags)
        sock.writing = None
        if taken:
            self.note_errors(sock, c, "MSG_ZEROCOPY" in flags)
        if taken == size:
            return taken
        if sock.nonblocking or "MSG_DONTWAIT" in flags:
            return taken or Failed("EAGAIN")
        sock.writing = (call, taken)
        return BLOCKS

    def note_errors(self, sock: Socket, c: Connection, zerocopy: bool) -> None:
        """Registers written data for the error queue, if the socket has such options."""
        if zerocopy and sock.options.get("SO_ZEROCOPY"):
            c.errors.wrote_without_copy(c.written)
        asked = sock.options.get("SO_TIMESTAMPING")
        if asked:
            c.errors.wrote(c.written, asked)
        c.errors.progress(self.run.now, c.send_buffer.sent, c.send_buffer.acked)

    def read_errors(self, call: Syscall, message: Struct) -> Any:
        """Executes recvmsg(MSG_ERRQUEUE) and compares the first entry of the error queue with the script."""
        sock = self.socket(call)
        if isinstance(sock, Failed):
            return sock
        waiting = sock.connection.errors.notices if sock.connection is not None else []
        if not waiting:
            return Failed("EAGAIN")
        notice = waiting.pop(0)
        for part in message.fields.get("msg_control", []):
            data = part.fields.get("cmsg_data") if isinstance(part, Struct) else None
            fields = data.fields if isinstance(data, Struct) else {}
            for name, want in fields.items():
                if name in ("scm_sec", "scm_nsec"):
                    continue
                have = notice.fields.get(name)
                if want is not WILD and str(want) != str(have):
                    raise self.run.failure(call.line, f"{call.name}: {name}: expected {want}, actual {have}")
            if "scm_sec" in fields and notice.at is not None:
                want = int(fields["scm_sec"]) * 10**12 + int(fields.get("scm_nsec", 0)) * 1000
                if abs(want - notice.at) > self.run.flags.tolerance_usecs * 10**6:
                    raise self.run.failure(call.line, f"{call.name}: time stamp: expected {want / 1e12} s, actual {notice.at / 1e12} s")
        return 0

    def call_read(self, call: Syscall) -> Any:
        return self.receive(call, self.number(call, 2), self.words(call.args[3]) if len(call.args) > 3 else set())

    def call_readv(self, call: Syscall) -> Any:
        return self.receive(call, self.lengths(call, call.args[1]), set())

    def call_readmsg(self, call: Syscall) -> Any:
        message = call.args[1]
        flags = self.words(call.args[2]) if len(call.args) > 2 else set()
        if not isinstance(message, Struct):
            raise self.bad(call, 1, f"{call.name} takes a message", "write {msg_name(...)=..., msg_iov(1)=[{..., 1000}], msg_flags=0}")
        if "MSG_ERRQUEUE" in flags:
            return self.read_errors(call, message)
        control = [m for m in message.fields.get("msg_control", []) if isinstance(m, Struct)]
        taken = self.receive(call, self.lengths(call, message.fields.get("msg_iov", [])), flags)
        sock = self.socket(call)
        if isinstance(taken, int) and isinstance(sock, Socket) and sock.connection is not None:
            # Bytes left to read; the end of the stream counts as one byte (tcp_inq_hint of Linux).
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
            waits = not (sock.nonblocking or "MSG_DONTWAIT" in flags)
            return Failed("ENOTCONN") if not sock.deferred else BLOCKS if waits else Failed("EAGAIN")
        have = c.before_urgent(skip=not sock.options.get("SO_OOBINLINE"))
        least = size if "MSG_WAITALL" in flags else min(self.least(sock), size)
        waits = not (sock.nonblocking or "MSG_DONTWAIT" in flags or c.at_end() or not c.receiving or c.error is not None)
        if have and (have >= least or not waits):
            if self.null(call):
                return Failed("EFAULT")
            taken = min(size, have)
            if "MSG_PEEK" not in flags:
                c.read_bytes += taken
            return taken
        if (error := self.take_error(c)) is not None:
            return Failed(error)
        if c.at_end() or not c.receiving:
            return 0
        return Failed("EAGAIN") if sock.nonblocking or "MSG_DONTWAIT" in flags else BLOCKS

    @staticmethod
    def null(call: Syscall) -> bool:
        """Returns true if the buffer of a call is invalid."""
        return len(call.args) > 1 and call.args[1] == Name("NULL")

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
        for waiting in sock.queue:
            # Connections that were not accepted are reset (inet_csk_listen_stop).
            if (waiting.established or waiting.was_established) and not waiting.dead:
                waiting.reset(self.run.now)
            waiting.dead = True
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
        v = c.view()  # Bytes from SND.UNA and from SND.NXT to what was written last.
        values = {"SIOCINQ": c.readable(), "FIONREAD": c.readable()}
        values |= {"SIOCOUTQ": c.written + 1 - min(v["una"], c.written + 1), "SIOCOUTQNSD": c.written + 1 - min(v["nxt"], c.written + 1)}
        for name in what & set(values):
            self.compare(call, 2, values[name])
            return 0
        raise self.bad(call, 1, "this ioctl is not simulated", "known are SIOCINQ, SIOCOUTQ, SIOCOUTQNSD")


def value_of(result: Any) -> Any:
    """Returns the expected result of a call as a number."""
    if isinstance(result, Call) and result.name in ("htons", "htonl") and result.args:
        return result.args[0]
    return result
