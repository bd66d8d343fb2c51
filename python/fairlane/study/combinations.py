"""The combinations of a study as results, so that every picture of a result can be drawn of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl
import polars.selectors as cs

from .. import _core
from ..base.format import quantity
from ..errors import FairlaneError, suggest
from ..runs.result import Result
from ..runs.tables import names_of
from ..stats import Interval
from . import frames
from .diagnosis import resolve_base
from .model import Combination, Label

if TYPE_CHECKING:
    from .tables import StudyTables

MOST = 200
"""Combinations that are read at once."""


def results(study: StudyTables, where: Mapping[str, Any] | None = None) -> list[tuple[Combination, Result]]:
    """Each finished combination with what was kept of its runs; `where` has levels of factors."""
    wanted = chosen(study, where or {})
    done = frames.finished(study.index)
    kept = [p for p in wanted if p.index in set(done["combination"].to_list())]
    if not kept:
        raise FairlaneError(f"no run of these combinations of {study.spec.name} is done: run the study, or choose others")
    if len(kept) > MOST:
        raise FairlaneError(
            f"{len(kept)} combinations are too many for one picture: choose some by their levels (--where FACTOR=LEVEL, or where=)"
        )
    done = done.filter(pl.col("combination").is_in([p.index for p in kept])).drop("row").with_row_index("row")
    tables = {name: _table(study, name, kept, done) for name in frames.TABLES}
    index = study.index.filter(pl.col("status") == "done").select("key", "fingerprint", "events").unique("key")
    return [(p, _result(study, p, done.filter(pl.col("combination") == p.index), tables, index)) for p in kept]


def panelled(study: StudyTables, panel: str = "", where: Mapping[str, Any] | None = None) -> list[tuple[str, str, Result]]:
    """Title of the panel, label and result of each combination; panels are the levels of a factor."""
    if panel:
        study.factor(panel)
    found = results(study, where)
    varied = [f.name for f in study.spec.factors if f.name != panel and len({str(p.labels[f.name]) for p, _ in found}) > 1]
    return [(factors_text(study, p, [panel]) if panel else "", factors_text(study, p, varied) or study.spec.name, r) for p, r in found]


def named(study: StudyTables, combination: Combination) -> str:
    """The levels of all factors that have several."""
    return factors_text(study, combination, [f.name for f in study.spec.factors if len(f.levels) > 1]) or study.spec.name


def factors_text(study: StudyTables, combination: Combination, names: Sequence[str]) -> str:
    """The levels of some factors in words: a number needs the name of its factor."""
    parts = []
    for name in names:
        label: Label = combination.labels[name]
        if isinstance(label, bool):
            parts.append(f"{name} {str(label).lower()}")
        elif isinstance(label, (int, float)):
            parts.append(f"{name} {quantity(Interval(float(label), None, None, None, 1), study.factor(name).unit)}")
        else:
            parts.append(label if not label[:1].isdigit() else f"{name} {label}")
    return ", ".join(parts)


def chosen(study: StudyTables, where: Mapping[str, Any]) -> list[Combination]:
    """The combinations with these levels."""
    combinations = list(study.combinations)
    for name, level in where.items():
        known = [x.label for x in study.factor(name).levels]
        same = meant(known, level)
        if len(same) != 1:
            raise suggest(str(level), [str(x) for x in known], f"level of {name}")
        combinations = [p for p in combinations if p.labels[name] == same[0]]
    return combinations


def meant(known: Sequence[Label], level: Any) -> list[Label]:
    """The levels that are called so, or as a number, or by the name of an algorithm without its parameters."""
    tests = (
        lambda x: str(x) == str(level),
        lambda x: not isinstance(x, (str, bool)) and x == _number(level),
        lambda x: isinstance(x, str) and re.split("[{:]", x)[0] == level,
    )
    return next((found for test in tests if (found := [x for x in known if test(x)])), [])


def _number(level: Any) -> Any:
    """`5Mbit/s` as the number that stands in tables."""
    if not isinstance(level, str):
        return level
    try:
        kind = _core.quantity_kind(level)
        return float(level) if kind is None else _core.quantity(kind, level)[0]
    except (FairlaneError, ValueError):
        return None


def _table(study: StudyTables, name: str, combinations: Sequence[Combination], done: pl.DataFrame) -> pl.DataFrame:
    """A table of all these combinations as results have it, with the number of the row of its run in front."""
    frame = frames.wide(name, study.spec, combinations, study.store, done)
    one = name[:-1] if name in ("flows", "groups", "links") else name.removesuffix("_series")
    back = {c: c.removeprefix(f"{one}_") for c in frame.columns if c.removeprefix(f"{one}_") in study.factors and c.startswith(f"{one}_")}
    # Runs leave out what has no value; results have NaN there.
    return frame.rename(back).with_columns(cs.float().fill_null(float("nan")))


def _result(
    study: StudyTables, combination: Combination, finished: pl.DataFrame, tables: Mapping[str, pl.DataFrame], index: pl.DataFrame
) -> Result:
    sets = [s for f in study.spec.factors for level in f.levels if str(level.label) == str(combination.labels[f.name]) for s in level.sets]
    own = finished.select("row", "seed")
    runs = finished.join(index, on="key", how="left", maintain_order="left")
    none = {"packet_hops": 0, "cpu_s": 0.0, "setup_s": 0.0, "peak_packets": 0, "warnings": []}
    facts = [
        {"seed": r["seed"], "fingerprint": r["fingerprint"] or "", "events": r["events"] or 0, **none} for r in runs.iter_rows(named=True)
    ]
    parts = {name: own.join(frame, on="row", how="inner", maintain_order="left_right").drop("row") for name, frame in tables.items()}
    there = names_of(combination.reports)
    empty = {name: part if part.height else pl.DataFrame() for name, part in parts.items() if name in there}
    return Result(resolve_base(study.spec, sets), facts, empty)
