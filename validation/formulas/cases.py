"""Cases: runs, and the formulas that they are compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import formulas

RTT = 0.1
RTO = 1.0
LOSSES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 5e-2)


@dataclass(frozen=True)
class LossCase:
    """A flow over a long wide link that loses segments at random, against a formula."""

    cc: str
    b: int
    p: float
    name: str
    expected: Callable[[float, float, int], float]
    bound: float

    @property
    def title(self) -> str:
        """Its name in the table."""
        return f"{self.name}/{self.cc}/b{self.b}/{self.p:g}"


@dataclass(frozen=True)
class RttCase:
    """Two flows of different round-trip times: goodput goes with RTT^-a, and `a` lies in a range."""

    cc: str
    queue: str
    short_ms: int
    long_ms: int
    low: float
    high: float
    source: str
    seen: bool = True
    """whether RTT is what the flows saw, queueing included; else the propagation time, which BBR's window goes with"""

    @property
    def title(self) -> str:
        """Its name in the table."""
        return f"rtt/{self.cc}/{self.queue}/{self.short_ms}-{self.long_ms}"


def _pftk(p: float, rtt: float, b: int) -> float:
    return formulas.pftk(p, rtt, b, RTO)


#: PFTK describes Reno, timeouts included; the square-root laws hold while timeouts are rare and several losses in a window
#: do no more than one: SACK.
LOSS = [
    *(LossCase("reno", b, p, "pftk", _pftk, 0.15) for b in (1, 2) for p in LOSSES),
    *(LossCase("sack", b, p, "sqrt", formulas.square_root, 0.10) for b in (1, 2) for p in LOSSES[:4]),
    *(LossCase("sack", b, p, "random", formulas.random_loss, 0.08) for b in (1, 2) for p in LOSSES[:3]),
    *(LossCase("cubic", 1, p, "cubic", lambda p, rtt, _: formulas.cubic(p, rtt), 0.15) for p in (1e-5, 3e-5, 1e-4)),
]

#: Reno: 1 where losses are independent, up to 2 where all flows lose at once (Lakshman and Madhow 1997 section IV). CUBIC: 0.25 with
#: independent losses (RFC 9438 section 5.1: the window goes with RTT^0.75), up to 1 in the Reno-friendly region or where all
#: lose at once (Ha, Rhee and Xu 2008 section 4). BBR: longer round trips hold more in flight and get more (Hock, Bless and
#: Zitterbart 2017).
RTTS = [
    *(RttCase("reno", "red", a, b, 0.8, 2.0, "Lakshman and Madhow 1997") for a, b in ((20, 80), (40, 160))),
    *(RttCase("cubic", "red", a, b, 0.15, 1.1, "RFC 9438; Ha, Rhee and Xu 2008") for a, b in ((20, 80), (40, 160))),
    *(RttCase("bbr", "droptail", a, b, -3.0, 0.0, "Hock, Bless and Zitterbart 2017", seen=False) for a, b in ((20, 80), (40, 160))),
]
