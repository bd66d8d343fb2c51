"""Tables on a terminal: at any width every value is there, no line is longer than the width, and ± stays with its numbers."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from fairlane.look.sheet import Sheet

_WORD = st.text("abcxyz_-é漢", min_size=1, max_size=30)
_NUMBER = st.from_regex(r"[0-9]{1,4}\.[0-9]{1,2}( ± [0-9]\.[0-9])?( Mbit/s)?", fullmatch=True)


@given(
    st.integers(1, 3).flatmap(
        lambda labels: st.tuples(
            st.just(labels),
            st.integers(1, 9).flatmap(
                lambda n: st.tuples(
                    st.lists(_WORD, min_size=labels + n, max_size=labels + n),
                    st.lists(
                        st.tuples(st.lists(_WORD, min_size=labels, max_size=labels), st.lists(_NUMBER, min_size=n, max_size=n)),
                        min_size=1,
                        max_size=5,
                    ),
                )
            ),
        )
    ),
    st.integers(40, 140),
)
@example((2, (["_", "_", "_" * 26 + "漢漢漢漢"], [(["_", "漢"], ["0.0"])])), 40)
def test_nothing_is_lost_or_broken(table, width):
    labels, (heads, rows) = table
    text = Sheet(heads, [[*a, *b] for a, b in rows], labels=labels).text(width)
    assert all(cell_len(line) <= width for line in text.splitlines())
    numbers = re.findall(r"[0-9.]+(?: ± [0-9.]+)?(?: Mbit/s)?", text)
    for _, values in rows:
        for value in values:
            assert value in text
            assert numbers.count(value) >= sum(v == value for _, r in rows for v in r)
    assert not any(line.rstrip().endswith("±") or line.lstrip().startswith("±") for line in text.splitlines())


def test_a_wide_table_stands_below_itself():
    sheet = Sheet(["flow", "goodput", "delay mean"], [["tcp", "1.00 ± 0.10 Mbit/s", "20.1 ± 0.3 ms"]])
    assert sheet.text(80).splitlines() == ["flow             goodput     delay mean", "tcp   1.00 ± 0.10 Mbit/s  20.1 ± 0.3 ms"]
    assert sheet.text(30).splitlines() == [
        "flow             goodput",
        "tcp   1.00 ± 0.10 Mbit/s",
        "",
        "flow     delay mean",
        "tcp   20.1 ± 0.3 ms",
    ]
    assert sheet.text(36).splitlines()[0].split() == ["flow", "goodput"]


@pytest.mark.parametrize("text", ["<b>x</b>", "a & b", '"quoted"', "<script>alert(1)</script>"])
def test_html_is_escaped(text):
    html = str(Sheet([text, "n"], [[text, text]], title=text, note=text).__html__())
    assert text not in html
    assert html.count("&lt;") + html.count("&amp;") + html.count("&quot;") >= 5
