"""Comparisons of two settings: differences with or without common seeds, equivalence, corrections for multiple tests."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeGuard

from ..errors import FairlaneError
from .intervals import ANY, CONFIDENCE, Estimate, Interval, Range, check_confidence, interval, t_factor
from .notebook import NotebookSentence
from .student import below, two_sided

Values = Iterable[float | None]


@dataclass(frozen=True, slots=True)
class Difference(NotebookSentence):
    """Difference between the means of `a` and `b`."""

    a: Interval
    b: Interval
    difference: Estimate
    """Mean of `a` minus mean of `b`."""
    change: Estimate
    """Relative difference in percent of the mean of `b`: 100 * (mean(a) / mean(b) - 1), with Fieller's interval."""
    t: float | None
    df: float | None
    p: float | None
    """Two-sided p-value of the difference. None without enough values."""
    paired: bool
    correlation: float | None = None
    """Pearson correlation of the pairs. None if unpaired, or if one side is constant."""
    saved: float | None = None
    """Reduction of the variance of the difference by pairing: 1 - var(a - b) / (var(a) + var(b)). Negative for an increase."""
    dropped: int = 0
    """Number of pairs without a value on one side."""

    @property
    def gain(self) -> float | None:
        """Factor of independent replications for an equally narrow interval; None if unpaired."""
        return None if self.saved is None or self.saved >= 1.0 else 1.0 / (1.0 - self.saved)

    def differs(self, confidence: float = CONFIDENCE) -> bool | None:
        """Returns true if zero is ruled out at this level; None without a test."""
        return None if self.p is None else self.p < 1.0 - confidence

    def __str__(self) -> str:
        tail = "" if self.p is None else f", p = {self.p:.3g}"
        change = "" if self.change.value is None else f", {self.change:+.3g} %"
        return f"{self.difference}{change}{tail}"


def paired(a: Values, b: Values, confidence: float = CONFIDENCE, within: Range = ANY) -> Difference:
    """Compares two settings run with the same seeds (common random numbers): `a[i]` and `b[i]` are of the same seed.

    The differences a - b are one sample with a Student t interval, and t = mean / (sd / sqrt(n)) with n - 1 degrees of freedom (Student
    1908; Law, Simulation Modeling and Analysis, 5th ed., 10.2.1, "paired-t"). Assumes that the seeds are independent of each other and
    the differences nearly normal; variances of `a` and `b` may differ, and nothing is assumed of their correlation.

    Since var(a - b) = var(a) + var(b) - 2 cov(a, b), common random numbers help as much as they correlate the two; `correlation`, `saved`
    and `gain` measure it.

    `change` is the ratio of the means in percent, minus 100, with the interval of Fieller (Some problems in interval estimation, JRSS B
    16, 1954): all r for which mean(a) - r mean(b) is within t standard errors of zero, exact for normal pairs. It has no ends (None) when
    the mean of `b` is not clear of zero.

    Pairs without a value on one side are ignored. `within` is the range of the values: the intervals end where no difference of such
    values, and no change of a value that is never negative, can be. Only impossible numbers are cut off, so the coverage stays.

    >>> paired([12.0, 15.0, 11.0, 16.0], [10.0, 14.0, 10.0, 13.0]).difference.value
    1.75
    """
    check_confidence(confidence)
    left, right = list(a), list(b)
    if len(left) != len(right):
        counts = f"{len(left)} and {len(right)}"
        raise FairlaneError(f"pairs need the same seeds on both sides: there are {counts} values; welch() compares them unpaired")
    pairs = [(float(x), float(y)) for x, y in zip(left, right, strict=True) if _is_value(x) and _is_value(y)]
    n = len(pairs)
    xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    ia, ib = interval(xs, confidence, within), interval(ys, confidence, within)
    d = interval((x - y for x, y in pairs), confidence)
    dropped = len(left) - n
    difference = _cut(Estimate(d.mean, d.low, d.high, n), within)
    if d.mean is None or d.sd is None or ia.mean is None or ib.mean is None or ia.sd is None or ib.sd is None:
        return Difference(ia, ib, difference, _fieller(ia, ib, None, None, n), None, None, None, True, dropped=dropped)
    cov = math.fsum((x - ia.mean) * (y - ib.mean) for x, y in pairs) / (n - 1)
    t, p = _test(d.mean, d.sd / math.sqrt(n), n - 1)
    both = ia.sd**2 + ib.sd**2
    return Difference(
        ia,
        ib,
        difference,
        _cut_change(_fieller(ia, ib, cov / n, t_factor(confidence, n - 1), n), within),
        t,
        n - 1,
        p,
        True,
        max(-1.0, min(1.0, cov / (ia.sd * ib.sd))) if ia.sd and ib.sd else None,
        1.0 - d.sd**2 / both if both else None,
        dropped,
    )


