"""Result of a log that has values and time series, but no packets: its tables, with NaN for what the log does not contain."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..base.metrics import jain, metrics, series
from ..errors import InputError
from .event_metrics import Flow
from .imported import ImportedRun

if TYPE_CHECKING:
    import polars as pl

PS = 10**12
MOST_SAMPLES = 5_000_000
"""Most rows of the time series of one file."""
_SHOWN = 4
"""Names that a remark lists."""


@dataclass
class Measured:
    """Values and series that a log has of one flow or of one direction of a link."""

    of: Flow | tuple[str, str, str]
    values: dict[str, float] = field(default_factory=dict)
    """Metrics of the whole measurement."""
    times: list[float] = field(default_factory=list)
    """Times of the samples in seconds, increasing."""
    series: dict[str, list[float]] = field(default_factory=dict)
    """Values at `times` by column, NaN where there is none."""

    @property
    def name(self) -> str:
        return self.of.name if isinstance(self.of, Flow) else self.of[0]


def measured_run(
    flows: Sequence[Measured],
    links: Sequence[Measured] = (),
    *,
    span: float = 0.0,
    step: float = 0.0,
    remarks: Sequence[str] = (),
    began: str | None = None,
    packets: int = 0,
) -> ImportedRun:
    """Returns the contents of a log; `span` and `step` are seconds, by default those of its samples."""
    import polars as pl

    timed = [m for m in (*flows, *links) if m.times]
    span = span or max((m.times[-1] for m in timed), default=0.0)
    gaps = [(m.times[-1] - m.times[0]) / (len(m.times) - 1) for m in timed if len(m.times) > 1]
    step = step or min(gaps, default=span)
    named = [m.of for m in flows if isinstance(m.of, Flow)]
    ends = [m.of for m in links if not isinstance(m.of, Flow)]
    flow_keys = {
        "flow": [f.name for f in named],
        "from": [f.start for f in named],
        "to": [f.end for f in named],
        "transport": [f.transport for f in named],
    }
    link_keys = {key: [link[i] for link in ends] for i, key in enumerate(("link", "from", "to"))}
    _shares(flows)
    tables = {
        "flows": _table("flows", flow_keys, flows),
        "links": _table("links", link_keys, links),
        "network": pl.DataFrame(),
        "flow_series": _series("flow_series", "flow", flows),
        "link_series": _series("link_series", "link", links),
    }
    tables["network"] = _network(tables["flows"], tables["links"])
    whole, each = (max(round(seconds * PS), 1_000_000) for seconds in (span, step))
    return ImportedRun("", named, ends, tables, whole, each, remarks=list(remarks), began=began, packets=packets)


def _shares(flows: Sequence[Measured]) -> None:
    """Sets each flow's share: the paths are unknown, so all count as sharing one bottleneck."""
    known = [g for m in flows if not math.isnan(g := m.values.get("goodput", math.nan))]
    fair = math.fsum(known) / len(known) if known else 0.0
    for m in flows:
        goodput = m.values.get("goodput", math.nan)
        if fair and not math.isnan(goodput):
            m.values |= {"share": goodput / fair, "fair_share": fair}


def _table(kind: str, keys: Mapping[str, Sequence[str]], rows: Sequence[Measured]) -> pl.DataFrame:
    import polars as pl

    columns: dict[str, pl.Series] = {"seed": pl.Series([0] * len(rows), dtype=pl.UInt64)}
    columns |= {key: pl.Series(values, dtype=pl.String) for key, values in keys.items()}
    names = [m.name for m in metrics() if m.table == kind]
    return pl.DataFrame(columns | {n: pl.Series([m.values.get(n, math.nan) for m in rows], dtype=pl.Float64) for n in names})


def _series(kind: str, key: str, rows: Sequence[Measured]) -> pl.DataFrame:
    import polars as pl

    declared = {s.name for s in series() if s.table == kind and s.name != "time"}
    always = [s.name for s in series() if s.table == kind and s.feed == "sampler" and s.name != "time"]
    names = list(dict.fromkeys([*always, *(c for m in rows for c in m.series if c in declared)]))
    frames = [
        pl.DataFrame(
            {
                "seed": pl.Series([0] * len(m.times), dtype=pl.UInt64),
                key: pl.Series([m.name] * len(m.times), dtype=pl.String),
                "time": pl.Series(m.times, dtype=pl.Float64),
                **{c: pl.Series(m.series.get(c) or [math.nan] * len(m.times), dtype=pl.Float64) for c in names},
            }
        )
        for m in rows
        if m.times
    ]
    return pl.concat(frames).sort("time", maintain_order=True) if frames else pl.DataFrame()


_SUMS = {
    "flows": ("goodput", "throughput", "packets_sent", "packets_received", "packets_lost", "retransmits", "timeouts"),
    "links": ("drops", "lost", "marks"),
}


