"""Time-sequence graph of a sender, as tcptrace draws it (Ostermann; Jacobson 1988, figures 3 and 4).

A vertical stroke is a segment, from its first sequence number to its last. The lower staircase is the acknowledged data, the upper one the
right edge of the window. Strokes of SACK blocks are at the arrival of their acknowledgment.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from ...base.format import scale
from ...look import theme
from .capture import answers
from .pen import Ink, Pen
from .samples import some
from .view import View

COLOURS = {
    "segment": theme.INK,
    "retransmission": theme.HUES[1],
    "acknowledged": theme.HUES[2],
    "window": theme.HUES[5],
    "SACK": theme.HUES[3],
    "dropped": theme.HUES[1],
    "marked": theme.HUES[0],
    "timeout": theme.HUES[1],
}
MOST_CAPTURES = 40
_FAR = 1.7
"""Largest height of the axis over that of the sent data, to show the window."""


def draw(pen: Pen, views: Sequence[View]) -> None:
    """Draws one flow of the first selected run."""
    (v,) = views
    seed = v.seeds[0]
    rows = v.events("send,retransmit,receive,drop,mark,timeout", "flow packet seq ack payload back flags", flows=[v.only])
    rows = rows.filter(pl.col("seed") == seed)
    sent = rows.filter(pl.col("event").is_in(["send", "retransmit"]) & ~pl.col("back") & pl.col("seq").is_not_null())
    # Not yet cut to the span: a packet dropped in it may have been sent earlier.
    by_packet = sent.select("packet", pl.col("time").alias("began"), pl.col("seq").alias("first"), pl.col("payload").alias("bytes"))
    inside = _cut(rows, v)
    sent = _cut(sent, v)
    some(sent, v, "send,retransmit,receive", "segment")
    acks = inside.filter((pl.col("event") == "receive") & pl.col("back") & pl.col("ack").is_not_null())
    top = float((sent["seq"] + sent["payload"].fill_null(0)).max() or 0)  # type: ignore[arg-type]
    factor, unit = scale("byte", top)

    for event, name, width in (("send", "segment", 0.9), ("retransmit", "retransmission", 1.6)):
        own = sent.filter((pl.col("event") == event) & (pl.col("payload") > 0))
        low, high = own["seq"].to_numpy() * factor, (own["seq"] + own["payload"]).to_numpy() * factor
        pen.bars(name, own["time"], low, high, COLOURS[name], role=name, width=width, zorder=4 if event == "retransmit" else 3)
    if not acks.is_empty():
        number = np.maximum.accumulate(acks["ack"].to_numpy()) * factor
        pen.line("acknowledged", acks["time"], number, Ink(COLOURS["acknowledged"], "-", "o"), width=1.0, steps=True, role="acknowledged")
    _window(pen, v, factor, [v.time[0], v.time[1]])
    for event, name, marker, size in (("drop", "dropped", "x", 5.0), ("mark", "marked", "^", 3.6)):
        hit = rows.filter((pl.col("event") == event) & ~pl.col("back").fill_null(False)).select("packet")
        at = _cut(by_packet.join(hit, on="packet", how="inner").rename({"began": "time"}), v)
        if not at.is_empty():
            middle = (at["first"] + at["bytes"] / 2).to_numpy() * factor
            pen.dots(name, at["time"], middle, Ink(COLOURS[name], "-", marker), size=size, role=name, marker=marker, zorder=5)
    fired = inside.filter(pl.col("event") == "timeout")["time"].to_numpy()
    if len(fired):
        below, above = pen.ax.get_ylim()
        pen.bars("timeout", fired, np.full(len(fired), below), np.full(len(fired), above), COLOURS["timeout"], role="timeout", width=0.7)
        pen.ax.collections[-1].set_linestyle((0, (4, 3)))
        pen.ax.set_ylim(below, above)
    pen.label(("time", "s"), ("sequence number", unit))
    pen.over_time(views)


def _window(pen: Pen, v: View, factor: float, span: list[float | None]) -> None:
    """Draws SACK blocks and the advertised window from a capture."""
    names = [f["name"] for f in v.result.scenario["expanded"]["flows"]]
    files = [p for p in v.result.captures if len(v.result.seeds) == 1 or p.stem.endswith(f".{v.seeds[0]}")]
    found = next((a for p in files[:MOST_CAPTURES] if p.is_file() and (a := answers(p, names.index(v.only), *span)) and a.times), None)
    if found is None:
        pen.note(f"SACK blocks and the advertised window not drawn: capture the flow with --pcap {v.only} or pcap={v.only!r}")
        return
    low, high = pen.ax.get_ylim()
    limits = np.maximum.accumulate(np.asarray(found.limits, float)) * factor
    # A window of megabytes would compress all other data to a line at the bottom.
    near = float(limits.min()) <= low + _FAR * (high - low)
    pen.line("window", found.times, limits, Ink(COLOURS["window"], (0, (3, 1)), "s"), width=0.9, steps=True, role="window", key=near)
    if not near:
        shown, unit = scale("byte", float(found.limits[0]))
        pen.note(f"the advertised window lies above the axis: its end is at {found.limits[0] * shown:.4g} {unit} or more")
    if found.sacks:
        times, first, last = (np.asarray(x, float) for x in zip(*found.sacks, strict=True))
        pen.bars("SACK", times, first * factor, last * factor, COLOURS["SACK"], role="SACK", width=0.7, zorder=2.8)
    pen.ax.set_ylim(low, max(high, min(1.02 * float(limits.max()), low + _FAR * (high - low))) if near else high)


def _cut(frame: pl.DataFrame, v: View) -> pl.DataFrame:
    start, end = v.time
    frame = frame.filter(pl.col("time") >= start) if start is not None else frame
    return frame.filter(pl.col("time") <= end) if end is not None else frame
