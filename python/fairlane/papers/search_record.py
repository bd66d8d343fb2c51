"""The record of directed searches in the folder of a study: the setting that came closest to a claim, or to a published value."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ..base.csv_text import inert
from .records import made_of, made_of_this, save_record
from .tables import number_in

if TYPE_CHECKING:
    from .definition import Paper

SEARCH = "search.csv"
COLUMNS = (
    "made_of", "claim", "table", "of", "metric", "constrained", "evaluated", "seeds", "reached", "margin", "median", "setting",
)  # fmt: skip
"""Columns of the record; `claim` is empty for a published value, `table`, `of` and `metric` for a claim."""


@dataclass(frozen=True)
class Found:
    """The best setting of a directed search."""

    claim: str
    """The claim; empty for a published value."""
    table: str
    of: str
    metric: str
    """The place of the published value; empty for a claim."""
    constrained: bool
    """True if the other published values had to stay as near as in the best-fitting settings."""
    evaluated: int
    """Settings that were run for it."""
    seeds: int
    """Replications of the best setting."""
    reached: float
    """Share of these replications in which the claim holds, or the value is near."""
    margin: float
    """Mean margin of the claim there, or minus the relative difference of the value."""
    median: float | None
    """Median difference of all published values there; None if its runs lack them."""
    setting: str
    """What it has otherwise than the declared setting: "window=64p, rate=2Mbit/s"."""

    @property
    def holds(self) -> bool:
        """True if the claim holds, or the value is near, in most replications of the best setting."""
        return self.reached > 0.5

    def to_json(self) -> dict[str, Any]:
        """Returns the entry of the JSON document."""
        return {
            "reached": round(self.reached, 4), "margin": round(self.margin, 6), "setting": self.setting, "seeds": self.seeds,
            "evaluated": self.evaluated, "constrained": self.constrained, "median_difference": self.median,
        }  # fmt: skip


def best_of(found: Iterable[Found]) -> dict[str, Found]:
    """Returns the result by claim: the one that keeps the other published values if that reaches the claim, else the other."""
    out: dict[str, Found] = {}
    for x in found:
        before = out.get(x.claim)
        if before is None or (x.holds, x.constrained, x.margin) > (before.holds, before.constrained, before.margin):
            out[x.claim] = x
    return out


def csv_of(found: Sequence[Found], made: str) -> bytes:
    """One row per search."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for x in found:
        texts = [inert(t) for t in (x.claim, x.table, x.of, x.metric)]
        numbers = [f"{x.reached:.6g}", f"{x.margin:.6g}", "" if x.median is None else f"{x.median:.6g}"]
        writer.writerow([made, *texts, "yes" if x.constrained else "no", x.evaluated, x.seeds, *numbers, inert(x.setting)])
    return out.getvalue().encode()


def record_search(found: Sequence[Found], paper: Paper) -> None:
    """Writes `search.csv` into the study's folder."""
    save_record(paper.folder / SEARCH, csv_of(found, made_of(paper)))


def recorded_search(paper: Paper) -> list[Found]:
    """The searches that a study's folder records; none without the file. Raises if they were made of another study."""
    path = paper.folder / SEARCH
    if not path.exists():
        return []
    number = partial(number_in, path)
    return [
        Found(
            r["claim"], r["table"], r["of"], r["metric"], r["constrained"] == "yes", int(r["evaluated"]), int(r["seeds"]),
            number(r["reached"]) or 0.0, number(r["margin"]) or 0.0, number(r["median"]), r["setting"],
        )
        for r in made_of_this(paper, path, COLUMNS, "search")
    ]  # fmt: skip
