"""`StudyResult`: what came of a study, as tables, intervals and comparisons."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from ..base.extras import need
from ..errors import FairlaneError, suggest
from ..stats import interval
from . import frames, saved
from .model import Factor, Label, PlotSpec, Point, Selector, StudySpec
from .select import unit_of
from .store import Store

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import xarray as xr
    from matplotlib.figure import Figure

    from ..stats import Anova
    from .tally import Tally


TABLES = ("cells.csv", "summary.csv")
"""The tables that are written for people."""


class StudyResult:
    """The results of a study: of `Study.run`, or of a folder (`load_study`).

    Rows of all tables follow the points of the study (the last factor varies fastest) and then the seeds, wherever and in whatever order
    the cells were computed. A column of a factor holds the labels of its levels: numbers in SI units if all of them are quantities or
    numbers, else text.
    """

    def __init__(
        self,
        spec: StudySpec,
        points: Sequence[Point],
        store: Store | None,
        index: pl.DataFrame,
        tally: Tally | None = None,
        notes: Iterable[str] = (),
    ) -> None:
        self.spec = spec
        self.points = points
        self.index = index
        """One row a cell: point, seed, key, status (done, failed, open), kind and text of the error."""
        self.tally = tally
        """How many cells were run, reused and failed; None if the result was loaded."""
        self.notes = list(notes)
        """What there is to tell of how the study ran: files that had to be set aside, and the like."""
        self.seconds = None if tally is None else tally.elapsed
        """How long the cells took that were run; None if the result was loaded."""
        assert store is not None or index.is_empty()
        self._store: Store = store  # type: ignore[assignment]

    # --- what there is --------------------------------------------------------------------------------

    @property
    def folder(self) -> Path:
        """Where the results are kept."""
        return self._store.folder

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
    def _done(self) -> pl.DataFrame:
        return frames.finished(self.index)

    @functools.cached_property
    def _labels(self) -> pl.DataFrame:
        return frames.labels(self.spec, self.points)

    @functools.cached_property
    def _cells(self) -> pl.DataFrame:
        values = frames.cells(self.spec, self.points, self._store, self._done)
        return pl.concat([self._head(), values], how="horizontal")

    def _head(self) -> pl.DataFrame:
        """One row a finished cell: row, point, factors, seed."""
        joined = self._done.drop("key").join(self._labels, on="point", how="left", maintain_order="left")
        return joined.select("row", "point", *self.factors, "seed")

    def cells(self) -> pl.DataFrame:
        """One row a finished cell: its factors, its seed, one column a metric; null where a metric has no value."""
        return self._cells.drop("row", "point")

    def flows(self) -> pl.DataFrame:
        """Everything kept of flows, one row a cell and flow.

        A metric that is called like a factor gets the table before its name, here and in `links`, `network` and `series`: `flow_loss`,
        `link_queue`.
        """
        return self._wide("flows")

    def links(self) -> pl.DataFrame:
        """Everything kept of links, one row a cell and direction of a link."""
        return self._wide("links")

    def network(self) -> pl.DataFrame:
        """Everything kept of whole networks, one row a cell."""
        return self._wide("network")

    def series(self, of: str = "links") -> pl.DataFrame:
        """The time series of links or flows, one row a cell, link or flow, and instant; without rows unless the scenario sets `sample`."""
        if of not in ("links", "flows"):
            raise suggest(of, ["links", "flows"], "kind of time series")
        return self._wide(f"{of[:-1]}_series")

    def _wide(self, table: str) -> pl.DataFrame:
        frame = frames.wide(table, self.spec, self.points, self._store, self._done)
        return self._head().join(frame, on="row", how="inner", maintain_order="left_right").drop("row", "point")

    @functools.cached_property
    def _summary(self) -> pl.DataFrame:
        """`summary` with the column `point` in front."""
        rows = []
        for (point,), part in self._cells.group_by(["point"], maintain_order=True):
            for s in self.spec.metrics:
                iv = interval(part[s.label].to_list(), self.spec.confidence)
                rows.append({"point": point, "metric": s.label, **iv.as_dict(), "unit": unit_of(s)})
        floats = dict.fromkeys(("mean", "low", "high", "sd"), pl.Float64)
        schema = {"point": pl.Int64, "metric": pl.String, **floats, "n": pl.Int64, "unit": pl.String}
        return self._labels.join(pl.DataFrame(rows, schema=schema), on="point", maintain_order="right")

    def summary(self) -> pl.DataFrame:
        """Long form of the means over the seeds: factors, `metric`, `mean`, `low`, `high`, `sd`, `n`, `unit`; one row a point and metric.

        The interval is Student's, at the confidence of the study; see `fairlane.stats.interval`.
        """
        return self._summary.drop("point")

    def table(self, metric: str, rows: str | Iterable[str] | None = None, columns: str | None = None) -> pl.DataFrame:
        """The means of a metric as a table: a row for each level of the factors `rows`, a column for each level of the factor `columns`.

        By default the last factor goes across and all others down. A factor that is in neither is averaged over: each mean is over all
        its cells.
        """
        label = self.metric(metric).label
        across = columns if columns is not None else next((f for f in reversed(self.factors) if f not in _names(rows)), None)
        down = _names(rows) if rows is not None else [f for f in self.factors if f != across]
        for name in [*down, *([across] if across is not None else [])]:
            self.factor(name)
        if across in down:
            raise FairlaneError(f"factor {across!r} cannot be both in the rows and in the columns of a table")
        chosen = self._cells.select(*down, *([across] if across is not None else []), label)
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

    def frame(self, name: str = "cells") -> pl.DataFrame:
        """A table by name: cells, summary, flows, links, network, link_series or flow_series."""
        if name.endswith("_series"):
            return self.series(name.removesuffix("_series") + "s")
        known = ("cells", "summary", "flows", "links", "network")
        if name not in known:
            raise suggest(name, [*known, "link_series", "flow_series"], "table")
        frame: pl.DataFrame = getattr(self, name)()
        return frame

    def to_arrow(self, table: str = "cells") -> pa.Table:
        """A table as a pyarrow Table (needs the extra `arrow`)."""
        need("arrow")
        return self.frame(table).to_arrow()

    def to_pandas(self, table: str = "cells") -> pd.DataFrame:
        """A table as a pandas DataFrame (needs the extra `pandas`)."""
        need("pandas")
        return self.frame(table).to_pandas()

    def to_xarray(self) -> xr.Dataset:
        """All cells as an xarray Dataset (needs the extra `xarray`).

        The dimensions are the factors and `seed`, the variables the metrics; `attrs["units"]` has the unit of each. Cells without a
        result are NaN.
        """
        need("xarray")
        from .arrays import dataset

        return dataset(self)

    # --- statistics -----------------------------------------------------------------------------------

    def anova(self, metric: str, order: int = 2) -> Anova:
        """What explains a metric: main effects of the factors, and interactions of up to `order` of them; see `fairlane.stats.anova`.

        The seeds are blocks: what a seed does to all points alike is no chance when points are compared.
        """
        from .contrast import anova

        return anova(self, metric, order)

    def effects(self, metric: str, order: int = 1) -> pl.DataFrame:
        """For each factor and level the mean of a metric over everything else with its interval, and how far that is from the mean of all.

        `order` = 2 adds all pairs of levels; see `fairlane.stats.effects`.
        """
        from .contrast import effects

        return effects(self, metric, order)

    def compare(self, metric: str, factor: str, *, baseline: Label | None = None, by: str | Iterable[str] = ()) -> pl.DataFrame:
        """Each level of a factor against one of them, seed by seed, so that what the seeds share cancels (common random numbers).

        The other factors are averaged over within each seed, but for those in `by`, whose levels are compared apart. `baseline` is the
        first level unless named. One row a comparison: the level, the two means, `difference` with its interval `low`, `high`, the same
        as `percent` of the baseline, `n` (pairs), `p` (paired t test), `p_holm` (corrected for all comparisons of the table),
        `p_equivalent` (that they differ by less than 5 %, corrected alike) and the `finding`: more, less, equivalent or undecided.
        """
        from .contrast import compare

        return compare(self, metric, factor, baseline, _names(by))

    def best(self, metric: str, goal: str | None = None) -> pl.DataFrame:
        """All points, the best first: factors, the mean with its interval, and how sure the first place is.

        `goal` is "max" or "min"; without it, less is better of delays, losses and what waits, more of the rest. `difference` is that
        from the best, paired by seed, `p_holm` its corrected p; `tied` says that it may be chance, and `finding` whether
        a point is equivalent to the best (`p_equivalent`, within 5 %), which `tied` alone does not show.
        """
        from .contrast import best

        return best(self, metric, goal)

    # --- what went wrong ------------------------------------------------------------------------------

    @property
    def failures(self) -> pl.DataFrame:
        """The cells without a result because they failed: factors, seed, kind and text of the error."""
        frame = self.index.filter(pl.col("status") == "failed").with_columns(pl.col("point").cast(pl.Int64))
        kind = pl.col("kind") if "kind" in frame.columns else pl.lit("").alias("kind")
        joined = frame.select("point", "seed", kind, "error").sort("point", "seed")
        return joined.join(self._labels, on="point", how="left", maintain_order="left").select(*self.factors, "seed", "kind", "error")

    @functools.cached_property
    def warnings(self) -> list[str]:
        """What to check before trusting the numbers: warnings of runs, points that chance does not touch, intervals that are too wide."""
        from .checks import warnings

        return [*self.notes, *warnings(self)]

    # --- pictures -------------------------------------------------------------------------------------

    def plot(
        self,
        y: str,
        x: str = "",
        *,
        by: str = "",
        panel: str = "",
        kind: str = "",
        log: str | Iterable[str] = (),
        title: str = "",
        path: str | PathLike[str] | None = None,
    ) -> Figure:
        """A figure of the metric `y`, with intervals over the seeds; `path` saves it as SVG, PNG or PDF, by its ending.

        `kind`: line or bar (over the factor `x`, by default the one with most levels), scatter (over another metric `x`; seeds are
        faint), heatmap (factors `x` and `by`), box, or ecdf (the distribution of all runs). `by` gives each level of a factor a colour,
        `panel` a panel. `log` names logarithmic axes: "x", "y" or both. Factors that have no place are averaged over within each seed.
        """
        from .plots import KINDS, default_kind, picture

        axes = _names(log)
        for axis in axes:
            if axis not in ("x", "y"):
                raise suggest(axis, ["x", "y"], "axis")
        if kind and kind not in KINDS:
            raise suggest(kind, list(KINDS), "kind of picture")
        figure = picture(self, PlotSpec(kind or default_kind(self, x), y, x, by, panel, title=title, log=tuple(axes)))
        if path is not None:
            from ..look.figures import save_figure

            save_figure(figure, path)
        return figure

    def plots(self) -> dict[str, Figure]:
        """The pictures that the study asks for, or one for each metric, by file name."""
        from .plots import picture, specs

        return {p.name: picture(self, p) for p in specs(self)}

    # --- what is written ------------------------------------------------------------------------------

    def document(self) -> dict[str, Any]:
        """The document that `fairlane study --json` prints."""
        from .document import document

        return document(self)

    @staticmethod
    def check_room(folder: str | PathLike[str], spec: StudySpec) -> None:
        """Raises `FolderError` if something stands where `save` writes: before the study is run."""
        from ..base import sums
        from ..base.outputs import room_for

        room_for(Path(fspath(folder)), ("index.html", *TABLES, sums.NAME, *(f"plots/{p.name}.svg" for p in spec.plots)), ("plots",))

    def save_tables(self) -> list[Path]:
        """Writes `cells.csv` and `summary.csv` into the folder."""
        from ..base.csv_text import csv_of
        from ..base.sums import listed

        with listed(self.folder) as put:
            return [put(name, csv_of(frame)) for name, frame in zip(TABLES, (self.cells(), self.summary()), strict=True)]

    def save_plots(self) -> list[Path]:
        """Writes `plots/*.svg` into the folder."""
        from ..base.sums import listed
        from ..look.theme import svg

        with listed(self.folder) as put:
            return [put(f"plots/{name}.svg", svg(figure).encode()) for name, figure in self.plots().items()]

    def page(self, command: str = "") -> str:
        """One HTML page that opens offline: what was asked, pictures, what matters, differences, means; `command` is how to repeat it."""
        from .page import page

        return page(self, command)

    def save(self, command: str = "") -> list[Path]:
        """Writes `index.html`, the tables and the pictures into the folder, and says which files those are."""
        from ..base.sums import listed

        with listed(self.folder) as put:
            page = put("index.html", self.page(command).encode())
        return [page, *self.save_tables(), *self.save_plots()]

    def _repr_html_(self) -> str:
        from .html import study_html

        return study_html(self)

    def __repr__(self) -> str:
        n, points = self._done.height, len(self.points)
        return f"StudyResult({self.spec.name}: {points} point{'s' * (points != 1)}, {n} of {self.index.height} cells done)"


def _names(names: str | Iterable[str] | None) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def load_study(folder: str | PathLike[str]) -> StudyResult:
    """Reads the folder of a study, without running anything; raises `FolderError` if it is none.

    What is not finished yet is not in the tables: `index` says which cells those are.
    """
    from ..errors import FolderError

    path = Path(fspath(folder))
    spec, points, _ = saved.read(path)
    store = Store(path, read_only=True)
    index = store.read_index()
    if index is None:
        raise FolderError(f"{path} is not the folder of a study: its index.parquet is missing or damaged; run the study again")
    return StudyResult(spec, points, store, index)
