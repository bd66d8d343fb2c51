"""Tables of a result from an imported event trace: flows, links, network and time series.

All metrics are polars queries on the whole trace. A metric that the file does not contain is NaN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..base.metrics import metrics, series
from .capture_tables import ALPHA, Captured, captured, sample_at

if TYPE_CHECKING:
    import polars as pl

POINTS = 1000
"""Default number of samples."""
ROWS = 2_000_000
"""Most rows of a time series; with many flows there are fewer samples."""
_STEPS = tuple(m * 10**e for e in range(6, 15) for m in (1, 2, 5))
"""Sampling steps in picoseconds, from 1 us."""


@dataclass(frozen=True)
class Flow:
    """Flow of an imported file."""

    name: str
    start: str
    """Node of the sender."""
    end: str
    transport: str


@dataclass
class Recorded:
    """Event trace with its flows, links and properties."""

    rows: pl.LazyFrame
    """Events in the format of `Result.trace`, of one run."""
    flows: list[Flow]
    links: list[tuple[str, str, str]] = field(default_factory=list)
    """Name and nodes of each link direction."""
    span: int = 0
    """Measured time in picoseconds."""
    one_way: bool = True
    """True if packets are recorded at both ends, so that delays are known."""
    parts: tuple[pl.LazyFrame, ...] = ()
    """Parts of a capture in the order of time: retransmitted data counts as delivered once, because the first copy is not shown."""


def step_of(span: int, rows: int, wished: int | None = None) -> int:
    """Returns the sampling step in picoseconds: `wished`, or a round number that gives about a thousand samples."""
    least = max(span // POINTS, span * rows // ROWS, 1)
    return wished if wished is not None else next((s for s in _STEPS if s >= least), least)


def _table(kind: str, keys: dict[str, pl.Series], found: pl.DataFrame, key: str) -> pl.DataFrame:
    """Returns a table with a row per name in `keys` and a column per metric."""
    import polars as pl

    names = [m.name for m in metrics() if m.table == kind]
    frame = pl.DataFrame({"seed": pl.Series([0] * len(next(iter(keys.values()))), dtype=pl.UInt64), **keys})
    frame = frame.join(found, on=key, how="left", maintain_order="left") if found.height else frame
    nothing = pl.lit(math.nan, dtype=pl.Float64)
    has = set(frame.columns)
    return frame.select(
        "seed", *keys, *((pl.col(n).cast(pl.Float64).fill_null(math.nan) if n in has else nothing.alias(n)).alias(n) for n in names)
    )


def tables(of: Recorded, step: int) -> dict[str, pl.DataFrame]:
    """Returns the tables of a result."""
    import polars as pl

    seen = captured(of.parts, of.span, step) if of.parts else None
    flows = _flows(of, seen)
    links = _links(of)
    return {
        "flows": flows,
        "links": links,
        "network": _network(flows, links),
        "flow_series": _flow_series(of, step, seen) if of.flows else pl.DataFrame(),
        "link_series": _link_series(of, step) if of.links else pl.DataFrame(),
    }


def _counted(of: Recorded) -> list[pl.DataFrame]:
    """Returns the numbers of flows by queries on the whole trace."""
    import polars as pl

    col, seconds = pl.col, max(of.span, 1) / 1e12
    data = (col("payload") > 0) & ~col("back")
    here = of.rows.filter(data)
    sent, got = here.filter(col("event").is_in(["send", "retransmit"])), here.filter(col("event") == "receive")
    arrived = got.group_by("flow").agg(
        packets_received=pl.len(),
        throughput=col("length").cast(pl.Int64).sum() * 8 / seconds,
        marked=(col("ecn") == "CE").sum(),
        last=col("time_ps").max(),
    )
    goods = (
        got.unique(["flow", "seq"], keep="first", maintain_order=True)
        .group_by("flow")
        .agg(goodput=col("payload").cast(pl.Int64).sum() * 8 / seconds)
    )
    queries = [
        sent.group_by("flow").agg(packets_sent=pl.len(), retransmits=(col("event") == "retransmit").sum(), first=col("time_ps").min()),
        arrived,
        goods,
        here.group_by("flow").agg(packets_lost=(col("event") == "drop").sum()),
        of.rows.filter((col("event") == "drop") & ~data).group_by("flow").agg(acks_lost=pl.len()),
        of.rows.filter((col("event") == "gauge") & (col("gauge") == "rtt"))
        .group_by("flow")
        .agg(
            rtt_mean=col("value").mean(),
            rtt_p50=col("value").quantile(0.5, "lower"),
            rtt_p99=col("value").quantile(0.99, "lower"),
            srtt=col("value").ewm_mean(alpha=ALPHA, adjust=False).last(),
        ),
        of.rows.filter(col("flags").str.contains("F") & ~col("back")).group_by("flow").agg(fin=col("time_ps").min()),
    ]
    if of.one_way:
        queries.append(_delays(sent, got))
    return pl.collect_all(queries, engine="streaming")


def _flows(of: Recorded, seen: Captured | None) -> pl.DataFrame:
    import polars as pl

    col = pl.col
    frames = _counted(of) if seen is None else [seen.flows()]
    found = pl.DataFrame({"flow": [f.name for f in of.flows]}, schema={"flow": pl.String})
    for frame in frames:
        found = found.join(frame, on="flow", how="left")
    counts = [
        c for c in ("packets_sent", "packets_received", "packets_lost", "acks_lost", "marked", "retransmits", "throughput", "goodput")
    ]
    is_tcp = pl.Series([f.transport == "tcp" for f in of.flows])
    found = found.with_columns(col(c).cast(pl.Float64).fill_null(0.0) for c in counts)
    goodput = found["goodput"].sum() / max(found.height, 1)
    found = found.with_columns(
        share=col("goodput") / goodput if goodput else pl.lit(math.nan),
        # The paths are unknown, so all flows count as sharing one bottleneck.
        fair_share=pl.lit(goodput),
        loss=(col("packets_lost") / (col("packets_lost") + col("packets_received"))).fill_nan(0.0) if of.one_way else pl.lit(math.nan),
        completion_time=pl.when(col("fin").is_not_null()).then((col("last") - col("first")) / 1e12),
        retransmits=pl.when(is_tcp).then(col("retransmits")).otherwise(math.nan),
    )
    if not of.one_way:
        # A capture does not contain losses elsewhere on the path.
        found = found.with_columns(packets_lost=pl.lit(math.nan), acks_lost=pl.lit(math.nan))
    keys = {
        "flow": [f.name for f in of.flows],
        "from": [f.start for f in of.flows],
        "to": [f.end for f in of.flows],
        "transport": [f.transport for f in of.flows],
    }
    return _table("flows", {k: pl.Series(v, dtype=pl.String) for k, v in keys.items()}, found, "flow")


def _delays(sent: pl.LazyFrame, got: pl.LazyFrame) -> pl.LazyFrame:
    """Returns the one-way delays of data packets."""
    import polars as pl

    col = pl.col
    both = got.select("flow", "packet", "time_ps").join(sent.select("packet", began="time_ps"), on="packet", maintain_order="left")
    delay = (col("time_ps") - col("began")) / 1e12
    return (
        both.with_columns(delay=delay)
        .group_by("flow", maintain_order=True)
        .agg(
            delay_mean=col("delay").mean(),
            delay_std=col("delay").std(ddof=0),
            delay_p50=col("delay").quantile(0.5, "lower"),
            delay_p95=col("delay").quantile(0.95, "lower"),
            delay_p99=col("delay").quantile(0.99, "lower"),
            delay_max=col("delay").max(),
            jitter=col("delay").diff().abs().mean(),
        )
    )


def _links(of: Recorded) -> pl.DataFrame:
    import polars as pl

    col, seconds = pl.col, max(of.span, 1) / 1e12
    at = of.rows.filter(col("link").is_not_null())
    event = col("event")
    lost = (event == "drop") & (col("reason") == "link").fill_null(value=False)
    counts = at.group_by("link").agg(
        arrivals=(event == "enqueue").sum(),
        departures=(event == "dequeue").sum(),
        drops=((event == "drop") & ~lost).sum(),
        lost=lost.sum(),
        marks=((event == "arrive") & (col("ecn") == "CE")).sum(),
        throughput=pl.when(event == "dequeue").then(col("length").cast(pl.Int64)).otherwise(0).sum() * 8 / seconds,
    )
    # The queue length is constant between two events.
    queue = at.filter(event.is_in(["enqueue", "dequeue", "drop"])).select(
        "link",
        n=col("queue_packets").cast(pl.Float64),
        held=(col("time_ps").shift(-1).over("link").fill_null(of.span) - col("time_ps")).clip(0).cast(pl.Float64),
    )
    weighed = queue.group_by("link").agg(
        queue_mean=(col("n") * col("held")).sum() / max(of.span, 1),
        queue_square=(col("n") ** 2 * col("held")).sum() / max(of.span, 1),
        queue_max=pl.when(col("held") > 0).then(col("n")).max(),
    )
    came = at.filter(event == "enqueue").group_by("link", "packet").agg(began=col("time_ps").min())
    gone = at.filter(event == "dequeue").group_by("link", "packet").agg(ended=col("time_ps").min())
    wait = (col("ended") - col("began")) / 1e12
    waits = (
        gone.join(came, on=["link", "packet"])
        .with_columns(wait=wait)
        .group_by("link")
        .agg(
            sojourn_mean=col("wait").mean(),
            sojourn_std=col("wait").std(ddof=0),
            sojourn_p50=col("wait").quantile(0.5, "lower"),
            sojourn_p95=col("wait").quantile(0.95, "lower"),
            sojourn_p99=col("wait").quantile(0.99, "lower"),
            sojourn_max=col("wait").max(),
        )
    )
    found = pl.DataFrame({"link": [name for name, *_ in of.links]}, schema={"link": pl.String})
    for frame in pl.collect_all([counts, weighed, waits], engine="streaming") if of.links else ():
        found = found.join(frame, on="link", how="left")
    if of.links:
        square = (col("queue_square") - col("queue_mean") ** 2).clip(0).sqrt()
        found = found.with_columns(loss=(col("drops") / (col("drops") + col("departures"))).fill_nan(0.0), queue_std=square)
    keys = {key: pl.Series([link[i] for link in of.links], dtype=pl.String) for i, key in enumerate(("link", "from", "to"))}
    return _table("links", keys, found, "link")


def _network(flows: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    from ..base.metrics import jain

    is_tcp = flows["transport"] == "tcp"
    goodputs, tcp = flows["goodput"], flows.filter(is_tcp)["goodput"]

    def total(frame: pl.DataFrame, column: str) -> float:
        values = frame[column].drop_nans()
        return float(values.sum()) if values.len() else math.nan

    def fairness(shares: pl.Series) -> float:
        return jain(shares.to_list()) if shares.len() else math.nan

    received, lost = total(flows, "packets_received"), total(flows, "packets_lost")
    mean, whole, of_tcp = goodputs.mean(), float(goodputs.sum()), float(tcp.sum())
    found: dict[str, Any] = {
        "goodput": whole,
        "goodput_tcp": of_tcp,
        "goodput_udp": whole - of_tcp,
        "throughput": flows["throughput"].sum(),
        "jain": fairness(goodputs),
        "jain_tcp": fairness(tcp),
        "worst_share": float(goodputs.min()) / float(mean) if mean else math.nan,  # type: ignore[arg-type]
        "packets_sent": total(flows, "packets_sent"),
        "packets_received": received,
        "drops": total(links, "drops"),
        "lost": total(links, "lost"),
        "marks": total(links, "marks"),
        "loss": lost / (lost + received) if lost + received else math.nan if math.isnan(lost) else 0.0,
        "retransmits": total(flows, "retransmits"),
        "completed": float(flows["completion_time"].is_not_nan().sum()),
    }
    names = [m.name for m in metrics() if m.table == "network"]
    columns = {n: pl.Series([found.get(n, math.nan)], dtype=pl.Float64) for n in names}
    return pl.DataFrame({"seed": pl.Series([0], dtype=pl.UInt64), **columns})


def _grid(name: str, names: list[str], span: int, step: int) -> pl.DataFrame:
    """Returns a row per name and instant."""
    import polars as pl

    last = max(-(-span // step), 1)
    at = pl.DataFrame({"at": range(1, last + 1)}, schema={"at": pl.Int64})
    return at.join(pl.DataFrame({name: names}, schema={name: pl.String}), how="cross")


def _sampled(kind: str, key: str, grid: pl.DataFrame, step: int, found: list[pl.DataFrame], held: tuple[str, ...]) -> pl.DataFrame:
    import polars as pl

    for frame in found:
        grid = grid.join(frame, on=["at", key], how="left", maintain_order="left")
    names = [s.name for s in series() if s.table == kind and s.feed == "sampler" and s.name != "time"]
    col, has = pl.col, set(grid.columns)

    def column(name: str) -> pl.Expr:
        if name not in has:
            return pl.lit(math.nan, dtype=pl.Float64).alias(name)
        value = col(name).cast(pl.Float64)
        return (
            value.forward_fill().over(key).fill_null(0.0 if name != "srtt" else math.nan) if name in held else value.fill_null(0.0)
        ).alias(name)

    time = (col("at") * step / 1e12).alias("time")
    return grid.select(pl.lit(0, dtype=pl.UInt64).alias("seed"), key, time, *(column(n) for n in names))


def _flow_series(of: Recorded, step: int, seen: Captured | None) -> pl.DataFrame:
    import polars as pl

    grid = _grid("flow", [f.name for f in of.flows], of.span, step)
    if seen is not None:
        return _sampled("flow_series", "flow", grid, step, seen.series(), ("srtt", "in_flight"))
    col, per_second = pl.col, 8e12 / step
    data = (col("payload") > 0) & ~col("back")
    got = of.rows.filter(data & (col("event") == "receive"))
    rates = got.group_by(sample_at(step), "flow").agg(throughput=col("length").cast(pl.Int64).sum() * per_second)
    fresh = got.unique(["flow", "seq"], keep="first", maintain_order=True)
    goods = fresh.group_by(sample_at(step), "flow").agg(goodput=col("payload").cast(pl.Int64).sum() * per_second)
    rtt = of.rows.filter((col("event") == "gauge") & (col("gauge") == "rtt")).select(
        "flow", "time_ps", srtt=col("value").ewm_mean(alpha=ALPHA, adjust=False).over("flow")
    )
    smooth = rtt.group_by(sample_at(step), "flow", maintain_order=True).agg(col("srtt").last())
    found = pl.collect_all([rates, goods, smooth])
    return _sampled("flow_series", "flow", grid, step, found, ("srtt", "in_flight"))


def _link_series(of: Recorded, step: int) -> pl.DataFrame:
    import polars as pl

    col = pl.col
    at = of.rows.filter(col("link").is_not_null())
    event = col("event")
    lost = (col("reason") == "link").fill_null(value=False)
    sums = at.group_by(sample_at(step), "link").agg(
        throughput=pl.when(event == "dequeue").then(col("length").cast(pl.Int64)).otherwise(0).sum() * (8e12 / step),
        drops=((event == "drop") & ~lost).sum(),
    )
    queue = at.filter(event.is_in(["enqueue", "dequeue", "drop"])).group_by(sample_at(step), "link", maintain_order=True)
    levels = queue.agg(queue=col("queue_packets").last(), queue_bytes=col("queue_bytes").last())
    found = pl.collect_all([sums, levels])
    grid = _grid("link", [name for name, *_ in of.links], of.span, step)
    return _sampled("link_series", "link", grid, step, found, ("queue", "queue_bytes"))
