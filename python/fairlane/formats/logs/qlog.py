"""Import of qlog: QUIC connections in JSON, JSON-SEQ (RFC 7464) and NDJSON, and the TCP flows that `fairlane export ... qlog` writes.

Source: draft-ietf-quic-qlog-main-schema-13 and -quic-events-12 (files with `file_schema`); versions 0.3 (draft 02) and 0.4 (drafts 04 to
08), whose names of events differ: "recovery:metrics_updated" is now "quic:recovery_metrics_updated". Times are milliseconds.

Each trace is a flow from its vantage point. Its windows and round-trip times are those of the `metrics_updated` events. Goodput is the data
of stream frames that were acknowledged; data that the vantage point received is a second flow in the other direction.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..event_metrics import Flow
from ..imported import ImportedRun
from ..inputs import document_of, fault, json_lines
from ..measured import Grid, Held, Measured, measured_run, number, quantile, text

RECORD = "\x1e"
_MOST_FLOWS = 10_000
_GAUGES = {
    "congestion_window": ("cwnd", 1.0),
    "bytes_in_flight": ("in_flight", 1.0),
    "ssthresh": ("ssthresh", 1.0),
    "smoothed_rtt": ("srtt", 1e-3),
}
_RELATIVE = ("relative", "relative_to_epoch")
_DELTA = ("delta", "relative_to_previous_event")


@dataclass
class _Trace:
    """Contents of the events of a trace."""

    name: str
    ends: tuple[str, str]
    transport: str
    span: float = 0.0
    gauges: dict[str, Held] = field(default_factory=dict)
    trips: list[float] = field(default_factory=list)
    sent: dict[tuple[str, int], int] = field(default_factory=dict)
    """Stream data of each packet without an acknowledgment."""
    acked: Held = field(default_factory=Held)
    received: Held = field(default_factory=Held)
    parts: set[tuple[Any, int, int]] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)
    marked: int = 0


def read(file: Path, folder: Path, step: int | None) -> ImportedRun:
    """Reads a qlog file."""
    remarks: list[str] = []
    traces: list[_Trace] = []
    for about, events in _traces(file, remarks):
        if len(traces) >= _MOST_FLOWS:
            raise fault(file, f"it has more than {_MOST_FLOWS} traces")
        traces.append(_trace(about, events, len(traces) + 1, remarks))
    if not traces:
        raise fault(file, "it has no traces")
    if not any(t.gauges or t.trips or t.counts or t.acked.times for t in traces):
        raise fault(file, "its events have no windows, round-trip times or packets (recovery and transport events)")
    span = max(t.span for t in traces)
    grid = Grid.of(span, step, len(traces))
    flows = [m for t in traces for m in _measured(t, grid)]
    names: set[str] = set()
    for m in flows:
        assert isinstance(m.of, Flow)
        plain, again = m.of.name, 2
        while m.of.name in names:
            m.of, again = Flow(f"{plain}#{again}", m.of.start, m.of.end, m.of.transport), again + 1
        names.add(m.of.name)
    return measured_run(flows, span=span, step=grid.step, remarks=remarks)


def _traces(file: Path, remarks: list[str]) -> Iterator[tuple[dict[str, Any], Iterable[Any]]]:
    """Yields the head and the events of each trace."""
    with file.open("rb") as f:
        head = f.read(1 << 16)
    first = head.lstrip().split(b"\n", 1)[0]
    if head.lstrip()[:1] == RECORD.encode() or (first.rstrip().endswith(b"}") and b"\n{" in head and b'"traces"' not in first):
        lines = json_lines(file, remarks, RECORD)
        number_, top = next(lines, (0, {}))
        if not ("trace" in top or "qlog_version" in top or "file_schema" in top):
            raise fault(file, "its first line is not the head of a qlog file", number_ or None)
        yield _table(top, "trace"), (line for _, line in lines)
        return
    document = document_of(file)
    found = document.get("traces")
    found = found if isinstance(found, list) else [document["trace"]] if isinstance(document.get("trace"), dict) else []
    for trace in found:
        if isinstance(trace, dict):
            if "error_description" in trace:
                remarks.append(f"a trace could not be logged: {text(trace['error_description'], 100)}")
                continue
            rows = trace.get("events")
            yield trace, _named(trace, rows if isinstance(rows, list) else [])


def _named(trace: dict[str, Any], rows: list[Any]) -> Iterator[Any]:
    """Yields the events as objects; old drafts have lists whose names are in `event_fields`."""
    names = trace.get("event_fields")
    for row in rows:
        if isinstance(row, list) and isinstance(names, list):
            of = {str(k).lower(): v for k, v in zip(names, row, strict=False)}
            kind = of.get("event", of.get("event_type", ""))
            yield {
                "time": of.get("time", of.get("relative_time", of.get("delta_time"))),
                "name": f"{of.get('category', '')}:{kind}",
                "data": of.get("data"),
            }
        else:
            yield row


def _table(of: Any, key: str) -> dict[str, Any]:
    found = of.get(key) if isinstance(of, dict) else None
    return found if isinstance(found, dict) else {}


def _trace(about: dict[str, Any], events: Iterable[Any], place: int, remarks: list[str]) -> _Trace:
    common = _table(about, "common_fields")
    vantage = _table(about, "vantage_point")
    own = text(vantage.get("name") or vantage.get("type") or "local", 80)
    types = common.get("protocol_types", common.get("protocol_type"))
    tcp = isinstance(types, list) and "TCP" in types
    name = text(about.get("title") or common.get("group_id") or common.get("ODCID") or f"trace {place}", 80)
    other = {"client": "server", "server": "client", "sender": "receiver"}.get(own, "remote")
    out = _Trace(name, (own, other), "tcp" if tcp else "quic")
    form = str(common.get("time_format", ""))
    now, base, unknown = 0.0, math.nan, 0
    for event in events:
        if not isinstance(event, dict):
            unknown += 1
            continue
        at = number(event.get("time"))
        if math.isnan(at):
            unknown += 1
            continue
        if form in _DELTA:
            now += at
        elif form in _RELATIVE:
            now = at
        else:  # absolute, or not said
            base = at if math.isnan(base) and (form == "absolute" or at > 1e11) else base
            now = at if math.isnan(base) else at - base
        if not -1e-9 <= now < 1e15:
            unknown += 1
            continue
        time = now / 1e3
        out.span = max(out.span, time)
        kind = str(event.get("name", "")).rpartition(":")[2].removeprefix("recovery_")
        _take(out, kind, time, _table(event, "data"))
    if unknown:
        remarks.append(f"{unknown} events of {name!r} have no valid time and were skipped"[:300])
    return out


def _take(out: _Trace, kind: str, time: float, data: dict[str, Any]) -> None:
    """Takes what one event says."""
    if kind == "metrics_updated":
        for key, (column, scale) in _GAUGES.items():
            value = number(data.get(key))
            if value >= 0:
                out.gauges.setdefault(column, Held()).add(time, value * scale)
        latest = number(data.get("latest_rtt"))
        if latest >= 0:
            out.trips.append(latest * 1e-3)
    elif kind in ("packet_sent", "packet_received"):
        out.counts[kind] = out.counts.get(kind, 0) + 1
        head = _table(data, "header")
        space = str(head.get("packet_type", data.get("packet_type", "")))
        frames = data.get("frames")
        for frame in (f for f in frames if isinstance(f, dict)) if isinstance(frames, list) else ():
            what = frame.get("frame_type")
            if what == "stream":
                _stream(out, kind, time, space, head, frame)
            elif what == "ack" and kind == "packet_received":
                _acknowledge(out, time, space, frame)
    elif kind in ("packet_lost", "loss_timer_updated", "timer_updated"):
        lost = kind == "packet_lost"
        if lost or data.get("event_type") == "expired":
            key = kind if lost else "timeout"
            out.counts[key] = out.counts.get(key, 0) + 1


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62 else -1


def _stream(out: _Trace, kind: str, time: float, space: str, head: dict[str, Any], frame: dict[str, Any]) -> None:
    raw = _table(frame, "raw")
    size = next((n for n in map(_whole, (frame.get("length"), raw.get("payload_length"), raw.get("length"))) if n >= 0), 0)
    offset = _whole(frame.get("offset"))
    if kind == "packet_sent":
        key = (space, _whole(head.get("packet_number")))
        out.sent[key] = out.sent.get(key, 0) + size
    elif (part := (str(frame.get("stream_id")), offset, size)) not in out.parts or offset < 0:
        out.parts.add(part)
        out.received.add(time, float(size))


def _acknowledge(out: _Trace, time: float, space: str, frame: dict[str, Any]) -> None:
    ranges = frame.get("acked_ranges")
    for span in ranges if isinstance(ranges, list) else ():
        ends = [_whole(n) for n in span] if isinstance(span, list) else []
        if not ends or min(ends) < 0:
            continue
        low, high = min(ends), max(ends)
        wide = high - low < len(out.sent)
        found = [(space, n) for n in range(low, high + 1)] if wide else [k for k in out.sent if k[0] == space and low <= k[1] <= high]
        data = sum(out.sent.pop(k, 0) for k in found)
        if data:
            out.acked.add(time, float(data))


def _measured(of: _Trace, grid: Grid) -> list[Measured]:
    """Returns the flow from the vantage point, and the one towards it if there was data."""
    times = grid.times()
    ahead = Measured(Flow(of.name, *of.ends, of.transport), times=times)
    ahead.series = {column: grid.held(held) for column, held in of.gauges.items()}
    srtt = of.gauges.get("srtt")
    ahead.values = {
        "srtt": srtt.values[-1] if srtt else math.nan,
        "rtt_mean": math.fsum(of.trips) / len(of.trips) if of.trips else math.nan,
        "rtt_p50": quantile(of.trips, 0.5),
        "rtt_p99": quantile(of.trips, 0.99),
    }
    if of.transport == "quic":
        # The export of TCP flows has an event for each retransmission instead.
        ahead.values |= {"packets_sent": float(of.counts.get("packet_sent", 0)) or math.nan}
        if "packet_sent" in of.counts:
            ahead.values["packets_lost"] = float(of.counts.get("packet_lost", 0))
    else:
        ahead.values |= {"retransmits": float(of.counts.get("packet_lost", 0)), "timeouts": float(of.counts.get("timeout", 0))}
    out = [ahead]
    if of.acked.times:
        ahead.series["goodput"] = grid.rates(of.acked)
        ahead.values["goodput"] = 8 * math.fsum(of.acked.values) / of.span if of.span > 0 else math.nan
    if of.received.times:
        back = Measured(Flow(f"{of.name} (received)", of.ends[1], of.ends[0], of.transport), times=times)
        back.series = {"goodput": grid.rates(of.received)}
        back.values = {"goodput": 8 * math.fsum(of.received.values) / of.span if of.span > 0 else math.nan}
        out.append(back)
    return out
