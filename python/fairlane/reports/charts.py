"""Charts of several results, a colour for each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from ..base.format import scale
from ..base.metrics import unit
from ..look.web_charts import Chart, Line, downsample, points_per_curve, resolution_note
from ..runs.charts import warmup
from ..runs.groups import flows_in, members
from ..runs.headings import heading
from ..runs.tables import series, series_names, series_tables
from .differences import SourceComparison
from .sources import Source, longest_queue

MOST_SOURCES = 10
"""Most results of a chart."""
MOST_GROUPS = 4
"""Most groups of flows with their own charts."""


def charts(comparison: SourceComparison) -> list[Chart]:
    """Returns charts of the time series, and of the runs of each group of flows."""
    sources = comparison.sources[:MOST_SOURCES]
    link = longest_queue(sources)
    out = []
    for what, title, how in (("throughput", "Total throughput", "sum"), ("cwnd", "Mean congestion window", "mean")):
        out.append(_over_time(sources, "flow_series", what, title, how, ""))
    if link:
        out.insert(1, _over_time(sources, "link_series", "queue", f"Queue length of {link}", "mean", link))
    found = [c for c in out if c is not None]
    groups = [g for g in flows_in(sources[0].run) if all(g in flows_in(s.run) for s in sources)]
    if len({s.run.rows_of for s in sources}) > 1:  # delays of groups are averaged differently
        groups = []
    dots = [_runs(sources, g, i) for i, g in enumerate(groups[:MOST_GROUPS])]
    return [*found, *(c for c in dots if c is not None)]


def _over_time(sources: Sequence[Source], table: str, what: str, title: str, how: str, link: str) -> Chart | None:
    found: list[tuple[int, str, np.ndarray, np.ndarray]] = []
    for i, s in enumerate(sources):
        if table not in series_tables(s.run) or what not in series_names(s.run, table):
            continue
        frame = series(s.run, table, what)
        value = pl.col(what).cast(pl.Float64)
        own = frame.filter((pl.col("seed") == s.run.seeds[0]) & value.is_finite())
        if link:
            own = own.filter(pl.col("link") == link)
        formed = own.group_by("time").agg(getattr(value, how)().alias("value")).sort("time")
        if formed.height:
            found.append((i, s.label, formed["time"].to_numpy(), formed["value"].to_numpy()))
    if not found:
        return None
    rate = unit(what) == "bit/s"
    factor, label = scale(unit(what), max(float(np.quantile(np.abs(v), 0.9)) for *_, v in found))
    most = min(300, points_per_curve(len(found))) if rate else points_per_curve(len(found))
    lines, spans = [], []
    for i, name, times, values in found:
        drawn = downsample(times, values * factor, most, rate=rate)
        lines.append(drawn.line(name, i))
        spans.append(drawn.span)
    firsts = {s.run.seeds[0] for s in sources}
    seed = f"Seed {firsts.pop()} of each." if len(firsts) == 1 else "First seed of each."
    spans_of = warmup(sources[0].run)
    if any(warmup(s.run) != spans_of for s in sources):
        spans_of = []
    name = {"p": "packets"}.get(label, label)
    return Chart(what, title, "time (s)", f"{'queue length' if link else heading(what)} ({name})", lines, link="time", spans=spans_of,
                caption=f"{resolution_note(spans, rate)} {seed}".strip())  # fmt: skip


def _runs(sources: Sequence[Source], group: str, number: int) -> Chart | None:
    """Returns delay against goodput of a group, a mark per run."""
    frames = []
    for s in sources:
        rows = s.run.table(s.run.rows_of)
        if not {"goodput", "delay_mean"} <= set(rows.columns):
            return None
        members_of_group = pl.col("group") == group if s.run.rows_of == "groups" else pl.col("flow").is_in(members(s.run)[group])
        own = rows.filter(members_of_group)
        delay = pl.col("delay_mean").cast(pl.Float64)
        frames.append(
            own.group_by("seed", maintain_order=True).agg(pl.col("goodput").sum(), delay.filter(delay.is_finite()).mean()).drop_nulls()
        )
    delays, rates = ([x for f in frames for x in f[c].to_list()] for c in ("delay_mean", "goodput"))
    if not delays:
        return None
    (fx, nx), (fy, ny) = scale("s", max(delays)), scale("bit/s", max(rates))
    lines = [
        Line(s.label, (f["delay_mean"] * fx).to_list(), (f["goodput"] * fy).to_list(), hue=i, labels=[f"seed {x}" for x in f["seed"]])
        for i, (s, f) in enumerate(zip(sources, frames, strict=True))
        if f.height
    ]
    many = max(flows_in(s.run)[group] for s in sources) > 1
    what = f"{'total ' if many else ''}goodput ({ny})"
    caption = "One mark per run. Upper left is better: high goodput, low delay."
    return Chart(f"runs-{number}", f"Delay and goodput of {group}", f"mean one-way delay ({nx})", what, lines, kind="dots",
                 caption=caption, from_zero=False)  # fmt: skip
