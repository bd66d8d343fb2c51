"""Queue length of a link over time with its average, the thresholds of its discipline, drops and marks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from ...base.format import number
from ...errors import FairlaneError
from ...look import theme
from ..colours import colours
from ..curves import curves
from .formula_curves import reach
from .formulas import Routes, bandwidth_delay, md1_waiting, quantity
from .pen import Ink, Pen
from .view import View, number_of

_THRESHOLDS = ("min", "max", "target", "min_th", "limit")
"""Parameters of disciplines that are queue lengths or queueing delays."""
_FAR = 1.6
"""Largest threshold over the longest queue that is drawn."""


def draw(pen: Pen, views: Sequence[View]) -> None:
    """Draws one link; several runs as their mean, without single events."""
    (v,) = views
    frame = v.series("link_series", "queue", "queue_bytes", "avg", "drops").filter(pl.col("link") == v.only)
    if frame.is_empty():
        raise FairlaneError(f"queue-events: the link {v.only!r} has no time series: name it under `links` in the scenario")
    link: Mapping[str, Any] = next((x for x in v.result.scenario["expanded"]["links"] if x["name"] == v.only), {})
    kind, params = _discipline(link)
    (queue,) = curves(v.result, "link_series", "queue", {"queue": [v.only]}, "mean", v.seeds, frame)
    own = Ink(theme.colour(colours(v.result, "link").number(v.only)), "-", "o")
    pen.line("queue", queue.times, queue.values, own, width=0.8)
    if queue.low is not None and queue.high is not None:
        pen.band("queue", queue.times, queue.low, queue.high, own)
    size = _size(frame)
    if "avg" in frame.columns and frame["avg"].is_not_nan().any():
        (average,) = curves(v.result, "link_series", "avg", {"average": [v.only]}, "mean", v.seeds, frame)
        by = size if params.get("measure") == "bytes" and size else 1.0
        pen.line("average", average.times, average.values / by, Ink(theme.INK, (0, (5, 1.6)), "s"), width=1.3, role="average")
    _hits(pen, v, frame, queue.times, queue.values)
    top = max(float(np.nanmax(queue.values, initial=0)), *(float(np.nanmax(_end(d), initial=0)) for d in pen.drawn))
    pen.label(("time", "s"), (f"queue length of {v.only}", "packets"))
    pen.ax.set_ylim(0, 1.08 * top if top else 1)
    pen.over_time(views)
    _thresholds(pen, kind, params, top or 1.0, size, quantity("rate", link.get("rate")))
    _theory(pen, v, size)


def _end(drawn: Mapping[str, Any]) -> np.ndarray:
    return np.asarray(drawn.get("y", drawn.get("high", [])), float)


def _discipline(link: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Returns the name and parameters of the discipline."""
    queue = link.get("queue")
    if isinstance(queue, Mapping) and len(queue) == 1:
        ((kind, params),) = queue.items()
        return kind, params if isinstance(params, Mapping) else {}
    return str(queue or ""), {}


def _size(frame: pl.DataFrame) -> float:
    """Returns the mean size of queued packets in bytes; 0 if the queue is always empty."""
    packets = float(frame["queue"].cast(pl.Float64).fill_nan(0).sum())
    return float(frame["queue_bytes"].cast(pl.Float64).fill_nan(0).sum()) / packets if packets else 0.0


def _hits(pen: Pen, v: View, frame: pl.DataFrame, times: np.ndarray, values: np.ndarray) -> None:
    """Draws drops and marks: single events if recorded, else the samples with drops."""
    if v.wish.seed == "all" and len(v.result.seeds) > 1:
        return
    looks = (("drop", "drops", "x", theme.HUES[1], 4.5), ("mark", "marks", "^", theme.HUES[3], 3.2))
    if v.recorded():
        rows = v.events("drop,mark", "queue_packets", links=[v.only]).filter(pl.col("queue_packets").is_not_null())
        start, end = v.time
        rows = rows.filter(pl.col("time").is_between(-math.inf if start is None else start, math.inf if end is None else end))
        for event, name, marker, colour, size in looks:
            own = rows.filter(pl.col("event") == event)
            if not own.is_empty():
                pen.dots(name, own["time"], own["queue_packets"], Ink(colour, "-", marker), size=size, role=name, marker=marker, zorder=4)
        if not rows.is_empty():
            return
    counts = frame["drops"].cast(pl.Float64).fill_nan(0).to_numpy()
    hit = counts > 0
    if hit.any():
        at = frame["time"].to_numpy()[hit]
        heights = np.interp(at, times, values)
        pen.dots("samples with drops", at, heights, Ink(theme.HUES[1], "-", "x"), size=4.5, role="drops", marker="x", zorder=4)
    if hit.any() or number_of(v, "links", "marks", {"link": v.only}) > 0:
        pen.note(f"single drops and marks not drawn: {v.how('drop,mark', f'link={v.only}')}")


def _thresholds(pen: Pen, kind: str, params: Mapping[str, Any], top: float, size: float, rate: float | None) -> None:
    """Draws the thresholds within the axis; a note names the others."""
    found: list[tuple[str, float]] = []
    for key in _THRESHOLDS:
        text = params.get(key)
        for unit in ("len", "dur"):
            value = quantity(unit, text)
            if value is None or value == 0:
                continue
            if unit == "dur":
                if rate is None or not size:
                    continue
                packets = value * rate / 8 / size
                found.append((f"{key} {text} = {number(packets, 3)} packets", packets))
            else:
                packets = -value if value < 0 else value / size if size else math.nan
                found.append((f"{key} {text}", packets))
            break
    if params.get("gentle") and (most := quantity("len", params.get("max"))):
        found.append(
            (
                f"2 max {number(abs(2 * most), 4)}{'p' if most < 0 else 'B'}",
                -2 * most if most < 0 else 2 * most / size if size else math.nan,
            )
        )
    low = pen.ax.get_ylim()[0]
    for name, value in found:
        if math.isfinite(value) and value <= _FAR * top:
            pen.level(f"{kind}: {name}", value, dash=(0, (6, 2, 1, 2)), colour=theme.MUTED, role="threshold")
            reach(pen, value)
        elif math.isfinite(value):
            pen.note(f"{kind}: {name} lies above the axis")
    pen.ax.set_ylim(bottom=low)


def _theory(pen: Pen, v: View, size: float) -> None:
    theory = v.wish.theory
    if not theory:
        return
    if "bdp" in theory:
        routes = Routes(v.result.scenario)
        over = [p for p in (routes.path(f) for f in v.flows()) if v.only in p.links]
        if not over:
            raise FairlaneError(f"bdp: no flow uses the link {v.only}")
        for value in sorted({round(bandwidth_delay(p.rate, p.rtt) / p.size, 6) for p in over})[:6]:
            pen.level(f"bandwidth-delay product {number(value, 3)} packets", value)
            reach(pen, value)
    if "md1" in theory:
        load = number_of(v, "links", "utilisation", {"link": v.only})
        if not load < 0.999:
            raise FairlaneError(f"md1 is undefined at full load: the load of {v.only} is {load:.3f}")
        value = md1_waiting(load)
        pen.level(f"M/D/1 at load {load:.2f}: {number(value, 3)} packets", value)
        reach(pen, value)
