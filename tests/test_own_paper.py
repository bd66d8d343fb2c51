"""A user-defined study: the skeleton runs as it is, and the study made from the guide judges its claims."""

from __future__ import annotations

import json
import shutil
from html import unescape
from math import sqrt

import jsonschema
import pytest

import browser
import fairlane
from conftest import ROOT
from fairlane.base import toml
from fairlane.base.document import json_schema
from fairlane.cli import invoke
from fairlane.papers import Combination, load
from fairlane.papers.animations import MOST, covering
from fairlane.papers.tables import read_csv, read_folder
from fairlane.papers.template import new_paper
from pages import without_charts

MATHIS = ROOT / "examples" / "papers" / "mathis1997"


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    return fairlane.reproduce(MATHIS, quick=True, out=tmp_path_factory.mktemp("mathis"), replays=["rtt=160 loss=1"])


def test_the_published_values_are_those_of_the_equation():
    """Mathis et al. 1997, equation 3: segment size / round trip x C / sqrt(p), C = sqrt(3/2) if each segment is acknowledged."""
    for p in read_csv(MATHIS / "table1.csv"):
        bits_per_s = 1460 * 8 / (float(p["rtt"]) * 1e-3) * sqrt(3 / 2) / sqrt(float(p["loss"]) / 100)
        assert float(p["value"]) == pytest.approx(bits_per_s / 1e6, rel=1e-3)


def test_one_claim_holds_one_fails_one_is_left_to_chance(quick):
    assert {j.claim.id: j.verdict for j in quick.claims} == {"M1": "supported", "M2": "contradicted", "M3": "inconclusive"}
    inverse, equation, chance = quick.claims
    assert (inverse.runs_true, equation.runs_true) == (inverse.runs, 0) and 0 < chance.runs_true < chance.runs
    assert all(j.alone for j in quick.claims)  # this study leaves nothing open: its replications decide
    # What makes the second fail is what theory says: timeouts, where the windows are small.
    assert all(c.true for c in equation.comparisons[:1]) and not equation.comparisons[-1].true
    assert "timeouts" in equation.cause


def test_its_page_and_its_tables_are_whole(quick):
    page = quick.page.read_text("utf-8")
    for name in ("table1", "fig1", "M1", "M2", "M3"):
        assert page.count(f'id="{name}"') == 1, name
    for word in ("http:", "https:", "<script", "@import", "<link", "src="):
        assert word not in without_charts(page).replace("http://www.w3.org/", ""), word
    assert "<caption>loss 0.1 % <span" in page  # [factors] of paper.toml: what a number counts
    assert 'id="contradictions"' not in page and "#contradiction" not in page  # it has none
    assert (quick.folder / "figures" / "fig1.svg").is_file()
    document = json.loads((quick.folder / "reproduction.json").read_text("utf-8"))
    jsonschema.validate(document, json_schema("reproduction"))
    assert document["key"] == "mathis1997" and [e["id"] for e in document["experiments"]] == ["mathis1997/table1", "mathis1997/fig1"]
    tables = read_folder(quick.folder)
    assert all(j.claim.check.outcome(tables) == j.outcome for j in quick.claims)
    published = {(p["rtt"], p["loss"]) for p in read_csv(MATHIS / "table1.csv")}
    assert {(p["rtt"], p["loss"]) for p in read_csv(quick.folder / "table1.csv") if p["metric"] == "throughput"} == published


def test_what_limited_flows_is_told_without_a_run_that_moves(tmp_path):
    """Each run is that of the scenario, and losses hold all flows back: what the study is about. Shares add up to 1."""
    paper = load(MATHIS)
    quick = fairlane.reproduce(MATHIS, quick=True, out=tmp_path, why=True)
    combinations = paper.quick_combinations()
    assert (
        len(combinations) <= MOST and quick.of_all and [w.combination.factors for w in quick.watched] == [c.factors for c in combinations]
    )
    page = unescape(quick.page.read_text("utf-8"))
    assert page.count('id="why"') == 1 and page.count('id="limits"') == 1 and f"The run with seed {quick.seeds[0]} of each scenario" in page
    for one in quick.watched:
        assert one.seed == quick.seeds[0] and one.name in page
        plain = fairlane.Network.from_toml(toml.dumps(one.combination.tree(one.seed))).run(seeds=one.seed)
        assert one.result.fingerprints == plain.fingerprints
        for flow in one.result.why().flows.values():
            assert str(flow) in page
            assert sum(s.mean for s in flow.shares.values()) == pytest.approx(1, abs=1e-12)
            assert flow.shares["avoidance"].mean + flow.shares["recovery"].mean + flow.shares["timeout"].mean > 0.5
    document = quick.to_json()
    jsonschema.validate(document, json_schema("reproduction"))
    assert [w["factors"] for w in document["why"]] == [dict(w.combination.factors) for w in quick.watched]


