"""Plans a study without running it: the number of combinations and runs, finished runs, and the expected time."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from .. import _core
from ..base.cores import available_threads
from ..base.format import duration
from ..base.seeds import seed_words
from . import labels
from .claim_views import range_text
from .model import StudySpec
from .one_run import engine
from .progress import Tally
from .scheduler import Drive
from .settings import SETTING
from .store import Store

if TYPE_CHECKING:
    from .study import Study


@dataclass(frozen=True)
class Rehearsal:
    """The findings of `rehearse`."""

    spec: StudySpec
    folder: Path
    combinations: int
    runs: int
    """Runs planned; with a precision, those of the first replications and of what was added to finished combinations."""
    reused: int
    """Runs whose results are in the folder."""
    shared: int
    """Runs that need no run of their own, because two combinations come to the same scenario."""
    workers: int
    cpu_s: float | None
    """CPU seconds that the missing runs will take, if those of the folder are like them; None if there are none."""

    @property
    def to_run(self) -> int:
        """Runs that would be run."""
        return self.runs - self.reused - self.shared

    @property
    def seconds(self) -> float | None:
        """How long that may take."""
        return None if self.cpu_s is None else self.cpu_s / min(self.workers, max(1, self.to_run))

    def document(self) -> dict[str, Any]:
        """The document that `fairlane study --dry-run --json` prints."""
        from .document import STUDY_SCHEMA, head

        return {
            "schema": STUDY_SCHEMA,
            "fairlane": _core.version(),
            "engine": engine(),
            "study": head(self.spec),
            "runs": {
                "planned": self.runs,
                "done": self.reused,
                "reused": self.reused,
                "failed": 0,
                "combinations": self.combinations,
                "to_run": self.to_run,
            },
            "estimate_s": self.seconds,
            "out": str(self.folder),
        }

    def text(self) -> str:
        """Returns the findings as text."""
        spec = self.spec
        opened = [] if spec.settings is None else [f"  {o.name}: {range_text(o)} (varied)" for o in spec.settings.opens]
        factors = [f"  {f.name}: {_some([labels.level(f, x.label) for x in f.levels])}" for f in spec.factors if f.name != SETTING]
        seeds = f"at least {labels.count(len(spec.seeds), 'seed')}" if spec.precision else labels.count(len(spec.seeds), "seed")
        seeds += f" ({seed_words(list(spec.seeds))})"
        settings = "" if spec.settings is None else f"{labels.count(len(spec.settings.values), 'setting')}, "
        lines = [
            f"{spec.name}: {settings}{labels.count(self.combinations, 'combination')}, {seeds}, {labels.count(self.runs, 'run')}",
            *opened,
            *factors,
        ]
        there = f"{self.reused} of them in {self.folder} already" if self.reused else f"none of them in {self.folder} yet"
        shared = f", {self.shared} identical to others" if self.shared else ""
        lines.append(f"to run: {labels.count(self.to_run, 'run')} ({there}{shared})")
        if spec.precision is not None:
            asked = spec.precision
            lines.append(f"more seeds follow until intervals are within ± {100 * asked.relative:g} %, {asked.maximum} at most")
        if not self.to_run:
            lines.append("all runs are finished; only tables and figures remain")
        elif self.seconds is None:
            lines.append("no finished run to estimate the time from")
        else:
            lines.append(
                f"about {duration(self.seconds)} on {labels.count(self.workers, 'worker')}, if these runs take as long as the finished ones"
            )
        return "\n".join(lines)


def _some(levels: list[str]) -> str:
    return ", ".join(levels if len(levels) <= 12 else [*levels[:10], "...", levels[-1]]) + f" ({len(levels)})"


def rehearse(study: Study, folder: str | PathLike[str], workers: int = 0) -> Rehearsal:
    """Plans a study, and looks at what its folder has; raises `ScenarioError` as a run would."""
    plan = study.plan()
    path = Path(fspath(folder))
    tally = Tally()
    with Store(path, read_only=True) as store:
        index = Drive(plan, store, tally).index()
    left = index.filter(pl.col("status") == "open")
    runs = left.unique("key", keep="first")
    known = index.filter(pl.col("cpu_s").is_not_null())
    cpu = None
    if known.height:
        per_combination = known.group_by("combination").agg(pl.col("cpu_s").mean().alias("mean"))
        costs = runs.join(per_combination, on="combination", how="left")["mean"].fill_null(float(known["cpu_s"].mean()))  # type: ignore[arg-type]
        cpu = float(costs.sum())
    return Rehearsal(
        study.spec,
        path,
        len(plan.combinations),
        index.height,
        tally.reused,
        index.height - tally.reused - runs.height,
        workers or available_threads(),
        cpu,
    )
