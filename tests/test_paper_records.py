"""The record of a paper's settings: written, read, run again; damage is reported."""

from __future__ import annotations

import hashlib
import re
import shutil
from dataclasses import replace

import pytest

from fairlane.errors import PaperError, UnknownNameError
from fairlane.papers import calibration, keys, load, records, reproduce, shipped
from fairlane.papers.boundary_record import record_boundaries, recorded_boundaries
from fairlane.papers.found import Found
from fairlane.papers.joint_sample import boundaries_of, deciding, of_record
from fairlane.papers.recorded import differing, to_repeat
from fairlane.papers.search_record import record_search, recorded_search
from minimal_paper import CLAIMS, resealed, study
from pages import tables_in

pytestmark = pytest.mark.usefixtures("kept_runs")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("settings")
    folder = study(place)
    return reproduce(folder, out=place / "results"), place


def test_a_setting_recorded_is_found_again(made):
    r, place = made
    paper = load(place / "one1999")
    calibration.record(r.joint, paper, r.reach)
    rows = records.recorded(paper)
    assert len(rows) == len(r.joint.seen)
    assert [x["reached"] for x in records.recorded_reach(paper)] == ["yes"] * 7 + ["no"]
    assert rows[3].values == r.joint.seen[3].values
    assert differing(paper, rows[:2] + rows[-1:], place / "again") == []
    rows[1].outcomes["A"] = 1.0 - rows[1].outcomes["A"]
    (found,) = differing(paper, rows[:2], place / "again")
    assert "A" in found
    (paper.folder / "claims.toml").write_text(CLAIMS.replace("< 50", "< 55"))
    with pytest.raises(PaperError, match="another study"):
        records.recorded(load(place / "one1999"))
    study(place)


def test_boundaries_on_record_are_those_of_the_settings(made, tmp_path):
    """A record of other settings does not count, and a damaged one is an error."""
    r, place = made
    folder = tmp_path / "one1999"
    shutil.copytree(place / "one1999", folder)
    paper = load(folder)
    calibration.record(r.joint, paper, r.reach)
    found = {c.id: deciding(of_record(paper), c.id) for c in of_record(paper).claims}
    assert any(boundaries for boundaries, _ in found.values())
    path = record_boundaries(boundaries_of(paper), paper)
    assert dict(of_record(paper).boundaries) == recorded_boundaries(paper) == found
    calibration.record(replace(r.joint, seen=r.joint.seen[:-1]), paper, r.reach)
    assert recorded_boundaries(paper) == {}
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(PaperError, match=r"checksum differs[^$]*calibration"):
        recorded_boundaries(paper)


@pytest.mark.parametrize("key", keys())
def test_boundaries_of_each_study_are_on_record(key):
    """The first claim that depends on something is looked for again."""
    joint = of_record(load(key))
    assert set(joint.boundaries) == {c.id for c in joint.claims}
    claim = next(id for id, (boundaries, _) in joint.boundaries.items() if boundaries or id == joint.claims[-1].id)
    assert deciding(replace(joint, boundaries={}), claim) == joint.boundaries[claim]


def test_a_record_that_is_not_as_it_was_written_is_told(made, tmp_path):
    """In both files a digit changed, a row lost, the checksum removed; and a combination that is not a number."""
    r, place = made
    folder = tmp_path / "one1999"
    shutil.copytree(place / "one1999", folder)
    paper = load(folder)
    calibration.record(r.joint, paper, r.reach)
    for name, read in {"settings.csv": records.recorded, "attainable.csv": records.recorded_reach}.items():
        path = folder / name
        kept = path.read_bytes()
        seal, _, values = kept.partition(b"\n")
        blank = re.sub(rb"[0-9a-f]{64}", b"0" * 64, seal) + b"\n" + values
        assert seal == b"# seal " + hashlib.sha256(blank.replace(b"0" * 64, b"", 1)).hexdigest().encode()
        at = kept.rindex(b",1")
        flipped, short = kept[: at + 1] + b"7" + kept[at + 2 :], kept[: kept.rindex(b"\n", 0, -1) + 1]
        for damaged, expected in ((flipped, "checksum differs"), (short, "checksum differs"), (values, "no checksum")):
            path.write_bytes(damaged)
            with pytest.raises(PaperError, match=expected):
                read(paper)
        path.write_bytes(kept)
        assert read(paper)
    resealed(folder / "settings.csv", lambda text: text[: text.rindex(",")] + ",x\n")
    with pytest.raises(PaperError, match="'x' is not a number"):
        records.recorded(paper)


