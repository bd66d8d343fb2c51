"""The search: random paths first, then mutations of the worst ones and proposals of Optuna's sampler.

What is tried follows from the seed and from values alone. Paths come in batches of fixed size, so the number of evaluations says which
path is found, whatever ran them, and whether they were run now or kept from before.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from .changes import Candidate, Change, Gene, State
from .judge import Judge
from .model import Judged, WorstSpec, key_of

BATCH = 16
"""Paths that are judged together."""
START = 0.25
"""Share of the budget that is drawn at random; at least two batches."""
START_BATCHES = 4
"""Batches at random with a time as the budget."""
PROPOSED = 4
"""Paths of a batch that the sampler proposes; the others are mutations."""
ENDS = 0.2
"""Chance of either end of a range, in units of that of the rest, in random paths."""
ELITE = 8
"""Worst paths that are mutated."""
LEARNT = 256
"""Most paths that the sampler learns from, so that its time does not grow."""
MOST_GENES = 24
"""Most numbers of a path with which the sampler is used."""

Progress = Callable[[int, float | None, str], object]
"""`progress(paths tried, worst effect, stage)`."""


class Search:
    """The paths that were tried, and the next ones."""

    def __init__(self, spec: WorstSpec, judge: Judge) -> None:
        self.spec = spec
        self.judge = judge
        self.random = Random(spec.seed)
        self.tried: dict[str, Judged] = {}
        """Every path by its key, in the order of the search."""
        self.stopped_by = "evaluations"
        self.seconds = 0.0
        self._sampler = Sampler(spec)

    @property
    def ranked(self) -> list[Judged]:
        """Paths with a value, the worst first; of equal ones the first."""
        return sorted((j for j in self.tried.values() if j.effect is not None), key=lambda j: -_effect(j))

    def run(self, progress: Progress | None = None) -> None:
        """Searches until the budget is used. An interruption leaves what was tried."""
        for number in self._batches():
            left = None if self.spec.evaluations is None else self.spec.evaluations - len(self.tried)
            batch = self._next(number, BATCH if left is None else min(BATCH, left))
            if not batch:
                self.stopped_by = "all paths"
                return
            began = time.perf_counter()
            judged = self.judge.judge(batch)
            spent = self.judge.kept.seconds.get(number)
            fresh = self.judge.take()
            if spent is None or fresh:
                spent = time.perf_counter() - began
                self.judge.kept.put(fresh, number, spent)
            self.seconds += spent
            for j in judged:
                self.tried[key_of(j.candidate)] = j
                self._sampler.learn(j)
            if progress is not None:
                progress(len(self.tried), self.ranked[0].effect if self.ranked else None, "searching")

    def _batches(self) -> Iterator[int]:
        number = 0
        while True:
            if self.spec.evaluations is not None and len(self.tried) >= self.spec.evaluations:
                self.stopped_by = "evaluations"
                return
            if self.spec.seconds is not None and self.seconds >= self.spec.seconds:
                self.stopped_by = "time"
                return
            yield number
            number += 1

    def _next(self, number: int, n: int) -> list[Candidate]:
        e = self.spec.evaluations
        start = START_BATCHES if e is None else max(2, math.ceil(START * e / BATCH))
        out: dict[str, Candidate] = {}
        elite = self.ranked[:ELITE]
        proposals = self._sampler.propose(PROPOSED) if number >= start and elite else []
        for _ in range(50 * n):
            if len(out) >= n:
                break
            if proposals:
                c = proposals.pop()
            elif number < start or not elite:
                c = drawn(self.spec, self.random)
            else:
                c = mutated(self.spec, elite, self.random)
            c = self.spec.plausible(c)
            key = key_of(c)
            if c and key not in self.tried:
                out.setdefault(key, c)
        return list(out.values())


def _effect(j: Judged) -> float:
    return -math.inf if j.effect is None else j.effect


def _number(g: Gene, at: float) -> int:
    """Returns the value at a place between 0 and 1 of a range, of three digits."""
    x = g.low * (g.high / g.low) ** at if g.log else g.low + (g.high - g.low) * at
    return min(g.high, max(g.low, g.rounded(round(x), 3)))


def _at(g: Gene, x: int) -> float:
    if g.log:
        return math.log(x / g.low) / math.log(g.high / g.low)
    return (x - g.low) / (g.high - g.low) if g.high > g.low else 0.0


def _place(random: Random) -> float:
    """Returns a random place in a range; each end has a share of its own, because the worst lies there often."""
    at = random.random() * (1 + 2 * ENDS) - ENDS
    return min(1.0, max(0.0, at))


def _state(c: Change, random: Random) -> State:
    fixed = [_number(g, _place(random)) for g in c.fixed]
    items = [_item(c, random) for _ in range(1 + int(random.random() * c.most))] if c.most else []
    return c.with_items(tuple(fixed), items)


def _item(c: Change, random: Random) -> State:
    return tuple(_number(g, _place(random)) for g in c.item)


def drawn(spec: WorstSpec, random: Random) -> Candidate:
    """Returns a random path: few changes or many."""
    share = random.random()
    out = {c.name: _state(c, random) for c in spec.changes if random.random() < share}
    if not out:
        c = spec.changes[int(random.random() * len(spec.changes))]
        out = {c.name: _state(c, random)}
    return out


def mutated(spec: WorstSpec, elite: list[Judged], random: Random) -> Candidate:
    """Returns one of the worst paths, the first ones more often, with one or two changes."""
    parent = elite[int(random.random() ** 2 * len(elite))].candidate
    out: dict[str, State] = dict(parent)
    for _ in range(1 + (random.random() < 0.4)):
        kind = random.random()
        c = spec.changes[int(random.random() * len(spec.changes))]
        if kind < 0.15:
            mate = elite[int(random.random() * len(elite))].candidate
            if c.name in mate:
                out[c.name] = mate[c.name]
        elif kind < 0.35:
            if c.name in out and len(out) > 1:
                del out[c.name]
            else:
                out[c.name] = _state(c, random)
        else:
            own = list(out)
            name = own[int(random.random() * len(own))]
            out[name] = _moved(spec.change(name), out[name], random)
    return out


def _moved(c: Change, state: State, random: Random) -> State:
    """Returns a state near another: a list has an item more or less, or some numbers differ."""
    items = c.items(state)
    if c.most and random.random() < 0.4:
        if len(items) > 1 and random.random() < 0.5:
            items.pop(int(random.random() * len(items)))
        elif len(items) < c.most:
            items.append(_item(c, random))
        return c.with_items(state, sorted(items))
    chosen = int(random.random() * len(state))
    width = 0.3 * random.random() ** 2 + 0.02
    moved = list(state)
    for i, x in enumerate(state):
        if i == chosen or random.random() < 0.2:
            g = c.gene(i)
            moved[i] = (
                _number(g, min(1.0, max(0.0, _at(g, x) + random.gauss(0.0, width)))) if g.high - g.low > 3 else _number(g, random.random())
            )
    return c.with_items(tuple(moved), c.items(tuple(moved)))


class Sampler:
    """Optuna's tree-structured Parzen estimator over the changes that are not lists: it learns which changes go together."""

    def __init__(self, spec: WorstSpec) -> None:
        import optuna

        self._spec = spec
        self._plain = [c for c in spec.changes if not c.most]
        self._on = 1 < sum(len(c.fixed) for c in self._plain) <= MOST_GENES
        self._learnt: list[tuple[float, Candidate]] = []
        optuna.logging.set_verbosity(optuna.logging.ERROR)

    def learn(self, j: Judged) -> None:
        """Notes the value of a path."""
        if j.effect is not None:
            self._learnt.append((j.effect, j.candidate))

    def propose(self, n: int) -> list[Candidate]:
        """Returns paths that the sampler expects to be bad; lists are those of the worst path."""
        if not self._on or len(self._learnt) < 2 * BATCH:
            return []
        import optuna

        # The worst ones and the newest ones.
        order = sorted(range(len(self._learnt)), key=lambda i: -self._learnt[i][0])
        chosen = sorted({*order[: LEARNT // 2], *range(max(0, len(self._learnt) - LEARNT // 2), len(self._learnt))})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sampler = optuna.samplers.TPESampler(seed=self._spec.seed * 1_000_003 + len(self._learnt), n_startup_trials=0)
            study = optuna.create_study(direction="maximize", sampler=sampler)
            study.add_trials([self._frozen(*self._learnt[i]) for i in chosen])
            asked = [self._drawn(study.ask()) for _ in range(n)]
        best = self._learnt[order[0]][1]
        lists = {k: v for k, v in best.items() if self._spec.change(k).most}
        return [c | lists for c in asked]

    def _frozen(self, value: float, candidate: Candidate) -> Any:
        import optuna

        params: dict[str, Any] = {}
        space: dict[str, Any] = {}
        for c in self._plain:
            params[c.name] = c.name in candidate
            space[c.name] = optuna.distributions.CategoricalDistribution([False, True])
            for g, x in zip(c.fixed, candidate.get(c.name, ()), strict=False):
                name = f"{c.name} {g.name}"
                params[name], space[name] = _at(g, x), optuna.distributions.FloatDistribution(0.0, 1.0)
        return optuna.trial.create_trial(params=params, distributions=space, value=value)

    def _drawn(self, trial: Any) -> dict[str, State]:
        out: dict[str, State] = {}
        for c in self._plain:
            if trial.suggest_categorical(c.name, [False, True]):
                out[c.name] = tuple(_number(g, trial.suggest_float(f"{c.name} {g.name}", 0.0, 1.0)) for g in c.fixed)
        return out
