"""`report`: one page for any result, or for several held against the first of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from .. import _core, stats
from ..base.document import finite
from ..errors import FairlaneError
from ..look.rerun import seed_range
from ..runs.page import is_simulated
from ..runs.page import title as title_of
from ..runs.summary import estimated_limits
from ..runs.summary import sentences as of_run
from .differences import SourceComparison
from .existing import ExistingReport, find_existing
from .sources import Source, read_sources

if TYPE_CHECKING:
    from ..runs.result import Result
    from ..study import StudyResult

REPORT_SCHEMA = "fairlane.report/1"


class Report:
    """What `report` returns: a page (`page`, `save`), the same as a document, and what it says in `sentences`."""

    def __init__(self, sides: Sequence[Source], margin: str = stats.MARGIN) -> None:
        self._told = SourceComparison(sides, margin)
        self._sides = list(sides)

    @property
    def labels(self) -> list[str]:
        """What the results are called."""
        return [s.label for s in self._sides]

    @property
    def kind(self) -> str:
        """run, study, search, reproduction, or differences."""
        return "differences" if len(self._sides) > 1 else self._sides[0].kind

    @property
    def sentences(self) -> list[str]:
        """The answer in at most three sentences."""
        if len(self._sides) > 1:
            return self._told.sentences
        side = self._sides[0]
        return of_run(side.run) if side.kind == "run" else []

    @property
    def warnings(self) -> list[str]:
        """What to check before trusting the numbers, each once, with the results that it is about."""
        of: dict[str, list[str]] = {}
        for s in self._sides:
            for w in s.result.warnings:
                of.setdefault(str(w), []).append(s.label)
        if len(self._sides) == 1:
            return list(of)
        return [f"{'in all' if len(labels) == len(self._sides) else ', '.join(labels)}: {w}" for w, labels in of.items()]

    def page(self) -> str:
        """One HTML page that opens offline."""
        from .page import page

        return page(self._told, self.warnings)

    def save(self, path: str | PathLike[str], *, force: bool = False) -> Path:
        """Writes the page, whole or not at all; one that exists is replaced only with `force`."""
        from ..base.files import save_bytes
        from ..base.outputs import new_file

        target = new_file(path, force=force)
        save_bytes(target, self.page().encode(), new=not force)
        return target

    def document(self) -> dict[str, Any]:
        """The document that `fairlane report --json` prints."""
        whole: dict[str, Any] = finite(
            {
                "schema": REPORT_SCHEMA,
                "fairlane": _core.version(),
                "kind": self.kind,
                "sentences": self.sentences,
                "results": [_result(s) for s in self._sides],
                "differences": [d.as_dict() for d in self._told.differences] if len(self._sides) > 1 else [],
                "warnings": [str(w) for w in self.warnings],
            }
        )
        return whole

    def _repr_html_(self) -> str:
        from .html import report_html

        return report_html(self._told, self.sentences, self.warnings)

    def __repr__(self) -> str:
        return f"Report({self.kind}: {'; '.join(self.labels)})"


class FolderReport(Report):
    """Of a search or a reproduction: the page that lies in its folder."""

    def __init__(self, of: ExistingReport, label: str) -> None:
        self._own, self._label = of, label

    @property
    def labels(self) -> list[str]:
        """What it is called."""
        return [self._label]

    @property
    def kind(self) -> str:
        """search or reproduction."""
        return self._own.kind

    @property
    def sentences(self) -> list[str]:
        """How the chosen setting did, or what became of the claims."""
        return self._own.sentences

    @property
    def warnings(self) -> list[str]:
        """What to check before trusting it."""
        return self._own.warnings

    def page(self) -> str:
        """The page of its folder, as one file."""
        return self._own.page()

    def document(self) -> dict[str, Any]:
        """The document that `fairlane report --json` prints."""
        of = self._own
        one = {"label": self._label, "kind": of.kind, "folder": str(of.folder), "name": of.name, "seeds": of.seeds, "fingerprints": []}
        whole = {"schema": REPORT_SCHEMA, "fairlane": _core.version(), "kind": of.kind, "sentences": of.sentences}
        return {**whole, "results": [{**one, "command": None, "limits": []}], "differences": [], "warnings": of.warnings}

    def _repr_html_(self) -> str:
        from ..look.notebook import card, muted, notices

        return card(self._own.name, *self.sentences, notices(self.warnings), muted(f"Page: {self._own.folder}/index.html"))


def report(
    results: Result | StudyResult | str | PathLike[str] | Iterable[Any],
    path: str | PathLike[str] | None = None,
    *,
    labels: Sequence[str] | None = None,
    margin: float | str = stats.MARGIN,
    force: bool = False,
) -> Report:
    """One page for any result: what was run, the answer in a few sentences and a table, charts, and how to run it again.

    `results`: a `Result`, a `StudyResult`, a folder of either, or several of them (results alone, or studies alone); what was imported
    is a result folder as any other; of one search or reproduction the page is that of its folder. Several are held against the first:
    differences with intervals, paired by seed where both have the same seeds. `path`: the page to write; `Report.page` gives its text.
    `labels`: what the results are called, by default their folders or scenarios. `margin`: what does not matter, a share of the mean
    compared with; equivalence is tested within it.

    Raises:
        FolderError: a folder is none of results, or the page cannot be written.
    """
    from ..base.extras import need

    need("study")
    given: list[Any] = [results] if isinstance(results, (str, PathLike)) or not isinstance(results, Iterable) else list(results)
    made = _own(given, labels) or Report(read_sources(given, labels), stats.margin_share(margin))
    if path is not None:
        made.save(path, force=force)
    return made


def _own(given: Sequence[Any], labels: Sequence[str] | None) -> Report | None:
    """The report of one folder that has its own page."""
    if len(given) != 1 or not isinstance(given[0], (str, PathLike)):
        return None
    found = find_existing(given[0])
    if found is None:
        return None
    if labels and len(labels) != 1:
        raise FairlaneError(f"{len(labels)} labels for 1 result: give each one, in the same order")
    return FolderReport(found, labels[0] if labels else found.folder.resolve().name)


def _result(side: Source) -> dict[str, Any]:
    """One result in the document."""
    told = {"label": side.label, "kind": side.kind, "folder": side.folder or None}
    if side.kind == "study":
        spec, index = side.study.spec, side.study.index
        return {
            **told,
            "name": spec.name,
            "seeds": sorted(index["seed"].unique().to_list()),
            "fingerprints": [],
            "command": None,
            "limits": [],
        }
    run = side.run
    held = [{"flow": f, "by": what, "why": why} for f, (what, why) in estimated_limits(run).items()]
    return {**told, "name": title_of(run, side.folder), "seeds": run.seeds, "fingerprints": run.fingerprints,
            "command": command_of(side), "limits": held}  # fmt: skip


def command_of(side: Source) -> str | None:
    """What runs a result again, if its folder is known."""
    if not side.folder or not is_simulated(side.run):
        return None
    return f"fairlane run {quote(side.folder.rstrip('/') + '/scenario.toml')} --seeds {seed_range(side.run.seeds)}"
