"""From a study to its runs: every combination of levels resolved, every run named by its content."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

from .. import _core
from ..base.cores import available_threads
from ..base.threads import Pool
from ..errors import ScenarioError
from ..runs import selection
from . import plan_file
from .diagnosis import Diagnosis, check_metrics, prepared_base, resolve_base, same_combinations
from .model import Combination, Label, Level, PlugIn, StudySpec, Task, Wanted
from .one_run import engine, key_of, planned
from .settings import SETTING

_WORDS = ("name", "description", "seed")
"""Parts of a resolved scenario that decide no result; the seed is named separately."""
_MANY = 5_000
"""Combinations from which on a sample is looked at first."""
_PROBES = 500
_CHUNK = 500
_compact = json.JSONEncoder(separators=(",", ":")).encode


class Runs:
    """The runs of a combination; they differ in their seeds alone."""

    __slots__ = ("_combination", "_essence", "_hop_probe", "_limit", "_plugins", "_wanted")

    def __init__(
        self,
        combination: Combination,
        wanted: Wanted | None = None,
        plugins: tuple[PlugIn, ...] = (),
        hop_probe: bool = False,
        limit: float | None = None,
    ) -> None:
        self._limit = limit
        self._combination, self._wanted, self._plugins, self._hop_probe = combination, wanted, plugins, hop_probe
        self._essence = combination.essence
        if wanted is not None or plugins or hop_probe:
            digests = [p.digest for p in plugins]
            self._essence = _hash([combination.essence, wanted, digests, *(["hop probe"] if hop_probe else [])])

    def key(self, seed: int) -> str:
        """The name of the run of a seed."""
        return key_of(self._essence, seed)

    def task(self, seed: int) -> Task:
        """The run of a seed."""
        key, resolved = self.key(seed), self._combination.resolved
        return Task(key, resolved, seed, engine(), self._plugins, self._wanted, self._hop_probe, self._limit)


class Plan:
    """All combinations of a study; runs follow from them and the seeds."""

    def __init__(self, spec: StudySpec, combinations: list[Combination], warnings: list[str] | None = None) -> None:
        self.spec = spec
        self.combinations = combinations
        self.warnings = warnings or []
        """Warnings about the study as a whole, such as combinations that are the same scenario."""
        self.engine = engine()
        self._plugins = tuple(planned(p) for p in spec.plugins)
        self._runs: dict[int, Runs] = {}

    def key(self, combination: Combination, seed: int) -> str:
        """The name of the run of a combination and a seed."""
        return self._runs_of(combination).key(seed)

    def task(self, combination: Combination, seed: int) -> Task:
        """The run of a combination and a seed."""
        return self._runs_of(combination).task(seed)

    def _runs_of(self, combination: Combination) -> Runs:
        runs = self._runs.get(combination.index)
        if runs is None:
            runs = self._runs[combination.index] = Runs(
                combination, self._wanted(combination), self._plugins, self.spec.hop_probe, self.spec.run_limit
            )
        return runs

    def _wanted(self, combination: Combination) -> Wanted | None:
        """Returns the metrics to keep of a combination; None for all."""
        if self.spec.keep != "selected":
            return None
        return tuple((s.table, metric, selection.names(s, combination)) for s in self.spec.metrics for metric in selection.parts(s))

    def tasks(self) -> Iterator[tuple[Combination, Task]]:
        """All runs that do not depend on results: every combination with every seed."""
        for combination in self.combinations:
            for seed in self.spec.seeds:
                yield combination, self.task(combination, seed)


def known_plan(spec: StudySpec, folder: str | PathLike[str]) -> Plan | None:
    """The plan that a folder has of this very study, whose combinations have no scenarios; None if it must be made.

    A scenario is more than its text if a plug-in takes part, or if a parameter names a file: then the plan is always made.
    """
    if spec.plugins or _FILES.search(spec.base) or any(_FILES.search(f"{path} {value}") for path, value in _changes(spec)):
        return None
    combinations = plan_file.known(folder, spec, engine())
    if combinations is None:
        return None
    all_indices = list(itertools.product(*(range(len(f.levels)) for f in spec.factors)))
    return Plan(spec, combinations, same_combinations(spec, combinations, all_indices))


_FILES = re.compile(r"\b(trace|file|profile)\b")
"""Keys of parameters that name files: each `fl-file` of the schema (tests/test_study_again.py)."""


def _changes(spec: StudySpec) -> Iterator[tuple[str, Any]]:
    yield from spec.sets
    yield from (change for f in (*spec.factors, *spec.ends) for level in f.levels for change in level.sets)


def make_plan(spec: StudySpec, progress: Callable[[float, str], object] | None = None) -> Plan:
    """Resolves every combination; raises `ScenarioError` with everything that is wrong with levels and metrics, before anything runs."""
    if spec.ends:
        # A fault of a range shows at its ends. It is reported there once, not in each of the settings.
        tried = replace(spec, factors=(*spec.ends, *(f for f in spec.factors if f.name != SETTING)), ends=(), settings=None)
        _resolve_all(tried, sorted(set(_sample([len(f.levels) for f in tried.factors], 0))), None)
    sizes = [len(f.levels) for f in spec.factors]
    total = math.prod(sizes)
    if total > _MANY:
        # A mistake in a large study shows without all of it.
        _resolve_all(spec, sorted(set(_sample(sizes))), None)
    all_indices = list(itertools.product(*(range(n) for n in sizes)))
    combinations = _resolve_all(spec, all_indices, progress)
    wrong = check_metrics(spec, combinations, all_indices)
    if wrong is not None:
        raise wrong
    return Plan(spec, combinations, same_combinations(spec, combinations, all_indices))


def _resolve_all(spec: StudySpec, all_indices: list[tuple[int, ...]], progress: Callable[[float, str], object] | None) -> list[Combination]:
    """The combinations of these combinations of levels; raises what is wrong with any of them."""
    combinations: list[Combination] = []
    diagnosis = Diagnosis(spec)
    prepared = prepared_base(spec)
    with Pool(available_threads()) as pool:
        for start in range(0, len(all_indices), _CHUNK):
            part = all_indices[start : start + _CHUNK]
            made = pool.map(lambda i, c: _try(spec, i, c, prepared), range(start, start + len(part)), part)
            for indices, answer in zip(part, made, strict=True):
                if isinstance(answer, Combination):
                    combinations.append(answer)
                    diagnosis.add(indices, None)
                else:
                    diagnosis.add(indices, answer)
            if progress is not None:
                progress((start + len(part)) / len(all_indices), "planning")
    error = diagnosis.error()
    if error is not None:
        raise error
    return combinations


def _sample(sizes: list[int], more: int = _PROBES) -> Iterator[tuple[int, ...]]:
    """Each level with the first, and with the last, of the other factors; and some `more` combinations from everywhere."""
    for rest in ((0,) * len(sizes), tuple(n - 1 for n in sizes)):
        for f, n in enumerate(sizes):
            yield from ((*rest[:f], k, *rest[f + 1 :]) for k in range(n))
    total = math.prod(sizes)
    for i in range(more):
        at, out = i * total // more, []
        for n in reversed(sizes):
            at, k = divmod(at, n)
            out.append(k)
        yield tuple(reversed(out))


def resolve_combination(spec: StudySpec, index: int, levels: tuple[Level, ...], prepared: _core.Prepared | None = None) -> Combination:
    """One combination of levels, resolved; raises `ScenarioError`. `prepared`: what `prepared_base` returned for the study."""
    tree = resolve_base(spec, (s for level in levels for s in level.sets), prepared)
    return combination_of(tree, index, {f.name: level.label for f, level in zip(spec.factors, levels, strict=False)})


def combination_of(tree: dict[str, Any], index: int = 0, labels: Mapping[str, Label] | None = None) -> Combination:
    """A resolved scenario as a combination; takes the tree apart."""
    expanded, warnings = tree.pop("expanded"), tree.pop("warnings")
    # The core writes parameters in the order of their declaration; links and flows keep the order of the file, on which results depend.
    parts = {k: f'"{k}":{_compact(v)}' for k, v in tree.items()}
    groups, links = _layout(tuple((f["group"], f["name"]) for f in expanded["flows"]), tuple(x["name"] for x in expanded["links"]))
    return Combination(
        index,
        labels or {},
        tuple(sys.intern(part) for part in parts.values()),
        _hash([part for k, part in parts.items() if k not in _WORDS]),
        groups,
        links,
        tuple(warnings),
        tree.get("report") or "flows",
    )


@functools.lru_cache(maxsize=256)
def _layout(flows: tuple[tuple[str, str], ...], links: tuple[str, ...]) -> tuple[Mapping[str, tuple[str, ...]], tuple[str, ...]]:
    """Flow names of each group, and the links: one copy for all combinations that have the same."""
    return selection.members(flows), links


def _try(spec: StudySpec, index: int, indices: tuple[int, ...], prepared: _core.Prepared | None) -> Combination | ScenarioError:
    try:
        return resolve_combination(spec, index, tuple(f.levels[k] for f, k in zip(spec.factors, indices, strict=True)), prepared)
    except ScenarioError as e:
        return e


def _hash(value: Any) -> str:
    return hashlib.sha256(_compact(value).encode()).hexdigest()
