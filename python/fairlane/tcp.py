"""A TCP endpoint without a network: segments and the time go in, segments and deadlines come out.

It is the state machine of the simulator. Times are seconds (or text such as "20ms"), sizes are bytes,
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
"""Bytes of a write without end."""


UNLIMITED = 0xFFFF_FFFF
"""Receive window without a limit."""


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
    """Accurate ECN (RFC 9768 section 3.1)."""


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
    """Cookie in the Fast Open option of a SYN (RFC 7413), empty in a request."""
    experimental: bool = False
    """True for the experimental form of the Fast Open option."""

    @property
    def end(self) -> int:
        """One past the last sequence number; SYN and FIN take one each."""
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
    """One end of a TCP connection; a `passive` end waits for the other one to connect, and receives data.

    `params` is a value of `tcp =` in a scenario file: the name of a congestion control, a table such as
    `{"preset": "rfc", "window": "100p"}`, or parameter classes. Methods that can send return the sent segments in order. Time must not go
    backwards.
    """

    def __init__(self, params: Any = "newreno", *, passive: bool = False) -> None:
        self._core = _core.TcpEndpoint(json.dumps(plain(params)), passive)

    def set_cookie(self, cookie: bytes, *, experimental: bool = False) -> None:
        """Sets the Fast Open cookie of an earlier connection; a server requires it. Before `start`, with `fast_open = "cookie"`."""
        self._core.set_cookie((cookie, experimental))

    @property
    def cookie(self) -> bytes | None:
        """The Fast Open cookie from the reply to the SYN."""
        found = self._core.cookie
        return None if found is None else found[0]

    def start(self, now: float | str) -> list[Segment]:
        """Opens the connection; a passive endpoint starts to listen."""
        return self._take(self._core.start(_ps(now)))

    def receive(self, now: float | str, segment: Segment) -> list[Segment]:
        """Processes an arriving segment."""
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
        """Advances the time and runs the timers up to `now`."""
        return self._take(self._core.advance(_ps(now)))

    def write(self, now: float | str, size: int = ENDLESS, *, fin: bool = False) -> list[Segment]:
        """Writes `size` bytes of application data; `fin` closes the stream after them."""
        return self._take(self._core.write(_ps(now), size, fin))

    def push(self, now: float | str) -> list[Segment]:
        """Sends data that waits for a full burst (`tso`)."""
        return self._take(self._core.push(_ps(now)))

    def stop(self, now: float | str) -> list[Segment]:
        """Stops the application and discards unsent data."""
        return self._take(self._core.stop(_ps(now)))

    @property
    def deadlines(self) -> dict[str, float]:
        """The deadline of each timer in seconds."""
        return {name: t / 1e12 for name, t in self._core.deadlines()}

    @property
    def next_deadline(self) -> float | None:
        """The earliest deadline; None if there is none."""
        return min(self.deadlines.values(), default=None)

    @property
    def delivered(self) -> int:
        """Payload bytes delivered to the application, in order and each once."""
        return self._core.delivered

    @property
    def finished(self) -> bool:
        """True if all data and its `fin` are acknowledged."""
        return self._core.finished

    def view(self) -> dict[str, Any]:
        """Returns counters and state: cwnd, ssthresh, in_flight, srtt, rto, retransmits... (bytes, segments, seconds)."""
        return dict(self._core.view())

    @staticmethod
    def _take(out: list[tuple[Any, ...]]) -> list[Segment]:
        return [
            Segment(seq, ack, payload, Flag(flags), window, tuple(sack), ts, Ecn(ecn), again, length, *(fo or (None, False)))
            for seq, ack, payload, flags, window, sack, ts, ecn, again, length, fo in out
        ]
