"""Studies over settings: claims whose share is known by a formula, on any executor and after interruptions, and mistakes."""

from __future__ import annotations

import json
import math
import re

import jsonschema
import polars as pl
import pytest

import fairlane as fl
from conftest import fairlane
from fairlane.base.document import json_schema
from fairlane.study import Study, StudyResult, load_study, read_study
from fairlane.study.plan import make_plan
from fairlane.study.reader import read_text

# 250 packets of 500 bytes per second, 528 with the headers of UDP and IP, on a link that never has two of them: no queueing.
BITS = 528 * 8
LINK = """
[scenario]
duration = "1s"
links.wire = { from = "a", to = "b", rate = "10Mbit/s", delay = "5ms" }
flows.call = { from = "a", to = "b", udp = {}, source = { cbr = { rate = "1Mbit/s", size = "500B" } } }
"""
STUDY = """
settings = { n = 128 }

[metrics]
used = "links.wire.utilisation"
delay = "flows.call.delay_mean"

[open]
rate = { path = "links.wire.rate", from = "2Mbit/s", to = "20Mbit/s", why = "the line is not named" }
links.wire.delay = { from = "1ms", to = "64ms", scale = "log" }
ecn = { path = "flows.call.udp.ecn", values = ["not_ect", "ect0"] }

[[claims]]
id = "idle"
statement = "The link is used for less than a fifth."
check = "v('used') < 0.2"

[[claims]]
id = "near"
statement = "Packets take less than 8 ms."
check = "v('delay') < 0.008"

[[claims]]
statement = "The line is faster than 1 Mbit/s."
check = "v('rate') > 1e6"

[[claims]]
statement = "Packets are faster than light."
check = "v('delay') <= 0"
"""


def text(study: str = STUDY) -> str:
    return study.replace("\n[metrics]", f"{LINK}\n[metrics]", 1)


def study(n: int = 128) -> Study:
    return Study(read_text(text().replace("n = 128", f"n = {n}"), "settings.toml"))


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> StudyResult:
    return study().run(tmp_path_factory.mktemp("settings"), threads=2)


# --- what is known by a formula ---------------------------------------------------------------------------


def test_a_claim_holds_in_the_share_of_settings_that_a_formula_gives_and_turns_where_it_does(done):
    """The link is used BITS * 250 / rate: a fifth at 5.28 Mbit/s; rates are drawn evenly."""
    idle = done.claims[0]
    threshold = BITS * 250 / 0.2
    expected = (20e6 - threshold) / 18e6
    assert idle.share is not None and idle.share.n == 128
    assert idle.share.low < expected < idle.share.high and abs(idle.share.share - expected) < 0.03
    assert idle.verdict == "depends" and idle.explained > 0.95
    (at,) = idle.boundaries
    assert (at.name, at.side) == ("rate", "above") and abs(float(str(at.value).removesuffix("Mbit/s")) * 1e6 - threshold) < 0.3e6
    assert max(idle.matters, key=lambda k: idle.matters[k]) == "rate" and idle.matters["rate"] > 0.8
    # Between the base and any other setting, the margin is that of the formula.
    settings = done.settings()
    for rate, margin in settings.select("rate", "idle margin").head(8).iter_rows():
        used = BITS * 250 / rate
        assert margin == pytest.approx((0.2 - used) / max(0.2, used), abs=0.02)


def test_a_range_on_a_logarithmic_scale_is_drawn_evenly_by_its_logarithm(done):
    """Packets take BITS / rate and the delay of the wire: at the mean of 1 / rate, 0.54 ms of 8."""
    near = done.claims[1]
    expected = math.log((8e-3 - BITS * math.log(10) / 18e6) / 1e-3) / math.log(64)
    assert near.share is not None and near.share.low < expected < near.share.high
    assert near.boundaries[0].name == "wire.delay" and near.boundaries[0].side == "below"
    assert 6.9 < float(str(near.boundaries[0].value).removesuffix("ms")) < 8.1
    assert done.matters("delay")["wire.delay"] > 0.8 > 0.2 > done.matters("delay")["ecn"]


def test_claims_that_are_always_or_never_true_depend_on_nothing(done):
    always, never = done.claims[2:]
    assert (always.id, always.verdict, always.boundaries) == ("C3", "holds", ())
    assert (never.id, never.verdict, never.share.share) == ("C4", "fails", 0.0)
    assert never.share.high < 0.05 < 0.95 < always.share.low


