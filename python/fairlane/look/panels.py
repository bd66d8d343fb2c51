"""Conversion of panels of curves to interactive charts; other panels remain drawings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .charts import Lines, span
from .series import Series
from .theme import hue_number
from .web_charts import Chart, Line, downsample, points_per_curve, resolution_note

if TYPE_CHECKING:
    from .theme import Panel

_MARKS = ("dot", "square", "star")


def live_of(panels: Sequence[Panel], name: str, title: str) -> tuple[list[Chart], list[Panel]]:
    """Converts the panels of a figure: returns charts for panels with curves, and the other panels.

    `name`: that of the figure; `title`: the default title of a panel. Panels over time share zoom and cursor.
    """
    charts, others = [], []
    for i, p in enumerate(panels):
        chart = _over_time(p, f"{name}-{i}", name) if isinstance(p, Series) else _lines(p, f"{name}-{i}") if isinstance(p, Lines) else None
        if chart is None:
            others.append(p)
        else:
            charts.append(chart if chart.title else replace(chart, title=title))
    return charts, others


def _over_time(p: Series, name: str, link: str) -> Chart:
    most, lines, spans = points_per_curve(len(p.traces)), [], []
    for i, t in enumerate(p.traces):
        values = np.array([np.nan if v is None else v for v in t.values], dtype=float)
        s = downsample(np.array(t.times, dtype=float), values, most)
        # Without downsampling a band would equal the curve.
        lines.append(s.line(t.name, hue_number(t.name, i)) if s.span else Line(t.name, s.x, s.y, hue=hue_number(t.name, i)))
        spans.append(s.span)
    return Chart(
        name, p.title, p.x, p.y, lines, link=link, spans=p.spans, levels=() if p.level is None else ((p.level, ""),),
        from_zero=p.bottom is not None, caption=resolution_note(spans, rate=False),
    )  # fmt: skip


def _lines(p: Lines, name: str) -> Chart:
    """Returns our values with marks and intervals, and published values as hollow marks, crossed out if inconsistent."""
    lines: list[Line] = []
    for i, c in enumerate(p.curves):
        hue, mark = hue_number(c.name, i), _MARKS[i // 5 % len(_MARKS)]
        before = f"{c.name}, " if c.name else ""
        if any(y is not None for y in c.ours):
            lines.append(Line(c.name or "ours", c.x, c.ours, c.low, c.high, hue, bars=True, mark=mark, size=3.0))
        if any(y is not None for y in c.published):
            lines.append(Line(f"{before}published", c.x, c.published, hue=hue, bars=True, mark=mark, hollow=True))
        bad = [(x, y) for x, y, wrong in zip(c.x, c.published, c.crossed, strict=False) if wrong and y is not None]
        if bad:
            at, crossed = [x for x, _ in bad], [y for _, y in bad]
            lines.append(Line(f"{before}inconsistent", at, crossed, hue=None, bars=True, mark="cross", size=5.0))
    a = p.axes
    return Chart(
        name, a.title, a.x, a.y, lines, ends=("low", "high"), from_zero=span(p.curves)[0] <= 0, log_x=a.log_x, log_y=a.log_y, ticks=a.ticks,
        names=a.names,
    )  # fmt: skip
