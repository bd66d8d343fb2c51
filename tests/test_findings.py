"""The page over all studies: its verdicts are those of the recorded settings, each claim once."""

from __future__ import annotations

import re

import pytest

from conftest import ROOT
from fairlane import papers
from fairlane.papers.claims import read_claims
from fairlane.papers.full_reruns import recorded_whole
from verdicts import script

PAGES = ROOT / "docs" / "papers"
TEXT = (PAGES / "findings.md").read_text("utf-8")


def test_the_verdicts_are_those_of_the_recorded_settings():
    assert script().findings(TEXT) == TEXT, "run: python docs/papers/verdicts.py"


@pytest.mark.parametrize("key", papers.keys())
def test_values_out_of_reach_are_those_of_the_recorded_settings(key):
    page = (PAGES / f"{key}.md").read_text("utf-8")
    assert script().written(key, page) == page, "run: python docs/papers/verdicts.py"


@pytest.mark.parametrize("key", papers.keys())
def test_every_claim_has_one_verdict(key):
    (row,) = re.findall(rf"^\| \[{key}\]\({key}\.md\) \| \d+ \|(.*)\|$", TEXT, re.MULTILINE)
    listed = [i.strip() for cell in row.split("|") for i in cell.split(",") if i.strip()]
    assert sorted(listed) == sorted(c.id for c in read_claims(papers.shipped() / key / "claims.toml"))


def test_figures_of_yang2001_are_those_of_its_page():
    """The numbers that both pages give."""
    page = (PAGES / "yang2001.md").read_text("utf-8")
    for both in ("545", "6.2 %", "61", "106"):
        assert both in page, both
        assert both in TEXT, both


def test_no_setting_of_yang2001_that_was_run_whole_could_have_reached_what_was_asked():
    """Neither the best of them, nor the best means with deviations that chance alone makes. Each queue with its own setting just could."""
    found = recorded_whole(papers.load("yang2001"))
    r = script().reachable(found)
    assert (r["all"], r["needed"], r["last"]) == (545, 273, 240)
    assert all(found.median(n) > 0.07 for n in found.ours)
    assert r["most"] < r["needed"]
    assert r["most"] <= r["mixed"] <= r["needed"]  # the best of 158 settings for each queue of each table, which none has together
    assert r["means"] + r["chance"] < r["needed"]
    assert r["alone"] > r["needed"]  # print can be met as well as one run meets another
