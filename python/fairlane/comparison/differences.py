"""What sets the settings of a comparison apart: paired differences, corrected for their number, and sentences on how sure they are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import stats
from ..base.format import number
from ..base.metrics import unit

if TYPE_CHECKING:
    from .factors import Factor
    from .result import Comparison

ABOUT = (
    "Differences are paired by seed. Their intervals are those of single pairs, their p-values corrected for all pairs that are told "
    "(Holm). A difference that was not shown may be there all the same; equivalent means shown to be less than {margin} (two one-sided "
    "tests)."
)
_MOST_NAMES = 5
"""Levels that a sentence names one by one."""


@dataclass(frozen=True)
class Measure:
    """A number that settings are told apart by."""

    group: str
    """A group of flows; "" for all flows."""
    metric: str
    words: str
    more: bool
    """Whether more of it is better."""
    relative: bool
    """Whether differences are told as shares; else in points (of a share) or of the index."""

    @property
    def title(self) -> str:
        """With its group."""
        return f"{self.words} of {self.group}" if self.group else self.words

    @property
    def unit(self) -> str:
        """Of the values."""
        return "1" if self.metric in ("jain", "loss") else unit(self.metric.removesuffix("_sum"))


@dataclass(frozen=True)
class Difference:
    """Two levels of a factor by one measure: the later one as asked for against the earlier one."""

    factor: str
    measure: Measure
    level: str
    against: str
    contrast: stats.Contrast

    def as_dict(self) -> dict[str, Any]:
        """As in the JSON document."""
        c, d = self.contrast, self.contrast.difference
        return {
            "factor": self.factor, "group": self.measure.group, "metric": self.measure.metric, "level": self.level, "against": self.against,
            "difference": d.difference.as_dict(), "percent": d.change.as_dict(), "p": d.p, "p_holm": c.p, "p_equivalent": c.p_equivalent,
            "finding": c.finding,
        }  # fmt: skip


def about(c: Comparison) -> str:
    """What stands below the sentences; nothing if no difference could be tested."""
    if len(c.seeds) < 2:
        return ""
    return ABOUT.format(margin=stats.margin_text(c.margin))


def measures(c: Comparison) -> list[Measure]:
    """What settings are told apart by: goodput, delay and loss of each group of flows, and fairness among all."""
    out = []
    for g in c.groups():
        out += [Measure(g, "goodput_sum", "goodput", True, True), Measure(g, "delay_mean", "delay", False, True)]
        out.append(Measure(g, "loss", "loss", False, False))
    if any(q.result.flows["flow"].n_unique() > 1 for q in c.settings):
        out.append(Measure("", "jain", "fairness", True, False))
    return out


def differences(c: Comparison) -> list[Difference]:
    """Every two levels of each factor by every measure, seed by seed; with several factors, means over the levels of the others.

    The p-values are corrected for all of them together.
    """
    rows: list[tuple[Factor, Measure, str, str]] = []
    pairs: list[tuple[list[float | None], list[float | None]]] = []
    for f in c.factors:
        for m in measures(c):
            values = {level.label: _values(c, f, level.label, m) for level in f.levels}
            for a, b in itertools.combinations(values, 2):
                rows.append((f, m, b, a))
                pairs.append((values[b], values[a]))
    return [Difference(f.name, m, b, a, x) for (f, m, b, a), x in zip(rows, stats.contrasts(pairs, c.margin), strict=True)]


def _values(c: Comparison, f: Factor, label: str, m: Measure) -> list[float | None]:
    """One value a seed: of the setting with this level, or the mean over those that have it; None if one of them has none."""
    lists = [q.per_run(m.group, m.metric) for q in c.settings if q.levels[f.name] == label]
    out: list[float | None] = []
    for row in zip(*lists, strict=True):
        good = all(x is not None and math.isfinite(x) for x in row)
        out.append(math.fsum(x for x in row if x is not None) / len(row) if good else None)
    return out


def sentences(c: Comparison, found: Sequence[Difference]) -> list[str]:
    """Who has more of what, by how much, and how sure that is: one sentence for each factor and measure."""
    if not found:
        return []
    if len(c.seeds) < 2:
        return ["One run each: nothing can be said of what chance does. Several seeds (1..10) say more."]
    out = []
    for f in c.factors:
        if len(f.levels) > 1:
            for m in measures(c):
                own = [d for d in found if d.factor == f.name and d.measure == m]
                out.append(_Told(c, f, m, own).sentence())
    return out


class _Told:
    """The sentence on one factor and measure."""

    def __init__(self, c: Comparison, f: Factor, m: Measure, found: Sequence[Difference]) -> None:
        self.c, self.f, self.m = c, f, m
        self.rest = [x for x in c.factors if x is not f and len(x.levels) > 1]
        self.values = {level.label: _values(c, f, level.label, m) for level in f.levels}
        self.of = {frozenset((d.level, d.against)): d.contrast for d in found}

    def sentence(self) -> str:
        """The whole sentence."""
        means = {k: iv.mean for k, v in self.values.items() if (iv := stats.interval(v)).mean is not None}
        head = self.m.title[0].upper() + self.m.title[1:]
        if self.rest:
            head += f", by {self.f.name} (mean over {' and '.join(x.name for x in self.rest)})"
        if len(means) < 2:
            return f"{head}: fewer than two levels have a value."
        order = sorted(means, key=lambda k: -means[k] if self.m.more else means[k])
        best, others = order[0], order[1:]
        behind = [k for k in others if self._c(best, k).finding in ("more", "less")]
        alike = [k for k in others if k not in behind]
        if not behind and len(others) == 1:
            c, both = self._c(best, others[0]), f"{best} and {others[0]}"
            return f"{head}: " + (f"no difference shown between {both} ({stats.p_text(c.p)})." if not c.small else f"{both} are {c.words}.")
        parts = [f"{best} has {self._against(best, behind[0])}"] if behind else []
        parts += [self._against(best, k) for k in behind[1:_MOST_NAMES]]
        if (more := len(behind) - _MOST_NAMES) > 0:
            parts.append(f"and {'more' if self.m.more else 'less'} than {more} others")
        if alike:
            parts.append(f"{'it' if behind else best} is {self._open(best, alike)}")
        return f"{head}: {'; '.join([*parts, *self._below(alike, order)])}."

    def _c(self, a: str, b: str) -> stats.Contrast:
        return self.of[frozenset((a, b))]

    def _below(self, alike: list[str], order: list[str]) -> list[str]:
        """Differences shown among those that were not shown to differ from the best."""
        behind = ((a, b) for a in alike for b in order[order.index(a) + 1 :] if b in alike)
        shown = [(a, b) for a, b in behind if self._c(a, b).finding in ("more", "less")]
        told = [f"{a} has {self._against(a, b)}" for a, b in shown[:_MOST_NAMES]]
        return told + ([f"and {len(shown) - _MOST_NAMES} more pairs differ"] if len(shown) > _MOST_NAMES else [])

    def _against(self, a: str, b: str) -> str:
        """How much more or less a level has than another, from which it was shown to differ."""
        d, c = stats.paired(self.values[a], self.values[b]), self._c(a, b)
        word = "more" if (d.difference.value or 0.0) > 0 else "less"
        e = d.difference if not self.m.relative else d.change
        if self.m.metric == "loss":
            e = _scaled(e, 100)
        if self.m.relative and e.value is not None and e.value >= 100:
            e = _scaled(e, 0.01, 1.0)
            size, than = f"{_digits(e.value or 0)} times", f"that of {b}"
        elif e.value is None:
            size, than = "", f"{word} than {b}"
        else:
            what = " %" if self.m.relative else " percentage points" if self.m.metric == "loss" else ""
            of = " of Jain's index" if self.m.metric == "jain" else ""
            size, than = f"{_digits(abs(e.value))}{what}", f"{word}{of} than {b}"
        sure = stats.p_text(c.p) if e.low is None or e.high is None else f"95 % interval {_span(e)}"
        small = f", within {stats.margin_text(self.c.margin)}" if c.small else ""
        flips = self._flips(a, b)
        return f"{size} {than} ({sure}{small})".strip() + (f", but the other way round with {flips}" if flips else "")

    def _flips(self, a: str, b: str) -> str:
        """The combinations of the other factors in which the means are the other way round."""
        out = []
        sides = [[q for q in self.c.settings if q.levels[self.f.name] == k] for k in (a, b)]
        for x, y in zip(*sides, strict=True):
            means = [stats.interval(q.per_run(self.m.group, self.m.metric)).mean for q in (x, y)]
            if None not in means and (means[0] < means[1] if self.m.more else means[0] > means[1]):  # type: ignore[operator]
                out.append(" and ".join(x.levels[f.name] for f in self.rest))
        return " or ".join(out[:_MOST_NAMES]) + (f" or {len(out) - _MOST_NAMES} more" if len(out) > _MOST_NAMES else "")

    def _open(self, best: str, others: list[str]) -> str:
        """Those that were not shown to differ from the best, by what was shown of them."""
        twins = [k for k in others if self._c(best, k).identical]
        near = [k for k in others if self._c(best, k).finding == "equivalent" and k not in twins]
        left = [k for k in others if k not in twins and k not in near]
        parts = [f"the same as {_list(twins)} in all runs"] if twins else []
        if near:
            p = max((x for k in near if (x := self._c(best, k).p_equivalent) is not None), default=None)
            parts.append(f"equivalent to {_list(near)} within {stats.margin_text(self.c.margin)} (TOST {stats.p_text(p)})")
        if left:
            p = min((x for k in left if (x := self._c(best, k).p) is not None), default=None)
            parts.append(f"not shown to differ from {_list(left)} ({stats.p_text(p)})")
        return ", ".join(parts)


def _scaled(e: stats.Estimate, factor: float, plus: float = 0.0) -> stats.Estimate:
    value, low, high = (None if x is None else plus + factor * x for x in (e.value, e.low, e.high))
    return stats.Estimate(value, low, high, e.n)


def _span(e: stats.Estimate) -> str:
    """The ends of an interval as sizes: the sign is in the words beside it."""
    low, high = e.low or 0.0, e.high or 0.0
    low, high = (-high, -low) if (e.value or 0.0) < 0 else (low, high)
    return f"{_digits(low)} to {_digits(high)}"


def _list(names: Sequence[str]) -> str:
    if len(names) > _MOST_NAMES:
        return f"{', '.join(names[:_MOST_NAMES])} and {len(names) - _MOST_NAMES} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _digits(x: float) -> str:
    """Two significant digits, but no zeros in place of digits before the point."""
    return f"{x:.0f}" if abs(x) >= 10 else number(float(f"{x:.2g}"), 2)


def table(found: Sequence[Difference]) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: every difference with its interval and what may be said of it."""
    rows = []
    for d in found:
        c, m = d.contrast, d.measure
        e, sign = (c.difference.change, " %") if m.relative else (c.difference.difference, "")
        if m.metric == "loss":
            e, sign = _scaled(e, 100), " points"
        value = "-" if e.value is None else f"{_signed(e.value)}{sign}"
        span = "-" if e.low is None or e.high is None else f"{_signed(e.low)} to {_signed(e.high)}"
        rows.append([m.title, d.level, d.against, value, span, stats.p_text(c.p), c.words])
    return ["of", "this", "against", "difference", "95 % interval", "p (Holm)", "what may be said"], rows


def _signed(x: float) -> str:
    text = _digits(abs(x))
    return text if text.strip("0.") == "" else f"{'+' if x > 0 else '−'}{text}"
