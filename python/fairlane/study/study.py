"""`Study`: a base scenario, what is varied in it, and how often; run on any executor, interrupted at will."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from os import PathLike
from typing import TYPE_CHECKING, Any

from ..base.seeds import either
from . import plan_file
from .executors import WorkerPool, choose
from .model import PlotSpec, Precision, StudySpec
from .plan import Plan, known_plan, make_plan
from .progress import Tally
from .reader import read_study, read_text
from .result import StudyResult
from .scheduler import Drive, Interrupted
from .store import opened
from .writer import study_text

if TYPE_CHECKING:
    from distributed import Client

    from ..runs.network import Network

__all__ = ["Interrupted", "Study", "StudyProgress", "Tally"]

StudyProgress = Callable[[Tally], object]


class Study:
    """A base scenario, what is varied in it, and how often.

    `base` is a `Network`, the path of a scenario file, or a scenario as a dict; the rest is as in a study file
    (docs/reference/studies.md), in plain values or parameter classes. Everything that is wrong is one `ScenarioError` with all places:
    at once what the study file alone shows, in `plan` and `run` what only shows when the scenarios are made.

    >>> from fairlane import Network
    >>> from fairlane.queues import Codel, Red
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
        seed: int | None = None,
        metrics: Iterable[str] | Mapping[str, str] | None = None,
        settings: int | Mapping[str, Any] | None = None,
        open: Mapping[str, Any] | None = None,
        claims: Iterable[Mapping[str, Any]] | None = None,
        precision: str | float | Mapping[str, Any] | Precision | None = None,
        set: Mapping[str, Any] | None = None,
        keep: str | None = None,
        plugins: Iterable[str | PathLike[str]] | None = None,
        plots: Iterable[Mapping[str, Any] | PlotSpec] | None = None,
        confidence: float | None = None,
        hop_probe: bool | None = None,
        run_limit: str | None = None,
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
            seeds=either(seeds, seed),
            metrics=metrics,
            settings=settings,
            open=open,
            claims=claims,
            precision=precision,
            keep=keep,
            plugins=plugins,
            confidence=confidence,
            hop_probe=hop_probe,
            run_limit=run_limit,
            set=set,
            factors=factors,
            zip=[zip] if isinstance(zip, Mapping) else zip,
            plots=plots,
        )
        self.spec = read_text(text, "<study>")

    def _repr_html_(self) -> str:
        from .html import planned_html

        return planned_html(self.spec)

    @classmethod
    def from_file(
        cls,
        path: str | PathLike[str],
        *,
        sets: Iterable[tuple[str, str]] = (),
        seeds: int | str | Iterable[int] | None = None,
        seed: int | None = None,
        plugins: Iterable[str] = (),
    ) -> Study:
        """Reads a study file; `sets` (as `--set`), `seeds` or a single `seed`, and more `plugins` change it."""
        return cls(read_study(path, sets, either(seeds, seed), plugins))

    def to_toml(self) -> str:
        """The study file of this study; a base scenario that was given as a path is named as it was."""
        assert self.spec.source is not None
        return self.spec.source[0]

    def plan(self) -> Plan:
        """Resolves all combinations; raises `ScenarioError` with everything that is wrong."""
        return make_plan(self.spec)

    def run(
        self,
        out: str | PathLike[str] | None = None,
        *,
        threads: int | None = None,
        processes: int | None = None,
        cluster: str | Client | None = None,
        mpi: bool = False,
        executor: Executor | None = None,
        pool: WorkerPool | None = None,
        progress: StudyProgress | None = None,
    ) -> StudyResult:
        """Runs all runs that the folder `out` does not have yet; without `out` the results live as long as what is returned.

        The runs run on threads, one per core, or on so many `threads` or `processes`, on the Dask `cluster` at an address, on the processes
        that `mpi4py.futures` started, or on any `executor`. `progress` is called about ten times a second.

        Raises:
            ScenarioError: the study or one of its combinations is wrong. Then nothing was run or written.
            FolderError: the folder is in use, cannot be written, or its disk is full. Finished runs are kept, as after the next two.
            WorkerError: no worker is left.
            Interrupted: Ctrl-C; a `KeyboardInterrupt`.
        """
        workers = pool or choose(threads=threads, processes=processes, cluster=cluster, mpi=mpi, executor=executor)
        plan = None if out is None else known_plan(self.spec, out)
        known, plan = plan is not None, plan or self.plan()
        if out is not None:
            return self._run(out, plan, workers, progress, known=known)
        temporary = tempfile.mkdtemp(prefix="fairlane-study-")
        try:
            result = self._run(temporary, plan, workers, progress)
        except BaseException as e:
            shutil.rmtree(temporary, ignore_errors=True)
            if isinstance(e, Interrupted):
                raise Interrupted("nothing is kept, as the study has no folder; name one (out) to resume later") from None
            raise
        # Removed when the result is unreachable, at the latest with the process.
        weakref.finalize(result, shutil.rmtree, temporary, ignore_errors=True)
        return result

    def _run(
        self, out: str | PathLike[str], plan: Plan, workers: WorkerPool, progress: StudyProgress | None, *, known: bool = False
    ) -> StudyResult:
        """Runs what the folder does not have; the combinations of a `known` plan have no scenarios, which only runs need."""
        tally = Tally()
        with opened(out) as store:
            drive = Drive(plan, store, tally) if known else None
            if drive is None or not drive.finished:
                plan, tally = self.plan() if known else plan, Tally()
                plan_file.write(store.folder, self.spec, plan.combinations, plan.engine)
                drive = Drive(plan, store, tally)
            notes = [*plan.warnings, *drive.notes()]
            drive.run(workers, None if progress is None else lambda: progress(tally))
        notes += [n for n in workers.notes if n not in notes]
        return StudyResult(self.spec, plan.combinations, store, drive.index(), tally, notes)
