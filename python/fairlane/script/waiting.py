"""poll() and epoll: waiting for several sockets."""

from __future__ import annotations

from typing import Any

from .model import Struct, Syscall
from .sockets import BLOCKS, Failed, Socket, Sockets

POLL = {"POLLIN": 1, "POLLPRI": 2, "POLLOUT": 4, "POLLERR": 8, "POLLHUP": 16, "POLLRDHUP": 0x2000}
POLL |= {name.replace("POLL", "EPOLL"): bit for name, bit in list(POLL.items())} | {"EPOLLET": 0}


class Waiting(Sockets):
    """The calls that wait for any of several sockets."""

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
