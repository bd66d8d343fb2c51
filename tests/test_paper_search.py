"""The directed search over the unstated parameters, in a small study whose answers are arithmetic (see `test_paper_settings.py`)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from fairlane.claims import Check
from fairlane.papers import calibration, load, reproduce
from fairlane.papers.joint_sample import of_record
from fairlane.papers.search import main, search
from fairlane.papers.search_record import recorded_search
from fairlane.papers.search_targets import Target, needed, read_alone
from minimal_paper import CLAIMS, study

RARE = """
[[claim]]
id = "E"
statement = "More than 79.6 percent of the link is used."
experiments = ["table1"]
check = 'v("table1", n=1, metric="use") > 79.6'
published = "fails"

[[claim]]
id = "F"
statement = "More than 81 percent of the link is used."
experiments = ["table1"]
check = 'v("table1", n=1, metric="use") > 81'
published = "fails"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """4 Mbit/s are more than 79.6 % of a link below 5.025 Mbit/s, which is one setting in 400; and more than 81 % of none from 5 to 15."""
    place = tmp_path_factory.mktemp("search")
    made = study(place, claims=CLAIMS + RARE)
    calibration.main([str(made), "--settings", "48", "--out", str(place / "results")])
    return made


def rate(found):
    (value,) = re.findall(r"rate=([\d.]+)Mbit/s", found.setting)
    return float(value)


def test_a_search_finds_what_a_sample_misses_and_says_what_came_closest(folder, tmp_path, capsys):
    main([str(folder), "--budget", "48", "--out", str(tmp_path)])
    assert "E: reached" in capsys.readouterr().err
    found = recorded_search(load(folder))
    free = {f.claim: f for f in found if f.claim and not f.constrained}
    kept = {f.claim: f for f in found if f.constrained}
    assert set(free) == {"C", "E", "F"}  # B, A and D hold in more than one setting of twenty
    assert set(kept) == {"E"}  # what holds nowhere does not hold near the published values, either
    assert free["E"].reached == 1 and rate(free["E"]) < 5.03
    assert "queue" not in free["E"].setting  # it does not matter, so it is put back to the declared value
    assert free["E"].median == pytest.approx(1.0, abs=0.05)  # 79.6 % where 40 are published
    assert kept["E"].reached == 0 and free["F"].reached == 0  # a link of 10 Mbit/s has the published values; none below 5 is plausible
    assert -0.05 < free["F"].margin < 0 and rate(free["F"]) < 5.2
    (value,) = [f for f in found if not f.claim]
    assert value.of == "n 8" and not value.holds  # 19 % of a link from 5 to 15 Mbit/s are less than 4 Mbit/s
    assert value.margin == pytest.approx(-(4 / 15 / 0.19 - 1), abs=0.05)  # the fastest link comes closest

    main([str(folder), "--budget", "48", "--out", str(tmp_path)])
    assert recorded_search(load(folder)) == found and not capsys.readouterr().err  # what is on record is not searched for again

    r = reproduce(folder, out=tmp_path / "results")
    document = json.loads((r.folder / "reproduction.json").read_text())
    closest = {c["id"]: c["closest"] for c in document["claims"]}
    assert closest["E"]["reached"] == 1 and closest["F"]["reached"] == 0 and closest["A"] is None
    (table,) = document["experiments"]
    assert table["values"]["verdict"] == "not_reproduced"
    page = r.page.read_text("utf-8")
    assert "found one in which it holds in 5 of 5 runs, whatever the other published values: at rate=" in page
    assert "found none in which it holds; closest: margin" in page


def test_a_search_is_the_same_every_time(folder, tmp_path):
    once, again = (search(load(folder), tmp_path / name, 16, ["F"]) for name in ("a", "b"))
    assert once == again


def test_a_search_runs_what_the_claim_reads():
    """Table 6 of yang2001 is 5 environments x 4 disciplines x 19 ratios; Y26b reads one environment, Y26 four."""
    paper = load("yang2001")
    joint = of_record(paper)
    for id, runs in (("Y26", 16 * 19), ("Y26b", 4 * 19), ("Y28", 12 * 19)):
        (claim,) = [c for c in joint.claims if c.id == id]
        every = needed(paper, Target(id), joint.claims, whole=True)
        assert len(every(joint.declared)) == 20 * 19
        assert len(read_alone(claim, every)(joint.declared)) == runs
    everywhere = replace(claim, check=Check('v("table6", flow="TCP1") > 0'))
    assert len(read_alone(everywhere, every)(joint.declared)) == 20 * 19
    apart = replace(claim, check=Check('1 / (v("table6", env="cc/cc") - v("table6", env="be/be")) > 0'))
    assert read_alone(apart, every) is every  # what it reads is not known without values


@pytest.mark.parametrize(
    "arguments",
    [["search", "sarma203"], ["search", "syla2022", "--with", "foo=1"], ["calibration", "sarma2013", "--claim", "S99"], ["emulator", "x"]],
)
def test_a_mistake_in_the_input_of_a_module_is_one_message(arguments):
    module, *rest = arguments
    done = subprocess.run([sys.executable, "-m", f"fairlane.papers.{module}", *rest], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and not done.stdout
    assert done.stderr.startswith("error: unknown ") and "Traceback" not in done.stderr
