"""The settings of a paper: a small study whose answers are arithmetic.

A flow of 4 Mbit/s crosses a link whose rate is not stated, between 5 and 15 Mbit/s. Its utilization is 4 over the rate: it is below one
half above 8 Mbit/s, and what is published, 40 %, is that of a link of 10 Mbit/s.
"""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from types import SimpleNamespace

import jsonschema
import pytest

from fairlane.base.document import json_schema
from fairlane.errors import FairlaneError, PaperError, ScenarioError
from fairlane.papers import Levels, Open, Span, calibration, full_reruns, load, records, reproduce
from fairlane.papers.distance import fitted
from fairlane.papers.joint_sample import of_settings
from fairlane.papers.recorded import Which
from fairlane.papers.reproduction import run_reproduction
from fairlane.papers.tables import Compared
from fairlane.papers.unstated import pinned
from minimal_paper import CLAIMS, PAPER, STUDY, resealed, study
from pages import tables_in


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("settings")
    folder = study(place)
    return reproduce(folder, out=place / "results"), place


def test_a_claim_turns_where_arithmetic_says(made):
    r, _ = made
    of = {j.claim.id: j for j in r.claims}
    a = of["A"]
    assert a.verdict == "depends"
    assert a.share.low <= 0.7 <= a.share.high  # of 5 to 15 Mbit/s seven tenths lie above 8
    (boundary,) = a.boundaries
    assert (boundary.name, boundary.side) == ("rate", "above")
    assert float(boundary.value.removesuffix("Mbit/s")) == pytest.approx(8, abs=0.3)
    assert (a.depends_on.name, a.depends_on.value, a.here) == ("rate", boundary.value, False)  # the base has 6 Mbit/s
    assert (of["B"].verdict, of["B"].share.share, of["B"].elsewhere) == ("supported", 1.0, "nearly always")
    assert (of["C"].verdict, of["C"].share.share) == ("contradicted", 0.0)
    assert of["D"].verdict == "supported"  # the published 19 % are out of reach: 4 of 15 Mbit/s are 27 %


def test_refinement_finds_the_setting_of_the_published_numbers(made):
    r, _ = made
    best = r.joint.best[0]
    assert float(best.values["rate"].removesuffix("Mbit/s")) == pytest.approx(10, abs=0.3)
    assert best.kind in ("sample", "near")  # the declared setting is the base here
    assert r.joint.matching
    assert all(9 < float(s.values["rate"].removesuffix("Mbit/s")) < 11 for s in r.joint.matching)
    a = next(j for j in r.claims if j.claim.id == "A")
    assert a.share_matching == 1.0
    assert r.joint.matters["rate"] > 0.5 > r.joint.matters["queue"]


def test_refinement_starts_from_the_declared_setting_too(tmp_path):
    """A declared setting that no sample of three comes near; what is found around it counts for print, and not for shares."""
    code = STUDY.replace("most_settings = 80", 'most_settings = 3\n    declared = {"rate": "10Mbit/s", "queue": "red"}')
    r = reproduce(study(tmp_path, code), out=tmp_path / "results")
    kinds = [s.kind for s in r.joint.seen]
    assert kinds == ["base", "sample", "sample", "declared", *["near"] * 24]
    assert len(r.joint.sample) == 3
    best = r.joint.best[0]
    assert float(best.values["rate"].removesuffix("Mbit/s")) == pytest.approx(10, abs=0.05)
    near = [s for s in r.joint.seen if s.kind == "near"]
    one_apart = [s for s in near if len({*s.values.items()} - {*r.joint.declared.items()}) == 1]
    assert len(one_apart) > 6


