"""Replications until the interval is narrow enough: Law's criterion, brute force, and the cases without an answer."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

from fairlane.errors import FairlaneError
from fairlane.stats import interval, narrow_enough, replications_needed, verdict

VALUES = st.lists(st.floats(1.0, 1e6), min_size=2, max_size=20)


def by_counting(values, relative, confidence):
    """Law, 9.4.1, word by word: try one number after the other."""
    s, m = np.std(values, ddof=1), abs(np.mean(values))
    i = len(values)
    while scipy.stats.t.ppf(0.5 + confidence / 2, i - 1) * s / math.sqrt(i) / m > relative / (1 + relative):
        i += 1
    return i


@given(VALUES, st.sampled_from([0.02, 0.1, 0.5]), st.sampled_from([0.9, 0.95]))
def test_the_number_is_that_of_counting_up(values, relative, confidence):
    assume(np.std(values, ddof=1) / np.mean(values) < relative * 15)
    # Values a rounding error away from the limit could go either way.
    assume(replications_needed(values, relative * (1 + 1e-9), confidence) == replications_needed(values, relative * (1 - 1e-9), confidence))
    assert replications_needed(values, relative, confidence) == by_counting(values, relative, confidence)


def test_the_criterion_bounds_the_error_relative_to_the_truth():
    # Half width 10 of a mean of 100: the truth may be 90, and 10 is 11.1 % of that.
    values = [100 - 10 / 12.706204736, 100 + 10 / 12.706204736]
    assert interval(values).half_width == pytest.approx(10.0)
    assert not narrow_enough(values, 0.1)
    assert not narrow_enough(values, 0.1110)
    assert narrow_enough(values, 0.1112)
    assert narrow_enough(values, 0.01, absolute=10.001)
    assert not narrow_enough(values, 0.01, absolute=9.999)


@given(VALUES, st.floats(0.01, 0.5))
def test_enough_and_needed_agree(values, relative):
    v = verdict(values, relative)
    assert v.enough == narrow_enough(values, relative)
    assert v.enough == (v.needed == len(values))


def test_metrics_without_values_or_variation_do_not_ask_for_more():
    assert verdict([0.0] * 5, 0.02).state == "no variation"
    assert verdict([7.0] * 5, 0.02).state == "no variation"
    assert verdict([math.nan, None, math.inf], 0.02).state == "no values"
    assert all(narrow_enough(v, 0.02) for v in ([0.0] * 5, [7.0] * 5, [math.nan] * 3))


def test_too_few_say_nothing():
    for values in ([], [3.0], [3.0, math.nan, math.nan]):
        v = verdict(values, 0.02)
        assert (v.state, v.enough, v.needed, v.relative_error) == ("too few", False, None, None)
    assert verdict([5.0, 5.0], 0.02, minimum=3).state == "too few"
    assert verdict([None] * 4, 0.02, minimum=5).state == "too few"
    assert verdict([5.0, 5.0], 0.02, minimum=3).needed == 3


def test_a_mean_at_zero_is_said_to_be_so():
    v = verdict([-1.0, 1.0, -2.0, 2.0], 0.02)
    assert (v.state, v.relative_error, v.needed) == ("near zero", math.inf, None)
    # Rare drops: some replications have none, the mean is not zero but its interval holds zero.
    v = verdict([0, 0, 0, 1, 0], 0.02)
    assert (v.state, v.enough) == ("near zero", False)
    assert v.needed == by_counting([0, 0, 0, 1, 0], 0.02, 0.95)
    assert verdict([0, 0, 0, 1, 0], 0.02, absolute=1.0).state == "narrow"


def test_replications_without_a_value_are_expected_to_go_on():
    some = [8.0, 12.0, 10.0, 9.0, 11.0]
    every = replications_needed(some, 0.1)
    assert replications_needed([*some, *[None] * 5], 0.1) == 2 * every
    assert replications_needed([*some, None], 0.1) == math.ceil(every * 6 / 5)


def test_hopeless_demands_have_no_number():
    assert replications_needed([1e-9, 1e6, -1e6], 1e-6) is None


@pytest.mark.parametrize("bad", [0.0, -0.1, math.nan, math.inf])
def test_bad_precisions_are_errors(bad):
    with pytest.raises(FairlaneError, match="relative precision"):
        verdict([1.0, 2.0], bad)
    if bad != 0.0:
        with pytest.raises(FairlaneError, match="absolute precision"):
            narrow_enough([1.0, 2.0], 0.1, absolute=bad)
