"""Import of iperf3's JSON: `iperf3 -J` and `--json-stream`, TCP and UDP, several streams, both directions.

Source: iperf 3.17, src/iperf_api.c (`iperf_print_results`, `print_interval_results`, `iperf_json_finish`). `bytes` are payload, so rates
are goodput; at a sender those of an interval are what was written. `rtt` is tcpi_rtt of the kernel in microseconds, `snd_cwnd` is in bytes.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..event_metrics import Flow
from ..imported import ImportedRun
from ..inputs import document_of, fault, json_lines
from ..measured import MOST_SAMPLES, Measured, measured_run, number, text

_US = 1e-6


def read(file: Path, folder: Path, step: int | None) -> ImportedRun:
    """Reads the output of `iperf3 -J` or `iperf3 --json-stream`."""
    remarks: list[str] = []
    start, intervals, end, error = _parts(file, remarks)
    if error:
        raise fault(file, f"iperf3 ended with an error: {text(error)}")
    test = _table(start, "test_start")
    udp = str(test.get("protocol", "TCP")).upper() != "TCP"
    found: dict[int, Measured] = {}
    names: set[str] = set()
    for row in _rows(start, "connected"):
        flow = _flow(row, udp=udp, name=_pair(row, names))
        found.setdefault(_socket(row), Measured(flow))
    if not found:
        raise fault(file, "it has no connections: the test did not begin")
    reverse = bool(number(test.get("reverse")) > 0)
    senders = dict.fromkeys(found, not reverse)
    for row in (r for i in intervals for r in _rows(i, "streams")):
        if isinstance(row.get("sender"), bool) and _socket(row) in found:
            senders[_socket(row)] = row["sender"]
    _ends(found, senders)
    if len(found) * len(intervals) > MOST_SAMPLES:
        raise fault(file, f"it has more than {MOST_SAMPLES} samples")
    _series(found, intervals, remarks)
    _totals(found, end, remarks, udp=udp)
    if step is not None:
        remarks.append("its samples are unchanged: iperf3 measured at its own interval (-i)")
    span = max((m.times[-1] for m in found.values() if m.times), default=number(test.get("duration")))
    return measured_run(list(found.values()), span=0.0 if math.isnan(span) else max(span, 0.0), remarks=remarks, began=_began(start))


def _parts(file: Path, remarks: list[str]) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any], Any]:
    """Returns start, intervals, end and error of both formats."""
    with file.open("rb") as f:
        streamed = b'"event"' in f.read(64)
    if not streamed:
        document = document_of(file)
        return _table(document, "start"), _rows(document, "intervals"), _table(document, "end"), document.get("error")
    start: dict[str, Any] = {}
    end: dict[str, Any] = {}
    intervals: list[dict[str, Any]] = []
    error = None
    for _, line in json_lines(file, remarks):
        kind, data = line.get("event"), line.get("data")
        if kind == "error":
            error = data
        elif not isinstance(data, dict):
            continue
        elif kind == "start":
            start = data
        elif kind == "interval":
            intervals.append(data)
        elif kind == "end":
            end = data
    if not end and error is None:
        remarks.append("it has no end: the totals are those of its intervals")
    return start, intervals, end, error


def _table(of: dict[str, Any], key: str) -> dict[str, Any]:
    found = of.get(key)
    return found if isinstance(found, dict) else {}


def _rows(of: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = of.get(key)
    return [r for r in found if isinstance(r, dict)] if isinstance(found, list) else []


def _socket(row: dict[str, Any]) -> int:
    found = row.get("socket")
    return found if isinstance(found, int) and not isinstance(found, bool) else -1


def _pair(row: dict[str, Any], names: set[str]) -> str:
    """Returns the name of a stream, as captures name flows."""
    ends = []
    for side in ("local", "remote"):
        host = text(row.get(f"{side}_host", side), 100)
        ends.append(f"[{host}]:{row.get(f'{side}_port', 0)}" if ":" in host else f"{host}:{row.get(f'{side}_port', 0)}")
    name = text("-".join(ends))
    again = 2
    while name in names:
        name, again = f"{text('-'.join(ends))}#{again}", again + 1
    names.add(name)
    return name


def _flow(row: dict[str, Any], *, udp: bool, name: str) -> Flow:
    hosts = (text(row.get("local_host", "local"), 100), text(row.get("remote_host", "remote"), 100))
    return Flow(name, *hosts, "udp" if udp else "tcp")


def _ends(found: dict[int, Measured], senders: dict[int, bool]) -> None:
    """Turns the streams around that this host received."""
    for socket, m in found.items():
        if not senders[socket] and isinstance(m.of, Flow):
            m.of = Flow(m.of.name, m.of.end, m.of.start, m.of.transport)


def _series(found: dict[int, Measured], intervals: list[dict[str, Any]], remarks: list[str]) -> None:
    """Fills the series: one sample at the end of each interval."""
    omitted = 0
    for interval in intervals:
        rows = [r for r in _rows(interval, "streams") if _socket(r) in found]
        ends = [e for r in rows if not math.isnan(e := number(r.get("end")))]
        if not ends:
            continue
        if any(r.get("omitted") is True for r in rows):
            omitted += 1
            continue
        time = next((e for key in ("sum", "sum_bidir_reverse") if not math.isnan(e := number(_table(interval, key).get("end")))), ends[0])
        for row in rows:
            m = found[_socket(row)]
            if m.times and time <= m.times[-1]:
                continue
            m.times.append(time)
            for column, value in (
                ("goodput", number(row.get("bits_per_second"))),
                ("srtt", number(row.get("rtt")) * _US or math.nan),
                ("cwnd", number(row.get("snd_cwnd")) or math.nan),
            ):
                m.series.setdefault(column, []).append(value)
            m.values["bytes"] = m.values.get("bytes", 0.0) + number(row.get("bytes"))
            m.values["seconds"] = m.values.get("seconds", 0.0) + number(row.get("seconds"))
            m.values["again"] = m.values.get("again", 0.0) + number(row.get("retransmits"))
    if omitted:
        remarks.append(f"{omitted} intervals at the start were left out of the test (-O) and are left out here")


def _totals(found: dict[int, Measured], end: dict[str, Any], remarks: list[str], *, udp: bool) -> None:
    """Fills the metrics: those of the receiver where the file has them, else those of the intervals."""
    for m in found.values():
        sent, seconds, again = (m.values.pop(k, math.nan) for k in ("bytes", "seconds", "again"))
        m.values["goodput"] = 8 * sent / seconds if seconds > 0 else math.nan
        m.values["retransmits"] = math.nan if udp else again
        rtts = [v for v in m.series.get("srtt", []) if not math.isnan(v)]
        m.values["srtt"] = rtts[-1] if rtts else math.nan
    ended = {
        _socket(next((s for s in (_table(r, "sender"), _table(r, "receiver"), _table(r, "udp")) if s), {})): r
        for r in _rows(end, "streams")
    }
    jitter = False
    for socket, m in found.items():
        row = ended.get(socket, {})
        sender, receiver, datagrams = (_table(row, k) for k in ("sender", "receiver", "udp"))
        if not row and len(found) == 1:
            sender, receiver = _table(end, "sum_sent"), _table(end, "sum_received")
        goodput = next((g for t in (receiver, datagrams, sender) if not math.isnan(g := number(t.get("bits_per_second")))), math.nan)
        m.values |= {k: v for k, v in (("goodput", goodput),) if not math.isnan(v)}
        if not udp:
            again = number(sender.get("retransmits"))
            m.values |= {} if math.isnan(again) else {"retransmits": again}
            m.values["rtt_mean"] = number(sender.get("mean_rtt")) * _US or math.nan
            continue
        packets, lost = number(datagrams.get("packets")), number(datagrams.get("lost_packets"))
        if packets > 0 and lost >= 0:
            m.values |= {"packets_sent": packets, "packets_lost": lost, "packets_received": packets - lost, "loss": lost / packets}
            m.values["goodput"] *= 1 - lost / packets if datagrams.get("sender") is True else 1
        m.values["reordered"] = number(datagrams.get("out_of_order"))
        jitter = jitter or "jitter_ms" in datagrams
    if jitter:
        remarks.append("the jitter of UDP streams is the smoothed one of RFC 3550 at the end, which has no place in the tables")


def _began(start: dict[str, Any]) -> str | None:
    seconds = number(_table(start, "timestamp").get("timesecs"))
    try:
        return None if math.isnan(seconds) else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):
        return None
