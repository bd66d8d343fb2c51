"""poll() and epoll: waiting for several sockets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .model import WILD, Struct, Syscall
from .sockets import BLOCKS, Failed, Socket, Sockets
from .symbols import EPOLL, POLL

ALWAYS = POLL["POLLERR"] | POLL["POLLHUP"]
"""Events that are always reported."""
DATA = POLL["POLLIN"] | POLL["POLLRDNORM"]
ROOM = POLL["POLLOUT"] | POLL["POLLWRNORM"]


@dataclass
class Watch:
    """A socket watched by an epoll."""

    wanted: int
    marks: tuple[int, ...]
    """Counts of the events of the socket, by kind, at its last report."""
    listed: bool = True
    """True if it may be reported; edge-triggered only after an event."""


class Waiting(Sockets):
    """Calls that wait for any of several sockets."""

    def ready(self, fd: int, invalid: int = 0) -> int:
        """Returns the events of poll() for a descriptor (tcp_poll)."""
        sock = self.sockets.get(fd)
        if sock is None:
            return invalid
        c, out = sock.connection, 0
        if sock.listening:
            return DATA if any(x.established or x.was_established for x in sock.queue) else 0
        if c is None:
            return ROOM if sock.deferred else POLL["POLLHUP"] | ROOM
        if c.readable() >= self.least(sock) or c.at_end() or not c.receiving:
            out |= DATA
        if c.at_end() or not c.receiving:
            out |= POLL["POLLRDHUP"]
        if c.dead or (c.closed and (c.at_end() or not c.receiving)):
            out |= POLL["POLLHUP"]
        if c.error or c.errors.notices:
            out |= POLL["POLLERR"]
        if c.established or c.was_established or c.dead:
            out |= ROOM if c.dead or c.closed or c.writeable() else 0
        return out

    @staticmethod
    def least(sock: Socket) -> int:
        """Returns the bytes that make a socket readable (SO_RCVLOWAT)."""
        return max(1, int(sock.options.get("SO_RCVLOWAT") or 1))

    def bits(self, value: Any) -> int:
        parts = value if isinstance(value, tuple) else (value,)
        both = POLL | EPOLL
        return sum({p if isinstance(p, int) else both.get(str(p), 0) for p in parts})

    def call_poll(self, call: Syscall) -> Any:
        entries = call.args[0] if isinstance(call.args[0], list) else []
        count = 0
        for entry in entries:
            wanted = self.bits(entry.fields.get("events", 0)) | ALWAYS | POLL["POLLNVAL"]
            found = self.ready(entry.fields.get("fd", -1), POLL["POLLNVAL"]) & wanted
            count += found != 0
            entry.fields["seen"] = found
        timeout = call.args[2] if len(call.args) > 2 and isinstance(call.args[2], int) else 0
        if not count and timeout != 0 and not self.run.waited(call, timeout):
            return BLOCKS
        for entry in entries:
            expected = entry.fields.get("revents", WILD)
            if expected is not WILD and self.bits(expected) != entry.fields["seen"]:
                raise self.run.failure(
                    call.line, f"poll: revents: expected {_names(self.bits(expected))}, actual {_names(entry.fields['seen'])}"
                )
        return count

    def call_epoll_create(self, call: Syscall) -> Any:
        fd = self.fresh(call)
        self.sockets[fd] = Socket(fd, epoll={})
        return fd

    def news(self, fd: int) -> tuple[int, ...]:
        """Returns the counts of events that wake a waiting call: data or its end, room to write, changes of state."""
        sock = self.sockets.get(fd)
        if sock is None:
            return ()
        c = sock.connection
        if c is None:
            return (sum(x.established or x.was_established for x in sock.queue), 0, 0)
        return (c.count["data_segs_in"] + c.at_end(), c.woken, c.dead + (c.error is not None) + c.was_established + c.errors.arrived)

    def call_epoll_ctl(self, call: Syscall) -> Any:
        sock = self.socket(call)
        if isinstance(sock, Failed) or sock.epoll is None:
            return Failed("EBADF" if isinstance(sock, Failed) else "EINVAL")
        fd, how = self.number(call, 2), self.words(call.args[1])
        if fd not in self.sockets:
            return Failed("EBADF")
        if "EPOLL_CTL_ADD" in how and fd in sock.epoll:
            return Failed("EEXIST")
        if "EPOLL_CTL_ADD" not in how and fd not in sock.epoll:
            return Failed("ENOENT")
        if "EPOLL_CTL_DEL" in how:
            del sock.epoll[fd]
            return 0
        event = call.args[3] if len(call.args) > 3 else None
        wanted = self.bits(event.fields.get("events", 0)) if isinstance(event, Struct) else 0
        sock.epoll[fd] = Watch(wanted, self.news(fd))
        return 0

    def call_epoll_wait(self, call: Syscall) -> Any:
        sock = self.socket(call)
        if isinstance(sock, Failed) or sock.epoll is None:
            return Failed("EBADF" if isinstance(sock, Failed) else "EINVAL")
        most = self.number(call, 2) if len(call.args) > 2 else 1
        found: list[tuple[int, int]] = []
        for fd, watch in list(sock.epoll.items()):
            if fd not in self.sockets:
                del sock.epoll[fd]  # A closed descriptor is not watched.
                continue
            if len(found) < most and (bits := self.reported(fd, watch)):
                found.append((fd, bits))
        timeout = call.args[3] if len(call.args) > 3 and isinstance(call.args[3], int) else 0
        if not found and timeout != 0 and not self.run.waited(call, timeout):
            return BLOCKS
        events = call.args[1] if isinstance(call.args[1], list) else [call.args[1]]
        for event, (fd, bits) in zip(events, found or [(0, 0)], strict=False):
            expected = event.fields.get("events", WILD) if isinstance(event, Struct) else WILD
            if expected is not WILD and self.bits(expected) != bits:
                raise self.run.failure(
                    call.line, f"epoll_wait: events: expected {_names(self.bits(expected), 'E')}, actual {_names(bits, 'E')}"
                )
            if found and isinstance(event, Struct) and event.fields.get("fd", fd) not in (fd, WILD):
                raise self.run.failure(call.line, f"epoll_wait: expected an event of {event.fields['fd']}, actual of {fd}")
        return len(found)

    def reported(self, fd: int, watch: Watch) -> int:
        """Returns the events of epoll_wait() for a descriptor; edge-triggered only after an event, one-shot once (ep_send_events)."""
        edge, once = watch.wanted & EPOLL["EPOLLET"], watch.wanted & EPOLL["EPOLLONESHOT"]
        wanted = watch.wanted & 0xFFFF
        if not wanted:
            return 0
        bits = self.ready(fd) & (wanted | ALWAYS)
        news = self.news(fd)
        # Only an event of a requested kind puts it back on the list.
        kinds = (wanted & (DATA | POLL["POLLRDHUP"]), wanted & ROOM, 1)
        fresh = any(kind and a != b for kind, a, b in zip(kinds, news, watch.marks, strict=False))
        if edge and not (watch.listed or fresh):
            return 0
        watch.listed, watch.marks = False, news
        if bits and once:
            watch.wanted &= ~0xFFFF
        return bits


def _names(bits: int, letter: str = "") -> str:
    return "|".join(letter + name for name, bit in POLL.items() if bits & bit) or "0"
