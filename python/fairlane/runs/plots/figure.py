"""Figure of results: panels, views, titles and legend, and the document of the drawn numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import FairlaneError
from ..colours import colours
from . import KINDS, Kind
from .formula_curves import check
from .pen import LONGEST, MOST, Pen, named
from .styles import Style, style_of
from .view import Selection, View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..data import ResultData

MOST_PANELS = 24
_RATIO = 0.52
"""Height over width of a single panel; narrow panels are higher."""
_LOWEST = 0.25
"""Least height of a panel in inches per point of its font size."""


@dataclass
class Drawn:
    """Figure with its kind, pens and views."""

    figure: Figure
    kind: Kind
    pens: list[Pen]
    views: list[View]
    style: Style = field(default_factory=lambda: style_of("screen"))

    @property
    def notes(self) -> list[str]:
        """Notes on data that could not be drawn, each once."""
        return list(dict.fromkeys(n for pen in self.pens for n in pen.notes))

    def document(self) -> dict[str, Any]:
        """Returns the document that `fairlane plot --json` prints: the numbers of each panel, in the units of its axes."""
        from ... import _core

        panels = [{"title": p.title, **p.axes, "drawn": [{k: _plain(v) for k, v in d.items()} for d in p.drawn]} for p in self.pens]
        results = {id(v.result): {"label": v.label, "seeds": v.seeds} for v in self.views}
        return {
            "schema": "fairlane.plot/1", "fairlane": _core.version(), "kind": self.kind.name, "shows": self.kind.shows,
            "results": list(results.values()), "panels": panels, "notes": self.notes,
        }  # fmt: skip


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [_plain(x) for x in value.tolist()]
    if isinstance(value, list):
        return [_plain(x) for x in value]
    return value if not isinstance(value, float) or math.isfinite(value) else None


def draw(
    results: Sequence[tuple[str, ResultData]],
    kind: str,
    *,
    flow: str | Iterable[str] | None = None,
    link: str | Iterable[str] | None = None,
    seed: int | str | None = None,
    theory: str | Iterable[str] = (),
    time: str | tuple[float | None, float | None] | None = None,
    style: str = "screen",
    size: tuple[float, float] | None = None,
    panels: Sequence[str] = (),
    ax: Axes | Iterable[Axes] | None = None,
) -> Drawn:
    """Draws a kind of plot, or a quantity, for labelled results; `panels`: the title of the panel of each result."""
    import matplotlib as mpl

    from ...look.picture import Picture, on_white

    if not results:
        raise FairlaneError("no result to draw")
    if kind in KINDS:
        own = KINDS[kind]
        for _, r in results if own.flows else ():
            r._having("flows")
    else:
        from .quantity import kind_of

        own = kind_of([r for _, r in results], kind, link=link is not None)
    form = style_of(style)
    formulas = _names(theory) or ()
    check(own, formulas)
    wish = Selection(own, _names(flow), _names(link), seed, formulas, span(time))
    alone = len(results) == 1 or (panels and max(list(panels).count(p) for p in panels) == 1)
    views = [View(result, label, wish, many=not alone) for label, result in results]
    for v in views:
        v.check_samples()
    split = _split(own, views, panels or [""] * len(views))
    with mpl.rc_context(on_white() | form.rc()):
        if ax is None:
            figure, axes = _grid(Picture, len(split), form, size)
        else:
            axes = list(ax) if isinstance(ax, Iterable) else [ax]
            if len(axes) != len(split):
                raise FairlaneError(f"{len(split)} panels need {len(split)} axes, not {len(axes)}: give ax a list of them")
            figure = axes[0].figure  # type: ignore[assignment]
        pens: list[Pen] = []
        inks: dict[str, int] = {}
        key = "link" if own.file in ("quantity:link_series", "quantity:links") else "flow"
        for (title, members), at in zip(split, axes, strict=True):
            pen = Pen(at, form.line if form.titled else 0.9, title, inks=inks, known=colours(members[0].result, key).known if alone else {})
            own.draws()(pen, members)
            pens.append(pen)
            heading = title if len(split) > 1 else _title(members, title) if form.titled and ax is None else ""
            if heading:
                at.set_title(named(heading, 60 if len(split) == 1 else 34), pad=6 + 1.1 * form.font if pen.lifted else None)
        if ax is None and len(pens) > 1:
            if own.together:
                _alike(pens)
            _outer([pen.ax for pen in pens])
        _legend(figure, pens, form, mine=ax is None)
        if ax is None:  # ticks depend on the final layout
            figure.draw_without_rendering()
    return Drawn(figure, own, pens, views, form)


def _names(value: str | Iterable[str] | None) -> tuple[str, ...] | None:
    return None if value is None else tuple([value] if isinstance(value, str) else value)


def span(time: str | tuple[float | None, float | None] | None) -> tuple[float | None, float | None]:
    """Parses the span `10s..20s`, `10s..` or `..20s` to seconds.

    >>> span("500ms..2s"), span("3s..")
    ((0.5, 2.0), (3.0, None))
    """
    from ...base.format import seconds

    if time is None or not isinstance(time, str):
        return (None, None) if time is None else time
    start, dots, end = time.partition("..")
    try:
        if not dots:
            raise ValueError
        out = (seconds(start) if start else None, seconds(end) if end else None)
    except ValueError:
        raise FairlaneError(f"cannot read the span {time!r}: write 10s..20s, 10s.. or ..20s") from None
    if out[0] is not None and out[1] is not None and out[0] >= out[1]:
        raise FairlaneError(f"the span {time} is empty: its end is not after its start")
    return out


def _split(kind: Kind, views: Sequence[View], panels: Sequence[str]) -> list[tuple[str, list[View]]]:
    """Returns the panels with their titles and views."""
    groups: dict[str, list[View]] = {}
    for title, v in zip(panels, views, strict=True):
        groups.setdefault(title, []).append(v)
    out: list[tuple[str, list[View]]] = []
    for title, own in groups.items():
        if kind.together:
            out.append((title, own))
            continue
        for v in own:
            head = ", ".join(dict.fromkeys(x for x in (title, v.label if v.many else "") if x))
            names = _each(kind, v)
            out += [(", ".join(x for x in (head, n if len(names) > 1 or not head else "") if x), [v.of(n)]) for n in names]
    if len(out) > MOST_PANELS:
        raise FairlaneError(f"{kind.name} has {len(out)} panels, more than {MOST_PANELS}: choose fewer results, flows or links")
    return out


def _each(kind: Kind, view: View) -> list[str]:
    """Returns the flows or links with their own panels."""
    if kind.each == "link":
        found = view.links()
        if not found:
            raise FairlaneError(f"{kind.name} needs a link, and this result has none")
        return found
    if kind.each == "flow":
        if view.wish.flow is not None:
            return view.flows()
        tcp = [f["name"] for f in view.result.scenario["expanded"]["flows"] if f["transport"] == "tcp"]
        if not tcp:
            raise FairlaneError(f"{kind.name} needs a TCP flow, and this result has none")
        return tcp[:1]
    return [""]


def _title(views: Sequence[View], what: str) -> str:
    names = list(dict.fromkeys(v.result.description.get("name") or "" for v in views))
    runs = list(dict.fromkeys(v.runs for v in views))
    name = names[0] if len(names) == 1 else ""
    parts = ", ".join(x for x in (what, runs[0] if len(runs) == 1 else "") if x)
    name = name if len(name) <= LONGEST - 18 else f"{name[: LONGEST - 19]}…"
    return f"{name} ({parts})" if name and parts else name or parts


def _grid(picture: Any, n: int, style: Style, size: tuple[float, float] | None) -> tuple[Figure, list[Axes]]:
    columns = 1 if n == 1 or style.narrow else 2 if n in (2, 4) else min(3, n)
    rows = -(-n // columns)
    if size is None:
        wide = style.width / columns
        size = (
            style.width,
            rows * max(wide * (0.68 if columns > 1 or style.narrow else _RATIO), _LOWEST * style.font) + (columns > 1) * 0.3,
        )
    figure = picture(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for spare in axes[n:]:
        spare.remove()
    return figure, axes[:n]


def _alike(pens: Sequence[Pen]) -> None:
    """Gives all panels equal scales, so that they can be compared."""
    axes = [pen.ax for pen in pens]
    for axis in ("x", "y"):
        ends = [getattr(a, f"get_{axis}lim")() for a in axes]
        scales = {getattr(a, f"get_{axis}scale")() for a in axes}
        low, high = min(min(e) for e in ends), max(max(e) for e in ends)
        if len(scales) > 1:  # one logarithmic panel makes all logarithmic
            low = min(min(e) for e in ends if min(e) > 0)
            for pen in pens:
                getattr(pen.ax, f"set_{axis}scale")("log")
                pen.plain(axis)
        for a, e in zip(axes, ends, strict=True):
            getattr(a, f"set_{axis}lim")(*((low, high) if e[0] <= e[1] else (high, low)))


def _outer(axes: Sequence[Axes]) -> None:
    """Keeps axis labels that all panels share at the left and at the bottom only."""
    if len({a.get_ylabel() for a in axes}) == 1:
        for a in axes:
            if not a.get_subplotspec().is_first_col():  # type: ignore[union-attr]
                a.set_ylabel("")
    if len({a.get_xlabel() for a in axes}) == 1:
        below = {(s.rowspan.start, s.colspan.start) for a in axes if (s := a.get_subplotspec()) is not None}
        for a in axes:
            s = a.get_subplotspec()
            if s is not None and (s.rowspan.start + 1, s.colspan.start) in below:
                a.set_xlabel("")


def _legend(figure: Figure, pens: Sequence[Pen], style: Style, *, mine: bool) -> None:
    """Draws one legend for all panels outside of our own axes, or inside axes of the caller."""
    keys: dict[str, Any] = {}
    for pen in pens:
        own = pen.keys if len(pens) > 1 or len(pen.keys) > 1 else []
        if not mine and own:
            pen.ax.legend([h for h, _ in own[:MOST]], [named(n) for _, n in own[:MOST]], loc="best", framealpha=0.8)
        keys |= {n: h for h, n in own if n not in keys}
    if not mine or not keys:
        return
    names = list(keys)[:MOST]
    labels = [named(n) for n in names]
    if len(keys) > MOST:
        pens[0].note(f"the legend has {MOST} of {len(keys)} names")
    # Letters are about half as wide as high; handles take additional space.
    longest = max(len(line) for label in labels for line in label.splitlines())
    inches = style.width if figure.get_size_inches()[0] <= 0 else float(figure.get_size_inches()[0])
    columns = max(1, min(len(labels), int(inches * 72 / (style.font * 0.875 * (0.55 * longest + 3.6)))))
    figure.legend(
        [keys[n] for n in names], labels, loc="outside lower center", ncols=columns, frameon=False, handlelength=2.6, columnspacing=1.2
    )
