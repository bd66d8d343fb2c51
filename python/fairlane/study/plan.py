"""From a study to its cells: every combination of levels resolved, every cell named by its content."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .. import _core
from .._cores import available_threads
from .._toml import value as as_toml
from ..errors import ScenarioError
from . import select
from .cell import digest_of, engine, key_of
from .model import Level, Point, StudySpec, Task

_WORDS = ("name", "description", "seed", "expanded", "warnings")
"""Parts of a resolved scenario that decide no result; the seed is named beside it."""


class Plan:
    """All points of a study; cells follow from them and the seeds."""

    def __init__(self, spec: StudySpec, points: list[Point]) -> None:
        self.spec = spec
        self.points = points
        self.engine = engine()
        self._plugins = tuple((p, digest_of(p)) for p in spec.plugins)

    def task(self, point: Point, seed: int) -> Task:
        """The cell of a point and a seed."""
        wanted = None
        if self.spec.keep == "selected":
            wanted = tuple((s.table, s.metric, select.names(s, point)) for s in self.spec.metrics)
        essence = point.essence if wanted is None and not self._plugins else _hash([point.essence, wanted, [d for _, d in self._plugins]])
        return Task(key_of(essence, seed), point.resolved, seed, self.engine, self._plugins, wanted)

    def tasks(self) -> Iterator[tuple[Point, Task]]:
        """All cells that do not depend on results: every point with every seed."""
        for point in self.points:
            for seed in self.spec.seeds:
                yield point, self.task(point, seed)


def make_plan(spec: StudySpec, progress: Callable[[float, str], object] | None = None) -> Plan:
    """Resolves every point; raises `ScenarioError` with the problems of all points, before anything runs."""
    combinations = list(itertools.product(*(f.levels for f in spec.factors)))
    points: list[Point] = []
    problems: list[tuple[tuple[Level, ...], ScenarioError]] = []
    with ThreadPoolExecutor(available_threads()) as pool:
        made = pool.map(lambda c: _try(spec, *c), enumerate(combinations))
        for i, (levels, answer) in enumerate(made):
            if isinstance(answer, Point):
                points.append(answer)
            else:
                problems.append((levels, answer))
            if progress is not None and i % 100 == 0:
                progress(i / len(combinations), "planning")
    if problems:
        raise problems[0][1]
    for point in points:
        for s in spec.metrics:
            select.names(s, point)
    return Plan(spec, points)


def resolve_point(spec: StudySpec, index: int, levels: tuple[Level, ...]) -> Point:
    """One combination of levels, resolved; raises `ScenarioError`."""
    pairs = [(path, v if isinstance(v, str) else as_toml(v)) for path, v in (*spec.sets, *(s for level in levels for s in level.sets))]
    tree: dict[str, Any] = json.loads(_core.resolve(spec.base, spec.base_name, spec.base_format, pairs))
    expanded, warnings = tree.pop("expanded"), tree.pop("warnings")
    groups: dict[str, list[str]] = {}
    for f in expanded["flows"]:
        groups.setdefault(f["group"], []).append(f["name"])
    return Point(
        index,
        {f.name: level.label for f, level in zip(spec.factors, levels, strict=False)},
        json.dumps(tree, separators=(",", ":")),
        _hash({k: v for k, v in tree.items() if k not in _WORDS}),
        {g: tuple(members) for g, members in groups.items()},
        tuple(x["name"] for x in expanded["links"]),
        tuple(warnings),
    )


def _try(spec: StudySpec, index: int, levels: tuple[Level, ...]) -> tuple[tuple[Level, ...], Point | ScenarioError]:
    try:
        return levels, resolve_point(spec, index, levels)
    except ScenarioError as e:
        return levels, e


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
