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
    from ..multiverse import Word
    from .definition import Built, Paper
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
    told = [s.ours for s in seen if s.ours]
    return [_reach(table, row, [ours[i] for ours in told]) for i, (table, row) in enumerate(places)]


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
    return [(table, _place(row), row.metric) for table, rows in published_tables(paper, {}).items() for row in rows]


def _place(row: Compared) -> str:
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
        texts = [inert(t) for t in (x.table, _place(x.row), x.row.metric, x.row.unit, x.row.published_text)]
        numbers = ["" if n is None else f"{n:.6g}" for n in (x.row.ours, x.low, x.high)]
        word = {True: "yes", False: "no", None: ""}[x.reached]
        writer.writerow([made_of, *texts, *numbers, x.near, x.settings, word, x.row.impossible or ""])
    return out.getvalue().encode()


def of_values(rows: Sequence[Reach], varied: bool, missing: str = "") -> dict[str, Any] | None:
    """Returns the verdict on the published values of an experiment, besides the claims that rest on it; None if none is published.

    It *holds* if all of them are near in the study's own tables, *depends* if the others are near in some setting, is *not reproduced* if
    one is near in none (it *fails* where no parameter is unstated), and *inconclusive* if runs are missing, or settings do not have the
    others. Values that contradict others of their paper do not count. `varied`: whether settings were run.
    """
    plain = [r for r in rows if not r.row.impossible and r.row.ours is not None]
    if not plain:
        return None
    near, lost = sum(r.row.close for r in plain), [r for r in plain if r.reached is False]
    silent = sum(not r.row.close for r in plain if r.reached is None)
    word: Word = "not_reproduced" if lost else "inconclusive" if silent else "depends"
    if missing:
        word = "inconclusive"
    elif near == len(plain):
        word = "holds"
    elif not varied:
        word = "fails"
    told = f"{near} of {len(plain)} published values are within {100 * NEAR:.0f} % of ours or in our interval"
    if varied and near < len(plain):
        more = len(plain) - near - len(lost) - silent
        others = ((more, "more in some setting"), (len(lost), "in no setting"), (silent, "not available in any setting"))
        told += "".join(f", {n} {words}" for n, words in others if n)
    if missing:
        told = f"preliminary ({missing}): {told}"
    return {
        "verdict": word,
        "reason": told,
        "compared": len(plain),
        "near": near,
        "unreached": [r.to_json() for r in lost],
    }
