"""The pictures of a study: which ones, what stands where, and the panels together."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from ..errors import FairlaneError, suggest
from ..look import theme
from .chart import Chart, numeric
from .model import PlotSpec, StudySpec
from .settings import SETTING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .tables import StudyTables

KINDS = ("line", "bar", "scatter", "heatmap", "box", "ecdf")
MOST_COLOURS = 10
MOST_PANELS = 12


def defaults(result: StudyTables) -> tuple[PlotSpec, ...]:
    """Pictures of a study that asks for none: each metric over the factor with most levels, the next ones as colours and panels.

    Over settings there are those of the claims.
    """
    varied = [f for f in result.spec.factors if len(f.levels) > 1]
    if not varied or not result.metrics or result.spec.settings is not None:
        return ()
    order = sorted(varied, key=lambda f: (-len(f.levels), not numeric(f)))
    x = order[0]
    rest = [f.name for f in order[1:]]
    by = next((n for n in rest if len(result.factor(n).levels) <= MOST_COLOURS), "")
    panel = next((n for n in rest if n != by and len(result.factor(n).levels) <= MOST_PANELS), "")
    kind = "line" if numeric(x) else "bar"
    return tuple(PlotSpec(kind, y=m, x=x.name, by=by, panel=panel) for m in result.metrics)


def default_kind(result: StudyTables, x: str) -> str:
    """Lines over numbers, a scatter over a metric, else bars."""
    if x and x not in result.factors:
        return "scatter"
    f = result.factor(x) if x else max((f for f in result.spec.factors if f.name != SETTING), key=lambda f: len(f.levels), default=None)
    return "line" if f is not None and numeric(f) else "bar"


def specs(result: StudyTables) -> list[PlotSpec]:
    """The pictures of a study, each with a file name of its own."""
    out: list[PlotSpec] = []
    for plot in result.spec.plots or defaults(result):
        wanted = plot.name or "-".join(x for x in (plot.kind, plot.y, plot.x) if x)
        stem = re.sub(r"[^A-Za-z0-9_.-]+", "_", wanted).strip("._") or plot.kind
        taken = {p.name for p in out}
        name = next(n for n in itertools.chain([stem], (f"{stem}-{i}" for i in itertools.count(2))) if n not in taken)
        out.append(replace(plot, name=name))
    return out


def panels(result: StudyTables, plot: PlotSpec) -> list[theme.Panel]:
    """The panels of a picture: one, or one for each level of the factor that says so."""
    plot = checked(result, plot)
    if not plot.panel:
        return [Chart(result, plot)]
    levels = result.factor(plot.panel).levels
    return [Chart(result, plot, level.label) for level in levels]


def check(spec: StudySpec) -> None:
    """Raises `FairlaneError` if a picture that the study asks for cannot be drawn, so that this is known before it runs."""
    from .tables import StudyTables

    empty = StudyTables(spec, (), None, pl.DataFrame())
    for plot in spec.plots:
        try:
            checked(empty, plot)
        except FairlaneError as e:
            raise FairlaneError(f"plot {plot.name or plot.kind!r}: {e}") from None


def drawn(result: StudyTables, plot: PlotSpec) -> str:
    """The picture as SVG, which is drawn once for the page and for the folder."""
    from ..look.theme import svg

    kept: dict[PlotSpec, str] = result.__dict__.setdefault("_pictures", {})
    if plot not in kept:
        kept[plot] = svg(picture(result, plot))
    return kept[plot]


def picture(result: StudyTables, plot: PlotSpec) -> Figure:
    """The picture on white, in rows of at most three panels."""
    import matplotlib as mpl

    from ..look.picture import Picture, on_white

    parts = panels(result, plot)
    columns = min(len(parts), 2 if len(parts) in (2, 4) else 3)
    rows = [parts[i : i + columns] for i in range(0, len(parts), columns)]
    wide, high = max(p.size[0] for p in parts), max(p.size[1] for p in parts)
    with mpl.rc_context(on_white()):
        figure = Picture(figsize=(wide * columns, high * len(rows)))
        for r, row in enumerate(rows):
            for k, p in enumerate(row):
                left, bottom, right, top = p.margins
                x, y = k * wide + left, (len(rows) - 1 - r) * high + bottom
                box = (x / (wide * columns), y / (high * len(rows)))
                p.draw(
                    figure,
                    figure.add_axes((*box, (wide - left - right) / (wide * columns), (high - bottom - top) / (high * len(rows)))),
                )
    return figure


def checked(result: StudyTables, plot: PlotSpec) -> PlotSpec:
    """The picture with full names, and what it lacks filled in."""
    if plot.kind not in KINDS:
        raise suggest(plot.kind, list(KINDS), "kind of picture")
    used: list[str] = []
    for role in ("x", "by", "panel"):
        name = getattr(plot, role)
        if not name or (role == "x" and plot.kind == "scatter" and name not in result.factors):
            continue
        if role == "x" and plot.kind == "ecdf":
            raise FairlaneError("a picture of kind ecdf has its metric on the x axis: leave out x, or write it as `by`")
        result.factor(name)
        if name in used:
            raise FairlaneError(f"factor {name!r} has two places in one picture")
        used.append(name)
    if plot.by and len(result.factor(plot.by).levels) > MOST_COLOURS and plot.kind != "heatmap":
        raise FairlaneError(
            f"a picture tells at most {MOST_COLOURS} colours apart: factor {plot.by!r} has {len(result.factor(plot.by).levels)} levels"
        )
    if plot.panel and len(result.factor(plot.panel).levels) > MOST_PANELS:
        count = len(result.factor(plot.panel).levels)
        raise FairlaneError(f"a picture has at most {MOST_PANELS} panels: factor {plot.panel!r} has {count} levels")
    x = plot.x
    if plot.kind == "scatter":
        if not x:
            raise FairlaneError("a picture of kind scatter needs a metric or a factor on each axis: x and y")
        if x not in result.factors:
            x = result.metric(x).label
        elif not numeric(result.factor(x)):
            raise FairlaneError(f"a scatter over {x!r} has no numbers on its axis: use kind box")
    elif plot.kind != "ecdf" and not x:
        free = [f for f in result.spec.factors if f.name not in (*used, SETTING)]
        if not free:
            raise FairlaneError(f"a picture of kind {plot.kind} needs a factor: x")
        x = max(free, key=lambda f: len(f.levels)).name
    if plot.kind == "heatmap" and not plot.by:
        others = [f for f in result.spec.factors if f.name not in (x, plot.panel, SETTING)]
        if not others:
            raise FairlaneError("a picture of kind heatmap needs two factors: x and by")
        plot = replace(plot, by=max(others, key=lambda f: len(f.levels)).name)
    return replace(plot, x=x, y=result.metric(plot.y).label)
