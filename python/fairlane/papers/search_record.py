"""The record of directed searches in the folder of a study: the setting that came closest to a claim, or to a published value."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..base.csv_text import inert
from .found import Found
from .records import made_of, made_of_this, save_record
from .tables import number_in

if TYPE_CHECKING:
    from .definition import Paper

SEARCH = "search.csv"
COLUMNS = (
    "made_of", "claim", "table", "of", "metric", "constrained", "evaluated", "seeds", "reached", "margin", "median", "setting",
)  # fmt: skip
"""Columns of the record; `claim` is empty for a published value, `table`, `of` and `metric` for a claim."""


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
