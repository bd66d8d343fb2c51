"""Comparison of several results with the first one: differences with intervals, sentences, and changed settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .. import stats
from ..base.format import quantity
from ..look.numbers import digits, signed, value_text
from ..look.sheet import Sheet
from ..stats import Contrast, Estimate, Interval, contrasts, interval
from .settings import changed_settings
from .sources import Measure, Source, measures

MOST_ROWS = 150
"""Most differences that a page lists; the document has all."""
MOST_SENTENCES = 3
PAIRED = "paired by seed"
UNPAIRED = "unpaired because the seeds differ (Welch)"


@dataclass(frozen=True)
class Difference:
    """Difference of a result from the first one in one measure."""

    measure: Measure
    level: str
    against: str
    contrast: Contrast
    seeds: int
    """Number of common seeds of a paired difference."""

    @property
    def shown(self) -> Estimate:
        """Difference in percent of the baseline mean, or in percentage points of a share."""
        d = self.contrast.difference
        if not self.measure.points:
            return d.change
        factor = 1.0 if self.measure.metric == "jain" else 100.0
        value, low, high = (None if x is None else factor * x for x in (d.difference.value, d.difference.low, d.difference.high))
        return Estimate(value, low, high, d.difference.n)

    @property
    def sign(self) -> str:
        """Unit of the shown difference."""
        return " %" if not self.measure.points else "" if self.measure.metric == "jain" else " points"

    @property
    def text(self) -> str:
        """Difference with its sign and unit."""
        return "-" if self.shown.value is None else f"{signed(self.shown.value)}{self.sign}"

    @property
    def span(self) -> str:
        """Interval of the difference."""
        e = self.shown
        return "-" if e.low is None or e.high is None else f"{signed(e.low)} to {signed(e.high)}"

    @property
    def sure(self) -> bool:
        """True if the difference is significant."""
        return self.contrast.finding in ("more", "less")

    @property
    def values(self) -> tuple[str, str]:
        """Means of the result and of the baseline."""
        unit = "%" if self.measure.points and self.measure.metric != "jain" else self.measure.unit
        d = self.contrast.difference
        return value_text(d.a.mean, unit), value_text(d.b.mean, unit)

    def as_dict(self) -> dict[str, Any]:
        """Returns the entry of the JSON document."""
        c, d = self.contrast, self.contrast.difference
        entry = {
            "kind": self.measure.kind, "of": self.measure.of, "metric": self.measure.metric, "unit": self.measure.unit,
            "result": self.level, "against": self.against, "means": [d.a.mean, d.b.mean],
        }  # fmt: skip
        return {
            **entry, "difference": d.difference.as_dict(), "percent": d.change.as_dict(), "paired": d.paired, "p": d.p, "p_holm": c.p,
            "p_equivalent": c.p_equivalent, "finding": c.finding,
        }  # fmt: skip


class SourceComparison:
    """Comparison of results with the first one, the baseline."""

    def __init__(self, sources: Sequence[Source], margin: str = stats.MARGIN) -> None:
        self.sources = list(sources)
        self.margin = margin

    @cached_property
    def measures(self) -> list[Measure]:
        """Common measures of the results."""
        return measures(self.sources)

    @cached_property
    def differences(self) -> list[Difference]:
        """Differences of every other result from the first, in every measure; p-values are corrected for all of them together."""
        base, others = self.sources[0], self.sources[1:]
        rows: list[tuple[Measure, Source, int]] = []
        pairs: list[tuple[list[float | None], list[float | None]]] = []
        common: list[bool] = []
        for m in self.measures:
            for source in others:
                a, b = source.values(m), base.values(m)
                both = [s for s in a if s in b]
                paired = bool(both) and (len(both) > 1 or set(a) == set(b))
                rows.append((m, source, len(both) if paired else 0))
                pairs.append(([a[s] for s in both], [b[s] for s in both]) if paired else (list(a.values()), list(b.values())))
                common.append(paired)
        found = contrasts(pairs, self.margin, common_seeds=common, within=[m.within for m, _, _ in rows])
        return [Difference(m, s.label, base.label, c, n) for (m, s, n), c in zip(rows, found, strict=True)]

    @cached_property
    def sentences(self) -> list[str]:
        """Summary in at most three sentences: the largest significant differences, and the number of findings."""
        base, found = self.sources[0].label, self.differences
        if self.same:
            return [self.same]
        if not found:
            return ["The results share no flow group, link or combination, so they cannot be compared."]
        tested = [d for d in found if d.contrast.p is not None]
        if not tested:
            big = sorted((d for d in found if d.shown.value is not None), key=_size)[:2]
            return [
                "One run each: the random variation is unknown. Use --seeds 1..10 for confidence intervals.",
                *map(_plain, big),
            ]
        shown = [d for d in tested if d.sure]
        alike = sum(d.contrast.finding == "equivalent" for d in tested)
        rest = len(tested) - len(shown) - alike
        counts = [f"{len(shown) or 'none'} differ{'s' * (len(shown) < 2)}"]
        counts += [f"{alike} {'is' if alike == 1 else 'are'} equivalent (within {stats.margin_text(self.margin)})"] if alike else []
        counts += [f"{rest} {'is' if rest == 1 else 'are'} inconclusive"] if rest else []
        tests = f"{len(tested)} measures" if len(self.sources) == 2 else f"{len(tested)} comparisons with {base}"
        listed = counts[0] if len(counts) == 1 else f"{', '.join(counts[:-1])} and {counts[-1]}"
        return [*map(_sentence, sorted(shown, key=_size)[: MOST_SENTENCES - 1]), f"Of {tests}, {listed}."]

    @cached_property
    def same(self) -> str:
        """Sentence on identical results; empty if they differ."""
        if len(self.sources) < 2 or self.sources[0].kind == "study":
            return ""
        prints = [dict(zip(s.run.seeds, s.run.fingerprints, strict=True)) for s in self.sources]
        common = set(prints[0]).intersection(*prints[1:])
        if not common or any(len({p[s] for p in prints}) > 1 for s in common) or not all(prints[0][s] for s in common):
            return ""
        return f"The results are identical in all {len(common)} common runs: their fingerprints are equal."

    @property
    def about(self) -> str:
        """Statistical method of the differences."""
        paired = [d for d in self.differences if d.contrast.difference.paired]
        how = PAIRED if len(paired) == len(self.differences) else f"{PAIRED} if both results have the same seeds, else unpaired (Welch)"
        return (
            f"Differences from {self.sources[0].label} are {how if paired else UNPAIRED}; intervals are 95 %, p-values Holm-corrected. "
            f"“Equivalent” means a difference below {stats.margin_text(self.margin)} (TOST). A difference that is not significant is no "
            "evidence of equality."
        )

    def rows(self) -> list[dict[str, Any]]:
        """Returns the differences for a table, significant ones first; intervals share one scale per unit."""
        order = sorted(self.differences, key=lambda d: (not d.sure, _size(d)))[:MOST_ROWS]
        reach: dict[str, float] = {}
        for d in order:
            ends = [abs(x) for x in (d.shown.value, d.shown.low, d.shown.high) if x is not None and math.isfinite(x)]
            reach[d.sign] = max([reach.get(d.sign, 0.0), *ends])
        return [
            {
                "of": d.measure.title, "this": d.level, "value": d.values[0], "base": d.values[1],
                "text": d.text, "span": d.span, "p": stats.p_text(d.contrast.p),
                "words": d.contrast.words, "finding": d.contrast.finding, "drawn": _drawn(d.shown, reach[d.sign]),
            }
            for d in order
        ]  # fmt: skip

    def values_sheet(self) -> Sheet:
        """Returns the means of every measure, a column per result."""
        rows = [
            [m.title, *(_cell(m, interval(s.values(m).values(), within=m.within)) for s in self.sources)] for m in self.measures[:MOST_ROWS]
        ]
        more = len(self.measures) - MOST_ROWS
        runs = "Means over the runs, with 95 % intervals for several runs." + (f" {more} more measures not shown." if more > 0 else "")
        return Sheet(["measure", *(s.label for s in self.sources)], rows, note=runs)

    def changed_settings(self) -> Sheet | None:
        """Returns the settings in which the scenarios differ; None without differences."""
        if self.sources[0].kind == "study":
            return None
        return changed_settings([s.run.scenario for s in self.sources], [s.label for s in self.sources])


def _size(d: Difference) -> float:
    """Returns a sort key by size, the largest first, with percentage points as percent."""
    value = d.shown.value
    if value is None or not math.isfinite(value):
        return 0.0
    return -abs(100 * value if d.measure.metric == "jain" else value)


def _sentence(d: Difference) -> str:
    p = stats.p_text(d.contrast.p)
    return _compared(d, f" (95 % interval {d.span}, {p})" if d.shown.low is not None else f" ({p})")


def _plain(d: Difference) -> str:
    return _compared(d, "")


def _compared(d: Difference, sure: str) -> str:
    """Returns a sentence with both values: "Delay of tcp: codel 41 ms, droptail 97 ms: 58 % lower."."""
    value, (ours, base) = d.shown.value or 0.0, d.values
    change = f"{digits(abs(value))}{d.sign} {'higher' if value > 0 else 'lower'}" if value else "no difference"
    title = d.measure.title
    return f"{title[:1].upper()}{title[1:]}: {d.level} {ours}, {d.against} {base}: {change}{sure}."


def _cell(m: Measure, iv: Interval) -> str:
    return quantity(iv.times(100), "%") if m.points and m.metric != "jain" else quantity(iv, m.unit)


def _drawn(e: Estimate, reach: float) -> dict[str, float] | None:
    """Returns positions from 0 to 100 of a difference and its interval; zero is in the middle."""
    if e.value is None or not reach or not math.isfinite(e.value):
        return None
    low, high = (x if x is not None else e.value for x in (e.low, e.high))
    at, a, b = (50 + 48 * max(-1.0, min(1.0, x / reach)) for x in (e.value, low, high))
    return {"at": round(at, 2), "left": round(a, 2), "wide": round(b - a, 2)}