def test_refinement_goes_on_where_it_stopped(tmp_path):
    """Eight settings of refinement and eight more from the record are sixteen; the page and the reach have those recorded as well."""
    folder = study(tmp_path, STUDY.replace("most_settings = 80", "most_settings = 6"))
    paper = load(folder)
    at_once = run_reproduction(paper, out=tmp_path / "whole", which=Which(refine=16))
    first = run_reproduction(paper, out=tmp_path / "first", which=Which(refine=8))
    calibration.record(first.joint, paper, first.reach)
    second = run_reproduction(paper, out=tmp_path / "second", which=Which(refine=8, on=True))
    assert [s.values for s in second.joint.seen] == [s.values for s in at_once.joint.seen]
    assert [s.outcomes for s in second.joint.seen] == [s.outcomes for s in at_once.joint.seen]
    assert [(x.near, x.settings) for x in second.reach] == [(x.near, x.settings) for x in at_once.reach]
    assert [x.low for x in second.reach] == pytest.approx([x.low for x in at_once.reach], rel=1e-5)


def test_the_document_fits_its_schema_and_has_the_shares(made):
    r, _ = made
    document = json.loads((r.folder / "reproduction.json").read_text())
    jsonschema.validate(document, json_schema("reproduction"))
    assert document["schema"] == "fairlane.reproduction/4"
    a = document["claims"][0]
    assert 0 < a["share_low"] < a["share"] < a["share_high"] < 1
    assert a["changes_at"][0]["name"] == "rate"
    assert a["settings"] == document["settings"]["sample"]
    assert document["claims"][1]["changes_at"] is None
    assert document["settings"]["best"][0]["fit"] < document["settings"]["best"][-1]["fit"] + 1e-12
    assert document["settings"]["best"][0]["test"] is not None


def test_values_alone_have_a_verdict_beside_those_of_the_claims(made):
    r, _ = made
    (table,) = json.loads((r.folder / "reproduction.json").read_text())["experiments"]
    assert table["claims"] == {"A": "depends", "B": "supported", "C": "contradicted", "D": "supported"}
    values = table["values"]
    assert (values["verdict"], values["compared"], values["near"]) == ("inconclusive", 8, 0)  # 19 % were not searched for yet
    (lost,) = values["unreached"]
    assert lost["factors"] == {"n": 8}
    assert 26.6 <= lost["low"] < 28
    rows = list(csv.DictReader((r.folder / "attainable.csv").read_text().splitlines()))
    assert [x["reached"] for x in rows] == ["yes"] * 7 + ["no"]
    shares = [4e6 / float(s.values["rate"].removesuffix("Mbit/s")) / 1e6 for s in r.joint.seen]
    assert int(rows[0]["near"]) == pytest.approx(sum(abs(x / 0.4 - 1) <= 0.15 for x in shares), abs=2)


def test_the_page_shows_the_settings_of_each_claim_and_the_determined_parameters(made):
    r, _ = made
    page = r.page.read_text("utf-8")
    articles = {i: page.split(f'<article class="claim" id="{i}">')[1].split("</article>")[0] for i in "ABCD"}
    n = len(r.joint.sample)
    for i, text in articles.items():
        holds = round(sum(s.outcomes[i] for s in r.joint.sample))
        assert text.count(f"{i}, {n} settings: holds in {holds} of them") == 1 + (i == "A")  # the curve, and the map of what changes it
        summary, shown = text.index("<summary>Margin in all settings"), text.index('class="shares"')
        assert shown < summary  # the share is in view, the rest is folded
    assert "Holds more often with rate above 7." in articles["A"] or "Holds more often with rate above 8" in articles["A"]
    assert 'class="turn"' in articles["A"] and 'class="turn"' not in articles["B"]
    low, high = (f"{100 * x:.0f}" for x in (r.claims[0].share.low, r.claims[0].share.high))
    assert f"{low} to {high} % of {n} settings" in articles["A"]
    assert re.search(r"Holds in 100 % of the \d+ settings that fit the published values best", articles["A"])
    (nearest,) = [t for t in tables_in(page) if t.section == "settings"]
    (rate,) = [c for c in nearest.cells if c.rows == ("rate",) and c.columns == ("1",)]
    assert float(rate.text.removesuffix("Mbit/s")) == pytest.approx(10, abs=0.3)
    (lost,) = [t for t in tables_in(page) if t.section == "unreached"]
    found = {c.columns[-1]: c.text for c in lost.cells}
    assert found["published"] == "19"
    assert 26.6 <= float(found["minimum"]) < 28 and 75 < float(found["maximum"]) <= 80.1  # 4 of 15 and of 5 Mbit/s
    assert all(not t.unscoped and t.caption.strip() for t in tables_in(page))


