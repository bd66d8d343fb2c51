"""What a report is of: results and studies, and the numbers by which they can be held against each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from ..base.metrics import within
from ..base.unfinished import where_it_is
from ..errors import FairlaneError, FolderError
from ..runs.groups import flows_in, members
from ..runs.result import Result, load
from ..stats import Range
from ..study import StudyResult, load_study
from ..study.select import within_of
from .existing import kind_of

if TYPE_CHECKING:
    from ..study import Selector

MOST_POINTS = 2000
"""Points of studies that are held against each other."""

PerSeed = Mapping[int, float | None]


@dataclass(frozen=True)
class Measure:
    """A number that results are told apart by."""

    of: str
    """What it is of: a group of flows, a link, a point of a study; "" for the whole network."""
    metric: str
    words: str
    unit: str
    more: bool | None = None
    """Whether more of it is better, if that can be said."""
    points: bool = False
    """Whether a difference is told in points of a share, not as a share of the mean."""
    kind: str = "group"
    """group, link, network or point."""
    range: Range | None = None
    """The possible values, if the name of the metric does not tell them."""

    @property
    def within(self) -> Range:
        """Its possible values."""
        if self.range is not None:
            return self.range
        return within("goodput", "sum") if self.metric == "goodput_sum" else within(self.metric)

    @property
    def title(self) -> str:
        """With what it is of."""
        link = {"group": " of ", "link": " at ", "point": " with "}.get(self.kind, " of ")
        return f"{self.words}{link}{self.of}" if self.of else self.words


@dataclass
class Source:
    """One result or study."""

    label: str
    result: Result | StudyResult
    folder: str = ""
    """Where it was read from."""
    _seen: dict[tuple[str, str, str], dict[int, float | None]] = field(default_factory=dict, repr=False)

    @property
    def kind(self) -> str:
        """run or study."""
        return "study" if isinstance(self.result, StudyResult) else "run"

    @property
    def run(self) -> Result:
        """The result, if it is not one of a study."""
        assert isinstance(self.result, Result)
        return self.result

    @property
    def study(self) -> StudyResult:
        """The study."""
        assert isinstance(self.result, StudyResult)
        return self.result

    def values(self, m: Measure) -> PerSeed:
        """One value a seed; None without a value."""
        key = (m.kind, m.of, m.metric)
        if key not in self._seen:
            found = _of_study(self.study, m) if m.kind == "point" else _of_run(self.run, m)
            self._seen[key] = {s: v if v is not None and math.isfinite(v) else None for s, v in found.items()}
        return self._seen[key]


def read_sources(given: Iterable[Any], labels: Sequence[str] | None = None) -> list[Source]:
    """Results, studies and folders of either, with names that tell them apart."""
    sides: list[Source] = []
    for x in given:
        if isinstance(x, (Result, StudyResult)):
            name = (x.spec.name if isinstance(x, StudyResult) else str(x.description.get("name") or "")) or f"result {len(sides) + 1}"
            sides.append(Source(name, x, ""))
        elif isinstance(x, (str, PathLike)):
            folder = fspath(x)
            sides.append(Source(Path(folder).resolve().name or folder, _read(folder), folder))
        else:
            raise FairlaneError(f"a report is of results, studies and their folders, not of {type(x).__name__}")
    if not sides:
        raise FairlaneError("a report needs at least one result")
    kinds = {isinstance(s.result, StudyResult) for s in sides}
    if len(kinds) > 1:
        run, study = (next(s.label for s in sides if isinstance(s.result, StudyResult) == is_study) for is_study in (False, True))
        raise FairlaneError(
            f"cannot hold a study against a single result: {study} is a study, {run} is none\n"
            "  = help: make a report of each, or of results alone, or of studies alone"
        )
    _name(sides, labels)
    return sides


def _name(sides: list[Source], labels: Sequence[str] | None) -> None:
    if labels:
        if len(labels) != len(sides):
            raise FairlaneError(f"{len(labels)} labels for {len(sides)} results: give each one, in the same order")
        if len(set(labels)) != len(labels):
            raise FairlaneError("two results have the same label: give each its own")
        for side, label in zip(sides, labels, strict=True):
            side.label = label
        return
    for names in ([s.label for s in sides], [s.folder or s.label for s in sides]):
        if len(set(names)) == len(names):
            for side, name in zip(sides, names, strict=True):
                side.label = name
            return
    for i, side in enumerate(sides, 1):
        side.label = f"{i}: {side.label}"


def _read(folder: str) -> Result | StudyResult:
    """What a folder holds, by the file that its kind has."""
    path = Path(folder)
    if not path.is_dir():
        what = "is a file" if path.exists() else "does not exist"
        raise FolderError(
            f"{folder} {what}: a report is of result folders{where_it_is(path)}\n"
            "  = help: fairlane run FILE -o DIR writes one, fairlane study FILE --out DIR, fairlane import FILE -o DIR"
        )
    if (path / "study.json").is_file() and not (path / "manifest.json").is_file():
        return load_study(path)
    if kind := kind_of(path):
        raise FolderError(f"{folder} is the folder of a {kind}, which is not held against others: give it alone")
    return load(path)


# --- numbers --------------------------------------------------------------------------------------------


def measures(sides: Sequence[Source]) -> list[Measure]:
    """What all sides have: goodput, delay and loss of groups of flows, fairness, the queue of the fullest link; metrics at points.

    Delay and loss of a group are means over its flows where these have rows, and those of all its packets where groups have: these are not
    held against each other.
    """
    if isinstance(sides[0].result, StudyResult):
        return _of_studies(sides)
    out = []
    groups = [flows_in(s.run) for s in sides]
    alike = len({s.run.reports for s in sides}) == 1
    for g in groups[0]:
        if all(g in own for own in groups):
            out.append(Measure(g, "goodput_sum", "goodput", "bit/s", True))
            if alike:
                out += [Measure(g, "delay_mean", "delay", "s", False), Measure(g, "loss", "loss", "1", False, True)]
    if all(sum(own.values()) > 1 for own in groups):
        out.append(Measure("", "jain", "fairness (Jain's index)", "1", True, True, "network"))
    link = longest_queue(sides)
    if link:
        out += [
            Measure(link, "utilisation", "use", "1", None, True, "link"),
            Measure(link, "sojourn_mean", "time in the queue", "s", False, False, "link"),
        ]
    have = [m for m in out if all(_has(s, m) for s in sides)]
    return have


def _has(side: Source, m: Measure) -> bool:
    return any(v is not None for v in side.values(m).values())


def longest_queue(sides: Sequence[Source]) -> str:
    """Of the links that all have, the one where most waits; "" without one."""
    sums: dict[str, float] = {}
    for s in sides:
        frame = s.run.links
        if not {"link", "queue_mean"} <= set(frame.columns):
            return ""
        own = dict(frame.group_by("link", maintain_order=True).agg(pl.col("queue_mean").mean()).iter_rows())
        sums = own if not sums else {k: v + (own[k] or 0.0) for k, v in sums.items() if k in own}
    return max(sums, key=lambda k: sums[k] or 0.0, default="")


def _of_run(result: Result, m: Measure) -> dict[int, float | None]:
    if m.kind == "network":
        return _by_seed(result.network, m.metric)
    if m.kind == "link":
        return _by_seed(result.links.filter(pl.col("link") == m.of), m.metric)
    metric = "goodput" if m.metric == "goodput_sum" else m.metric
    if result.reports == "groups":
        return _by_seed(result.groups.filter(pl.col("group") == m.of), metric)
    frame = result.flows.filter(pl.col("flow").is_in(members(result).get(m.of, [])))
    if metric not in frame.columns:
        return {}
    value = pl.col(metric).cast(pl.Float64)
    kept = frame.filter(value.is_finite())
    formed: Callable[[list[float]], float] = math.fsum if m.metric == "goodput_sum" else lambda v: math.fsum(v) / len(v)
    found: dict[int, float | None] = dict.fromkeys(result.seeds)
    found.update({s: formed(v) for s, v in kept.group_by("seed", maintain_order=True).agg(metric).iter_rows()})
    return found


def _by_seed(frame: pl.DataFrame, metric: str) -> dict[int, float | None]:
    return dict(frame.select("seed", pl.col(metric).cast(pl.Float64)).iter_rows()) if metric in frame.columns else {}


def _of_studies(sides: Sequence[Source]) -> list[Measure]:
    from ..study.words import PERCENT, point

    first = sides[0].study
    names = [{point(s.study.spec, p) for p in s.study.points} for s in sides]
    shared = [w for p in first.points if all((w := point(first.spec, p)) in own for own in names)]
    metrics = [s for s in first.spec.metrics if all(s.label in x.study.metrics for x in sides)]
    if len(shared) * len(metrics) > MOST_POINTS:
        raise FairlaneError(
            f"{len(shared)} points with {len(metrics)} metrics are too many to hold against each other: {MOST_POINTS} at most"
        )
    return [_at(first, s, w, s.metric in PERCENT) for w in shared for s in metrics]


def _at(result: StudyResult, s: Selector, at: str, share: bool) -> Measure:
    return Measure(at, s.label, s.label, result.unit(s.label), None, share, "point", within_of(s))


def _of_study(result: StudyResult, m: Measure) -> dict[int, float | None]:
    from ..study.words import point

    at = next(p for p in result.points if point(result.spec, p) == m.of)
    return result.per_seed(m.metric, at)
