"""The browser of the tests: it sees what is wrong with a page, and pages know nothing of one another."""

from __future__ import annotations

import pytest

import browser
from devtools import Driven

pytestmark = browser.needed
PAGE = """<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>body {{ margin: 0 }} td {{ display: block; width: 60px; overflow: hidden; white-space: nowrap }}</style>
<body><details>{hidden}</details><table><tr><td>{cell}</table><svg width="300" height="100" style="display: block; {style}">
<text x="10" y="20" font-size="{size}">one</text><text x="{x}" y="20" font-size="12">two</text></svg></body>"""
GOOD = {"hidden": "", "cell": "short", "style": "", "size": 12, "x": 100}


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    "fault",
    [
        {"hidden": '<div style="width: 1300px">wide</div>'},
        {"style": "margin-left: -20px"},
        {"x": 12},
        {"x": 290},
        {"cell": "longer than its column"},
        {"size": 8},
    ],
    ids=str,
)
def test_a_page_with_one_fault_does_not_fit(fault, width, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(PAGE.format(**GOOD))
    assert browser.fits(page, width)["drawings"] == 1
    page.write_text(PAGE.format(**{**GOOD, **fault}))
    with pytest.raises(AssertionError):
        browser.fits(page, width)


def test_pages_share_a_browser_and_nothing_else(tmp_path):
    (tmp_path / "page.html").write_text("<title>page</title>")
    with Driven() as one, Driven() as other:
        one.open(tmp_path / "page.html")
        one.run("localStorage.setItem('mine', '1'); console.error('mine')")
        other.open(tmp_path / "page.html")
        assert one.run("localStorage.getItem('mine')") == "1" and other.run("localStorage.getItem('mine')") is None
        assert len(one.console) == 1 and other.console == []
        assert len(one.asked) == len(other.asked) == 1
        info = [page.send("Target.getTargetInfo")["targetInfo"] for page in (one, other)]
        assert info[0]["browserContextId"] != info[1]["browserContextId"]
        assert one._browser.process.pid == other._browser.process.pid
    with Driven() as later:
        assert later._browser is one._browser
        assert [t for t in later.send("Target.getTargets")["targetInfos"] if t["targetId"] == info[0]["targetId"]] == []
