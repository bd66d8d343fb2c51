"""Judges paths: each runs with every seed, as the subject and as what it is compared with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import _core
from ..base.metrics import jain
from ..base.scenario import source_of
from ..errors import FairlaneError, ScenarioError
from ..runs.network import Network
from .changes import Candidate
from .model import Judged, WorstSpec, key_of
from .store import Kept, Values
from .workers import Workers

if TYPE_CHECKING:
    from ..study.executors import WorkerPool

INVALID: Values = ()
"""Values of a path that is not a valid scenario."""


class Judge:
    """Runs paths that are not kept yet, all cores at once, or on the workers of a pool, which is open."""

    def __init__(self, spec: WorstSpec, kept: Kept, threads: int | None = None, pool: WorkerPool | None = None) -> None:
        self.spec = spec
        self.kept = kept
        self.threads = threads
        self.runs = 0
        """Runs of this process."""
        self._fresh: dict[str, Values] = {}
        self._net = network(spec).prepare()
        self._want = [s.text for s in spec.objective.selectors]
        self._workers = None if pool is None else self._made(pool)

    def _made(self, pool: WorkerPool) -> Workers:
        prepared = _core.Prepared(*source_of(network(self.spec)), [])
        return Workers(pool, prepared, self.spec.objective.selectors, self.spec.plugins)

    def judge(self, candidates: Sequence[Candidate], seeds: Sequence[int] | None = None) -> list[Judged]:
        """Returns the values of some paths with these seeds (default: those of the search)."""
        spec = self.spec
        chosen = tuple(spec.seeds if seeds is None else seeds)
        wanted: dict[str, tuple[Candidate, bool]] = {}
        base: Candidate = {}
        for c in candidates:
            wanted[self._key(c, False, chosen)] = (c, False)
            if spec.other:
                wanted[self._key(c, True, chosen)] = (c, True)
        if not spec.other:
            wanted[self._key(base, False, chosen)] = (base, False)
        missing = {k: v for k, v in wanted.items() if k not in self.kept.values}
        self._run(missing, chosen)
        found = []
        for c in candidates:
            own = self.kept.values[self._key(c, False, chosen)]
            other = self.kept.values[self._key(c, True, chosen) if spec.other else self._key(base, False, chosen)]
            valid = own != INVALID and other != INVALID
            found.append(Judged(c, own, other, spec.objective.most, "" if valid else "not a valid scenario"))
        return found

    def take(self) -> dict[str, Values]:
        """Returns what was run since the last call."""
        fresh, self._fresh = self._fresh, {}
        return fresh

    @staticmethod
    def _key(candidate: Candidate, other: bool, seeds: Sequence[int]) -> str:
        return f"{'other' if other else 'own'} {','.join(map(str, seeds))} {key_of(candidate)}"

    def _run(self, missing: dict[str, tuple[Candidate, bool]], seeds: Sequence[int]) -> None:
        if not missing:
            return
        points = [self.point(c, other) for c, other in missing.values()]
        fresh: dict[str, Values] = {}
        if self._workers is not None:
            for (key, (c, _)), runs in zip(missing.items(), self._workers.run(points, seeds), strict=True):
                fresh[key] = INVALID if runs is None else tuple(self._value(c, numbers) for numbers in runs)
            self._note(fresh, seeds)
            return
        try:
            run = self._net.run(points, list(seeds), want=self._want, threads=self.threads)
            for i, (key, (c, _)) in enumerate(missing.items()):
                columns = [run.values(w, point=i) for w in self._want]
                fresh[key] = tuple(self._value(c, [column[s] for column in columns]) for s in range(len(seeds)))
        except ScenarioError:
            if len(missing) == 1:
                fresh = dict.fromkeys(missing, INVALID)
            else:
                for key, one in missing.items():
                    self._run({key: one}, seeds)
                return
        self._note(fresh, seeds)

    def _note(self, fresh: dict[str, Values], seeds: Sequence[int]) -> None:
        self.runs += len(seeds) * len(fresh)
        self.kept.values |= fresh
        self._fresh = {**self._fresh, **fresh}

    def point(self, candidate: Candidate, other: bool) -> dict[str, Any]:
        """Returns the values by path of a run: the path, and of the reference what it differs in."""
        return self.spec.sets(candidate) | (dict(self.spec.other) if other else {})

    def _value(self, candidate: Candidate, numbers: Sequence[float]) -> float | None:
        o = self.spec.objective
        x = (1 - (jain(numbers) if len(numbers) > 1 else numbers[0])) if o.unfair else numbers[0]
        if o.share:
            x /= self.spec.capacity.of(candidate)
        return x if math.isfinite(x) else None

    def check_determinism(self) -> None:
        """Runs the unchanged path twice; raises `FairlaneError` with both fingerprints if they differ."""
        for other in (False, True) if self.spec.other else (False,):
            point, seed = self.point({}, other), self.spec.seeds[0]
            first, second = (self._net.run([point], [seed], want=self._want, threads=1).fingerprints[0] for _ in range(2))
            if first != second:
                what = self.spec.reference if other else self.spec.subject
                raise FairlaneError(
                    f"{what} is not deterministic: the same path with seed {seed} has the fingerprint {first}, and then {second}; "
                    "a plug-in keeps no state between runs, and draws its random numbers from what it is given"
                )


def network(spec: WorstSpec) -> Network:
    """Returns the scenario of a search as a network."""
    net = Network(duration="1s")
    net.set(dict(spec.tree))
    net.shown = spec.shown
    return net
