"""Charts of the one-way delay of single packets, from the events that a run recorded: over time, and its distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ..base.format import scale
from ..base.format import seconds as as_seconds
from ..base.literals import si
from ..look.web_charts import Chart, Line, downsample, points_per_curve, resolution_note
from .colours import colours
from .groups import members
from .trace import Trace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .data import ResultData

MOST_CALLS = 8
"""Most calls with a curve."""
MOST_PACKETS = 500_000
"""Most packets of calls, over all runs, that a page records."""
_QUANTILES = 200


def calls_of(scenario: Mapping[str, Any], seeds: int) -> list[str]:
    """Returns the groups of flows whose packets the page of a run records: UDP at rates that make few packets.

    `scenario`: resolved; `seeds`: the number of runs.
    """
    groups = {
        name: flow for name, flow in (scenario.get("flows") or {}).items() if flow.get("udp") is not None and _packets(flow) is not None
    }
    spent = 0.0
    out: list[str] = []
    duration = as_seconds(scenario["duration"])
    for name, flow in groups.items():
        spent += (_packets(flow) or 0.0) * duration * float(flow.get("count") or 1) * seeds
        if spent > MOST_PACKETS:
            break
        out.append(name)
    return out


def _packets(flow: Mapping[str, Any]) -> float | None:
    """Returns the packets per second of a source with a known rate or of a call; None for another source."""
    source = flow.get("source") or {}
    name = next(iter(source), "")
    if name == "voip":
        return 100.0
    settings = source.get(name)
    rate = si(settings.get("rate")) if isinstance(settings, dict) else None
    size = si(settings.get("size")) if isinstance(settings, dict) and settings.get("size") else None
    return rate / 8 / (size or 1472.0) if rate else None


def recording(scenario: Mapping[str, Any], seeds: int) -> Trace | None:
    """Returns the events that the page of a run needs for the delays of calls; None without calls."""
    names = calls_of(scenario, seeds)
    return Trace(events=("send", "receive"), flows=names) if names else None


def delays(result: ResultData) -> pl.DataFrame | None:
    """Returns `seed`, `flow`, `time`, `began` and `delay` of each delivered packet of UDP flows; None without such events."""
    if result.trace_folder is None or result.rows_of != "flows":
        return None
    udp = [f["name"] for f in result.scenario["expanded"]["flows"] if f["transport"] == "udp"]
    frame = result.trace()
    if not udp or not {"event", "flow", "packet", "payload"} <= set(frame.collect_schema().names()):
        return None
    rows = frame.filter(pl.col("flow").is_in(udp) & pl.col("event").is_in(["send", "receive"]) & (pl.col("payload") > 0))
    events = rows.select("seed", "time", "event", "flow", "packet").collect()
    sent = events.filter(pl.col("event") == "send").select("seed", "flow", "packet", pl.col("time").alias("began"))
    got = events.filter(pl.col("event") == "receive").select("seed", "packet", "time")
    joined = got.join(sent, on=["seed", "packet"], how="inner", maintain_order="left")
    found = joined.select("seed", "flow", "time", "began", (pl.col("time") - pl.col("began")).alias("delay"))
    return found if found.height else None


def delay_charts(result: ResultData) -> list[Chart]:
    """Returns the delay of calls over time (first seed) and its distribution (all runs)."""
    frame = delays(result)
    if frame is None:
        return []
    groups = {g: own for g, own in members(result).items() if frame["flow"].is_in(own).any()}
    flows = [f for own in groups.values() for f in own]
    of = {f: [f] for f in flows} if len(flows) <= MOST_CALLS else dict(list(groups.items())[:MOST_CALLS])
    factor, unit = scale("s", float(frame["delay"].quantile(0.9) or 0.0))
    hues = colours(result, "flow")
    warm = as_seconds(result.description.get("warmup") or "0s")
    over, shares, spans = [], [], []
    for i, (name, own) in enumerate(of.items()):
        part = frame.filter(pl.col("flow").is_in(own))
        hue = hues.number(name, own, i)
        first = part.filter(pl.col("seed") == result.seeds[0]).sort("time")
        thinned = downsample(first["time"].to_numpy(), first["delay"].to_numpy() * factor, points_per_curve(len(of)))
        if len(thinned.x):
            over.append(thinned.line(name, hue))
            spans.append(thinned.span)
        measured = part.filter(pl.col("began") >= warm)
        if measured.height:
            shares.append(_distribution(name, measured["delay"].to_numpy() * factor, hue))
    who = next(iter(of)) if len(of) == 1 else "calls"
    seed = f"Seed {result.seeds[0]} of {len(result.seeds)}." if len(result.seeds) > 1 else ""
    caption = f"One-way delay of each packet. {resolution_note(spans, False)} {seed}".strip()
    return [
        Chart("delay", f"Delay of {who} over time", "time (s)", f"one-way delay ({unit})", over, link="time",
              spans=[(0.0, warm, "warm-up")] if warm else [], caption=caption),
        Chart(
            "delays", f"Distribution of the delay of {who}", f"one-way delay ({unit})", "share of packets", shares,
            caption=f"Share of packets with at most this delay, after the warm-up{', of all runs' if len(result.seeds) > 1 else ''}.",
        ),
    ]  # fmt: skip


def _distribution(name: str, values: Sequence[float] | np.ndarray, hue: int) -> Line:
    """Returns the cumulative distribution of values, at most `_QUANTILES` points, more of them at its upper end."""
    ordered = np.sort(np.asarray(values, float))
    n = len(ordered)
    tail = n - np.unique(np.geomspace(1, n, _QUANTILES // 2).round().astype(int))
    at = np.unique(np.r_[np.linspace(0, n - 1, _QUANTILES // 2).round().astype(int), tail])
    step = dict(zip(ordered[at].tolist(), ((at + 1) / n).tolist(), strict=True))
    return Line(name, list(step), list(step.values()), hue=hue)
