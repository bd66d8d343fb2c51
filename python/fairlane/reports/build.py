"""`report`: an HTML page of a result, or a comparison of several results with the first one."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from .. import _core, stats
from ..base.document import finite
from ..base.seeds import seed_options
from ..errors import ArgumentError, FairlaneError
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

REPORT_SCHEMA = "fairlane.report/2"


class Report:
    """Report of `report`: an HTML page (`page`), a document, and its `sentences`."""

    def __init__(self, sources: Sequence[Source], margin: str = stats.MARGIN) -> None:
        self._comparison = SourceComparison(sources, margin)
        self._sources = list(sources)

    @property
    def labels(self) -> list[str]:
        """Labels of the results."""
        return [s.label for s in self._sources]

    @property
    def kind(self) -> str:
        """Kind of report: run, study, search, reproduction or differences."""
        return "differences" if len(self._sources) > 1 else self._sources[0].kind

    @property
    def sentences(self) -> list[str]:
        """Summary in at most three sentences."""
        if len(self._sources) > 1:
            return self._comparison.sentences
        source = self._sources[0]
        return of_run(source.run) if source.kind == "run" else []

    @property
    def warnings(self) -> list[str]:
        """Warnings, each once, with the results that they concern."""
        of: dict[str, list[str]] = {}
        for s in self._sources:
            for w in s.result.warnings:
                of.setdefault(str(w), []).append(s.label)
        if len(self._sources) == 1:
            return list(of)
        return [f"{'in all' if len(labels) == len(self._sources) else ', '.join(labels)}: {w}" for w, labels in of.items()]

    def page(self, path: str | PathLike[str] | None = None, *, force: bool = False) -> str:
        """Returns an HTML report that opens offline.

        `path`: also writes it as a file; an existing file is replaced only with `force`.
        """
        from ..base.outputs import kept_text

        return kept_text(self._page, path, force=force)

    def _page(self) -> str:
        from .page import page

        return page(self._comparison, self.warnings)

    def document(self) -> dict[str, Any]:
        """Returns the document that `fairlane report --json` prints."""
        whole: dict[str, Any] = finite(
            {
                "schema": REPORT_SCHEMA,
                "fairlane": _core.version(),
                "kind": self.kind,
                "sentences": self.sentences,
                "results": [_result(s) for s in self._sources],
                "differences": [d.as_dict() for d in self._comparison.differences] if len(self._sources) > 1 else [],
                "warnings": [str(w) for w in self.warnings],
            }
        )
        return whole

    def _repr_html_(self) -> str:
        from .html import report_html

        return report_html(self._comparison, self.sentences, self.warnings)

    def __str__(self) -> str:
        from ..look.sheet import Words, plain

        return plain(*(Words(s) for s in self.sentences or [repr(self)]), *(Words(f"warning: {w}") for w in self.warnings))

    def __repr__(self) -> str:
        return f"Report({self.kind}: {'; '.join(self.labels)})"


class FolderReport(Report):
    """Report of a search or a reproduction: the page in its folder."""

    def __init__(self, of: ExistingReport, label: str) -> None:
        self._own, self._label = of, label

    @property
    def labels(self) -> list[str]:
        """Label of the folder."""
        return [self._label]

    @property
    def kind(self) -> str:
        """Kind of report: search or reproduction."""
        return self._own.kind

    @property
    def sentences(self) -> list[str]:
        """Results of the recommended setting, or of the claims."""
        return self._own.sentences

    @property
    def warnings(self) -> list[str]:
        """Warnings of the folder."""
        return self._own.warnings

    def _page(self) -> str:
        return self._own.page()

    def document(self) -> dict[str, Any]:
        """Returns the document that `fairlane report --json` prints."""
        of = self._own
        one = {"label": self._label, "kind": of.kind, "folder": str(of.folder), "name": of.name, "seeds": of.seeds, "fingerprints": []}
        whole = {"schema": REPORT_SCHEMA, "fairlane": _core.version(), "kind": of.kind, "sentences": of.sentences}
        return {**whole, "results": [{**one, "command": None, "limits": []}], "differences": [], "warnings": of.warnings}

    def _repr_html_(self) -> str:
        from ..look.notebook import card, muted, notices

        return card(self._own.name, *self.sentences, notices(self.warnings), muted(f"Page: {self._own.folder}/index.html"))


def report(
    results: str | PathLike[str] | Iterable[Result | StudyResult | str | PathLike[str]],
    *,
    labels: Sequence[str] | None = None,
    margin: float | str = stats.MARGIN,
) -> Report:
    """Creates a report of several results, or of a folder; `Report.page` is the HTML page. One result has a `page` of its own.

    `results`: a folder, or several results or folders (only results, or only studies). For the folder of one search or reproduction, the
    report is its own page. Several results are compared with the first one (the baseline): differences with intervals, paired by seed if
    both have the same seeds. `labels`: names of the results (default: their folders or scenarios). `margin`: equivalence margin as a share
    of the baseline mean.

    Raises:
        FolderError: a folder is not a result folder.
    """
    from ..base.extras import need

    need("study")
    if not isinstance(results, (str, PathLike, Iterable)):
        raise ArgumentError(f"cannot compare {results!r} with nothing: give several results or folders; one result has `page`")
    given: list[Any] = [results] if isinstance(results, (str, PathLike)) else list(results)
    return _own(given, labels) or Report(read_sources(given, labels), stats.margin_share(margin))


def _own(given: Sequence[Any], labels: Sequence[str] | None) -> Report | None:
    """Returns the report of a folder with its own page; None for other results."""
    if len(given) != 1 or not isinstance(given[0], (str, PathLike)):
        return None
    found = find_existing(given[0])
    if found is None:
        return None
    if labels and len(labels) != 1:
        raise FairlaneError(f"{len(labels)} labels for 1 result: give one label per result, in the same order")
    return FolderReport(found, labels[0] if labels else found.folder.resolve().name)


def _result(source: Source) -> dict[str, Any]:
    """Returns the entry of a result in the document."""
    entry = {"label": source.label, "kind": source.kind, "folder": source.folder or None}
    if source.kind == "study":
        spec, index = source.study.spec, source.study.index
        return {
            **entry,
            "name": spec.name,
            "seeds": sorted(index["seed"].unique().to_list()),
            "fingerprints": [],
            "command": None,
            "limits": [],
        }
    run = source.run
    limited = [{"flow": f, "by": limit, "why": evidence} for f, (limit, evidence) in estimated_limits(run).items()]
    return {**entry, "name": title_of(run, source.folder), "seeds": run.seeds, "fingerprints": run.fingerprints,
            "command": command_of(source), "limits": limited}  # fmt: skip


def command_of(source: Source) -> str | None:
    """Returns the command that reproduces a result, if its folder is known."""
    if not source.folder or not is_simulated(source.run):
        return None
    return shlex.join(["fairlane", "run", source.folder.rstrip("/") + "/scenario.toml", *seed_options(source.run.seeds)])
