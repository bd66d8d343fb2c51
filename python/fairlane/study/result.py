"""`StudyResult`: what came of a study, as tables, intervals, plots."""

from __future__ import annotations

import polars as pl

from . import select
from .model import StudySpec
from .plan import Plan
from .store import Store


class StudyResult:
    """The results of a study."""

    def __init__(self, spec: StudySpec, plan: Plan, store: Store, index: pl.DataFrame) -> None:
        self.spec = spec
        self.plan = plan
        self.index = index
        """One row a cell: point, seed, key, status (done, failed, open), error."""
        self._store = store

    def cells(self) -> pl.DataFrame:
        """One row a finished cell: its factors, its seed, one column for each metric; in the order of points and seeds."""
        done = self.index.filter(pl.col("status") == "done").sort("point", "seed")
        long = self._store.scan(done["key"].to_list())
        rows = []
        wanted = {s.label: s for s in self.spec.metrics}
        by_key: dict[tuple[str, str, str], dict[str, float]] = {}
        metrics = {s.metric for s in self.spec.metrics}
        for key, table, name, metric, value in (
            long.filter(pl.col("metric").is_in(list(metrics)) & pl.col("time").is_null())
            .select("key", "table", "name", "metric", "value")
            .collect()
            .iter_rows()
        ):
            by_key.setdefault((key, table, metric), {})[name] = value
        for point, seed, key in done.select("point", "seed", "key").iter_rows():
            p = self.plan.points[point]
            row = {**p.labels, "seed": seed}
            for label, s in wanted.items():
                values = by_key.get((key, s.table, s.metric), {})
                row[label] = select.aggregate(s.aggregate, (values.get(n) for n in select.names(s, p)))
            rows.append(row)
        return pl.DataFrame(rows, infer_schema_length=None)
