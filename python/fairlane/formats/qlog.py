"""qlog of TCP flows: what their senders knew of congestion and recovery.

Source: draft-ietf-quic-qlog-main-schema-13 (the file) and draft-ietf-quic-qlog-quic-events-12, sections "Recovery events",
"timer_updated" and "connection_state_updated": their words fit TCP, whose retransmission timeout is the expiry of the probe timeout
there. A state of a connection has the draft's word in `data`, because readers with the draft's types stop at any other, and TCP's
(RFC 9293 section 3.3.2) in `tcp_state`, which is a custom field of the event. A trace is a flow. tests/test_export.py has what is
written read by another implementation's types (validation/qlog).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..errors import FairlaneError, suggest

if TYPE_CHECKING:
    import polars as pl

    from .export import Part

SCHEMA = "urn:ietf:params:qlog:file:contained"
EVENTS = "urn:ietf:params:qlog:events:quic-12"
_STATES = {
    "SYN-SENT": "attempted",
    "SYN-RECEIVED": "handshake_started",
    "ESTABLISHED": "handshake_confirmed",
    # Who has sent its end closes, as after CONNECTION_CLOSE of QUIC; who has heard the other's, or only waits, drains.
    "FIN-WAIT-1": "closing",
    "FIN-WAIT-2": "closing",
    "CLOSING": "closing",
    "LAST-ACK": "closing",
    "CLOSE-WAIT": "draining",
    "TIME-WAIT": "draining",
    "CLOSED": "closed",
}
"""States of TCP in the words of the draft. LISTEN has none: nothing has been attempted."""


def qlog_bytes(part: Part) -> bytes:
    """All TCP flows of a run, or those that are named."""
    import polars as pl

    result = part.result
    if result.traced is None:
        raise FairlaneError("this result has no events on record: run with --trace 'window,state,timeout,retransmit' -o DIR")
    told = result.flows.filter((pl.col("seed") == part.seed) & (pl.col("transport") == "tcp"))["flow"].unique(maintain_order=True).to_list()
    if not told:
        raise FairlaneError("there is no TCP flow in this result, and qlog tells of TCP here")
    for name in part.flows:
        if name not in told:
            raise suggest(name, told, "TCP flow")
    events, accepted = _events(part)
    title = str(result.description.get("name") or "run")
    head = {"file_schema": SCHEMA, "serialization_format": "application/qlog+json", "title": f"{title}, seed {part.seed}"}
    traces = []
    for flow in part.flows or told:
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
    """An object whose end is left open."""
    return json.dumps(fields, separators=(",", ":"))[:-1]


def _events(part: Part) -> tuple[pl.DataFrame, set[str]]:
    """The lines of all flows, in the order of time; and which flows accept their connection: in the draft's words the client is who
    initiates it, the server who accepts."""
    import polars as pl

    col, lit = pl.col, pl.lit
    rows = part.result.trace().filter(col("seed") == part.seed, col("event").is_in(["window", "state", "timeout", "retransmit", "gauge"]))
    rows = rows.filter(~col("back").fill_null(value=False), (col("event") != "gauge") | (col("gauge") == "rtt"))
    kept = rows.select("flow", "time_ps", "event", "state", "cwnd", "ssthresh", "value").collect()
    accepted = set(kept.filter(col("state").is_in(["LISTEN", "SYN-RECEIVED"]))["flow"].to_list())
    rows = kept.lazy().filter((col("state") != "LISTEN").fill_null(value=True))
    # States of the connection are in capitals, those of its sending half are not.
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
