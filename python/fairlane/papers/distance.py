"""The distance of a setting from the published values: over a fixed part, which selects settings, and over the held-out rest."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from .score import difference
from .tables import Compared

FIT = 0.6
"""Share of the published values by which settings are chosen."""


@dataclass(frozen=True)
class Distance:
    """How far a setting is from the published values. Differences are relative, without sign; in `fit` and `test` each counts up to 1."""

    fit: float | None
    """Mean difference of the values by which settings are chosen; None without any."""
    test: float | None
    """Mean difference of the held-out values."""
    median: float | None
    """Median of all differences."""
    near: int
    """Values that are near, as `Compared.close` has it."""
    n: int
    """Published values for which we have one of ours."""


def fitted(row: Compared) -> bool:
    """Returns true if a published value is used to select settings: by a hash of its place, so always the same ones.

    A lot of its own for each value, not a table or a column: so both parts have some of everything.
    """
    place = "|".join([*(f"{k}={v}" for k, v in sorted(row.factors)), row.metric])
    return int.from_bytes(hashlib.sha256(place.encode()).digest()[:8]) / 2**64 < FIT


def distance(rows: Sequence[Compared]) -> Distance:
    """Returns the distance of our values from the published ones. Flagged values count in the median only."""
    known = [r for r in rows if r.ours is not None and r.published is not None]
    plain = [r for r in known if not r.impossible]
    chosen, rest = [r for r in plain if fitted(r)], [r for r in plain if not fitted(r)]
    return Distance(_mean(chosen), _mean(rest), median(map(difference, known)) if known else None, sum(r.close for r in known), len(known))


def _mean(rows: Sequence[Compared]) -> float | None:
    return fmean(min(1.0, difference(r)) for r in rows) if rows else None
