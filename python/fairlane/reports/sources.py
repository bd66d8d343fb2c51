"""Sources of a report: results and studies, and the measures that compare them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from ..base.metrics import jain, within
from ..base.partial_files import where_it_is
from ..errors import FairlaneError, FolderError
from ..runs.fairness import competitors
from ..runs.groups import flows_in, members
from ..runs.result import Result, load
from ..runs.selection import within_of
from ..stats import Range
from ..study import StudyResult, load_study
from .existing import kind_of

if TYPE_CHECKING:
    from ..study import Selector

MOST_POINTS = 2000
"""Most combinations times metrics of studies that are compared."""

PerSeed = Mapping[int, float | None]


@dataclass(frozen=True)
class Measure:
    """Measure that compares results."""

    of: str
    """Group of flows, link, or combination of a study; "" for the whole network."""
    metric: str
    words: str
    unit: str
    more: bool | None = None
    """True if larger values are better; None if neither is."""
    points: bool = False
    """True if differences are in percentage points, not in percent of the mean."""
    kind: str = "group"
    """Kind of `of`: group, link, fairness (of flows that compete) or combination."""
    groups: tuple[str, ...] = ()
    """Groups of the flows that compete."""
    range: Range | None = None
    """Possible values, if not those of the metric."""

    @property
    def within(self) -> Range:
        """Possible values of the measure."""
        if self.range is not None:
            return self.range
        if self.kind == "fairness":
            return within("goodput", "jain")
        return within("goodput", "sum") if self.metric == "goodput_sum" else within(self.metric)

    @property
    def title(self) -> str:
        """Words with the group, link or combination."""
        link = {"group": " of ", "link": " at ", "combination": " with "}.get(self.kind, " of ")
        return f"{self.words}{link}{self.of}" if self.of else self.words


@dataclass
class Source:
    """Result or study with its label."""

    label: str
    result: Result | StudyResult
    folder: str = ""
    """Folder it was read from."""
    _seen: dict[tuple[str, str, str], dict[int, float | None]] = field(default_factory=dict, repr=False)

    @property
    def kind(self) -> str:
        """Kind of source: run or study."""
        return "study" if isinstance(self.result, StudyResult) else "run"

    @property
    def run(self) -> Result:
        """Result of a source of kind run."""
        assert isinstance(self.result, Result)
        return self.result

    @property
    def study(self) -> StudyResult:
        """Result of a source of kind study."""
        assert isinstance(self.result, StudyResult)
        return self.result

    def values(self, m: Measure) -> PerSeed:
        """Returns one value per seed, None if missing."""
        key = (m.kind, m.of, m.metric)
        if key not in self._seen:
            found = _of_study(self.study, m) if m.kind == "combination" else _of_run(self.run, m)
            self._seen[key] = {s: v if v is not None and math.isfinite(v) else None for s, v in found.items()}
        return self._seen[key]


def read_sources(given: Iterable[Any], labels: Sequence[str] | None = None) -> list[Source]:
    """Reads results, studies and folders of either, and gives them unique labels."""
    sources: list[Source] = []
    for x in given:
        if isinstance(x, (Result, StudyResult)):
            name = (x.spec.name if isinstance(x, StudyResult) else str(x.description.get("name") or "")) or f"result {len(sources) + 1}"
            sources.append(Source(name, x, ""))
        elif isinstance(x, (str, PathLike)):
            folder = fspath(x)
            sources.append(Source(Path(folder).resolve().name or folder, _read(folder), folder))
        else:
            raise FairlaneError(f"a report takes results, studies and their folders, not {type(x).__name__}")
    if not sources:
        raise FairlaneError("a report needs at least one result")
    kinds = {isinstance(s.result, StudyResult) for s in sources}
    if len(kinds) > 1:
        run, study = (next(s.label for s in sources if isinstance(s.result, StudyResult) == is_study) for is_study in (False, True))
        raise FairlaneError(
            f"cannot compare a study with a single result: {study} is a study, {run} is not\n"
            "  = help: make separate reports, or give only results, or only studies"
        )
    _name(sources, labels)
    return sources


def _name(sources: list[Source], labels: Sequence[str] | None) -> None:
    if labels:
        if len(labels) != len(sources):
            raise FairlaneError(f"{len(labels)} labels for {len(sources)} results: give one label per result, in the same order")
        if len(set(labels)) != len(labels):
            raise FairlaneError("two results have the same label: give each its own")
        for source, label in zip(sources, labels, strict=True):
            source.label = label
        return
    for names in ([s.label for s in sources], [s.folder or s.label for s in sources]):
        if len(set(names)) == len(names):
            for source, name in zip(sources, names, strict=True):
                source.label = name
            return
    for i, source in enumerate(sources, 1):
        source.label = f"{i}: {source.label}"


def _read(folder: str) -> Result | StudyResult:
    """Reads a folder of results or of a study."""
    path = Path(folder)
    if not path.is_dir():
        what = "is a file" if path.exists() else "does not exist"
        raise FolderError(
            f"{folder} {what}: a report takes result folders{where_it_is(path)}\n"
            "  = help: write one with fairlane run FILE -o DIR, fairlane study FILE --out DIR, or fairlane import FILE -o DIR"
        )
    if (path / "study.json").is_file() and not (path / "manifest.json").is_file():
        return load_study(path)
    if kind := kind_of(path):
        raise FolderError(f"{folder} is the folder of a {kind}, which cannot be compared: give it alone")
    return load(path)


# --- numbers --------------------------------------------------------------------------------------------


def measures(sources: Sequence[Source]) -> list[Measure]:
    """Returns the common measures: goodput, delay and loss of groups of flows, fairness, the longest queue; or metrics of studies.

    Delay and loss of a group are means over its flows in a result with rows of flows, and over all its packets in a result with rows of
    groups; these two are not compared.
    """
    if isinstance(sources[0].result, StudyResult):
        return _of_studies(sources)
    out = []
    groups = [flows_in(s.run) for s in sources]
    alike = len({s.run.rows_of for s in sources}) == 1
    for g in groups[0]:
        if all(g in own for own in groups):
            out.append(Measure(g, "goodput_sum", "goodput", "bit/s", True))
            if alike:
                out += [Measure(g, "delay_mean", "delay", "s", False), Measure(g, "loss", "loss", "1", False, True)]
    for own in _competing(sources):
        if all(set(own) <= set(there) for there in groups):
            out.append(Measure(" and ".join(own), "jain", "Jain's fairness index", "1", True, True, "fairness", groups=own))
    link = longest_queue(sources)
    if link:
        out += [
            Measure(link, "utilisation", "utilisation", "1", None, True, "link"),
            Measure(link, "sojourn_mean", "queueing delay", "s", False, False, "link"),
        ]
    have = [m for m in out if all(_has(s, m) for s in sources)]
    return have


def _competing(sources: Sequence[Source]) -> list[tuple[str, ...]]:
    """Returns the groups whose flows compete in the first result; each group by itself if a result has rows of groups only."""
    first = sources[0].run
    if any(s.run.rows_of == "groups" for s in sources):
        return [(g,) for g, n in flows_in(first).items() if n > 1]
    return list(dict.fromkeys(s.groups for s in competitors(first)))


def _has(source: Source, m: Measure) -> bool:
    return any(v is not None for v in source.values(m).values())


def longest_queue(sources: Sequence[Source]) -> str:
    """Returns the common link with the longest mean queue; "" without one."""
    sums: dict[str, float] = {}
    for s in sources:
        frame = s.run.links
        if not {"link", "queue_mean"} <= set(frame.columns):
            return ""
        own = dict(frame.group_by("link", maintain_order=True).agg(pl.col("queue_mean").mean()).iter_rows())
        sums = own if not sums else {k: v + (own[k] or 0.0) for k, v in sums.items() if k in own}
    return max(sums, key=lambda k: sums[k] or 0.0, default="")


def _of_run(result: Result, m: Measure) -> dict[int, float | None]:
    if m.kind == "fairness":
        return _fairness(result, m.groups)
    if m.kind == "link":
        return _by_seed(result.links.filter(pl.col("link") == m.of), m.metric)
    metric = "goodput" if m.metric == "goodput_sum" else m.metric
    if result.rows_of == "groups":
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


def _fairness(result: Result, groups: Sequence[str]) -> dict[int, float | None]:
    """Returns Jain's index of the flows of some groups in each run."""
    if result.rows_of == "groups":
        return _by_seed(result.groups.filter(pl.col("group").is_in(list(groups))), "jain")
    of = members(result)
    frame = result.flows.filter(pl.col("flow").is_in([f for g in groups for f in of.get(g, ())]) & pl.col("goodput").is_finite())
    found: dict[int, float | None] = dict.fromkeys(result.seeds)
    for (seed,), run in frame.group_by("seed", maintain_order=True):
        fair = run["fair_share"].to_list() if "fair_share" in run.columns else None
        found[int(seed)] = jain(run["goodput"].to_list(), fair)
    return found


