"""Shrinking of a path (delta debugging): the fewest changes and the roundest values that keep most of its effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .changes import Candidate, Change, State
from .judge import Judge
from .model import Judged, WorstSpec

KEEP = 0.8
"""Share of the effect that the shrunk path keeps."""


def shrunk(spec: WorstSpec, judge: Judge, found: Judged, tick: Callable[[], object] | None = None) -> Judged:
    """Returns the path with fewer changes, then shorter lists, then rounder values."""
    least = KEEP * (found.effect or 0.0)
    best = found

    def keep(candidates: list[Candidate]) -> Judged | None:
        """Returns the worst of some paths if it keeps the effect."""
        judged = [j for j in judge.judge(candidates) if j.effect is not None and j.effect >= least] if candidates else []
        judge.kept.put(judge.take())
        if tick is not None:
            tick()
        return max(judged, key=lambda j: j.effect or 0.0, default=None)

    while len(best.candidate) > 1:
        better = keep([{k: v for k, v in best.candidate.items() if k != name} for name in best.candidate])
        if better is None:
            break
        best = better
    for name in list(best.candidate):
        change = spec.change(name)
        size = len(change.items(best.candidate[name])) // 2
        while change.most and size >= 1:
            better = keep([{**best.candidate, name: s} for s in _shorter(change, best.candidate[name], size)])
            if better is None:
                size //= 2
            else:
                best, size = better, min(size, len(change.items(better.candidate[name])) // 2 or 1)
            if len(change.items(best.candidate[name])) <= 1:
                break
    for name in list(best.candidate):
        change = spec.change(name)
        for i in range(len(best.candidate[name])):
            for digits in (1, 2):
                state = _rounded(change, best.candidate[name], i, digits)
                if state is None:
                    continue
                better = keep([{**best.candidate, name: state}])
                if better is not None:
                    best = better
                    break
    return best


def _shorter(change: Change, state: State, size: int) -> Iterator[State]:
    """Yields the state without each run of `size` items; a list keeps one item."""
    items = change.items(state)
    for i in range(0, len(items), size):
        rest = items[:i] + items[i + size :]
        if rest:
            yield change.with_items(state, rest)


def _rounded(change: Change, state: State, i: int, digits: int) -> State | None:
    """Returns the state with one number rounded; None if that changes nothing."""
    near = change.gene(i).rounded(state[i], digits)
    return None if near == state[i] else (*state[:i], near, *state[i + 1 :])
