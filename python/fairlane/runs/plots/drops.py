"""Timeline of packet drops by link and reason."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from ...errors import FairlaneError
from .pen import Pen, named
from .view import View

_HALF = 0.34
"""Half the height of a stroke; the height of a lane is 1."""
MOST_LANES = 16


def draw(pen: Pen, views: Sequence[View]) -> None:
    """Draws a lane per link and reason with a stroke per drop; many drops merge into bands."""
    (v,) = views
    flows = None if v.wish.flow is None else v.flows()
    rows = v.events("drop", "link flow reason", flows=flows, links=v.wish.link).filter(pl.col("seed") == v.seeds[0])
    start, end = v.time
    rows = rows.filter(pl.col("time") >= start) if start is not None else rows
    rows = rows.filter(pl.col("time") <= end) if end is not None else rows
    # Traces of ns-2 have no reasons.
    rows = rows.with_columns(pl.col("reason").fill_null("reason not recorded"), pl.col("link").fill_null("no link"))
    if rows.is_empty():
        counted = v.result.links.filter(pl.col("seed") == v.seeds[0])
        if float((counted["drops"] + counted["lost"]).sum()) > 0 and flows is None and v.wish.link is None and v.time == (None, None):
            raise FairlaneError(f"drop-timeline: drops were counted but not recorded: {v.how('drop')}")
        pen.nothing("no drops")
    lanes = rows.group_by("link", "reason").len().sort("len", "link", "reason", descending=[True, False, False])
    links = lanes["link"].n_unique()
    names = []
    for i, (link, reason, count) in enumerate(lanes.head(MOST_LANES).iter_rows()):
        at = rows.filter((pl.col("link") == link) & (pl.col("reason") == reason))["time"].to_numpy()
        name = f"{reason}, {link}" if links > 1 else reason
        own = pen.next(reason)
        pen.bars(name, at, np.full(len(at), i - _HALF), np.full(len(at), i + _HALF), own.colour, role="drops", width=0.7, key=False)
        names.append(named(f"{name} ({count})", 20))
    if lanes.height > MOST_LANES:
        pen.note(f"{lanes.height - MOST_LANES} more kinds of drops not drawn")
    pen.label(("time", "s"), ("", ""))
    pen.ax.set_yticks(range(len(names)), names)
    pen.ax.set_ylim(max(len(names), 1) - 0.5, -0.5)
    pen.ax.grid(axis="y", visible=False)
    pen.ax.tick_params(axis="y", length=0)
    until = v.measured[1]
    pen.ax.set_xlim(start if start is not None else 0, until)
    pen.over_time(views)
