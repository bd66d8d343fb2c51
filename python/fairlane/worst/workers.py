"""Runs of a search on processes, a Dask cluster, MPI or any executor: the workers of studies."""

from __future__ import annotations

import io
import json
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from .. import _core
from ..base.scenario import checked_pairs
from ..errors import RunError, ScenarioError
from ..runs import selection
from ..runs.selection import Selector
from ..study.executors import WorkerPool
from ..study.model import Outcome, Task
from ..study.one_run import engine, key_of, planned


class Workers:
    """Runs points of a prepared scenario on the workers of a pool, which is open."""

    def __init__(self, pool: WorkerPool, prepared: _core.Prepared, want: Sequence[Selector], plugins: Sequence[str]) -> None:
        self._pool = pool
        self._prepared = prepared
        self._want = want
        self._plugins = tuple(planned(path) for path in plugins)

    def run(self, points: Sequence[Mapping[str, Any]], seeds: Sequence[int]) -> list[list[list[float]] | None]:
        """Returns the wanted metrics of each seed of each point; None for a point that is no valid scenario."""
        tasks: dict[str, Task] = {}
        rows: dict[str, selection.RowNames] = {}
        plan: list[list[str] | None] = []
        for point in points:
            try:
                resolved = self._prepared.resolve(checked_pairs(point))
            except ScenarioError:
                plan.append(None)
                continue
            text, known = resolved.json(False), selection.row_names(json.loads(resolved.json()))
            keys = [key_of(text, seed) for seed in seeds]
            for key, seed in zip(keys, seeds, strict=True):
                tasks[key], rows[key] = Task(key, text, seed, engine(), self._plugins), known
            plan.append(keys)
        todo = deque(tasks.values())
        found: dict[str, list[float]] = {}

        def done(outcome: Outcome) -> None:
            if outcome.error:
                raise RunError(outcome.error)
            found[outcome.key] = self._values(outcome.data, rows[outcome.key])

        self._pool.run(lambda: todo.popleft() if todo else None, done, lambda: None)
        return [None if keys is None else [found[key] for key in keys] for keys in plan]

    def _values(self, data: bytes, known: selection.RowNames) -> list[float]:
        import polars as pl

        frame = pl.read_parquet(io.BytesIO(data)).filter(pl.col("time").is_null(), pl.col("value").is_not_null())
        values = {(t, m, n): v for t, m, n, v in frame.select("table", "metric", "name", "value").iter_rows()}
        return [selection.formed(s, selection.names(s, known), values) for s in self._want]
