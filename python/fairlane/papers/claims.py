"""Claims of a paper, in the language of `fairlane.claims`, and how sure a verdict is."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from ..base.files import read_input
from ..claims import Check, Comparison, Outcome, Tables

Verdict = Literal["holds", "fails", "undecided"]

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
    """What the runs at hand alone would say, where the study asks for more of them: no verdict. `None` if they are all there."""

    @property
    def leaning(self) -> Verdict:
        """The verdict, or what it looks like so far."""
        return self.so_far or self.verdict

    def to_json(self) -> dict[str, Any]:
        """The entry of the JSON document."""
        return {
            "id": self.claim.id, "statement": self.claim.statement, "experiments": list(self.claim.experiments),
            "verdict": self.verdict, "so_far": self.so_far, "on_means": self.outcome, "support": self.support, "reason": self.reason,
            "published_verdict": self.claim.published, "expect": self.claim.expect,
            "evidence": [
                {"left": c.left, "sign": c.sign, "right": c.right, "true": c.true, "read": list(c.looked_up)} for c in self.comparisons
            ],
            "cause": self.cause or ("" if self.verdict == "holds" else self.reason),
        }  # fmt: skip


def read_claims(path: Path) -> list[Claim]:
    """The claims of a ``claims.toml``; their experiments get the study's key, which is the name of its folder."""
    key = path.resolve().parent.name
    entries = tomllib.loads(read_input(path).decode("utf-8"))["claim"]
    return [
        Claim(
            e["id"], e["statement"], tuple(f"{key}/{x}" for x in e["experiments"]), Check(e["check"]), e["published"],
            e.get("expect", "hold"), e.get("why", ""),
        )
        for e in entries
    ]  # fmt: skip


def judge(claim: Claim, tables: Tables, resamples: Sequence[Tables] = (), missing: str = "") -> Judged:
    """Evaluates a claim on the means and on resampled replications (bootstrap); the verdict needs `SURE` of them on one side.

    `missing` says which runs of the study are not there ("4 of 30 replications"); then nothing is settled, whatever these runs say. Few
    replications agree by chance, and the bootstrap cannot know what none of them shows: so a part of the runs never has another verdict
    than all of them, or a more certain one.
    """
    judged = _judged(claim, tables, resamples)
    if not missing or judged.outcome == "no-data":
        return judged
    reason = f"so far only, with {missing}: {judged.reason}"
    return replace(judged, verdict="undecided", so_far=judged.verdict, reason=reason)


def _judged(claim: Claim, tables: Tables, resamples: Sequence[Tables]) -> Judged:
    """The verdict that these runs give."""
    outcome = claim.check.outcome(tables)
    if outcome == "no-data":
        return Judged(claim, "undecided", outcome, None, "a table or a cell the check reads was not run")
    comparisons = claim.check.comparisons(tables)
    if not resamples:
        return Judged(claim, outcome, outcome, None, "evaluated on single runs", comparisons)
    held = sum(claim.check.outcome(t) == "holds" for t in resamples)
    support = held / len(resamples)
    if outcome == "holds" and support >= SURE:
        return Judged(claim, "holds", outcome, support, f"holds in {_share(support)} of the resampled replications", comparisons)
    if outcome == "fails" and support <= 1 - SURE:
        return Judged(claim, "fails", outcome, support, f"fails in {_share(1 - support)} of the resampled replications", comparisons)
    reason = f"the replications do not settle it: {outcome} on the means, holds in {_share(support)} of the resampled replications"
    return Judged(claim, "undecided", outcome, support, reason, comparisons)


def _share(x: float) -> str:
    return "all" if x == 1 else "none" if x == 0 else f"{100 * x:.0f} %"