def test_tables_have_a_column_for_all_that_is_left_open(done):
    assert done.runs().columns == ["setting", "rate", "wire.delay", "ecn", "seed", "used", "delay"]
    settings = done.settings()
    assert settings.height == 128 and settings["rate"].is_between(2e6, 20e6).all() and settings["wire.delay"].is_between(1e-3, 64e-3).all()
    assert sorted(settings["ecn"].unique()) == ["ect0", "not_ect"]
    runs = done.runs().join(settings, on="setting", suffix="_setting")
    assert (runs["rate"] == runs["rate_setting"]).all()
    # What a run was given is what its row says: the resolved scenario has the same rate.
    plan = study(16).plan()
    for combination, rate in zip(plan.combinations, settings["rate"].head(16), strict=True):
        assert json.loads(combination.resolved)["links"]["wire"]["rate"] in (f"{rate / 1e6:g}Mbit/s", rate)


# --- however it was run -----------------------------------------------------------------------------------


def test_more_settings_go_on_from_fewer_and_processes_give_the_same(done, tmp_path):
    few = study(40).run(tmp_path / "a", threads=1)
    assert few.tally is not None and few.tally.reused == 0
    more = study(128).run(tmp_path / "a", processes=2)
    assert more.tally is not None and (more.tally.reused, more.tally.done) == (40, 128)
    assert more.settings().equals(done.settings()) and more.runs().equals(done.runs())
    assert [c.to_json() for c in more.claims] == [c.to_json() for c in done.claims]
    assert few.settings().select("rate").equals(done.settings().head(40).select("rate"))


def test_the_folder_alone_gives_the_same_claims(done):
    again = load_study(done.folder)
    assert [c.to_json() for c in again.claims] == [c.to_json() for c in done.claims]
    assert again.settings().equals(done.settings())


def test_a_part_of_the_runs_is_never_surer_than_all_of_them(done):
    """Nothing is known of settings that are not run yet, whatever the others say."""
    status = pl.when(pl.col("combination") < 100).then(pl.col("status")).otherwise(pl.lit("open"))
    part = StudyResult(done.spec, done.combinations, done._store, done.index.with_columns(status.alias("status")))
    assert [c.verdict for c in part.claims] == ["inconclusive"] * 4
    assert [c.share.n for c in part.claims] == [100, 100, 128, 100]  # the third reads what was drawn, and no run
    assert part.claims[2].so_far == "holds" and "preliminary (28 runs of 128 not run yet)" in part.claims[2].reason


def test_few_settings_settle_nothing(done):
    few = study(20).run()
    assert {c.verdict for c in few.claims} == {"inconclusive"}
    assert "of the 40 settings needed" in few.claims[2].reason


def test_a_study_has_no_more_settings_than_there_are(tmp_path):
    small = text().replace('from = "2Mbit/s", to = "20Mbit/s"', 'values = ["2Mbit/s", "20Mbit/s"]')
    small = re.sub(r"links.wire.delay = .*", "", small).replace("check = \"v('rate') > 1e6\"", 'check = "True"')
    result = Study(read_text(small, "x.toml")).run(tmp_path)
    assert result.settings().height == 4 and len(result.combinations) == 4
    assert any("only 4 different settings, 128 were asked for" in w for w in result.warnings)


# --- with factors, and without settings -------------------------------------------------------------------------

SIZES = """
[factors]
size = { path = "flows.call.source.cbr.size", values = ["250B", "1kB"] }
"""


def test_levels_are_compared_in_each_setting_and_are_spelt_as_anybody_would():
    claims = """
[[claims]]
statement = "Small packets use more of the link."
check = "v('used', size='250B') > v('used', size=1000)"
"""
    spec = text(STUDY.split("[[claims]]", maxsplit=1)[0] + SIZES + claims).replace("n = 128", "n = 80")
    result = Study(read_text(spec, "x.toml")).run()
    assert result.claims[0].verdict == "holds" and result.claims[0].margins[0] == pytest.approx(1 - (1028 / 1000) / (278 / 250), abs=0.02)
    compared = result.compare("used", "size")
    assert compared["n"].to_list() == [80]  # pairs: each setting with itself
    assert compared["percent"][0] == pytest.approx(100 * ((1028 / 1000) / (278 / 250) - 1), abs=0.5)


def test_without_settings_a_claim_is_judged_on_seeds_drawn_again():
    net = fl.Network(duration="2s").link("a", "b", rate="1Mbit/s", delay="5ms", queue="droptail")
    net.flow("tcp", "a", "b", udp={}, source={"poisson": {"rate": "900kbit/s", "size": "500B"}})
    claims = [
        {"statement": "A fast link has shorter queues.", "check": "v('queue', rate='4Mbit/s') < v('queue', rate=1e6)"},
        {"statement": "It is the other way round.", "check": "v('queue', rate='4Mbit/s') > v('queue', rate='1Mbit/s')"},
        {"id": "chance", "statement": "Poisson sources are above their mean.", "check": "v('goodput', rate='4Mbit/s') > 900000"},
    ]
    made = Study(
        net, factors={"links.a-b.rate": ["1Mbit/s", "4Mbit/s"]}, seeds="1..8", claims=claims,
        metrics={"queue": "links.a-b.queue_mean", "goodput": "flows.tcp.goodput"},
    )  # fmt: skip
    result = made.run()
    assert [c.verdict for c in result.claims] == ["holds", "fails", "inconclusive"]
    assert [c.share for c in result.claims] == [None] * 3 and result.claims[0].support == 1.0 and result.settings().is_empty()
    assert 0 < result.claims[2].support < 1
    (few,) = {c.verdict for c in Study(read_text(made.to_toml().replace("1..8", "1..5"), "x.toml")).run().claims}
    assert few == "inconclusive"


