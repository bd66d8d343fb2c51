"""What is compared, in the same terms on both sides."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """One measured quantity and how close the two sides must be."""

    name: str
    unit: str
    doc: str
    relative: float | None = None
    """largest difference as a share of ns-2's value; None: shown, not judged"""
    absolute: float = 0.0
    """largest difference in the unit itself; the wider of the two bounds holds"""

    @property
    def judged(self) -> bool:
        """Whether it has a bound."""
        return self.relative is not None or self.absolute > 0.0

    def bound(self, peer: float) -> float:
        """Largest difference allowed beside ns-2's value."""
        return max((self.relative or 0.0) * abs(peer), self.absolute)


MEASURES = (
    Measure("utilisation", "%", "wire bytes whose transmission began on the watched link / its capacity", None, 0.5),
    Measure("goodput", "Mbit/s", "payload delivered, each byte once, all flows", 0.01),
    Measure("queue_mean", "packets", "time average of the packets waiting, without the one in transmission", 0.05, 0.05),
    Measure("drops", "packets", "data packets lost at all queues of the path", 0.10, 2.0),
    Measure("loss", "%", "data packets lost / data packets sent", 0.10, 0.005),
    Measure("retransmits", "packets", "data packets sent again", 0.10, 2.0),
    Measure("period", "s", "mean time between window cuts after the first 20 s", 0.02),
    Measure("peak", "packets", "mean window before a cut after the first 20 s", 0.02),
    Measure("queue_std", "packets", "standard deviation of the queue over time"),
    Measure("wait", "ms", "mean waiting time at the watched link"),
    Measure("timeouts", "count", "expirations of the retransmission timer with data outstanding"),
)
"""Absolute bounds beside relative ones keep a handful of packets from being judged by a percentage of nothing."""

BY_NAME = {measure.name: measure for measure in MEASURES}

Values = dict[str, float]


def sawtooth(times: list[float], windows: list[float], begin: float = 20.0) -> tuple[float, float] | None:
    """Period and peak of a sawtooth: mean time between cuts, and mean value before a cut. A cut is a fall to less
    than three quarters between two samples; falls within half a second belong to one event. None if there are
    fewer than three cuts."""
    cuts: list[tuple[float, float]] = []
    for before, after, time in zip(windows, windows[1:], times[1:], strict=False):
        if time < begin or after >= 0.75 * before:
            continue
        if not cuts or time - cuts[-1][0] > 0.5:
            cuts.append((time, before))
    if len(cuts) < 3:
        return None
    period = (cuts[-1][0] - cuts[0][0]) / (len(cuts) - 1)
    return period, sum(peak for _, peak in cuts) / len(cuts)
