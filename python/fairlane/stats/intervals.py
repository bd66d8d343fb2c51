"""Means with confidence intervals: Student's, and Wilson's for bounded values."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from ..base.format import base_unit, quantity
from ..errors import ArgumentError
from .student import factor

CONFIDENCE = 0.95
"""Two-sided confidence level of every interval fairlane shows."""

Range = tuple[float, float]
"""Smallest and largest possible value, infinite if there is none."""
ANY: Range = (-math.inf, math.inf)
"""Range of a difference, and of values without known bounds."""
EVEN = 0.1
"""Largest offset of the middle from the mean, as a share of half the interval, for the ± notation."""


class _Bounds:
    """An interval with both bounds or none."""

    __slots__ = ()
    low: float | None
    high: float | None

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval; the value need not lie in its middle."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def __contains__(self, value: float) -> bool:
        """Returns true if `value` lies inside the interval."""
        return self.low is not None and self.high is not None and self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Interval(_Bounds):
    """A mean over runs with its confidence interval; all numbers but `n` are in `unit`.

    `low`, `high` and `sd` are None with fewer than two values; all but `n` are None with none.
    Values that are not finite (the completion time of an unfinished flow) are ignored.

    >>> print(interval([9.1e6, 9.2e6, 9.3e6], unit="bit/s"))
    9.20 ± 0.25 Mbit/s (95 %, 3 runs)
    >>> print(interval([0.01, 0.02, 0.09], within=(0.0, 1.0), unit="1"))
    0.040 (0.0042 to 0.29; 95 %, 3 runs)
    >>> interval([1.0, 2.0, 3.0, 4.0]).half_width
    2.054...
    >>> f"{interval([0.01, 0.02, 0.09], within=(0.0, 1.0)):.3f}"
    '0.040 (0.004 to 0.291)'
    """

    mean: float | None
    low: float | None
    high: float | None
    sd: float | None
    n: int
    unit: str = ""
    """Unit of the numbers, such as "bit/s", "s", "byte", "packets" or "1" (a share); empty if it is unknown."""
    confidence: float = CONFIDENCE

    @property
    def even(self) -> bool:
        """True if the mean is in the middle of the interval, or nearly so, for the ± notation. True without an interval."""
        if self.mean is None or self.low is None or self.high is None:
            return True
        return abs(self.high + self.low - 2 * self.mean) <= EVEN * (self.high - self.low)

    @property
    def errors(self) -> tuple[float, float]:
        """Distances from the mean to the ends of the interval, for error bars; zeros without an interval."""
        if self.mean is None or self.low is None or self.high is None:
            return 0.0, 0.0
        return self.mean - self.low, self.high - self.mean

    def __format__(self, spec: str) -> str:
        """Formats the numbers as `spec` says, in `unit`; without a spec like `str`."""
        if not spec:
            return str(self)
        if self.mean is None:
            return "-"
        if self.low is None or self.high is None:
            text = format(self.mean, spec)
        elif self.even:
            text = f"{format(self.mean, spec)} ± {format(self.half_width, spec)}"
        else:
            text = f"{format(self.mean, spec)} ({format(self.low, spec)} to {format(self.high, spec)})"
        return f"{text} {base_unit(self.unit)}".rstrip()

    def __str__(self) -> str:
        if self.mean is None:
            return "no value"
        runs = "1 run" if self.n == 1 else f"{self.n} runs"
        sure = "" if self.low is None else f"{100 * self.confidence:g} %, "
        value, uneven, rest = quantity(self, self.unit).partition(" (")
        ends, _, unit = rest.partition(")")
        return f"{value}{unit} ({ends}; {sure}{runs})" if uneven else f"{value} ({sure}{runs})"

    def _repr_html_(self) -> str:
        value, _, note = str(self).rpartition(" (")
        return f"<b>{value}</b> <small>({note}</small>" if value else f"<b>{note}</b>"

    def times(self, factor: float, unit: str = "") -> Interval:
        """Returns the interval in another unit: `times(100, "%")` of a share."""
        mean, low, high, sd = (None if x is None else factor * x for x in (self.mean, self.low, self.high, self.sd))
        return Interval(mean, low, high, sd, self.n, unit, self.confidence)

    def as_dict(self) -> dict[str, float | int | None]:
        """Returns the five numbers by name, as in the JSON documents."""
        return {"mean": self.mean, "low": self.low, "high": self.high, "sd": self.sd, "n": self.n}


@dataclass(frozen=True, slots=True)
class Estimate(_Bounds):
    """A number other than a mean of values (a median, a difference, a change in percent) with its confidence interval.

    `low` and `high` are None if the values allow no interval; `value` is None if they do not even allow a value.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    """Number of independent values."""

    def __format__(self, spec: str) -> str:
        spec = spec or ".6g"
        if self.value is None:
            return "-"
        if self.low is None or self.high is None:
            return format(self.value, spec)
        return f"{format(self.value, spec)} ({format(self.low, spec)} to {format(self.high, spec)})"

    def __str__(self) -> str:
        return format(self)

    def _repr_html_(self) -> str:
        return f"<b>{self!s}</b> <small>({self.n} values)</small>"

    def as_dict(self) -> dict[str, float | int | None]:
        """Returns the four numbers by name."""
        return {"value": self.value, "low": self.low, "high": self.high, "n": self.n}


