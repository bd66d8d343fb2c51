"""Numbers of flows from the event trace of a capture, part by part: memory grows with flows and samples, not with packets.

What a part leaves to the next is a row for each flow: the smoothed round-trip time, and how far data and acknowledgments have come.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

ALPHA = 1 / 8
"""Weight of a sample in the smoothed round-trip time (RFC 6298 section 2)."""
ROWS = 1 << 16
"""Rows that are in memory at a time."""
_COLUMNS = ("time_ps", "event", "flow", "back", "length", "payload", "ecn", "seq", "ack", "flags", "gauge", "value")
_SUMS = ("packets_sent", "packets_received", "packets_lost", "acks_lost", "marked", "retransmits", "bytes", "good")


@dataclass
class Captured:
    """Sums and states of the parts so far."""

    span: int
    step: int
    """Picoseconds between samples."""
    totals: list[pl.DataFrame] = field(default_factory=list)
    rates: list[pl.DataFrame] = field(default_factory=list)
    levels: list[pl.DataFrame] = field(default_factory=list)
    flight: list[pl.DataFrame] = field(default_factory=list)
    round_trips: list[pl.DataFrame] = field(default_factory=list)
    srtt: pl.DataFrame | None = None
    ahead: pl.DataFrame | None = None

    def flows(self) -> pl.DataFrame:
        """Returns a row for each flow."""
        import polars as pl

        col, seconds = pl.col, max(self.span, 1) / 1e12
        found = _totals(self.totals)
        rtt = pl.concat(self.round_trips).group_by("flow").agg(
            rtt_mean=col("value").mean(), rtt_p50=col("value").quantile(0.5, "lower"), rtt_p99=col("value").quantile(0.99, "lower")
        )  # fmt: skip
        found = found.join(rtt.with_columns(col("flow").cast(pl.String)), on="flow", how="left")
        if self.srtt is not None:
            found = found.join(self.srtt.select("flow", srtt="value"), on="flow", how="left")
        return found.with_columns(throughput=col("bytes") * 8 / seconds, goodput=col("good") * 8 / seconds).drop("bytes", "good")

    def series(self) -> list[pl.DataFrame]:
        """Returns the samples: rates, and the last values of each."""
        import polars as pl

        col, per_second = pl.col, 8e12 / self.step
        rates = _rates(self.rates).select("at", "flow", throughput=col("bytes") * per_second, goodput=col("good") * per_second)
        return [rates, _last(self.levels), _last(self.flight)]


def captured(parts: Iterable[pl.LazyFrame], span: int, step: int) -> Captured:
    """Reads the parts of a trace in their order."""
    out = Captured(span, step)
    for part in parts:
        at = 0
        while (rows := part.select(_COLUMNS).slice(at, ROWS).collect()).height or not out.totals:
            _add(out, rows)
            at += ROWS
            if rows.height < ROWS:
                break
    return out


def sample_at(step: int) -> pl.Expr:
    """Returns the index of the first sample at or after an event."""
    import polars as pl

    return (-(-pl.col("time_ps") // step)).clip(1).cast(pl.Int64).alias("at")


def _add(out: Captured, rows: pl.DataFrame) -> None:
    import polars as pl

    col = pl.col
    event, data = col("event"), (col("payload") > 0) & ~col("back")
    sent, got = data & event.is_in(["send", "retransmit"]), data & (event == "receive")
    first = data & (event == "send")
    payload, length = col("payload").cast(pl.Int64), col("length").cast(pl.Int64)
    out.totals.append(
        rows.group_by("flow").agg(
            packets_sent=sent.sum().cast(pl.Int64), packets_received=got.sum().cast(pl.Int64),
            packets_lost=(data & (event == "drop")).sum().cast(pl.Int64), acks_lost=(~data & (event == "drop")).sum().cast(pl.Int64),
            marked=(got & (col("ecn") == "CE").fill_null(value=False)).sum().cast(pl.Int64),
            retransmits=(data & (event == "retransmit")).sum().cast(pl.Int64),
            bytes=length.filter(got).sum(), good=payload.filter(first).sum(),
            first=col("time_ps").filter(sent).min(), last=col("time_ps").filter(got).max(),
            fin=col("time_ps").filter(col("flags").str.contains("F").fill_null(value=False) & ~col("back")).min(),
        )
    )  # fmt: skip
    out.rates.append(rows.group_by(sample_at(out.step), "flow").agg(bytes=length.filter(got).sum(), good=payload.filter(first).sum()))
    if len(out.totals) >= 16:
        # The rows of a part are as many as flows and samples: they are added up before there are many parts of them.
        out.totals, out.rates = [_totals(out.totals)], [_rates(out.rates)]
        out.levels, out.flight = [_last(out.levels)], [_last(out.flight)]
    _round_trips(out, rows.filter((event == "gauge") & (col("gauge") == "rtt")).select("flow", "time_ps", "value"))
    way = event.is_in(["send", "retransmit"]) & col("flags").str.contains("A").fill_null(value=False)
    _in_flight(out, rows.filter(way).select("flow", "time_ps", "back", "payload", "seq", "ack"))


def _round_trips(out: Captured, rows: pl.DataFrame) -> None:
    import polars as pl

    col = pl.col
    out.round_trips.append(rows.select(col("flow").cast(pl.Categorical), "value"))
    before = out.srtt if out.srtt is not None else rows.clear()
    smooth = pl.concat([before, rows]).with_columns(value=col("value").ewm_mean(alpha=ALPHA, adjust=False).over("flow"))
    out.srtt = smooth.group_by("flow", maintain_order=True).last()
    fresh = smooth.slice(before.height)
    out.levels.append(fresh.group_by(sample_at(out.step), "flow", maintain_order=True).agg(srtt=col("value").last()))


def _in_flight(out: Captured, rows: pl.DataFrame) -> None:
    import polars as pl

    col = pl.col
    new = rows.select(
        "flow", "time_ps", ahead=pl.when(~col("back")).then(col("seq") + col("payload")), acked=pl.when(col("back")).then(col("ack"))
    )
    before = out.ahead if out.ahead is not None else new.clear()
    levels = pl.concat([before, new]).with_columns(
        ahead=col("ahead").cum_max().forward_fill().over("flow"), acked=col("acked").cum_max().forward_fill().over("flow")
    )
    out.ahead = levels.group_by("flow", maintain_order=True).last()
    fresh = levels.slice(before.height).select("flow", "time_ps", in_flight=(col("ahead") - col("acked")).clip(0))
    out.flight.append(fresh.group_by(sample_at(out.step), "flow", maintain_order=True).agg(col("in_flight").last()))


def _totals(parts: list[pl.DataFrame]) -> pl.DataFrame:
    import polars as pl

    ends = pl.col("first").min(), pl.col("last").max(), pl.col("fin").min()
    return pl.concat(parts).group_by("flow").agg(*(pl.col(c).sum() for c in _SUMS), *ends)


def _rates(parts: list[pl.DataFrame]) -> pl.DataFrame:
    import polars as pl

    return pl.concat(parts).group_by("at", "flow").agg(pl.col("bytes", "good").sum())


def _last(parts: list[pl.DataFrame]) -> pl.DataFrame:
    import polars as pl

    return pl.concat(parts).group_by("at", "flow", maintain_order=True).last()
