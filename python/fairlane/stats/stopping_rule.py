"""Stopping rule for replications: the relative error of a mean, judged after every batch of runs.

Law, Simulation Modeling and Analysis, 5th ed., section 9.4.1 ("Obtaining a specified precision"); Law and Kelton, Confidence intervals
for steady-state simulations II: a survey of sequential procedures, Management Science 28, 1982.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import FairlaneError
from .intervals import CONFIDENCE, Interval, check_confidence, interval, t_factor

MOST = 10_000_000
"""Largest answer of `replications_needed`; None beyond it."""

NARROW, CONSTANT, NO_VALUES, FEW, WIDE, NEAR_ZERO = "narrow", "no variation", "no values", "too few", "wide", "near zero"


@dataclass(frozen=True, slots=True)
class Verdict:
    """State of a metric relative to the requested precision."""

    state: str
    """`narrow`: the interval is narrow enough. `no variation`: all values are equal. `no values`: no replication gave a value. `too few`:
    fewer values than two or the minimum. `wide`: more replications are needed. `near zero`: as `wide`, but zero lies
    in the interval, so that a relative precision may be out of reach: set an absolute one."""
    interval: Interval
    relative_error: float | None
    """Half the interval divided by the absolute mean; None without an interval, infinite if the mean is zero."""
    needed: int | None
    """Expected total number of replications; None if unknown."""

    @property
    def enough(self) -> bool:
        """True if replications may stop, also without variation or without any value."""
        return self.state in (NARROW, CONSTANT, NO_VALUES)


def verdict(
    values: Iterable[float | None], relative: float, confidence: float = CONFIDENCE, *, absolute: float = 0.0, minimum: int = 2
) -> Verdict:
    """Judges a metric by the values of all replications so far, including missing ones (None, NaN).

    An interval with half width h around the mean m is narrow enough if h / |m| <= g / (1 + g), where g is `relative`. Law derives the
    divisor: from |m - mu| <= h follows |m - mu| / |mu| <= g, so g bounds the error relative to the true mean mu with (about) the
    probability `confidence`. An interval with h <= `absolute` (in the unit of the values) is narrow enough as well.

    Stopping at the first n that satisfies it makes n depend on the values, so the final interval covers the true mean a little less
    often than `confidence`; the coverage tends to it as g tends to 0 (Law; Chow and Robbins 1965). Law advises g <= 0.15 and a `minimum`
    of at least 10.

    >>> verdict([9.9, 10.1, 10.0, 10.2, 9.8], 0.05).state
    'narrow'
    >>> v = verdict([8.0, 12.0, 10.0, 9.0, 11.0], 0.05)
    >>> v.state, v.needed
    ('wide', 45)
    """
    g, floor = _limits(relative, absolute)
    check_confidence(confidence)
    every = list(values)
    iv = interval(every, confidence)
    half = iv.half_width
    if iv.n == 0:
        return Verdict(NO_VALUES if len(every) >= max(minimum, 1) else FEW, iv, None, None)
    if iv.mean is None or half is None:
        return Verdict(FEW, iv, None, None)
    error = half / abs(iv.mean) if iv.mean else (math.inf if half else 0.0)
    needed = replications_needed(every, relative, confidence, absolute=absolute)
    if len(every) < minimum:
        return Verdict(FEW, iv, error, None if needed is None else max(needed, minimum))
    if iv.sd == 0.0:
        return Verdict(CONSTANT, iv, error, needed)
    if _narrow(half, iv.mean, g, floor):
        return Verdict(NARROW, iv, error, needed)
    return Verdict(NEAR_ZERO if 0.0 in iv else WIDE, iv, error, needed)


def narrow_enough(
    values: Iterable[float | None], relative: float, confidence: float = CONFIDENCE, *, absolute: float = 0.0, minimum: int = 2
) -> bool:
    """Returns true if replications may stop: `verdict(...).enough`.

    >>> narrow_enough([3.0, 3.0], 0.02), narrow_enough([3.0], 0.02), narrow_enough([None, None], 0.02)
    (True, False, True)
    """
    return verdict(values, relative, confidence, absolute=absolute, minimum=minimum).enough


def replications_needed(
    values: Iterable[float | None], relative: float, confidence: float = CONFIDENCE, *, absolute: float = 0.0
) -> int | None:
    """Returns the expected total number of replications for a narrow enough interval, at least the present number.

    The smallest i >= n with t(i - 1) * sd / sqrt(i) <= max(absolute, g / (1 + g) * |mean|), with mean and sd of the n values so far (Law,
    9.4.1); see `verdict` for g. If only some replications gave a value, the same share is expected of those to come. None with fewer than
    two values, with a mean of zero unless all values are zero, and beyond ten million.

    >>> replications_needed([8.0, 12.0, 10.0, 9.0, 11.0], 0.1)
    15
    """
    g, floor = _limits(relative, absolute)
    check_confidence(confidence)
    every = list(values)
    iv = interval(every, confidence)
    if iv.mean is None or iv.sd is None:
        return None
    mean, sd = iv.mean, iv.sd

    def fits(i: int) -> bool:
        return _narrow(t_factor(confidence, i - 1) * sd / math.sqrt(i), mean, g, floor)

    low, high = iv.n, iv.n
    while not fits(high):
        low, high = high, high * 2
        if high > MOST:
            return None
    while high - low > 1:
        mid = (low + high) // 2
        low, high = (low, mid) if fits(mid) else (mid, high)
    return -(-high * len(every) // iv.n)


def _narrow(half: float, mean: float, g: float, floor: float) -> bool:
    return half <= max(floor, g * abs(mean))


def _limits(relative: float, absolute: float) -> tuple[float, float]:
    if not 0.0 < relative < math.inf:
        raise FairlaneError(f'a relative precision is above zero, such as 0.02 for "2%", not {relative!r}')
    if not 0.0 <= absolute < math.inf:
        raise FairlaneError(f"an absolute precision is zero or above, not {absolute!r}")
    return relative / (1.0 + relative), absolute