def welch(a: Values, b: Values, confidence: float = CONFIDENCE, within: Range = ANY) -> Difference:
    """Compares two settings run with different seeds, or with different numbers of runs: independent samples, variances that may differ.

    t = (mean(a) - mean(b)) / sqrt(va + vb) with v = sd^2 / n, and the degrees of freedom of Welch and Satterthwaite, (va + vb)^2 / (va^2
    / (na - 1) + vb^2 / (nb - 1)) (Welch, The generalization of "Student's" problem, Biometrika 34, 1947; Law, 10.2.2). With common seeds
    the interval is wrong, mostly too wide: use `paired`. `change` is Fieller's interval without covariance, with equal degrees of freedom.
    `within` is as in `paired`.

    >>> round(welch([12.0, 15.0, 11.0, 16.0], [10.0, 14.0, 10.0, 13.0]).df, 2)
    5.88
    """
    check_confidence(confidence)
    ia, ib = interval(a, confidence, within), interval(b, confidence, within)
    n = ia.n + ib.n
    value = None if ia.mean is None or ib.mean is None else ia.mean - ib.mean
    se, df = _welch(ia, ib)
    if value is None or se is None or df is None:
        return Difference(ia, ib, Estimate(value, None, None, n), _fieller(ia, ib, None, None, n), None, None, None, False)
    factor = t_factor(confidence, df)
    t, p = _test(value, se, df)
    difference = _cut(Estimate(value, value - factor * se, value + factor * se, n), within)
    return Difference(ia, ib, difference, _cut_change(_fieller(ia, ib, 0.0, factor, n), within), t, df, p, False)


def _cut(e: Estimate, within: Range) -> Estimate:
    """Cuts the interval of a difference of values within a range."""
    most = within[1] - within[0]
    if e.low is None or e.high is None or math.isinf(most):
        return e
    return Estimate(e.value, max(e.low, -most), min(e.high, most), e.n)


def _cut_change(e: Estimate, within: Range) -> Estimate:
    """Cuts the interval of a change in percent: a value that is never negative cannot fall by more than 100 %."""
    if e.low is None or e.high is None or within[0] < 0.0:
        return e
    return Estimate(e.value, max(e.low, -100.0), max(e.high, -100.0), e.n)


_paired = paired  # `tost` has an argument of this name


def _welch(ia: Interval, ib: Interval) -> tuple[float | None, float | None]:
    """Returns the standard error and the degrees of freedom of a difference of independent means."""
    if ia.sd is None or ib.sd is None:
        return None, None
    va, vb = ia.sd**2 / ia.n, ib.sd**2 / ib.n
    if va + vb == 0.0:
        return 0.0, float(ia.n + ib.n - 2)
    # Shares of the variance, so that squares of small ones do not underflow.
    share = va / (va + vb)
    return math.sqrt(va + vb), 1.0 / (share**2 / (ia.n - 1) + (1.0 - share) ** 2 / (ib.n - 1))


def _test(value: float, se: float, df: float) -> tuple[float, float]:
    """Returns t and its two-sided p-value. Without variation a difference is certain."""
    if se == 0.0:
        return (0.0, 1.0) if value == 0.0 else (math.copysign(math.inf, value), 0.0)
    t = value / se
    return t, two_sided(abs(t), df)


def _fieller(ia: Interval, ib: Interval, cov: float | None, factor: float | None, n: int) -> Estimate:
    """Returns mean(a) / mean(b) - 1 in percent. `cov` is the covariance of the two means."""
    if ia.mean is None or ib.mean is None or ib.mean == 0.0:
        return Estimate(None, None, None, n)
    ratio = ia.mean / ib.mean
    value = 100.0 * (ratio - 1.0)
    if cov is None or factor is None or ia.sd is None or ib.sd is None:
        return Estimate(value, None, None, n)
    # With u = r - ratio the condition (mean(a) - r mean(b))^2 <= t^2 var(mean(a) - r mean(b)) is A u^2 + 2 B u + C <= 0.
    vaa, vbb, tt = ia.sd**2 / ia.n, ib.sd**2 / ib.n, factor * factor
    var = max(vaa - 2.0 * ratio * cov + ratio * ratio * vbb, 0.0)
    big, half, free = ib.mean**2 - tt * vbb, tt * (cov - ratio * vbb), -tt * var
    if big <= 0.0:
        return Estimate(value, None, None, n)
    root = math.sqrt(max(half * half - big * free, 0.0))
    return Estimate(value, value + 100.0 * (-half - root) / big, value + 100.0 * (-half + root) / big, n)


@dataclass(frozen=True, slots=True)
class Equivalence(NotebookSentence):
    """Result of `tost`."""

    equivalent: bool | None
    """True if the means differ by less than the margin at the level 1 - `confidence`; None without enough values."""
    margin: float
    """Margin in the unit of the values."""
    difference: Estimate
    """Mean of `a` minus mean of `b`, with an interval of level 2 * confidence - 1 (90 % for 95 %). It lies within ± margin if and only if
    the two are equivalent."""
    p: float | None
    """The larger of the two one-sided p-values."""
    p_lower: float | None
    """p-value of the hypothesis that the difference is -margin or less."""
    p_upper: float | None
    """p-value of the hypothesis that the difference is +margin or more."""
    df: float | None

    def __str__(self) -> str:
        words = {True: "equivalent", False: "not shown to be equivalent", None: "too few values to tell"}[self.equivalent]
        return f"{words} within ± {self.margin:.6g}: difference {self.difference}" + ("" if self.p is None else f", p = {self.p:.3g}")


