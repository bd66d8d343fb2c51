"""`Study`: a base scenario, what is varied in it, and how often; run on any executor, interrupted at will."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from os import PathLike
from typing import Any

import polars as pl

from . import saved
from .crew import Crew, Threads
from .model import Outcome, Point, StudySpec, Task
from .plan import Plan, make_plan
from .result import StudyResult
from .store import Store

StudyProgress = Callable[["Tally"], object]


class Tally:
    """How far a study is."""

    def __init__(self) -> None:
        self.cells = 0
        """Cells known to be needed; may grow while replications are added."""
        self.done = 0
        """Cells with a result, those kept from before included."""
        self.reused = 0
        """Cells kept from before."""
        self.failed = 0
        """Cells without a result."""


class Study:
    """A study; `Study.from_file` reads one, `run` runs it."""

    def __init__(self, spec: StudySpec) -> None:
        self.spec = spec

    def plan(self) -> Plan:
        """Resolves all points; raises `ScenarioError` with everything that is wrong."""
        return make_plan(self.spec)

    def run(self, out: str | PathLike[str], *, crew: Crew | None = None, progress: StudyProgress | None = None) -> StudyResult:
        """Runs all cells that the folder `out` does not have yet."""
        plan = self.plan()
        store = Store(out)
        saved.write(out, self.spec, plan.points, plan.engine)
        tally = Tally()
        todo: deque[tuple[Point, Task]] = deque(plan.tasks())
        tally.cells = len(todo)
        rows: dict[str, dict[str, Any]] = {}
        for point, task in todo:
            rows.setdefault(task.key, {"point": point.index, "seed": task.seed, "key": task.key, "status": "open", "error": ""})

        def feed() -> Task | None:
            while todo:
                _, task = todo.popleft()
                if task.key not in store:
                    return task
                rows[task.key]["status"] = "done"
                tally.done += 1
                tally.reused += 1
            return None

        def done(outcome: Outcome) -> None:
            row = rows[outcome.key]
            if outcome.error:
                row["status"], row["error"] = "failed", outcome.error
                tally.failed += 1
            else:
                store.put(outcome)
                row["status"] = "done"
                tally.done += 1

        try:
            with crew or Threads() as workers:
                workers.run(feed, done, lambda: progress(tally) if progress is not None else None)
        finally:
            store.write_index(pl.DataFrame(list(rows.values())))
            store.close()
        return StudyResult(self.spec, plan.points, store, pl.DataFrame(list(rows.values())), tally)
