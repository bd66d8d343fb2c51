"""Figures of a result: time series as lines, metrics as bars with intervals. SVG, PNG or PDF, without a display."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ..base.format import scale
from ..base.metrics import series_of, unit
from ..errors import FairlaneError, suggest
from ..look.figures import STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .result import Result

MAX_LINES = 12
#: Points of a rate over time. A rate sampled over less than a few packets jumps between zero and the rate of the link: a solid band.
MAX_RATES = 300
_LABELS = ("seed", "time", "flow", "link", "from", "to", "transport")


def draw(
    result: Result,
    what: str,
    *,
    flow: str | Iterable[str] | None = None,
    link: str | Iterable[str] | None = None,
    seed: int | None = None,
    size: tuple[float, float] = (7.0, 3.6),
) -> Figure:
    """The figure of `what`; see `Result.plot`."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    kind, table = _what(result, what, link is not None)
    chosen = _names(link if table.startswith("link") else flow)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.add_subplot()
        if kind == "series":
            _lines(axes, result, what, table, chosen, result.seeds[0] if seed is None else seed)
        else:
            _bars(axes, result, what, table, chosen)
    return figure


def _what(result: Result, what: str, of_link: bool) -> tuple[str, str]:
    order = ("link_series", "flow_series") if of_link else ("flow_series", "link_series")
    for table in order:
        if what in result.table(table).columns and what not in _LABELS:
            return "series", table
    for table in ("links", "flows", "network") if of_link else ("flows", "links", "network"):
        if what in result.table(table).columns and what not in _LABELS:
            return "metric", table
    if series_of(what) and result.flow_series.is_empty() and result.link_series.is_empty():
        raise FairlaneError(f'there is no time series of {what}: set sample = "100ms" in the scenario to have one')
    known = {c for t in ("flow_series", "link_series", "flows", "links", "network") for c in result.table(t).columns}
    raise suggest(what, sorted(known.difference(_LABELS)), "quantity to plot")


def _names(names: str | Iterable[str] | None) -> list[str] | None:
    return None if names is None else [names] if isinstance(names, str) else list(names)


def _pick(frame: pl.DataFrame, what: str, key: str, chosen: Sequence[str] | None) -> list[str]:
    """The flows or links to show: those asked for, else the first flows that have it, or the links with the largest values."""
    present = frame[key].unique(maintain_order=True).to_list()
    if chosen is not None:
        for name in chosen:
            if name not in present:
                raise suggest(name, present, key)
        return list(chosen)
    if key == "flow":  # a flow over UDP has no window (0 in the table), a bulk flow does not complete
        having = frame.filter(pl.col(what).is_finite() & (pl.col(what) != 0))[key].unique(maintain_order=True).to_list()
        return [name for name in present if name in having][:MAX_LINES] or present[:MAX_LINES]
    top = frame.group_by(key).agg(pl.col(what).fill_nan(0).mean()).sort(what, key, descending=[True, False])
    busiest = top.filter(pl.col(what) > 0.05 * max(top[what].drop_nulls(), default=0.0))[key].to_list() or top[key].to_list()[:1]
    return busiest[:MAX_LINES]


def _means(values: np.ndarray, block: int) -> np.ndarray:
    """Means of `block` values each; what is left over at the end is left out."""
    whole = len(values) // block * block
    means: np.ndarray = values[:whole].reshape(-1, block).mean(axis=1)
    return means


def _lines(axes: Axes, result: Result, what: str, table: str, chosen: Sequence[str] | None, seed: int) -> None:
    key = "flow" if table == "flow_series" else "link"
    frame = result.table(table).filter(pl.col("seed") == seed)
    if seed not in result.seeds:
        raise suggest(str(seed), [str(s) for s in result.seeds], "seed")
    if frame.is_empty():
        raise FairlaneError(f"no {key} of this network has a time series of {what}: name the {key} under `{key}s`")
    names = _pick(frame, what, key, chosen)
    frame = frame.filter(pl.col(key).is_in(names))
    factor, label = scale(unit(what), _typical(frame[what]))
    for name in names:
        part = frame.filter(pl.col(key) == name)
        values = part[what].cast(pl.Float64).to_numpy() * factor
        values[~np.isfinite(values)] = np.nan  # an infinite threshold has no place on a finite axis
        times = part["time"].to_numpy()
        block = -(-len(times) // MAX_RATES) if unit(what) == "bit/s" else 1
        axes.plot(_means(times, block), _means(values, block), linewidth=1.0, label=name)
    axes.set_xlabel("time (s)")
    span = f", means of {block * (times[1] - times[0]):.3g} s" if block > 1 else ""
    axes.set_ylabel(_axis(what, label) + span)
    axes.set_ylim(bottom=0)
    axes.margins(x=0.01)
    axes.set_title(_title(result, f"seed {seed}" if len(result.seeds) > 1 else ""))
    if len(names) > 1 or key == "link":
        axes.legend(fontsize="small", ncols=1 + len(names) // 7, framealpha=0.8)


def _bars(axes: Axes, result: Result, what: str, table: str, chosen: Sequence[str] | None) -> None:
    from .tables import intervals

    key = {"flows": "flow", "links": "link"}.get(table)
    if key is not None:
        names = set(_pick(result.table(table), what, key, chosen))
        rows = [(labels[key], per[what]) for labels, per in intervals(result, table) if labels[key] in names]
    else:
        rows = [("network", intervals(result, table)[0][1][what])]
    means = [iv.mean if iv.mean is not None else 0.0 for _, iv in rows]
    factor, label = scale(unit(what), max(map(abs, means), default=0.0))
    errors = [(iv.half_width or 0.0) * factor for _, iv in rows] if len(result.seeds) > 1 else None
    axes.bar(range(len(rows)), [m * factor for m in means], yerr=errors, capsize=3, width=0.7)
    axes.set_xticks(range(len(rows)), [name for name, _ in rows], rotation=45 if len(rows) > 6 else 0)
    axes.set_ylabel(_axis(what, label))
    n = len(result.seeds)
    axes.set_title(_title(result, f"mean of {n} runs, 95 % interval" if n > 1 else ""))


def _axis(what: str, label: str) -> str:
    """What an axis shows, in words: "completion time (s)", "queue (packets)"."""
    unit_name = "packets" if label == "p" else label
    words = what.replace("_", " ")
    return f"{words} ({unit_name})" if unit_name else words


def _typical(column: pl.Series) -> float:
    value = column.filter(column.is_finite()).abs().quantile(0.9)
    return float(value or 0.0)


def _title(result: Result, extra: str) -> str:
    name = result.scenario.get("name") or ""
    return f"{name} ({extra})" if name and extra else name or extra
