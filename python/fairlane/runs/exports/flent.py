"""Files of flent: what one run measured, at its sampling times."""

from __future__ import annotations

import gzip
import json
import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..result import Result

VERSION = 4
"""Version of flent's data files."""


def _segments(result: Result) -> dict[str, float]:
    """Returns the known segment sizes of TCP flows in bytes."""
    from ... import _core

    found: dict[str, float] = {}
    groups = result.scenario.get("flows", {})
    for flow in result.scenario.get("expanded", {}).get("flows", []):
        tcp = groups.get(flow.get("group"), {}).get("tcp")
        mss = tcp.get("mss") if isinstance(tcp, dict) else None
        if isinstance(mss, str) and _core.quantity_kind(mss) == "len":
            found[flow["name"]] = _core.quantity("len", mss)[0]
    return found


def flent_bytes(result: Result, seed: int) -> bytes:
    """Returns the `.flent.gz` file of a run: goodput in Mbits/s, smoothed RTT in ms, windows in packets, at its sampling times."""
    import polars as pl

    rows = result.flow_series.filter(pl.col("seed") == seed)
    times = rows["time"].unique(maintain_order=True).sort()
    origin = datetime(1970, 1, 1, tzinfo=UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    results: dict[str, list[float | None]] = {}
    raw: dict[str, list[dict[str, float]]] = {}
    about: dict[str, dict[str, Any]] = {}
    segments = _segments(result)
    transports = dict(result.flows.select("flow", "transport").iter_rows())
    for (flow,), of in rows.group_by("flow", maintain_order=True):
        name = f"{transports.get(str(flow), 'tcp').upper()} {flow}"
        size = segments.get(str(flow))
        written = [(name, "goodput", 1e-6, "Mbits/s"), (f"{name}::tcp_rtt", "srtt", 1e3, "ms")]
        # In segments, as in ss(8) and flent's plots.
        written += [(f"{name}::tcp_cwnd", "cwnd", 1 / size, "packets")] if size else []
        for key, column, scale, unit in written:
            values = [v * scale if math.isfinite(v) else None for v in of[column].to_list()]
            if column == "goodput" or any(v is not None for v in values):
                results[key] = values
                raw[key] = [{"t": t, "val": v} for t, v in zip(of["time"].to_list(), values, strict=True) if v is not None]
                about[key] = {"UNITS": unit, **({"MSS": size} if column == "cwnd" else {})}
    name = str(result.description.get("name") or "run")
    document = {
        "version": VERSION,
        "metadata": {
            "NAME": "fairlane",
            "TITLE": f"{name}, seed {seed}",
            "HOST": "receivers",
            "LOCAL_HOST": "senders",
            "HOSTS": [],
            "TIME": origin,
            "T0": origin,
            "LENGTH": times[-1] if times.len() else 0.0,
            "TOTAL_LENGTH": times[-1] if times.len() else 0.0,
            "STEP_SIZE": (times[-1] - times[0]) / max(times.len() - 1, 1) if times.len() else 0.0,
            "DATA_FILENAME": "fairlane.flent.gz",
            "FLENT_VERSION": None,
            "NOTE": None,
            "IP_VERSION": 4,
            "TEST_PARAMETERS": {},
            "SERIES_META": about,
        },
        "x_values": times.to_list(),
        "results": results,
        "raw_values": raw,
    }
    return gzip.compress(json.dumps(document, allow_nan=False).encode(), mtime=0)
