"""The language of claims: the margin of a check follows from its comparisons."""

from __future__ import annotations

import math

import pytest

from fairlane.claims import BadCheck, Check, Tables

TABLES = Tables(
    {"delay": [{"queue": "codel", "value": "1"}, {"queue": "droptail", "value": "4"}], "rate": [{"size": "2000.0", "value": "10"}]},
    spelt={("size", "2kB"): "2000.0"},
)

MARGINS = {
    "v('delay', queue='codel') < v('delay', queue='droptail')": 0.75,
    "v('delay', queue='codel') > v('delay', queue='droptail')": -0.75,
    "not v('delay', queue='codel') > v('delay', queue='droptail')": 0.75,
    "v('delay', queue='codel') == 2": -0.5,
    "v('delay', queue='codel') != 2": 0.5,
    "0 < v('delay', queue='codel') < 2": 0.5,
    "v('delay', queue='codel') < 2 and v('delay', queue='droptail') < 5": 0.2,
    "v('delay', queue='codel') < 2 or v('delay', queue='droptail') < 5": 0.5,
    "all(x < 5 for x in vs('delay'))": 0.2,
    "any(x > 5 for x in vs('delay'))": -0.2,
    "all([v('delay', queue='codel') > 2, True])": -0.5,
    "frac(x < 2 for x in vs('delay')) >= 0.25": 0.5,
    "(1 < 2) if v('delay', queue='codel') > 2 else (4 < 1)": -0.75,
    "v('delay', queue='codel') in (1, 2)": 1.0,
    "True": 1.0,
    "v('rate', size='2kB') > 5": 0.5,
}


@pytest.mark.parametrize("text", MARGINS)
def test_a_margin_is_that_of_the_comparisons_and_has_the_sign_of_the_outcome(text):
    check = Check(text)
    margin = check.margin(TABLES)
    assert margin is not None and math.isclose(margin, MARGINS[text])
    assert check.outcome(TABLES) == ("holds" if margin > 0 else "fails")


def test_what_guards_a_division_still_does():
    """`and` stops at the first that is false; a margin looks at all members, and must not fail where the check does not."""
    zero = Tables({"n": [{"value": "0"}]})
    check = Check("v('n') > 0 and 1 / v('n') > 2")
    assert check.outcome(zero) == "fails" and check.margin(zero) == -1.0


def test_without_data_there_is_no_margin():
    assert Check("v('delay', queue='red') < 1").margin(TABLES) is None
    with pytest.raises(BadCheck, match="2 rows, one expected"):
        Check("v('delay') < 1").margin(TABLES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1 < 2\0", "code 0"), ("not " * 990 + "True", "nested too deeply"), ("-" * 3900 + "1 < 2", "nested too deeply|not an expression")],
)
def test_texts_that_python_does_not_bear(text, expected):
    with pytest.raises(BadCheck, match=expected):
        Check(text)


def test_an_odd_escape_is_not_remarked_on(recwarn):
    Check(r'v("table1", queue="a\l") > 1')
    assert not recwarn.list


def test_a_claim_under_a_condition_says_nothing_elsewhere():
    """The rows that decide if a claim applies are no evidence for it; where it does not apply there is neither outcome nor margin."""
    check = Check("given(v('loss', q='red') > 0, v('loss', q='red') < v('loss', q='fifo'))")

    def tables(red, fifo):
        return Tables({"loss": [{"q": "red", "value": red}, {"q": "fifo", "value": fifo}]})

    assert [check.outcome(tables(*x)) for x in ((1, 2), (2, 1), (0, 1))] == ["holds", "fails", "no-data"]
    assert [check.margin(tables(*x)) for x in ((1, 2), (2, 1), (0, 1))] == [0.5, -0.5, None]
    (seen,) = check.comparisons(tables(1, 2))
    assert (seen.left, seen.right, seen.looked_up) == (1, 2, ("loss[red]", "loss[fifo]"))
    assert check.comparisons(tables(0, 1)) == []
    assert check.tables() == ["loss"] and len(check.lookups()) == 3
    ratio = Check("given(v('loss', q='fifo') > 0, v('loss', q='red') / v('loss', q='fifo') < 1)")
    assert (ratio.outcome(tables(1, 0)), ratio.margin(tables(1, 0)), ratio.comparisons(tables(1, 0))) == ("no-data", None, [])
    for wrong in ("given(1 < 2)", "given", "given(1 < 2, 2 < 3, 3 < 4)", "sorted([given])"):
        with pytest.raises(BadCheck, match=r"given\(CONDITION, CLAIM\)"):
            Check(wrong)
