"""The search: which settings are tried, in stages whose runs any executor carries out.

What is asked for follows from results alone: settings come in batches of fixed size, all runs of a batch are there before the next one is
asked for, and the order in which they arrived does not count. So the same file gives the same trials on one core, on many, and after an
interruption, when the runs of the first batches are found done.
"""

from __future__ import annotations

import math
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import ScenarioError
from ..study.diagnosis import prepared_base
from ..study.model import Combination, Level, Outcome, Task
from ..study.plan import Plan, resolve_combination
from ..study.store import Store
from . import score, space
from .model import Entry, TrainingScenario, Trial, TuneSpec

START = 10
"""Trials drawn at random before the sampler learns from them, at least."""


class TuneTally:
    """How far a search is."""

    def __init__(self, runs: int) -> None:
        self.runs = runs
        """Runs that are expected to be needed."""
        self.done = 0
        """Runs with a result, those kept from before included."""
        self.reused = 0
        """Runs kept from before."""
        self.failed = 0
        """Runs without a result."""
        self.trials = 0
        """Settings whose runs are all there."""
        self.stage = ""
        """The current stage."""


TuneProgress = Callable[[TuneTally], object]


@dataclass
class Job:
    """A setting on some scenarios and seeds."""

    trial: Trial
    scenarios: tuple[TrainingScenario, ...]
    seeds: tuple[int, ...]
    combinations: list[Combination]
    tasks: dict[tuple[int, int], Task]
    """By the scenario's place and seed; empty if the setting is not valid."""


