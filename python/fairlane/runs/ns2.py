"""Traces of ns-2 as event tables, so that what asks our tables asks those of ns-2 as well."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.extras import need
from ..base.files import read_input, replacing
from ..errors import FairlaneError
from .trace import FOLDER

if TYPE_CHECKING:
    import polars as pl

_FIELDS = ("event", "time", "from", "to", "kind", "length", "marks", "fid", "source", "sink", "seq", "uid")
_EVENTS = {"+": "enqueue", "-": "dequeue", "r": "arrive", "d": "drop"}
HEADER = 40
"""Bytes of IP and TCP headers that ns-2 counts in a segment (tcpip_base_hdr_size_)."""


def import_trace(file: str | PathLike[str], folder: str | PathLike[str], *, force: bool = False) -> Path:
    """Reads a trace of ns-2 (`trace-all`, wired links) and writes its event table into a new folder.

    Packets are sent where they first wait at the node of their sender, and received where they arrive at that of their receiver.
    """
    need("tables")
    import polars as pl

    from .folder import check_free

    path = check_free(folder, force=force)
    lines = [line.split() for line in read_input(file).decode("ascii", "replace").splitlines() if line[:2] in ("+ ", "- ", "r ", "d ")]
    bad = next((line for line in lines if len(line) != len(_FIELDS)), None)
    if bad is not None or not lines:
        what = f"the line `{' '.join(bad)}` has {len(bad)} fields, not {len(_FIELDS)}" if bad else "no line begins with +, -, r or d"
        raise FairlaneError(f"{fspath(file)} is not a trace of ns-2 over wired links: {what}")
    rows = pl.DataFrame(lines, schema=dict.fromkeys(_FIELDS, pl.String), orient="row")
    try:
        table = _table(rows)
    except pl.exceptions.PolarsError as e:
        raise FairlaneError(f"{fspath(file)} is not a trace of ns-2 over wired links: {e}") from e
    with replacing(path) as temp:
        place = temp / FOLDER / "seed=0"
        place.mkdir(parents=True)
        table.write_parquet(place / "000000.parquet")
    return path


def _table(rows: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    text, whole = pl.String, pl.Int64
    col, data = pl.col, pl.col("kind") != "ack"
    numbers = [col(c).cast(whole) for c in ("length", "seq", "uid")]
    rows = rows.with_columns(*numbers, (col("time").cast(pl.Float64) * 1e6).round().cast(whole).mul(1_000_000).alias("time_ps"))
    rows = rows.with_columns(
        link=col("from") + "-" + col("to"), pair=pl.min_horizontal("source", "sink") + "-" + pl.max_horizontal("source", "sink")
    )
    ends = rows.group_by("fid", "pair", maintain_order=True).agg(first=col("source").first(), last=col("sink").first())
    alone = pl.len().over("fid") == 1
    ends = ends.with_columns(flow=pl.when(alone).then(col("fid")).otherwise(col("first") + "-" + col("last")))
    rows = rows.join(ends, on=["fid", "pair"], how="left", maintain_order="left").with_columns(back=col("source") != col("first"))
    held = (col("event") == "d") & (col("event").shift(1).over("link", "uid") == "+")
    # What is dropped or sent as it comes never waits.
    came, gone = col("event") == "+", (col("event") == "-") | held
    with_next, with_last = (col("time_ps").shift(n).over("link", "uid") == col("time_ps") for n in (-1, 1))
    passing = came & with_next & col("event").shift(-1).over("link", "uid").is_in(["d", "-"])
    change = pl.when(came & ~passing.fill_null(value=False)).then(1).when(gone & ~with_last.fill_null(value=False)).then(-1).otherwise(0)
    rows = rows.with_columns(queue=change.cum_sum().over("link"), held=held, place=pl.int_range(pl.len()))
    payload = (
        pl.when(~data).then(0).when(col("kind").str.starts_with("tcp")).then((col("length") - HEADER).clip(0)).otherwise(col("length"))
    )
    at_link = col("event").is_in(["+", "-", "d"])
    ecn = pl.when(col("marks").str.contains("E")).then(pl.lit("CE")).when(col("marks").str.contains("N")).then(pl.lit("ECT(0)"))
    shown = rows.select(
        "time_ps",
        col("event").replace_strict(_EVENTS),
        "flow",
        "link",
        (col("uid") + 1).alias("packet"),
        "back",
        col("length").cast(pl.Int32),
        ecn.otherwise(pl.lit("Not-ECT")).alias("ecn"),
        pl.when(at_link).then(col("queue")).cast(pl.Int32).alias("queue_packets"),
        pl.lit(None, whole).alias("queue_bytes"),
        pl.when((col("event") == "d") & ~col("held")).then(pl.lit("link")).alias("reason"),
        "seq",
        pl.lit(None, whole).alias("ack"),
        payload.cast(pl.Int32).alias("payload"),
        *(pl.lit(None, text if c in ("flags", "state") else whole).alias(c) for c in ("flags", "cwnd", "ssthresh", "state")),
        "place",
        *(col(c).str.split(".").list.first().alias(c) for c in ("source", "sink")),
        col("from"),
        col("to"),
        (col("seq").cum_max().shift(1).over("flow", "back") >= col("seq")).fill_null(value=False).alias("older"),
    )
    begins = (col("event") == "enqueue") & (col("from") == col("source")) & col("packet").is_first_distinct()
    again = (col("payload") > 0) & ~col("back") & col("older")
    sent = shown.filter(begins).with_columns(event=pl.when(again).then(pl.lit("retransmit")).otherwise(pl.lit("send")), order=pl.lit(0))
    got = shown.filter(col("event") == "arrive", col("to") == col("sink")).with_columns(event=pl.lit("receive"), order=pl.lit(2))
    ends_of = [frame.with_columns(link=pl.lit(None, text), queue_packets=pl.lit(None, pl.Int32)) for frame in (sent, got)]
    both = pl.concat([shown.with_columns(order=pl.lit(1)), *ends_of]).sort("place", "order")
    return both.drop("place", "order", "source", "sink", "from", "to", "older")
