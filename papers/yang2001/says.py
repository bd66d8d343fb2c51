"""The claims on Tables 4 and 6, comparison by comparison: the margin of each, and how much of it is chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median, variance
from typing import TYPE_CHECKING

from .net import CLASSES, ENVS, QUEUES
from .text import TCP, Values, replications

if TYPE_CHECKING:
    from fairlane.papers import Results

Look = Callable[[str, str, int, str], float]
"""The value of an environment, a queue, a source and a class."""
Margins = Callable[[Look], list[tuple[str, float]]]
"""The comparisons of a claim: of each the class it is about, and by how much it is true (negative: it is not)."""

UDP, LOW = CLASSES[4:], CLASSES[1:]
BEST_EFFORT = (("cc/be", 2), ("ts/be", 2), ("be/be", 1), ("be/be", 2))
_DRR_PAIRS = (("ts/ts", "cc/cc", 1), ("ts/ts", "cc/cc", 2), ("ts/be", "cc/be", 1))


def _least(queue: str, where: Sequence[tuple[str, int]], flows: Sequence[str]) -> Margins:
    """This queue has the least of all four."""
    return lambda v: [(f, min(v(e, q, s, f) for q in QUEUES if q != queue) - v(e, queue, s, f)) for e, s in where for f in flows]


def _most(queue: str, where: Sequence[tuple[str, int]], flows: Sequence[str]) -> Margins:
    """This queue has the most of all four."""
    return lambda v: [(f, v(e, queue, s, f) - max(v(e, q, s, f) for q in QUEUES if q != queue)) for e, s in where for f in flows]


def _both(*envs: str) -> list[tuple[str, int]]:
    return [(e, s) for e in envs for s in (1, 2)]


def _in_order(envs: Sequence[str]) -> Margins:
    """The deviation grows from each class of TCP to the next."""
    return lambda v: [(b, v(e, q, 1, b) - v(e, q, 1, a)) for e in envs for q in QUEUES for a, b in pairwise(TCP)]


def _steady(v: Look) -> list[tuple[str, float]]:
    """FCFS and RED deviate less than DRR and SFQ."""

    def of(pick: Callable[..., float], queues: Sequence[str], f: str) -> float:
        return pick(v("cc/cc", q, 1, f) for q in queues)

    return [(f, of(min, ("DRR", "SFQ"), f) - of(max, ("FCFS", "RED"), f)) for f in CLASSES]


def _second(v: Look) -> list[tuple[str, float]]:
    """RED is best or second for UDP under control."""
    return [(f, sorted(v(e, q, s, f) for q in QUEUES if q != "RED")[1] - v(e, "RED", s, f)) for e, s in _both(*ENVS[:4]) for f in UDP]


MEANS: dict[str, Margins] = {
    "Y8": lambda v: [("UDP3", v(e, q, s, "TCP3") - v(e, q, s, "UDP3")) for e, s in _both(*ENVS) for q in QUEUES],
    "Y10": lambda v: [(f, v("ts/ts", q, s, f) - v("cc/cc", q, s, f)) for q in QUEUES for s in (1, 2) for f in CLASSES],
    "Y11": lambda v: [(f, v("ts/be", q, 1, f) - v("cc/be", q, 1, f)) for q in QUEUES for f in CLASSES],
    "Y13": lambda v: [(f, v("cc/be", q, 1, f) - v("be/be", q, 1, f)) for q in QUEUES for f in TCP[1:]],
    "Y14": lambda v: [(f, 1.05 * min(v(e, q, s, f) for q in QUEUES) - v(e, "FCFS", s, f)) for e, s in BEST_EFFORT for f in UDP],
    "Y16": _most("DRR", _both("cc/cc"), LOW),
    "Y17": _most("DRR", _both("be/be"), TCP[1:]),
    "Y17b": _most("DRR", _both("be/be"), UDP),
    "Y18": _least("DRR", [("ts/be", 1)], TCP),
    "Y18b": _most("DRR", [("ts/be", 2)], TCP),
    "Y19": lambda v: [(f, v(b, "DRR", s, f) - v(a, "DRR", s, f)) for a, b, s in _DRR_PAIRS for f in CLASSES],
    "Y20": lambda v: [(f, v(e, "FCFS", s, f) - v(e, "RED", s, f)) for e, s in _both(*ENVS[2:]) for f in TCP],
    "Y21": _least("RED", BEST_EFFORT, TCP),
    "Y21b": _second,
    "Y22": _most("RED", _both("ts/ts"), TCP),
    "Y22b": _least("RED", _both("ts/ts"), UDP),
    "Y23": _most("SFQ", _both(*ENVS), UDP),
    "Y23b": _most("SFQ", BEST_EFFORT, UDP),
}
"""Claims on Table 4."""
SPREADS: dict[str, Margins] = {
    "Y24": lambda v: [(f, 0.56 * v(e, "FCFS", s, f) - v(e, "SFQ", s, f)) for e, s in BEST_EFFORT for f in UDP],
    "Y25": lambda v: [
        (f, v(a, q, 1, f) - v(b, q, 1, f)) for a, b in (("cc/cc", "ts/ts"), ("cc/be", "ts/be")) for q in QUEUES for f in CLASSES
    ],
    "Y26": _in_order(ENVS[:4]),
    "Y26b": _in_order(ENVS[:1]),
    "Y27": _steady,
    "Y28": _most("DRR", _both("cc/cc", "cc/be", "be/be"), TCP),
    "Y29": _least("SFQ", _both(*ENVS[2:]), UDP),
    "Y30": _least("SFQ", _both("cc/be", "ts/be"), TCP),
}
"""Claims on Table 6."""


def margins(v: Values, says: Margins) -> list[tuple[str, float]]:
    """The comparisons of a claim on these values."""
    return says(lambda e, q, s, f: v[e, q, s, f])


def true_in(v: Values, says: Margins) -> tuple[int, int]:
    """In how many of its comparisons a claim is true, and how many it makes."""
    got = [x >= 0 for _, x in margins(v, says)]
    return sum(got), len(got)


def count(v: Values, says: Margins) -> str:
    """Returns the number of true comparisons in words."""
    return "{} of {}".format(*true_in(v, says))


@dataclass(frozen=True)
class Chance:
    """Returns the comparisons of a claim with the variation of each between runs that differ in their seeds only."""

    comparisons: int
    settled: int
    """Published differences of more than twice the deviation between seeds: one run can tell them from none."""
    agree: int
    """Number of these with the same sign here."""
    own: int
    """Our differences (means over the seeds) of more than twice the deviation of such a mean."""
    seed: dict[str, float]
    """Deviation between seeds of a difference about a class."""
    published: dict[str, float]
    """The median published difference about a class, without its sign."""

    def text(self) -> str:
        """In a sentence or two."""
        of = ", ".join(f"{f} {x:.0f} s ({self.published[f]:.0f})" for f, x in self.seed.items())
        words = (
            "From one series of runs to another that has other seeds such a difference deviates by (in brackets the median published "
            f"difference) {of}. Of the {self.comparisons} published differences {self.settled} are more than twice that"
        )
        if self.settled:
            words += f", and of these {self.agree} have the same sign here"
        return words + f"; of ours, means over the seeds, {self.own} are more than chance. "


def chance_of(r: Results, published: Values, table: str, says: Margins) -> Chance | None:
    """How far chance explains a claim; `None` with a single replication."""
    own = [margins(v, says) for v in replications(r, table)]
    if len(own) < 2:
        return None
    theirs = [x for _, x in margins(published, says)]
    flows = [f for f, _ in own[0]]
    each = [[x for _, x in one] for one in zip(*own, strict=True)]
    seed = {f: fmean(variance(xs) for g, xs in zip(flows, each, strict=True) if g == f) ** 0.5 for f in dict.fromkeys(flows)}
    size = {f: median(abs(x) for g, x in zip(flows, theirs, strict=True) if g == f) for f in seed}
    sure = [(x, fmean(xs)) for f, x, xs in zip(flows, theirs, each, strict=True) if abs(x) > 2 * seed[f]]
    ours = sum(abs(fmean(xs)) > 2 * seed[f] / len(own) ** 0.5 for f, xs in zip(flows, each, strict=True))
    return Chance(len(theirs), len(sure), sum((x > 0) == (y > 0) for x, y in sure), ours, seed, size)
