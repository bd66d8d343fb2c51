"""How near the published results are: over all values that the paper reports as results, with and without those it contradicts itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from .definition import Built
from .layout import is_tidy, published_rows

if TYPE_CHECKING:
    from .definition import Paper
    from .tables import Compared


@dataclass(frozen=True)
class Score:
    """Published values for which we have one of ours, how many of them are near, and the median of their relative differences."""

    compared: int
    near: int
    median: float | None
    """Without signs; infinite if more than half of them are published zeros that we do not meet, None if there is none."""

    def to_json(self) -> dict[str, Any]:
        """Returns the entry of the document, where infinity is null."""
        known = self.median is not None and math.isfinite(self.median)
        return {"compared": self.compared, "near": self.near, "median_difference": self.median if known else None}


@dataclass(frozen=True)
class Scores:
    """The score with the values that contradict others in their own paper, and without."""

    every: Score
    plain: Score
    missing: int
    """Published results that were not run."""

    @property
    def columns(self) -> list[Any]:
        """The values in the order of `COLUMNS`."""
        return [x for s in (self.every, self.plain) for x in s.to_json().values()]

    def to_json(self) -> dict[str, Any]:
        """Returns the entry of the document."""
        return {"with_flagged": self.every.to_json(), "without_flagged": self.plain.to_json(), "missing": self.missing}


COLUMNS = [f"{name}{of}" for of in ("", ", contradicted left out") for name in ("values compared", "values near", "median difference")]
"""Names of `Scores.columns`."""


def published_results(paper: Paper, built: Mapping[str, Built], names: Sequence[str] = ()) -> list[Compared]:
    """The published results, each once, with ours where an experiment was built."""
    return [row for rows in published_tables(paper, built, names).values() for row in rows]


def published_tables(paper: Paper, built: Mapping[str, Built], names: Sequence[str] = ()) -> dict[str, list[Compared]]:
    """Returns the published results by table: always the same values in the same order, whatever was built."""
    out: dict[str, list[Compared]] = {}
    for name in names or dict.fromkeys([*(e.id for e in paper.experiments()), *paper.tables]):
        if not is_tidy(paper.published(name)):
            continue
        sources = [built[name]] if name in built else list(built.values()) or [Built()]
        best = [published_rows(paper, name, b) for b in sources]
        out[name] = [next((row for row in same if row.ours is not None), same[0]) for same in zip(*best, strict=True)]
    return out


def score(rows: Iterable[Compared]) -> Score:
    """The score of some values; those without one of ours are left out."""
    known = [row for row in rows if row.ours is not None and row.published is not None]
    apart = [difference(row) for row in known]
    return Score(len(known), sum(row.close for row in known), median(apart) if apart else None)


def difference(row: Compared) -> float:
    """The relative difference without its sign; a published zero that we do not meet, or no number of ours, is infinitely far."""
    return math.inf if row.difference is None or math.isnan(row.difference) else abs(row.difference)


def scores(rows: Sequence[Compared]) -> Scores:
    """Both scores of a study."""
    return Scores(score(rows), score(row for row in rows if not row.impossible), sum(row.ours is None for row in rows))


def without_constant(paper: Paper, table: str, rows: Sequence[Compared]) -> float | None:
    """Returns the median difference of the values of a table without their constant part; None if paper.toml states none.

    `[experiments.ID] constant` has it: entries with a `value`, and the factors for which it counts. A published value that is no more than
    its constant part, to the last digit, has nothing left to compare.
    """
    parts: Sequence[Mapping[str, Any]] = paper.words["experiments"].get(table, {}).get("constant", [])
    differences = []
    for row in rows:
        factors = dict(row.factors)
        part = next((p for p in parts if all(factors.get(k, row.metric) == str(x) for k, x in p.items() if k != "value")), None)
        if part is None or row.ours is None or row.published is None:
            continue
        rest = row.published - float(part["value"])
        digits = len(row.published_text.partition(".")[2])
        if rest > 10.0**-digits:
            differences.append(abs((row.ours - float(part["value"])) / rest - 1))
    return median(differences) if differences else None
