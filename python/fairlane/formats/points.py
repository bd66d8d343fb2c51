"""Time series as points, for xgraph and gnuplot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..base.metrics import series_of
from ..errors import suggest
from ..runs.tables import series_tables

if TYPE_CHECKING:
    import polars as pl

    from .export import Part


def plain(text: str) -> str:
    """A name on a line of its own, between quotes: neither ends there."""
    return "".join(c if c.isprintable() and c not in '"\\' else "_" for c in text)


def _unit(name: str) -> str:
    units = {s.unit for s in series_of(name)}
    return units.pop() if len(units) == 1 else ""


def _told(rows: pl.DataFrame, wanted: tuple[str, ...]) -> list[str]:
    """The columns that are asked for and have a value; none asked for: all."""
    there = [c for c in rows.columns if c != "time"]
    return [c for c in there if (not wanted or c in wanted) and rows[c].is_not_nan().any()]


def _check(part: Part) -> None:
    known = [c for t in series_tables(part.result) for c in part.result.table(t).columns if c not in ("seed", "flow", "link", "time")]
    for name in part.series:
        if name not in known:
            raise suggest(name, list(dict.fromkeys(known)), "series")


def xgraph_bytes(part: Part) -> bytes:
    """For each flow or link a set of points under its name in quotes, and an empty line behind it. A point without a value is left out."""
    from .export import subjects

    _check(part)
    wanted = part.series or ("throughput",)
    title = plain(str(part.result.description.get("name") or "run"))
    unit = _unit(wanted[0]) if len(wanted) == 1 else ""
    lines = [f"TitleText: {title}", "XUnitText: s", f"YUnitText: {plain(', '.join(wanted))}{f' ({unit})' if unit else ''}", ""]
    for _, name, rows in subjects(part):
        for column in _told(rows, wanted):
            lines.append(f'"{plain(name)}{f" {column}" if len(wanted) > 1 else ""}"')
            lines += [f"{t!r} {v!r}" for t, v in rows.select("time", column).iter_rows() if math.isfinite(v)]
            lines.append("")
    return "\n".join(lines).encode()


def gnuplot_bytes(part: Part) -> bytes:
    """For each flow or link an index: its name and the columns as comments, a line for each sample, two empty lines behind them."""
    from .export import subjects

    _check(part)
    lines = [f"# {plain(str(part.result.description.get('name') or 'run'))}, seed {part.seed}"]
    for kind, name, rows in subjects(part):
        columns = _told(rows, part.series)
        if not columns:
            continue
        heads = [f"{c}[{u}]" if (u := _unit(c)) else c for c in columns]
        # gnuplot finds an index by the comment before it, and takes NaN for a point that is not there.
        lines += [f"# {plain(name)}", f"# {kind}: time[s] {' '.join(heads)}"]
        lines += [" ".join(repr(v) if math.isfinite(v) else "NaN" for v in row) for row in rows.select("time", *columns).iter_rows()]
        lines += ["", ""]
    return "\n".join(lines).encode()
