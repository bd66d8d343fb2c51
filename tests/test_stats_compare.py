"""Paired and unpaired comparisons, equivalence, distributions, Holm: against scipy, pingouin and statsmodels on the same data."""

import math

import numpy as np
import pingouin
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttost_ind, ttost_paired

from conftest import cases
from fairlane.errors import FairlaneError
from fairlane.stats import all_pairs, contrasts, holm, ks, paired, tost, welch

NUMBERS = st.floats(-1e3, 1e3).map(lambda x: round(x, 3))
SAMPLES = st.lists(NUMBERS, min_size=3, max_size=30)
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=3, max_size=30)

# Student, The probable error of a mean, Biometrika 6, 1908: additional hours of sleep by two drugs in ten patients. He takes the pairs.
FIRST = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SECOND = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_the_sleep_data_of_student():
    d = paired(SECOND, FIRST)
    assert d.difference.value == pytest.approx(1.58)
    # As statistics packages print it for these data: t = 4.0621, df = 9, p = 0.002833, 95 % interval 0.7001 to 2.4599; Welch p = 0.07939.
    assert (round(d.t, 4), d.df, round(d.p, 6)) == (4.0621, 9, 0.002833)
    assert (round(d.difference.low, 4), round(d.difference.high, 4)) == (0.7001, 2.4599)
    w = welch(SECOND, FIRST)
    assert (round(w.p, 5), round(w.df, 3)) == (0.07939, 17.776)
    assert d.differs() and not w.differs()
    assert d.correlation == pytest.approx(0.7952, abs=1e-4)


@given(PAIRS, st.sampled_from([0.9, 0.95]))
def test_paired_is_the_t_test_of_scipy(pairs, confidence):
    a, b = map(list, zip(*pairs, strict=True))
    assume(np.std(np.subtract(a, b)) > 1e-3)
    d, other = paired(a, b, confidence), scipy.stats.ttest_rel(a, b)
    assert (d.t, d.p) == (pytest.approx(other.statistic, rel=1e-7, abs=1e-9), pytest.approx(other.pvalue, rel=1e-6, abs=1e-12))
    low, high = other.confidence_interval(confidence)
    assert (d.difference.low, d.difference.high) == (pytest.approx(low, rel=1e-7, abs=1e-6), pytest.approx(high, rel=1e-7, abs=1e-6))
    if np.std(a) > 1e-3 and np.std(b) > 1e-3:
        assert d.correlation == pytest.approx(scipy.stats.pearsonr(a, b).statistic, abs=1e-7)
        assert d.saved == pytest.approx(1 - np.var(np.subtract(a, b)) / (np.var(a) + np.var(b)), abs=1e-9)


@given(SAMPLES, SAMPLES, st.sampled_from([0.9, 0.95]))
def test_welch_is_the_t_test_of_scipy(a, b, confidence):
    assume(np.std(a) > 1e-3 and np.std(b) > 1e-3)
    d, other = welch(a, b, confidence), scipy.stats.ttest_ind(a, b, equal_var=False)
    assert (d.t, d.df, d.p) == tuple(pytest.approx(x, rel=1e-6, abs=1e-9) for x in (other.statistic, other.df, other.pvalue))
    low, high = other.confidence_interval(confidence)
    assert (d.difference.low, d.difference.high) == (pytest.approx(low, rel=1e-6, abs=1e-6), pytest.approx(high, rel=1e-6, abs=1e-6))


@given(PAIRS)
def test_the_change_in_percent_is_fiellers(pairs):
    """The ends of the interval are the ratios r for which a - r b has a mean just significantly different from zero."""
    a, b = map(list, zip(*pairs, strict=True))
    assume(np.std(a) > 1 and np.std(b) > 1e-2 and np.std(np.subtract(a, b)) > 1e-2)
    change = paired(a, b).change
    if abs(scipy.stats.ttest_1samp(b, 0).statistic) < scipy.stats.t.ppf(0.975, len(b) - 1) * (1 + 1e-9):
        assert (change.low, change.high) == (None, None)
        return
    assert change.value == pytest.approx(100 * (np.mean(a) / np.mean(b) - 1))
    for end in (change.low, change.high):
        rest = np.subtract(a, (1 + end / 100) * np.asarray(b))
        assume(np.std(rest) > 1e-6)
        assert scipy.stats.ttest_1samp(rest, 0).pvalue == pytest.approx(0.05, rel=1e-4)


