"""How much of the start of a series to cut off: MSER-5."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import FairlaneError
from .notebook import NotebookSentence

BATCH = 5
"""Observations a batch: the 5 of MSER-5."""
LEAST_KEPT = 5
"""Batches that every cut must leave at least (Hoad, Robinson and Davies 2010), and a quarter of all. The statistic of the last few is
noise: of a long steady series two neighbours nearly equal by chance would be enough to say that all before them is warm-up."""


@dataclass(frozen=True, slots=True)
class Truncation:
    """Where MSER-5 cuts a series."""

    cut: int | None
    """Observations to drop from the start, a multiple of 5; None if the series is too short to tell."""
    least: int
    """Observations up to the minimum of the statistic, wherever it lies: `cut`, if that is not None."""
    n: int
    """Observations of the series."""

    @property
    def enough(self) -> bool:
        """Whether the series is long enough: the minimum lies in the first half."""
        return self.cut is not None


def mser5(series: Iterable[float], *, batch: int = BATCH) -> Truncation:
    """The warm-up of a series of one run, by the rule MSER-5.

    The n observations become k = floor(n / 5) batch means Z; what is left over at the end does not count. Dropping the first d batches
    leaves the marginal standard error, squared and but for a constant,

        MSER(d) = sum over i > d of (Z_i - mean of Z_d+1..Z_k)^2 / (k - d)^2,

    and d* is where it is smallest, the first of several equal ones. Dropping a biased start makes the sum fall faster than (k - d)^2;
    dropping more only makes what is left smaller. The last quarter, and at least five batches, are always kept.

    If d* > k / 2 the rule says that the series is too short: then `cut` is None, and the remedy is a longer run. So it is with fewer than
    ten batches, where a shorter sampling step helps as well.

    Assumes one transient at the start, and a steady state after it; it cannot see a transient that is longer than the series, nor rare
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
    # From the end to the start, by the updates of Welford: exact for a constant tail behind a large start.
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
    """The warm-up that a series of a result asks for."""

    metric: str
    of: str
    """The flow or link."""
    seconds: float | None
    """The longest cut over the runs, in seconds from the start of the run; None if a run is too short to tell."""
    per_run: tuple[float | None, ...]
    """The cut of each run, in the order of the seeds."""
    configured: float
    """The scenario's own `warmup`, in seconds."""
    step: float
    """Seconds between two observations: a cut is a multiple of five steps."""

    @property
    def suffices(self) -> bool | None:
        """Whether the scenario's warm-up is as long as the cut; None if the runs are too short to tell."""
        return None if self.seconds is None else self.configured >= self.seconds - 1e-9

    def __str__(self) -> str:
        what = f"{self.metric} of {self.of}"
        if self.seconds is None:
            unclear = sum(c is None for c in self.per_run)
            return (
                f"{what}: {unclear} of {len(self.per_run)} runs are too short to tell a warm-up: "
                "make them longer, or sample more often if there are fewer than 50 samples"
            )
        verdict = "suffices" if self.suffices else "is too short"
        return f"{what} is steady after {self.seconds:.6g} s: the scenario's warm-up of {self.configured:.6g} s {verdict}"
