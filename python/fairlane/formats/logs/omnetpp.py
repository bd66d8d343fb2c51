"""Import of OMNeT++ result files: vectors (`.vec`) and scalars (`.sca`) of INET's modules.

Source: OMNeT++ Simulation Manual 6.0, appendix "Result File Formats" (versions 2 and 3), and the statistics that INET 4.5 declares. A
result is known by the name of its statistic before ":" and by its unit; a module with values of a connection or an application is a flow,
one with values of a queue is a link. Times are seconds. Results with other names have no place in the tables and are listed.
"""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from ..event_metrics import Flow
from ..imported import ImportedRun
from ..inputs import fault, quoted, text_lines
from ..measured import Grid, Held, Measured, left_out, mean, measured_run, quantile, text

MOST_SUBJECTS = 10_000
_UNITS = {"bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "s": 1.0, "ms": 1e-3, "us": 1e-6, "B": 1.0, "b": 1 / 8, "pk": 1.0, "": 1.0}
_RATE, _TIME, _BYTES, _PACKETS = ("bps", "kbps", "Mbps", "Gbps"), ("s", "ms", "us"), ("B", "b"), ("pk", "")
_FLOW_SERIES = {
    "throughput": ("goodput", _RATE), "cwnd": ("cwnd", _BYTES), "ssthresh": ("ssthresh", _BYTES), "unacked": ("in_flight", _BYTES),
    "srtt": ("srtt", _TIME), "smoothed RTT": ("srtt", _TIME),
}  # fmt: skip
"""Vectors that are time series, with their units."""
_LINK_SERIES = {"queueLength": ("queue", _PACKETS), "queueBitLength": ("queue_bytes", _BYTES), "queueByteLength": ("queue_bytes", _BYTES)}
_SAMPLES = {"endToEndDelay": "delay", "rtt": "rtt", "measured RTT": "rtt", "queueingTime": "sojourn"}
"""Vectors with a value for each packet, in seconds, with the metric that they are samples of."""
_SCALARS = {
    "throughput:mean": "goodput", "throughput:timeavg": "goodput", "endToEndDelay:mean": "delay_mean", "endToEndDelay:max": "delay_max",
    "endToEndDelay:stddev": "delay_std", "rtt:mean": "rtt_mean", "srtt:last": "srtt", "packetReceived:count": "packets_received",
    "packetSent:count": "packets_sent", "queueingTime:mean": "sojourn_mean", "queueingTime:max": "sojourn_max",
    "queueingTime:stddev": "sojourn_std", "queueLength:timeavg": "queue_mean", "queueLength:max": "queue_max",
    "droppedPacketsQueueOverflow:count": "drops", "incomingPackets:count": "arrivals", "outgoingPackets:count": "departures",
}  # fmt: skip
_OF_LINKS = ("sojourn", "queue", "drops", "arrivals", "departures")
_PARTS = {
    "delay": ("mean", "std", "p50", "p95", "p99", "max"),
    "rtt": ("mean", "p50", "p99"),
    "sojourn": ("mean", "std", "p50", "p95", "p99", "max"),
}


@dataclass
class _Vector:
    module: str
    name: str
    columns: str
    unit: str = ""
    data: Held = field(default_factory=Held)


@dataclass
class _File:
    vectors: dict[str, _Vector] = field(default_factory=dict)
    scalars: list[tuple[str, str, float, str]] = field(default_factory=list)
    """Module, name, value and unit."""
    title: str = ""
    cut: bool = False


def read(file: Path, folder: Path, step: int | None) -> ImportedRun:
    """Reads a `.vec` or `.sca` file."""
    found = _parsed(file)
    remarks = ["the last line is incomplete and was skipped"] if found.cut else []
    with_data = [v for v in found.vectors.values() if v.data.times]
    span = max((v.data.times[-1] for v in with_data), default=0.0)
    subjects: dict[tuple[str, bool], Measured] = {}
    others: list[str] = []
    grid = Grid.of(span, step, max(len({v.module for v in with_data}), 1))

    def subject(module: str, link: bool) -> Measured:
        if (module, link) not in subjects:
            if len(subjects) >= MOST_SUBJECTS:
                raise fault(file, f"it has more than {MOST_SUBJECTS} modules with results")
            node = ".".join(module.split(".")[:2])
            of = (module, node, "?") if link else Flow(module, node, "?", "tcp" if "tcp" in module.lower() else "udp")
            subjects[(module, link)] = Measured(of, times=grid.times() if with_data else [])
        return subjects[(module, link)]

    for v in with_data:
        if not _vector(v, subject, grid, span):
            others.append(f"{v.module} {v.name}")
    for module, name, value, unit in found.scalars:
        metric = _SCALARS.get(name)
        if metric is None or unit not in _UNITS:
            others.append(f"{module} {name}")
            continue
        subject(module, metric.startswith(_OF_LINKS)).values.setdefault(metric, value * _UNITS[unit])
    if not subjects:
        known = sorted({*_FLOW_SERIES, *_LINK_SERIES, *_SAMPLES, *(n.partition(":")[0] for n in _SCALARS)})
        raise fault(file, f"none of its results has a place in the tables; known are {', '.join(known)}")
    remarks += left_out({"the tables have no place for them": sorted(set(others))} if others else {})
    flows, links = ([m for (_, link), m in subjects.items() if link is wanted] for wanted in (False, True))
    return measured_run(flows, links, span=span, step=grid.step, remarks=remarks)


def _vector(v: _Vector, subject: object, grid: Grid, span: float) -> bool:
    """Puts a vector in its place; false if it has none."""
    assert callable(subject)
    base = v.name.partition(":")[0]
    scale = _UNITS.get(v.unit)
    if scale is None:
        return False
    held = Held(v.data.times, [x * scale for x in v.data.values])
    for table, link in ((_FLOW_SERIES, False), (_LINK_SERIES, True)):
        if base not in table:
            continue
        column, units = table[base]
        if v.unit not in units and v.unit:
            return False
        m: Measured = subject(v.module, link)
        m.series[column] = grid.held(held)
        if column == "goodput":
            m.values.setdefault("goodput", mean(held.values))
        elif column == "srtt":
            m.values.setdefault("srtt", held.values[-1])
        elif column in ("queue", "queue_bytes"):
            m.values |= {f"{column}_mean": _over_time(held, span), f"{column}_max": max(held.values)}
        return True
    metric = _SAMPLES.get(base)
    if metric is None or (v.unit not in _TIME and v.unit):
        return False
    m = subject(v.module, metric == "sojourn")
    m.values |= {f"{metric}_{part}": _statistic(part, held.values) for part in _PARTS[metric]}
    return True


def _over_time(of: Held, span: float) -> float:
    """Returns the mean over time of a value that holds until the next one."""
    ends = [*of.times[1:], span]
    whole = span - of.times[0]
    return math.fsum(v * (b - a) for v, a, b in zip(of.values, of.times, ends, strict=True)) / whole if whole > 0 else of.values[-1]


def _statistic(part: str, values: list[float]) -> float:
    average = mean(values)
    if part == "mean":
        return average
    if part == "std":
        return math.sqrt(max(mean((v - average) ** 2 for v in values), 0.0))
    return max(values) if part == "max" else quantile(values, int(part[1:]) / 100)


def _parsed(file: Path) -> _File:
    """Reads the lines."""
    out = _File()
    latest: _Vector | None = None
    about: list[str] = []
    bad: tuple[int, str] | None = None
    for number, line in text_lines(file):
        if bad is not None:
            raise fault(file, f"this is no line of a result file: {quoted(bad[1])}", bad[0])
        if not line.strip() or line.startswith("#"):
            continue
        if line[0].isdigit():
            if not _data(out, line):
                bad = (number, line)
            continue
        words = _words(line)
        match words:
            case ["vector", id, module, name, *rest]:
                latest = out.vectors[id] = _Vector(text(module, 120), text(name, 80), rest[0] if rest else "TV")
                about = []
            case ["scalar", module, name, value]:
                latest, amount = None, _value(value)
                out.scalars.append((text(module, 120), text(name, 80), amount, ""))
            case ["statistic", module, name]:
                latest, about = None, [text(module, 120), text(name, 80).partition(":")[0]]
            case ["field", what, value] if about:
                out.scalars.append((about[0], f"{about[1]}:{what}", _value(value), ""))
            case ["attr", "unit", unit]:
                if latest is not None:
                    latest.unit = unit
                elif out.scalars:
                    out.scalars[-1] = (*out.scalars[-1][:3], unit)
            case ["version" | "run" | "attr" | "itervar" | "config" | "param" | "bin" | "par" | "file" | "field" | "bins", *_]:
                pass
            case _:
                bad = (number, line)
    out.cut = bad is not None
    out.scalars = [s for s in out.scalars if math.isfinite(s[2])]
    return out


def _words(line: str) -> list[str]:
    if '"' not in line and "'" not in line and "\\" not in line:
        return line.split()
    try:
        return shlex.split(line)
    except ValueError:
        return []


def _value(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return math.nan


def _data(out: _File, line: str) -> bool:
    """Takes a line of data: the vector, then the columns that it declared (E event, T time, V value); false if it is none."""
    words = line.split()
    v = out.vectors.get(words[0])
    if v is None or len(words) != 1 + len(v.columns):
        return False
    of = dict(zip(v.columns, words[1:], strict=True))
    time, value = _value(of.get("T", "")), _value(of.get("V", ""))
    if not 0 <= time < 1e9 or (v.data.times and time < v.data.times[-1]):
        return False
    if math.isfinite(value):
        v.data.add(time, value)
    return True
