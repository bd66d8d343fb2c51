"""All papers, one after the other, and one page over them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.outputs import room_for
from ..base.sha256sums import NAME, listed
from ..errors import FolderError
from .outcome import results_of
from .reproduction import Reproduction, run_reproduction
from .score import Scores, scores
from .verdicts import counts

if TYPE_CHECKING:
    from rich.console import Console

    from .definition import Paper
    from .runner import Progress

SCHEMA = "fairlane.reproductions/4"
_FILES = ("index.html", "reproduction.json", NAME)


@dataclass(frozen=True)
class Outline:
    """The part of a reproduction that stays in memory when the next one begins: runs of thousands of combinations would not fit."""

    key: str
    words: dict[str, Any]
    page: Path
    document: dict[str, Any]
    findings: list[str]
    reused: int
    seconds: float
    score: Scores
    """How near the published results are."""
    notes: Sequence[str] = ()
    """Notes for the user about the contents of the folder."""

    @property
    def claims(self) -> list[dict[str, Any]]:
        """The claims as the document has them."""
        claims: list[dict[str, Any]] = self.document["claims"]
        return claims

    @property
    def counts(self) -> dict[str, int]:
        """Claims by verdict."""
        return counts(c["verdict"] for c in self.claims)


def outline_of(r: Reproduction) -> Outline:
    """The outline of a finished reproduction."""
    return Outline(
        r.paper.key,
        r.paper.words,
        r.page,
        r.to_json(),
        r.findings,
        r.reused,
        r.seconds,
        scores(results_of(r)),
        tuple(r.notes),
    )


@dataclass(frozen=True)
class Reproductions:
    """Finished reproductions of several papers."""

    folder: Path
    page: Path
    quick: bool
    outlines: Sequence[Outline]

    def __iter__(self) -> Iterator[Outline]:
        return iter(self.outlines)

    @property
    def counts(self) -> dict[str, int]:
        """Claims of all papers by verdict."""
        return counts(c["verdict"] for o in self.outlines for c in o.claims)

    @property
    def notes(self) -> list[str]:
        """Notes for the user about the contents of the folders."""
        return [note for o in self.outlines for note in o.notes]

    def to_json(self) -> dict[str, Any]:
        """One document: `experiments` and `claims` of all papers as each has them, and `papers` with the rest."""
        from .. import _core

        parts = ("experiments", "claims")
        alone = ("schema", "fairlane", "quick", *parts)
        return {
            "schema": SCHEMA,
            "fairlane": _core.version(),
            "quick": self.quick,
            "runs": sum(o.document["runs"] for o in self.outlines),
            "page": str(self.page),
            "experiments": [e for o in self.outlines for e in o.document["experiments"]],
            "claims": [{"paper": o.key, **c} for o in self.outlines for c in o.claims],
            "papers": [
                {
                    **{k: x for k, x in o.document.items() if k not in alone},
                    **o.counts,
                    "answer": o.document["answer"],
                    "findings": o.findings,
                    **o.score.every.to_json(),
                    "score": o.score.to_json(),
                }
                for o in self.outlines
            ],
        }

    def _repr_html_(self) -> str:
        from .overview import reproductions_html

        return reproductions_html(self)

    def print(self, console: Console) -> None:
        """The verdicts on a terminal."""
        from .overview import show

        show(self, console)


def reproduce_papers(
    papers: Sequence[Paper],
    quick: bool = False,
    out: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Reproductions:
    """See `fairlane.papers.reproduce_all`."""
    from . import overview

    folder = Path(fspath(out)) if out is not None else Path("results")
    room_for(folder, _FILES)
    if (folder / "index.html").exists() and not (folder / "reproduction.json").exists():
        raise FolderError(f"{folder / 'index.html'} is not the page of reproductions: choose another folder")
    outlines: list[Outline] = []
    weights = [p.minutes for p in papers]
    for i, paper in enumerate(papers):
        begin, share = sum(weights[:i]) / sum(weights), weights[i] / sum(weights)

        def within(fraction: float, label: str, key: str = paper.key, begin: float = begin, share: float = share) -> object:
            return progress(begin + share * fraction, f"{key}: {label}") if progress is not None else None

        outlines.append(outline_of(run_reproduction(paper, quick=quick, out=folder / paper.key, progress=within, png=not quick)))
    r = Reproductions(folder, folder / "index.html", quick, outlines)
    with listed(folder) as put:
        put(r.page.name, overview.render(r).encode())
        text = json.dumps(r.to_json(), indent=1, ensure_ascii=False, allow_nan=False)
        put("reproduction.json", (text + "\n").encode())
    return r
