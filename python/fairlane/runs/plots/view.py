"""`View`: the flows, links, runs, span and events of a result that a plot shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ...base.format import seconds as as_seconds
from ...errors import FairlaneError, suggest
from ...stats import ANY, Range
from ..curves import MAX_RATES
from ..groups import flows_of, members
from ..tables import series, series_names, series_tables
from . import SAMPLE, Kind

if TYPE_CHECKING:
    from ..data import ResultData

MOST_CURVES = 12
"""Most flows with their own curves by default; above that, curves show groups."""


@dataclass(frozen=True)
class Selection:
    """Selection of flows, links, runs and span for a plot."""

    kind: Kind
    flow: tuple[str, ...] | None = None
    link: tuple[str, ...] | None = None
    seed: int | str | None = None
    theory: tuple[str, ...] = ()
    time: tuple[float | None, float | None] = (None, None)


@dataclass
class View:
    """Result, or a part of it, in one panel."""

    result: ResultData
    label: str
    wish: Selection
    many: bool = False
    """True if the panel has several results."""
    only: str = ""
    """Flow or link with its own panel."""

    def of(self, name: str) -> View:
        """Returns a view of a single flow or link."""
        return replace(self, only=name)

    @property
    def seeds(self) -> list[int]:
        """Seeds of the selected runs."""
        known = self.result.seeds
        wanted = self.wish.seed
        if wanted == "all":
            return known
        if wanted is not None and wanted not in known:
            raise suggest(str(wanted), [*map(str, known), "all"], "seed")
        return [known[0] if wanted is None else int(wanted)]

    @property
    def runs(self) -> str:
        """Description of the runs for a title."""
        many = len(self.result.seeds)
        if many < 2:
            return ""
        if self.wish.kind.pooled and self.wish.seed in (None, "all"):
            return f"{many} runs"
        return f"mean of {many} runs, 95 % interval" if self.wish.seed == "all" else f"seed {self.seeds[0]} of {many}"

    @property
    def time(self) -> tuple[float | None, float | None]:
        """Drawn time span."""
        return self.wish.time

    @cached_property
    def measured(self) -> tuple[float, float]:
        """Measured time span: from the end of the warm-up, or as selected."""
        tree = self.result.description
        start, end = self.wish.time
        return (
            as_seconds(tree.get("warmup") or "0s") if start is None else start,
            as_seconds(tree["duration"]) if end is None else end,
        )

    def called(self, name: str, curves: int = 2) -> str:
        """Returns the name of a curve; `curves`: number of curves of this result."""
        if not self.many:
            return name
        return self.label if curves == 1 else f"{self.label}: {name}"

    # --- selection ----------------------------------------------------------------------------------------

    def flows(self, having: str = "", table: str = "flow_series") -> list[str]:
        """Returns the selected flows, else those with the quantity (UDP flows have no window)."""
        if self.wish.flow is not None:
            return flows_of(self.result, self.wish.flow)
        if not having:
            return [f for own in members(self.result).values() for f in own]
        if having not in series_names(self.result, table):
            return []
        frame = series(self.result, table, having)
        value = pl.col(having).cast(pl.Float64)
        some = set(frame.filter(value.is_finite() & (value != 0))["flow"].unique().to_list())
        return [f for own in members(self.result).values() for f in own if f in some]

    def curves(self, having: str = "", table: str = "flow_series", how: str = "mean", most: int = MOST_CURVES) -> dict[str, list[str]]:
        """Returns the names of curves with their flows: each flow, or above `most` each group."""
        flows = self.flows(having, table)
        if len(flows) <= most or self.wish.flow is not None:
            return {f: [f] for f in flows}
        wanted = set(flows)
        kept = {g: [f for f in own if f in wanted] for g, own in members(self.result).items()}
        aggregate = f"{how} of " if how else ""
        return {g if len(own) == 1 else f"{g} ({aggregate}{len(own)} flows)": own for g, own in kept.items() if own}

    def links(self, what: str = "queue") -> list[str]:
        """Returns the selected links, else the one with the longest queue."""
        known = series_names(self.result, "link_series")
        frame = series(self.result, "link_series", what) if what in known else self.result.links
        present = frame["link"].unique(maintain_order=True).to_list()
        if self.wish.link is not None:
            for name in self.wish.link:
                if name not in present:
                    raise suggest(name, present, "link")
            return list(dict.fromkeys(self.wish.link))
        column = what if what in frame.columns else "queue_mean"
        top = frame.group_by("link", maintain_order=True).agg(pl.col(column).cast(pl.Float64).fill_nan(0).mean().fill_null(0))
        return [] if top.is_empty() else [top.sort(column, descending=True, maintain_order=True)["link"][0]]

    # --- data ---------------------------------------------------------------------------------------------

    def check_samples(self) -> None:
        """Raises an error if the plot needs time series and the result has none."""
        if self.wish.kind.sample and not any(series_names(self.result, name) for name in series_tables(self.result)):
            raise FairlaneError(f"{self.wish.kind.name} needs time series, which {self._whose} does not have: set {SAMPLE}")

    def series(self, table: str, *wanted: str) -> pl.DataFrame:
        """Returns time series of the selected runs and span, as far as they exist; an error if the result has none."""
        known = series_names(self.result, table)
        if not known:
            raise FairlaneError(f"{self.wish.kind.name} needs time series, which {self._whose} does not have: set {SAMPLE}")
        frame = series(self.result, table, *(name for name in wanted if name in known))
        frame = frame.filter(pl.col("seed").is_in(self.seeds))
        start, end = self.wish.time
        if start is not None:
            frame = frame.filter(pl.col("time") >= start)
        if end is not None:
            frame = frame.filter(pl.col("time") <= end)
        if frame.is_empty():
            raise FairlaneError(f"{self._whose} has no samples in the selected span")
        return frame

    def matrix(self, what: str, flows: Sequence[str], seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns instants and the values of a quantity: a column per flow, NaN without a value."""
        frame = self.series("flow_series", what).filter((pl.col("seed") == seed) & pl.col("flow").is_in(list(flows)))
        wide = frame.select("time", "flow", pl.col(what).cast(pl.Float64)).pivot(on="flow", index="time", values=what).sort("time")
        missing = [pl.lit(None, pl.Float64).alias(f) for f in flows if f not in wide.columns]
        return wide["time"].to_numpy(), wide.with_columns(missing).select(flows).to_numpy().astype(float).reshape(wide.height, len(flows))

    def rates(self, what: str, flows: Sequence[str], seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns instants and values of a rate, without the sample at time 0, which covers no time."""
        times, values = self.matrix(what, flows, seed)
        return times[times > 0], values[times > 0]

    def recorded(self) -> bool:
        """True if the result has an event trace in Parquet."""
        return self.result.trace_folder is not None and any(self.result.trace_folder.glob("seed=*/*.parquet"))

    def events(self, events: str, columns: str, *, flows: Iterable[str] | None = None, links: Iterable[str] | None = None) -> pl.DataFrame:
        """Returns events of the selected runs in the order of time; an error without an event trace."""
        if not self.recorded():
            raise FairlaneError(f"{self.wish.kind.name} needs recorded events, which {self._whose} does not have: {self.how(events)}")
        wanted = pl.col("event").is_in(events.split(",")) & pl.col("seed").is_in(self.seeds)
        if flows is not None:
            wanted &= pl.col("flow").is_in(list(flows))
        if links is not None:
            wanted &= pl.col("link").is_in(list(links))
        names = list(dict.fromkeys(["seed", "time", "event", *columns.split()]))
        frame = self.result.trace()
        known = frame.collect_schema().names()
        lacking = [pl.lit(None).alias(n) for n in names if n not in known]
        return frame.filter(wanted).with_columns(lacking).select(names).collect()

    def how(self, events: str, where: str = "") -> str:
        """Returns the option that records the events."""
        filtered = f"event={events}{f' {where}' if where else ''}"
        return f"fairlane run FILE --trace '{filtered}', or run(trace=\"{filtered}\")"

    @property
    def _whose(self) -> str:
        return f"{self.label!r}" if self.many and self.label else "this result"


def blocks(times: np.ndarray, values: np.ndarray, most: int = MAX_RATES) -> tuple[np.ndarray, np.ndarray, float]:
    """Returns means over blocks of steps, at most `most`, and the length of a block; single steps of a rate draw a solid band."""
    k = max(1, -(-len(times) // most))
    step = float(times[1] - times[0]) if len(times) > 1 else 0.0
    n = len(times) // k * k
    if k == 1:
        return times, values, step
    with np.errstate(invalid="ignore"):
        means = values[:n].reshape(-1, k, *values.shape[1:]).mean(axis=1)
    return times[:n].reshape(-1, k).mean(axis=1), means, k * step


def spread(rows: Sequence[np.ndarray], of: Range = ANY) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Returns mean and 95 % interval over runs, row by row, bounded by a range; no interval for one run."""
    from ..curves import mean_and_interval

    if len(rows) == 1:
        return np.asarray(rows[0], float), None, None
    return mean_and_interval(np.stack(rows, axis=1).astype(float), of)


def number_of(view: View, table: str, column: str, of: Mapping[str, Any]) -> float:
    """Returns a metric of one flow or link, the mean over the selected runs; NaN without a value."""
    frame = view.result.table(table).filter(pl.col("seed").is_in(view.seeds))
    for key, value in of.items():
        frame = frame.filter(pl.col(key) == value)
    if column not in frame.columns:
        return float("nan")
    found = frame[column].cast(pl.Float64).drop_nulls().drop_nans().mean()
    return float("nan") if found is None else float(found)  # type: ignore[arg-type]
