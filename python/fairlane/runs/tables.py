"""Tables of a result: conversion of the core's columns to polars frames, and means over the runs.

Frames are built on demand: a run, its tables on a terminal and its document need neither polars nor NumPy.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import fsum, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _core
from ..base.extras import need
from ..base.metrics import metrics, unit, within
from ..errors import FolderError
from ..stats import Interval, interval

if TYPE_CHECKING:
    import polars as pl

    from .data import ResultData

NAMES = ("flows", "links", "network", "flow_series", "link_series")
GROUPED = ("groups", "links", "network", "link_series")
"""Tables of a result with `report = "groups"`; `NAMES` has those of a result with rows of flows."""
SERIES = ("flow_series", "link_series")
LABELS = ("flow", "group", "link", "from", "to", "transport")
_OWN_NAME = {"flows": {"name": "flow"}, "groups": {"name": "group"}, "links": {"name": "link"}}

Columns = Mapping[str, Sequence[Any]]
"""Table as lists of text and views of doubles."""


def names_of(report: str) -> tuple[str, ...]:
    """Returns the table names of a result that reports flows or groups."""
    return GROUPED if report == "groups" else NAMES


def flow_table(result: ResultData) -> str:
    """Returns the name of the table of flows or of groups."""
    return "groups" if result.rows_of == "groups" else "flows"


def numeric_columns(table: str, names: Iterable[str]) -> list[str]:
    """Returns the numeric columns of a table, for groups without the state of single flows, which is null there."""
    void = {m.name for m in metrics() if m.pooled == "null"} if table == "groups" else set()
    return [c for c in names if c not in LABELS and c not in ("seed", "time") and c not in void]


def metric_tables(result: ResultData) -> tuple[str, str, str]:
    """Returns the tables with one number per run: of flows or groups, of links, of the network."""
    return flow_table(result), "links", "network"


def series_tables(result: ResultData) -> list[str]:
    """Returns the time series that a result may have: with rows of groups, those of links."""
    return [name for name in SERIES if not missing_table(name, result.rows_of)]


def missing_table(name: str, report: str) -> str:
    """Returns the error text for a table that the result lacks because of its `report` setting; "" for other tables."""
    if report == "groups" and name in ("flows", "flow_series"):
        over = "; time series exist for links only (link_series)" if name == "flow_series" else ""
        return (
            f'this result has no {name}: its scenario has report = "groups", so `groups` has one row per group of flows{over}. '
            "Run it with report=flows for one row per flow"
        )
    if report == "flows" and name == "groups":
        return "this result has no groups: `flows` has one row per flow. Run it with report=groups for one row per group"
    return ""


class _ResultTables(Mapping[str, "pl.DataFrame"]):
    """Tables of a result, pickled as frames."""

    _known: tuple[str, ...] = NAMES

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class Tables(_ResultTables):
    """Tables of all runs: the core's columns, copied on first access, and replaced by a polars frame where one is asked for."""

    def __init__(self, runs: list[_core.Run], seeds: list[int]) -> None:
        self._runs = runs
        self._seeds = seeds
        self._known = names_of("groups" if runs and runs[0].groups() else "flows")
        self._columns: dict[str, list[Columns]] = {}
        self._frames: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.DataFrame:
        """Returns the rows of all runs, with the seed as first column; empty without samples."""
        if name not in self._frames:
            if name not in self._known:
                raise KeyError(name)
            need("tables")
            self._frames[name] = _frame(self._seeds, self._of(name)) if name in SERIES else _batch(self._runs, self._seeds, name)
            self._columns.pop(name, None)
        return self._frames[name]

    def columns(self, name: str) -> list[Columns]:
        """Returns the columns of one table, run by run, without a seed."""
        return _columns(self._frames[name]) if name in self._frames else self._of(name)

    def _of(self, name: str) -> list[Columns]:
        if name not in self._columns:
            self._columns[name] = [_columns_of(r, name) for r in self._runs]
        return self._columns[name]

    def names(self, name: str) -> list[str]:
        """Returns the columns of a series."""
        if name in self._frames:
            return self._frames[name].columns
        first = next((c for c in self._of(name) if c), None)
        return ["seed", *first] if first else []

    def some(self, name: str, wanted: Sequence[str]) -> pl.DataFrame:
        """Returns some columns of a series."""
        if name in self._frames:
            return self._frames[name].select(wanted)
        of = self._of(name)
        runs: list[Columns] = [{c: run[c] for c in wanted if c != "seed"} for run in of if run]
        return _frame([s for s, run in zip(self._seeds, of, strict=True) if run], runs).select(wanted)

    def write(self, name: str, path: Path) -> bool:
        """Writes a series as a file in constant memory; returns False without samples."""
        return _core.write_series(self._runs, name, path)


