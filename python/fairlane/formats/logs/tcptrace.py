"""Import of tcptrace's tables: `tcptrace -l` (long output) and `tcptrace --csv -l` or `--tsv -l`.

Source: tcptrace 6.6.7, output.c (`PrintTrace`) and its manual. Each direction with data is a flow. `throughput` is unique payload over the
time from the first packet to the last, hence goodput; round-trip times are milliseconds, of segments that were sent once.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator
from pathlib import Path

from ..event_metrics import Flow
from ..imported import ImportedRun
from ..inputs import fault, quoted, text_lines
from ..measured import Measured, measured_run, text

MOST_CONNECTIONS = 100_000
_BEGIN = re.compile(r"TCP connection (\d+):\s*$")
_HOST = re.compile(r"\s+host (\w+):\s+(\S+)\s*$")
_ELAPSED = re.compile(r"\s+elapsed time:\s+(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)\s*$")
_PAIR = re.compile(r"\s+([A-Za-z][\w .%()#-]*?):\s+(\S+)(?: \w+)?\s+([A-Za-z][\w .%()#-]*?):\s+(\S+)(?: \w+)?\s*$")
_TABLE = {
    "actual data pkts": ("packets_sent", 1.0),
    "rexmt data pkts": ("retransmits", 1.0),
    "throughput": ("goodput", 8.0),
    "rtt avg": ("rtt_mean", 1e-3),
}
"""Rows that have a place in the table of flows, with the factor to its unit."""


def read(file: Path, folder: Path, step: int | None) -> ImportedRun:
    """Reads the long output of tcptrace, or its table."""
    remarks: list[str] = []
    flows: list[Measured] = []
    span = 0.0
    first = next((line for _, line in text_lines(file) if line.lstrip("#").startswith("conn_#")), None)
    found = _table(file, remarks) if first is not None else _long(file, remarks)
    for ends, elapsed, values in found:
        if len(flows) >= MOST_CONNECTIONS:
            raise fault(file, f"it has more than {MOST_CONNECTIONS} connections")
        span = max(span, elapsed)
        flows += _flows(ends, values)
    if not flows:
        raise fault(file, "none of its connections has data")
    if step is not None:
        remarks.append("it has no time series: tcptrace writes totals (its graphs are other files)")
    return measured_run(_named_once(flows), span=span, remarks=remarks)


Values = dict[str, tuple[float, float]]
"""Values by the name of the row, from a to b and from b to a."""
_Found = Iterator[tuple[tuple[str, str], float, Values]]


def _number(word: str) -> float:
    try:
        found = float(word)
    except ValueError:
        return math.nan
    return found if math.isfinite(found) and abs(found) < 1e18 else math.nan


def _long(file: Path, remarks: list[str]) -> _Found:
    begin, ends, elapsed = 0, list[str](), 0.0
    values: Values = {}
    for number, line in text_lines(file):
        if _BEGIN.match(line):
            if begin:
                yield _ends(file, ends, begin), elapsed, values
            begin, ends, elapsed, values = number, [], 0.0, {}
        elif not begin:
            continue
        elif host := _HOST.match(line):
            ends.append(host[2])
        elif time := _ELAPSED.match(line):
            elapsed = 3600 * _number(time[1] or "0") + 60 * _number(time[2]) + _number(time[3])
        elif pair := _PAIR.match(line):
            if pair[1].lower() != pair[3].lower():
                raise fault(file, f"its two directions differ: {quoted(line.strip())}", number)
            values[pair[1].lower()] = (_number(pair[2]), _number(pair[4]))
    if begin:
        if "rtt avg" not in values and "throughput" not in values:
            remarks.append("the last connection is incomplete")
        yield _ends(file, ends, begin), elapsed, values


def _ends(file: Path, ends: list[str], line: int) -> tuple[str, str]:
    if len(ends) < 2:
        raise fault(file, "this connection has not two hosts", line)
    return ends[0], ends[1]


def _table(file: Path, remarks: list[str]) -> _Found:
    heads: list[str] = []
    lines = [(n, line) for n, line in text_lines(file) if line.strip()]
    for number, line in lines:
        if not heads:
            if line.lstrip("#").startswith("conn_#"):
                cut = "\t" if line.count("\t") > line.count(",") else ","
                heads = [h.strip().lower() for h in line.lstrip("#").split(cut)]
                missing = {"host_a", "host_b", "port_a", "port_b"} - set(heads)
                if missing:
                    raise fault(file, f"it has no column {sorted(missing)[0]}", number)
            continue
        row = next(csv.reader([line], delimiter=cut), [])
        if len(row) < len(heads):
            if number == lines[-1][0]:
                remarks.append(f"the last line ({number}) is incomplete and was skipped")
                return
            raise fault(file, f"this line has {len(row)} columns, not {len(heads)}", number)
        of = dict(zip(heads, (c.strip() for c in row), strict=False))
        names = {h[:-4].replace("_", " ") for h in heads if h.endswith("_a2b")}
        values = {n: tuple(_number(of.get(f"{n.replace(' ', '_')}_{way}", "")) for way in ("a2b", "b2a")) for n in names}
        elapsed = _number(of.get("last_packet", "")) - _number(of.get("first_packet", ""))
        ends = (f"{of['host_a']}:{of['port_a']}", f"{of['host_b']}:{of['port_b']}")
        yield ends, elapsed if 0 <= elapsed < 1e9 else 0.0, {n: (v[0], v[1]) for n, v in values.items()}


def _flows(ends: tuple[str, str], values: Values) -> list[Measured]:
    """Returns a flow for each direction with data."""
    out = []
    for way in (0, 1):
        sent = values.get("actual data pkts", values.get("unique bytes sent", (math.nan, math.nan)))[way]
        if not sent > 0:
            continue
        here, there = (text(ends[i], 100) for i in (way, 1 - way))
        hosts = [e.rpartition(":")[0] or e for e in (here, there)]
        found = {metric: values[row][way] * scale for row, (metric, scale) in _TABLE.items() if row in values}
        out.append(Measured(Flow(f"{here}-{there}", hosts[0], hosts[1], "tcp"), found))
    return out


def _named_once(flows: list[Measured]) -> list[Measured]:
    """Gives the next connection between the same ends a number."""
    counts: dict[str, int] = {}
    for m in flows:
        assert isinstance(m.of, Flow)
        n = counts[m.of.name] = counts.get(m.of.name, 0) + 1
        if n > 1:
            m.of = Flow(f"{m.of.name}#{n}", m.of.start, m.of.end, m.of.transport)
    return flows
