"""Types of a search for the worst path."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..runs.selection import Selector
from ..stats import Interval
from .changes import Candidate, Capacity, Change, Cross, Rates, State, Value


@dataclass(frozen=True)
class Objective:
    """The metric that is to be as bad as possible."""

    metric: str
    """Word of the user: goodput, delay_p99, unfairness."""
    most: bool
    """True if large is bad."""
    selectors: tuple[Selector, ...]
    share: bool = False
    """True if the metric is divided by the rate that the path leaves."""
    unfair: bool = False
    """True for 1 - Jain's index."""
    unit: str = "1"

    @property
    def goal(self) -> str:
        """The option that asks for it."""
        return f"--{'most' if self.most else 'least'} {self.metric}"

    @property
    def word(self) -> str:
        """Name of the value."""
        return f"share of the path ({self.metric})" if self.share else self.metric


@dataclass(frozen=True)
class WorstSpec:
    """A search: scenario, what may change, objective, seeds, budget."""

    name: str
    tree: Mapping[str, Any]
    """The scenario."""
    shown: str
    """Name of the scenario in messages; its files are relative to the folder of this name."""
    given: str
    """Scenario file that was given; "" for a path of the command."""
    subject: str
    """The algorithm, flow or queue that is searched for its worst."""
    reference: str
    """The reference on the same path; "" for the path of the scenario."""
    other: Mapping[str, Any]
    """Values by path that make the reference; {} without one."""
    objective: Objective
    changes: tuple[Change, ...]
    capacity: Capacity
    flows: tuple[str, ...]
    """Flows under test; the windows of these are drawn."""
    seeds: tuple[int, ...] = (1, 2, 3)
    fresh: tuple[int, ...] = ()
    """Seeds of the confirmation."""
    seed: int = 1
    """Seed of the search."""
    evaluations: int | None = 400
    """Paths that are tried; None if a time is the budget."""
    seconds: float | None = None
    paths: int = 3
    """Most worst paths that are kept."""
    plugins: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    """Words of the command that states the search, without budget and folder."""

    def change(self, name: str) -> Change:
        """Returns a change by name."""
        return next(c for c in self.changes if c.name == name)

    def plausible(self, candidate: Candidate) -> dict[str, State]:
        """Returns the path with a jitter of at most the delay, as the engine wants it, one schedule of rates, and bursts of at most half of
        the link."""
        out = dict(candidate)
        for second in [c.name for c in self.changes if isinstance(c, Rates) and c.name in out][1:]:
            del out[second]
        for c in self.changes:
            if isinstance(c, Cross) and c.name in out:
                # A path whose link is slower leaves less to the bursts.
                mean = self.capacity.of({name: state for name, state in out.items() if name != c.name})
                out[c.name] = c.timing(out[c.name], min(c.capacity, int(mean)))
            if isinstance(c, Value) and c.inner == "width" and c.name in out:
                delay = next((d for d in self.changes if isinstance(d, Value) and d.path == c.path.removesuffix("jitter") + "delay"), None)
                if delay is not None and delay.name in out:
                    out[c.name] = (min(out[c.name][0], out[delay.name][0]),)
        return out

    def sets(self, candidate: Candidate) -> dict[str, Any]:
        """Returns the values of a path."""
        out: dict[str, Any] = {}
        for c in self.changes:
            if c.name in candidate:
                out |= c.sets(candidate[c.name])
        return out


def key_of(candidate: Candidate) -> str:
    """Returns the text that names a path in the kept evaluations.

    >>> key_of({"loss": (5,), "delay": (3, 4)})
    '{"delay":[3,4],"loss":[5]}'
    """
    return json.dumps({k: list(v) for k, v in sorted(candidate.items())}, separators=(",", ":"))


def candidate_of(key: str) -> dict[str, State]:
    """Returns the path of such a text."""
    return {k: tuple(v) for k, v in json.loads(key).items()}


@dataclass
class Judged:
    """A path with the values of its runs."""

    candidate: Candidate
    own: Sequence[float | None]
    """Value of each seed."""
    other: Sequence[float | None]
    """Value of the reference on the same path and seed, or of the subject on the path of the scenario."""
    most: bool
    """True if large is bad."""
    error: str = ""

    @property
    def effects(self) -> list[float]:
        """How much worse each seed is than the reference; empty without a value."""
        if self.error or any(x is None for x in (*self.own, *self.other)):
            return []
        sign = 1.0 if self.most else -1.0
        return [sign * (a - b) for a, b in zip(self.own, self.other, strict=True)]  # type: ignore[operator]

    @property
    def effect(self) -> float | None:
        """The mean over the seeds."""
        each = self.effects
        return sum(each) / len(each) if each else None


@dataclass
class Finding:
    """A worst path: as found, shrunk and confirmed."""

    number: int
    found: Judged
    """The path that the search found."""
    shrunk: Judged
    """With the fewest changes and the roundest values."""
    fresh: Judged
    """The shrunk path on seeds that the search did not use."""
    own: Interval
    other: Interval
    effect: Interval
    confirmed: bool
    sentence: str = ""
    limits: list[tuple[str, list[str]]] = field(default_factory=list)
    """For the subject and the reference: sentences on what limited them."""
    curves: list[tuple[str, list[float], list[float | None]]] = field(default_factory=list)
    """Congestion windows: name, times, kB."""
    scenario: str = ""
    """The scenario of the path as TOML."""
