"""Student t intervals against published tables and a published example."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlane.stats import Interval, interval, t_cdf, t_quantile

# Percentage points of Student's t: NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2.
TABLE = {
    0.95: {1: 6.314, 2: 2.920, 5: 2.015, 10: 1.812, 30: 1.697, 100: 1.660},
    0.975: {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 9: 2.262, 10: 2.228, 20: 2.086, 30: 2.042, 60: 2.000, 100: 1.984},
    0.995: {1: 63.657, 2: 9.925, 5: 4.032, 10: 3.169, 30: 2.750, 100: 2.626},
}


@pytest.mark.parametrize(("p", "df", "t"), [(p, df, t) for p, row in TABLE.items() for df, t in row.items()])
def test_quantiles_of_the_published_table(p, df, t):
    assert t_quantile(p, df) == pytest.approx(t, abs=6e-4)
    assert t_quantile(1 - p, df) == pytest.approx(-t, abs=6e-4)


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
    assert str(interval([3.0])) == "3"
    assert 2.0 in interval([1.0, 3.0])


@given(st.floats(0.001, 0.999), st.integers(1, 300))
def test_quantile_inverts_the_distribution(p, df):
    assert t_cdf(t_quantile(p, df), df) == pytest.approx(p, abs=1e-9)


@given(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=50))
def test_interval_is_around_the_mean(values):
    iv = interval(values)
    assert iv.low <= iv.mean <= iv.high