def test_recorded_settings_stand_for_a_sample_if_some_come_out_again(made, tmp_path):
    """The verdicts are those of the recorded run, though few settings are run; a wrong digit in one of them discards the record."""
    r, _ = made
    folder = study(tmp_path)
    paper = load(folder)
    calibration.record(r.joint, paper, r.reach_of_sample)
    again = reproduce(folder, out=tmp_path / "again")
    assert again.to_json()["settings"]["again"] == again.joint.again == len(to_repeat(records.recorded(paper))) >= 20
    assert again.runs < r.runs / 2
    assert len(again.joint.seen) == len(r.joint.seen)
    assert [j.to_json() for j in again.claims] == [j.to_json() for j in r.claims]
    assert [(x.near, x.settings, x.low) for x in again.reach] == [(x.near, x.settings, pytest.approx(x.low, rel=1e-5)) for x in r.reach]
    page = again.page.read_text("utf-8")
    assert f"{again.joint.again} settings (the first of the sample" in page
    assert "on record" not in r.page.read_text("utf-8")
    assert tables_in(page)[1:] == tables_in(r.page.read_text("utf-8"))[1:]

    def with_row(change):
        def changed(text):
            rows = text.splitlines()
            return "\n".join([*rows[:3], change(rows[0].split(","), rows[3].split(",")), *rows[4:]]) + "\n"

        resealed(folder / "settings.csv", changed)

    def more(names, combinations):
        at = names.index("margin of A")
        return ",".join([*combinations[:at], str(float(combinations[at]) + 0.001), *combinations[at + 1 :]])

    kept = (folder / "settings.csv").read_bytes()
    with_row(more)
    wrong = reproduce(folder, out=tmp_path / "again")
    assert wrong.joint.again == 0 and wrong.runs == r.runs
    assert [j.to_json() for j in wrong.claims] == [j.to_json() for j in r.claims]
    (note,) = wrong.notes
    assert "come out otherwise" in note and "margin of A" in note

    (folder / "settings.csv").write_bytes(kept)
    with_row(lambda _, combinations: ",".join([combinations[0], "xsample", *combinations[2:]]))
    damaged = reproduce(folder, out=tmp_path / "again")
    assert damaged.joint.again == 0 and "'xsample' is not a kind of setting" in damaged.notes[0]


def test_recorded_settings_are_made_anew_whatever_has_changed(made, tmp_path, capsys):
    """With another claim the record is of another study; `--again` runs its settings for the new one, each of its kind."""
    r, _ = made
    folder = study(tmp_path)
    calibration.record(r.joint, load(folder), r.reach_of_sample)
    before = records.recorded(load(folder))
    study(tmp_path, claims=CLAIMS.replace("< 50", "< 55"))
    with pytest.raises(PaperError, match="another study"):
        records.recorded(load(folder))
    calibration.main([str(folder), "--again", "--out", str(tmp_path / "results")])
    now = records.recorded(load(folder))
    assert [(s.kind, s.values, s.distance) for s in now] == [(s.kind, s.values, s.distance) for s in before]
    assert [s.outcomes["A"] for s in now] != [s.outcomes["A"] for s in before]


def test_a_changed_check_is_evaluated_again_alone(made, tmp_path, capsys):
    """The record is the one that all settings give when they are run again; searches for other claims stay. A second change is seen, and
    nothing written."""
    r, _ = made
    folder = study(tmp_path)
    calibration.record(r.joint, load(folder), r.reach_of_sample)
    calibration.record_own(r.claims, load(folder))
    record_boundaries(boundaries_of(load(folder)), load(folder))
    found = Found("A", "", "", "", False, 3, 5, 0.0, -0.5, None, "declared")
    record_search([found, replace(found, claim="B")], load(folder))
    study(tmp_path, claims=CLAIMS.replace("< 50", "< 55"))
    calibration.main([str(folder), "--claim", "A", "--out", str(tmp_path / "one")])
    one = (folder / "settings.csv").read_bytes()
    assert [x.claim for x in recorded_search(load(folder))] == ["B"]
    calibration.main([str(folder), "--again", "--out", str(tmp_path / "all")])
    assert (folder / "settings.csv").read_bytes() == one
    study(tmp_path, claims=CLAIMS.replace("< 50", "< 60").replace("> 20", "> 50"))
    with pytest.raises(PaperError, match="D come"):
        calibration.main([str(folder), "--claim", "A", "--out", str(tmp_path / "one")])
    assert (folder / "settings.csv").read_bytes() == one
    with pytest.raises(UnknownNameError, match="claim"):
        calibration.main([str(folder), "--claim", "AA", "--out", str(tmp_path / "one")])


RECORDED = [k for k in keys() if (shipped() / k / "settings.csv").exists()]
LONG = ("sarpkaya2025", "yang2001")
"""Half a minute each: the tests of these studies compare their quick looks with the record."""


@pytest.mark.parametrize("key", [pytest.param(k, marks=[pytest.mark.long] if k in LONG else []) for k in RECORDED])
def test_settings_that_are_recorded_come_out_as_recorded(key, tmp_path):
    """The documents' statements on settings agree with `settings.csv`: a few settings are run again, and its digest is valid."""
    paper = load(key)
    rows = records.recorded(paper)
    near = [r for r in rows if r.kind == "near"]
    assert rows[0].kind == "base"
    # The base runs in the test of each paper.
    assert differing(paper, [rows[len(rows) // 2], *near[-1:]], tmp_path) == []
