"""The pictures of a study that are zoomed into on its page: lines, scatters and distributions; bars, boxes and heatmaps stand as drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from ..look.web_charts import Chart as Live
from ..look.web_charts import Line
from ..stats import Interval, interval
from . import labels
from .chart import _MOST_BARS, Chart, _factor_scale, _geometric, _metric_scale, _within, numeric
from .plots import checked

if TYPE_CHECKING:
    from .model import Factor, PlotSpec
    from .tables import StudyTables

KINDS = ("line", "scatter", "ecdf")
MOST_DOTS = 4000
"""Single runs that a scatter shows."""
_QUANTILES = 300
_MARKS = ("dot", "square", "star")


def charts(result: StudyTables, plot: PlotSpec, caption: str) -> list[Live]:
    """The panels of a picture."""
    whole = checked(result, plot)
    panels = [level.label for level in result.factor(whole.panel).levels] if whole.panel else [None]
    made = {"line": _line, "scatter": _scatter, "ecdf": _ecdf}[whole.kind]
    out = []
    for i, level in enumerate(panels):
        chart = Chart(result, whole, level)
        metric = labels.metric(result.metric(whole.y))
        title = metric if level is None else f"{metric}, {whole.panel} {labels.level(result.factor(whole.panel), level)}"
        live = made(chart, f"{plot.name}-{i}", title, caption if level is None else "")
        if live.lines:
            out.append(live)
    return out


def _line(c: Chart, name: str, title: str, caption: str) -> Live:
    f, s = c.result.factor(c.plot.x), _metric_scale(c.result, c.plot.y)
    found = c._intervals(c._keys(), c.plot.y)
    levels, numbers = c._x_levels(), numeric(f)
    across = _factor_scale(f)
    xs = [float(x) * across.factor for x in levels] if numbers else [float(i) for i in range(len(levels))]
    lines = []
    for i, (by, of) in enumerate(zip(c._by_levels(), c._names() or [labels.metric(c.result.metric(c.plot.y))], strict=True)):
        rows = []
        for x, level in zip(xs, levels, strict=True):
            iv = found.get((level,) if by is None else (level, by))
            if iv is not None and iv.mean is not None:
                rows.append((x, iv.times(s.factor)))
        if rows:
            rows.sort(key=lambda r: r[0])
            lines.append(_of_intervals(of, [x for x, _ in rows], [iv for _, iv in rows], i, len(levels) <= _MOST_BARS))
    log = numbers and min(xs, default=0.0) > 0 and ("x" in c.plot.log or _geometric(xs))
    return Live(
        name, title, across.label if numbers else f.name, s.label, lines, link=f"x-{c.plot.x}", ends=("low", "high"),
        from_zero=_zero(lines), log_x=log, log_y=_log(c, lines), names=() if numbers else [labels.level(f, x) for x in levels],
        ticks=sorted(xs) if len(xs) <= 7 or not numbers else (), caption=caption,
    )  # fmt: skip


def _of_intervals(name: str, xs: Sequence[float], ivs: Sequence[Interval], hue: int, bars: bool) -> Line:
    low, high = ([getattr(iv, end) if getattr(iv, end) is not None else iv.mean for iv in ivs] for end in ("low", "high"))
    several = any(iv.low is not None for iv in ivs)
    mark = _MARKS[hue // 5 % len(_MARKS)]
    return Line(name, xs, [iv.mean for iv in ivs], low if several else (), high if several else (), hue, bars=bars, mark=mark)


def _zero(lines: Sequence[Line]) -> bool:
    """Returns true if the axis begins at zero: not if all values lie far above it."""
    values = [v for line in lines for v in (*line.y, *line.low) if v is not None]
    return not values or min(values) <= 0.45 * max(values)


def _log(c: Chart, lines: Sequence[Line]) -> bool:
    return "y" in c.plot.log and all(v > 0 for line in lines for v in (*line.y, *line.low) if v is not None)


def _scatter(c: Chart, name: str, title: str, caption: str) -> Live:
    r, x, y = c.result, c.plot.x, c.plot.y
    f: Factor | None = r.factor(x) if x in r.factors else None
    sx, sy = _factor_scale(f) if f is not None else _metric_scale(r, x), _metric_scale(r, y)
    frame = c._runs().drop_nulls([x, y])
    captions = {p.index: labels.combination(r.spec, p) for p in r.combinations}
    lines = []
    if frame.height <= MOST_DOTS and frame["seed"].n_unique() > 1:
        names = [f"{captions[p]}, seed {s}" for p, s in frame.select("combination", "seed").iter_rows()]
        lines.append(
            Line("single runs", (frame[x] * sx.factor).to_list(), (frame[y] * sy.factor).to_list(), hue=None, size=2.2, labels=names)
        )
    for i, (by, of) in enumerate(zip(c._by_levels(), c._names() or ["means"], strict=True)):
        own = frame if by is None else frame.filter(pl.col(c.plot.by) == by)
        parts = [(key[0], part) for key, part in own.group_by(["combination"], maintain_order=True)]
        if parts:
            across, up = (
                [interval(p[m].to_list(), r.spec.confidence, _within(r, m)).times(k) for _, p in parts]
                for m, k in ((x, sx.factor), (y, sy.factor))
            )
            line = _of_intervals(of, [iv.mean or 0.0 for iv in across], up, i, True)
            lines.append(
                Line(line.name, line.x, line.y, line.low, line.high, i, mark=line.mark, labels=[captions[int(p)] for p, _ in parts])
            )
    return Live(name, title, sx.label, sy.label, lines, kind="dots", ends=("low", "high"), from_zero=_zero(lines), log_y=_log(c, lines),
                log_x="x" in c.plot.log and all(v > 0 for line in lines for v in line.x), caption=caption)  # fmt: skip


def _ecdf(c: Chart, name: str, title: str, caption: str) -> Live:
    s = _metric_scale(c.result, c.plot.y)
    frame = c._runs().drop_nulls(c.plot.y)
    lines = []
    for i, (by, of) in enumerate(zip(c._by_levels(), c._names() or ["all runs"], strict=True)):
        own = frame if by is None else frame.filter(pl.col(c.plot.by) == by)
        values = (own[c.plot.y] * s.factor).sort()
        if len(values) > _QUANTILES:
            at = [k / _QUANTILES for k in range(_QUANTILES + 1)]
            step = {float(values.quantile(q) or 0.0): q for q in at}
        else:
            step = {float(v): (k + 1) / len(values) for k, v in enumerate(values)}
        if step:
            lines.append(Line(of, list(step), list(step.values()), hue=i))
    log = "x" in c.plot.log and all(v > 0 for line in lines for v in line.x)
    return Live(name, title, s.label, "share of runs", lines, link="" if log else f"of-{c.plot.y}", log_x=log, caption=caption)
