"""`StudyTables`: what a study ran, as tables."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from ..base.extras import need
from ..errors import FairlaneError, suggest
from ..runs.selection import unit_of, within_of
from ..runs.tables import missing_table
from ..stats import interval
from . import frames
from .model import Combination, Factor, Selector, StudySpec
from .settings import SETTING
from .store import Store

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import xarray as xr

    from ..runs.result import Result
    from .progress import Tally


class StudyTables:
    """Tables of a study in polars and for other libraries: the base of `StudyResult`.

    Rows of all tables follow the combinations of the study (the last factor varies fastest) and then the seeds, wherever and in whatever
    order the runs were computed. A column of a factor holds the labels of its levels: numbers in SI units if all of them are quantities or
    numbers, else text.
    """

    def __init__(
        self,
        spec: StudySpec,
        combinations: Sequence[Combination],
        store: Store | None,
        index: pl.DataFrame,
        tally: Tally | None = None,
        notes: Iterable[str] = (),
    ) -> None:
        self.spec = spec
        self.combinations = combinations
        self.index = index
        """one row per run: combination, seed, key, status (done, failed, open), kind and text of the error."""
        self.tally = tally
        """How many runs were run, reused and failed; None if the result was loaded."""
        self.notes = list(notes)
        """Notes about how the study ran, such as files that were set aside."""
        self.seconds = None if tally is None else tally.elapsed
        """How long the runs took that were run; None if the result was loaded."""
        assert store is not None or index.is_empty()
        self._store: Store = store  # type: ignore[assignment]

    # --- what there is --------------------------------------------------------------------------------

    @property
    def folder(self) -> Path:
        """Where the results are kept."""
        return self._store.folder

    @property
    def store(self) -> Store:
        """Where the runs are kept."""
        return self._store

    @property
    def factors(self) -> list[str]:
        """The factors, by name."""
        return [f.name for f in self.spec.factors]

    @property
    def metrics(self) -> list[str]:
        """The metrics, by label."""
        return [s.label for s in self.spec.metrics]

    def metric(self, name: str) -> Selector:
        """A metric by its label, its full name, or an end of that which only one has; raises `UnknownNameError`."""
        for s in self.spec.metrics:
            if name in (s.label, s.text):
                return s
        ends = [s for s in self.spec.metrics if s.text.endswith(f".{name}")]
        if len(ends) == 1:
            return ends[0]
        raise suggest(name, self.metrics, "metric of this study")

    def factor(self, name: str) -> Factor:
        """A factor by its name; raises `UnknownNameError`."""
        for f in self.spec.factors:
            if name == f.name:
                return f
        raise suggest(name, self.factors, "factor of this study")

    def unit(self, name: str) -> str:
        """The unit of a metric or of a factor's labels; "" if it has none."""
        return self.factor(name).unit if name in self.factors else unit_of(self.metric(name))

    # --- tables ---------------------------------------------------------------------------------------

    @functools.cached_property
    def _watched(self) -> dict[int, Result]:
        """First runs of combinations that were made again, by combination: the page and the document ask for the same ones."""
        return {}

    @functools.cached_property
    def _done(self) -> pl.DataFrame:
        return frames.finished(self.index)

    @functools.cached_property
    def _labels(self) -> pl.DataFrame:
        return frames.labels(self.spec, self.combinations)

    @functools.cached_property
    def _runs(self) -> pl.DataFrame:
        values = frames.runs(self.spec, self.combinations, self._store, self._done)
        return pl.concat([self._head(), values], how="horizontal")

    @property
    def _keys(self) -> list[str]:
        """The columns that say what a row is of: the factors, and behind the setting what it is made of."""
        opened = frames.opened(self.spec)
        return [n for f in self.factors for n in ([f, *opened] if f == SETTING else [f])]

    def _head(self) -> pl.DataFrame:
        """One row per finished run: row, combination, factors, seed."""
        joined = self._done.drop("key").join(self._labels, on="combination", how="left", maintain_order="left")
        return joined.select("row", "combination", *self._keys, "seed")

    def runs(self) -> pl.DataFrame:
        """One row per finished run: its factors, its seed, one column per metric; null where a metric has no value."""
        return self._runs.drop("row", "combination")

    def per_seed(self, metric: str, combination: Combination) -> dict[int, float | None]:
        """The values of a metric at a combination, by the seed of the run; runs that are not done have none."""
        label = next(s.label for s in self.spec.metrics if metric in (s.label, s.text))
        own = self._runs.filter(pl.col("combination") == combination.index).select("seed", pl.col(label).cast(pl.Float64))
        return dict(own.iter_rows())

    def flows(self) -> pl.DataFrame:
        """Everything kept of flows, one row per run and flow.

        A metric that is called like a factor gets the table before its name, here and in `links`, `network` and `series`: `flow_loss`,
        `link_queue`.
        """
        return self._wide("flows")

    def groups(self) -> pl.DataFrame:
        """Everything kept of groups of flows, one row per run and group, where the scenario has `report = "groups"`."""
        return self._wide("groups")

    def links(self) -> pl.DataFrame:
        """Everything kept of links, one row per run and direction of a link."""
        return self._wide("links")

    def network(self) -> pl.DataFrame:
        """Everything kept of whole networks, one row per run."""
        return self._wide("network")

    def series(self, of: str = "links") -> pl.DataFrame:
        """The time series of links or flows, one row per run, link or flow, and instant; without rows unless the scenario sets `sample`."""
        if of not in ("links", "flows"):
            raise suggest(of, ["links", "flows"], "kind of time series")
        return self._wide(f"{of[:-1]}_series")

    def _wide(self, table: str) -> pl.DataFrame:
        missing = {missing_table(table, p.reports) for p in self.combinations}
        if missing and "" not in missing:
            raise FairlaneError(missing.pop())
        frame = frames.wide(table, self.spec, self.combinations, self._store, self._done)
        return self._head().join(frame, on="row", how="inner", maintain_order="left_right").drop("row", "combination")

    @functools.cached_property
    def _summary(self) -> pl.DataFrame:
        """`summary` with the column `combination` in front."""
        rows = []
        for (combination,), part in self._runs.group_by(["combination"], maintain_order=True):
            for s in self.spec.metrics:
                iv = interval(part[s.label].to_list(), self.spec.confidence, within_of(s))
                rows.append({"combination": combination, "metric": s.label, **iv.as_dict(), "unit": unit_of(s)})
        floats = dict.fromkeys(("mean", "low", "high", "sd"), pl.Float64)
        schema = {"combination": pl.Int64, "metric": pl.String, **floats, "n": pl.Int64, "unit": pl.String}
        return self._labels.join(pl.DataFrame(rows, schema=schema), on="combination", maintain_order="right")

    def summary(self) -> pl.DataFrame:
        """Long form of the means over the seeds: factors, `metric`, `mean`, `low`, `high`, `sd`, `n`, `unit`; one row per combination and
        metric.

        The interval is at the confidence of the study, and within what the metric can be; see `fairlane.stats.interval`.
        """
        return self._summary.drop("combination")

    def table(self, metric: str, rows: str | Iterable[str] | None = None, columns: str | None = None) -> pl.DataFrame:
        """The means of a metric as a table: a row for each level of the factors `rows`, a column for each level of the factor `columns`.

        By default the last factor goes across and all others down. A factor that is in neither is averaged over: each mean is over all
        its runs.
        """
        label = self.metric(metric).label
        across = columns if columns is not None else next((f for f in reversed(self.factors) if f not in listed(rows)), None)
        down = listed(rows) if rows is not None else [f for f in self.factors if f != across]
        for name in [*down, *([across] if across is not None else [])]:
            self.factor(name)
        if across in down:
            raise FairlaneError(f"factor {across!r} cannot be both in the rows and in the columns of a table")
        chosen = self._runs.select(*down, *([across] if across is not None else []), label)
        if across is None:
            return chosen.select(pl.col(label).mean())
        keys = [*down, across]
        means = chosen.group_by(keys, maintain_order=True).agg(pl.col(label).mean())
        heads = [
            (level.label, frames.label_value(level.label, frames.levels_dtype(self.factor(across)))) for level in self.factor(across).levels
        ]
        parts = [means.filter(pl.col(across) == value).drop(across).rename({label: str(head)}) for head, value in heads]
        if not down:
            return pl.concat([p for p in parts if p.height], how="horizontal")
        out = chosen.select(down).unique(maintain_order=True)
        for part in parts:
            out = out.join(part, on=down, how="left", maintain_order="left")
        return out

    # --- other libraries ------------------------------------------------------------------------------

    def frame(self, name: str = "runs") -> pl.DataFrame:
        """A table by name: runs, summary, flows (or groups), links, network, link_series or flow_series."""
        if name.endswith("_series"):
            return self.series(name.removesuffix("_series") + "s")
        known = ("runs", "summary", "flows", "groups", "links", "network")
        if name not in known:
            raise suggest(name, [*known, "link_series", "flow_series"], "table")
        frame: pl.DataFrame = getattr(self, name)()
        return frame

    def to_arrow(self, table: str = "runs") -> pa.Table:
        """A table as a pyarrow Table (needs the extra `arrow`)."""
        need("arrow")
        return self.frame(table).to_arrow()

    def to_pandas(self, table: str = "runs") -> pd.DataFrame:
        """A table as a pandas DataFrame (needs the extra `pandas`)."""
        need("pandas")
        return self.frame(table).to_pandas()

    def to_xarray(self) -> xr.Dataset:
        """All runs as an xarray Dataset (needs the extra `xarray`).

        The dimensions are the factors and `seed`, the variables the metrics; `attrs["units"]` has the unit of each. Runs without a
        result are NaN.
        """
        need("xarray")
        from .arrays import dataset

        return dataset(self)

    # --- what went wrong ------------------------------------------------------------------------------

    @property
    def failures(self) -> pl.DataFrame:
        """The runs without a result because they failed: factors, seed, kind and text of the error."""
        frame = self.index.filter(pl.col("status") == "failed").with_columns(pl.col("combination").cast(pl.Int64))
        kind = pl.col("kind") if "kind" in frame.columns else pl.lit("").alias("kind")
        joined = frame.select("combination", "seed", kind, "error").sort("combination", "seed")
        return joined.join(self._labels, on="combination", how="left", maintain_order="left").select(*self.factors, "seed", "kind", "error")


def listed(names: str | Iterable[str] | None) -> list[str]:
    """One name, several or none, as a list."""
    return [] if names is None else [names] if isinstance(names, str) else list(names)