class Search:
    """All stages of a tuning: the first trials, batches of the search, the test on what it never saw."""

    def __init__(self, spec: TuneSpec, store: Store) -> None:
        self.spec = spec
        self.store = store
        self.plan = Plan(spec.study, [])
        self._combinations = 0
        self._prepared = prepared_base(spec.study)
        self.trials: list[Trial] = []
        self.chosen: Trial | None = None
        self.scale: score.Scale = {}
        self.held_out: list[Trial] = []
        """The chosen setting and its rivals on the held-out scenarios and seeds; the chosen one first."""
        self.failures: dict[str, str] = {}
        """Runs without a result, and why."""
        rivals = len(spec.baselines) or len(spec.entries)
        self.tally = TuneTally(
            (len(spec.baselines) + len(spec.entries) + self.asked) * len(spec.training_scenarios) * len(spec.seeds)
            + (rivals + 1) * len(spec.holdout) * len(spec.holdout_seeds)
        )

    @property
    def asked(self) -> int:
        """Trials that the sampler is asked for: none if no queue has anything to choose."""
        return self.spec.trials if any(space.searched(e.template) for e in self.spec.entries) else 0

    # --- running --------------------------------------------------------------------------------------------------------

    def run(self, pool: Any, progress: TuneProgress | None = None) -> None:
        """Runs all stages. Runs that the store has are not run again."""
        stages = self._stages()
        todo: deque[Task] = deque()
        under_way: set[str] = set()
        seen: set[str] = set()
        over = False

        def feed() -> Task | None:
            nonlocal over
            while True:
                while todo:
                    task = todo.popleft()
                    # Settings that are the same share their runs, which count once, whenever they were done.
                    if task.key in seen:
                        continue
                    seen.add(task.key)
                    if task.key not in self.store:
                        under_way.add(task.key)
                        return task
                    self.tally.reused += 1
                    self.tally.done += 1
                if under_way or over:
                    return None
                jobs = next(stages, None)
                if jobs is None:
                    over = True
                    return None
                todo.extend(t for job in jobs for t in job.tasks.values())

        def done(outcome: Outcome) -> None:
            under_way.discard(outcome.key)
            if outcome.error:
                self.failures[outcome.key] = outcome.error
                self.tally.failed += 1
            else:
                self.store.put(outcome)
                self.tally.done += 1

        with pool as workers:
            workers.run(feed, done, lambda: progress(self.tally) if progress is not None else None)

    def _jobs(self, trials: Sequence[Trial], scenarios: tuple[TrainingScenario, ...], seeds: tuple[int, ...]) -> list[Job]:
        return [self._job(t, scenarios, seeds) for t in trials]

    def _job(self, trial: Trial, scenarios: tuple[TrainingScenario, ...], seeds: tuple[int, ...]) -> Job:
        combinations = []
        for scenario in scenarios:
            try:
                # The plan knows combinations by their index.
                self._combinations += 1
                level = Level("", (*scenario.sets, (self.spec.path, trial.queue)))
                combinations.append(resolve_combination(self.spec.study, self._combinations, (level,), self._prepared))
            except ScenarioError as e:
                first = e.diagnostics[0]["message"] if e.diagnostics else str(e).splitlines()[0]
                trial.error = f"not valid: {first}"
                return Job(trial, scenarios, seeds, [], {})
        tasks = {(m, s): self.plan.task(p, s) for m, p in enumerate(combinations) for s in seeds}
        return Job(trial, scenarios, seeds, combinations, tasks)

    def _collect(self, jobs: Sequence[Job]) -> None:
        """Scores the trials of a stage whose runs are there."""
        spec = self.spec
        whole = []
        for job in jobs:
            failed = next((self.failures[t.key] for t in job.tasks.values() if t.key in self.failures), None)
            if failed is not None:
                job.trial.error = failed.splitlines()[0]
            elif job.tasks:
                whole.append(job)
        combinations = {t.key: job.combinations[m] for job in whole for (m, _), t in job.tasks.items()}
        if combinations:
            values = score.run_values(self.store.scan(combinations).collect(), spec.study.metrics, combinations)
            for job in whole:
                own = {(m, s, x.label): values[t.key, x.label] for (m, s), t in job.tasks.items() for x in spec.study.metrics}
                score.score(spec, job.trial, own, len(job.scenarios), job.seeds)
        self.tally.trials += len(jobs)

    # --- stages ---------------------------------------------------------------------------------------------------------

    def _stages(self) -> Iterator[list[Job]]:
        """Each stage's jobs; asked for the next one when all runs of the last one are there."""
        spec = self.spec
        self.tally.stage = "baselines and defaults"
        first = self._first()
        jobs = self._jobs(first, spec.training_scenarios, spec.seeds)
        yield jobs
        self._collect(jobs)
        self.trials += first
        if self.asked:
            yield from self._asked()
        feasible = [t for t in self.trials if t.feasible]
        self.scale = score.scales(spec, self.trials)
        for t in self.trials:
            score.price(spec, self.scale, t)
        self.chosen = score.preferred(feasible) or score.nearest(self.trials)
        if self.chosen is None:
            return
        self.tally.stage = "held-out scenarios and seeds"
        rivals = [t for t in self.trials if t.kind == ("baseline" if spec.baselines else "default")]
        tested = [Trial(t.number, t.label, t.kind, t.queue, t.parameters) for t in (self.chosen, *rivals)]
        jobs = self._jobs(tested, spec.holdout, spec.holdout_seeds)
        yield jobs
        self._collect(jobs)
        for t in tested:
            score.price(spec, self.scale, t, paired=True)
        self.held_out = tested

    def _first(self) -> list[Trial]:
        """Returns the baselines and the defaults of each queue: on the training set the recommended setting is never worse."""
        out = [Trial(i, h.label, "baseline", h.queue) for i, h in enumerate(self.spec.baselines)]
        for e in self.spec.entries:
            queue = space.bare(e.template)
            out.append(Trial(len(out), e.label, "default", queue))
        return out

    def _asked(self) -> Iterator[list[Job]]:
        import optuna

        spec = self.spec
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        entries = {e.label: e for e in spec.entries if space.searched(e.template)}
        study = optuna.create_study(
            directions=["minimize" if o.goal == "min" else "maximize" for o in spec.objectives],
            sampler=make_sampler(spec.seed, max(START, len(entries))),
        )
        for params in self._known(entries):
            study.enqueue_trial(params)
        if len(entries) > 1:
            for label in entries:
                study.enqueue_trial({"queue": label})
        left = self.asked
        while left > 0:
            self.tally.stage = f"trial {self.asked - left + 1} of {self.asked}"
            asked = [study.ask() for _ in range(min(spec.batch, left))]
            left -= len(asked)
            batch = [self._drawn(t, entries, len(self.trials) + i) for i, t in enumerate(asked)]
            jobs = self._jobs(batch, spec.training_scenarios, spec.seeds)
            yield jobs
            self._collect(jobs)
            self.trials += batch
            for frozen, trial in zip(asked, batch, strict=True):
                self._tell(study, frozen, trial)

    def _known(self, entries: dict[str, Entry]) -> Iterator[dict[str, Any]]:
        """Parameters of the first trials that lie inside the space: the sampler learns from them, at no cost."""
        for t in self.trials:
            for label, e in entries.items():
                params = space.match(e, t.queue)
                if params is not None:
                    yield {**params, **({"queue": label} if len(entries) > 1 else {})}
                    break

    @staticmethod
    def _drawn(asked: Any, entries: dict[str, Entry], number: int) -> Trial:
        labels = list(entries)
        label = asked.suggest_categorical("queue", labels) if len(labels) > 1 else labels[0]
        setting = space.Setting(entries[label], space.Drawn(asked))
        return Trial(number, label, "search", setting.queue, setting.chosen)

    def _tell(self, study: Any, asked: Any, trial: Trial) -> None:
        spec = self.spec
        broken = [trial.excess.get(c.label, 1.0) for c in spec.constraints] if not trial.error else [1e6] * len(spec.constraints)
        asked.set_user_attr("excess", [*broken, 1.0 if trial.error else -1.0])
        # A trial without values breaks a constraint, so that its numbers do not count.
        values = [0.0 if trial.error else trial.values[o.label] for o in spec.objectives]
        study.tell(asked, [v if math.isfinite(v) else 0.0 for v in values])


def make_sampler(seed: int, start: int) -> Any:
    """Optuna's tree-structured Parzen estimator: several objectives (Ozaki et al. 2022), constraints, parameters of some queues only.

    Few trials are asked for and each costs several runs, so it has to learn from tens, where a population (NSGA-II) needs hundreds;
    docs/guides/tuning.md has the comparison. `group` models the parameters of each queue together, `constant_liar` keeps the trials of a
    batch apart.
    """
    import optuna

    with warnings.catch_warnings():
        # The tests of this package fix the behaviour of this experimental interface.
        warnings.simplefilter("ignore")
        return optuna.samplers.TPESampler(
            seed=seed, n_startup_trials=start, multivariate=True, group=True, constant_liar=True,
            constraints_func=lambda t: t.user_attrs.get("excess", [-1.0]),
        )  # fmt: skip
