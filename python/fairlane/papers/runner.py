"""Runs the combinations of a paper on all cores, as a study does: finished runs are kept, so a stopped reproduction can resume."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from .. import _core
from ..base import toml
from ..errors import RunError, ScenarioError
from ..study.executors import Threads, WorkerPool
from ..study.model import Outcome, Task
from ..study.plan import Runs, combination_of
from ..study.rows import runs_of
from ..study.store import Store
from .cache import Kept, tables_of_run
from .definition import Combination, Paper, RunTables

Progress = Callable[[float, str], object]
"""progress(fraction of the work done, what is being done); returning False stops the reproduction."""


class Stopped(KeyboardInterrupt):
    """The caller's progress function asked to stop."""


@dataclass(frozen=True)
class Job:
    """One replication of one combination."""

    combination: Combination
    seed: int
    place: str = ""
    """Setting of the run, in words that follow those of its combination."""


class _Scenario:
    """The scenario of jobs that differ in their seed only. If a paper's scenario depends on the seed, each seed has its own."""

    def __init__(self, paper: Paper, combination: Combination, text: str) -> None:
        resolved = combination_of(json.loads(_core.resolve(text, f"{paper.key}.json", "json", []).json()))
        flows = tuple(f for group in resolved.groups.values() for f in group)
        links = tuple(x for x in resolved.links if paper.links is None or x in paper.links)
        flow_series, link_series = paper.series_of(combination)
        self.kept: Kept = (
            ("flows", paper.flow_columns, flows),
            ("links", paper.link_columns, links),
            ("network", paper.network_columns, ("",)),
            ("flow_series", flow_series, flows),
            ("link_series", link_series, links),
        )
        wanted = tuple((table, column, names) for table, columns, names in self.kept for column in columns)
        self.runs = Runs(resolved, wanted, hop_probe=paper.hop_probe)


class Runner:
    """Runs jobs and keeps what they measure in a folder, as a study does. A context manager: the folder is its own until the end."""

    def __init__(self, paper: Paper, folder: Path, pool: Callable[[], WorkerPool] = Threads) -> None:
        self.paper = paper
        self.fresh = 0
        """Simulations that were run."""
        self.reused = 0
        """Simulations that the folder had. Jobs that ask for the same one count as one, here as above."""
        self.kept: list[str] = []
        """Keys of all runs in the folder, when it is left."""
        self._asked: set[str] = set()
        self.cpu_s = 0.0
        self._pool = pool
        self._folder = folder
        self._scenarios: dict[tuple[Any, ...], _Scenario] = {}

    def __enter__(self) -> Self:
        self._store = Store(self._folder)
        return self

    def __exit__(self, *_: object) -> None:
        self.kept = list(self._store)
        self._store.close()

    @property
    def notes(self) -> list[str]:
        """Notes for the user about the contents of the folder, such as damaged files whose runs are repeated."""
        return self._store.notes

    def look(self, jobs: Sequence[Job], progress: Progress | None = None) -> None:
        """Raises what is wrong with the scenarios of these jobs; nothing is run or written."""
        for i, job in enumerate(jobs):
            self._scenario(job)
            if progress is not None and progress(0.0, f"{i + 1} of {len(jobs)} scenarios read") is False:
                raise Stopped

    def run(
        self,
        jobs: Iterable[Job],
        progress: Progress | None = None,
        span: tuple[float, float] = (0.0, 1.0),
        use: Callable[[Job, RunTables], Any] = lambda _, tables: tables,
    ) -> list[Any]:
        """Runs all jobs; what `use` makes of each, in their order; by default its tables.

        `progress` gets fractions from `span`. Ctrl-C stops at once and keeps what is finished.
        """
        work, store = list(jobs), self._store
        planned: list[Task] = []
        kept: list[Kept] = []
        under_way: dict[str, Job] = {}
        left = iter(work)

        def feed() -> Task | None:
            for job in left:
                scenario = self._scenario(job)
                task = scenario.runs.task(job.seed)
                planned.append(task)
                kept.append(scenario.kept)
                if task.key not in self._asked:
                    self._asked.add(task.key)
                    if task.key not in store:
                        under_way[task.key] = job
                        return task
                    self.reused += 1
                tick()
            return None

        def done(outcome: Outcome) -> None:
            job = under_way.pop(outcome.key)
            if outcome.error:
                raise RunError(f"{outcome.error}\n  = note: {self._name(job)}, seed {job.seed}" if job.place else outcome.error)
            store.put(outcome)
            self.fresh += 1
            self.cpu_s += outcome.cpu_s

        def tick() -> None:
            n = len(planned) - len(under_way)
            fraction = span[0] + (span[1] - span[0]) * n / max(1, len(work))
            if progress is not None and progress(fraction, f"{n} of {len(work)} runs") is False:
                raise Stopped

        with self._pool() as pool:
            pool.run(feed, done, tick)
        tick()
        store.tidy()
        of_key: dict[str, list[int]] = {}
        for i, task in enumerate(planned):
            of_key.setdefault(task.key, []).append(i)
        out: dict[int, Any] = {}
        for batch in store.batches(of_key):
            for key, rows in runs_of(batch):
                for i in of_key[key]:
                    out[i] = use(work[i], tables_of_run(rows, kept[i]))
        return [out[i] for i in range(len(work))]

    def _scenario(self, job: Job) -> _Scenario:
        """The scenario of a job, resolved once for all seeds and all combinations that have the same. `ScenarioError` shows it as TOML."""
        tree = {k: x for k, x in job.combination.tree(job.seed).items() if k not in ("name", "description", "seed")}
        text = json.dumps(tree)
        known = (hashlib.sha256(text.encode()).digest(), self.paper.series_of(job.combination))
        if known not in self._scenarios:
            try:
                self._scenarios[known] = _Scenario(self.paper, job.combination, text)
            except ScenarioError:
                _core.resolve(toml.dumps(tree), self._name(job), "toml", [])
                raise
        return self._scenarios[known]

    def _name(self, job: Job) -> str:
        """A job's scenario in messages."""
        return f"combination {', '.join(f'{k}={x}' for k, x in job.combination.factors)} of {self.paper.called}{job.place}"

    def forget(self) -> None:
        """Lets go of the scenarios read so far: those of the next settings are others."""
        self._scenarios.clear()
