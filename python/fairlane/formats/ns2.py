"""Import of ns-2 traces as event traces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..base.files import read_input
from ..errors import FairlaneError
from ..runs.trace import scan
from .event_metrics import Flow, Recorded, step_of, tables
from .imported import ImportedRun

if TYPE_CHECKING:
    import polars as pl

_FIELDS = ("event", "time", "from", "to", "kind", "length", "marks", "fid", "source", "sink", "seq", "uid")
_EVENTS = {"+": "enqueue", "-": "dequeue", "r": "arrive", "d": "drop"}
LARGEST = 1 << 30
"""Most bytes of a trace, which is read into memory."""
HEADER = 40
"""IP and TCP header bytes that ns-2 counts in a segment (tcpip_base_hdr_size_)."""


def read_trace(file: Path, folder: Path, step: int | None) -> ImportedRun:
    """Reads a trace of ns-2 (`trace-all`, wired links); the event trace goes to `folder`.

    A packet is sent when it is first enqueued at the node of its sender, and received when it arrives at that of its receiver.
    """
    import polars as pl

    rows, remarks = _lines(file)
    try:
        table, ends = _table(rows)
    except pl.exceptions.PolarsError as e:
        raise FairlaneError(f"{file} is not a trace of ns-2 over wired links: {str(e).splitlines()[0][:200]}") from None
    place = folder / "seed=0"
    place.mkdir(parents=True)
    flows = [
        Flow(name, _node(first), _node(last), "tcp" if kind.startswith("tcp") else "udp")
        for name, first, last, kind in ends.select("flow", "first", "last", "kind").iter_rows()
    ]
    pairs = rows.select("from", "to").unique(maintain_order=True).iter_rows()
    links = [(f"{a}-{b}", a, b) for a, b in pairs]
    span = max(int(table["time_ps"].max()), 1_000_000)  # type: ignore[arg-type]
    table = pl.concat([table, _rtt(table)]).sort("time_ps", maintain_order=True)
    table.write_parquet(place / "000000.parquet")
    chosen = step_of(span, max(len(flows), len(links)), step)
    of = Recorded(scan(folder), flows, links, span)
    found = tables(of, chosen)
    return ImportedRun("", flows, links, found, span, chosen, table.height, remarks, folder, packets=int(table["packet"].n_unique()))


def _node(address: str) -> str:
    """Returns the node of an address with a port."""
    return address.rpartition(".")[0] or address


def _lines(file: Path) -> tuple[pl.DataFrame, list[str]]:
    """Returns the lines of wired links, and remarks on other lines."""
    import polars as pl

    data = read_input(file, LARGEST)
    names = [*_FIELDS, "rest"]
    kinds = {name: {"time": pl.Float64, "length": pl.Int64, "seq": pl.Int64, "uid": pl.Int64}.get(name, pl.String) for name in names}
    try:
        rows = pl.read_csv(
            # polars takes the number of fields from the first line.
            b" ".join([b"0"] * len(names)) + b"\n" + data,
            has_header=False,
            separator=" ",
            quote_char=None,
            schema=kinds,
            ignore_errors=True,
            truncate_ragged_lines=True,
            encoding="utf8-lossy",
        )
    except pl.exceptions.PolarsError as e:
        raise FairlaneError(f"{file} is not a trace of ns-2 over wired links: {str(e).splitlines()[0][:200]}") from None
    rows = rows.filter(pl.col("event").is_in(list(_EVENTS)))
    whole = pl.all_horizontal(pl.col(*_FIELDS).is_not_null()) & (pl.col("rest").fill_null("") == "")
    remarks = []
    if rows.height and not rows.tail(1).select(whole).item() and not data.endswith(b"\n"):
        rows = rows.head(-1)
        remarks.append("the last line is incomplete and was skipped")
    if rows.height and rows.select(whole.all()).item():
        return rows.drop("rest"), remarks
    what = "no line begins with +, -, r or d"
    if rows.height:
        number = int(rows.select(whole.arg_min()).item())
        candidates = [line for line in data.decode("utf-8", "replace").splitlines() if line[:2] in ("+ ", "- ", "r ", "d ")]
        line = candidates[number] if number < len(candidates) else ""
        many = len(line.split())
        what = f"the line `{line[:200]}` " + (
            f"has {many} fields, not {len(_FIELDS)}" if many != len(_FIELDS) else "has words where numbers belong"
        )
    raise FairlaneError(f"{file} is not a trace of ns-2 over wired links: {what}")


def _rtt(table: pl.DataFrame) -> pl.DataFrame:
    """Returns rows of the variable `rtt`: from a segment without retransmission to the first acknowledgment of it."""
    import polars as pl

    col = pl.col
    sends = table.filter(col("event").is_in(["send", "retransmit"]), ~col("back"), col("payload") > 0)
    once = sends.group_by("flow", "seq").agg(pl.len().alias("n"), began=col("time_ps").min()).filter(col("n") == 1)
    acks = table.filter(col("event") == "receive", col("back"), col("payload") == 0).unique(
        ["flow", "seq"], keep="first", maintain_order=True
    )
    samples = acks.join(once, on=["flow", "seq"], maintain_order="left")
    rtt = (col("time_ps") - col("began")) / 1e12
    empty = [
        pl.lit(None, kind).alias(name) for name, kind in table.schema.items() if name not in ("time_ps", "event", "flow", "gauge", "value")
    ]
    event, gauge = pl.lit("gauge").alias("event"), pl.lit("rtt").alias("gauge")
    return samples.select("time_ps", "flow", event, gauge, rtt.alias("value"), *empty).select(table.columns)


def _table(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Returns the event trace and the flows."""
    import polars as pl

    text, whole = pl.String, pl.Int64
    col, data = pl.col, pl.col("kind") != "ack"
    rows = rows.with_columns((col("time") * 1e6).round().cast(whole).mul(1_000_000).alias("time_ps"))
    rows = rows.with_columns(
        link=col("from") + "-" + col("to"), pair=pl.min_horizontal("source", "sink") + "-" + pl.max_horizontal("source", "sink")
    )
    ends = rows.group_by("fid", "pair", maintain_order=True).agg(
        first=col("source").first(), last=col("sink").first(), kind=col("kind").first()
    )
    alone = pl.len().over("fid") == 1
    ends = ends.with_columns(flow=pl.when(alone).then(col("fid")).otherwise(col("first") + "-" + col("last")))
    rows = rows.join(ends, on=["fid", "pair"], how="left", maintain_order="left").with_columns(back=col("source") != col("first"))
    held = (col("event") == "d") & (col("event").shift(1).over("link", "uid") == "+")
    # Packets dropped or sent on arrival have no queueing delay.
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
    both = both.with_columns(gauge=pl.lit(None, text), value=pl.lit(None, pl.Float64))
    return both.drop("place", "order", "source", "sink", "from", "to", "older"), ends
