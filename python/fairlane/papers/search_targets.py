"""Targets of a directed search: claims and published values, and the runs that they need."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from ..claims import BadCheck, same
from ..multiverse import Setting
from ..multiverse.grades import BOUNDS
from ..multiverse.verdicts import share
from .attainable import places
from .claims import Claim
from .full_reruns import CHANCE, combinations_of
from .joint_sample import MATCHING, Joint
from .records import recorded_reach
from .score import published_results
from .settings import Seen
from .tables import NEAR

if TYPE_CHECKING:
    from .definition import Combination, Paper

Runs = Callable[[Setting], "Sequence[Combination]"]
"""The combinations that are run of a setting."""


@dataclass(frozen=True)
class Target:
    """A claim, or a published value."""

    claim: str = ""
    place: tuple[str, str, str] = ("", "", "")
    """Table, row and metric of a published value."""
    at: int = 0
    """Its number among the published results."""
    published: float = 0.0
    most: float | None = None
    """Largest distance from the published values that a setting may have; None for any."""

    def worth(self, s: Seen) -> float | None:
        """Returns how near a setting is to the target: at least zero if it is there; None if it cannot tell."""
        if self.claim:
            margin, holds = s.margins.get(self.claim), s.outcomes.get(self.claim)
            if margin is None or holds is None:
                return None
            worth = max(margin, 0.0) if holds > 0.5 else min(margin, -1e-9)
        else:
            margin = self.margin(s)
            if margin is None:
                return None
            worth = NEAR + margin
        if self.most is None or (s.distance.fit is not None and s.distance.fit <= self.most):
            return worth
        return -2.0 - (s.distance.fit or 1.0)

    def margin(self, s: Seen) -> float | None:
        """Returns the margin of the claim in a setting, or minus the relative difference of the value, whatever the others' distance."""
        if self.claim:
            return s.margins.get(self.claim)
        ours = s.ours[self.at] if s.ours else None
        return None if ours is None or not self.published else -abs(ours / self.published - 1)

    def there(self, s: Seen) -> bool:
        """Returns true if a setting is at the target."""
        worth = self.worth(s)
        return worth is not None and worth >= 0


def targets(paper: Paper, joint: Joint, only: Sequence[str] = ()) -> list[Target]:
    """Returns what has to be searched for: claims that hold hardly ever, each twice, and published values that nothing comes near.

    `only`: these claims, and values as "table2/tcp Vegas, queue RED/packets_lost".
    """
    best = joint.best[0].distance.fit if joint.best else None
    out: list[Target] = []
    for c in joint.claims:
        found = share(joint.outcomes(c.id))
        rare = found is not None and found.share < BOUNDS[0] and not joint.same_everywhere(c.id)
        if rare if not only else c.id in only:
            out.append(Target(c.id))
            if best is not None:
                out.append(Target(c.id, most=best + MATCHING))
    published = [r.published for r in published_results(paper, {})]
    lost = {(r["table"], r["of"], r["metric"]) for r in recorded_reach(paper) if r["reached"] == "no" and not r["contradiction"]}
    for i, (place, value) in enumerate(zip(places(paper), published, strict=True)):
        if value and (place in lost if not only else "/".join(place) in only):
            out.append(Target(place=place, at=i, published=value))
    return out


def needed(paper: Paper, target: Target, claims: Sequence[Claim], whole: bool = False) -> Runs:
    """Returns what runs a setting for a target: the combinations of its tables and figures; all of them if the others' values count.

    `whole`: those of a full rerun instead of the part that settings have.
    """
    every = partial(combinations_of, paper) if whole else paper.setting
    if target.most is not None:
        return every
    ids = {target.place[0]} if not target.claim else {e.partition("/")[2] for c in claims if c.id == target.claim for e in c.experiments}
    return runs_for(paper, ids, every)


def runs_for(paper: Paper, ids: Collection[str], combinations: Runs) -> Runs:
    """Returns those of the combinations that tables and figures with these ids need; all of them if there are none."""
    every = paper.experiments()
    ids = {*ids, *(e.part_of for e in every if e.id in ids)}
    of = [e for e in every if e.id in ids]
    return (lambda setting: [c for c in combinations(setting) if any(e.needs(c) for e in of)]) if of else combinations


def read_alone(claim: Claim, runs: Runs) -> Runs:
    """Returns those of the combinations that have the factors which the claim's check looks up, as far as both name the same ones."""
    try:
        return with_factors([factors for _, factors in claim.check.lookups()], runs)
    except BadCheck:  # it divides by a difference, say
        return runs


def with_factors(rows: Sequence[Mapping[str, object]], runs: Runs) -> Runs:
    """Returns those of the combinations that have the factors of one of the rows, as far as both name the same ones."""

    def wanted(c: Combination) -> bool:
        own = dict(c.factors)
        return any(all(same(own[k], x) for k, x in row.items() if k in own) for row in rows)

    return lambda setting: [c for c in runs(setting) if wanted(c)]


def in_full_reruns(joint: Joint, target: Target) -> list[Seen]:
    """Returns the settings that were run in full, with our value at the place of a published one."""
    if joint.whole is None or target.place not in joint.whole.places:
        return []
    i = list(joint.whole.places).index(target.place)
    ours = [xs[i] for name, xs in joint.whole.ours.items() if name != CHANCE]
    return [replace(s, ours=(*[None] * target.at, x)) for s, x in zip(joint.whole.seen, ours, strict=True)]