def test_the_published_values_determine_what_they_depend_on_and_nothing_else():
    rate, queue = Open("rate", 5, Span(1, 100), "not published"), Open("queue", "red", Levels(("red", "droptail")), "not named")

    def pin(o, *values):
        return pinned(o, [SimpleNamespace(values={o.name: v}) for v in values])

    assert pin(rate, 20, 30, 25, 40) == "20 to 40"
    assert pin(rate, 20, 30, 25, 90) == ""  # most of the range
    assert pin(rate, 20, 21, 22) == ""  # three settings say little
    assert (pin(queue, "red", "red", "red", "red"), pin(queue, "red", "red", "red", "droptail")) == ("red", "")


def test_a_second_call_runs_nothing_again(made):
    r, place = made
    again = reproduce(place / "one1999", out=place / "results")
    assert again.reused == again.runs == r.runs
    assert [j.to_json() for j in again.claims] == [j.to_json() for j in r.claims]


def test_tables_run_whole_in_other_settings_are_arithmetic(tmp_path, capsys):
    """4 Mbit/s are two thirds of 6, half of 8 and two fifths of 10 Mbit/s; 40 % is published seven times, and once 19 %."""
    folder = study(tmp_path)
    full_reruns.main([str(folder), "--with", "rate=8Mbit/s", "--with", "rate=10Mbit/s, queue=red", "--out", str(tmp_path / "runs")])
    assert "rate=8Mbit/s" in capsys.readouterr().out
    found = full_reruns.recorded_whole(load(folder))
    assert list(found.ours) == ["declared", "declared, another seed", "rate=8Mbit/s", "rate=10Mbit/s, queue=red"]
    medians = [found.median(n) for n in found.ours]
    assert medians == pytest.approx([2 / 3, 2 / 3, 0.25, 0], abs=0.03)
    assert found.within("rate=10Mbit/s, queue=red", 0.07) == 7
    assert found.within("rate=8Mbit/s", 2) == 8
    assert max(found.chance()) == 0  # nothing in it is left to chance
    for wrong in ("rate", "rats=8Mbit/s", "rate=80Mbit/s", "queue=blue"):
        with pytest.raises(FairlaneError):
            full_reruns.setting_of(load(folder), wrong)
    (folder / "claims.toml").write_text(CLAIMS.replace("< 50", "< 55"))
    with pytest.raises(PaperError, match="another study"):
        full_reruns.recorded_whole(load(folder))


PART = (
    STUDY.replace("n in range(1, 9)", "n in range(1, 8)")
    .replace(
        "return self.setting(self.declared_setting)",
        "return [*self.setting(self.declared_setting), self._combination(8, self.declared_setting)]",
    )
    .replace("def _table(self, results):", "def _table(self, results, name='table1', eighth=False):")
    .replace('"use", "percent")', '"use", "percent", lambda c: (c["n"] == "8") == eighth)')
    .replace('self.published("table1")', "self.published(name)")
    .replace(
        "self._table)]",
        'self._table, lambda c: c["n"] != "8"), '
        'self.experiment("table2", lambda r: self._table(r, "table2", True), lambda c: c["n"] == "8")]',
    )
)
"""A study whose settings have seven of its eight combinations: claim D and the published 19 % are about the eighth."""


