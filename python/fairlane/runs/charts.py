"""Interactive charts of a result: flows and queues over time, and the delay and goodput of each flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ..base.format import scale
from ..base.format import seconds as as_seconds
from ..base.metrics import unit, within
from ..look.web_charts import Chart, Line, downsample, points_per_curve, resolution_note
from .colours import colours
from .delay_charts import delay_charts
from .groups import members
from .tables import intervals, series, series_names

if TYPE_CHECKING:
    from .data import ResultData

MOST_LINES = 8
"""Most curves of a chart."""
MOST_DOTS = 2000
"""Most flows with a mark each; above that, only their distribution is drawn."""
_QUANTILES = 200
_TIME = "time (s)"
OVER_TIME = ("throughput", "cwnd", "srtt")
"""Series of flows with a chart."""
_TITLES = {"throughput": "Throughput", "cwnd": "Congestion window", "srtt": "Smoothed round-trip time", "queue": "Queue length"}
_PACKETS = {"p": "packets"}


def charts(result: ResultData) -> list[Chart]:
    """Returns all charts of a result."""
    out = []
    if result.rows_of == "flows" and series_names(result, "flow_series"):
        out += [c for what in OVER_TIME if (c := flows_over_time(result, what)) is not None]
    if series_names(result, "link_series") and (c := links_over_time(result)) is not None:
        out.insert(1 if out else 0, c)
    out[1:1] = delay_charts(result)
    return [*out, *(c for c in (each_flow(result), shares(result), each_group(result)) if c is not None)]


def warmup(result: ResultData) -> list[tuple[float, float, str]]:
    """Returns the warm-up as a named span."""
    until = as_seconds(result.description.get("warmup") or "0s")
    return [(0.0, until, "warm-up")] if until else []


def seed_note(result: ResultData) -> str:
    """Returns a note on the run that time series show."""
    return f"Seed {result.seeds[0]} of {len(result.seeds)}." if len(result.seeds) > 1 else ""


def flows_over_time(result: ResultData, what: str) -> Chart | None:
    """Returns a series of flows: a line per flow if there are few, else a line per group."""
    if what not in series_names(result, "flow_series"):
        return None
    frame = _finite(series(result, "flow_series", what), what).filter(pl.col("seed") == result.seeds[0]).select("time", "flow", "value")
    names = frame.drop_nulls()["flow"].unique(maintain_order=True).to_list()
    if not names:
        return None
    frame = frame.filter(pl.col("flow").is_in(names))
    rate = unit(what) == "bit/s"
    groups = {} if len(names) <= MOST_LINES else members(result)
    note = ""
    if groups:
        of = {f: g for g, own in groups.items() for f in own}
        value = pl.col("value")
        frame = frame.with_columns(pl.col("flow").replace_strict(of, default="others").alias("flow"))
        formed = (
            [value.sum().alias("value")] if rate else [value.mean().alias("value"), value.min().alias("low"), value.max().alias("high")]
        )
        frame = frame.drop_nulls("value").group_by("time", "flow", maintain_order=True).agg(formed)
        note = "Sum over the flows of each group." if rate else "Mean over the flows of each group; the band covers all of them."
    shown = _largest(frame, "flow", MOST_LINES)
    left = frame["flow"].n_unique() - len(shown)
    lines, label, spans = _lines(result, frame, "flow", shown, unit(what), rate)
    more = f"{left} more with smaller means are not drawn." if left else ""
    caption = " ".join(x for x in (note, resolution_note(spans, rate), more, seed_note(result)) if x)
    title = _TITLES.get(what, what.replace("_", " "))
    of_what = "of each group" if groups else "of each flow" if len(shown) > 1 else f"of {shown[0]}"
    return Chart(
        what, f"{title} {of_what}", _TIME, f"{title.lower()} ({label})" if label else title.lower(), lines, link="time",
        spans=warmup(result), caption=caption,
    )  # fmt: skip


def links_over_time(result: ResultData) -> Chart | None:
    """Returns the longest queues over time."""
    frame = _finite(series(result, "link_series", "queue"), "queue").filter(pl.col("seed") == result.seeds[0])
    top = frame.group_by("link").agg(pl.col("value").mean()).sort("value", "link", descending=[True, False])
    most = top["value"].max()
    if not isinstance(most, float) or most <= 0:
        return None
    shown = top.filter(pl.col("value") > 0.05 * most)["link"].head(MOST_LINES).to_list()
    lines, _, spans = _lines(result, frame.select("time", "link", "value"), "link", shown, "packets", False)
    if len(shown) == 1 and "avg" in series_names(result, "link_series"):
        average = (
            _finite(series(result, "link_series", "avg"), "avg")
            .filter((pl.col("seed") == result.seeds[0]) & (pl.col("link") == shown[0]))
            .drop_nulls("value")
        )
        if average.height:
            thinned = downsample(average["time"].to_numpy(), average["value"].to_numpy(), points_per_curve(2))
            lines.append(Line("average queue length (of the discipline)", thinned.x, thinned.y, hue=lines[0].hue, hollow=True))
    caption = " ".join(x for x in (resolution_note(spans, False), seed_note(result)) if x)
    where = shown[0] if len(shown) == 1 else "the links with the longest queues"
    return Chart(
        "queue", f"Queue length of {where}", _TIME, "queue length (packets)", lines, link="time", spans=warmup(result), caption=caption
    )


def _finite(frame: pl.DataFrame, what: str) -> pl.DataFrame:
    value = pl.col(what).cast(pl.Float64)
    return frame.with_columns(pl.when(value.is_finite()).then(value).alias("value"))


def _largest(frame: pl.DataFrame, key: str, most: int) -> list[str]:
    """Returns the names with the largest means in their original order."""
    top = frame.group_by(key).agg(pl.col("value").mean()).sort("value", descending=True, nulls_last=True)[key].head(most).to_list()
    return [n for n in frame[key].unique(maintain_order=True).to_list() if n in set(top)]


def _lines(
    result: ResultData, frame: pl.DataFrame, key: str, names: Sequence[str], measured: str, rate: bool
) -> tuple[list[Line], str, list[float]]:
    """Returns curves in a readable unit, its name, and the time per point of each curve."""
    typical = frame.filter(pl.col(key).is_in(list(names)))["value"].abs().quantile(0.9)
    factor, label = scale(measured, float(typical or 0.0))
    # Over steps of a few packets a rate jumps between zero and the link rate: fewer points, each the rate over a longer time.
    most = min(points_per_curve(len(names)), 300) if rate else points_per_curve(len(names))
    lines, spans = [], []
    hues = colours(result, key)
    for i, name in enumerate(names):
        own = frame.filter(pl.col(key) == name).sort("time")
        given = {k: own[k].to_numpy().astype(float) * factor for k in ("low", "high") if k in own.columns}
        thinned = downsample(own["time"].to_numpy(), own["value"].to_numpy().astype(float) * factor, most, rate=rate, **given)
        lines.append(thinned.line(name, hues.number(name, other=i)))
        spans.append(thinned.span)
    return lines, _PACKETS.get(label, label), spans


def _per_flow(result: ResultData) -> pl.DataFrame | None:
    if result.rows_of == "groups":
        return None
    frame = result.flows
    if frame.is_empty() or not {"flow", "goodput", "delay_mean"} <= set(frame.columns):
        return None
    clean = [pl.when(pl.col(c).cast(pl.Float64).is_finite()).then(pl.col(c).cast(pl.Float64)).alias(c) for c in ("goodput", "delay_mean")]
    return frame.with_columns(clean)


def each_flow(result: ResultData) -> Chart | None:
    """Returns delay against goodput, a mark per flow, with the intervals over the runs."""
    from ..stats import interval

    frame = _per_flow(result)
    if frame is None or not 2 <= frame["flow"].n_unique() <= MOST_DOTS:
        return None
    rows = frame.group_by("flow", maintain_order=True).agg("goodput", pl.col("delay_mean").mean()).drop_nulls("delay_mean")
    if rows.height < 2:
        return None
    of = {f: g for g, own in members(result).items() for f in own}
    means = {f: interval(v, within=within("goodput")) for f, v in rows.select("flow", "goodput").iter_rows()}
    fx, nx = scale("s", float(rows["delay_mean"].max() or 0.0))  # type: ignore[arg-type]
    fy, ny = scale("bit/s", max(iv.mean or 0.0 for iv in means.values()))
    lines = []
    several = len(result.info) > 1
    hues = colours(result, "flow")
    for i, group in enumerate(_first(dict.fromkeys(of.get(f, "") for f in rows["flow"]))):
        own = [(f, d) for f, d in rows.select("flow", "delay_mean").iter_rows() if of.get(f, "") in group]
        ivs = [means[f] for f, _ in own]
        low, high = ([_times(x, fy) for x in ends] for ends in ([iv.low for iv in ivs], [iv.high for iv in ivs]))
        name = group[0] if len(group) == 1 else "other groups"
        y = [_times(iv.mean, fy) for iv in ivs]
        x, names = [fx * d for _, d in own], [f for f, _ in own]
        lines.append(Line(name, x, y, low if several else (), high if several else (), hue=hues.number(group[0], other=i), labels=names))
    caption = "One mark per flow" + (f": means over {len(result.info)} runs, 95 % intervals of the goodput." if several else ".")
    return Chart("flows", "Delay and goodput of each flow", f"mean one-way delay ({nx})", f"goodput ({ny})", lines, kind="dots",
                ends=("low", "high"), from_zero=True, caption=caption)  # fmt: skip


def each_group(result: ResultData) -> Chart | None:
    """Returns delay against goodput per flow, a mark per group, for a result with rows of groups."""
    rows = intervals(result, "groups") if result.rows_of == "groups" else []
    of = {labels["group"]: (per["delay_mean"], per["goodput_mean"]) for labels, per in rows}
    of = {g: (delay, goodput) for g, (delay, goodput) in of.items() if delay.mean is not None and goodput.mean is not None}
    if len(of) < 2:
        return None
    fx, nx = scale("s", max(delay.mean or 0.0 for delay, _ in of.values()))
    fy, ny = scale("bit/s", max(goodput.mean or 0.0 for _, goodput in of.values()))
    lines = []
    several = len(result.info) > 1
    hues = colours(result, "flow")
    for i, group in enumerate(_first(dict.fromkeys(of))):
        own = [of[g] for g in group]
        low, high = ([_times(x, fy) for x in ends] for ends in ([g.low for _, g in own], [g.high for _, g in own]))
        name = group[0] if len(group) == 1 else "other groups"
        x, y = [fx * (d.mean or 0.0) for d, _ in own], [fy * (g.mean or 0.0) for _, g in own]
        hue = hues.number(group[0], other=i)
        lines.append(Line(name, x, y, low if several else (), high if several else (), hue=hue, labels=list(group)))
    caption = "One mark per group" + (f": means over {len(result.info)} runs, 95 % intervals of the goodput." if several else ".")
    return Chart("groups", "Delay and goodput per flow of each group", f"mean one-way delay ({nx})", f"mean goodput ({ny})", lines,
                kind="dots", ends=("low", "high"), from_zero=True, caption=caption)  # fmt: skip


def _times(x: float | None, factor: float) -> float | None:
    return None if x is None else x * factor


def _first(groups: Mapping[str, None]) -> list[tuple[str, ...]]:
    """Returns groups with their own colour, and all others as one."""
    names = list(groups)
    if len(names) <= MOST_LINES:
        return [(n,) for n in names]
    return [*((n,) for n in names[: MOST_LINES - 1]), tuple(names[MOST_LINES - 1 :])]


def shares(result: ResultData) -> Chart | None:
    """Returns the distribution of goodput among many flows, a curve per group."""
    frame = _per_flow(result)
    if frame is None or frame["flow"].n_unique() <= MOST_LINES:
        return None
    of = {f: g for g, own in members(result).items() for f in own}
    means = frame.group_by("flow", maintain_order=True).agg(pl.col("goodput").mean()).drop_nulls()
    if means.is_empty():
        return None
    factor, label = scale("bit/s", float(means["goodput"].quantile(0.9) or 0.0))
    lines = []
    hues = colours(result, "flow")
    for i, group in enumerate(_first(dict.fromkeys(of.get(f, "") for f in means["flow"]))):
        own = np.sort([g * factor for f, g in means.iter_rows() if of.get(f, "") in group])
        name = f"{group[0] if len(group) == 1 else 'other groups'} ({len(own)} flow{'s' * (len(own) != 1)})"
        at = np.linspace(0.0, 1.0, _QUANTILES + 1) if len(own) > _QUANTILES else (np.arange(len(own)) + 1.0) / len(own)
        values = np.quantile(own, at) if len(own) > _QUANTILES else own
        # Among flows of equal goodput the last one counts, as in a cumulative distribution.
        step = dict(zip(values.tolist(), at.tolist(), strict=True))
        lines.append(Line(name, list(step), list(step.values()), hue=hues.number(group[0], other=i)))
    caption = f"Cumulative distribution of the goodput of flows{': means over the runs' if len(result.info) > 1 else ''}."
    return Chart(
        "shares", "Distribution of goodput among the flows", f"goodput of a flow ({label})", "share of the flows", lines, caption=caption
    )
