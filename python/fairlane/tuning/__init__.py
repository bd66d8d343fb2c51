"""Tuning: a queue and its parameters chosen for a scenario, or a range of scenarios, by what is asked of it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ..base import sha256sums
from ..base.extras import need
from ..base.outputs import room_for
from ..base.seeds import either, parse_seeds
from ..errors import FairlaneError
from ..runs.network import Network
from .model import Baseline, Constraint, Entry, Objective, TrainingScenario, Trial, TuneSpec
from .outcome import Verdict
from .result import TuneResult
from .score import cost_of
from .search import TuneProgress, TuneTally

__all__ = [
    "Constraint",
    "Entry",
    "Baseline",
    "TrainingScenario",
    "Objective",
    "Trial",
    "TuneProgress",
    "TuneResult",
    "TuneSpec",
    "TuneTally",
    "Tuning",
    "Verdict",
    "cost_of",
]


class Tuning:
    """A search for the best queue; `Tuning.from_file` reads one, `run` runs it.

    The arguments are the keys of a tune file: `objectives`, `search`, `constraints`, `training_scenarios`, `seeds`... `scenario` is a
    `Network`, a dict or a path.

    >>> Tuning(
    ...     {
    ...         "duration": "5s",
    ...         "links": {"l": {"from": "a", "to": "b", "rate": "1Mbit/s", "delay": "1ms"}},
    ...         "flows": {"tcp": {"from": "a", "to": "b", "tcp": {}}},
    ...     },
    ...     objectives={"links.l.sojourn_p99": "min", "flows.tcp.goodput": "max"},
    ...     search={"droptail": {"limit": {"from": "2p", "to": "50p"}}},
    ... ).spec.rule
    'knee'
    """

    def __init__(self, scenario: Network | Mapping[str, Any] | str | PathLike[str], **keys: Any) -> None:
        """Raises `ScenarioError` with all that is wrong."""
        import json

        from .reader import parse

        if isinstance(scenario, Network):
            given: Any = scenario.to_dict()
        else:
            given = dict(scenario) if isinstance(scenario, Mapping) else str(Path(fspath(scenario)).absolute())
        try:
            text = json.dumps({"scenario": given, **keys}, indent=1)
        except TypeError as e:
            raise FairlaneError(f"a tuning holds text, numbers, true/false, lists and tables: {e}") from None
        self.spec: TuneSpec = parse(text, "<tuning>", "json")

    def _repr_html_(self) -> str:
        from .html import planned_html

        return planned_html(self.spec)

    @classmethod
    def from_file(cls, path: str | PathLike[str], *, sets: Iterable[tuple[str, str]] = ()) -> Tuning:
        """Reads a tune file; `sets` (as `--set`) change its scenario. Raises `ScenarioError` with all that is wrong."""
        from .reader import read

        made = cls.__new__(cls)
        changes = tuple((k, str(v)) for k, v in sets)
        made.spec = replace(read(fspath(path), sets=changes), sets=changes)
        return made

    def but(
        self,
        *,
        trials: int | None = None,
        seeds: Any = None,
        seed: int | None = None,
        holdout_seeds: Any = None,
        plugins: Iterable[str] = (),
    ) -> Tuning:
        """Returns a copy with another number of trials, other seeds, or more plug-ins for the workers."""
        made = type(self).__new__(type(self))
        wanted = either(seeds, seed)
        study = self.spec.study if wanted is None else replace(self.spec.study, seeds=tuple(parse_seeds(wanted)))
        study = replace(study, plugins=(*study.plugins, *plugins))
        held = self.spec.holdout_seeds if holdout_seeds is None else tuple(parse_seeds(holdout_seeds))
        both = sorted(set(study.seeds) & set(held))
        if both:
            raise FairlaneError(f"the search sees seed {both[0]} too, which is held out")
        if trials is not None and trials < 1:
            raise FairlaneError("a search has at least one trial")
        made.spec = replace(self.spec, study=study, holdout_seeds=held, trials=self.spec.trials if trials is None else trials)
        return made

    def run(
        self,
        out: str | PathLike[str] | None = None,
        *,
        threads: int | None = None,
        processes: int | None = None,
        cluster: Any = None,
        mpi: bool = False,
        executor: Any = None,
        progress: TuneProgress | None = None,
    ) -> TuneResult:
        """Searches, and tests what was chosen on the held-out scenarios and seeds.

        `out`: the folder for all files and the runs; with one, a search that was interrupted resumes where it stopped. The result does
        not depend on where the runs are executed: `threads`, `processes`, a Dask `cluster` or any `concurrent.futures.Executor`.
        `progress(tally)` is called about ten times a second.
        """
        need("tune")
        from ..study.executors import choose
        from ..study.store import opened
        from .files import FILES, write
        from .search import Search

        if out is not None:
            room_for(Path(fspath(out)), (*FILES, sha256sums.NAME))
        pool = choose(threads=threads, processes=processes, cluster=cluster, mpi=mpi, executor=executor)
        with tempfile.TemporaryDirectory(prefix="fairlane-tune-") as place, opened(place if out is None else out) as store:
            search = Search(self.spec, store)
            search.run(pool, progress)
            if out is None:
                return TuneResult(self.spec, search)
            store.tidy()
            result = TuneResult(self.spec, search, store.folder)
            write(result, store.folder, store)
        return result
