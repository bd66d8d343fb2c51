"""Grades of a share, and the verdict that summarises two results: in the paper's setup, and in other plausible setups."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal

from .verdicts import FEWEST, STOPPING, Share, share

Verdict = Literal["supported", "depends", "only_in_paper_setup", "contradicted", "inconsistent_in_print", "inconclusive"]
VERDICTS: tuple[Verdict, ...] = ("supported", "depends", "only_in_paper_setup", "contradicted", "inconsistent_in_print", "inconclusive")
"""The verdicts, in the order in which they are counted."""

GRADES = ("hardly ever", "seldom", "mixed", "mostly", "nearly always")
"""The words for a share, from the smallest on."""
BOUNDS = (0.05, 0.25, 0.75, 0.95)
"""The shares at which a grade ends and the next one begins; "hardly ever" is below the first, "mostly" includes the last but one."""
MOSTLY, MIXED = BOUNDS[2], BOUNDS[1]


def grade(share: float) -> str:
    """Returns the word for a share.

    >>> grade(0.03), grade(0.05), grade(0.5), grade(0.75), grade(0.95)
    ('hardly ever', 'seldom', 'mixed', 'mostly', 'nearly always')
    """
    return GRADES[bisect_right(BOUNDS, share)]


def grades(s: Share) -> tuple[str, ...]:
    """Returns the grades that the interval of a share contains, from the smallest on."""
    first = bisect_right(BOUNDS, s.low)
    last = max(first, bisect_right(BOUNDS, s.high) - (s.high in BOUNDS))
    return GRADES[first : last + 1]


def elsewhere(s: Share | None) -> str:
    """Returns the grade of a share; both of two neighbouring ones if the interval spans them, and all that it spans.

    >>> elsewhere(Share(0.93, 0.89, 0.96, 256)), elsewhere(Share(1.0, 0.98, 1.0, 256))
    ('mostly or nearly always', 'nearly always')
    """
    return " or ".join(grades(s)) if s else ""


def settled(outcomes: Sequence[float | None]) -> bool:
    """Returns true if more settings would not move a share out of its grade."""
    s = share(outcomes, STOPPING)
    return s is not None and s.n >= FEWEST and len(grades(s)) == 1


def summarise(here: bool | None, s: Share | None, runs: int = 0, alone: bool = False, inconsistent: bool = False) -> Verdict:
    """Returns the verdict on a claim.

    `here`: the result in the paper's setup; None if it was not run. `s`: the share of the other plausible setups in which it holds.
    `alone`: the claim depends on nothing unstated, so that `s` is the share of its `runs` replications.
    """
    if inconsistent:
        return "inconsistent_in_print"
    if here is None or s is None:
        return "inconclusive"
    if alone:
        decided = s.share in (0.0, 1.0) or s.low > 0.5 or s.high < 0.5  # all replications agree, or chance does not explain their majority
        return ("supported" if here else "contradicted") if decided and runs else "inconclusive"
    if s.n < FEWEST or len(grades(s)) > 2:
        return "inconclusive"
    if here and s.share >= MOSTLY:
        return "supported"
    if s.share >= MIXED:
        return "depends"
    return "only_in_paper_setup" if here else "contradicted"


def same_everywhere(outcomes: Sequence[float | None], margins: Sequence[float | None]) -> bool:
    """Returns true if a claim comes out the same in every setting, with the same margin: what is unstated does not touch its runs.

    Such settings are one run counted many times, and say nothing about other setups.
    """
    known = [(o, m) for o, m in zip(outcomes, margins, strict=True) if o is not None]
    return len(known) > 1 and len(set(known)) == 1
