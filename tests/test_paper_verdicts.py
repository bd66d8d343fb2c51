"""Both results of a claim: what a part of the runs says, what the record adds, and what the first sentence makes of them."""

from __future__ import annotations

import random

import pytest

from fairlane import papers
from fairlane.claims import Check, row_of, tables_of
from fairlane.papers.answer import answer, tally
from fairlane.papers.claims import Claim, in_paper_setup
from fairlane.papers.reproduction import _missing, run_reproduction
from fairlane.papers.settings import replications

pytestmark = pytest.mark.usefixtures("kept_runs")
STUDIES = papers.keys()


def _claim(text: str) -> Claim:
    return Claim("X1", "a sentence", ("p/t",), Check(text), "holds", "hold")


def test_the_result_in_the_setup_of_the_paper_counts_its_runs():
    rng = random.Random(7)
    near = [10 + rng.gauss(0, 1) for _ in range(10)]
    rows = {"t": [row_of({"n": 1}, "m", near, "ms"), row_of({"n": 2}, "m", [x + 0.02 * i for i, x in enumerate(reversed(near))], "ms")]}
    tables, each = tables_of(rows), replications(rows)
    assert len(each) == 10

    def result(text):
        j = in_paper_setup(_claim(text), tables, each)
        return j.here, j.runs_true, j.runs

    assert result('v("t", n=1) < 20') == (True, 10, 10)
    assert result('v("t", n=1) > 20') == (False, 0, 10)
    pairs = sum(a < b for a, b in zip(near, [x + 0.02 * i for i, x in enumerate(reversed(near))], strict=True))
    assert result('v("t", n=1) < v("t", n=2)')[1:] == (pairs, 10) and 0 < pairs < 10
    assert result('v("u", n=1) < 20') == (None, 0, 0)
    (seen,) = in_paper_setup(_claim('v("t", n=1) < 20'), tables, each).comparisons
    assert (seen.looked_up, seen.unit) == (("t[1]",), "ms")
    (sum_,) = in_paper_setup(_claim('v("t", n=1) + v("t", n=2) > 3'), tables, each).comparisons
    assert sum_.unit == ""  # a sum is no entry of the table
    assert [c.true for c in Check('all(v("t", n=n) > 20 for n in [1, 2])').comparisons(tables)] == [False, False]


@pytest.mark.parametrize("key", STUDIES)
def test_scenarios_that_a_quick_look_leaves_out_keep_it_open(key):
    study = papers.load(key)
    every, quick = ({c.factors for c in combinations} for combinations in (study.combinations(), study.quick_combinations()))
    found = _missing(study, study.quick_combinations(), study.seeds)
    assert found == ("" if quick >= every else f"{len(quick & every)} of {len(every)} scenarios")
    assert "replications" in _missing(study, study.quick_combinations(), study.quick_seeds)
    assert _missing(study, study.combinations(), range(1, len(study.seeds) + 5)) == ""


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """The folder of both tests below: what the first runs is there for the second."""
    return tmp_path_factory.mktemp("sarma")


def test_a_quick_look_has_the_setup_from_its_runs_and_the_others_from_the_record(out):
    r = papers.reproduce("sarma2013", only="fig7,table1", quick=True, out=out, seeds=[1])
    assert r.missing == "1 of 10 replications"
    assert r.joint is not None and r.joint.again == 0 and len(r.joint.sample) >= 256
    assert not (r.folder / "settings.csv").exists()  # nothing of it was run here
    assert {e["id"].split("/")[1]: e["verdict"] for e in r.to_json()["experiments"]}["table1"] == "reproduced"
    page = r.page.read_text("utf-8")
    assert "The paper's setup was run in part: 1 of 10 replications." in page and "so far" not in page


def test_a_claim_that_rests_on_what_was_left_out_has_no_result_in_the_setup_of_the_paper(out):
    study = papers.load("sarma2013")
    study.seeds = (1,)
    r = run_reproduction(study, only="fig7", out=out)
    assert r.missing == "" and r.claims
    for j in r.claims:
        rest = [e for e in j.claim.experiments if e != "sarma2013/fig7"]
        assert rest and j.here is None and j.verdict == "inconclusive", j.claim.id


def entry(verdict, main=None, name=None):
    return {"verdict": verdict, "main": main, "depends_on": name and {"name": name, "phrase": {"window": "the window"}.get(name)}}


def test_the_first_sentence_counts_the_claims_and_names_the_main_ones():
    of = [
        entry("supported", "RED shortens the queue"), entry("supported"), entry("depends", "TCP gets less", "window"),
        entry("depends", None, "window"), entry("depends", None, "limit"), entry("contradicted"),
    ]  # fmt: skip
    assert answer(of) == (
        "Of the paper's 6 conclusions, 2 are supported, 3 depend on what it does not state (2 of them on the window) and 1 is "
        "contradicted. Its main conclusions: RED shortens the queue (supported); TCP gets less (depends on the window)."
    )
    assert "(all of them on the window)" in answer(of[2:4] + of[:1])
    assert tally([entry("supported")] * 3) == "All of the paper's 3 conclusions are supported."
    assert "depend on what they do not state" in tally(of, several=True)
    assert answer([]) == ""


@pytest.mark.parametrize("key", STUDIES)
def test_every_paper_declares_its_main_conclusions(key):
    from fairlane.papers.claims import read_claims

    main = [c.main for c in read_claims(papers.shipped() / key / "claims.toml") if c.main]
    assert 1 <= len(main) <= 6
    assert all(not m.endswith(".") and not m.startswith("that ") for m in main)


@pytest.mark.parametrize("key", STUDIES)
def test_every_unstated_parameter_has_a_phrase_for_sentences(key):
    study = papers.load(key)
    phrases = study.words["unstated"]
    assert set(phrases) == {o.name for o in study.opens()}
    assert len(set(phrases.values())) == len(phrases) and not any(p.endswith(".") for p in phrases.values())
