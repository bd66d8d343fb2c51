"""Several results against the first of them: differences with intervals, sentences, and what was set differently."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .. import stats
from ..base.format import number, quantity
from ..look.sheet import Sheet
from ..stats import Contrast, Estimate, Interval, contrasts, interval
from .settings import changed_settings
from .sources import Measure, Source, measures

MOST_ROWS = 150
"""Differences that a page lists; the document has all."""
MOST_SENTENCES = 3
PAIRED = "paired by seed"
APART = "of different seeds, so not paired (Welch)"


@dataclass(frozen=True)
class Difference:
    """One result against the first by one measure."""

    measure: Measure
    level: str
    against: str
    contrast: Contrast
    seeds: int
    """Seeds that both have, if the difference is paired by them."""

    @property
    def shown(self) -> Estimate:
        """The difference as it is told: in percent of the mean of the first, or in points of a share."""
        d = self.contrast.difference
        if not self.measure.points:
            return d.change
        factor = 1.0 if self.measure.metric == "jain" else 100.0
        value, low, high = (None if x is None else factor * x for x in (d.difference.value, d.difference.low, d.difference.high))
        return Estimate(value, low, high, d.difference.n)

    @property
    def sign(self) -> str:
        """What stands behind the number."""
        return " %" if not self.measure.points else "" if self.measure.metric == "jain" else " points"

    @property
    def text(self) -> str:
        """With its sign."""
        return "-" if self.shown.value is None else f"{signed(self.shown.value)}{self.sign}"

    @property
    def span(self) -> str:
        """The interval."""
        e = self.shown
        return "-" if e.low is None or e.high is None else f"{signed(e.low)} to {signed(e.high)}"

    @property
    def sure(self) -> bool:
        """Whether a difference was shown."""
        return self.contrast.finding in ("more", "less")

    def as_dict(self) -> dict[str, Any]:
        """As in the JSON document."""
        c, d = self.contrast, self.contrast.difference
        told = {
            "kind": self.measure.kind, "of": self.measure.of, "metric": self.measure.metric, "unit": self.measure.unit,
            "result": self.level, "against": self.against, "means": [d.a.mean, d.b.mean],
        }  # fmt: skip
        return {
            **told, "difference": d.difference.as_dict(), "percent": d.change.as_dict(), "paired": d.paired, "p": d.p, "p_holm": c.p,
            "p_equivalent": c.p_equivalent, "finding": c.finding,
        }  # fmt: skip


class SourceComparison:
    """What sets results apart. The first is what the others are held against."""

    def __init__(self, sides: Sequence[Source], margin: str = stats.MARGIN) -> None:
        self.sides = list(sides)
        self.margin = margin

    @cached_property
    def measures(self) -> list[Measure]:
        """What they are told apart by."""
        return measures(self.sides)

    @cached_property
    def differences(self) -> list[Difference]:
        """Every other result against the first, by every measure; p-values are corrected for all of them together."""
        base, others = self.sides[0], self.sides[1:]
        rows: list[tuple[Measure, Source, int]] = []
        pairs: list[tuple[list[float | None], list[float | None]]] = []
        common: list[bool] = []
        for m in self.measures:
            for side in others:
                a, b = side.values(m), base.values(m)
                both = [s for s in a if s in b]
                paired = bool(both) and (len(both) > 1 or set(a) == set(b))
                rows.append((m, side, len(both) if paired else 0))
                pairs.append(([a[s] for s in both], [b[s] for s in both]) if paired else (list(a.values()), list(b.values())))
                common.append(paired)
        found = contrasts(pairs, self.margin, common_seeds=common)
        return [Difference(m, s.label, base.label, c, n) for (m, s, n), c in zip(rows, found, strict=True)]

    @cached_property
    def sentences(self) -> list[str]:
        """What differs, at most three sentences: the largest differences that were shown, or that none was."""
        base, found = self.sides[0].label, self.differences
        if self.same:
            return [self.same]
        if not found:
            return ["The results have no group of flows, link or point in common that they could be told apart by."]
        tested = [d for d in found if d.contrast.p is not None]
        if not tested:
            big = sorted((d for d in found if d.shown.value is not None), key=_size)[:2]
            return [
                "One run each: what chance does to these differences is not known; several seeds (--seeds 1..10) tell.",
                *map(_plain, big),
            ]
        shown = [d for d in tested if d.sure]
        alike = sum(d.contrast.finding == "equivalent" for d in tested)
        rest = len(tested) - len(shown) - alike
        were = "was" if len(shown) == 1 else "were"
        counts = [f"{len(shown)} of {len(tested)} differences from {base} {were} shown"]
        counts += [f"{alike} {'is' if alike == 1 else 'are'} equivalent within {stats.margin_text(self.margin)}"] if alike else []
        counts += [f"for {rest} neither a difference nor equivalence was shown"] if rest else []
        return [*map(_sentence, sorted(shown, key=_size)[: MOST_SENTENCES - 1]), ", ".join(counts) + "."]

    @cached_property
    def same(self) -> str:
        """That all runs are the same, if they are."""
        if len(self.sides) < 2 or self.sides[0].kind == "study":
            return ""
        prints = [dict(zip(s.run.seeds, s.run.fingerprints, strict=True)) for s in self.sides]
        common = set(prints[0]).intersection(*prints[1:])
        if not common or any(len({p[s] for p in prints}) > 1 for s in common) or not all(prints[0][s] for s in common):
            return ""
        return f"The results are the same in all {len(common)} runs that they have in common: packet by packet, as their fingerprints say."

    @property
    def about(self) -> str:
        """How differences are made."""
        paired = [d for d in self.differences if d.contrast.difference.paired]
        how = PAIRED if len(paired) == len(self.differences) else f"{PAIRED} where both have the same seeds, else unpaired (Welch)"
        return (
            f"Differences from {self.sides[0].label} are {how if paired else APART}. Intervals are those of single differences (95 %); "
            "p-values are corrected for all of them together (Holm). A difference that was not shown may be there all the same; equivalent "
            f"means shown to be less than {stats.margin_text(self.margin)} (two one-sided tests)."
        )

    def rows(self) -> list[dict[str, Any]]:
        """The differences for a table, those that were shown first; each with its interval drawn on one scale for each unit."""
        order = sorted(self.differences, key=lambda d: (not d.sure, _size(d)))[:MOST_ROWS]
        reach: dict[str, float] = {}
        for d in order:
            ends = [abs(x) for x in (d.shown.value, d.shown.low, d.shown.high) if x is not None and math.isfinite(x)]
            reach[d.sign] = max([reach.get(d.sign, 0.0), *ends])
        return [
            {
                "of": d.measure.title, "this": d.level, "text": d.text, "span": d.span, "p": stats.p_text(d.contrast.p),
                "words": d.contrast.words, "finding": d.contrast.finding, "drawn": _drawn(d.shown, reach[d.sign]),
            }
            for d in order
        ]  # fmt: skip

    def side_by_side(self) -> Sheet:
        """The means of every measure, a column for each result."""
        rows = [
            [m.title, *(_cell(m, interval(s.values(m).values(), within=m.within)) for s in self.sides)] for m in self.measures[:MOST_ROWS]
        ]
        more = len(self.measures) - MOST_ROWS
        runs = "Means over the runs, with 95 % intervals where there are several." + (f" And {more} more." if more > 0 else "")
        return Sheet(["of", *(s.label for s in self.sides)], rows, note=runs)

    def set_differently(self) -> Sheet | None:
        """The settings in which scenarios differ; None if they do not."""
        if self.sides[0].kind == "study":
            return None
        return changed_settings([s.run.scenario for s in self.sides], [s.label for s in self.sides])


def _size(d: Difference) -> float:
    """For an order by size, the largest first: points of a share as percent."""
    value = d.shown.value
    if value is None or not math.isfinite(value):
        return 0.0
    return -abs(100 * value if d.measure.metric == "jain" else value)


def _sentence(d: Difference) -> str:
    value = d.shown.value or 0.0
    word = "more" if value > 0 else "less"
    between = f" (95 % interval {d.span}, {stats.p_text(d.contrast.p)})" if d.shown.low is not None else f" ({stats.p_text(d.contrast.p)})"
    return f"{d.level} has {digits(abs(value))}{'' if d.sign == '' else d.sign} {word} {d.measure.title} than {d.against}{between}."


def _plain(d: Difference) -> str:
    value = d.shown.value or 0.0
    word = "more" if value > 0 else "less"
    return (
        f"In this run {d.level} has {digits(abs(value))}{d.sign} {word} {d.measure.title} than {d.against}."
        if value
        else (f"In this run {d.level} and {d.against} have the same {d.measure.title}.")
    )


def _cell(m: Measure, iv: Interval) -> str:
    return quantity(iv.times(100), "%") if m.points and m.metric != "jain" else quantity(iv, m.unit)


def digits(x: float) -> str:
    """Two significant digits, but no zeros in place of digits before the point."""
    return f"{x:.0f}" if abs(x) >= 10 else number(float(f"{x:.2g}"), 2)


def signed(x: float) -> str:
    """A difference with its sign.

    >>> signed(12.3), signed(-0.0123), signed(0.0)
    ('+12', '−0.012', '0')
    """
    text = digits(abs(x))
    return text if text.strip("0.") == "" else f"{'+' if x > 0 else '−'}{text}"


def _drawn(e: Estimate, reach: float) -> dict[str, float] | None:
    """Places from 0 to 100 of a difference and its interval; zero is in the middle."""
    if e.value is None or not reach or not math.isfinite(e.value):
        return None
    low, high = (x if x is not None else e.value for x in (e.low, e.high))
    at, a, b = (50 + 48 * max(-1.0, min(1.0, x / reach)) for x in (e.value, low, high))
    return {"at": round(at, 2), "left": round(a, 2), "wide": round(b - a, 2)}
