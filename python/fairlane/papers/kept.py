"""What was kept of runs: from the long tables of cells back to columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from .definition import RunTables, Series

Kept = tuple[tuple[str, Sequence[str], Sequence[str]], ...]
"""What a paper keeps: table, columns and names of flows, links, network, and of the series of flows and links."""


class Rows(NamedTuple):
    """The rows of one cell; words by their numbers, for they are few and the rows are many."""

    words: list[str]
    table: np.ndarray
    name: np.ndarray
    metric: np.ndarray
    time: np.ndarray
    value: np.ndarray
    texts: list[tuple[str, str]]
    """Metric and text of the rows that have a text in place of a value."""


def cells_of(batch: pl.DataFrame) -> Iterator[tuple[str, Rows]]:
    """The cells of a batch, in which the rows of a cell are together, each with its key."""
    written = pl.concat([batch["table"], batch["name"], batch["metric"]])
    words = written.unique(maintain_order=True).to_list()
    codes = written.cast(pl.Enum(words)).to_physical().to_numpy().reshape(3, len(batch))
    times, values = (batch[c].fill_null(float("nan")).to_numpy() for c in ("time", "value"))
    texts, worded = batch["text"], batch["text"].is_not_null().to_numpy()
    runs = batch["key"].rle().struct.unnest()
    start = 0
    for length, key in runs.select("len", "value").iter_rows():
        own = slice(start, start + length)
        told = [(words[codes[2, i]], texts[int(i)]) for i in start + np.flatnonzero(worded[own])]
        yield key, Rows(words, *codes[:, own], times[own], values[own], told)
        start += length


def tables_of_run(rows: Rows, kept: Kept) -> RunTables:
    """What was kept of a job: names, and numbers in their order; None where there is no value."""
    words = rows.words
    single = np.isnan(rows.time) & ~np.isnan(rows.value)
    found: dict[tuple[str, str], dict[Any, float]] = {}
    columns = (rows.table, rows.metric, rows.name, rows.value)
    for table, metric, name, value in zip(*(c[single].tolist() for c in columns), strict=True):
        found.setdefault((words[table], words[metric]), {})[words[name]] = value
    flows, links, network = (_columns(found, *k) for k in kept[:3])
    return RunTables(
        flows,
        links,
        network,
        int(found["run", "packet_hops"][""]),
        [text for metric, text in rows.texts if metric == "warning"],
        _series(rows, *kept[3]),
        _series(rows, *kept[4]),
        next((text for metric, text in rows.texts if metric == "fingerprint"), ""),
    )


def _columns(
    found: dict[tuple[str, str], dict[Any, float]], table: str, columns: Sequence[str], names: Sequence[str]
) -> dict[str, list[Any]]:
    # Reasons of drops differ between queues: one that does not know a reason has no column of it.
    there = [c for c in columns if (table, c) in found or not c.startswith(("drops_", "marks_"))]
    return {"name": list(names), **{c: [found.get((table, c), {}).get(n) for n in names] for c in there}}


def _series(rows: Rows, table: str, columns: Sequence[str], names: Sequence[str]) -> Series:
    """The rows of a table as a grid of names and times for each column."""
    if not columns or table not in rows.words:
        return Series()
    at = np.flatnonzero((rows.table == rows.words.index(table)) & ~np.isnan(rows.time))
    if not len(at):
        return Series()
    times = np.unique(rows.time[at])
    of_name = np.full(len(rows.words), -1)
    for i, n in enumerate(names):
        if n in rows.words:
            of_name[rows.words.index(n)] = i
    made = {c: np.full((len(names), len(times)), np.nan) for c in columns}
    metrics = rows.metric[at]
    for block in np.split(at, np.flatnonzero(np.diff(metrics)) + 1):
        grid = made.get(rows.words[rows.metric[block[0]]])
        if grid is not None:
            grid[of_name[rows.name[block]], np.searchsorted(times, rows.time[block])] = rows.value[block]
    return Series(tuple(names), times, made)