def test_common_random_numbers_are_worth_what_they_say():
    rng = np.random.default_rng(1)
    luck = rng.normal(size=2000)
    a, b = luck + 0.5 * rng.normal(size=2000) + 1, luck + 0.5 * rng.normal(size=2000)
    d, w = paired(a, b), welch(a, b)
    # var(a) = var(b) = 1.25, cov = 1: var(a - b) = 0.5 instead of 2.5.
    assert d.correlation == pytest.approx(0.8, abs=0.02)
    assert d.saved == pytest.approx(0.8, abs=0.02)
    assert d.gain == pytest.approx(5.0, rel=0.05)
    assert (w.difference.half_width / d.difference.half_width) ** 2 == pytest.approx(d.gain, rel=0.01)
    assert paired(a, -b).saved == pytest.approx(-0.8, abs=0.02)


def test_few_equal_or_missing_values():
    assert paired([], []).difference.value is None
    one = paired([2.0], [1.0])
    assert (one.difference.value, one.difference.low, one.p, one.change.value) == (1.0, None, None, 100.0)
    gaps = paired([1.0, None, 3.0, 4.0, math.nan], [0.0, 1.0, math.inf, 2.0, 5.0])
    assert (gaps.difference.n, gaps.dropped, gaps.difference.value) == (2, 3, 1.5)
    with pytest.raises(FairlaneError, match="the same seeds on both sides: there are 2 and 3 values"):
        paired([1.0, 2.0], [1.0, 2.0, 3.0])
    same = paired([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert (same.t, same.p, same.saved, same.gain) == (0.0, 1.0, 1.0, None)
    shifted = paired([2.0, 3.0, 4.0], [1.0, 2.0, 3.0])
    assert (shifted.t, shifted.p, shifted.difference.low) == (math.inf, 0.0, 1.0)
    still = paired([5.0, 5.0], [4.0, 4.0])
    assert (still.correlation, still.saved, still.p) == (None, None, 0.0)
    assert welch([1.0], [2.0, 3.0]).p is None and welch([1.0], [2.0, 3.0]).difference.value == -1.5
    assert welch([], [1.0]).difference.value is None
    assert welch([3.0, 3.0], [3.0, 3.0]).p == 1.0
    assert paired([1.0, 2.0], [0.0, 0.0]).change.value is None


@given(PAIRS, st.floats(0.1, 500))
def test_tost_of_pairs_is_that_of_pingouin_and_statsmodels(pairs, margin):
    a, b = map(list, zip(*pairs, strict=True))
    assume(np.std(np.subtract(a, b)) > 1e-2)
    ours = tost(a, b, margin)
    other = pingouin.tost(a, b, bound=margin, paired=True)
    assert ours.p == pytest.approx(other["pval"].iloc[0] if "pval" in other else other["p_val"].iloc[0], abs=1e-8)
    p, (_, p1, _), (_, p2, _) = ttost_paired(np.array(a), np.array(b), -margin, margin)
    assert (ours.p, ours.p_lower, ours.p_upper) == tuple(pytest.approx(x, abs=1e-8) for x in (p, p1, p2))
    # The two ways to say it: both tests reject, or the 90 % interval lies inside the margin.
    inside = -margin < ours.difference.low and ours.difference.high < margin
    assert ours.equivalent == inside or ours.p == pytest.approx(0.05, abs=1e-9)


@given(SAMPLES, SAMPLES, st.floats(0.1, 500))
def test_tost_of_independent_samples_is_that_of_pingouin(a, b, margin):
    assume(np.std(a) > 1e-2 and np.std(b) > 1e-2)
    ours = tost(a, b, margin, paired=False)
    other = pingouin.tost(a, b, bound=margin, paired=False, correction=True)  # its words for Welch's test
    assert ours.p == pytest.approx(other["pval"].iloc[0] if "pval" in other else other["p_val"].iloc[0], abs=1e-8)
    assert ours.df == pytest.approx(other["dof"].iloc[0], abs=0.01)
    assert ours.p == pytest.approx(ttost_ind(np.array(a), np.array(b), -margin, margin, usevar="unequal")[0], abs=1e-8)


def test_margins():
    a, b = [10.1, 9.9, 10.0, 10.2], [10.0, 10.0, 9.9, 10.1]
    assert tost(a, b, "5%").margin == pytest.approx(0.5)
    assert tost(a, [-x for x in b], "5%").margin == pytest.approx(0.5)
    assert tost(a, b, "5%").p == tost(a, b, 0.5).p
    assert tost(a, b, 0.5).equivalent is True and tost(a, b, 0.05).equivalent is False
    assert tost([1.0], [1.0], 0.5).equivalent is None
    assert tost([], [], "2%").equivalent is None
    assert tost([1.0, 1.0], [1.2, 1.2], 0.5).equivalent is True and tost([1.0, 1.0], [1.7, 1.7], 0.5).equivalent is False
    for bad in ("5", "x%", "-2%", 0.0, -1.0, math.nan):
        with pytest.raises(FairlaneError, match="margin"):
            tost(a, b, bad)
    with pytest.raises(FairlaneError, match="mean is zero"):
        tost([1.0, -1.0], [1.0, -1.0], "2%")
    with pytest.raises(FairlaneError, match=r"above 0\.5"):
        tost(a, b, 0.5, confidence=0.4)


def test_not_different_is_not_equivalent():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=4), rng.normal(size=4)
    assert not welch(a, b).differs() and not tost(a, b, 0.5, paired=False).equivalent


@pytest.mark.filterwarnings("ignore:ks_2samp")
@given(SAMPLES, SAMPLES)
def test_ks_of_two_samples_is_that_of_scipy(a, b):
    ours, other = ks(a, b), scipy.stats.ks_2samp(a, b)
    assert (ours.distance, ours.p) == (pytest.approx(other.statistic), pytest.approx(other.pvalue))
    # And by its definition.
    x = np.concatenate([a, b])
    gap = (np.asarray(a)[None, :] <= x[:, None]).mean(axis=1) - (np.asarray(b)[None, :] <= x[:, None]).mean(axis=1)
    assert ours.distance == pytest.approx(np.abs(gap).max(), abs=1e-12)
    if ours.distance:
        at = (np.asarray(a) <= ours.at).mean() - (np.asarray(b) <= ours.at).mean()
        assert abs(at) == pytest.approx(ours.distance) and (at > 0) == ours.above


def test_ks_against_a_distribution_function():
    rng = np.random.default_rng(7)
    times = rng.exponential(2.0, 200)
    good = ks(times, lambda t: 1 - math.exp(-t / 2.0))
    other = scipy.stats.kstest(times, "expon", args=(0, 2.0))
    assert (good.distance, good.p) == (pytest.approx(other.statistic), pytest.approx(other.pvalue))
    assert good.p > 0.05 and good.n_b is None
    assert ks(times, lambda t: 1 - math.exp(-t / 3.0)).p < 0.01
    assert "the distribution" in str(good)


def test_ks_needs_values():
    for a, b in (([], [1.0]), ([1.0], [math.nan]), ([None], lambda x: x)):
        with pytest.raises(FairlaneError, match="no finite values"):
            ks(a, b)


@settings(max_examples=cases(30))
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_that_of_statsmodels(p):
    assert holm(p) == pytest.approx(list(multipletests(p, method="holm")[1]))


def test_holm_leaves_out_what_has_no_p_value():
    assert holm([]) == []
    assert holm([None, 0.02, math.nan, 0.5]) == [None, 0.04, None, 0.5]
    with pytest.raises(FairlaneError, match="between 0 and 1"):
        holm([1.5])


def test_all_pairs_are_corrected_for_their_number():
    rng = np.random.default_rng(5)
    luck = rng.normal(size=10)
    groups = {q: luck + shift + 0.3 * rng.normal(size=10) for q, shift in (("droptail", 0.0), ("red", 0.4), ("codel", 1.0))}
    rows = all_pairs(groups)
    assert [(r.a, r.b) for r in rows] == [("droptail", "red"), ("droptail", "codel"), ("red", "codel")]
    assert [r.result for r in rows] == [paired(groups[r.a], groups[r.b]) for r in rows]
    assert [r.p_holm for r in rows] == holm([r.result.p for r in rows])
    assert all(r.p_holm >= r.result.p for r in rows) and max(r.p_holm / r.result.p for r in rows) == pytest.approx(3.0)
    assert all_pairs(groups, common_seeds=False)[0].result.correlation is None


@given(st.lists(PAIRS, min_size=1, max_size=5))
@settings(max_examples=cases(40))
def test_contrasts_are_both_tests_of_scipy_and_the_correction_of_statsmodels(families):
    """Each kind of p-value is corrected on its own; a difference goes before an equivalence; what neither shows is inconclusive."""
    samples = [tuple(map(list, zip(*f, strict=True))) for f in families]
    for a, b in samples:
        d = np.subtract(a, b)
        assume(np.std(d) > 1e-3 and abs(np.mean(b)) > 1e-3)
    found = contrasts(samples, "5%")
    ps = [scipy.stats.ttest_rel(a, b).pvalue for a, b in samples]
    qs = []
    for a, b in samples:
        m = 0.05 * abs(np.mean(b))
        below = scipy.stats.ttest_1samp(np.subtract(a, b), -m, alternative="greater").pvalue
        qs.append(max(below, scipy.stats.ttest_1samp(np.subtract(a, b), m, alternative="less").pvalue))
    ps, qs = multipletests(ps, method="holm")[1], multipletests(qs, method="holm")[1]
    assert [c.p for c in found] == pytest.approx(list(ps), rel=1e-6, abs=1e-12)
    assert [c.p_equivalent for c in found] == pytest.approx(list(qs), rel=1e-6, abs=1e-12)
    for c, p, q, (a, b) in zip(found, ps, qs, samples, strict=True):
        assume(min(abs(p - 0.05), abs(q - 0.05)) > 1e-6)
        shown = "more" if np.mean(a) > np.mean(b) else "less"
        assert c.finding == (shown if p < 0.05 else "equivalent" if q < 0.05 else "inconclusive")


def test_no_difference_shown_is_not_called_equal():
    """A p-value of 0.4 says nothing of equality; equivalence is reported if the 90 % interval lies inside the margin."""
    noisy, base, near = [10.0, 14.0, 9.0, 13.0, 11.0], [12.0, 10.0, 11.0, 11.0, 10.5], [12.1, 10.0, 11.1, 10.9, 10.5]
    first, second = contrasts([(noisy, base), (near, base)])
    assert first.finding == "inconclusive" and first.words.startswith("no significant difference (p = ") and first.p > 0.3
    assert second.finding == "equivalent" and second.words.startswith("equivalent within 5 % (TOST p ")
    low, high = tost(near, base, "5%").difference.low, tost(near, base, "5%").difference.high
    assert -0.05 * np.mean(base) < low < high < 0.05 * np.mean(base)


def test_what_has_no_test_is_not_called_anything():
    one, none, zeros, same = contrasts([([1.0], [2.0]), ([], []), ([0.0, 0.0], [0.0, 0.0]), ([1.0, 2.0], [1.0, 2.0])])
    assert [c.finding for c in (one, none, zeros, same)] == ["inconclusive", "inconclusive", "equivalent", "equivalent"]
    assert (one.words, none.words) == ("one run each: no test of a difference is possible", "no value on one side")
    assert zeros.words == same.words == "the same in all 2 runs"
    (from_nothing,) = contrasts([([1.0, 1.2, 1.1], [0.0, 0.0, 0.0])])  # no share of nothing, so no test of equivalence
    assert from_nothing.finding == "more" and from_nothing.equivalence is None
