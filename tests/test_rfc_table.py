"""The table of what the RFCs ask for: whole, true to the tests that there are, and its page fresh."""

from __future__ import annotations

import pytest
from validation import rfc


def test_every_rfc_has_its_table() -> None:
    """The list of RFCs and the files are the same."""
    assert sorted(rfc.RFCS) == sorted(int(p.stem) for p in rfc.TABLES.glob("*.toml"))
    assert len(set(rfc.RFCS)) == 18


@pytest.mark.parametrize("number", rfc.RFCS)
def test_rows_are_whole_and_their_tests_exist(number: int) -> None:
    """Each row says all; what is here is shown by a test, what is not has a reason."""
    title, rows = rfc.table(number)
    assert title and rows
    for row in rows:
        assert row.section and row.requirement, row
        assert row.level in rfc.LEVELS and row.answer in rfc.ANSWERS, row
        assert "|" not in "".join((row.section, row.requirement, row.proof)), row
        if row.answer == "no":
            assert len(row.remark) > 10, f"a reason: {row}"
        else:
            assert row.tests, f"a test: {row}"
        if row.answer == "preset":
            assert row.remark, f"which preset or parameter: {row}"
        for test in row.tests:
            assert rfc.exists(test), f"RFC {number} {row.section}: no test {test}"


def test_a_test_that_is_not_there_is_found() -> None:
    """The check can fail."""
    assert rfc.exists("connection::delayed_ack")
    for name in ("connection::delayed", "nowhere::delayed_ack", "pkt/nothing", "py/test_script::nothing", "connection::lines"):
        assert not rfc.exists(name), name


def test_the_page_is_fresh() -> None:
    """`python -m validation.rfc` was run."""
    assert rfc.PAGE.read_text(encoding="utf-8") == rfc.page()
