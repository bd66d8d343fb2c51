"""qlog export of TCP flows: congestion and recovery state of their senders.

Source: draft-ietf-quic-qlog-main-schema-13 (the file) and draft-ietf-quic-qlog-quic-events-12, sections "Recovery events",
"timer_updated" and "connection_state_updated". TCP's retransmission timeout is the expiry of their probe timeout. A connection state
has the draft's name in `data`, because typed readers reject others, and TCP's name (RFC 9293 section 3.3.2) in the custom field
`tcp_state`. One trace per flow. tests/test_export.py reads the files with the types of another implementation (validation/qlog).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...errors import FairlaneError, suggest

if TYPE_CHECKING:
    import polars as pl

    from .selection import Selection

SCHEMA = "urn:ietf:params:qlog:file:contained"
EVENTS = "urn:ietf:params:qlog:events:quic-12"
_STATES = {
    "SYN-SENT": "attempted",
    "SYN-RECEIVED": "handshake_started",
    "ESTABLISHED": "handshake_confirmed",
    # A side that sent its FIN is closing, as after CONNECTION_CLOSE of QUIC; a side that received one, or waits, is draining.
    "FIN-WAIT-1": "closing",
    "FIN-WAIT-2": "closing",
    "CLOSING": "closing",
    "LAST-ACK": "closing",
    "CLOSE-WAIT": "draining",
    "TIME-WAIT": "draining",
    "CLOSED": "closed",
}
"""TCP states in the terms of the draft, which has no term for LISTEN."""


def qlog_bytes(part: Selection) -> bytes:
    """Returns the qlog file of the selected TCP flows of a run."""
    import polars as pl

    result = part.result
    if result.trace_folder is None:
        raise FairlaneError("this result has no recorded events: run with --trace 'window,state,timeout,retransmit' -o DIR")
    known = (
        result.flows.filter((pl.col("seed") == part.seed) & (pl.col("transport") == "tcp"))["flow"].unique(maintain_order=True).to_list()
    )
    if not known:
        raise FairlaneError("this result has no TCP flow, and qlog export needs one")
    for name in part.flows:
        if name not in known:
            raise suggest(name, known, "TCP flow")
    events, accepted = _events(part)
    title = str(result.description.get("name") or "run")
    head = {"file_schema": SCHEMA, "serialization_format": "application/qlog+json", "title": f"{title}, seed {part.seed}"}
    traces = []
    for flow in part.flows or known:
        lines = events.filter(pl.col("flow") == flow)["line"].to_list()
        about = {
            "title": flow,
            "common_fields": {
                "time_format": "relative_to_epoch",
                "reference_time": {"clock_type": "monotonic", "epoch": "unknown"},
                "protocol_types": ["TCP"],
                "group_id": flow,
            },
            "vantage_point": {"name": "sender", "type": "server" if flow in accepted else "client"},
            "event_schemas": [EVENTS],
        }
        traces.append(_open(about) + ',"events":[' + ",\n".join(lines) + "]}")
    return (_open(head) + ',"traces":[' + ",\n".join(traces) + "]}\n").encode()


def _open(fields: Mapping[str, object]) -> str:
    """Returns a JSON object without its closing brace."""
    return json.dumps(fields, separators=(",", ":"))[:-1]


def _events(part: Selection) -> tuple[pl.DataFrame, set[str]]:
    """Returns the lines of all flows in the order of time, and the flows whose sender accepts the connection (the server of the draft)."""
    import polars as pl

    col, lit = pl.col, pl.lit
    rows = part.result.trace().filter(col("seed") == part.seed, col("event").is_in(["window", "state", "timeout", "retransmit", "gauge"]))
    rows = rows.filter(~col("back").fill_null(value=False), (col("event") != "gauge") | (col("gauge") == "rtt"))
    kept = rows.select("flow", "time_ps", "event", "state", "cwnd", "ssthresh", "value").collect()
    accepted = set(kept.filter(col("state").is_in(["LISTEN", "SYN-RECEIVED"]))["flow"].to_list())
    rows = kept.lazy().filter((col("state") != "LISTEN").fill_null(value=True))
    # Connection states are uppercase, congestion states are lowercase.
    of_tcp = col("state").is_in(list(_STATES)).fill_null(value=False)
    rows = rows.with_columns(half=pl.when(col("event") == "state").then(of_tcp), tcp=pl.when(of_tcp).then(col("state")))
    rows = rows.with_columns(state=pl.when(of_tcp).then(col("state").replace(_STATES)).otherwise(col("state")))
    rows = rows.with_columns(old=pl.when(col("event") == "state").then(col("state")).shift(1).over("flow", "half"))
    metrics = pl.concat_str(
        [
            lit('{"congestion_window":'),
            col("cwnd"),
            pl.when(col("ssthresh").is_not_null()).then(pl.concat_str([lit(',"ssthresh":'), col("ssthresh")])).otherwise(lit("")),
            lit("}"),
        ]
    )
    old = pl.when(col("old").is_not_null()).then(pl.concat_str([lit('"old":"'), col("old"), lit('",')])).otherwise(lit(""))
    data = (
        pl.when(col("event") == "window")
        .then(metrics)
        .when(col("event") == "state")
        .then(pl.concat_str([lit("{"), old, lit('"new":"'), col("state"), lit('"}')]))
        .when(col("event") == "timeout")
        .then(lit('{"event_type":"expired","timer_type":"pto"}'))
        .when(col("event") == "gauge")
        .then(pl.concat_str([lit('{"latest_rtt":'), col("value") * 1e3, lit("}")]))
        .otherwise(lit("{}"))
    )
    names = {"window": "recovery_metrics_updated", "state": "congestion_state_updated", "timeout": "timer_updated"}
    names |= {"gauge": "recovery_metrics_updated", "retransmit": "packet_lost"}
    name = pl.when(col("half").fill_null(value=False)).then(lit("connection_state_updated")).otherwise(col("event").replace_strict(names))
    custom = pl.when(col("tcp").is_not_null()).then(pl.concat_str([lit(',"tcp_state":"'), col("tcp"), lit('"')])).otherwise(lit(""))
    line = pl.concat_str([lit('{"time":'), col("time_ps") / 1e9, lit(',"name":"quic:'), name, lit('","data":'), data, custom, lit("}")])
    lines = rows.select("flow", "time_ps", line=line)
    samples = part.result.flow_series
    if samples.height and "srtt" in samples.columns:
        known = samples.lazy().filter(col("seed") == part.seed, col("srtt").is_not_nan())
        flight = pl.when(col("in_flight").is_not_nan()).then(pl.concat_str([lit(',"bytes_in_flight":'), col("in_flight").cast(pl.Int64)]))
        sampled = pl.concat_str(
            [
                lit('{"time":'),
                col("time") * 1e3,
                lit(',"name":"quic:recovery_metrics_updated","data":{"smoothed_rtt":'),
                col("srtt") * 1e3,
                flight.otherwise(lit("")),
                lit("}}"),
            ]
        )
        lines = pl.concat([lines, known.select("flow", (col("time") * 1e12).round().cast(pl.Int64).alias("time_ps"), line=sampled)])
    return lines.sort("time_ps", maintain_order=True).collect(), accepted
