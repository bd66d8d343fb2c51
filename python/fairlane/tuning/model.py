"""The parts of a tuning: objectives, constraints, training scenarios, the queues to choose from, and baselines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from ..study.model import Selector, StudySpec

Goal = Literal["min", "max"]
Rule = Literal["worst", "weighted", "knee"]
Over = Literal["mean", "worst"]


@dataclass(frozen=True)
class Objective:
    """A metric that is to be small, or large."""

    selector: Selector
    goal: Goal
    good: float | None = None
    """The value that costs nothing, in the metric's unit."""
    bad: float | None = None
    """The value that costs 1."""
    weight: float = 1.0

    @property
    def label(self) -> str:
        """Its name in tables."""
        return self.selector.label

    @property
    def unit(self) -> str:
        """The metric's unit."""
        from ..runs.selection import unit_of

        return unit_of(self.selector)

    @property
    def sign(self) -> float:
        """1 if small is good, -1 if large is: values times sign are to be small."""
        return 1.0 if self.goal == "min" else -1.0


@dataclass(frozen=True)
class Constraint:
    """Bounds that the mean of a metric over the seeds has to keep in every training scenario."""

    selector: Selector
    least: float | None = None
    most: float | None = None
    text: str = ""
    """The bounds as written, such as "<= 2%"."""

    @property
    def label(self) -> str:
        """Its name in tables."""
        return self.selector.label

    def excess(self, value: float) -> float:
        """How far a value is beyond the bound, as a share of the bound; 0 or less if it keeps it. A value that is missing breaks it."""
        if value != value:
            return 1e6
        worst = -1e6
        if self.most is not None:
            worst = max(worst, (value - self.most) / (abs(self.most) or 1.0))
        if self.least is not None:
            worst = max(worst, (self.least - value) / (abs(self.least) or 1.0))
        return worst


@dataclass(frozen=True)
class TrainingScenario:
    """A variant of the scenario."""

    name: str
    sets: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Range:
    """A parameter to be chosen between two values: a number with its unit, or the multiple of another parameter of the same table."""

    low: float
    high: float
    unit: str = ""
    log: bool = False
    whole: bool = False
    """True if only whole numbers make sense: packets, bytes, counts."""
    of: str = ""
    """The parameter whose multiple it is; `low` and `high` are factors then."""


@dataclass(frozen=True)
class Pick:
    """A parameter to be chosen from a list; each may hold parameters of its own."""

    options: tuple[Any, ...]


@dataclass(frozen=True)
class Entry:
    """A queue to choose, with ranges in the place of values."""

    label: str
    template: dict[str, Any]
    """{ NAME = { ... } } with `Range` and `Pick` in the place of values."""
    keys: tuple[str, ...] = ()
    """Where its table is in the tune file."""


@dataclass(frozen=True)
class Baseline:
    """A queue that somebody chose."""

    label: str
    queue: dict[str, Any]


@dataclass(frozen=True)
class TuneSpec:
    """A tune file, read and checked."""

    study: StudySpec
    """The scenario with its plug-ins, the metrics that are looked at, the seeds of the search."""
    link: str
    objectives: tuple[Objective, ...]
    constraints: tuple[Constraint, ...]
    rule: Rule
    over: Over
    entries: tuple[Entry, ...]
    training_scenarios: tuple[TrainingScenario, ...]
    holdout: tuple[TrainingScenario, ...]
    holdout_seeds: tuple[int, ...]
    baselines: tuple[Baseline, ...]
    trials: int = 100
    seed: int = 1
    batch: int = 8
    sets: tuple[tuple[str, str], ...] = ()
    """Changes of the scenario from the command line."""

    @property
    def name(self) -> str:
        """Its name."""
        return self.study.name

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the search."""
        return self.study.seeds

    @property
    def path(self) -> str:
        """Path of the queue in the scenario."""
        from ..base.paths import join

        name = self.link.removesuffix(".reverse")
        return join(("links", name, *(() if name == self.link else ("reverse",)), "queue"))


@dataclass
class Trial:
    """One setting of the queue and its results."""

    number: int
    label: str
    """The queue as tables show it: the entry's label, or the name of a baseline."""
    kind: str
    """search, default or baseline."""
    queue: dict[str, Any]
    parameters: dict[str, Any] = field(default_factory=dict)
    """Values that the search chose, by the parameter's path in the queue."""
    error: str = ""
    """Why it has no values."""
    values: dict[str, float] = field(default_factory=dict)
    """Objectives and constraints, means over the seeds, by label."""
    per_seed: dict[str, list[float]] = field(default_factory=dict)
    """Value for each seed: mean or worst over the training scenarios."""
    excess: dict[str, float] = field(default_factory=dict)
    """How far each constraint is broken in the worst training scenario; 0 or less if it is kept."""
    cost: float = float("nan")
    """Cost by the choice rule; in the held-out test, the mean of `costs`."""
    costs: list[float] = field(default_factory=list)
    """Cost for each seed."""

    @property
    def feasible(self) -> bool:
        """True if it has all values and keeps the constraints."""
        return not self.error and all(e <= 0 for e in self.excess.values())

    @property
    def violation(self) -> float:
        """Sum of what the constraints are broken by."""
        return 1e6 if self.error else sum(max(0.0, e) for e in self.excess.values())