def _network(flows: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    known = flows.filter(flows["goodput"].is_not_nan())
    goodputs = known["goodput"].to_list()
    tcp = known.filter(known["transport"] == "tcp")["goodput"].to_list()
    found: dict[str, float] = {}
    for frame, names in ((flows, _SUMS["flows"]), (links, _SUMS["links"])):
        for name in names:
            values = frame[name].drop_nans().to_list()
            found[name] = math.fsum(values) if values else math.nan
    received, lost = found["packets_received"], found.pop("packets_lost")
    found["lost"] = found["lost"] if math.isnan(lost) else lost
    found["loss"] = lost / (lost + received) if lost + received > 0 else math.nan
    if goodputs:
        found |= {"goodput_tcp": math.fsum(tcp), "goodput_udp": math.fsum(goodputs) - math.fsum(tcp), "jain": jain(goodputs)}
        found["worst_share"] = min(goodputs) * len(goodputs) / found["goodput"] if found["goodput"] else math.nan
    if tcp:
        found["jain_tcp"] = jain(tcp)
    every = [m.name for m in metrics() if m.table == "network"]
    columns = {n: pl.Series([found.get(n, math.nan)], dtype=pl.Float64) for n in every}
    return pl.DataFrame({"seed": pl.Series([0], dtype=pl.UInt64), **columns})


@dataclass
class Held:
    """Values of a log that change at any time; `Grid` samples them."""

    times: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(self, time: float, value: float) -> None:
        self.times.append(time)
        self.values.append(value)


@dataclass(frozen=True)
class Grid:
    """Sampling times: each step ends with a sample."""

    step: float
    count: int

    @classmethod
    def of(cls, span: float, step: int | None, subjects: int = 1) -> Grid:
        """Returns the grid over `span` seconds; `step` is in picoseconds, by default one for about a thousand samples."""
        from .event_metrics import step_of

        whole = max(round(span * PS), 1_000_000)
        chosen = step_of(whole, max(subjects, 1), step)
        count = max(-(-whole // chosen), 1)
        if count * max(subjects, 1) > MOST_SAMPLES:
            raise InputError(f"a step of {chosen / PS:g} s gives more than {MOST_SAMPLES} samples over {span:g} s: choose a longer one")
        return cls(chosen / PS, count)

    def times(self) -> list[float]:
        """Returns the times of the samples."""
        size = round(self.step * PS)
        return [(i + 1) * size / PS for i in range(self.count)]

    def held(self, of: Held) -> list[float]:
        """Returns the last value at or before each sample; NaN before the first."""
        order = sorted(range(len(of.times)), key=of.times.__getitem__)
        times, values = [of.times[i] for i in order], [of.values[i] for i in order]
        at = (bisect.bisect_right(times, t * (1 + 1e-12)) for t in self.times())
        return [values[i - 1] if i else math.nan for i in at]

    def summed(self, of: Held) -> list[float]:
        """Returns the sum of the values in each step."""
        out = [0.0] * self.count
        for t, v in zip(of.times, of.values, strict=True):
            out[min(max(math.ceil(t / self.step - 1e-9) - 1, 0), self.count - 1)] += v
        return out

    def rates(self, of: Held) -> list[float]:
        """Returns bytes per step as bits per second."""
        return [8 * v / self.step for v in self.summed(of)]


def number(value: object) -> float:
    """Returns a finite number; NaN for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        found = float(value)
    except OverflowError:
        return math.nan
    return found if math.isfinite(found) else math.nan


def text(value: object, most: int = 200) -> str:
    """Returns a text without unpaired surrogates, of at most `most` characters."""
    return str(value).encode("utf-8", "replace").decode("utf-8")[:most]


def mean(values: Iterable[float]) -> float:
    """Returns the mean of the values that are not NaN; NaN without any."""
    kept = [v for v in values if not math.isnan(v)]
    return math.fsum(kept) / len(kept) if kept else math.nan


def quantile(values: Iterable[float], q: float) -> float:
    """Returns a quantile of the values that are not NaN; NaN without any."""
    kept = sorted(v for v in values if not math.isnan(v))
    return kept[min(int(q * len(kept)), len(kept) - 1)] if kept else math.nan


def left_out(reasons: Mapping[str, Sequence[str]]) -> list[str]:
    """Returns one remark for each reason why values have no place in the tables.

    >>> left_out({"indices of others": ["a", "b"]})
    ['2 series were left out (indices of others): a, b']
    """
    out = []
    for why, names in reasons.items():
        shown = ", ".join(text(n, 60) for n in names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
        out.append(f"{len(names)} series {'was' if len(names) == 1 else 'were'} left out ({why}): {shown}")
    return out
