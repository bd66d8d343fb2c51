"""The send buffer of a socket as in Linux: the bytes a write takes, when there is room again, and what limited the sender.

It follows tcp_sendmsg_locked, sk_stream_write_space, tcp_sndbuf_expand, tcp_tso_autosize and tcp_chrono_start of Linux 6.18. A write is
stored in buffers of up to `goal` bytes. Each is charged with its bytes and the overhead of the kernel until all of it is acknowledged.
"""

from __future__ import annotations

from dataclasses import dataclass

OVERHEAD = 832
"""Bytes booked for a buffer without data: `struct sk_buff` and the head for its headers (x86-64, Linux 6.18: SK_MEMINFO_WMEM_QUEUED)."""
LEAST = 4608
"""SOCK_MIN_SNDBUF."""
HEADERS = 320
"""MAX_TCP_HEADER."""
SHARED_INFO = 320
SK_BUFF = 256
"""Overhead per segment when the buffer grows: `struct skb_shared_info` and `struct sk_buff`."""
FIRST_WINDOW = 10
"""TCP_INIT_CWND."""
GSO_MOST = 65536
"""Largest number of bytes per segmentation offload."""
UNLIMITED = 0xFFFF_FFFF
"""TCP_NOTSENT_LOWAT without a limit."""


@dataclass(slots=True)
class Piece:
    """Bytes from `start` to `end` (numbered from 0) in one buffer; `last`: MSG_EOR ends it."""

    start: int
    end: int
    last: bool = False
    at: int = 0
    """Time of sending."""


class SendBuffer:
    """The data written and not acknowledged."""

    def __init__(self, memory: tuple[int, int, int]) -> None:
        self.limit = memory[1]
        self.greatest = memory[2]
        self.locked = False
        self.pieces: list[Piece] = []
        self.booked = 0
        self.written = self.sent = self.acked = 0
        self.full = False
        """True after a call without room (SOCK_NOSPACE)."""

    def fix(self, size: int) -> None:
        """Applies setsockopt(SO_SNDBUF): twice the size, without growth."""
        self.limit = max(2 * size, LEAST)
        self.locked = True

    # Room.

    def free(self, lowat: int, wake: int = 0) -> bool:
        """Returns true if a write may start another buffer; `wake` requires more room, so that waking up is worthwhile."""
        return self.booked < self.limit and (self.written - self.sent) << wake < lowat

    def writeable(self, lowat: int, wake: int = 0) -> bool:
        """Returns true if poll() reports room: a third of the buffer is free."""
        return self.limit - self.booked >= self.booked >> 1 and self.free(lowat, wake)

    def add(self, size: int, goal: int, lowat: int) -> int:
        """Takes up to `size` bytes into the last buffer or a new one; returns their number, 0 without room."""
        tail = self.pieces[-1] if self.pieces and self.pieces[-1].start >= self.sent else None
        room = goal - (tail.end - tail.start) if tail is not None and not tail.last else 0
        if room <= 0 or tail is None:
            if not self.free(lowat):
                return 0
            tail = Piece(self.written, self.written)
            self.pieces.append(tail)
            self.booked += OVERHEAD
            room = goal
        taken = min(room, size)
        tail.end += taken
        self.booked += taken
        self.written += taken
        return taken

    def record_ends(self) -> None:
        """Applies MSG_EOR: later writes start a new buffer."""
        if self.pieces:
            self.pieces[-1].last = True

    def boundary(self, sent: int) -> int | None:
        """Returns the end of the first record with unsent bytes."""
        return next((p.end for p in self.pieces if p.last and p.end > sent), None)

    def partial(self, end: int, most: int) -> int:
        """Returns the bytes before `end` that are fewer than the card would get at once from their buffer."""
        for p in self.pieces:
            start = max(p.start, self.sent)
            if start < end < p.end:
                rest = (end - start) % most
                return 0 if rest == 0 or end - rest + most <= end else rest
        return 0

    def next_cut(self, end: int, most: int) -> int:
        """Returns the end of the data that the card gets next."""
        return next((min(max(p.start, self.sent) + most, p.end, end) for p in self.pieces if p.end > self.sent), end)

    def out(self, end: int, most: int, now: int = 0) -> None:
        """Marks everything before `end` as sent, at most `most` bytes per buffer; the remainder becomes a buffer of its own."""
        cut: list[Piece] = []
        for p in self.pieces:
            start = p.start
            while p.start >= self.sent and start < end and min(start + most, end) < p.end:
                stop = min(start + most, end)
                cut.append(Piece(start, stop, at=now))
                start = stop
                self.booked += OVERHEAD
            cut.append(Piece(start, p.end, p.last, now if p.start >= self.sent and p.end <= end else p.at))
        self.pieces = cut
        self.sent = max(self.sent, end)

    def acknowledge(self, end: int) -> None:
        """Marks everything before `end` as acknowledged."""
        self.acked = max(self.acked, end)
        while self.pieces and self.pieces[0].end <= end:
            p = self.pieces.pop(0)
            self.booked -= OVERHEAD + p.end - p.start
        if self.pieces and self.pieces[0].start < end:
            self.booked -= end - self.pieces[0].start
            self.pieces[0].start = end

    def grow(self, window: int, mss: int, factor: int = 2) -> None:
        """Grows the buffer to `factor` windows of this many segments."""
        if not self.locked:
            each = 1 << (mss + HEADERS + SHARED_INFO - 1).bit_length()
            wanted = factor * max(FIRST_WINDOW, window) * (each + SK_BUFF)
            if self.limit < wanted:
                self.limit = min(wanted, self.greatest)


