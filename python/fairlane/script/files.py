"""Files and pipes: open(), pipe(), splice(), sendfile().

Only numbers of bytes are tracked: files are not read and have any length.
"""

from __future__ import annotations

from typing import Any

from .model import Syscall
from .sockets import BLOCKS, Failed, Socket, Sockets

PIPE = 65536
"""Capacity of a pipe in bytes (pipe(7))."""


class Files(Sockets):
    """Calls that move data without the application."""

    def send(self, call: Syscall, size: int, flags: set[str]) -> Any:
        """Writes to the socket in the first argument of the call."""
        raise NotImplementedError

    def call_open(self, call: Syscall) -> Any:
        fd = self.fresh(call)
        self.sockets[fd] = Socket(fd, file=True)
        return fd

    def call_pipe(self, call: Syscall) -> Any:
        ends = call.args[0] if call.args else None
        if not isinstance(ends, list) or len(ends) != 2 or not all(isinstance(fd, int) for fd in ends):
            raise self.bad(call, 0, "pipe takes the numbers of its two ends", "write pipe([5, 6]) = 0")
        held = [0]
        for fd in ends:
            if fd in self.sockets:
                raise self.bad(call, 0, f"the descriptor {fd} is in use", "take another number")
            self.sockets[fd] = Socket(fd, pipe=held)
        return 0

    def call_sendfile(self, call: Syscall) -> Any:
        source = self.socket(call, 1)
        if isinstance(source, Failed):
            return source
        return self.send(call, self.number(call, 3), set()) if source.file else Failed("EINVAL")

    def call_splice(self, call: Syscall) -> Any:
        source, target = self.socket(call, 0), self.socket(call, 2)
        if isinstance(source, Failed):
            return source
        if isinstance(target, Failed):
            return target
        size = self.number(call, 4)
        waits = not (
            source.nonblocking or target.nonblocking or "SPLICE_F_NONBLOCK" in self.words(call.args[5] if len(call.args) > 5 else 0)
        )
        if target.pipe is not None:
            room = PIPE - target.pipe[0]
            have = size if source.file else 0
            if source.connection is not None:
                have = source.connection.before_urgent()
                if not have:
                    if source.connection.readable() or source.connection.at_end() or not source.connection.receiving:
                        return 0
                    return BLOCKS if waits else Failed("EAGAIN")
            moved = min(size, have, room)
            if moved == 0:
                return BLOCKS if waits else Failed("EAGAIN")
            target.pipe[0] += moved
            if source.connection is not None:
                source.connection.read_bytes += moved
            return moved
        if source.pipe is None:
            return Failed("EINVAL")
        moved = min(size, source.pipe[0])
        if moved == 0:
            return BLOCKS if waits else Failed("EAGAIN")
        if target.connection is None:
            source.pipe[0] -= moved
            return moved
        taken = target.connection.write(self.run.now, moved)
        source.pipe[0] -= taken
        return taken or (BLOCKS if waits else Failed("EAGAIN"))
