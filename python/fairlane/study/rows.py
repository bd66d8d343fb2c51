"""The long tables of runs, read run by run. `run.py` writes them, `frames.py` makes wide tables of all runs of a study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl


class Rows(NamedTuple):
    """The rows of one run; words by their numbers, for they are few and the rows are many."""

    words: list[str]
    table: np.ndarray
    name: np.ndarray
    metric: np.ndarray
    time: np.ndarray
    value: np.ndarray
    texts: list[tuple[str, str]]
    """Metric and text of the rows that have a text instead of a value."""

    def values(self) -> dict[tuple[str, str], dict[str, float]]:
        """The values that are no series: by table and metric, then by the name of the flow or link."""
        single = np.isnan(self.time) & ~np.isnan(self.value)
        found: dict[tuple[str, str], dict[str, float]] = {}
        columns = (self.table, self.metric, self.name, self.value)
        for table, metric, name, value in zip(*(c[single].tolist() for c in columns), strict=True):
            found.setdefault((self.words[table], self.words[metric]), {})[self.words[name]] = value
        return found

    def series(self, table: str, metrics: Sequence[str], names: Sequence[str]) -> tuple[np.ndarray, dict[str, np.ndarray]] | None:
        """The times of a table, and a grid of names and times for each metric; None if there is nothing."""
        if not metrics or table not in self.words:
            return None
        at = np.flatnonzero((self.table == self.words.index(table)) & ~np.isnan(self.time))
        if not len(at):
            return None
        times = np.unique(self.time[at])
        of_name = np.full(len(self.words), -1)
        for i, n in enumerate(names):
            if n in self.words:
                of_name[self.words.index(n)] = i
        made = {m: np.full((len(names), len(times)), np.nan) for m in metrics}
        kinds = self.metric[at]
        for block in np.split(at, np.flatnonzero(np.diff(kinds)) + 1):
            grid = made.get(self.words[self.metric[block[0]]])
            if grid is not None:
                grid[of_name[self.name[block]], np.searchsorted(times, self.time[block])] = self.value[block]
        return times, made


def runs_of(batch: pl.DataFrame) -> Iterator[tuple[str, Rows]]:
    """The runs of a batch, in which the rows of a run are together, each with its key."""
    written = pl.concat([batch["table"], batch["name"], batch["metric"]])
    words = written.unique(maintain_order=True).to_list()
    codes = written.cast(pl.Enum(words)).to_physical().to_numpy().reshape(3, len(batch))
    times, values = (batch[c].fill_null(float("nan")).to_numpy() for c in ("time", "value"))
    texts, worded = batch["text"], batch["text"].is_not_null().to_numpy()
    runs = batch["key"].rle().struct.unnest()
    start = 0
    for length, key in runs.select("len", "value").iter_rows():
        own = slice(start, start + length)
        warnings = [(words[codes[2, i]], texts[int(i)]) for i in start + np.flatnonzero(worded[own])]
        table, name, metric = codes[:, own]
        yield key, Rows(words, table, name, metric, times[own], values[own], warnings)
        start += length
