"""Import and export of flent data files: series over a common time axis.

A file has `x_values` (seconds), `results` (a list for each series, null where there is no value), `raw_values` and `metadata`, whose
`SERIES_META` tells the
units; format version 4 of flent 2. What netperf counts is payload, so its rates are goodput here.
"""

from __future__ import annotations

import json
import math
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.files import read_input
from ..base.metrics import jain, metrics, series
from ..errors import InputError
from .event_metrics import Flow
from .imported import ImportedRun

if TYPE_CHECKING:
    import polars as pl


LARGEST = 256 << 20
"""Most bytes of a decompressed file."""
MOST = 5_000_000
"""Most values of all series."""
MOST_SERIES = 10_000
VERSION = 4
LONGEST = 1e9
"""Longest measurement in seconds, about thirty years."""
SEGMENT = 1448
"""Default segment size in bytes: Ethernet with TCP timestamps."""
_TOGETHER = (" sum", " avg", " totals")
"""Suffixes of aggregated series, which are skipped."""
_RATES = {"Mbits/s": 1e6, "kbits/s": 1e3, "Gbits/s": 1e9, "bits/s": 1.0}


def _document(file: Path) -> dict[str, Any]:
    data = read_input(file, LARGEST)
    try:
        if data[:2] == b"\x1f\x8b":
            unpack = zlib.decompressobj(wbits=31)
            data = unpack.decompress(data, LARGEST)
            if unpack.unconsumed_tail:
                raise InputError(f"cannot import {file}: its decompressed size exceeds {LARGEST >> 20} MiB")
            if not unpack.eof:
                raise InputError(f"cannot import {file}: its compressed data is truncated")
        document = json.loads(data)
    except RecursionError:
        raise InputError(f"cannot import {file}: its JSON is nested too deeply") from None
    except (zlib.error, ValueError) as e:
        raise InputError(f"cannot import {file}: it is damaged ({str(e)[:100]})") from None
    if not isinstance(document, dict):
        raise InputError(f"cannot import {file}: it is JSON, but not a flent file")
    return document


def _numbers(values: Any, scale: float = 1.0) -> list[float]:
    """Returns the values, NaN if missing."""
    if not isinstance(values, list):
        return []
    return [math.nan if (x := _number(v)) is None else x * scale for v in values]


def read_flent(file: Path, folder: Path, step: int | None) -> ImportedRun:
    """Reads a `.flent` or `.flent.gz` file, which has no events and a fixed time axis."""
    import polars as pl

    document = _document(file)
    version, meta = document.get("version"), document.get("metadata")
    times, results = _numbers(document.get("x_values")), document.get("results")
    if not isinstance(results, dict) or not isinstance(meta, dict) or not times:
        raise InputError(f"cannot import {file}: it is JSON, but not a flent data file (x_values, results, metadata)")
    if not isinstance(version, int) or version > VERSION or version < 2:
        raise InputError(f"cannot import {file}: it has version {version!r} of the flent format; supported are 2 to {VERSION}")
    if any(math.isnan(t) for t in times) or times != sorted(times):
        raise InputError(f"cannot import {file}: its times are not increasing")
    if not all(abs(t) <= LONGEST for t in times):
        raise InputError(f"cannot import {file}: its times are not in seconds: they reach {times[-1]:g}")
    results = {_text(name): values for name, values in results.items()}
    if len(times) * len(results) > MOST:
        raise InputError(f"cannot import {file}: it has more than {MOST} values")
    if len(results) > MOST_SERIES:
        raise InputError(f"cannot import {file}: it has more than {MOST_SERIES} series")
    remarks: list[str] = []
    flows: list[Flow] = []
    named: set[str] = set()
    measured: dict[str, dict[str, list[float]]] = {}
    about = meta.get("SERIES_META")
    about = about if isinstance(about, dict) else {}
    here, there = (_text(meta.get(k) or default)[:200] for k, default in (("LOCAL_HOST", "local"), ("HOST", "remote")))
    for name, values in results.items():
        of = about.get(name)
        unit = str(of.get("UNITS", "")) if isinstance(of, dict) else ""
        if name.endswith(_TOGETHER) or not isinstance(values, list):
            continue
        parent, colons, inner = name.rpartition("::")
        if colons and inner == "tcp_rtt" and parent in results:
            measured.setdefault(parent, {})["srtt"] = _numbers(values, 1e-3)
        elif colons and inner == "tcp_cwnd" and parent in results:
            size = of.get("MSS") if isinstance(of, dict) else None
            if not isinstance(size, int | float) or not 0 < size < 1 << 16:
                size = SEGMENT
                remarks.append(f"the window of {parent!r} is in packets: {SEGMENT} bytes per packet assumed"[:300])
            measured.setdefault(parent, {})["cwnd"] = _numbers(values, float(size))
        elif unit in _RATES or (not unit and "load" in name and not name.rpartition("::")[2].startswith("tcp_")):
            measured.setdefault(name, {})["goodput"] = _numbers(values, _RATES.get(unit, 1e6))
        elif unit == "ms" and not inner.startswith("tcp_"):
            measured.setdefault(name, {})["srtt"] = _numbers(values, 1e-3)
        else:
            what = f"its unit {unit!r}" if unit else "it has no unit and"
            remarks.append(f"the series {name!r} was skipped: {what} is not a rate or a round-trip time"[:300])
            continue
        if name in measured and name not in named:
            named.add(name)
            ends = (there, here) if "download" in name.lower() else (here, there)
            flows.append(Flow(name, *ends, "tcp" if "tcp" in name.lower() else "udp"))
    if not flows:
        raise InputError(f"cannot import {file}: none of its series is a rate or a round-trip time")
    for found in measured.values():
        for column, values in found.items():
            found[column] = (values + [math.nan] * len(times))[: len(times)]
    columns = [s.name for s in series() if s.table == "flow_series" and s.feed == "sampler" and s.name != "time"]
    empty = [math.nan] * len(times)
    frames = [
        pl.DataFrame(
            {"seed": pl.Series([0] * len(times), dtype=pl.UInt64), "flow": [f.name] * len(times), "time": times}
            | {c: pl.Series(measured[f.name].get(c, empty), dtype=pl.Float64) for c in columns}
        )
        for f in flows
    ]
    span = round(max(times[-1], _seconds(meta.get("TOTAL_LENGTH"))) * 1e12)
    size = _seconds(meta.get("STEP_SIZE")) or (times[-1] - times[0]) / max(len(times) - 1, 1)
    tables = {
        "flows": _flows(flows, measured, document),
        "links": _empty("links", ("link", "from", "to")),
        "network": pl.DataFrame(),
        "flow_series": pl.concat(frames).sort("time", maintain_order=True),
        "link_series": pl.DataFrame(),
    }
    tables["network"] = _network(tables["flows"])
    began = meta.get("T0") or meta.get("TIME")
    if step is not None:
        remarks.append("its samples are unchanged: a flent file has no events to resample")
    return ImportedRun(
        "",
        flows,
        [],
        tables,
        max(span, 1_000_000),
        max(round(size * 1e12), 1_000_000),
        remarks=remarks,
        began=_text(began)[:40] if began else None,
    )