def test_a_study_in_python_is_the_same_as_its_file(done):
    tree = dict(settings={"n": 128}, metrics={"used": "links.wire.utilisation"}, claims=[{"statement": "s", "check": "v('used') < 1"}])
    network = {
        "duration": "1s", "links": {"wire": {"from": "a", "to": "b", "rate": "10Mbit/s", "delay": "5ms"}},
        "flows": {"call": {"from": "a", "to": "b", "udp": {}, "source": {"cbr": {"rate": "1Mbit/s", "size": "500B"}}}},
    }  # fmt: skip
    left = {
        "rate": {"path": "links.wire.rate", "from": "2Mbit/s", "to": "20Mbit/s"},
        "links.wire.delay": {"from": "1ms", "to": "64ms", "scale": "log"},
        "ecn": {"path": "flows.call.udp.ecn", "values": ["not_ect", "ect0"]},
    }
    made = Study(network, open=left, **tree)
    assert made.spec.settings.values == done.spec.settings.values
    assert read_text(made.to_toml(), "x.toml").settings == made.spec.settings


# --- what people see --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli")
    (path / "wire.toml").write_text(text().replace("n = 128", "n = 48"))
    return path


def test_the_command_tells_and_writes_it_all(finished):
    shown = fairlane("study", "wire.toml", cwd=finished, timeout=600)
    assert (shown.returncode, shown.stderr) == (0, "")
    out = " ".join(shown.stdout.split())
    assert "wire: 48 settings, 48 combinations, 48 runs" in out
    assert "◐ idle: The link is used for less than a fifth. depends: holds in" in out and "it depends on rate above 5." in out
    assert re.search(r"^rate +\d+ % +0 % ", shown.stdout, re.M)
    files = {p.relative_to(finished / "results/wire").as_posix() for p in (finished / "results/wire").rglob("*")}
    assert {"settings.csv", "plots/claim-idle-settings.svg", "plots/claim-near-map.svg", "index.html"} <= files
    page = (finished / "results/wire/index.html").read_text()
    assert "The link is used for less than a fifth." in page and 'class="badge depends"' in page and "the line is not named" in page
    document = json.loads(fairlane("study", "wire.toml", "--json", cwd=finished, timeout=600).stdout)
    jsonschema.validate(document, json_schema("study"))
    assert document["runs"]["reused"] == 48 and [c["verdict"] for c in document["claims"]][:2] == ["depends", "depends"]
    assert document["claims"][0]["changes_at"][0]["name"] == "rate" and document["claims"][2]["changes_at"] is None
    assert document["study"]["settings"]["open"][0] | {"why": ""} == {
        "name": "rate", "base": "11Mbit/s", "low": "2Mbit/s", "high": "20Mbit/s", "scale": "linear", "step": None, "unit": "bit/s",
        "why": "", "choices": [], "paths": ["links.wire.rate"],
    }  # fmt: skip


def test_a_dry_run_names_what_is_left_open(finished):
    out = fairlane("study", "wire.toml", "--dry-run", "--out", "other", cwd=finished, timeout=600).stdout
    assert "48 settings, 48 combinations" in out and "wire.delay: 1ms to 64ms, logarithmic (varied)" in out and "ecn: not_ect, ect0" in out
    assert not (finished / "other").exists()


# --- mistakes ---------------------------------------------------------------------------------------------

