"""The table of RFC requirements: complete, with existing tests, and its page up to date."""

from __future__ import annotations

import pytest
from validation import rfc
from validation.rfc.count import words


def test_every_rfc_has_its_table() -> None:
    """The list of RFCs and the files are the same."""
    assert sorted(rfc.RFCS) == sorted(int(p.stem) for p in rfc.TABLES.glob("*.toml"))
    assert len(set(rfc.RFCS)) == 18


@pytest.mark.parametrize("number", rfc.RFCS)
def test_rows_are_whole_and_their_tests_exist(number: int) -> None:
    """Each row says all; what is here is shown by a test that names the RFC and the section, what is not has a reason."""
    table = rfc.table(number)
    assert table.title and table.rows
    for row in table.rows:
        assert row.section and row.requirement, row
        assert row.level in rfc.LEVELS and row.answer in rfc.ANSWERS and row.stands_for >= 0, row
        assert "|" not in "".join((row.section, row.requirement, row.proof)), row
        if row.answer == "no":
            assert len(row.remark) > 10 or row.remark.startswith("as "), f"a reason: {row}"
        else:
            assert row.tests, f"a test: {row}"
        if row.answer == "preset":
            assert row.remark or table.switch, f"which preset or parameter: {row}"
        for test in row.tests:
            assert rfc.text(test), f"RFC {number} {row.section}: no test {test}"
            assert rfc.names(test, number, row.place), f"{test} does not say that it is about RFC {number} section {row.place}"


@pytest.mark.parametrize("number", rfc.RFCS)
def test_every_key_word_is_accounted_for(number: int) -> None:
    """Each section of an RFC has as many key words as its rows and its asides (not about a sender or receiver) count."""
    assert rfc.unaccounted(number) == []
    assert all(a.count > 0 and a.about for a in rfc.table(number).aside)
    assert rfc.table(number).words or rfc.table(number).identifiers


def test_a_test_that_is_not_there_is_found() -> None:
    """The check fails for names that do not exist, and for tests of another section."""
    assert "acks(4)" in rfc.text("connection::delayed_ack") and rfc.text("connection::delayed_ack").startswith("/// RFC 5681 section 4.2")
    assert rfc.text("src/scoreboard_tests::sums_equal_definitions") and rfc.text("py/test_script_rfc::test_window_scaling_needs_both")
    for name in ("connection::delayed", "nowhere::delayed_ack", "pkt/nothing", "py/test_script::nothing", "connection::lines"):
        assert not rfc.text(name), name
    assert rfc.names("connection::delayed_ack", 5681, "4.2")
    for number, section in ((5681, "4.1"), (5681, "2"), (5681, "4.2.1"), (5682, "4.2")):
        assert not rfc.names("connection::delayed_ack", number, section), (number, section)


def test_key_words_are_counted_by_section() -> None:
    """In the printed form of an RFC, the paragraph on conventions, tables of contents and page breaks do not count."""
    text = """
Table of Contents

   1.  Conventions ............ 1
   2.  Sending .................2

1.  Conventions

   The key words "MUST", "SHOULD" and "MAY" are those of RFC 2119.

2.  Sending

   A sender MUST send.  It SHOULD
   NOT wait, and MAY sing; a song is NOT REQUIRED.

Someone                      Standards Track                    [Page 1]
\f
RFC 1                          Sending                      January 1999

   It is RECOMMENDED to stop.

2.1  More

   A list:

   1) one that MUST NOT be long

A.1.  Example

   This is REQUIRED.
"""
    assert words(text) == {"2": 3, "2.1": 1, "A.1": 1}


def test_the_page_is_fresh() -> None:
    """`python -m validation.rfc` was run."""
    assert rfc.PAGE.read_text(encoding="utf-8") == rfc.page()