def _by_seed(frame: pl.DataFrame, metric: str) -> dict[int, float | None]:
    return dict(frame.select("seed", pl.col(metric).cast(pl.Float64)).iter_rows()) if metric in frame.columns else {}


def _of_studies(sources: Sequence[Source]) -> list[Measure]:
    from ..study.labels import PERCENT, combination

    first = sources[0].study
    names = [{combination(s.study.spec, p) for p in s.study.combinations} for s in sources]
    shared = [w for p in first.combinations if all((w := combination(first.spec, p)) in own for own in names)]
    metrics = [s for s in first.spec.metrics if all(s.label in x.study.metrics for x in sources)]
    if len(shared) * len(metrics) > MOST_POINTS:
        raise FairlaneError(f"{len(shared)} combinations with {len(metrics)} metrics are too many to compare: at most {MOST_POINTS}")
    return [_at(first, s, w, s.metric in PERCENT) for w in shared for s in metrics]


def _at(result: StudyResult, s: Selector, at: str, share: bool) -> Measure:
    return Measure(at, s.label, s.label, result.unit(s.label), None, share, "combination", range=within_of(s))


def _of_study(result: StudyResult, m: Measure) -> dict[int, float | None]:
    from ..study.labels import combination

    at = next(p for p in result.combinations if combination(result.spec, p) == m.of)
    return result.per_seed(m.metric, at)