RATE = 'from = "2Mbit/s", to = "20Mbit/s"'
# Old text; new text; the text that the caret marks; the message; the help.
BAD = {
    "no range": ('to = "20Mbit/s", why', 'upto = "20Mbit/s", why', "", "upto", "unknown key `upto`"),
    "wrong order": (RATE, 'from = "20Mbit/s", to = "2Mbit/s"', '"2Mbit/s"', "begins", "lower end"),
    "two kinds": (RATE, 'from = "2Mbit/s", to = "20ms"', '"20ms"', "different units", "units of one kind"),
    "no quantity": (RATE, 'from = "slow", to = "20Mbit/s"', '"slow"', "neither a number nor a quantity", "10Mbit/s"),
    "log of nothing": ('from = "1ms", to = "64ms"', 'from = "0s", to = "64ms"', '"0s"', "cannot begin at", "above zero"),
    "log with a step": ('scale = "log"', 'scale = "log", step = "1ms"', '"1ms"', "no step", "leave `step` out"),
    "base outside": (RATE, f'base = "1Mbit/s", {RATE}', '"1Mbit/s"', "does not lie in the range", "from 2Mbit/s to 20Mbit/s"),
    "one choice": ('["not_ect", "ect0"]', '["ect0"]', "{ path", "a parameter with one value is not varied", "another value"),
    "unknown base": ('values = ["not_ect", "ect0"]', 'values = ["not_ect", "ect0"], base = "ce"', '"ce"', "not among the choices", "ect0"),
    "unknown path": ("links.wire.rate", "links.wire.rat", '"links.wire.rat"', "unknown key `rat`", "did you mean `rate`"),
    "unknown link": ("links.wire.delay =", "links.wier.delay =", "wier", "unknown link `wier`", "did you mean `wire`"),
    "end that cannot be": (RATE, 'from = "0bit/s", to = "20Mbit/s"', '"0bit/s"', "", ""),
    "choice that cannot be": ('"ect0"]', '"ect9"]', '"ect9"', "unknown", "ect0"),
    "no settings": ("settings = { n = 128 }", "", "open", "needs settings", "settings = { n = 500 }"),
    "nothing open": (re.search(r"\[open\].*?\n\n", STUDY, re.S)[0], "", "settings", "one setting only", "[open]"),
    "set twice": ("[open]", '[set]\nlinks.wire.rate = "3Mbit/s"\n[open]', "", "is set twice", "once"),
    "taken name": ("rate = {", "used = {", "used", "a metric has that name", "another name"),
    "setting": ('used = "links', 'setting = "links', "", "", ""),
    "unknown metric": ("v('used') <", "v('usd') <", "\"v('usd')", "no metric `usd`", "did you mean `used`"),
    "a choice as a number": ("v('used') <", "v('ecn') <", "\"v('ecn')", "a choice, which has no number", "a check reads"),
    "no factors": ("v('used') <", "v('used', queue='red') <", "\"v('used', queue", "no factor `queue`", "leave it out"),
    "the setting in a check": ("v('used') <", "v('used', setting=3) <", "\"v('used', setting", "in each setting by itself", "leave it out"),
    "no expression": ("v('used') < 0.2", "v('used') <", "\"v('used') <\"", "not an expression", "v('METRIC'"),
    "a forbidden name": ("v('used') < 0.2", "open('x')", "\"open('x')\"", "unknown name 'open'", "v('METRIC'"),
    "a series": ("v('used') < 0.2", "series('used')", "\"series('used')\"", "no table of a series", "queue_p99"),
    "twice the same id": ('id = "near"', 'id = "idle"', '"idle"', 'two claims are called "idle"', "another id"),
    "an id that is a column": ('id = "near"', 'id = "rate"', '"rate"', "cannot be called `rate`", "another id"),
    "an id that is no file": ('id = "near"', 'id = "a/b"', '"a/b"', "cannot name a claim", "letters"),
    "no check": ("check = \"v('used') < 0.2\"", "", "", "`check` is missing", ""),
    "too many": ("n = 128", "n = 1000000", "1000000", "", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_told_at_its_place_before_anything_runs(name):
    old, new, marked, message, help = BAD[name]
    assert old in STUDY
    with pytest.raises(fl.ScenarioError) as e:
        make_plan(read_text(text(STUDY.replace(old, new, 1)), "settings.toml"))
    output = str(e.value)
    assert message in output and help in output
    places = re.findall(r"^ *\d+ \| (.*)\n *\| ( *)(\^+)$", output, re.M)
    assert places, output
    if marked:
        assert any(line[len(space) :].startswith(marked) for line, space, _ in places), output


def test_levels_in_checks_are_those_of_the_study():
    claims = "[[claims]]\nstatement = \"s\"\ncheck = \"v('used', size='2kB') < v('used', size='1kB')\"\n"
    spec = text(STUDY.split("[[claims]]", maxsplit=1)[0] + SIZES + claims)
    with pytest.raises(fl.ScenarioError, match=r"the factor `size` has no level `2kB`"):
        read_text(spec, "x.toml")
    with pytest.raises(fl.ScenarioError, match=r"2 rows, one expected; say which level of `size`"):
        read_text(spec.replace(", size='2kB'", ""), "x.toml")


def test_the_example_says_what_is_true(root):
    """CoDel's delay is set by its target, DropTail's by its buffer; what it costs depends on the distance."""
    spec = read_study(root / "examples/studies/codel_settings.toml")
    assert spec.settings is not None and len(spec.settings.values) == 120
    delay, *_, price = Study(spec).run().claims
    assert delay.verdict == "holds"
    assert price.verdict == "depends" and price.boundaries[0].name == "distance" and price.boundaries[0].side == "below"
