"""Claims of a paper, in the language of `fairlane.claims`, and how sure a verdict is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from ..base.scenario import read_scenario, tree_of
from ..claims import Check, Comparison, Outcome, Tables
from ..multiverse import Boundary, Judgement, Share, Word, share

Verdict = Word

SURE = 0.95
"""Share of resamples that must agree before a verdict is given."""


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


@dataclass
class Judged:
    """The verdict on one claim, with what supports it."""

    claim: Claim
    verdict: Verdict
    outcome: Outcome
    """Outcome on the means."""
    support: float | None
    """Share of resampled sets of replications on which the check holds; `None` without replications."""
    reason: str
    comparisons: list[Comparison] = field(default_factory=list)
    cause: str = ""
    so_far: Verdict | None = None
    """Verdict of the finished runs alone while others are missing; `None` if all are finished."""

    judgement: Judgement | None = None
    """Judgement over the settings, or over the replications of a paper of single runs; None where only the means were judged."""
    share_matching: float | None = None
    """The share of the settings that match the published values in which it holds; None if none matches, or none was run."""
    matching: int = 0
    """How many settings match the published values."""
    whole: bool = False
    """True if it is judged in recorded full reruns, because the settings of the sample lack the values it reads."""

    @property
    def share(self) -> Share | None:
        """In what share of the plausible settings it holds."""
        return self.judgement.share if self.judgement else None

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        """Where it changes."""
        return self.judgement.boundaries if self.judgement else ()

    @property
    def leaning(self) -> Verdict:
        """The verdict, or what it looks like so far."""
        return self.so_far or self.verdict

    def to_json(self) -> dict[str, Any]:
        """The entry of the JSON document."""
        s = self.share
        return {
            "id": self.claim.id, "statement": self.claim.statement, "experiments": list(self.claim.experiments),
            "verdict": self.verdict, "so_far": self.so_far, "on_means": self.outcome, "support": self.support, "reason": self.reason,
            "share": s and round(s.share, 4), "share_low": s and round(s.low, 4), "share_high": s and round(s.high, 4),
            "settings": s.n if s else 0, "share_matching": _rounded(self.share_matching), "matching": self.matching,
            "whole": self.whole,
            "changes_at": [t.to_json() for t in self.boundaries] or None,
            "published_verdict": self.claim.published, "expect": self.claim.expect,
            "evidence": [
                {"left": c.left, "sign": c.sign, "right": c.right, "true": c.true, "read": list(c.looked_up)} for c in self.comparisons
            ],
            "cause": self.cause or ("" if self.verdict == "holds" else self.reason),
        }  # fmt: skip


def read_claims(path: Path) -> list[Claim]:
    """The claims of a ``claims.toml``; their experiments get the study's key, which is the name of its folder."""
    key = path.resolve().parent.name
    entries = tree_of(*read_scenario(path))["claim"]
    return [
        Claim(
            e["id"], e["statement"], tuple(f"{key}/{x}" for x in e["experiments"]), Check(e["check"]), e["published"],
            e.get("expect", "hold"), e.get("why", ""),
        )
        for e in entries
    ]  # fmt: skip


def judge(
    claim: Claim, tables: Tables, resamples: Sequence[Tables] = (), missing: str = "", replications: Sequence[Outcome] = ()
) -> Judged:
    """Evaluates a claim on the means and on resampled replications (bootstrap); the verdict needs `SURE` of them on one side.

    `replications`: what the claim does in each replication alone, for a paper that made each run once: then the verdict is that of the
    share in which it holds.

    `missing` says which runs of the study are not there ("4 of 30 replications"); then nothing is settled, whatever these runs say. Few
    replications agree by chance, and the bootstrap cannot know what none of them shows: so a part of the runs never has another verdict
    than all of them, or a more certain one.
    """
    judged = _judged(claim, tables, resamples)
    if len(replications) > 1 and judged.outcome != "no-data":
        judged = _single(judged, replications)
    if not missing or judged.outcome == "no-data":
        return judged
    reason = f"preliminary ({missing}): {judged.reason}"
    return replace(judged, verdict="inconclusive", so_far=judged.verdict, reason=reason)


def _judged(claim: Claim, tables: Tables, resamples: Sequence[Tables]) -> Judged:
    """The verdict that these runs give."""
    outcome = claim.check.outcome(tables)
    if outcome == "no-data":
        return Judged(claim, "inconclusive", outcome, None, "a table or a row the check reads was not run")
    comparisons = claim.check.comparisons(tables)
    if not resamples:
        return Judged(claim, outcome, outcome, None, "evaluated on single runs", comparisons)
    held = sum(claim.check.outcome(t) == "holds" for t in resamples)
    support = held / len(resamples)
    if outcome == "holds" and support >= SURE:
        return Judged(claim, "holds", outcome, support, f"holds in {share_text(support)} of the resampled replications", comparisons)
    if outcome == "fails" and support <= 1 - SURE:
        return Judged(claim, "fails", outcome, support, f"fails in {share_text(1 - support)} of the resampled replications", comparisons)
    reason = f"not significant: {outcome} on the means, holds in {share_text(support)} of the resampled replications"
    return Judged(claim, "inconclusive", outcome, support, reason, comparisons)


def _single(judged: Judged, replications: Sequence[Outcome]) -> Judged:
    """The verdict of the share of single runs in which a claim holds."""
    found = share([None if o == "no-data" else o == "holds" for o in replications])
    if found is None:
        return judged
    word: Word = found.clear or "inconclusive"
    low, high = (round(100 * x) for x in (found.low, found.high))
    reason = f"holds in {share_text(found.share)} ({low} to {high} %) of {found.n} replications, each judged alone"
    return replace(judged, verdict=word, reason=reason, judgement=Judgement(word, found, (), 0.0, reason))


def share_text(x: float) -> str:
    """Returns a share in percent."""
    return "all" if x == 1 else "none" if x == 0 else f"{100 * x:.0f} %"


def _rounded(x: float | None) -> float | None:
    return None if x is None else round(x, 4)
