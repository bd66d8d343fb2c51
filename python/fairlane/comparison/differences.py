"""Differences between the settings of a comparison: paired by seed, corrected for multiple tests, with sentences."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import stats
from ..base.metrics import unit, within
from ..look.numbers import digits, signed, value_text

if TYPE_CHECKING:
    from .data import Compared, ComparisonData
    from .factors import Factor
    from .metrics import Metric

ABOUT = (
    "Differences are paired by seed; intervals are 95 %, p-values Holm-corrected. “Equivalent” means a difference below {margin} (TOST). "
    "A difference that is not significant is no evidence of equality."
)
_MOST_NAMES = 5
"""Most levels that a sentence names."""


@dataclass(frozen=True)
class Measure:
    """Measure that compares settings."""

    group: str
    """Group of flows; "" for all flows."""
    metric: str
    words: str
    more: bool
    """True if larger values are better."""
    relative: bool
    """True if differences are in percent of the mean; else in percentage points or in units of the index."""
    groups: tuple[str, ...] = ()
    """Groups of flows of a set that compete, if it has several."""
    chosen: Metric | None = None
    """Metric that was named; None for those that are always compared."""

    @property
    def title(self) -> str:
        """Words with the group of flows or the link."""
        if not self.group:
            return self.words
        if self.group == "*":
            return f"{self.words}, all {self.chosen.table if self.chosen else 'flows'}"
        return f"{self.words} {'at' if self.chosen and self.chosen.table == 'links' else 'of'} {self.group}"

    @property
    def percent(self) -> bool:
        """True if values are shown in percent."""
        return self.chosen.percent if self.chosen else self.metric == "loss"

    def values(self, q: Compared) -> list[float | None]:
        """Returns the values of a setting, one per run."""
        return q.per_run(self.key, self.metric) if self.chosen is None else q.of_metric(self.chosen)

    @property
    def key(self) -> str | tuple[str, ...]:
        """Group or groups of the flows."""
        return self.groups or self.group

    @property
    def within(self) -> stats.Range:
        """Smallest and largest possible value."""
        if self.chosen is not None:
            return self.chosen.within
        name, how = {"goodput_sum": ("goodput", "sum"), "jain": ("goodput", "jain")}.get(self.metric, (self.metric, "mean"))
        return within(name, how)

    @property
    def unit(self) -> str:
        """Unit of the values."""
        if self.chosen is not None:
            return self.chosen.unit
        return "1" if self.metric in ("jain", "loss") else unit(self.metric.removesuffix("_sum"))


@dataclass(frozen=True)
class Difference:
    """Difference between two levels of a factor in one measure: the later level minus the earlier one, in the order given."""

    factor: str
    measure: Measure
    level: str
    against: str
    contrast: stats.Contrast

    def as_dict(self) -> dict[str, Any]:
        """Returns the entry of the JSON document."""
        c, d = self.contrast, self.contrast.difference
        return {
            "factor": self.factor, "group": self.measure.group, "metric": self.measure.metric, "level": self.level, "against": self.against,
            "difference": d.difference.as_dict(), "percent": d.change.as_dict(), "p": d.p, "p_holm": c.p, "p_equivalent": c.p_equivalent,
            "finding": c.finding,
        }  # fmt: skip


def about(c: ComparisonData) -> str:
    """Returns the note on the statistical method; empty if no difference was tested."""
    if len(c.seeds) < 2:
        return ""
    return ABOUT.format(margin=stats.margin_text(c.margin))


def measures(c: ComparisonData) -> list[Measure]:
    """Returns the metrics that were named, else goodput, delay and loss of each group, and the fairness among flows that compete."""
    if c.metrics:
        return [Measure(m.name, m.metric, m.words, m.more, m.unit != "1", chosen=m) for m in c.metrics]
    out = []
    for g in c.groups():
        out += [Measure(g, "goodput_sum", "goodput", True, True), Measure(g, "delay_mean", "delay", False, True)]
        out.append(Measure(g, "loss", "loss", False, False))
    return [*out, *(Measure(s.label, "jain", "Jain's fairness index", True, False, s.groups) for s in c.competing)]


def differences(c: ComparisonData) -> list[Difference]:
    """Returns the differences between all pairs of levels of each factor in every measure; with several factors, of means over the others.

    The p-values are corrected for all differences together.
    """
    rows: list[tuple[Factor, Measure, str, str]] = []
    pairs: list[tuple[list[float | None], list[float | None]]] = []
    for f in c.factors:
        for m in measures(c):
            values = {level.label: _values(c, f, level.label, m) for level in f.levels}
            for a, b in itertools.combinations(values, 2):
                rows.append((f, m, b, a))
                pairs.append((values[b], values[a]))
    found = stats.contrasts(pairs, c.margin, within=[m.within for _, m, _, _ in rows])
    return [Difference(f.name, m, b, a, x) for (f, m, b, a), x in zip(rows, found, strict=True)]


def _values(c: ComparisonData, f: Factor, label: str, m: Measure) -> list[float | None]:
    """Returns one value per seed, the mean over the settings with this level; None if a setting has no value."""
    lists = [m.values(q) for q in c.settings if q.levels[f.name] == label]
    out: list[float | None] = []
    for row in zip(*lists, strict=True):
        good = all(x is not None and math.isfinite(x) for x in row)
        out.append(math.fsum(x for x in row if x is not None) / len(row) if good else None)
    return out


def sentences(c: ComparisonData, found: Sequence[Difference]) -> list[str]:
    """Returns a sentence per factor and measure with the values, their difference and its precision."""
    if not found:
        return []
    if len(c.seeds) < 2:
        return ["One run each: the random variation is unknown. Use --seeds 1..10 for confidence intervals."]
    out = []
    for f in c.factors:
        if len(f.levels) > 1:
            for m in measures(c):
                own = [d for d in found if d.factor == f.name and d.measure == m]
                out.append(_Sentence(c, f, m, own).text())
    return out


class _Sentence:
    """Sentence on one factor and measure."""

    def __init__(self, c: ComparisonData, f: Factor, m: Measure, found: Sequence[Difference]) -> None:
        self.c, self.f, self.m = c, f, m
        self.rest = [x for x in c.factors if x is not f and len(x.levels) > 1]
        self.values = {level.label: _values(c, f, level.label, m) for level in f.levels}
        self.means = {k: iv.mean for k, v in self.values.items() if (iv := stats.interval(v)).mean is not None}
        self.of = {frozenset((d.level, d.against)): d.contrast for d in found}

    def text(self) -> str:
        head = self.m.title[0].upper() + self.m.title[1:]
        if self.rest:
            head += f", by {self.f.name} (mean over {' and '.join(x.name for x in self.rest)})"
        if len(self.means) < 2:
            return f"{head}: fewer than two levels have a value."
        order = sorted(self.means, key=lambda k: -self.means[k] if self.m.more else self.means[k])
        best, others = order[0], order[1:]
        behind = [k for k in others if self._c(best, k).finding in ("more", "less")]
        alike = [k for k in others if k not in behind]
        if len(others) == 1:
            return f"{head}: {self._pair(best, others[0])}."
        parts = [f"{best} {self._value(best)}"]
        parts += [self._against(best, k) for k in behind[:_MOST_NAMES]]
        if (more := len(behind) - _MOST_NAMES) > 0:
            parts.append(f"{'higher' if self.m.more else 'lower'} than {more} others")
        parts += self._not_behind(best, alike)
        return f"{head}: {'; '.join([*parts, *self._below(alike, order)])}."

    def _c(self, a: str, b: str) -> stats.Contrast:
        return self.of[frozenset((a, b))]

    def _value(self, level: str) -> str:
        return value_text(self.means[level], "%" if self.m.percent else self.m.unit)

    def _pair(self, a: str, b: str) -> str:
        c, both = self._c(a, b), f"{a} {self._value(a)}, {b} {self._value(b)}"
        if c.finding in ("more", "less"):
            change, _, sure = self._change(a, b)
            return f"{both}: {change} ({sure}){self._flips(a, b)}"
        return f"{both}: {c.words}" if c.small else f"no significant difference ({both}; {stats.p_text(c.p)})"

    def _below(self, alike: list[str], order: list[str]) -> list[str]:
        """Returns significant differences among the levels that do not differ from the best."""
        behind = ((a, b) for a in alike for b in order[order.index(a) + 1 :] if b in alike)
        shown = [(a, b) for a, b in behind if self._c(a, b).finding in ("more", "less")]
        parts = [f"{a} {self._against(a, b)}" for a, b in shown[:_MOST_NAMES]]
        return parts + ([f"{len(shown) - _MOST_NAMES} more pairs differ"] if len(shown) > _MOST_NAMES else [])

    def _against(self, a: str, b: str) -> str:
        change, than, sure = self._change(a, b)
        return f"{change} {than} {b} ({self._value(b)}; {sure}){self._flips(a, b)}"

    def _change(self, a: str, b: str) -> tuple[str, str, str]:
        """Returns size and direction of a significant difference, its conjunction, and its precision."""
        d, c = stats.paired(self.values[a], self.values[b], within=self.m.within), self._c(a, b)
        word, than = "higher" if (d.difference.value or 0.0) > 0 else "lower", "than"
        e = d.difference if not self.m.relative else d.change
        if self.m.percent:
            e = _scaled(e, 100)
        unit = " %" if self.m.relative else " percentage points" if self.m.percent else ""
        if self.m.relative and e.value is not None and e.value >= 100:
            e, unit = _scaled(e, 0.01, 1.0), ""
            change, than = f"{digits(e.value or 0)} times as high", "as"
        else:
            change = word if e.value is None else f"{digits(abs(e.value))}{unit} {word}"
        sure = stats.p_text(c.p) if e.low is None or e.high is None else f"95 % interval {_span(e)}{unit if unit == ' %' else ''}"
        return change, than, sure + (f", within {stats.margin_text(self.c.margin)}" if c.small else "")

    def _flips(self, a: str, b: str) -> str:
        """Names the combinations of the other factors with the opposite order of means."""
        out = []
        sides = [[q for q in self.c.settings if q.levels[self.f.name] == k] for k in (a, b)]
        for x, y in zip(*sides, strict=True):
            means = [stats.interval(self.m.values(q)).mean for q in (x, y)]
            if None not in means and (means[0] < means[1] if self.m.more else means[0] > means[1]):  # type: ignore[operator]
                out.append(" and ".join(x.levels[f.name] for f in self.rest))
        if not out:
            return ""
        more = f" or {len(out) - _MOST_NAMES} more" if len(out) > _MOST_NAMES else ""
        return f", but the opposite with {' or '.join(out[:_MOST_NAMES])}{more}"

    def _not_behind(self, best: str, others: list[str]) -> list[str]:
        """Returns the findings on the levels that do not differ significantly from the best."""
        twins = [k for k in others if self._c(best, k).identical]
        near = [k for k in others if self._c(best, k).finding == "equivalent" and k not in twins]
        left = [k for k in others if k not in twins and k not in near]
        parts = [f"identical to {_list(twins)} in all runs"] if twins else []
        if near:
            p = max((x for k in near if (x := self._c(best, k).p_equivalent) is not None), default=None)
            parts.append(f"equivalent to {self._named(near)} within {stats.margin_text(self.c.margin)} (TOST {stats.p_text(p)})")
        if left:
            p = min((x for k in left if (x := self._c(best, k).p) is not None), default=None)
            parts.append(f"no significant difference from {self._named(left)} ({stats.p_text(p)})")
        return parts

    def _named(self, levels: Sequence[str]) -> str:
        return _list([f"{k} ({self._value(k)})" for k in levels])


def _scaled(e: stats.Estimate, factor: float, plus: float = 0.0) -> stats.Estimate:
    value, low, high = (None if x is None else plus + factor * x for x in (e.value, e.low, e.high))
    return stats.Estimate(value, low, high, e.n)


def _span(e: stats.Estimate) -> str:
    """Formats the ends of an interval as sizes; the sign is in the words."""
    low, high = e.low or 0.0, e.high or 0.0
    low, high = (-high, -low) if (e.value or 0.0) < 0 else (low, high)
    return f"{digits(low)} to {digits(high)}"


def _list(names: Sequence[str]) -> str:
    if len(names) > _MOST_NAMES:
        return f"{', '.join(names[:_MOST_NAMES])} and {len(names) - _MOST_NAMES} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def sentence_rows(found: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Returns headings and rows of the sentences, split after what they are about.

    >>> sentence_rows(["Delay of web: red 4 ms, codel 2 ms: 50 % lower."])[1]
    [['Delay of web', 'red 4 ms, codel 2 ms: 50 % lower.']]
    """
    rows = [[head, tail] for head, _, tail in (s.partition(": ") for s in found)]
    return ["measure", "result"], [row if row[1] else ["", row[0]] for row in rows]


def table(found: Sequence[Difference]) -> tuple[list[str], list[list[str]]]:
    """Returns headings and rows: every difference with both values, its interval and its conclusion."""
    rows = []
    for d in found:
        c, m = d.contrast, d.measure
        e, sign = (c.difference.change, " %") if m.relative else (c.difference.difference, "")
        if m.percent:
            e, sign = _scaled(e, 100), " points"
        value = "-" if e.value is None else f"{signed(e.value)}{sign}"
        span = "-" if e.low is None or e.high is None else f"{signed(e.low)} to {signed(e.high)}"
        ours, theirs = (value_text(x.mean, "%" if m.percent else m.unit) for x in (c.difference.a, c.difference.b))
        rows.append([m.title, d.level, ours, d.against, theirs, value, span, stats.p_text(c.p), c.words])
    return ["measure", "setting", "value", "compared with", "value", "difference", "95 % interval", "p (Holm)", "conclusion"], rows
