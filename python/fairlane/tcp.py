"""A TCP endpoint without a network: give it segments and the time, take segments and deadlines.

The same state machine runs in the simulator. Times are seconds (or text such as "20ms"), sizes are bytes,
sequence numbers are 64 bits wide and do not wrap.

>>> a, b = Endpoint("newreno"), Endpoint("newreno", passive=True)
>>> _ = b.start(0.0)
>>> (syn,) = a.start(0.0)
>>> syn.flags
<Flag.SYN: 2>
>>> (syn_ack,) = b.receive(0.010, syn)
>>> syn_ack.flags == Flag.SYN | Flag.ACK
True
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from typing import Any

from . import _core
from .base.format import seconds
from .base.spec import plain

ENDLESS = 1 << 62
"""Bytes of a write that never ends."""


UNLIMITED = 0xFFFF_FFFF
"""Window of a receiver that sets no limit."""


class Flag(IntFlag):
    """Bits of the TCP header (RFC 9293 section 3.1)."""

    FIN = 0x01
    SYN = 0x02
    RST = 0x04
    PSH = 0x08
    ACK = 0x10
    ECE = 0x40
    CWR = 0x80
    AE = 0x100
    """Accurate ECN (RFC 9768 section 3.1)"""


class Ecn(IntEnum):
    """The ECN field of the IP header (RFC 3168 section 5)."""

    NOT_ECT = 0
    ECT1 = 1
    ECT0 = 2
    CE = 3


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment; `length` is its size on the wire, `sack` its SACK blocks as (start, end)."""

    seq: int = 0
    ack: int = 0
    payload: int = 0
    flags: Flag = field(default=Flag.ACK)
    window: int = 0xFFFF
    sack: tuple[tuple[int, int], ...] = ()
    timestamps: tuple[int, int] | None = None
    ecn: Ecn = Ecn.NOT_ECT
    retransmission: bool = False
    length: int = 0
    cookie: bytes | None = None
    """Fast Open option of a SYN (RFC 7413): the cookie, empty in a request for one."""
    experimental: bool = False
    """The Fast Open option has the experimental form."""

    @property
    def end(self) -> int:
        """One past the last sequence number it takes; SYN and FIN take one each."""
        return self.seq + self.payload + bool(self.flags & Flag.SYN) + bool(self.flags & Flag.FIN)

    def __str__(self) -> str:
        names = "|".join(f.name or "" for f in Flag if f in self.flags) or "-"
        text = f"{names} seq {self.seq}:{self.end} ack {self.ack}"
        if self.window < UNLIMITED:
            text += f" win {self.window}"
        if self.cookie is not None:
            text += f" cookie {self.cookie.hex()}" if self.cookie else " cookie wanted"
        if self.sack:
            text += " sack " + " ".join(f"{a}:{b}" for a, b in self.sack)
        return text + (" (again)" if self.retransmission else "")


def _ps(now: float | str) -> int:
    t = seconds(now) if isinstance(now, str) else float(now)
    if not 0 <= t < 1.8e7:
        raise ValueError(f"a time is at least 0 and below 1.8e7 seconds, not {now!r}")
    return round(t * 1e12)


class Endpoint:
    """One end of a TCP connection; `passive` is the receiver of data, which waits for the other to connect.

    `params` is what `tcp =` takes in a scenario file: the name of a congestion control, a table such as
    `{"preset": "rfc", "window": "100p"}`, or parameter classes. Every method that can send returns the segments
    sent, in order. Time must not go backwards.
    """

    def __init__(self, params: Any = "newreno", *, passive: bool = False) -> None:
        self._core = _core.TcpEndpoint(json.dumps(plain(params)), passive)

    def set_cookie(self, cookie: bytes, *, experimental: bool = False) -> None:
        """A client has this Fast Open cookie of an earlier connection; a server demands it. Before `start`, with `fast_open = "cookie"`."""
        self._core.set_cookie((cookie, experimental))

    @property
    def cookie(self) -> bytes | None:
        """The Fast Open cookie that the answer to the SYN brought."""
        found = self._core.cookie
        return None if found is None else found[0]

    def start(self, now: float | str) -> list[Segment]:
        """Connects, or for a passive endpoint gets ready."""
        return self._take(self._core.start(_ps(now)))

    def receive(self, now: float | str, segment: Segment) -> list[Segment]:
        """A segment arrives."""
        wire = (
            segment.seq,
            segment.ack,
            segment.payload,
            int(segment.flags),
            segment.window,
            list(segment.sack),
            segment.timestamps,
            int(segment.ecn),
            segment.retransmission,
            segment.length,
            None if segment.cookie is None else (segment.cookie, segment.experimental),
        )
        return self._take(self._core.receive(_ps(now), wire))

    def advance(self, now: float | str) -> list[Segment]:
        """Time passes: deadlines up to `now` are carried out."""
        return self._take(self._core.advance(_ps(now)))

    def write(self, now: float | str, size: int = ENDLESS, *, fin: bool = False) -> list[Segment]:
        """The application writes `size` bytes; `fin`: nothing follows."""
        return self._take(self._core.write(_ps(now), size, fin))

    def push(self, now: float | str) -> list[Segment]:
        """What waits for room for a full burst (`tso`) goes without."""
        return self._take(self._core.push(_ps(now)))

    def stop(self, now: float | str) -> list[Segment]:
        """The application stops: what was not sent yet never will be."""
        return self._take(self._core.stop(_ps(now)))

    @property
    def deadlines(self) -> dict[str, float]:
        """When which timer wants `advance` to be called, in seconds."""
        return {name: t / 1e12 for name, t in self._core.deadlines()}

    @property
    def next_deadline(self) -> float | None:
        """The earliest deadline; None if there is none."""
        return min(self.deadlines.values(), default=None)

    @property
    def delivered(self) -> int:
        """Payload bytes handed to the application so far, in order and each once."""
        return self._core.delivered

    @property
    def finished(self) -> bool:
        """Whether all that was written, and closed with `fin`, is acknowledged."""
        return self._core.finished

    def view(self) -> dict[str, Any]:
        """Counters and state: cwnd, ssthresh, in_flight, srtt, rto, retransmits... (bytes, segments, seconds)."""
        return dict(self._core.view())

    @staticmethod
    def _take(out: list[tuple[Any, ...]]) -> list[Segment]:
        return [
            Segment(seq, ack, payload, Flag(flags), window, tuple(sack), ts, Ecn(ecn), again, length, *(fo or (None, False)))
            for seq, ack, payload, flags, window, sack, ts, ecn, again, length, fo in out
        ]
