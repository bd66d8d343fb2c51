"""The joint sample of a paper as a whole: the settings that match the published values, and the verdict on each claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..multiverse import Open, Setting, changes_at, decisive, key_of, matters, same_everywhere, settled, share, summarise
from ..multiverse.verdicts import EXPLAINED
from .boundary_record import Deciding, recorded_boundaries
from .claims import Claim, DependsOn, Judged, read_claims, share_of_runs
from .definition import Paper
from .found import Found, best_of
from .records import recorded, recorded_reach
from .search_record import recorded_search
from .settings import SAMPLED, Seen, nearest
from .tables import NEAR

if TYPE_CHECKING:
    from .emulator import Emulated
    from .full_reruns import Whole

TREES = 9
"""Settings whose scenarios are compared to see if anything unstated touches a claim."""
MATCHING = 0.02
"""A setting matches the published values if its mean difference is no more than this above that of the nearest one."""


@dataclass
class Joint:
    """The settings of a paper that were run, with their results."""

    opens: Sequence[Open]
    claims: Sequence[Claim]
    seen: Sequence[Seen]
    declared: Setting
    asked: int
    """Settings of the sample that the study allows, or that were asked for."""
    earlier: Sequence[Mapping[str, str]] = ()
    """Rows of `attainable.csv` for those of the settings that were recorded, if it continues from a record."""
    again: int = 0
    """Settings of a record that were run again and came out as recorded; none if all were run here."""
    whole: Whole | None = None
    """Settings that were run whole, where those of the sample have a part of the study: claims and published values that no setting of the
    sample has are judged in these."""
    emulated: Emulated | None = None
    """Predictions from the full reruns for other settings."""
    paper: Paper | None = None
    """The study, for what its scenarios tell."""
    searched: Sequence[Found] = ()
    """Results of directed searches for a setting in which a claim holds, or a published value is met."""
    boundaries: Mapping[str, Deciding] = field(default_factory=dict)
    """Where claims change in these settings, as far as it is recorded."""

    @cached_property
    def sample(self) -> list[Seen]:
        """The settings that stand for all plausible ones: the base and the designed sample, without those chosen because they match."""
        return [s for s in self.seen if s.kind in SAMPLED]

    @cached_property
    def best(self) -> list[Seen]:
        """All settings that can be compared with the published values, the nearest first."""
        return nearest(self.seen, len(self.seen))

    @cached_property
    def matching(self) -> list[Seen]:
        """The settings that match the published values, best first; none if the best has a median difference above `NEAR`."""
        if not self.best or (self.best[0].distance.median or 0.0) > NEAR:
            return []
        most = (self.best[0].distance.fit or 0.0) + MATCHING
        return [s for s in self.best if (s.distance.fit or 0.0) <= most]

    @property
    def closest(self) -> dict[str, Found]:
        """The result of the directed search for each claim that was searched for."""
        return best_of(x for x in self.searched if not x.table)

    @property
    def entire(self) -> list[Seen]:
        """The settings that were run whole."""
        return self.whole.seen if self.whole else []

    def judging(self, claim: str) -> list[Seen]:
        """The settings in which a claim is judged, all made alike: those of the sample, or if none of them has what it reads, those of the
        sample that were run whole."""
        return [s for s in self.entire if s.kind in SAMPLED] if self.only_entire(claim) else self.sample

    def only_entire(self, claim: str) -> bool:
        """Returns true if only full reruns can evaluate a claim."""
        return bool(self.entire) and all(_outcome(s, claim) is None for s in self.sample)

    def matching_of(self, claim: str) -> list[Seen]:
        """The settings that match the published values and have what a claim reads; of those run whole, the ones whose part does."""
        if not self.only_entire(claim):
            return self.matching
        known = {key_of(s.values) for s in self.matching}
        return [s for s in self.entire if key_of(s.values) in known]

    def outcomes(self, claim: str) -> list[float | None]:
        """Returns the outcome of a claim in each setting in which it is judged."""
        return [_outcome(s, claim) for s in self.judging(claim)]

    def same_everywhere(self, claim: str) -> bool:
        """Returns true if a claim comes out the same in every setting, because nothing unstated touches its runs.

        Different runs may have the same margin, too, at the end of its scale or at an equality: so the scenarios decide.
        """
        if not same_everywhere(self.outcomes(claim), [s.margins.get(claim) for s in self.judging(claim)]):
            return False
        return self.paper is None or untouched(self.paper, claim, [s.values for s in self.sample[:TREES]])

    def share_matching(self, claim: str) -> float | None:
        """In what share of the settings that match the published values a claim holds."""
        found = share([s.outcomes[claim] for s in self.matching_of(claim)])
        return found.share if found else None

    @cached_property
    def matters(self) -> dict[str, float]:
        """Share of the variance of the distance that each parameter accounts for alone."""
        return matters(self.opens, [s.values for s in self.sample], [s.distance.fit for s in self.sample])

    @property
    def settled(self) -> bool:
        """True if more settings would move no share out of its grade."""
        return all(self.same_everywhere(c.id) or settled(self.outcomes(c.id)) for c in self.claims)

    def to_json(self) -> dict[str, Any]:
        """Returns the entry of the document of a reproduction."""
        return {
            "sample": len(self.sample), "refined": len(self.seen) - len(self.sample), "again": self.again or None,
            "asked": self.asked, "settled": self.settled,
            "declared": self.declared, "whole": sum(s.kind in SAMPLED for s in self.entire),
            "opens": [
                {"name": o.name, "base": o.base, "values": str(o.over), "why": o.why, "matters": round(self.matters[o.name], 4)}
                for o in self.opens
            ],
            "matching": len(self.matching),
            "best": [
                {"values": s.values, "fit": s.distance.fit, "test": s.distance.test, "median_difference": _finite(s.distance.median)}
                for s in self.best[:5]
            ],
        }  # fmt: skip


def _outcome(s: Seen, claim: str) -> float | None:
    """The outcome of a claim; None without a margin: a part of what it reads is missing, and only the rest was looked at."""
    return None if s.margins.get(claim) is None else s.outcomes[claim]


def untouched(paper: Paper, claim: str, settings: Sequence[Setting]) -> bool:
    """Returns true if the scenarios of a claim's tables and figures are the same in these settings."""
    rests = {e.partition("/")[2] for c in read_claims(paper.folder / "claims.toml") if c.id == claim for e in c.experiments}
    wanted = [e for e in paper.experiments() if e.id in rests]
    seed = paper.setting_seeds[0]
    each = [
        [(c.factors, c.tree(seed)) for c in paper.setting(values) if any(e.needs(c) for e in wanted)] for values in settings
    ]  # fmt: skip
    return bool(each) and all(one == each[0] for one in each)