def _number(value: Any) -> float | None:
    """Converts a value to a finite number; None if it is not one."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _seconds(value: Any) -> float:
    """Converts a value to a plausible time; 0 for others."""
    number = _number(value)
    return number if number is not None and 0 < number <= LONGEST else 0.0


def _text(value: Any) -> str:
    """Converts a value to text without unpaired surrogates."""
    return str(value).encode("utf-8", "replace").decode("utf-8")


def _mean(values: list[float]) -> float:
    kept = [v for v in values if not math.isnan(v)]
    return math.fsum(kept) / len(kept) if kept else math.nan


def _quantile(values: list[float], q: float) -> float:
    kept = sorted(v for v in values if not math.isnan(v))
    return kept[min(int(q * len(kept)), len(kept) - 1)] if kept else math.nan


def _raw(document: dict[str, Any], name: str) -> list[float]:
    """Returns the raw values of a series in seconds, which the tool reported in milliseconds."""
    raw = document.get("raw_values")
    rows = raw.get(name) if isinstance(raw, dict) else None
    values = [_number(r.get("val")) for r in rows if isinstance(r, dict)] if isinstance(rows, list) else []
    return [v / 1e3 for v in values if v is not None]


def _flows(flows: list[Flow], measured: dict[str, dict[str, list[float]]], document: dict[str, Any]) -> pl.DataFrame:
    import polars as pl

    names = [m.name for m in metrics() if m.table == "flows"]
    goodputs = [_mean(measured[f.name].get("goodput", [])) for f in flows]
    known = [g for g in goodputs if not math.isnan(g)]
    rows = []
    for f, goodput in zip(flows, goodputs, strict=True):
        ping = "goodput" not in measured[f.name]
        trips = (_raw(document, f.name) if ping else []) or measured[f.name].get("srtt", [])
        found = {
            "goodput": goodput,
            "share": goodput / (sum(known) / len(known)) if known and sum(known) else math.nan,
            "rtt_mean": _mean(trips),
            "rtt_p50": _quantile(trips, 0.5),
            "rtt_p99": _quantile(trips, 0.99),
        }
        rows.append(
            {"seed": 0, "flow": f.name, "from": f.start, "to": f.end, "transport": f.transport} | {n: found.get(n, math.nan) for n in names}
        )
    kinds = {"seed": pl.UInt64, **dict.fromkeys(("flow", "from", "to", "transport"), pl.String), **dict.fromkeys(names, pl.Float64)}
    return pl.DataFrame(rows, schema=kinds)


def _empty(table: str, keys: tuple[str, ...]) -> pl.DataFrame:
    import polars as pl

    names = [m.name for m in metrics() if m.table == table]
    return pl.DataFrame(schema={"seed": pl.UInt64, **dict.fromkeys(keys, pl.String), **dict.fromkeys(names, pl.Float64)})


def _network(flows: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    known = flows.filter(flows["goodput"].is_not_nan())
    goodputs, tcp = known["goodput"].to_list(), known.filter(known["transport"] == "tcp")["goodput"].to_list()
    found = {
        "goodput": math.fsum(goodputs),
        "goodput_tcp": math.fsum(tcp),
        "goodput_udp": math.fsum(goodputs) - math.fsum(tcp),
        "jain": jain(goodputs) if goodputs else math.nan,
        "jain_tcp": jain(tcp) if tcp else math.nan,
    }
    names = [m.name for m in metrics() if m.table == "network"]
    return pl.DataFrame(
        {"seed": pl.Series([0], dtype=pl.UInt64), **{n: pl.Series([found.get(n, math.nan)], dtype=pl.Float64) for n in names}}
    )
