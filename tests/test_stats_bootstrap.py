"""Bootstrap intervals against scipy, a textbook's data, and the definition."""

import math

import numpy as np
import pytest
import scipy.stats

from fairlane.errors import FairlaneError
from fairlane.stats import bootstrap, interval

# Efron and Tibshirani, An Introduction to the Bootstrap, 1993, table 14.1: spatial test data, component A, 26 children.
SPATIAL = [48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6, 0, 33, 28, 34, 4, 32, 24, 47, 41, 24, 26, 30, 41]


def test_the_textbooks_intervals_of_a_variance():
    # Table 14.2 there, for the variance with divisor n: estimate 171.5; 90 % intervals of 2000 resamples, percentile (100.8, 233.9) and
    # BCa (115.8, 259.6).
    plain = bootstrap(SPATIAL, np.var, 0.9, resamples=20_000, method="percentile")
    better = bootstrap(SPATIAL, np.var, 0.9, resamples=20_000)
    assert plain.value == pytest.approx(171.5, abs=0.05)
    assert (plain.low, plain.high) == (pytest.approx(100.8, abs=4), pytest.approx(233.9, abs=4))
    assert (better.low, better.high) == (pytest.approx(115.8, abs=4), pytest.approx(259.6, abs=4))


@pytest.mark.parametrize("method", ["bca", "percentile"])
@pytest.mark.parametrize(
    ("statistic", "function"), [("mean", np.mean), ("median", np.median), ("p95", lambda x: np.percentile(x, 95)), (np.std, np.std)]
)
def test_it_is_that_of_scipy(statistic, function, method):
    values = np.random.default_rng(2).gamma(2.0, size=40)
    ours = bootstrap(values, statistic, resamples=2000, seed=5, method=method)
    other = scipy.stats.bootstrap(
        (values,), function, vectorized=False, n_resamples=2000, rng=np.random.default_rng(5), method={"bca": "BCa"}.get(method, method)
    )
    assert ours.value == pytest.approx(function(values))
    assert (ours.low, ours.high) == pytest.approx(tuple(other.confidence_interval))
    assert ours.standard_error == pytest.approx(other.standard_error)
    assert ours.method == method and ours.value in ours


def test_the_same_seed_gives_the_same_interval():
    values = [1.0, 4.0, 2.0, 8.0, 5.0, 7.0]
    assert bootstrap(values) == bootstrap(values)
    assert bootstrap(values, seed=2) != bootstrap(values)
    assert bootstrap([*values, math.nan, None]) == bootstrap(values)


def test_for_normal_values_it_is_near_the_t_interval():
    values = np.random.default_rng(4).normal(10, 1, size=60)
    t, b = interval(values), bootstrap(values)
    assert (b.low, b.high) == (pytest.approx(t.low, abs=0.03), pytest.approx(t.high, abs=0.03))


def test_few_and_equal_values():
    assert (bootstrap([]).value, bootstrap([]).n) == (None, 0)
    assert (bootstrap([3.0]).value, bootstrap([3.0]).low) == (3.0, None)
    assert (bootstrap([3.0] * 5).low, bootstrap([3.0] * 5).high) == (3.0, 3.0)
    two = bootstrap([1.0, 2.0])
    assert two.low == 1.0 and two.high == 2.0


def test_where_bca_is_not_defined_the_percentiles_are_taken_and_it_is_said():
    # The median of these stays where it is whichever value is left out.
    values = [1.0, 2.0, 5.0, 5.0, 5.0, 5.0, 8.0, 9.0]
    b = bootstrap(values, "median")
    assert b.method == "percentile"
    assert (b.low, b.high) == (bootstrap(values, "median", method="percentile").low, bootstrap(values, "median", method="percentile").high)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"statistic": "mode"}, "a statistic is"),
        ({"statistic": "p101"}, "a statistic is"),
        ({"method": "basic"}, "a bootstrap method is"),
        ({"resamples": 5}, "at least 100 resamples"),
        ({"confidence": 95}, "between 0 and 1"),
    ],
)
def test_bad_wishes_are_errors(bad, words):
    with pytest.raises(FairlaneError, match=words):
        bootstrap([1.0, 2.0, 3.0], **bad)
