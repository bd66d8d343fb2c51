"""Parameter settings: samples, shares with their intervals, and boundaries of claims, against cases whose answer is known."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy.stats import binomtest

from fairlane.multiverse import (
    Levels,
    Open,
    OpenError,
    Share,
    Span,
    base_of,
    changes_at,
    check_setting,
    decisive,
    design,
    elsewhere,
    judge,
    matters,
    near,
    same_everywhere,
    settled,
    share,
    size,
    summarise,
)

X = Open("x", 0.5, Span(0.0, 1.0), "a known case")
Y = Open("y", 0.5, Span(0.0, 1.0), "a known case")
Z = Open("z", "b", Levels(("a", "b", "c")), "a known case")


def outcomes(opens, n, true):
    settings = design(opens, n)
    return settings, [true(w) for w in settings]


# What is open


@pytest.mark.parametrize(
    ("span", "values"),
    [
        (Span("5p", "8p"), {"5p", "6p", "7p", "8p"}),
        (Span("1p", "4p", "log"), {"1p", "2p", "3p", "4p"}),
        (Span(0, 6, step=2), {0, 2, 4, 6}),
        (Span("10ms", "30ms", step="10ms"), {"10ms", "20ms", "30ms"}),
    ],
)
def test_a_span_of_few_values_has_these_alone(span, values):
    found = {span.at(u) for u in np.linspace(0, 0.999, 200)}
    assert found == values
    assert span.count == len(values)


@pytest.mark.parametrize("span", [Span("2ms", "80ms"), Span("2ms", "80ms", "log"), Span("0.1%", "5%", "log"), Span("500kbit/s", "2Mbit/s")])
def test_a_place_leads_back_to_its_value(span):
    for u in np.linspace(0.01, 0.99, 23):
        value = span.at(u)
        assert span.has(value)
        assert span.place(value) == pytest.approx(u, abs=0.01)  # values are written with three digits


def test_a_logarithmic_span_spends_as_much_on_each_doubling():
    values = [float(Span("1ms", "16ms", "log").at(u).removesuffix("ms")) for u in (0.25, 0.5, 0.75)]
    assert values == pytest.approx([2, 4, 8])


def test_levels_tell_true_from_one():
    with_switch = Open("sack", True, Levels((True, False)), "not named")
    assert with_switch.over.at(0.1) is True
    assert with_switch.over.read("false") is False
    assert not with_switch.over.has(1)
    assert not Levels((1, 2)).has(True)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: Span("5p", "20ms"), "different kinds"),
        (lambda: Span("20p", "5p"), "where it begins"),
        (lambda: Span(0, 5, "log"), "above zero"),
        (lambda: Span("1p", "soon"), "'soon'"),
        (lambda: Span("1p", "9p", step="10p"), "does not fit"),
        (lambda: Span(1, 2, "cubic"), "unknown scale"),
        (lambda: Levels(("a",)), "two levels"),
        (lambda: Levels(("a", "a")), "not all different"),
        (lambda: Levels("ab"), "several values"),
        (lambda: Open("x", "9p", Span("10p", "20p"), ""), "x: the base 9p"),
        (lambda: Open("x", 1, Levels((True, False)), ""), "x: the base 1"),
        (lambda: design([X, X], 4), "twice"),
        (lambda: check_setting([X], {"x": 2.0}), "x is 2.0"),
        (lambda: check_setting([X], {"y": 0.5}), "'y'"),
        (lambda: check_setting([X, Y], {"x": 0.5}), "no value for y"),
    ],
)
def test_what_is_declared_wrongly_is_told(make, expected):
    with pytest.raises(OpenError, match=expected):
        make()


# Samples


def test_a_longer_design_begins_with_the_shorter_one():
    opens = [X, Y, Z]
    assert design(opens, 200)[:37] == design(opens, 37)
    assert design(opens, 1) == [base_of(opens)] == [{"x": 0.5, "y": 0.5, "z": "b"}]
    assert design([], 10) == [{}]


def test_a_small_space_is_run_through_whole_and_nothing_twice():
    opens = [Z, Open("n", 2, Span(1, 4), ""), Open("sack", True, Levels((True, False)), "")]
    settings = design(opens, 500)
    assert len(settings) == size(opens) == 24
    assert len({tuple(map(repr, w.values())) for w in settings}) == 24


def test_a_design_fills_the_space_more_evenly_than_chance():
    """Every cell of a 4 x 4 grid gets its sixteenth: 16 of 256 points, where chance would vary by 4."""
    counts = np.zeros((4, 4))
    for w in design([X, Y], 257)[1:]:
        counts[min(3, int(w["x"] * 4)), min(3, int(w["y"] * 4))] += 1
    assert counts.std() < 1.0


def test_points_near_a_setting_are_near_it():
    best = {"x": 0.1, "y": 0.9, "z": "c"}
    found = near([X, Y, Z], [best], 60, 0.2)
    assert len(found) == 60
    assert best not in found
    assert all(w["x"] <= 0.2 and w["y"] >= 0.8 for w in found)
    others = sum(w["z"] != "c" for w in found)
    assert 1 <= others <= 24  # a fifth of them choose again among three


def test_of_a_setting_with_many_things_a_few_are_moved():
    opens = [Open(f"x{i}", 0.5, Span(0.0, 1.0), "") for i in range(20)] + [Z]
    best = base_of(opens)
    known = near(opens, [best], 30, 0.2, few=3)
    found = near(opens, [best], 60, 0.2, few=3, known=known)
    moved = [{n for n in best if w[n] != best[n]} for w in found]
    assert {len(m) for m in moved} == {1, 2, 3}
    assert len(set().union(*moved)) == 21  # each in its turn
    assert all(0.4 <= w[n] <= 0.6 for w, m in zip(found, moved, strict=True) for n in m - {"z"})
    assert not [w for w in found if w in known or w == best]


# Shares


@pytest.mark.parametrize(("k", "n"), [(0, 20), (7, 20), (20, 20), (130, 400)])
def test_the_interval_is_that_of_clopper_and_pearson(k, n):
    exact = binomtest(k, n).proportion_ci(method="exact")
    s = share([True] * k + [False] * (n - k))
    assert (s.low, s.high) == pytest.approx((exact.low, exact.high))


def test_replications_of_one_setting_do_not_count_as_settings():
    assert share([0.5] * 40).n == 40
    assert share([0.5] * 40).low == share([True, False] * 20).low
    assert share([None, None]) is None


def test_a_claim_that_changes_at_three_tenths():
    settings, found = outcomes([X, Y, Z], 256, lambda w: w["x"] > 0.3)
    s = share(found)
    assert s.low <= 0.7 <= s.high
    t = changes_at([X, Y, Z], settings, found)
    (boundary,) = t.boundaries
    assert (boundary.name, boundary.side) == ("x", "above")
    assert float(boundary.value) == pytest.approx(0.3, abs=0.01)
    assert (boundary.share_there, boundary.share_else, t.explained) == (1.0, 0.0, 1.0)
    assert judge(found, t.boundaries, t.explained).word == "depends"
    assert str(boundary).startswith("x above 0.")


def test_a_turn_is_written_in_the_unit_of_the_span():
    delay = Open("delay", "10ms", Span("2ms", "80ms", "log"), "not published")
    settings, found = outcomes([delay, X], 256, lambda w: float(w["delay"].removesuffix("ms")) < 20)
    (boundary,) = changes_at([delay, X], settings, found).boundaries
    assert boundary.side == "below"
    assert boundary.value.endswith("ms")
    assert float(boundary.value.removesuffix("ms")) == pytest.approx(20, rel=0.03)


def test_levels_turn_a_claim():
    settings, found = outcomes([X, Z], 128, lambda w: w["z"] != "b")
    (boundary,) = changes_at([X, Z], settings, found).boundaries
    assert (boundary.name, boundary.value, boundary.side) == ("z", ("a", "c"), "with")


def test_two_parameters_that_matter_together():
    settings, found = outcomes([X, Y, Z], 256, lambda w: w["x"] > 0.5 and w["y"] > 0.4)
    s, t = share(found), changes_at([X, Y, Z], settings, found)
    assert s.low <= 0.3 <= s.high
    assert {boundary.name for boundary in t.boundaries} == {"x", "y"}
    assert t.explained > 0.98
    assert any(boundary.where for boundary in t.boundaries)
    assert judge(found, t.boundaries, t.explained).word == "depends"


def test_two_parameters_neither_of_which_matters_alone():
    settings, found = outcomes([X, Y], 256, lambda w: (w["x"] > 0.5) == (w["y"] > 0.5))
    t = changes_at([X, Y], settings, found)
    assert {boundary.name for boundary in t.boundaries} == {"x", "y"}
    assert t.explained > 0.8


def test_noise_is_undecided():
    """Fair coins change nowhere, and chance does not make a boundary of them more often than it is allowed to."""
    opens, found_any = [X, Y, Z, *(Open(f"w{i}", 0.5, Span(0.0, 1.0), "") for i in range(6))], 0
    settings = design(opens, 128)
    for seed in range(25):
        rng = random.Random(seed)
        found = [rng.random() < 0.5 for _ in settings]
        t = changes_at(opens, settings, found)
        found_any += bool(t.boundaries)
        verdict = judge(found, t.boundaries, t.explained)
        assert verdict.word == "inconclusive" or t.boundaries
    assert found_any <= 2


def test_what_has_the_largest_effect_is_named_only_if_chance_has_less():
    """A margin that grows with one of nine parameters and with chance; margins of chance alone, in at most one of twenty cases."""
    opens = [X, Y, Z, *(Open(f"w{i}", 0.5, Span(0.0, 1.0), "") for i in range(6))]
    settings, named = design(opens, 64), 0
    for seed in range(8):
        rng = random.Random(seed)
        chance = [rng.gauss(0, 1) for _ in settings]
        assert decisive(opens, settings, [3 * w["y"] + x for w, x in zip(settings, chance, strict=True)]) == "y"
        named += decisive(opens, settings, chance) != ""
    assert named <= 2  # binomial with 8 and 0.05: three or more in 0.6 % of cases
    assert decisive(opens, settings, [0.5] * 64) == decisive(opens, settings, [None] * 64) == decisive([], [], []) == ""


def _chance_finds(trials, n=64):
    """Returns how many claims that depend on nothing get a boundary by chance, with 29 unstated parameters."""
    opens = [Open(f"w{i}", 0.5, Span(0.0, 1.0), "") for i in range(20)]
    opens += [Open(f"z{i}", "a", Levels(tuple("abcd"[: 2 + i % 3])), "") for i in range(9)]
    settings, found_any = design(opens, n), 0
    for trial in range(trials):
        rng = random.Random(trial)
        share = (0.5, 0.3, 0.15)[trial % 3]
        found_any += bool(changes_at(opens, settings, [rng.random() < share for _ in settings], seed=trial).boundaries)
    return found_any


def test_looking_at_many_parameters_makes_no_more_turns_of_noise():
    """One in a hundred is allowed; were each of two tests allowed it, and parameters not counted, there would be more."""
    assert binomtest(_chance_finds(8), 8, 0.01, alternative="greater").pvalue > 0.01


@pytest.mark.long
def test_turns_are_found_in_one_of_a_hundred_claims_that_depend_on_nothing():
    found = _chance_finds(100)
    assert binomtest(found, 100, 0.01, alternative="greater").pvalue > 0.01, found


def test_a_turn_below_a_turn_is_no_chance_find():
    """If one parameter decides and the rest is a coin, boundaries below it are chance: in at most one of a hundred trees per layer."""
    opens = [X, *(Open(f"w{i}", 0.5, Span(0.0, 1.0), "") for i in range(19))]
    settings, more = design(opens, 96), 0
    for trial in range(6):
        rng = random.Random(trial)
        found = [rng.random() < (0.9 if w["x"] > 0.5 else 0.1) for w in settings]
        boundaries = changes_at(opens, settings, found, seed=trial).boundaries
        assert boundaries[0].name == "x"
        more += len(boundaries) > 1
    assert more <= 1


def test_two_results_have_the_verdict_of_the_table():
    """The table of docs/papers/README.md, "How a claim is judged"."""
    of = {x: share([True] * round(256 * x) + [False] * (256 - round(256 * x))) for x in (0.02, 0.15, 0.5, 0.85, 0.99)}
    expected = {
        True: ("only_in_paper_setup", "only_in_paper_setup", "depends", "supported", "supported"),
        False: ("contradicted", "contradicted", "depends", "depends", "depends"),
    }
    for here, words in expected.items():
        assert tuple(summarise(here, s, 10) for s in of.values()) == words
    assert summarise(True, share([True] * 39), 10) == "inconclusive"
    assert summarise(True, None, 10) == summarise(None, of[0.99], 10) == "inconclusive"
    assert summarise(True, of[0.99], 10, inconsistent=True) == "inconsistent_in_print"
    assert summarise(True, share([True] * 4), 4, alone=True) == "supported"  # nothing unstated: four runs decide
    assert summarise(False, share([False] * 4), 4, alone=True) == "contradicted"
    assert summarise(True, share([True, True, False]), 3, alone=True) == "inconclusive"


def test_a_grade_names_each_that_its_interval_contains():
    assert [elsewhere(Share(x, x, x, 256)) for x in (0, 0.05, 0.25, 0.75, 0.95, 1)] == [
        "hardly ever", "seldom", "mixed", "mostly", "nearly always", "nearly always",
    ]  # fmt: skip
    assert elsewhere(Share(0.9, 0.85, 0.95, 256)) == "mostly"  # an interval that ends where the next grade begins
    assert elsewhere(Share(0.5, 0.2, 0.8, 12)) == "seldom or mixed or mostly"
    assert summarise(True, Share(0.5, 0.2, 0.8, 60), 10) == "inconclusive"  # three grades are possible


def test_one_run_counted_many_times_says_nothing_of_other_setups():
    assert same_everywhere([1.0] * 9, [0.25] * 9)
    assert not same_everywhere([1.0] * 9, [0.25] * 8 + [0.26])
    assert not same_everywhere([1.0], [0.25])


def test_few_settings_or_silent_ones_decide_nothing():
    assert judge([True] * 39).word == "inconclusive"
    assert judge([True] * 60).word == "inconclusive"  # 94 % is within its interval
    assert judge([True] * 80).word == "holds"
    assert judge([True] * 80 + [None] * 10).word == "inconclusive"
    assert judge([]).word == "inconclusive"


def test_a_share_is_settled_when_more_settings_would_not_change_its_grade():
    assert not settled([True] * 80)
    assert settled([True] * 128)
    assert settled([True, False] * 64)
    assert not settled([True] * 240 + [False] * 16)  # 94 %: mostly, or nearly always


def test_what_a_number_depends_on():
    """In 4 x + y, with x and y uniform over (0, 1), x has 16 of 17 parts of the variance."""
    settings = design([X, Y, Z], 512)
    found = matters([X, Y, Z], settings, [4 * w["x"] + w["y"] for w in settings])
    assert found["x"] == pytest.approx(16 / 17, abs=0.04)
    assert found["y"] == pytest.approx(1 / 17, abs=0.08)
    assert found["z"] < 0.08
    steps = matters([X, Z], settings, [float("abc".index(w["z"])) for w in settings])
    assert steps["z"] == pytest.approx(1.0, abs=0.01)
