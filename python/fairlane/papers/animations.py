"""Animated runs of a published study, and runs with limit tracking."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .. import _core
from ..base.cores import available_threads
from ..errors import suggest
from ..runs.result import Result
from ..watch.inset import Inset, inset, parse_replays
from .definition import Combination, Paper
from .runner import Stopped

MOST = 12
"""Scenarios of which the page says what limited flows."""


@dataclass(frozen=True)
class Watched:
    """The first run of a scenario, made again with what limits its flows watched."""

    combination: Combination
    seed: int
    result: Result

    @property
    def name(self) -> str:
        """Its factors."""
        return named(self.combination)

    def to_json(self) -> dict[str, Any]:
        """Its entry in the document."""
        return {"factors": dict(self.combination.factors), "seed": self.seed, "why": self.result.why().document()}


def chosen(paper: Paper, combinations: Sequence[Combination], replays: Sequence[str]) -> list[Combination]:
    """The first combination with each of these levels ("queue=red load=0.8"); raises what is wrong, before anything runs."""
    out = []
    for where in parse_replays(replays):
        left = list(combinations)
        for name, level in where.items():
            factors = [dict(c.factors) for c in combinations]
            if not any(name in f for f in factors):
                raise suggest(name, list(dict.fromkeys(n for f in factors for n in f)), f"factor of {paper.called}")
            if not any(f.get(name) == level for f in factors):
                raise suggest(level, list(dict.fromkeys(f[name] for f in factors if name in f)), f"level of {name}")
            before, left = left, [c for c in left if dict(c.factors).get(name) == level]
            if not left:
                raise suggest(
                    level, list(dict.fromkeys(f[name] for c in before if name in (f := dict(c.factors)))), f"level of {name} there"
                )
        out.append(left[0])
    return out


def insets(paper: Paper, combinations: Sequence[Combination], seed: int) -> list[Inset]:
    """Each with this seed."""
    return [inset(_scenario(paper, c, seed), seed, named(c)) for c in combinations]


def named(combination: Combination) -> str:
    """The factors of a scenario, for people."""
    return ", ".join(f"{k} {x}" for k, x in combination.factors if x)


def covering(combinations: Sequence[Combination], most: int = MOST) -> list[Combination]:
    """Returns the first scenarios that together have every level of each factor; all of them if they are few.

    Taken is always the one with most levels that none before it has, then with most pairs of levels, of equals the first.
    """
    if len(combinations) <= most:
        return list(combinations)
    seen: set[tuple[tuple[str, str], ...]] = set()
    taken: list[int] = []
    for _ in range(most):
        fresh = [[len({*itertools.combinations(c.factors, n)} - seen) for n in (1, 2)] for c in combinations]
        best = fresh.index(max(fresh))
        if fresh[best] == [0, 0]:
            break
        taken.append(best)
        seen.update(itertools.combinations(combinations[best].factors, 1), itertools.combinations(combinations[best].factors, 2))
    return [combinations[i] for i in sorted(taken)]


def watched(
    paper: Paper, combinations: Sequence[Combination], seed: int, tell: Callable[[float, str], object] | None = None
) -> list[Watched]:
    """Repeats the run with this seed of each scenario with limit tracking; `tell` gets the number of finished runs, and stops by False."""
    from concurrent.futures import ThreadPoolExecutor

    def again(combination: Combination) -> Watched:
        resolved = _scenario(paper, combination, seed)
        return Watched(combination, seed, Result.from_runs(resolved, _core.run(resolved, [seed], 1, why=True)))

    out: list[Watched] = []
    crew = ThreadPoolExecutor(available_threads(), "why")
    try:
        for one in crew.map(again, combinations):
            out.append(one)
            if tell is not None and tell(1.0, f"what limited flows: {len(out)} of {len(combinations)} runs") is False:
                raise Stopped
    finally:
        crew.shutdown(cancel_futures=True)
    return out


def _scenario(paper: Paper, combination: Combination, seed: int) -> _core.Resolved:
    tree = {k: x for k, x in combination.tree(seed).items() if k not in ("name", "description", "seed")}
    return _core.resolve(json.dumps(tree), f"{paper.key}.json", "json", [])
