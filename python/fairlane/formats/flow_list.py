"""Lists of flows (NetFlow, IPFIX, sFlow exports as CSV) as a scenario: each line is a transfer of bytes between two hosts.

The first line names the columns: when a flow starts (seconds, or an ISO date), its bytes, and its two hosts. The hosts are on the star
topology of the scenario, whose links the list does not know.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..linux.imported import Imported
from .inputs import fault, quoted
from .measured import text as shortened

MOST_FLOWS = 20_000
COLUMNS = {
    "start": ("start", "start_time", "first", "first_seen", "first_switched", "ts", "time", "stime"),
    "bytes": ("bytes", "octets", "size", "ibyt", "in_bytes", "doctets", "bytes_toserver", "sbytes"),
    "from": ("from", "src", "sa", "srcaddr", "src_ip", "srcip", "source", "src_addr", "saddr", "ipv4_src_addr"),
    "to": ("to", "dst", "da", "dstaddr", "dst_ip", "dstip", "destination", "dst_addr", "daddr", "ipv4_dst_addr"),
    "pair": ("pair",),
    "protocol": ("protocol", "proto", "pr", "prot"),
}
"""Names of the columns, in any order, in capitals or not: as nfdump, SiLK, Zeek and Argus have them. `pair` is FROM>TO."""
_TCP = ("tcp", "6", "")


def import_flows(text: str, name: str, rate: str = "100Mbit/s") -> Imported:
    """Returns the scenario of a list of flows; `rate` is that of each host's link, which the list does not know."""
    file, remarks = Path(name), list[str]()
    flows, others = [], 0
    for number, row in _rows(file, text, remarks):
        if row.get("protocol", "").lower() not in _TCP:
            others += 1
            continue
        ends = _ends(row)
        if ends is None:
            raise fault(file, f"this line has no two hosts: {quoted(', '.join(row.values()))}", number)
        start, size = _seconds(row.get("start", "")), _whole(row.get("bytes", ""))
        if math.isnan(start):
            raise fault(file, f"its start {quoted(row.get('start', ''))!r} is neither seconds nor a date", number)
        if size is None:
            raise fault(file, f"its bytes {quoted(row.get('bytes', ''))!r} are no whole number", number)
        if size and ends[0] != ends[1]:
            flows.append((start, size, *ends))
        else:
            others += 1
        if len(flows) > MOST_FLOWS:
            raise fault(file, f"it has more than {MOST_FLOWS} flows", number)
    if not flows:
        raise fault(file, "it has no flow of TCP with bytes between two hosts")
    if others:
        remarks.append(f"{others} lines are not TCP, have no bytes or stay within a host, and were left out")
    remarks.append(f"the list has no links: each host has one of {rate} and 5ms; replace them by yours")
    return Imported(_tree(sorted(flows, key=lambda f: f[0]), rate), remarks)


def _rows(file: Path, text: str, remarks: list[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yields the named cells of each line."""
    heads: list[str] = []
    mark = ","
    lines = [(n, line.removesuffix("\r")) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    for number, line in lines:
        if not heads:
            mark = next((m for m in ",\t;|" if m in line), ",")
            heads = [_meaning(cell) for cell in _cells(line.lstrip("#"), mark)]
            missing = {"start", "bytes"} - set(heads)
            if not ({"from", "to"} <= set(heads) or "pair" in heads):
                missing.add("from and to, or pair")
            if missing:
                raise fault(file, f"its first line names no column {sorted(missing)[0]}: write start,bytes,from,to", number)
            continue
        cells = _cells(line, mark)
        if len(cells) < len(heads):
            if number == lines[-1][0]:
                remarks.append(f"the last line ({number}) is incomplete and was skipped")
                return
            raise fault(file, f"this line has {len(cells)} columns, the first line {len(heads)}", number)
        yield number, {h: c for h, c in zip(heads, cells, strict=False) if h}


def _cells(line: str, mark: str) -> list[str]:
    try:
        return [c.strip().lstrip("\ufeff") for c in next(csv.reader([line], delimiter=mark), [])]
    except csv.Error:
        return []


def _meaning(cell: str) -> str:
    """Returns what a column is; "" if it is not needed."""
    name = cell.strip().strip('"').lower().replace(" ", "_")
    return next((meaning for meaning, names in COLUMNS.items() if name in names), "")


def _ends(row: dict[str, str]) -> tuple[str, str] | None:
    if "pair" in row:
        found = next((row["pair"].split(m) for m in (">", " - ", "-") if row["pair"].count(m) == 1), [])
        hosts = [h.strip() for h in found]
    else:
        hosts = [row.get("from", ""), row.get("to", "")]
    return (shortened(hosts[0], 80), shortened(hosts[1], 80)) if len(hosts) == 2 and all(hosts) else None


def _seconds(cell: str) -> float:
    """Returns a time in seconds; NaN if it is none."""
    try:
        found = float(cell)
    except ValueError:
        try:
            at = datetime.fromisoformat(cell)
            found = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError, OSError):
            return math.nan
    return found if 0 <= found < 1e12 else math.nan


def _whole(cell: str) -> int | None:
    return int(cell) if cell.isascii() and cell.isdigit() and len(cell) < 16 else None


def _tree(flows: list[tuple[float, int, str, str]], rate: str) -> dict[str, Any]:
    begin, last = flows[0][0], flows[-1][0]
    hosts = sorted({h for f in flows for h in f[2:]})
    return {
        "duration": f"{math.ceil(last - begin) + 10}s",
        "links": {h: {"from": h, "to": "network", "rate": rate, "delay": "5ms"} for h in hosts},
        "flows": {
            f"f{i}": {"from": a, "to": b, "start": f"{round((start - begin) * 1e6)}us", "tcp": {}, "source": {"file": {"size": f"{size}B"}}}
            for i, (start, size, a, b) in enumerate(flows)
        },
    }
