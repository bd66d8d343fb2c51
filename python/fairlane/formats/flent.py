"""Import of flent data files: series over a common time axis.

A file has `x_values` (seconds), `results` (a list for each series, null where there is no value), `raw_values` and `metadata`. What a
series is follows from `SERIES_META`: its unit (UNITS), the program that measured it (RUNNER, COMMAND), and its mean (MEAN_VALUE), which
flent's own reports show. Versions 1 to 4 of the format, flent 0.1 to 2.3: doc/data-format.rst, and flent/resultset.py for what older
versions lack. What netperf and iperf count is payload, so their rates are goodput.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InputError
from .event_metrics import Flow
from .imported import ImportedRun
from .inputs import document_of
from .measured import MOST_SAMPLES, Measured, left_out, mean, measured_run, number, quantile, text

MOST_SERIES = 10_000
VERSION = 4
LONGEST = 1e9
"""Longest measurement in seconds, about thirty years."""
SEGMENT = 1448
"""Default segment size in bytes: Ethernet with TCP timestamps."""
_RATES = {"Mbits/s": 1e6, "Mbit/s": 1e6, "Kbits/s": 1e3, "kbits/s": 1e3, "Kbps": 1e3, "Gbits/s": 1e9, "bits/s": 1.0}
_TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
_COMPUTED = {"AverageRunner", "SmoothAverageRunner", "SumRunner", "DiffMinRunner", "FairnessRunner", "ComputingRunner"}
"""Runners that compute a series from others, whose unit they copy."""
_TRANSFERS = {"NetperfDemoRunner", "IperfCsvRunner"}
_TRIPS = {"PingRunner", "NetperfDemoRunner", "IrttRunner", "UdpRttRunner"}
_INNER = ("tcp_cwnd", "tcp_rtt")
"""Values of the socket of a series, which are called SERIES::VALUE: packets and milliseconds."""
_PAGES = {"HttpGetterRunner"}
"""Runners that measure how long fetching a page takes."""


@dataclass
class _Found:
    """A series of a file: what it is, and what its metadata say."""

    name: str
    kind: str
    """"goodput", "trip" or "page"."""
    scale: float
    about: dict[str, Any]
    children: dict[str, list[float]] = field(default_factory=dict)


def _numbers(values: Any, scale: float = 1.0) -> list[float]:
    """Returns the values, NaN if missing."""
    return [number(v) * scale for v in values] if isinstance(values, list) else []


def read_flent(file: Path, folder: Path, step: int | None) -> ImportedRun:
    """Reads a `.flent` or `.flent.gz` file, which has no events and a fixed time axis."""
    document = document_of(file)
    meta, results = document.get("metadata"), document.get("results")
    times = _numbers(document.get("x_values"))
    if not isinstance(results, dict) or not isinstance(meta, dict) or not times:
        raise InputError(f"cannot import {file}: it is JSON, but not a flent data file (x_values, results, metadata)")
    version = document.get("version", 1)
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= VERSION:
        raise InputError(f"cannot import {file}: it has version {version!r} of the flent format; supported are 1 to {VERSION}")
    if any(math.isnan(t) for t in times) or times != sorted(times):
        raise InputError(f"cannot import {file}: its times are not increasing")
    if not all(abs(t) <= LONGEST for t in times):
        raise InputError(f"cannot import {file}: its times are not in seconds: they reach {times[-1]:g}")
    if len(times) * len(results) > MOST_SAMPLES:
        raise InputError(f"cannot import {file}: it has more than {MOST_SAMPLES} values")
    if len(results) > MOST_SERIES:
        raise InputError(f"cannot import {file}: it has more than {MOST_SERIES} series")
    about = _about(meta)
    raw = _raw_values(document, about)
    series, remarks = _series(results, about, raw, version)
    if not series:
        none = "none of its series is a rate or a round-trip time"
        raise InputError(f"cannot import {file}: {'; '.join([none, *remarks])}"[:600])
    ends = [text(meta.get(k) or default) for k, default in (("LOCAL_HOST", "local"), ("HOST", "remote"))]
    flows = [_measured(s, times, results[s.name], raw.get(s.name, []), version, ends) for s in series]
    if step is not None:
        remarks.append("its samples are unchanged: a flent file has no events to resample")
    began = meta.get("T0") or meta.get("TIME")
    return measured_run(
        flows,
        span=max(times[-1], _seconds(meta.get("TOTAL_LENGTH"))),
        step=_seconds(meta.get("STEP_SIZE")) or (times[-1] - times[0]) / max(len(times) - 1, 1),
        remarks=remarks,
        began=text(began, 40) if began else None,
    )


def _seconds(value: Any) -> float:
    """Returns a plausible time; 0 for others."""
    found = number(value)
    return found if 0 < found <= LONGEST else 0.0


def _about(meta: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Returns the metadata of each series."""
    found = meta.get("SERIES_META")
    return {name: of for name, of in found.items() if isinstance(of, dict)} if isinstance(found, dict) else {}