def size_goal(mss: int, greatest_window: int) -> int:
    """Returns the bytes per buffer in whole segments: the size of an offload, at most half the largest window of the peer."""
    most = GSO_MOST - HEADERS - 1
    half = greatest_window >> 1 if greatest_window > 536 else greatest_window
    if half and most > half:
        most = max(half, 68 - 20)
    return max(mss, most // mss * mss)


DIVISOR = 3
"""Deferred data is at least this part of the window (tcp_tso_win_divisor)."""


def burst(mss: int, rate: float, min_rtt: float, least: int) -> int:
    """Returns the bytes for the card at once: a millisecond at the pacing rate, more on short paths (tcp_tso_autosize)."""
    size = int(min(rate, 1e15)) >> 10
    if min_rtt < 32 * 512e-6:
        size += GSO_MOST >> (int(min_rtt * 1e6) >> 9)
    return max(min(size, GSO_MOST - HEADERS - 1) // mss, least) * mss


BUSY, WINDOW, BUFFER = 1, 2, 3


class Chronograph:
    """Times in which the sender was limited by the network, the peer's window or the send buffer (struct tcp_info: busy_time...)."""

    def __init__(self) -> None:
        self.kind, self.since = 0, 0
        self.total = [0, 0, 0, 0]

    def _set(self, kind: int, now: int) -> None:
        self.total[self.kind] += now - self.since
        self.kind, self.since = kind, now

    def start(self, kind: int, now: int) -> None:
        """Starts a reason unless a stronger one holds."""
        if kind > self.kind:
            self._set(kind, now)

    def stop(self, kind: int, now: int, empty: bool) -> None:
        """Ends a reason, or all without unsent and unacknowledged data."""
        if empty:
            self._set(0, now)
        elif kind == self.kind:
            self._set(BUSY, now)

    def times(self, now: int) -> dict[str, int]:
        """Returns microseconds by the names of struct tcp_info."""
        at = [t + (now - self.since if k == self.kind else 0) for k, t in enumerate(self.total)]
        return {
            "tcpi_busy_time": sum(at[1:]) // 1_000_000,
            "tcpi_rwnd_limited": at[WINDOW] // 1_000_000,
            "tcpi_sndbuf_limited": at[BUFFER] // 1_000_000,
        }
