"""Claims of a paper, in the language of `fairlane.claims`, and the two results of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..base.scenario import read_scenario, tree_of
from ..claims import Check, Comparison, Outcome, Tables
from ..multiverse import Boundary, Share, Verdict, elsewhere, grade, share

if TYPE_CHECKING:
    from .found import Found


@dataclass(frozen=True)
class Claim:
    """One claim of ``claims.toml``: the paper's (or the extraction's) sentence and its check."""

    id: str
    statement: str
    experiments: tuple[str, ...]
    check: Check
    published: Outcome
    expect: Literal["hold", "doubtful"]
    why: str = ""
    main: str = ""
    """A main conclusion of the paper, as a clause: "RED reduces the delay of TCP"; empty for other claims."""
    inconsistent: str = ""
    """Why the published values that it rests on cannot be; empty if they can."""


@dataclass(frozen=True)
class DependsOn:
    """The unstated parameter that decides a claim, and the value where it changes."""

    name: str
    value: str = ""
    """Empty if no single value separates: the parameter only has the largest effect on the margin."""
    side: str = ""
    """Where the claim holds more often: above or below the value, or with it."""
    phrase: str = ""
    """Phrase that the name stands for, after "depends on": "the length of a TCP segment"; empty if the study has no words for it."""

    @classmethod
    def on(cls, first: Boundary) -> DependsOn:
        """Returns the parameter of a claim's widest boundary."""
        return cls(first.name, " or ".join(first.value) if isinstance(first.value, tuple) else first.value, first.side)

    def to_json(self) -> dict[str, Any]:
        """Returns the entry of the JSON document."""
        return {"name": self.name, "phrase": self.phrase or None, "value": self.value or None, "holds": self.side or None}

    def __str__(self) -> str:
        return f"{self.name} {self.side + ' ' if self.side in ('above', 'below') else ''}{self.value}".strip()


@dataclass
class Judged:
    """The two results of a claim, and the verdict that summarises them."""

    claim: Claim
    verdict: Verdict
    outcome: Outcome
    """Outcome on the means of the study's own tables."""
    runs_true: int = 0
    """Replications of the study's own tables in which it holds."""
    runs: int = 0
    """Replications that can evaluate it."""
    share: Share | None = None
    """The share of the plausible settings in which it holds, or of the replications if it is judged `alone`; None if none can tell."""
    alone: bool = False
    """True if nothing unstated touches its runs: it comes out the same in every setting, and is judged by its replications."""
    comparisons: list[Comparison] = field(default_factory=list)
    boundaries: tuple[Boundary, ...] = ()
    """Where it changes between settings."""
    depends_on: DependsOn | None = None
    cause: str = ""
    share_matching: float | None = None
    """The share of the settings that match the published values in which it holds; None if none matches, or none was run."""
    matching: int = 0
    """Settings that match the published values."""
    whole: bool = False
    """True if it is judged in recorded full reruns, because the settings of the sample lack the values it reads."""
    recorded: bool = False
    """True if the result in the paper's setup is that of the record, because a part of the runs cannot evaluate it."""
    closest: Found | None = None
    """The result of a directed search for a setting in which it holds; None if none was made."""

    @property
    def here(self) -> bool | None:
        """Result in the paper's setup: that of most replications, of the means if they are evenly divided; None if it was not run."""
        if self.outcome == "no-data" or not self.runs:
            return None
        return self.runs_true > self.runs / 2 or (2 * self.runs_true == self.runs and self.outcome == "holds")

    @property
    def elsewhere(self) -> str:
        """The grade of the share: "mostly", "mostly or nearly always"; that of the replications if they are all there is."""
        return grade(self.share.share) if self.share and self.alone else elsewhere(self.share)

    def to_json(self) -> dict[str, Any]:
        """The entry of the JSON document."""
        s = self.share
        return {
            "id": self.claim.id, "statement": self.claim.statement, "experiments": list(self.claim.experiments),
            "main": self.claim.main or None, "verdict": self.verdict,
            "in_paper_setup": None if self.here is None else "yes" if self.here else "no", "runs_true": self.runs_true, "runs": self.runs,
            "recorded": self.recorded, "on_means": self.outcome, "published": self.claim.published,
            "elsewhere": self.elsewhere or None, "share": s and round(s.share, 4), "share_low": s and round(s.low, 4),
            "share_high": s and round(s.high, 4), "settings": s.n if s and not self.alone else 0, "same_everywhere": self.alone,
            "depends_on": self.depends_on and self.depends_on.to_json(),
            "share_matching": _rounded(self.share_matching), "matching": self.matching, "whole": self.whole,
            "changes_at": [t.to_json() for t in self.boundaries] or None,
            "closest": self.closest and self.closest.to_json(), "inconsistent": self.claim.inconsistent or None,
            "expect": self.claim.expect,
            "evidence": [
                {"left": c.left, "sign": c.sign, "right": c.right, "true": c.true, "unit": c.unit, "read": list(c.looked_up)}
                for c in self.comparisons
            ],
            "cause": self.cause,
        }  # fmt: skip


def read_claims(path: Path) -> list[Claim]:
    """The claims of a ``claims.toml``; their experiments get the study's key, which is the name of its folder."""
    at = path.stat() if path.is_file() else None
    return list(_claims(path, path.resolve().parent.name, at and (at.st_mtime_ns, at.st_size)))


@lru_cache(maxsize=64)
def _claims(path: Path, key: str, version: tuple[int, int] | None) -> tuple[Claim, ...]:
    """The claims of a file; `version` changes with it."""
    entries = tree_of(*read_scenario(path))["claim"]
    return tuple(
        Claim(
            e["id"], e["statement"], tuple(f"{key}/{x}" for x in e["experiments"]), Check(e["check"]), e["published"],
            e.get("expect", "hold"), e.get("why", ""), e.get("main", ""), e.get("inconsistent", ""),
        )
        for e in entries
    )  # fmt: skip


def in_paper_setup(claim: Claim, tables: Tables, replications: Sequence[Tables]) -> Judged:
    """Evaluates a claim in the study's own tables, on the means and in each replication alone; the other setups are not judged yet."""
    outcome = claim.check.outcome(tables)
    if outcome == "no-data":
        return Judged(claim, "inconclusive", outcome)
    each = [o for o in map(claim.check.outcome, replications) if o != "no-data"] or [outcome]
    return Judged(claim, "inconclusive", outcome, sum(o == "holds" for o in each), len(each), comparisons=claim.check.comparisons(tables))


def share_of_runs(j: Judged) -> Share | None:
    """The share of the replications in which a claim holds."""
    return share([True] * j.runs_true + [False] * (j.runs - j.runs_true)) if j.runs else None


def _rounded(x: float | None) -> float | None:
    return None if x is None else round(x, 4)
