"""Which published values the settings of a paper come near: of each the range over all settings, and those that none of them meets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.csv_text import inert
from .score import published_tables
from .tables import NEAR, Compared, number_in

if TYPE_CHECKING:
    from .definition import Built, Paper
    from .found import Found
    from .settings import Seen


@dataclass(frozen=True)
class Reach:
    """A published value, and what it is in the settings."""

    table: str
    row: Compared
    """The row in the study's own tables."""
    low: float | None
    """The least value over all settings; None if no setting has it."""
    high: float | None
    near: int
    """Settings in which it is within `NEAR` of the published one."""
    settings: int
    """Settings that have it."""

    @property
    def reached(self) -> bool | None:
        """True if it is near in some setting, the study's own among them; None if no setting has it."""
        return (self.near > 0 or self.row.close) if self.settings else None

    def to_json(self) -> dict[str, Any]:
        """Returns the entry of the JSON document."""
        row = self.row.to_json()
        own = {k: row[k] for k in ("factors", "metric", "unit", "published", "ours", "contradiction")}
        return {**own, "low": self.low, "high": self.high, "settings": self.settings}


def reach(paper: Paper, built: Mapping[str, Built], seen: Sequence[Seen]) -> list[Reach]:
    """Every published result with its range over these settings, in the order of the published tables."""
    places = [(table, row) for table, rows in published_tables(paper, built).items() for row in rows]
    comparable = [s.ours for s in seen if s.ours]
    return [_reach(table, row, [ours[i] for ours in comparable]) for i, (table, row) in enumerate(places)]


def with_recorded(rows: Sequence[Reach], recorded: Sequence[Mapping[str, str]]) -> list[Reach]:
    """Extends the ranges by the settings of a record: `recorded` are the rows of its `attainable.csv`, of the same published values."""

    def one(x: Reach, r: Mapping[str, str]) -> Reach:
        ends = [float(r[k]) for k in ("low", "high") if r[k]]
        low, high = (pick([y for y in (now, *ends) if y is not None], default=None) for pick, now in ((min, x.low), (max, x.high)))
        return replace(x, low=low, high=high, near=x.near + int(r["near"]), settings=x.settings + int(r["settings"]))

    return [one(x, r) for x, r in zip(rows, recorded, strict=True)] if recorded else list(rows)


def with_whole(rows: Sequence[Reach], over_settings: Sequence[Sequence[float | None]]) -> list[Reach]:
    """Adds full reruns to values that no other setting has: `over_settings` has each published value in the full reruns."""
    values = iter(over_settings)
    each = [(x, () if x.row.published is None else next(values)) for x in rows]
    return [x if x.settings else _reach(x.table, x.row, ours) for x, ours in each]


def recorded_with_whole(rows: Sequence[Mapping[str, str]], over_settings: Sequence[Sequence[float | None]]) -> list[dict[str, str]]:
    """Adds full reruns to the rows of a record; see `with_whole`."""
    number = partial(number_in, Path("attainable.csv"))
    of = [
        Reach(
            r["table"], Compared((), r["metric"], r["unit"], number(r["published"]), number(r["ours"])), None, None, 0, int(r["settings"])
        )
        for r in rows
    ]
    out = []
    for r, x in zip(rows, with_whole(of, over_settings), strict=True):
        now = {
            "low": x.low,
            "high": x.high,
            "near": x.near,
            "settings": x.settings,
            "reached": {True: "yes", False: "no", None: ""}[x.reached],
        }
        out.append({**r, **({k: "" if v is None else str(v) for k, v in now.items()} if r["settings"] == "0" else {})})
    return out


def places(paper: Paper) -> list[tuple[str, str, str]]:
    """Returns table, row and metric of every published result, as in `attainable.csv` and `full_reruns.csv`."""
    return [(table, place(row), row.metric) for table, rows in published_tables(paper, {}).items() for row in rows]


def place(row: Compared) -> str:
    """Returns the place of a value in its table: "clients 3, queue RED"."""
    return ", ".join(f"{k} {v}" for k, v in row.factors if v)


def _reach(table: str, row: Compared, values: Iterable[float | None]) -> Reach:
    known = [x for x in values if x is not None]
    alone = replace(row, low=None, high=None)
    near = sum(replace(alone, ours=x).close for x in known)
    return Reach(table, row, min(known, default=None), max(known, default=None), near, len(known))


REACH = ("made_of", "table", "of", "metric", "unit", "published", "ours", "low", "high", "near", "settings", "reached", "contradiction")
"""Columns of `attainable.csv`."""


def csv_of_reach(rows: Sequence[Reach], made_of: str) -> bytes:
    """The published values, one per row: where each stands, ours, its range over all settings, and in how many of them it is near."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(REACH)
    for x in rows:
        texts = [inert(t) for t in (x.table, place(x.row), x.row.metric, x.row.unit, x.row.published_text)]
        numbers = ["" if n is None else f"{n:.6g}" for n in (x.row.ours, x.low, x.high)]
        word = {True: "yes", False: "no", None: ""}[x.reached]
        writer.writerow([made_of, *texts, *numbers, x.near, x.settings, word, x.row.impossible or ""])
    return out.getvalue().encode()


def of_values(rows: Sequence[Reach], varied: bool, searched: Sequence[Found] = ()) -> dict[str, Any] | None:
    """Returns the verdict on the published values of an experiment, besides the claims that rest on it; None if none is published.

    It is *reproduced* if all of them are near in the study's own tables, *depends* if the others are near in some setting, *not reproduced*
    if a directed search met one of the others nowhere, and else *inconclusive*. Values that contradict others of their paper do not count.
    `varied`: settings were run.
    """
    plain = [r for r in rows if not r.row.impossible and r.row.ours is not None]
    if not plain:
        return None
    met = {(x.table, x.of, x.metric): x.holds for x in searched if x.table}

    def reached(r: Reach) -> bool | None:
        there = met.get((r.table, place(r.row), r.row.metric))
        return True if r.reached or there else False if there is False else None

    far = [r for r in plain if not r.row.close]
    lost = [r for r in far if reached(r) is False]
    open_ = [r for r in far if reached(r) is None]
    word = "reproduced" if not far else "not_reproduced" if lost else "inconclusive" if open_ or not varied else "depends"
    text = f"{len(plain) - len(far)} of {len(plain)} published values are within {100 * NEAR:.0f} % of ours"
    if varied and far:
        more = len(far) - len(lost) - len(open_)
        others = (
            (more, "more in some setting"), (len(lost), "in no setting that a directed search found"),
            (len(open_), "in no setting that was run"),
        )  # fmt: skip
        text += "".join(f", {n} {words}" for n, words in others if n)
    return {
        "verdict": word,
        "reason": text,
        "compared": len(plain),
        "near": len(plain) - len(far),
        "unreached": [r.to_json() for r in [*lost, *open_]],
    }
