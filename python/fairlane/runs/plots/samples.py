"""Samples of single packets from an event trace: round-trip times, one-way delays, and their distributions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from ...errors import FairlaneError
from .view import View

MOST_POINTS = 2000
"""Most points of a distribution that are drawn."""
_ENDPOINTS = "send,retransmit,receive"


def round_trips(view: View, flows: Sequence[str], measured: bool = True) -> pl.DataFrame:
    """Returns round-trip times as a sender measures them: `seed`, `flow`, `time` (of the acknowledgment), `rtt`.

    One sample per acknowledgment of new data, from the transmission of the segment that it ends. No sample if it covers retransmitted data
    (Karn and Partridge 1987; RFC 6298 section 3).
    """
    rows = view.events(_ENDPOINTS, "flow seq ack payload back", flows=flows)
    data = rows.filter((pl.col("event") != "receive") & ~pl.col("back") & (pl.col("payload") > 0) & pl.col("seq").is_not_null())
    acks = rows.filter((pl.col("event") == "receive") & pl.col("back") & pl.col("ack").is_not_null())
    parts = []
    answered = acks.partition_by(["seed", "flow"], as_dict=True)
    for (seed, flow), sent in data.partition_by(["seed", "flow"], as_dict=True, maintain_order=True).items():
        got = answered.get((seed, flow))
        if got is None:
            continue
        ack, at = np.maximum.accumulate(got["ack"].to_numpy()), got["time"].to_numpy()
        new = np.flatnonzero(np.r_[True, ack[1:] > ack[:-1]])
        before = np.r_[-1, ack[new[:-1]]]
        ends = (sent["seq"] + sent["payload"]).to_numpy()
        again = np.sort(ends[(sent["event"] == "retransmit").to_numpy()])
        clean = np.searchsorted(again, ack[new], "right") == np.searchsorted(again, before, "right")
        order = np.argsort(ends, kind="stable")
        place = np.searchsorted(ends[order], ack[new], "left")
        known = (place < len(ends)) & clean
        known[known] = ends[order][place[known]] == ack[new][known]
        times = at[new][known]
        began = sent["time"].to_numpy()[order][place[known]]
        parts.append(pl.DataFrame({"seed": [seed] * len(times), "flow": [flow] * len(times), "time": times, "rtt": times - began}))
    schema = {"seed": pl.Int64, "flow": pl.String, "time": pl.Float64, "rtt": pl.Float64}
    found = pl.concat([p.cast(schema) for p in parts]) if parts else pl.DataFrame(schema=schema)  # type: ignore[arg-type]
    return _within(found, view) if measured else found


def delays(view: View, flows: Sequence[str]) -> pl.DataFrame:
    """Returns one-way delays of delivered data packets: `seed`, `flow`, `time` (of the arrival), `delay`."""
    rows = view.events(_ENDPOINTS, "flow packet payload back", flows=flows)
    rows = rows.filter(~pl.col("back") & (pl.col("payload") > 0))
    sent = rows.filter(pl.col("event") != "receive").select("seed", "flow", "packet", pl.col("time").alias("began"))
    got = rows.filter(pl.col("event") == "receive").select("seed", "packet", "time")
    joined = got.join(sent, on=["seed", "packet"], how="inner", maintain_order="left")
    if not joined.is_empty() and joined.select((pl.col("time") == pl.col("began")).all()).item():
        raise FairlaneError(f"{view.wish.kind.name}: packets were recorded at one host only, so there are no one-way delays")
    return _within(joined.select("seed", "flow", "time", (pl.col("time") - pl.col("began")).alias("delay")), view)


def _within(frame: pl.DataFrame, view: View) -> pl.DataFrame:
    start, end = view.measured
    return frame.filter((pl.col("time") >= start) & (pl.col("time") <= end))


def distribution(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns sorted values and their cumulative shares, thinned to the visible points, with more of them at the upper end.

    >>> [x.tolist() for x in distribution(np.array([3.0, 1.0, 1.0, 2.0]))]
    [[1.0, 2.0, 3.0], [0.5, 0.75, 1.0]]
    """
    ordered = np.sort(values)
    n = len(ordered)
    last = np.flatnonzero(np.r_[ordered[1:] != ordered[:-1], True]) if n else np.zeros(0, int)
    if len(last) > MOST_POINTS:
        even = np.linspace(0, len(last) - 1, MOST_POINTS // 2).round().astype(int)
        tail = len(last) - np.unique(np.geomspace(1, len(last), MOST_POINTS // 2).round().astype(int))
        last = last[np.unique(np.r_[even, tail])]
    return ordered[last], (last + 1) / max(n, 1)


def across(runs: Sequence[np.ndarray], shares: np.ndarray) -> np.ndarray:
    """Returns the quantiles of each run: a row per share, a column per run."""
    return np.stack([np.quantile(r, shares, method="inverted_cdf") for r in runs], axis=1)


def some(frame: pl.DataFrame, view: View, events: str, what: str) -> pl.DataFrame:
    """Returns the samples; an error with the events to record if there are none."""
    if frame.is_empty():
        raise FairlaneError(
            f"{view.wish.kind.name}: no {what} recorded in this span: record these events of these flows ({view.how(events)}), "
            "or choose another span"
        )
    return frame
