"""How far a world is from print: over a fixed part of the printed values, which chooses worlds, and over the rest, which tests them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from .tables import Compared

if TYPE_CHECKING:
    from .definition import Built, Paper

FIT = 0.6
"""Share of the printed values by which worlds are chosen."""


@dataclass(frozen=True)
class Distance:
    """How far a world is from print. Differences are relative, without sign; in `fit` and `test` each counts up to 1."""

    fit: float | None
    """Mean difference of the values by which worlds are chosen; None without any."""
    test: float | None
    """That of the others."""
    median: float | None
    """Median of all differences."""
    near: int
    """Values that are near, as `Compared.near` has it."""
    n: int
    """Printed values with one of ours beside them."""


def printed_of(paper: Paper, built: Mapping[str, Built]) -> list[Compared]:
    """The printed results with ours, each once: values of printed tables, no inputs, and nothing computed from other printed numbers."""
    rows: dict[Any, Compared] = {}
    for name, b in built.items():
        if any(row.get("value") for row in paper.published(name)):
            for row in b.comparison.rows:
                if row.published is not None:
                    rows.setdefault((row.factors, row.metric, row.published), row)
    return list(rows.values())


def fitted(row: Compared) -> bool:
    """Whether a printed value is one by which worlds are chosen: by a hash of its place, the same for ever.

    A lot of its own for each value, not a table or a column: so both parts have some of everything.
    """
    place = "|".join([*(f"{k}={v}" for k, v in sorted(row.factors)), row.metric])
    return int.from_bytes(hashlib.sha256(place.encode()).digest()[:8]) / 2**64 < FIT


def apart(row: Compared) -> float:
    """The relative difference without its sign; a printed zero that is not met, or a value that is missing, is as far as can be."""
    difference = row.difference
    return math.inf if difference is None or math.isnan(difference) else abs(difference)


def distance(rows: Sequence[Compared]) -> Distance:
    """How far these values are from those printed beside them. Flagged ones do not choose worlds, nor test them; the median has them."""
    known = [r for r in rows if r.ours is not None and r.published is not None]
    plain = [r for r in known if not r.impossible]
    chosen, rest = [r for r in plain if fitted(r)], [r for r in plain if not fitted(r)]
    return Distance(
        _mean(chosen), _mean(rest), median(map(apart, known)) if known else None, sum(bool(r.near) for r in known if r.near), len(known)
    )


def _mean(rows: Sequence[Compared]) -> float | None:
    return fmean(min(1.0, apart(r)) for r in rows) if rows else None
