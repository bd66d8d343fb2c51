"""From the long tables of runs to the wide ones that people read: one row per run, a flow, a link or an instant.

Rows follow combinations, then seeds, then the order of flows and links in the scenario, whatever order the runs were computed in; sums are
formed in that order too, so that tables are the same to the last bit wherever the runs ran.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ..base.metrics import metrics_in
from ..runs import selection
from .settings import SETTING, opens_of

if TYPE_CHECKING:
    from ..multiverse import Open
    from .model import Combination, Factor, Label, StudySpec
    from .store import Store

TABLES = {"flows": "flow", "groups": "group", "links": "link", "network": "", "flow_series": "flow", "link_series": "link"}
"""The tables that runs keep, and the column of each that says whose row it is."""


def levels_dtype(factor: Factor) -> pl.DataType:
    """How the labels of a factor stand in a column: numbers if all are, else text."""
    labels = [level.label for level in factor.levels]
    if all(isinstance(x, bool) for x in labels):
        return pl.Boolean()
    if any(isinstance(x, (str, bool)) for x in labels):
        return pl.String()
    return pl.Int64() if all(isinstance(x, int) and abs(x) < 2**63 for x in labels) else pl.Float64()


def label_value(label: Any, dtype: pl.DataType) -> Any:
    """A label as a value of its column."""
    if dtype == pl.String():
        return str(label).lower() if isinstance(label, bool) else str(label)
    return float(label) if dtype == pl.Float64() else label


def labels(spec: StudySpec, combinations: Sequence[Combination]) -> pl.DataFrame:
    """one row per combination: `combination`, then one column per factor."""
    columns: dict[str, pl.Series] = {"combination": pl.Series([p.index for p in combinations], dtype=pl.Int64)}
    for f in spec.factors:
        dtype = levels_dtype(f)
        columns[f.name] = pl.Series([label_value(p.labels[f.name], dtype) for p in combinations], dtype=dtype)
        if spec.settings is not None and f.name == SETTING:
            columns |= of_settings([spec.settings.values[int(p.labels[SETTING])] for p in combinations], opens_of(spec.settings))
    return pl.DataFrame(columns)


def of_settings(values: Sequence[Sequence[Label]], opens: Sequence[Open]) -> dict[str, pl.Series]:
    """A column for each varied parameter, of the values in each row: numbers in SI units, choices as text."""
    out = {}
    for k, o in enumerate(opens):
        own = [v[k] for v in values]
        out[o.name] = pl.Series([o.number(v) for v in own], dtype=pl.Float64) if o.ordered else pl.Series([str(v) for v in own])
    return out


def opened(spec: StudySpec) -> list[str]:
    """Returns the columns of the varied parameters."""
    return [] if spec.settings is None else [o.name for o in spec.settings.opens]


def finished(index: pl.DataFrame) -> pl.DataFrame:
    """The finished runs in order: `row`, `combination`, `seed`, `key`."""
    done = index.filter(pl.col("status") == "done").select(pl.col("combination").cast(pl.Int64), pl.col("seed").cast(pl.UInt64), "key")
    return done.sort("combination", "seed").with_row_index("row")


def _layouts(combinations: Sequence[Combination]) -> tuple[list[int], list[Combination]]:
    """Returns the layout number of each combination (the same flows and links: one layout), and one combination of each layout."""
    known: dict[Any, int] = {}
    first: list[Combination] = []
    numbers = []
    for p in combinations:
        shape = (tuple(p.groups.items()), p.links, p.reports)
        if shape not in known:
            known[shape] = len(first)
            first.append(p)
        numbers.append(known[shape])
    return numbers, first


def _with_layouts(done: pl.DataFrame, combinations: Sequence[Combination]) -> tuple[pl.DataFrame, list[Combination]]:
    numbers, first = _layouts(combinations)
    where = pl.DataFrame(
        {"combination": [p.index for p in combinations], "layout": numbers}, schema={"combination": pl.Int64, "layout": pl.Int32}
    )
    return done.select("row", "combination", "key").join(where, on="combination", how="left").drop("combination"), first


def runs(spec: StudySpec, combinations: Sequence[Combination], store: Store, done: pl.DataFrame) -> pl.DataFrame:
    """one column per metric, one row per finished run, in the order of `done`; null where a run has no value."""
    rows, first = _with_layouts(done, combinations)
    wanted = [
        (layout, i, j, s.table, name, metric, metric == s.metric)
        for layout, p in enumerate(first)
        for i, s in enumerate(spec.metrics)
        for j, name in enumerate(selection.names(s, p))
        for metric in selection.parts(s)
    ]
    schema = {
        "layout": pl.Int32,
        "i": pl.Int32,
        "j": pl.Int32,
        "table": pl.String,
        "name": pl.String,
        "metric": pl.String,
        "own": pl.Boolean,
    }
    want = pl.DataFrame(wanted, schema=schema, orient="row")
    values = np.full((done.height, len(spec.metrics)), np.nan)
    if done.height and want.height:
        long = (
            store.scan(done["key"].unique(maintain_order=True).to_list())
            .filter(
                pl.col("time").is_null()
                & pl.col("table").is_in(want["table"].unique().to_list())
                & pl.col("metric").is_in(want["metric"].unique().to_list())
                & pl.col("name").is_in(want["name"].unique().to_list())
            )
            .select("key", "table", "name", "metric", "value")
            .collect()
        )
        found = (
            long.join(rows, on="key")
            .join(want, on=["layout", "table", "name", "metric"])
            .filter(pl.col("value").is_finite())
            .sort("row", "i", "j")
        )
        found = _compared(found.filter("own"), found.filter(~pl.col("own")))
        if found.height:
            at, which = found["row"].to_numpy(), found["i"].to_numpy()
            edges = np.flatnonzero(np.r_[True, (at[1:] != at[:-1]) | (which[1:] != which[:-1])])
            _aggregate(spec, values, at[edges], which[edges], found["value"].to_numpy(), edges)
    columns = {s.label: pl.Series(values[:, i], nan_to_null=True) for i, s in enumerate(spec.metrics)}
    return pl.DataFrame(columns)


def _compared(found: pl.DataFrame, fair: pl.DataFrame) -> pl.DataFrame:
    """The values with those that an index of fairness is formed of in units of their mean at the same bottleneck, if there are several."""
    if fair.is_empty():
        return found
    both = found.join(fair.select("row", "i", "j", at="value"), on=["row", "i", "j"], how="left", maintain_order="left")
    mean = pl.col("value").mean().over("row", "i", "at")
    several = pl.col("at").n_unique().over("row", "i") > 1
    unit = pl.when(several & pl.col("at").is_not_null() & (mean > 0)).then(mean).otherwise(1.0)
    return both.with_columns(value=pl.col("value") / unit).drop("at")


def _aggregate(spec: StudySpec, out: np.ndarray, row: np.ndarray, which: np.ndarray, values: np.ndarray, edges: np.ndarray) -> None:
    """Fills `out` with one number of the members' numbers, which lie side by side from each edge on; see `selection.aggregate`."""
    counts = np.diff(np.r_[edges, len(values)])
    sums = np.add.reduceat(values, edges)
    for i, s in enumerate(spec.metrics):
        own = which == i
        if s.aggregate == "sum":
            answer = sums[own]
        elif s.aggregate == "mean":
            answer = sums[own] / counts[own]
        elif s.aggregate in ("min", "max"):
            answer = (np.minimum if s.aggregate == "min" else np.maximum).reduceat(values, edges)[own]
        else:
            squares = np.add.reduceat(values * values, edges)[own]
            answer = np.divide(sums[own] ** 2, counts[own] * squares, out=np.full(len(squares), np.nan), where=squares > 0)
        out[row[own], i] = answer


