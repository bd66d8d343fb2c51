"""What is compared, in the same terms on both sides, and how close the two must be."""

from __future__ import annotations

from dataclasses import dataclass

Values = dict[str, float]
"""One run: each measure by name, and ``flow.N``, the goodput of flow N in Mbit/s."""


@dataclass(frozen=True)
class Measure:
    """One measured quantity and its bound."""

    name: str
    unit: str
    doc: str
    relative: float | None = None
    """largest difference as a share of ns-3's value"""
    absolute: float = 0.0
    """largest difference in the unit itself; the wider of the two bounds holds"""

    @property
    def judged(self) -> bool:
        """Whether it has a bound."""
        return self.relative is not None or self.absolute > 0.0

    def bound(self, peer: float) -> float:
        """Largest difference allowed beside ns-3's value."""
        return max((self.relative or 0.0) * abs(peer), self.absolute)


MEASURES = (
    Measure("utilisation", "%", "wire bytes whose transmission began on the bottleneck / its capacity", None, 1.0),
    Measure("queue_mean", "packets", "time average of the packets in the queue discipline", 0.10, 0.05),
    Measure("drops", "packets", "packets dropped by the queue discipline", 0.15, 2.0),
    Measure("marks", "packets", "packets marked by the queue discipline", 0.15, 2.0),
    Measure("jain", "1", "Jain's index of the goodputs of the TCP flows", None, 0.03),
    Measure("queue_std", "packets", "standard deviation of the queue over time"),
    Measure("timeouts", "count", "expirations of the retransmission timer"),
    Measure("goodput_tcp", "Mbit/s", "payload delivered to the TCP receivers"),
    Measure("goodput_udp", "Mbit/s", "payload delivered to the UDP receiver"),
)
"""Everything is averaged over the whole run, from time 0."""

FLOW_SHARE = 0.05
"""Largest difference of one flow's goodput, as a share of the bottleneck's capacity."""


def jain(goodputs: list[float]) -> float:
    """(sum x)^2 / (n sum x^2) (Jain, Chiu and Hawe 1984)."""
    squares = sum(x * x for x in goodputs)
    return sum(goodputs) ** 2 / (len(goodputs) * squares) if squares > 0.0 else 1.0