def _raw_values(document: dict[str, Any], about: dict[str, dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Returns the raw values of each series; version 1 has them in the metadata."""
    found = document.get("raw_values")
    rows = found if isinstance(found, dict) else {name: of["RAW_VALUES"] for name, of in about.items() if "RAW_VALUES" in of}
    return {name: [r for r in of if isinstance(r, dict)] for name, of in rows.items() if isinstance(of, list)}


def _series(
    results: dict[str, Any], about: dict[str, dict[str, Any]], raw: dict[str, list[dict[str, Any]]], version: int
) -> tuple[list[_Found], list[str]]:
    """Returns the series that are flows, and remarks on the others."""
    found: dict[str, _Found] = {}
    reasons: dict[str, list[str]] = {}
    inner: list[tuple[str, str, str]] = []
    unclear = 0
    named = {n for n, of in about.items() if of.get("RUNNER") or of.get("COMMAND")}
    for name in results:
        of = about.get(name, {})
        parent, colons, key = name.rpartition("::")
        if colons and parent in about and (key in _INNER or not of.get("UNITS")) and of.get("RUNNER") in (None, "NullRunner"):
            inner.append((name, parent, key))
            continue
        kind, scale, why = _kind(of, raw.get(name), version)
        if kind and name not in named:
            if name not in raw and raw:
                kind, why = "", "computed"
            unclear += not raw
        if why == "computed":
            index = of.get("RUNNER") == "FairnessRunner"
            reasons.setdefault("a fairness index of others" if index else "", []).append(name)
        elif why:
            reasons.setdefault(why, []).append(text(name))
        if kind:
            found[name] = _Found(name, kind, scale, of)
    for name, parent, key in inner:
        if parent in found and key in _INNER:
            found[parent].children[key] = _numbers(results[name])
            found[parent].about = about.get(name, {}) | found[parent].about
        else:
            runner = about[parent].get("RUNNER") or "a program"
            reasons.setdefault(f"of {text(runner, 40)}: the tables have no place for it", []).append(text(name))
    reasons.pop("", None)
    remarks = left_out(reasons)
    if unclear > 1:
        remarks.append("the file does not say which series are computed from others: all were read as measured")
    return list(found.values()), remarks


def _kind(of: dict[str, Any], raw: list[dict[str, Any]] | None, version: int) -> tuple[str, float, str]:
    """Returns what a series is, the factor to its SI unit, and the reason why it is not a flow."""
    unit, runner, command = of.get("UNITS"), of.get("RUNNER"), str(of.get("COMMAND", ""))
    if runner in _COMPUTED or command.endswith("(computed)"):
        return "", 1.0, "computed"
    shown = f"its unit is {text(unit, 40)!r}" if unit else "no unit"
    if not isinstance(unit, str):
        return "", 1.0, shown
    if unit in _RATES and (runner in _TRANSFERS or not runner):
        # Up to version 3 the samples of iperf are Mbits/s, and only its mean is in bits/s.
        return "goodput", 1e6 if unit == "bits/s" and version < VERSION else _RATES[unit], ""
    if unit in _TIMES and (runner in _TRIPS or not runner):
        # Old files name no runner. Pings have sequence numbers, netperf has durations; only the time of a page has neither.
        page = not runner and version < VERSION and raw and not any("seq" in r or "dur" in r for r in raw[:50])
        return "page" if page else "trip", _TIMES[unit], ""
    if unit in _TIMES and runner in _PAGES:
        return "page", _TIMES[unit], ""
    if runner and (unit in _RATES or unit in _TIMES):
        return "", 1.0, f"of {text(runner, 40)}: the tables have no place for it"
    return "", 1.0, shown + ", neither a rate nor a time"


def _measured(
    of: _Found,
    times: list[float],
    result: Any,
    raw: list[dict[str, Any]],
    version: int,
    ends: list[str],
) -> Measured:
    """Returns the flow of a series."""
    values = (_numbers(result, of.scale) + [math.nan] * len(times))[: len(times)]
    stated = number(of.about.get("MEAN_VALUE"))
    whole = {"bits/s": 1.0}.get(str(of.about.get("UNITS")), of.scale) * stated
    whole = mean(values) if math.isnan(whole) else whole
    flow = Measured(_flow(of, raw, ends), times=times)
    if of.kind == "goodput":
        flow.values["goodput"] = whole
        flow.series["goodput"] = values
    else:
        kept = _raw(raw, of, version) or values
        name = "rtt" if of.kind == "trip" else "transaction_time"
        median = number(of.about.get("RTT_MEDIAN")) * 1e-3
        flow.values[f"{name}_mean"] = whole
        flow.values[f"{name}_p50"] = quantile(kept, 0.5) if math.isnan(median) else median
        flow.values[f"{name}_p99"] = quantile(kept, 0.99)
        if of.kind == "trip":
            flow.series["srtt"] = values
        else:
            flow.values["transactions"] = float(sum(not math.isnan(v) for v in kept))
    again = of.about.get("TCP_RETRANSMIT")
    flow.values["retransmits"] = float(again) if isinstance(again, str) and again.isdecimal() and len(again) < 16 else number(again)
    # tcpi_rtt of the kernel at the end, in microseconds.
    flow.values["srtt"] = number(of.about.get("TCPI_RTT")) * 1e-6
    size = next((s for key in ("TCP_MSS", "MSS") if 0 < (s := number(of.about.get(key))) < 1 << 16), float(SEGMENT))
    for key, column, scale in (("tcp_rtt", "srtt", 1e-3), ("tcp_cwnd", "cwnd", size)):
        if key in of.children:
            flow.series[column] = ([v * scale for v in of.children[key]] + [math.nan] * len(times))[: len(times)]
    return flow


def _raw(rows: list[dict[str, Any]], of: _Found, version: int) -> list[float]:
    """Returns the raw values in seconds. Up to version 3 netperf's are transactions per second, and those of pages are seconds."""
    out = []
    for row in rows:
        value = number(row.get("val"))
        if version < VERSION and of.kind == "page":
            out.append(value)
        elif version < VERSION and "dur" in row:
            out.append(1 / value if value > 0 else math.nan)
        else:
            out.append(value * of.scale)
    return [v for v in out if not math.isnan(v)]


def _flow(
    of: _Found,
    raw: list[dict[str, Any]],
    ends: list[str],
) -> Flow:
    """Returns the flow with its direction and transport."""
    command = str(of.about.get("COMMAND", ""))
    test = re.search(r"-t (TCP|UDP|SCTP)_(\w+)", command)
    back, transport = False, "udp"
    if test:
        transport, back = test[1].lower(), test[2] == "MAERTS"
    elif of.kind != "goodput":
        transport = "tcp" if of.kind == "page" else "icmp" if of.about.get("RUNNER") == "PingRunner" else "udp"
    elif of.about.get("RUNNER") == "IperfCsvRunner":
        transport = "udp" if "--udp" in command else "tcp"
    else:  # versions 1 and 2 do not say
        back, transport = "download" in of.name.lower(), "tcp" if "tcp" in of.name.lower() else "udp"
    start, end = reversed(ends) if back else ends
    return Flow(of.name, start, end, transport)
