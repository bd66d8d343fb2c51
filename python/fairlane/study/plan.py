"""From a study to its cells: every combination of levels resolved, every cell named by its content."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..base.cores import available_threads
from ..base.threads import Pool
from ..errors import ScenarioError
from . import selection
from .diagnosis import Diagnosis, check_metrics, resolve_base, same_points
from .model import Label, Level, PlugIn, Point, StudySpec, Task, Wanted
from .one_run import engine, key_of, planned
from .settings import SETTING

_WORDS = ("name", "description", "seed")
"""Parts of a resolved scenario that decide no result; the seed is named beside it."""
_MANY = 5_000
"""Points from which on a sample is looked at first."""
_PROBES = 500
_CHUNK = 500
_compact = json.JSONEncoder(separators=(",", ":")).encode


class Cells:
    """The cells of a point; they differ in their seeds alone."""

    __slots__ = ("_essence", "_hop_probe", "_limit", "_plugins", "_point", "_wanted")

    def __init__(
        self,
        point: Point,
        wanted: Wanted | None = None,
        plugins: tuple[PlugIn, ...] = (),
        hop_probe: bool = False,
        limit: float | None = None,
    ) -> None:
        self._limit = limit
        self._point, self._wanted, self._plugins, self._hop_probe = point, wanted, plugins, hop_probe
        self._essence = point.essence
        if wanted is not None or plugins or hop_probe:
            digests = [p.digest for p in plugins]
            self._essence = _hash([point.essence, wanted, digests, *(["hop probe"] if hop_probe else [])])

    def task(self, seed: int) -> Task:
        """The cell of a seed."""
        key, resolved = key_of(self._essence, seed), self._point.resolved
        return Task(key, resolved, seed, engine(), self._plugins, self._wanted, self._hop_probe, self._limit)


class Plan:
    """All points of a study; cells follow from them and the seeds."""

    def __init__(self, spec: StudySpec, points: list[Point], warnings: list[str] | None = None) -> None:
        self.spec = spec
        self.points = points
        self.warnings = warnings or []
        """What to know about the study as a whole, such as points that are the same scenario."""
        self.engine = engine()
        self._plugins = tuple(planned(p) for p in spec.plugins)
        self._cells: dict[int, Cells] = {}

    def task(self, point: Point, seed: int) -> Task:
        """The cell of a point and a seed."""
        cells = self._cells.get(point.index)
        if cells is None:
            cells = self._cells[point.index] = Cells(point, self._wanted(point), self._plugins, self.spec.hop_probe, self.spec.cell_limit)
        return cells.task(seed)

    def _wanted(self, point: Point) -> Wanted | None:
        """What is kept of the cells of a point; None for all."""
        if self.spec.keep != "selected":
            return None
        return tuple((s.table, metric, selection.names(s, point)) for s in self.spec.metrics for metric in selection.parts(s))

    def tasks(self) -> Iterator[tuple[Point, Task]]:
        """All cells that do not depend on results: every point with every seed."""
        for point in self.points:
            for seed in self.spec.seeds:
                yield point, self.task(point, seed)


def make_plan(spec: StudySpec, progress: Callable[[float, str], object] | None = None) -> Plan:
    """Resolves every point; raises `ScenarioError` with everything that is wrong with levels and metrics, before anything runs."""
    if spec.ends:
        # What is wrong with a range shows at its ends, and is told there once, not in each of the settings.
        tried = replace(spec, factors=(*spec.ends, *(f for f in spec.factors if f.name != SETTING)), ends=(), settings=None)
        _resolve_all(tried, sorted(set(_sample([len(f.levels) for f in tried.factors], 0))), None)
    sizes = [len(f.levels) for f in spec.factors]
    total = math.prod(sizes)
    if total > _MANY:
        # A mistake in a large study shows without all of it.
        _resolve_all(spec, sorted(set(_sample(sizes))), None)
    combinations = list(itertools.product(*(range(n) for n in sizes)))
    points = _resolve_all(spec, combinations, progress)
    wrong = check_metrics(spec, points, combinations)
    if wrong is not None:
        raise wrong
    return Plan(spec, points, same_points(spec, points, combinations))


def _resolve_all(spec: StudySpec, combinations: list[tuple[int, ...]], progress: Callable[[float, str], object] | None) -> list[Point]:
    """The points of these combinations of levels; raises what is wrong with any of them."""
    points: list[Point] = []
    diagnosis = Diagnosis(spec)
    with Pool(available_threads()) as pool:
        for start in range(0, len(combinations), _CHUNK):
            part = combinations[start : start + _CHUNK]
            made = pool.map(lambda i, c: _try(spec, i, c), range(start, start + len(part)), part)
            for combination, answer in zip(part, made, strict=True):
                if isinstance(answer, Point):
                    points.append(answer)
                    diagnosis.add(combination, None)
                else:
                    diagnosis.add(combination, answer)
            if progress is not None:
                progress((start + len(part)) / len(combinations), "planning")
    error = diagnosis.error()
    if error is not None:
        raise error
    return points


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


def resolve_point(spec: StudySpec, index: int, levels: tuple[Level, ...]) -> Point:
    """One combination of levels, resolved; raises `ScenarioError`."""
    tree = resolve_base(spec, (s for level in levels for s in level.sets))
    return point_of(tree, index, {f.name: level.label for f, level in zip(spec.factors, levels, strict=False)})


def point_of(tree: dict[str, Any], index: int = 0, labels: Mapping[str, Label] | None = None) -> Point:
    """A resolved scenario as a point; takes the tree apart."""
    expanded, warnings = tree.pop("expanded"), tree.pop("warnings")
    # The core writes parameters in the order of their declaration; links and flows keep the order of the file, on which results depend.
    parts = {k: f'"{k}":{_compact(v)}' for k, v in tree.items()}
    groups, links = _layout(tuple((f["group"], f["name"]) for f in expanded["flows"]), tuple(x["name"] for x in expanded["links"]))
    return Point(
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
    """Flow names of each group, and the links: one copy for all points that have the same."""
    groups: dict[str, list[str]] = {}
    for group, name in flows:
        groups.setdefault(group, []).append(name)
    return {g: tuple(members) for g, members in groups.items()}, links


def _try(spec: StudySpec, index: int, combination: tuple[int, ...]) -> Point | ScenarioError:
    try:
        return resolve_point(spec, index, tuple(f.levels[k] for f, k in zip(spec.factors, combination, strict=True)))
    except ScenarioError as e:
        return e


def _hash(value: Any) -> str:
    return hashlib.sha256(_compact(value).encode()).hexdigest()
