"""Statistics across independent replications: the only place where intervals are computed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

CONFIDENCE = 0.95
"""Two-sided confidence level of every interval fairlane shows."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over replications with its confidence interval.

    `low`, `high` and `sd` are None with fewer than two values; all but `n` are None with none.
    Values that are not finite (a completion time of a flow that did not finish) do not count.

    >>> interval([1.0, 2.0, 3.0, 4.0]).half_width
    2.054...
    """

    mean: float | None
    low: float | None
    high: float | None
    sd: float | None
    n: int

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def __contains__(self, value: float) -> bool:
        """Whether `value` lies inside the interval."""
        return self.low is not None and self.high is not None and self.low <= value <= self.high

    def __format__(self, spec: str) -> str:
        if self.mean is None:
            return "-"
        half = self.half_width
        return format(self.mean, spec) + ("" if half is None else f" ± {format(half, spec)}")

    def __str__(self) -> str:
        return format(self, ".6g")

    def as_dict(self) -> dict[str, float | int | None]:
        """The five numbers by name, as in the JSON documents."""
        return {"mean": self.mean, "low": self.low, "high": self.high, "sd": self.sd, "n": self.n}


def interval(values: Iterable[float], confidence: float = CONFIDENCE) -> Interval:
    """Mean and Student t interval of independent values.

    mean ± t(1 - (1 - confidence)/2, n - 1) * sd / sqrt(n), with the sample deviation (divisor n - 1).
    """
    v = [float(x) for x in values if x is not None and math.isfinite(x)]
    n = len(v)
    if n == 0:
        return Interval(None, None, None, None, 0)
    mean = math.fsum(v) / n
    if n == 1:
        return Interval(mean, None, None, None, 1)
    sd = math.sqrt(math.fsum((x - mean) ** 2 for x in v) / (n - 1))
    half = t_quantile(0.5 + confidence / 2, n - 1) * sd / math.sqrt(n)
    return Interval(mean, mean - half, mean + half, sd, n)


def t_cdf(t: float, df: int) -> float:
    """Student's t distribution function for a whole number of degrees of freedom.

    The finite series of Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.

    >>> round(t_cdf(2.228, 10), 4)
    0.975
    """
    theta = math.atan2(abs(t), math.sqrt(df))
    cos, sin = math.cos(theta), math.sin(theta)
    odd = df % 2
    term = cos if odd else 1.0
    total = term if df > 1 or not odd else 0.0
    for k in range(2 + odd, df - 1, 2):
        term *= cos * cos * (k - 1) / k
        total += term
    inside = (theta + sin * total) * 2 / math.pi if odd else sin * total
    return 0.5 + math.copysign(inside / 2, t)


@lru_cache(maxsize=512)
def t_quantile(p: float, df: int) -> float:
    """The `p` quantile of Student's t distribution, by bisection of `t_cdf`.

    >>> round(t_quantile(0.975, 9), 3)
    2.262
    """
    if not 0.0 < p < 1.0 or df < 1:
        raise ValueError("t_quantile needs 0 < p < 1 and df >= 1")
    if p < 0.5:
        return -t_quantile(1.0 - p, df)
    low, high = 0.0, 1.0
    while t_cdf(high, df) < p:
        low, high = high, high * 2.0
    while high - low > 1e-13 * high:
        mid = (low + high) / 2
        if mid in (low, high):
            break
        low, high = (mid, high) if t_cdf(mid, df) < p else (low, mid)
    return (low + high) / 2
