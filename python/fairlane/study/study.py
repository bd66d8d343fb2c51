"""`Study`: a base scenario, what is varied in it, and how often; run on any executor, interrupted at will."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import polars as pl

from . import saved
from .crew import Crew, Threads
from .model import Outcome, PlotSpec, Point, Precision, StudySpec, Task
from .plan import Plan, make_plan
from .read import read_study, read_text
from .result import StudyResult
from .store import Store
from .write import study_text

if TYPE_CHECKING:
    from ..network import Network

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
    """A base scenario, what is varied in it, and how often.

    `base` is a `Network`, the path of a scenario file, or a scenario as a dict; the rest is said as in a study file
    (docs/reference/studies.md), in plain values or parameter classes. Everything that is wrong is one `ScenarioError` with all places:
    at once what the study file alone shows, in `plan` and `run` what only shows when the scenarios are made.

    >>> from fairlane import Codel, Network, Red
    >>> net = Network(duration="2s").link("a", "b", rate="1Mbit/s", delay="5ms").flow("tcp", "a", "b", tcp="newreno")
    >>> study = Study(net, factors={"links.a-b.queue": [Red(min="5p"), Codel(), "sfq"]}, seeds="1..3", metrics=["network.goodput"])
    >>> [(f.name, [level.label for level in f.levels]) for f in study.spec.factors]
    [('queue', ['red{min=5p}', 'codel', 'sfq'])]
    """

    def __init__(
        self,
        base: Network | str | PathLike[str] | Mapping[str, Any] | StudySpec,
        *,
        factors: Mapping[str, Any] | None = None,
        zip: Iterable[Mapping[str, Any]] | Mapping[str, Any] | None = None,
        seeds: int | str | Iterable[int] | None = None,
        metrics: Iterable[str] | Mapping[str, str] | None = None,
        precision: str | float | Mapping[str, Any] | Precision | None = None,
        set: Mapping[str, Any] | None = None,
        keep: str | None = None,
        plugins: Iterable[str | PathLike[str]] | None = None,
        plots: Iterable[Mapping[str, Any] | PlotSpec] | None = None,
        confidence: float | None = None,
        name: str | None = None,
        description: str | None = None,
    ) -> None:
        if isinstance(base, StudySpec):
            self.spec = base
            return
        text = study_text(
            base,
            name=name,
            description=description,
            seeds=seeds,
            metrics=metrics,
            precision=precision,
            keep=keep,
            plugins=plugins,
            confidence=confidence,
            set=set,
            factors=factors,
            zip=[zip] if isinstance(zip, Mapping) else zip,
            plots=plots,
        )
        self.spec = read_text(text, "<study>")

    @classmethod
    def from_file(
        cls, path: str | PathLike[str], *, sets: Iterable[tuple[str, str]] = (), seeds: int | str | Iterable[int] | None = None
    ) -> Study:
        """Reads a study file; `sets` (as `--set`) and `seeds` change it."""
        return cls(read_study(path, sets, seeds))

    def to_toml(self) -> str:
        """The study file of this study."""
        assert self.spec.source is not None
        return self.spec.source[0]

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
