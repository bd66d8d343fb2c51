"""`View`: a result as a picture looks at it: which flows, links, runs and span of it, and its events."""

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
    from ..result import Result

MOST_CURVES = 12
"""Flows that get a curve of their own if nobody names them; more are drawn by groups."""


@dataclass(frozen=True)
class Selection:
    """What is to be drawn of results."""

    kind: Kind
    flow: tuple[str, ...] | None = None
    link: tuple[str, ...] | None = None
    seed: int | str | None = None
    theory: tuple[str, ...] = ()
    time: tuple[float | None, float | None] = (None, None)


@dataclass
class View:
    """One result, or a part of it, in one panel."""

    result: Result
    label: str
    wish: Selection
    many: bool = False
    """Whether others are drawn beside it."""
    only: str = ""
    """The flow or link that has a panel of its own."""

    def of(self, name: str) -> View:
        """The same with a flow or link alone."""
        return replace(self, only=name)

    @property
    def seeds(self) -> list[int]:
        """The runs that are drawn."""
        known = self.result.seeds
        asked = self.wish.seed
        if asked == "all":
            return known
        if asked is not None and asked not in known:
            raise suggest(str(asked), [*map(str, known), "all"], "seed")
        return [known[0] if asked is None else int(asked)]

    @property
    def runs(self) -> str:
        """What the title says of the runs."""
        many = len(self.result.seeds)
        if many < 2:
            return ""
        if self.wish.kind.pooled and self.wish.seed in (None, "all"):
            return f"{many} runs"
        return f"mean of {many} runs, 95 % interval" if self.wish.seed == "all" else f"seed {self.seeds[0]} of {many}"

    @property
    def time(self) -> tuple[float | None, float | None]:
        """The span that is drawn."""
        return self.wish.time

    @cached_property
    def measured(self) -> tuple[float, float]:
        """The span of what is counted: from the end of the warm-up, or as asked for."""
        tree = self.result.description
        start, end = self.wish.time
        return (
            as_seconds(tree.get("warmup") or "0s") if start is None else start,
            as_seconds(tree["duration"]) if end is None else end,
        )

    def called(self, name: str, curves: int = 2) -> str:
        """The name of a curve, of which this result has so many."""
        if not self.many:
            return name
        return self.label if curves == 1 else f"{self.label}: {name}"

    # --- what of it --------------------------------------------------------------------------------------

    def flows(self, having: str = "", table: str = "flow_series") -> list[str]:
        """The flows asked for, else those that have a quantity (one over UDP has no window)."""
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
        """Names of curves and the flows that each stands for: every flow, or from `most` on every group."""
        flows = self.flows(having, table)
        if len(flows) <= most or self.wish.flow is not None:
            return {f: [f] for f in flows}
        wanted = set(flows)
        kept = {g: [f for f in own if f in wanted] for g, own in members(self.result).items()}
        said = f"{how} of " if how else ""
        return {g if len(own) == 1 else f"{g} ({said}{len(own)} flows)": own for g, own in kept.items() if own}

    def links(self, what: str = "queue") -> list[str]:
        """The links asked for, else the one where most waits."""
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

    # --- its numbers --------------------------------------------------------------------------------------

    def check_samples(self) -> None:
        """Raises an error that says how to get time series, if the picture is made of them and there are none at all."""
        if self.wish.kind.sample and not any(series_names(self.result, name) for name in series_tables(self.result)):
            raise FairlaneError(f"{self.wish.kind.name} needs time series, which {self._whose} has not: set {SAMPLE}")

    def series(self, table: str, *wanted: str) -> pl.DataFrame:
        """Those of some time series that there are, of the runs and in the span that are drawn; an error that says how to get them if
        there are none at all."""
        known = series_names(self.result, table)
        if not known:
            raise FairlaneError(f"{self.wish.kind.name} needs time series, which {self._whose} has not: set {SAMPLE}")
        frame = series(self.result, table, *(name for name in wanted if name in known))
        frame = frame.filter(pl.col("seed").is_in(self.seeds))
        start, end = self.wish.time
        if start is not None:
            frame = frame.filter(pl.col("time") >= start)
        if end is not None:
            frame = frame.filter(pl.col("time") <= end)
        if frame.is_empty():
            raise FairlaneError(f"{self._whose} has no samples in the span that is asked for")
        return frame

    def matrix(self, what: str, flows: Sequence[str], seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Instants, and the values of a quantity then: a column a flow, NaN where it has none."""
        frame = self.series("flow_series", what).filter((pl.col("seed") == seed) & pl.col("flow").is_in(list(flows)))
        wide = frame.select("time", "flow", pl.col(what).cast(pl.Float64)).pivot(on="flow", index="time", values=what).sort("time")
        missing = [pl.lit(None, pl.Float64).alias(f) for f in flows if f not in wide.columns]
        return wide["time"].to_numpy(), wide.with_columns(missing).select(flows).to_numpy().astype(float).reshape(wide.height, len(flows))

    def rates(self, what: str, flows: Sequence[str], seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The same of a rate, which counts since the sample before: one at the very beginning says nothing."""
        times, values = self.matrix(what, flows, seed)
        return times[times > 0], values[times > 0]

    def recorded(self) -> bool:
        """Whether it has events on record, as a table."""
        return self.result.traced is not None and any(self.result.traced.glob("seed=*/*.parquet"))

    def events(self, events: str, columns: str, *, flows: Iterable[str] | None = None, links: Iterable[str] | None = None) -> pl.DataFrame:
        """Rows of the event table of the runs that are drawn, in the order of time; an error if there are none."""
        if not self.recorded():
            raise FairlaneError(f"{self.wish.kind.name} needs events on record, which {self._whose} has not: {self.how(events)}")
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
        """The option that records events."""
        filtered = f"event={events}{f' {where}' if where else ''}"
        return f"fairlane run FILE --trace '{filtered}', or run(trace=\"{filtered}\")"

    @property
    def _whose(self) -> str:
        return f"{self.label!r}" if self.many and self.label else "this result"


def blocks(times: np.ndarray, values: np.ndarray, most: int = MAX_RATES) -> tuple[np.ndarray, np.ndarray, float]:
    """Means over so many steps that no more than `most` remain, and how long such a span is; a rate over few packets is a solid band."""
    k = max(1, -(-len(times) // most))
    step = float(times[1] - times[0]) if len(times) > 1 else 0.0
    n = len(times) // k * k
    if k == 1:
        return times, values, step
    with np.errstate(invalid="ignore"):
        means = values[:n].reshape(-1, k, *values.shape[1:]).mean(axis=1)
    return times[:n].reshape(-1, k).mean(axis=1), means, k * step


def spread(rows: Sequence[np.ndarray], of: Range = ANY) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Mean and 95 % interval over runs, row by row, of values within a range; no interval of one run."""
    from ..curves import mean_and_interval

    if len(rows) == 1:
        return np.asarray(rows[0], float), None, None
    return mean_and_interval(np.stack(rows, axis=1).astype(float), of)


def number_of(view: View, table: str, column: str, of: Mapping[str, Any]) -> float:
    """A metric of one flow or link, the mean over the runs that are drawn; NaN if there is none."""
    frame = view.result.table(table).filter(pl.col("seed").is_in(view.seeds))
    for key, value in of.items():
        frame = frame.filter(pl.col(key) == value)
    if column not in frame.columns:
        return float("nan")
    found = frame[column].cast(pl.Float64).drop_nulls().drop_nans().mean()
    return float("nan") if found is None else float(found)  # type: ignore[arg-type]