def test_claims_that_the_sample_does_not_speak_of_have_shares_from_settings_run_whole(tmp_path, capsys):
    """4 Mbit/s are more than 35 % of every link below 11.43 Mbit/s: 64 % of the settings."""
    first, last = CLAIMS.split('id = "D"')
    claims = first + 'id = "D"' + last.replace("table1", "table2").replace("> 20", "> 35")
    folder = study(tmp_path, PART.replace("most_settings = 80", "most_settings = 48"), claims)
    (folder / "paper.toml").write_text(PAPER + '\n[experiments.table2]\ntitle = "One more"\ntext = "Alone."\n')
    *rows, eighth = (folder / "table1.csv").read_text().splitlines()
    (folder / "table1.csv").write_text("\n".join([*rows, ""]))
    (folder / "table2.csv").write_text("\n".join([rows[0], eighth, ""]))
    full_reruns.main([str(folder), "--first", "5", "--with", "rate=9.99Mbit/s", "--out", str(tmp_path / "runs")])
    few = full_reruns.recorded_whole(load(folder))
    full_reruns.main([str(folder), "--first", "48", "--out", str(tmp_path / "runs")])
    assert capsys.readouterr().out.count("rate=9.99Mbit/s") == 1  # it was there, and is kept
    r = reproduce(folder, out=tmp_path / "results")
    d = r.claims[3]
    kinds = [s.kind for s in r.joint.entire]
    assert (kinds.count("base"), kinds.count("sample"), kinds.count("near")) == (1, 47, 1)  # the last was not sampled
    truth = [4e6 / float(s.values["rate"].removesuffix("Mbit/s")) / 1e4 > 35 for s in r.joint.sample]
    assert d.share.share == pytest.approx(sum(truth) / 48)
    assert d.share.low < 0.643 < d.share.high
    (boundary,) = d.boundaries
    assert (boundary.name, boundary.side, d.verdict) == ("rate", "below", "depends")
    assert float(boundary.value.removesuffix("Mbit/s")) == pytest.approx(4 / 0.35, abs=0.4)
    assert d.whole
    assert [x.reached for x in r.reach] == [True] * 7 + [False] and r.reach[7].settings == 49
    document = json.loads((r.folder / "reproduction.json").read_text())
    jsonschema.validate(document, json_schema("reproduction"))
    assert document["settings"]["whole"] == 48
    assert [c["whole"] for c in document["claims"]] == [False, False, False, True]
    page = r.page.read_text("utf-8")
    assert "of 48 settings rerun in full" in page and "D, 48 settings: holds in" in page

    without, with_few = replace(r.joint, whole=None), replace(r.joint, whole=few)
    assert [x.reached for x in r.reach_of_sample] == [True] * 7 + [None]
    assert of_settings(d, without).share is None
    assert (of_settings(d, with_few).share.n, of_settings(d, with_few).verdict) == (5, "inconclusive")
    for j in r.claims[:3]:  # those are judged as without, in settings made alike
        assert of_settings(j, without).share == j.share and j.share.n == 48

    resealed(folder / "full_reruns.csv", lambda text: text.replace(records.made_of(load(folder)), "0" * 16))
    stale = run_reproduction(load(folder), out=tmp_path / "results", which=Which(2, refine=0))
    assert stale.claims[3].share is None and "another study" in stale.notes[0]


def test_settings_run_whole_are_recorded_one_by_one(tmp_path):
    """Stopped in the third setting it keeps two, and resumes with the others alone."""
    folder = study(tmp_path)
    paper, values = load(folder), []

    def stop(w):
        full_reruns.record(w, paper)
        values.append(list(w.ours)[-1])
        if len(values) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        full_reruns.run_whole(paper, full_reruns.first(paper, 4), tmp_path / "runs", then=stop)
    kept = full_reruns.recorded_whole(paper)
    assert list(kept.ours) == values and len(kept.seen) == 2  # the base, the same with another seed, and one of the sample
    assert [s.kind for s in kept.seen] == ["base", "sample"] and None not in kept.seen[1].margins.values()
    values.clear()
    values += ["", "", ""]
    found = full_reruns.run_whole(paper, full_reruns.first(paper, 4), tmp_path / "runs", kept, then=stop)
    assert len(values) == 5 and len(found.ours) == 5 and len(found.seen) == 4