class StoredTables(_ResultTables):
    """Tables of a result folder; series are read on demand, and only the needed columns."""

    def __init__(self, frames: dict[str, pl.DataFrame], files: Mapping[str, Path]) -> None:
        self._frames = frames
        self._known = names_of("groups" if "groups" in frames else "flows")
        self._files = dict(files)
        self._seen = {name: _state(path) for name, path in files.items()}

    def __getitem__(self, name: str) -> pl.DataFrame:
        import polars as pl

        if name not in self._frames:
            if name not in self._known:
                raise KeyError(name)
            self._frames[name] = self.scan(name).collect() if name in self._files else pl.DataFrame()
        return self._frames[name]

    def scan(self, name: str) -> pl.LazyFrame:
        """Returns a lazy frame of a table."""
        import polars as pl

        path = self._files[name]
        if _state(path) != self._seen[name]:
            raise FolderError(f"{path} was changed or removed since the folder was read: read it again")
        return pl.scan_parquet(path, glob=False, hive_partitioning=False)

    def names(self, name: str) -> list[str]:
        """Returns the columns of a series."""
        if name in self._frames:
            return self._frames[name].columns
        return self.scan(name).collect_schema().names() if name in self._files else []

    def some(self, name: str, wanted: Sequence[str]) -> pl.DataFrame:
        """Returns some columns of a series."""
        return self._frames[name].select(wanted) if name in self._frames else self.scan(name).select(wanted).collect()

    def write(self, name: str, path: Path) -> bool:
        """Copies the file of a series; returns False if there is none."""
        if name not in self._files:
            return False
        self.scan(name)
        shutil.copyfile(self._files[name], path)
        return True


def _state(path: Path) -> tuple[int, int, int] | None:
    """Returns inode, size and time, to detect that a file was replaced."""
    try:
        at = path.stat()
    except OSError:
        return None
    return at.st_ino, at.st_size, at.st_mtime_ns


class _Series(Mapping[str, Sequence[Any]]):
    """Time series of one run; a column is copied from the core on first access."""

    def __init__(self, names: Sequence[str], column: Callable[[str], Sequence[Any]]) -> None:
        self._names = dict.fromkeys(names)
        self._column = column
        self._known: dict[str, Sequence[Any]] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __getitem__(self, name: str) -> Sequence[Any]:
        if name not in self._known:
            self._known[name] = self._column(name)
        return self._known[name]


def _columns_of(run: Any, table: str) -> Columns:
    if table in ("flow_series", "link_series"):
        return _Series(run.names(table), partial(run.column, table))
    own = _OWN_NAME.get(table, {})
    return {own.get(c, c): v for c, v in getattr(run, table)().items()}


def _batch(runs: list[_core.Run], seeds: list[int], table: str) -> pl.DataFrame:
    """Returns the rows of all runs as the core writes them: one Arrow batch."""
    import polars as pl

    key = _OWN_NAME.get(table, {}).get("name", "name")
    return pl.read_ipc_stream(_core.arrow(runs, seeds, table, key)) if runs else pl.DataFrame()


def _frame(seeds: list[int], runs: list[Columns]) -> pl.DataFrame:
    import numpy as np
    import polars as pl

    frames = []
    for seed, columns in zip(seeds, runs, strict=True):
        if not columns:  # no series without sampling
            continue
        frame = pl.DataFrame({c: _texts(v) if isinstance(v, list) else np.asarray(v) for c, v in columns.items()})
        frames.append(frame.select(pl.lit(seed, dtype=pl.UInt64).alias("seed"), pl.all()))
    return pl.concat(frames, how="vertical") if frames else pl.DataFrame()