def _finite(x: float | None) -> float | None:
    return None if x is None or x in (float("inf"), float("-inf")) else x


def of_record(paper: Paper) -> Joint | None:
    """The settings that a study's folder records, as those of a reproduction; None without a record."""
    from .full_reruns import recorded_whole

    seen = recorded(paper)
    if not seen:
        return None
    claims, asked = read_claims(paper.folder / "claims.toml"), sum(s.kind in SAMPLED for s in seen)
    return Joint(
        paper.opens(), claims, seen, paper.declared_setting, asked, recorded_reach(paper),
        whole=recorded_whole(paper), paper=paper, searched=recorded_search(paper),
        boundaries=recorded_boundaries(paper),
    )  # fmt: skip


def of_settings(judged: Judged, joint: Joint) -> Judged:
    """Adds the result in the other plausible setups, and the verdict."""
    id = judged.claim.id
    alone = joint.same_everywhere(id)
    found = share_of_runs(judged) if alone else share(joint.outcomes(id))
    verdict = summarise(judged.here, found, judged.runs, alone, bool(judged.claim.inconsistent))
    boundaries, depends = deciding(joint, id) if verdict == "depends" else ((), None)
    if depends and joint.paper:
        depends = replace(depends, phrase=joint.paper.words["unstated"].get(depends.name, ""))
    match = None if alone else joint.share_matching(id)
    return replace(
        judged, verdict=verdict, share=found, alone=alone, boundaries=boundaries, depends_on=depends, share_matching=match,
        matching=0 if match is None else len(joint.matching_of(id)), whole=joint.only_entire(id), closest=joint.closest.get(id),
    )  # fmt: skip


def of_runs(judged: Judged, varied: bool) -> Judged:
    """Adds the verdict where no setting was run; `varied`: the paper leaves parameters unstated, so that its replications are not all."""
    inconsistent = bool(judged.claim.inconsistent)
    if varied:
        return replace(judged, verdict=summarise(judged.here, None, inconsistent=inconsistent))
    found = share_of_runs(judged)
    return replace(judged, verdict=summarise(judged.here, found, judged.runs, True, inconsistent), share=found, alone=True)


def deciding(joint: Joint, claim: str) -> Deciding:
    """Returns where a claim changes, and the parameter that decides it: that of the first boundary, or else the one that moves its margin
    most. None if chance moves it as much."""
    if claim in joint.boundaries:
        return joint.boundaries[claim]
    judging = joint.judging(claim)
    settings, margins = [s.values for s in judging], [s.margins.get(claim) for s in judging]
    found = changes_at(joint.opens, settings, joint.outcomes(claim))
    if found.boundaries and found.explained >= EXPLAINED:
        return found.boundaries, DependsOn.on(found.boundaries[0])
    largest = decisive(joint.opens, settings, margins)
    return (), DependsOn(largest) if largest else None


def boundaries_of(paper: Paper) -> dict[str, Deciding]:
    """Finds where each claim of a study changes in its recorded settings."""
    joint = of_record(paper)
    return {c.id: deciding(replace(joint, boundaries={}), c.id) for c in joint.claims} if joint else {}
