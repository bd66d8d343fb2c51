"""Student t intervals against published tables, a published example and scipy."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from fairlane.errors import FairlaneError
from fairlane.stats import CONFIDENCE, Interval, from_moments, interval
from fairlane.stats.intervals import t_factor
from fairlane.stats.student import two_sided

# Percentage points of Student's t: NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2.
TABLE = {
    0.95: {1: 6.314, 2: 2.920, 5: 2.015, 10: 1.812, 30: 1.697, 100: 1.660},
    0.975: {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 9: 2.262, 10: 2.228, 20: 2.086, 30: 2.042, 60: 2.000, 100: 1.984},
    0.995: {1: 63.657, 2: 9.925, 5: 4.032, 10: 3.169, 30: 2.750, 100: 2.626},
}


@pytest.mark.parametrize(("p", "df", "t"), [(p, df, t) for p, row in TABLE.items() for df, t in row.items()])
def test_factors_of_the_published_table(p, df, t):
    assert t_factor(2 * p - 1, df) == pytest.approx(t, abs=6e-4)


@pytest.mark.parametrize("df", [0.3, 1, 1.5, 2, 3, 4, 7, 9, 30, 59.5, 119, 120, 121, 500, 10_000])
def test_factors_are_those_of_scipy(df):
    for confidence in (0.001, 0.5, 0.8, 0.9, 0.95, 0.99, 0.9999, 1 - 1e-9):
        assert t_factor(confidence, df) == pytest.approx(scipy.stats.t.isf((1 - confidence) / 2, df), rel=2e-13)


@given(st.floats(0, 1e6), st.floats(0.5, 1e4))
def test_tails_are_those_of_scipy(t, df):
    assert two_sided(t, df) == pytest.approx(2 * scipy.stats.t.sf(t, df), rel=1e-11, abs=1e-300)


def test_f_and_t_are_those_of_scipy():
    from scipy.special import fdtrc, stdtr

    from fairlane.stats.student import below, f_above

    for df in (1, 2, 5, 30, 400):
        for f in (1e-6, 0.3, 1.0, 4.2, 60.0, 1e5):
            for error in (1, 3, 28, 5000):
                assert f_above(f, df, error) == pytest.approx(float(fdtrc(df, error, f)), rel=1e-9, abs=1e-300)
        for t in (-40.0, -2.1, -1e-3, 0.0, 0.7, 12.0):
            assert below(t, df) == pytest.approx(float(stdtr(df, t)), rel=1e-11)
    assert f_above(0.0, 3, 4) == 1.0 and f_above(math.inf, 3, 4) == 0.0
    # Montgomery, Design and Analysis of Experiments, table IV: F(0.05; 4, 10) = 3.48.
    assert f_above(3.478, 4, 10) == pytest.approx(0.05, abs=1e-4)


def test_interval_of_the_sleep_data_of_student_1908():
    # Additional hours of sleep of ten patients; the interval that statistics packages print for it is 0.7001142 to 2.4598858.
    hours = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
    iv = interval(hours)
    assert (iv.mean, iv.n) == (pytest.approx(1.58), 10)
    assert iv.sd == pytest.approx(1.23, abs=1e-3)
    assert iv.low == pytest.approx(0.7001142, abs=1e-6)
    assert iv.high == pytest.approx(2.4598858, abs=1e-6)


def test_few_values():
    assert interval([]) == Interval(None, None, None, None, 0)
    assert interval([3.0]) == Interval(3.0, None, None, None, 1)
    assert interval([math.nan, 3.0, None, math.inf]) == Interval(3.0, None, None, None, 1)
    assert interval([2.0, 2.0]) == Interval(2.0, 2.0, 2.0, 0.0, 2)
    assert interval([0.1] * 3) == Interval(0.1, 0.1, 0.1, 0.0, 3)
    assert (str(interval([3.0])), str(interval([]))) == ("3 (1 run)", "no value")
    assert str(interval([9.0e6, 9.5e6], unit="bit/s")) == "9.2 ± 3.2 Mbit/s (95 %, 2 runs)"
    assert f"{interval([9.0e6, 9.5e6], 0.5, unit='bit/s')}" == "9.25 ± 0.25 Mbit/s (50 %, 2 runs)"
    assert f"{interval([0.01, 0.02], unit='s'):.3f} {interval([3.0], unit='packets'):.1f} {interval([0.5], unit='1'):.1f}" == (
        "0.015 ± 0.064 s 3.0 p 0.5"
    )
    assert 2.0 in interval([1.0, 3.0])


@pytest.mark.parametrize("bad", [0.0, 1.0, 95, -0.1, math.nan])
def test_a_level_is_between_zero_and_one(bad):
    for values in ([], [1.0], [1.0, 2.0]):
        with pytest.raises(FairlaneError, match="between 0 and 1"):
            interval(values, bad)


def test_moments_are_enough():
    values = [3.0, 1.0, 4.0, 1.0, 5.0]
    iv = interval(values)
    assert from_moments(iv.mean, iv.sd, iv.n) == iv


@given(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=50))
def test_interval_is_around_the_mean(values):
    iv = interval(values)
    assert iv.low <= iv.mean <= iv.high


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50), st.sampled_from([0.5, 0.9, CONFIDENCE, 0.99]))
def test_interval_is_that_of_scipy(values, confidence):
    iv = interval(values, confidence)
    scale = np.std(values, ddof=1) / math.sqrt(len(values))
    if scale < 1e-6 * (1 + abs(np.mean(values))):
        return
    low, high = scipy.stats.t.interval(confidence, len(values) - 1, loc=np.mean(values), scale=scale)
    assert (iv.low, iv.high) == (pytest.approx(low, rel=1e-9, abs=1e-6), pytest.approx(high, rel=1e-9, abs=1e-6))
