"""The page on statistics: its blocks run in order, and print what the page says."""

import contextlib
import io
import re

import pytest

from conftest import ROOT

PAGE = ROOT / "docs" / "background" / "statistics.md"
BLOCK = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", re.M | re.S)


def outputs() -> list[tuple[str, str]]:
    """Returns the output of each block, and the output on the page."""
    scope: dict[str, object] = {"__name__": "docs"}
    found = []
    for code, shown in BLOCK.findall(PAGE.read_text("utf-8")):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, str(PAGE), "exec"), scope)
        found.append((out.getvalue(), shown))
    return found


@pytest.fixture(scope="module")
def printed():
    return outputs()


def test_the_page_shows_what_its_blocks_print(printed):
    text = PAGE.read_text("utf-8")
    assert len(printed) == text.count("```python") >= 6
    for got, shown in printed:
        assert got == shown