def interval(values: Iterable[float | None], confidence: float = CONFIDENCE, within: Range = ANY, unit: str = "") -> Interval:
    """Returns the mean and the interval of independent values within a range, all in `unit`.

    Without bounds it is Student's interval: mean ± t(1 - (1 - confidence)/2, n - 1) * sd / sqrt(n), with the sample deviation (divisor n -
    1). It is exact for normal values; for others it holds in the limit, because the mean of many is nearly normal (Law, Simulation
    Modeling and Analysis, 5th ed., section 4.5). With a bound it is that of `from_moments`, which lies within the range.

    >>> interval([0.0, 0.0, 0.04], within=(0.0, math.inf)).low > 0
    True
    """
    v = finite(values)
    n = len(v)
    if n < 2:
        check_confidence(confidence)
        return Interval(v[0] if v else None, None, None, None, n, unit, confidence)
    if min(v) == max(v):  # the computed mean may differ by a rounding error
        return from_moments(v[0], 0.0, n, confidence, unit=unit)
    mean = math.fsum(v) / n
    return from_moments(mean, math.sqrt(math.fsum((x - mean) ** 2 for x in v) / (n - 1)), n, confidence, within, unit)


def from_moments(mean: float, sd: float, n: int, confidence: float = CONFIDENCE, within: Range = ANY, unit: str = "") -> Interval:
    """Returns the interval of `n` >= 2 values from their mean and sample deviation.

    With bounds it contains each true mean within t standard errors of the mean. The variance is assumed to depend on the true mean as for
    shares, mu * (1 - mu), or with one bound as for counts, mu. That is Wilson's interval (Probable inference, J. American Statistical
    Association 22, 1927) with the deviation of the runs instead of the binomial one. It stays within the bounds, and approaches Student's
    where it is narrow.

    >>> from_moments(1.58, 1.2299593, 10).low
    0.7001...
    >>> share = from_moments(0.2, math.sqrt(0.2 * 0.8), 10, within=(0.0, 1.0))
    >>> round(share.low, 3), round(share.high, 3)
    (0.048, 0.555)
    """
    half = t_factor(confidence, n - 1) * sd / math.sqrt(n)
    low, high = bounded(mean, half, within)
    return Interval(mean, low, high, sd, n, unit, confidence)


def bounded(mean: float, half: float, within: Range) -> tuple[float, float]:
    """Returns the ends of an interval within a range, from Student's `mean` ± `half`."""
    least, most = within
    if half == 0.0 or within == ANY:
        return mean - half, mean + half
    if math.isinf(least):
        low, high = bounded(-mean, half, (-most, math.inf))
        return -high, -low
    up = mean - least
    if up <= 0.0 or mean >= most:
        # The interval of values beyond the range is clipped to it.
        return max(least, mean - half), min(most, mean + half)
    # With k = (half / mean)^2 * mean the ends are where (x - mean)^2 = k * x, or with the width w of the range = k * x * (1 - x / w).
    width = most - least
    k = half * half / up if math.isinf(width) else half * half / (up * (1.0 - up / width))
    shrink = 1.0 if math.isinf(width) else 1.0 + k / width
    middle = (up + k / 2) / shrink
    high = middle + math.sqrt(max(middle * middle - up * up / shrink, 0.0))
    low = up * up / shrink / high  # by the product of the roots, which loses no digits
    return least + low, min(least + high, most)


def finite(values: Iterable[float | None]) -> list[float]:
    """Returns the finite values."""
    return [float(x) for x in values if x is not None and math.isfinite(x)]


def check_confidence(confidence: float) -> float:
    """Returns a valid confidence level; raises `ArgumentError` otherwise."""
    if not 0.0 < confidence < 1.0:
        raise ArgumentError(f"a confidence level is between 0 and 1, such as 0.95, not {confidence!r}")
    return confidence


@lru_cache(maxsize=1024)
def t_factor(confidence: float, df: float) -> float:
    """Returns the two-sided factor of Student's t: half an interval divided by the standard error.

    >>> round(t_factor(0.95, 9), 3)
    2.262
    """
    check_confidence(confidence)
    if not df > 0:
        raise ArgumentError(f"Student's t needs a positive number of degrees of freedom, not {df!r}")
    return factor(1.0 - confidence, df)
