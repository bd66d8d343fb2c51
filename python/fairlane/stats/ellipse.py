"""The normal distribution fitted to points (delay, throughput)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ellipse:
    """The normal distribution fitted to points (delay, throughput) by maximum likelihood: divisor n, not n - 1.

    Winstein and Balakrishnan (TCP ex Machina, SIGCOMM 2013, figure 4) show its contour at one standard deviation. Each point is one flow
    of one run, so a small ellipse means that all flows are treated alike, in every run.
    """

    n: int
    delay: float
    """Mean one-way delay, s."""
    throughput: float
    """Mean throughput of a flow, bit/s."""
    covariance: tuple[tuple[float, float], tuple[float, float]]
    """Covariance matrix of delay (s) and throughput (bit/s)."""

    def contour(self, points: int = 120) -> list[tuple[float, float]]:
        """Returns the closed contour at one standard deviation: points at Mahalanobis distance 1 from the mean.

        >>> Ellipse(2, 5.0, 7.0, ((4.0, 0.0), (0.0, 9.0))).contour(4)[:2]
        [(7.0, 7.0), (5.0, 10.0)]
        """
        (a, b), (_, c) = self.covariance
        # The Cholesky factor of the covariance maps the unit circle to the contour.
        u = math.sqrt(max(a, 0.0))
        v = b / u if u else 0.0
        w = math.sqrt(max(c - v * v, 0.0))
        angles = (2 * math.pi * k / points for k in range(points + 1))
        return [(self.delay + _exact(u * math.cos(t)), self.throughput + _exact(v * math.cos(t) + w * math.sin(t))) for t in angles]

    def as_dict(self) -> dict[str, Any]:
        """Returns the ellipse for JSON documents."""
        return {"n": self.n, "delay": self.delay, "throughput": self.throughput, "covariance": [list(row) for row in self.covariance]}


def _exact(x: float) -> float:
    """Rounds away errors of sin and cos at right angles."""
    return round(x, 12)


def ellipse(points: Iterable[tuple[float, float]]) -> Ellipse | None:
    """Returns the ellipse of points (delay, throughput); None without points. Flows without a delay are ignored.

    >>> ellipse([(1.0, 10.0), (3.0, 30.0)]).covariance
    ((1.0, 10.0), (10.0, 100.0))
    """
    kept = [(d, t) for d, t in points if d is not None and t is not None and math.isfinite(d) and math.isfinite(t)]
    n = len(kept)
    if not n:
        return None
    d0, t0 = math.fsum(d for d, _ in kept) / n, math.fsum(t for _, t in kept) / n
    dd = math.fsum((d - d0) ** 2 for d, _ in kept) / n
    dt = math.fsum((d - d0) * (t - t0) for d, t in kept) / n
    tt = math.fsum((t - t0) ** 2 for _, t in kept) / n
    return Ellipse(n, d0, t0, ((dd, dt), (dt, tt)))