def tost(a: Values, b: Values, margin: float | str, paired: bool = True, confidence: float = CONFIDENCE) -> Equivalence:
    """Tests the equivalence of two settings by two one-sided t tests (Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15, 1987).

    A test without a significant difference does not show equality; with few runs it rarely finds one. The equivalence test reverses the
    burden of proof: the hypotheses "a is below b by `margin` or more" and "above by `margin` or more" must both be rejected, each at the
    level 1 - `confidence`. The p-value is the larger of the two. `margin` is the largest difference that does not matter, chosen
    beforehand: in the unit of the values, or "2%" of the mean of `b` (taken as known).

    With common seeds the test is `paired`, otherwise Welch's, with the same assumptions.

    >>> tost([10.1, 9.9, 10.0, 10.2], [10.0, 10.0, 9.9, 10.1], "5%").equivalent
    True
    """
    if check_confidence(confidence) <= 0.5:
        raise FairlaneError(f"an equivalence test needs a confidence above 0.5, not {confidence!r}")
    level = 2.0 * confidence - 1.0
    found = (_paired if paired else welch)(a, b, level)
    bound = _margin(margin, found.b.mean)
    df, value, half = found.df, found.difference.value, found.difference.half_width
    if df is None or value is None or half is None:
        return Equivalence(None, bound, found.difference, None, None, None, None)
    se = half / t_factor(level, df)
    if se == 0.0:
        lower, upper = (0.0 if value > -bound else 1.0), (0.0 if value < bound else 1.0)
    else:
        lower, upper = below(-(value + bound) / se, df), below((value - bound) / se, df)
    p = max(lower, upper)
    return Equivalence(p < 1.0 - confidence, bound, found.difference, p, lower, upper, df)


def _margin(margin: float | str, mean: float | None) -> float:
    if isinstance(margin, str):
        text = margin.strip()
        try:
            share = float(text.removesuffix("%")) / 100.0 if text.endswith("%") else math.nan
        except ValueError:
            share = math.nan
        if not 0.0 < share < math.inf:
            raise FairlaneError(f'cannot read the margin {margin!r}: write a number, or a share of the second mean such as "2%"')
        if mean is None:
            return math.nan
        if mean == 0.0:
            raise FairlaneError(f"a margin of {text} of the second mean is zero, because the mean is zero: give a number")
        return share * abs(mean)
    if not 0.0 < margin < math.inf:
        raise FairlaneError(f"a margin is above zero, not {margin!r}")
    return float(margin)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Corrects p-values for multiple tests, so that the probability of any false alarm stays below the level of each test.

    In ascending order, the i-th of m becomes the largest of (m - j + 1) * p_j over j <= i, at most 1 (Holm, A simple sequentially rejective
    multiple test procedure, Scandinavian J. Statistics 6, 1979). Valid for dependent tests. Missing p-values
    (None, NaN) are ignored.

    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    known = [(float(p), i) for i, p in enumerate(p_values) if p is not None and not math.isnan(p)]
    if any(not 0.0 <= p <= 1.0 for p, _ in known):
        raise FairlaneError("a p-value is between 0 and 1")
    out: list[float | None] = [None] * len(p_values)
    worst = 0.0
    for rank, (p, i) in enumerate(sorted(known)):
        worst = max(worst, min(1.0, (len(known) - rank) * p))
        out[i] = worst
    return out


@dataclass(frozen=True, slots=True)
class Pair:
    """One row of `all_pairs`."""

    a: Any
    b: Any
    result: Difference
    p_holm: float | None
    """p-value corrected for the number of pairs."""


def all_pairs(groups: Mapping[Any, Values], common_seeds: bool = True, confidence: float = CONFIDENCE, within: Range = ANY) -> list[Pair]:
    """Compares every setting with every other by `paired` (or `welch`, without common seeds), with p-values corrected by `holm`.

    `groups` has the values of each setting, for common seeds in the order of the seeds. Intervals are those of single pairs, not corrected.
    `within` is as in `paired`.
    """
    lists = {name: list(values) for name, values in groups.items()}
    compare = paired if common_seeds else welch
    found = [(x, y, compare(lists[x], lists[y], confidence, within)) for x, y in combinations(lists, 2)]
    corrected = holm([d.p for _, _, d in found])
    return [Pair(x, y, d, p) for (x, y, d), p in zip(found, corrected, strict=True)]


def _is_value(x: float | None) -> TypeGuard[float]:
    return x is not None and math.isfinite(x)