def _texts(values: list[str]) -> pl.Series:
    """Returns a column of text; periodic names, as in a series, are stored once."""
    import polars as pl

    count = next((i for i in range(1, len(values)) if values[i] == values[0]), len(values))
    if 2 * count > len(values) or values[:count] * (len(values) // count) != values:
        return pl.Series(values, dtype=pl.String)
    return pl.Series(values[:count], dtype=pl.String).gather(pl.int_range(len(values), eager=True) % count)


def _columns(frame: pl.DataFrame) -> list[Columns]:
    """Returns the columns of a frame as plain numbers, all runs together."""
    import polars as pl

    names = [c for c in frame.columns if c != "seed"]
    return [{c: (frame[c] if c in LABELS else frame[c].cast(pl.Float64)).to_list() for c in names}] if names else [{}]


def columns(result: ResultData, table: str) -> list[Columns]:
    """Returns the columns of a table, run by run (of a folder: all runs together), without frames; empty without samples."""
    tables = result._having(table)
    return tables.columns(table) if isinstance(tables, Tables) else _columns(tables[table])


def series_names(result: ResultData, table: str) -> list[str]:
    """Returns the columns of a time series; none without samples."""
    tables = result._having(table)
    return tables.names(table) if isinstance(tables, Tables | StoredTables) else tables[table].columns


def series(result: ResultData, table: str, *wanted: str) -> pl.DataFrame:
    """Returns `seed`, `time`, the flow or link, and the `wanted` columns of a time series; no other columns are built or read."""
    names = list(dict.fromkeys(["seed", table.removesuffix("_series"), "time", *wanted]))
    tables = result._having(table)
    return tables.some(table, names) if isinstance(tables, Tables | StoredTables) else tables[table].select(names)


def write_series(result: ResultData, table: str, path: Path) -> bool:
    """Writes a time series as a Parquet file; returns False and writes nothing without samples."""
    tables = result._tables
    if isinstance(tables, Tables | StoredTables):
        return tables.write(table, path)
    frame = tables[table]
    if frame.height:
        frame.write_parquet(path)
    return bool(frame.height)


def metrics_of(result: ResultData, table: str) -> list[str]:
    """Returns the metrics of a table; none if it is empty."""
    first = next((c for c in columns(result, table) if c), {})
    return [c for c in first if c not in LABELS]


def values(
    result: ResultData, table: str, metrics: Sequence[str] | None = None, only: Collection[str] | None = None
) -> Iterator[tuple[dict[str, str], dict[str, list[Any]]]]:
    """Yields the rows of a table: labels and the values of each metric in all runs.

    `metrics`: the metrics to include, as far as the table has them; `only`: the names of the rows to include.
    """
    runs = [c for c in columns(result, table) if c]
    if not runs:
        return
    metrics = [m for m in metrics_of(result, table) if metrics is None or m in metrics]
    labels = [c for c in LABELS if c in runs[0]]
    key = labels[0] if labels else None
    rows: dict[str, list[tuple[Columns, int]]] = {}
    for run in runs:
        names = run[key] if key else ["network"] * len(run[metrics[0]])
        for i, name in enumerate(names):
            if only is None or name in only:
                rows.setdefault(name, []).append((run, i))
    for at in rows.values():
        first, i = at[0]
        yield {c: first[c][i] for c in labels}, {m: [run[m][i] for run, i in at] for m in metrics}


def intervals(result: ResultData, table: str, only: Collection[str] | None = None) -> list[tuple[dict[str, str], dict[str, Interval]]]:
    """Returns the rows of a table: labels and the interval of each metric."""
    return [
        (labels, {m: interval(v, within=within(m), unit=unit(m)) for m, v in per.items()})
        for labels, per in values(result, table, only=only)
    ]


def link_loads(result: ResultData) -> Iterator[tuple[str, tuple[float, float, float]]]:
    """Yields each link with its mean queue length, drops and utilisation."""
    # No other metrics: there may be millions of links.
    wanted = ("queue_mean", "drops", "utilisation")
    for labels, per in values(result, "links", wanted):
        waits, drops, used = (_mean(per.get(m, ())) for m in wanted)
        yield labels["link"], (waits, drops, used)


def _mean(given: Sequence[Any]) -> float:
    kept = [x for x in given if x is not None and isfinite(x)]
    return fsum(kept) / len(kept) if kept else 0.0


def summary_frame(result: ResultData, table: str) -> pl.DataFrame:
    """Returns the means in long form; see `Result.summary`."""
    need("tables")
    import polars as pl

    rows = [
        {**labels, "metric": m, **iv.as_dict(), "unit": unit(m)}
        for labels, per_metric in intervals(result, table)
        for m, iv in per_metric.items()
    ]
    floats = dict.fromkeys(("mean", "low", "high", "sd"), pl.Float64)
    return pl.DataFrame(rows, schema_overrides=floats, infer_schema_length=None)


def mean_frame(result: ResultData, table: str) -> pl.DataFrame:
    """Returns the means in wide form; see `Result.mean`."""
    need("tables")
    import polars as pl

    several = len(result.info) > 1
    rows = []
    floats: dict[str, Any] = {}
    for labels, per_metric in intervals(result, table):
        row: dict[str, Any] = dict(labels)
        for m, iv in per_metric.items():
            row[m] = iv.mean
            floats[m] = pl.Float64
            if several:
                row[f"{m}_low"], row[f"{m}_high"] = iv.low, iv.high
                floats[f"{m}_low"] = floats[f"{m}_high"] = pl.Float64
        rows.append(row)
    return pl.DataFrame(rows, schema_overrides=floats, infer_schema_length=None)