def test_scenarios_that_are_looked_at_have_all_levels_between_them():
    combinations = [Combination((("queue", q), ("n", n), ("cc", c)), dict) for q in "ab" for n in "123456789" for c in "xyz"]
    few = covering(combinations)
    assert len(few) == 12 and few == sorted(few, key=combinations.index)
    assert {f for c in few for f in c.factors} == {f for c in combinations for f in c.factors}
    # Every queue meets every control.
    assert len({(c["queue"], c["cc"]) for c in few}) == 6
    assert covering(combinations[:12]) == combinations[:12] and covering([]) == []


def test_a_run_moves_in_its_page_and_says_why(quick):
    (moving,) = quick.moving
    page = unescape(quick.page.read_text("utf-8"))
    assert moving.name == "rtt 160, loss 1" and moving.seed == quick.seeds[0] and moving.page in page
    # Losses alone hold these flows back: what the study is about.
    assert all(s in page for s in moving.why.sentences)
    assert quick.page.stat().st_size < 1_500_000
    with pytest.raises(fairlane.FairlaneError, match=r"unknown factor of .*mathis1997.*did you mean 'loss'"):
        fairlane.reproduce(MATHIS, quick=True, out=quick.folder, replays=["lss=1"])
    with pytest.raises(fairlane.FairlaneError, match="level of loss"):
        fairlane.reproduce(MATHIS, quick=True, out=quick.folder, replays=["loss=7"])


@browser.needed
@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_shows_the_page_without_sideways_scrolling(quick, width):
    browser.fits(quick.page, width)


def test_the_skeleton_runs_as_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert invoke(["new", "paper", "mine1999"]) == 0
    output = capsys.readouterr().out
    files = sorted(p.name for p in (tmp_path / "mine1999").iterdir())
    assert files == ["claims.toml", "paper.toml", "parameters.csv", "scenario.toml", "study.py", "table1.csv"]
    assert all(f"mine1999/{name}" in output for name in files) and output.endswith("fairlane reproduce mine1999 --quick\n")
    assert invoke(["reproduce", "mine1999", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, json_schema("reproduction"))
    assert document["key"] == "mine1999" and len(document["claims"]) == 3 and len(document["sensitivity"]) == 2
    page = (tmp_path / "results" / "mine1999" / "index.html").read_text("utf-8")
    assert "<code>fairlane reproduce mine1999</code>" in page and "contradiction-1" in page


def test_the_skeleton_is_what_lies_in_the_package(tmp_path):
    skeleton = ROOT / "python" / "fairlane" / "papers" / "skeleton"
    folder = new_paper("other", tmp_path)
    for file in folder.iterdir():
        assert file.read_bytes() == (skeleton / file.name).read_bytes()


def test_a_folder_can_be_given_away(quick, tmp_path, monkeypatch):
    """Elsewhere, under another name and from a path with a space in it, the numbers are the same."""
    there = tmp_path / "a place" / "renamed"
    shutil.copytree(MATHIS, there)
    monkeypatch.chdir(tmp_path)
    r = fairlane.reproduce(there, only="table1", quick=True)
    assert r.page == (tmp_path / "results" / "renamed" / "table1.html").relative_to(tmp_path)
    of = {e.id: b for e, b in quick.experiments}["table1"]
    assert r.experiments[0][1].comparison.rows == of.comparison.rows
    assert r.to_json()["claims"][0]["experiments"] == ["renamed/table1"]
