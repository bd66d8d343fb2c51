"""Warm-up of a time series by the rule MSER-5."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import FairlaneError
from .notebook import NotebookSentence

BATCH = 5
"""Observations per batch: the 5 of MSER-5."""
LEAST_KEPT = 5
"""Fewest batches after a cut (Hoad, Robinson and Davies 2010), besides a quarter of all. The statistic of the last few is noise: two nearly
equal neighbours at the end of a long steady series would make all before them warm-up."""


@dataclass(frozen=True, slots=True)
class Truncation:
    """Truncation point of a series by MSER-5."""

    cut: int | None
    """Observations to drop from the start, a multiple of 5; None if the series is too short."""
    least: int
    """Observations up to the minimum of the statistic, equal to `cut` unless that is None."""
    n: int
    """Number of observations."""

    @property
    def enough(self) -> bool:
        """True if the series is long enough: the minimum lies in the first half."""
        return self.cut is not None


def mser5(series: Iterable[float], *, batch: int = BATCH) -> Truncation:
    """Returns the warm-up of a series of one run by the rule MSER-5.

    The n observations become k = floor(n / 5) batch means Z; the remainder is ignored. Dropping the first d batches
    leaves the marginal standard error, squared and but for a constant,

        MSER(d) = sum over i > d of (Z_i - mean of Z_d+1..Z_k)^2 / (k - d)^2,

    and d* is where it is smallest, the first of several equal ones. Dropping a biased start makes the sum fall faster than (k - d)^2;
    dropping more only makes what is left smaller. The last quarter, and at least five batches, are always kept.

    If d* > k / 2 the series is too short: `cut` is None, and the remedy is a longer run. With fewer than ten batches `cut` is None as well,
    and a shorter sampling step helps.

    Assumes one transient at the start, and a steady state after it; it cannot detect a transient longer than the series, nor rare
    events. Values must be finite.

    Source: White, An effective truncation heuristic for bias reduction in simulation output, Simulation 69(6), 1997; Spratt, Heuristics
    for the startup problem, University of Virginia 1998 (batches of five); White, Cobb and Spratt, A comparison of five steady-state
    truncation heuristics for simulation, Winter Simulation Conference 2000.

    >>> mser5([9, 7, 5, 3, 2] + [1, 0] * 50).cut
    5
    """
    if batch < 1:
        raise FairlaneError(f"a batch has one observation at least, not {batch}")
    values = [float(x) for x in series]
    if not all(map(math.isfinite, values)):
        raise FairlaneError("a series to cut has a value that is missing or not finite")
    k = len(values) // batch
    if k < 2 * LEAST_KEPT:
        return Truncation(None, 0, len(values))
    z = [math.fsum(values[i * batch : (i + 1) * batch]) / batch for i in range(k)]
    best, least, last = math.inf, 0, k - max(LEAST_KEPT, k // 4)
    # From the end to the start, by Welford's updates: exact for a constant tail after a large start.
    mean = total = 0.0
    for d in range(k - 1, -1, -1):
        kept = k - d
        delta = z[d] - mean
        mean += delta / kept
        total += delta * (z[d] - mean)
        statistic = total / (kept * kept)
        if d <= last and statistic <= best:
            best, least = statistic, d
    return Truncation(least * batch if 2 * least <= k else None, least * batch, len(values))


@dataclass(frozen=True, slots=True)
class Warmup(NotebookSentence):
    """Warm-up of a series of a result."""

    metric: str
    of: str
    """Flow or link."""
    seconds: float | None
    """Longest cut over the runs, in seconds from the start; None if a run is too short."""
    per_run: tuple[float | None, ...]
    """Cut of each run, in the order of the seeds."""
    configured: float
    """`warmup` of the scenario, in seconds."""
    step: float
    """Seconds between two observations; a cut is a multiple of five steps."""

    @property
    def suffices(self) -> bool | None:
        """True if the warm-up of the scenario is at least the cut; None if the runs are too short."""
        return None if self.seconds is None else self.configured >= self.seconds - 1e-9

    def __str__(self) -> str:
        what = f"{self.metric} of {self.of}"
        if self.seconds is None:
            unclear = sum(c is None for c in self.per_run)
            return (
                f"{what}: {unclear} of {len(self.per_run)} runs are too short to determine a warm-up: "
                "make them longer, or sample more often if there are fewer than 50 samples"
            )
        verdict = "suffices" if self.suffices else "is too short"
        return f"{what} is steady after {self.seconds:.6g} s: the scenario's warm-up of {self.configured:.6g} s {verdict}"
