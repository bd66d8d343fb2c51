"""Runs the cells of a paper on all cores, as those of a study: finished runs are kept, so a reproduction that was stopped goes on there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ..errors import RunError
from ..study.crew import Crew, Threads
from ..study.model import Outcome, Point, StudySpec, Task, Wanted
from ..study.plan import Plan, resolve_point
from ..study.store import Store
from .definition import Cell, Paper, RunTables
from .kept import Kept, cells_of, tables_of_run

Progress = Callable[[float, str], object]
"""progress(fraction of the work done, what is being done); returning False stops the reproduction."""


class Stopped(KeyboardInterrupt):
    """The caller's progress function asked to stop."""


@dataclass(frozen=True)
class Job:
    """One replication of one cell."""

    cell: Cell
    seed: int


class _Replication(Plan):
    """The plan of one job: a paper's scenario may depend on the seed, so each is a point of its own."""

    def __init__(self, paper: Paper, job: Job) -> None:
        text, name = json.dumps(job.cell.tree(job.seed)), f"{paper.key}.json"
        spec = StudySpec(paper.key, text, name, "json", (), (job.seed,), (), keep="selected", hop_probe=paper.hop_probe)
        point = resolve_point(spec, 0, ())
        flows = tuple(f for group in point.groups.values() for f in group)
        links = tuple(x for x in point.links if paper.links is None or x in paper.links)
        self.kept: Kept = (
            ("flows", paper.flow_columns, flows),
            ("links", paper.link_columns, links),
            ("network", paper.network_columns, ("",)),
            ("flow_series", paper.flow_series, flows),
            ("link_series", paper.link_series, links),
        )
        super().__init__(spec, [point])
        self.job = self.task(point, job.seed)

    def wanted(self, _point: Point) -> Wanted:
        """The columns that the paper measures."""
        return tuple((table, column, names) for table, columns, names in self.kept for column in columns)


class Runner:
    """Runs jobs and keeps what they measure in a folder, as a study does. A context manager: the folder is its own until the end."""

    def __init__(self, paper: Paper, folder: Path, crew: Callable[[], Crew] = Threads) -> None:
        self.paper = paper
        self.reused = 0
        self.fresh = 0
        self.cpu_s = 0.0
        self._crew = crew
        self._store = Store(folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()

    def run(
        self,
        jobs: Iterable[Job],
        progress: Progress | None = None,
        span: tuple[float, float] = (0.0, 1.0),
        use: Callable[[Job, RunTables], Any] = lambda _, tables: tables,
    ) -> list[Any]:
        """Runs all jobs; what `use` makes of each, in their order; by default its tables.

        `progress` is told fractions from `span`. Ctrl-C stops at once and keeps what is finished.
        """
        work, store = list(jobs), self._store
        planned: list[_Replication] = []
        under_way: set[str] = set()
        left = iter(work)

        def feed() -> Task | None:
            for job in left:
                plan = _Replication(self.paper, job)
                planned.append(plan)
                if plan.job.key not in store and plan.job.key not in under_way:
                    under_way.add(plan.job.key)
                    return plan.job
                self.reused += 1
                tick()
            return None

        def done(outcome: Outcome) -> None:
            if outcome.error:
                raise RunError(outcome.error)
            store.put(outcome)
            under_way.remove(outcome.key)
            self.fresh += 1
            self.cpu_s += outcome.cpu_s

        def tick() -> None:
            n = len(planned) - len(under_way)
            fraction = span[0] + (span[1] - span[0]) * n / max(1, len(work))
            if progress is not None and progress(fraction, f"{n} of {len(work)} runs") is False:
                raise Stopped

        with self._crew() as crew:
            crew.run(feed, done, tick)
        tick()
        store.tidy()
        of_key: dict[str, list[int]] = {}
        for i, plan in enumerate(planned):
            of_key.setdefault(plan.job.key, []).append(i)
        out: dict[int, Any] = {}
        for batch in store.batches(of_key):
            for key, rows in cells_of(batch):
                for i in of_key[key]:
                    out[i] = use(work[i], tables_of_run(rows, planned[i].kept))
        return [out[i] for i in range(len(work))]