def test_a_part_of_the_runs_is_never_surer(tmp_path):
    folder = study(tmp_path)
    for kind in ({"quick": True}, {"only": "table1"}, {"seeds": [1]}, {"settings": 20}):
        r = reproduce(folder, out=tmp_path / "results", **kind)
        assert {j.verdict for j in r.claims} == {"inconclusive"}, kind
        assert bool(r.joint) == ("settings" in kind)


def test_a_scenario_that_some_settings_make_invalid_is_one_error_that_names_the_setting(tmp_path):
    wrong = STUDY.replace('"access": {"rate": "100Mbit/s"', '"access": {"rate": "100Mbit/s" if values["queue"] == "droptail" else "soon"')
    with pytest.raises(ScenarioError) as e:
        reproduce(study(tmp_path, wrong), out=tmp_path / "results")
    assert "in the setting rate 6Mbit/s, queue red" in str(e.value)
    assert not (tmp_path / "results").exists()


def test_code_that_fails_in_one_setting_says_in_which(tmp_path):
    wrong = STUDY.replace('return {"use":', '1 / (run.link("bottleneck", "utilisation") > 0.3)\n        return {"use":')
    with pytest.raises(
        PaperError, match=r"study\.py:\d+: ZeroDivisionError: division by zero in the combination n=\d in the setting rate 1\d"
    ):
        reproduce(study(tmp_path, wrong), out=tmp_path / "results", settings=40)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"6Mbit/s", Span', '"16Mbit/s", Span', "rate: the base 16Mbit/s"),
        ("most_settings = 80", 'most_settings = 80\n    declared = {"rat": "6Mbit/s"}', "did you mean 'rate'"),
        ('Open("queue"', 'Open("rate"', "'rate' is declared twice"),
        ("def combinations(self):\n        return", "def combinations(self):\n        return []\n        return", "does not have: n=1"),
    ],
)
def test_what_is_declared_wrongly_is_told_before_anything_runs(tmp_path, old, new, expected):
    assert old in STUDY
    with pytest.raises(PaperError, match=expected):
        reproduce(study(tmp_path, STUDY.replace(old, new)), out=tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_single_runs_are_judged_one_by_one(tmp_path):
    """Two outcomes, half of the runs each: their mean is above, and a claim about every run holds in half of them."""
    code = STUDY.replace('return {"use": 100', 'return {"use": 30 + 30 * self._coin(run) + 0').replace(
        "    def experiments",
        "    single_runs = True\n\n    def _coin(self, run):\n        return int(run.fingerprint[-1], 16) % 2\n\n    def experiments",
    )
    code = code.replace("seeds = (1, 2)", "seeds = tuple(range(1, 41))").replace("    def opens", "    def closed")
    code = code.replace("self.declared_setting", '{"rate": "6Mbit/s", "queue": "droptail"}').replace(
        '"source": {"cbr"', '"spread": "50ms", "source": {"cbr"'
    )
    r = reproduce(study(tmp_path, code), out=tmp_path / "results")
    a = r.claims[0]
    assert a.verdict == "inconclusive"
    assert 0.2 < a.share.share < 0.8
    assert a.share.n == 40


def test_published_values_are_split_by_their_place_alone():
    rows = [Compared((("n", str(n)),), "use", "percent", 40.0, float(x)) for x in (1, 2) for n in range(400)]
    chosen = [fitted(r) for r in rows]
    assert chosen[:400] == chosen[400:]
    assert 0.5 < sum(chosen[:400]) / 400 < 0.7
