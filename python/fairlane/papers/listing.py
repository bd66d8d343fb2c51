"""The tables and figures of a study: what `--only` takes, with the runs and the time of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..base.format import duration
from ..look.sheet import Sheet
from .claims import read_claims
from .definition import Paper


@dataclass(frozen=True)
class Listed:
    """A table or figure of a study, or a claim."""

    id: str
    title: str
    runs: int
    seconds: float
    """About how long it takes on two cores; runs that it shares with others count in each."""
    claims: tuple[str, ...] = ()
    """The claims that rest on it."""

    def to_json(self) -> Mapping[str, Any]:
        """Returns the entry of the JSON document."""
        return {
            "id": self.id, "title": self.title, "runs": self.runs, "seconds": round(self.seconds, 1), "claims": list(self.claims)
        }  # fmt: skip


def listed(paper: Paper) -> list[Listed]:
    """Returns the tables and figures of a study in the order of its page.

    The time is the study's own (`minutes`), divided among its runs: runs of one table may take longer than those of another.
    """
    combinations = paper.combinations()
    claims = read_claims(paper.folder / "claims.toml")
    each = 60 * paper.minutes / max(1, len(combinations) * len(paper.seeds))
    out = []
    for e in paper.experiments():
        runs = sum(e.needs(c) for c in combinations) * len(paper.seeds)
        rest = tuple(c.id for c in claims if f"{paper.key}/{e.id}" in c.experiments)
        out.append(Listed(e.id, e.title, runs, runs * each, rest))
    return out


def sheet(paper: Paper) -> Sheet:
    """Returns the list as a table for a terminal."""
    rows = [[x.id, x.title, str(x.runs), duration(x.seconds) if x.runs else "", ", ".join(x.claims)] for x in listed(paper)]
    return Sheet(["id", "title", "runs", "about", "claims"], rows, title=f"{paper.key}: tables and figures", labels=2, words=(1, 4))