def wide(table: str, spec: StudySpec, combinations: Sequence[Combination], store: Store, done: pl.DataFrame) -> pl.DataFrame:
    """Everything kept of a table: `row`, the name of the flow or link, the time of a series, one column per metric."""
    key = TABLES[table]
    rows, first = _with_layouts(done, combinations)
    ids = ["row", *([key] if key else []), *(["time"] if table.endswith("_series") else [])]
    if not done.height:
        return pl.DataFrame(schema={"row": pl.UInt32})
    long = store.scan(done["key"].unique(maintain_order=True).to_list()).filter(pl.col("table") == table)
    frame = long.select("key", "name", "time", "metric", "value").collect().join(rows, on="key").rename({"name": key or "name"})
    present = frame["metric"].unique().to_list()
    if not present:
        return pl.DataFrame(schema={"row": pl.UInt32})
    if key:
        order = [(i, n, k) for i, p in enumerate(first) for k, n in enumerate(_names(p, key))]
        frame = frame.join(
            pl.DataFrame(order, schema={"layout": pl.Int32, key: pl.String, "order": pl.Int32}, orient="row"),
            on=["layout", key],
            how="left",
        )
    else:
        frame = frame.with_columns(pl.lit(0, pl.Int32).alias("order"))
    known = [m.name for m in metrics_in(table)]
    columns = [m for m in known if m in present] + sorted(m for m in present if m not in known)
    pivoted = frame.pivot(on="metric", index=[*ids, "order"], values="value", aggregate_function="first")
    pivoted = pivoted.sort("row", "order", *(["time"] if "time" in ids else []), nulls_last=True).select(*ids, *columns)
    taken = {*(f.name for f in spec.factors), *opened(spec)}
    return pivoted.rename({m: f"{_ONE[table]}_{m}" for m in columns if m in taken})


_ONE = {"flows": "flow", "groups": "group", "links": "link", "network": "network", "flow_series": "flow", "link_series": "link"}


def _names(p: Combination, key: str) -> Sequence[str]:
    if key == "group":
        return list(p.groups)
    return p.links if key == "link" else [f for members in p.groups.values() for f in members]
