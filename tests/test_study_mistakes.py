"""Studies that are wrong: every mistake is reported before anything runs, at its place in the file, with what to write instead."""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from pathlib import Path

import pytest

import fairlane as fl
from conftest import DUMBBELL
from fairlane.base.document import json_schema
from fairlane.study import read_study
from fairlane.study.plan import make_plan
from fairlane.study.reader import read_text
from test_study_file import STUDY, plan_of


def replaced(*pairs: str) -> str:
    text = STUDY
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text, old
        text = text.replace(old, new)
    return text


QUEUE = '"links.bottleneck.queue" = ["droptail", "red{min=5p}"]'
RATE = '"links.bottleneck.rate" = ["1Mbit/s", "10Mbit/s"]'

# Name: the study, what the caret marks, the message, the help.
BAD = {
    "unknown key": (replaced("seeds", "sedes"), "sedes", "unknown key `sedes`", "did you mean `seeds`"),
    "key of another command": (replaced("[factors]", "[vary]"), "vary", "unknown key `vary`", "the key is called `factors`"),
    "unknown key of a range": (
        replaced(RATE, 'x = { path = "links.bottleneck.rate", from = "1Mbit/s", to = "2Mbit/s", cuont = 2 }'),
        "cuont",
        "unknown key",
        "did you mean `count`",
    ),
    "a quantity beyond all numbers": (
        replaced('"1Mbit/s", "10Mbit/s"', '"1Mbit/s", "1e400bit/s"'),
        '"1e400bit/s"',
        "too large",
        "with its unit",
    ),
    "no scenario": (replaced('scenario = "dumbbell.toml"', ""), "", "`scenario` is missing", ""),
    "no metrics": (re.sub("metrics = .*", "", STUDY), "", "`metrics` is missing", ""),
    "unknown key of a scenario path": (
        replaced("bottleneck.rate", "bottleneck.rat"),
        '"links.bottleneck.rat"',
        "unknown key `rat`",
        "did you mean `rate`",
    ),
    "unknown link in a path": (
        replaced('"links.bottleneck.rate"', '"links.bottelneck.rate"'),
        '"links.bottelneck.rate"',
        "unknown link `bottelneck`",
        "did you mean `bottleneck`",
    ),
    "unknown link in a bare path": (
        replaced('"links.bottleneck.rate"', "links.bottelneck.rate"),
        "bottelneck",
        "unknown link `bottelneck`",
        "did you mean `bottleneck`",
    ),
    "unknown flow in a path": (
        replaced(RATE, '"flows.tpc.count" = [1, 2]'),
        '"flows.tpc.count"',
        "unknown flow `tpc`",
        "did you mean `tcp`",
    ),
    "unknown section": (
        replaced('"links.bottleneck.rate"', '"lnks.bottleneck.rate"'),
        '"lnks.bottleneck.rate"',
        "unknown key `lnks`",
        "did you mean `links`",
    ),
    "no path": (replaced('"links.bottleneck.rate"', '"links..rate"'), '"links..rate"', "is not a path", "write for instance"),
    "unknown path in set": (
        replaced("[factors]", '[set]\n"links.bottleneck.rat" = "1Mbit/s"\n[factors]'),
        '"links.bottleneck.rat"',
        "unknown key `rat`",
        "`rate`",
    ),
    "bad value in set": (replaced("[factors]", '[set]\nlinks.bottleneck.delay = "5"\n[factors]'), '"5"', "bare number", "unit"),
    "empty factor": (replaced('["1Mbit/s", "10Mbit/s"]', "[]"), "[]", "no levels", "at least one level"),
    "empty levels": (replaced(RATE, "load = { levels = {} }"), "{}", "no levels", ""),
    "a single value": (replaced('["1Mbit/s", "10Mbit/s"]', '"1Mbit/s"'), '"1Mbit/s"', "needs several levels", r'\["1Mbit/s", ...\]'),
    "zip of unequal lengths": (
        replaced("[factors]", '[[zip]]\n"links.bottleneck.delay" = ["1ms", "2ms", "3ms"]\nwarmup = ["0s", "1s"]\n[factors]'),
        '["0s", "1s"]',
        "`links.bottleneck.delay` has 3 levels, `warmup` 2 levels",
        r"\[factors\]",
    ),
    "empty zip": (replaced("[factors]", "[[zip]]\n[factors]"), "", "this zip has no paths", ""),
    "units of a range": (
        replaced('["1Mbit/s", "10Mbit/s"]', '{ from = "1Mbit/s", to = "10ms", count = 3 }'),
        '"10ms"',
        "different units",
        "",
    ),
    "packets to bytes": (
        replaced(RATE, '"links.bottleneck.queue.droptail.limit" = { from = "10p", to = "10kB", count = 3 }', QUEUE, ""),
        '"10kB"',
        "number of packets.*size in bytes",
        "",
    ),
    "no quantity": (
        replaced('["1Mbit/s", "10Mbit/s"]', '{ from = "1Mbit/s", to = "fast", count = 3 }'),
        '"fast"',
        "neither a number nor a quantity",
        "",
    ),
    "range without end": (replaced('["1Mbit/s", "10Mbit/s"]', '{ from = "1Mbit/s", count = 3 }'), "{", "`to` is missing", ""),
    "empty range": (
        replaced('["1Mbit/s", "10Mbit/s"]', '{ from = "1Mbit/s", to = "1000kbit/s", count = 3 }'),
        '"1000kbit/s"',
        "the range is empty",
        "",
    ),
    "no count": (replaced('["1Mbit/s", "10Mbit/s"]', '{ from = "1Mbit/s", to = "2Mbit/s" }'), "{", "`count` or `step`", ""),
    "count and step": (
        replaced('["1Mbit/s", "10Mbit/s"]', '{ from = "1Mbit/s", to = "2Mbit/s", count = 2, step = "1Mbit/s" }'),
        '"1Mbit/s"',
        "not both",
        "",
    ),
    "step that never arrives": (
        replaced('["1Mbit/s", "10Mbit/s"]', '{ from = "1Mbit/s", to = "2Mbit/s", step = "300kbit/s" }'),
        '"300kbit/s"',
        "never arrives.*1.9Mbit/s",
        'to = "1.9Mbit/s"',
    ),
    "step of nothing": (
        replaced('["1Mbit/s", "10Mbit/s"]', '{ from = "1Mbit/s", to = "2Mbit/s", step = "0bit/s" }'),
        '"0bit/s"',
        "never arrives",
        "above 0",
    ),
    "step of another kind": (
        replaced('["1Mbit/s", "10Mbit/s"]', '{ from = "1Mbit/s", to = "2Mbit/s", step = "1ms" }'),
        '"1ms"',
        "is not a rate",
        "",
    ),
    "log of zero": (
        replaced('["1Mbit/s", "10Mbit/s"]', '{ from = "0Mbit/s", to = "2Mbit/s", count = 3, scale = "log" }'),
        '"0Mbit/s"',
        "logarithmic",
        "above zero",
    ),
    "too few whole numbers": (
        replaced(RATE, '"flows.tcp.count" = { from = 1, to = 3, count = 5 }'),
        "5",
        "no 5 different whole numbers",
        "smaller count",
    ),
    "the same path in two factors": (
        replaced("[factors]", '[factors]\nspeed = { path = "links.bottleneck.rate", values = ["2Mbit/s"] }'),
        '"links.bottleneck.rate"',
        "set twice: by the factor `speed`, and by the factor `rate`",
        "zip",
    ),
    "the same path in set": (
        replaced("[factors]", '[set]\nlinks.bottleneck.rate = "2Mbit/s"\n[factors]'),
        '"links.bottleneck.rate"',
        r"set twice: by \[set\], and by the factor `rate`",
        "",
    ),
    "a path inside another": (
        replaced(RATE, '"links.bottleneck.queue.red.min" = ["5p", "6p"]'),
        '"links.bottleneck.queue.red.min"',
        "makes `links.bottleneck.queue` red.*makes it droptail.*undoes",
        "one factor",
    ),
    "the same level twice": (replaced('"10Mbit/s"]', '"10Mbit/s", "1Mbit/s"]'), '"1Mbit/s"', "there twice", "once"),
    "the same level in other words": (
        replaced('"10Mbit/s"]', '"10Mbit/s", "1000kbit/s"]'),
        '"1000kbit/s"',
        '"1Mbit/s" and "1000kbit/s" are the same',
        "",
    ),
    "the name of a metric": (
        re.sub(
            "metrics = .*",
            'metrics = { speed = "network.jain" }',
            replaced(RATE, 'speed = { path = "links.bottleneck.rate", values = ["1Mbit/s"] }'),
        ),
        "speed",
        "a metric has that name",
        "another name",
    ),
    "a column of every table": (
        replaced(RATE, 'seed = { path = "links.bottleneck.rate", values = ["1Mbit/s"] }'),
        "seed",
        "cannot be called `seed`",
        "another name",
    ),
    "the seed as a factor": (replaced(RATE, '"seed" = [1, 2]'), '"seed"', "cannot be varied", "`seeds`"),
    "unknown queue": (replaced('"red{min=5p}"', '"redd{min=5p}"'), '"redd{min=5p}"', "unknown queue 'redd'", "`red`"),
    "unreadable queue": (replaced('"red{min=5p}"', '"red{min}"'), '"red{min}"', "cannot read queues", ""),
    "two queues in one level": (
        replaced('"droptail", "red{min=5p}"', '"droptail,red"'),
        '"droptail,red"',
        "one queue is wanted, found 2",
        '"droptail", "red"',
    ),
    "unknown parameter of a queue": (replaced("min=5p", "minn=5p"), '"red{minn=5p}"', "unknown key `minn`", "`min`"),
    "a level without unit": (replaced('"10Mbit/s"]', '"10"]'), '"10"', "bare number", "10Mbit/s"),
    "unknown metric": (
        replaced("bottleneck.utilisation", "bottleneck.utilization"),
        '"links.bottleneck.utilization"',
        "unknown metric",
        "`utilisation`",
    ),
    "unknown table": (replaced("network.jain", "net.jain"), '"net.jain"', "unknown table", "`network`"),
    "a metric of the hop probe": (
        replaced("network.jain", "flows.udp.router_path_delay_mean"),
        '"flows.udp.router_path_delay_mean"',
        "only with the hop probe",
        "hop_probe = true",
    ),
    "no metric": (re.sub("metrics = .*", "metrics = []", STUDY), "[]", "no metric is named", ""),
    "unknown flow": (replaced("flows.tcp.goodput", "flows.tpc.goodput"), '"flows.tpc.goodput.sum"', "unknown flow", "`tcp`"),
    "unknown link": (
        replaced("links.bottleneck.utilisation", "links.bottelneck.utilisation"),
        '"links.bottelneck.utilisation"',
        "unknown link",
        "`bottleneck`",
    ),
    "a metric twice": (replaced('"network.jain"', '"network.jain", "network.jain"'), '"network.jain"', "there twice", ""),
    "a flow that only some combinations have": (
        replaced(RATE, '"flows.tcp.count" = [1, 2]', "flows.tcp.goodput.sum", "flows.tcp.1.goodput"),
        '"flows.tcp.1.goodput"',
        "2 of 4 lack it, those with count = 1",
        "group",
    ),
    "plot of an unknown column": (STUDY + '[[plots]]\nkind = "line"\nx = "rat"\ny = "utilisation"\n', '"rat"', "no factor `rat`", "`rate`"),
    "plot of an unknown metric": (
        STUDY + '[[plots]]\nkind = "line"\nx = "rate"\ny = "goodputs"\n',
        '"goodputs"',
        "no metric `goodputs`",
        "`",
    ),
    "plot of an unknown kind": (STUDY + '[[plots]]\nkind = "lines"\nx = "rate"\ny = "jain"\n', '"lines"', "unknown value", "`line`"),
    "plot without x": (STUDY + '[[plots]]\nkind = "line"\ny = "jain"\n', "", "needs `x`", ""),
    "heatmap without by": (STUDY + '[[plots]]\nkind = "heatmap"\nx = "rate"\ny = "jain"\n', "", "needs `by`", ""),
    "plots of one name": (STUDY + '[[plots]]\nkind = "ecdf"\ny = "jain"\nname = "a"\n' * 2, '"a"', "two plots", ""),
    "a plot outside of its folder": (STUDY + '[[plots]]\nkind = "ecdf"\ny = "jain"\nname = "../a"\n', '"../a"', "cannot name a file", ""),
    "seeds twice": (replaced('"1..3"', "[1, 2, 1]"), "1", "given twice", ""),
    "seeds twice in text": (replaced('"1..3"', '"1..3,2"'), '"1..3,2"', "given twice", ""),
    "no seeds": (replaced('"1..3"', '"one"'), '"one"', "cannot read seeds", "1..10"),
    "missing base": (
        replaced("dumbbell.toml", "dumbell.toml"),
        '"dumbell.toml"',
        "dumbell.toml: no such file",
        "relative to the study file",
    ),
    "missing plug-in": (
        replaced("seeds", 'plugins = ["no.py"]\nseeds'),
        '"no.py"',
        "plug-in .*no.py. not found",
        "",
    ),
    "a bad name": (replaced("seeds", 'name = "a/b"\nseeds'), '"a/b"', "cannot name a study", ""),
    "precision too wide": (replaced("seeds", 'precision = "200%"\nseeds'), '"200%"', "is not a precision", "2%"),
    "precision in words": (replaced("seeds", 'precision = { relative = "narrow" }\nseeds'), '"narrow"', "is not a precision", "2%"),
    "precision of an unknown metric": (
        replaced("seeds", 'precision = { relative = 0.1, metrics = ["jian"] }\nseeds'),
        '"jian"',
        "no metric `jian`",
        "",
    ),
    "precision upside down": (
        replaced("seeds", "precision = { relative = 0.1, minimum = 9, maximum = 8 }\nseeds"),
        "8",
        "less than the least",
        "",
    ),
    "unknown keep": (replaced("seeds", 'keep = "some"\nseeds'), '"some"', "unknown value", "all, selected"),
    "too many runs": (
        replaced('"1..3"', '"1..900000"', '["1Mbit/s", "10Mbit/s"]', '{ from = "1Mbit/s", to = "9Mbit/s", count = 9 }'),
        "factors",
        r"16,200,000 runs \(2 x 9 x 900000 seeds\)",
        "fewer",
    ),
}


def diagnosis(folder: Path, text: str) -> fl.ScenarioError:
    with pytest.raises(fl.ScenarioError) as e:
        plan_of(folder, text)
    return e.value


@pytest.mark.parametrize("name", BAD)
def test_mistakes_are_shown_at_their_place(name, tmp_path):
    text, marked, message, help = BAD[name]
    error = diagnosis(tmp_path, text)
    assert len(error.diagnostics) == 1, error.rendered
    (d,) = error.diagnostics
    assert d["file"] == str(tmp_path / "study.toml")
    shown = text.splitlines()[d["line"] - 1][d["column"] - 1 : d["end_column"] - 1]
    assert shown == marked or (marked in ("", "{") and shown.startswith(marked)), error.rendered
    assert re.search(message, d["message"]), error.rendered
    assert re.search(help, d["help"]), error.rendered
    assert f"study.toml:{d['line']}:{d['column']}" in error.rendered and (not marked or "^" in error.rendered)


def test_hundreds_of_mistakes_are_counted(tmp_path):
    rates = ", ".join(f'"{k}kbt/s"' for k in range(1, 301))
    error = diagnosis(tmp_path, replaced('"1Mbit/s", "10Mbit/s"', rates))
    assert (len(error.diagnostics), error.more) == (20, 280)
    assert error.rendered.endswith("\nand 280 more\n")


def test_a_scenario_is_no_study(tmp_path):
    error = diagnosis(tmp_path, DUMBBELL)
    assert "this is a scenario, not a study" in error.rendered and "fairlane run" in error.rendered
    assert len(error.diagnostics) == 1


@pytest.mark.parametrize(("name", "expected"), [("nope.toml", "no such file"), (".", "directory")])
def test_a_study_file_that_cannot_be_read(tmp_path, name, expected):
    with pytest.raises(fl.FairlaneError, match=rf"(?s){expected}.*the path of a study"):
        read_study(tmp_path / name)


def test_an_empty_study_file(tmp_path):
    assert "the file is empty" in diagnosis(tmp_path, " \n").rendered


def test_all_mistakes_are_told_at_once(tmp_path):
    text = STUDY.replace("network.jain", "network.jane").replace('"1Mbit/s", "10Mbit/s"', "").replace('"droptail"', '"doptail"')
    error = diagnosis(
        tmp_path, text + '[[plots]]\nkind = "line"\nx = "rate"\ny = "jain"\n[[zip]]\nwarmup = ["0s"]\n"flows.tcp.count" = [1, 2]\n'
    )
    assert len(error.diagnostics) >= 5, error.rendered
    assert [d["line"] for d in error.diagnostics] == sorted(d["line"] for d in error.diagnostics)


def test_a_base_scenario_that_is_wrong_shows_its_own_place(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "dumbbell.toml").write_text(
        DUMBBELL.replace('warmup = "1s"', 'warmup = "1"').replace('stagger = "100ms"', 'stager = "100ms"')
    )
    with pytest.raises(fl.ScenarioError) as e:
        make_plan(read_study(tmp_path / "study.toml"))
    assert [(Path(d["file"]).name, d["line"]) for d in e.value.diagnostics] == [("dumbbell.toml", 4), ("dumbbell.toml", 15)]
    assert e.value.rendered.count("error:") == 2


def test_a_base_scenario_inside_shows_its_place_in_the_study_file(tmp_path):
    inside = "[scenario]\n" + DUMBBELL.strip().replace("[topology", "[scenario.topology").replace("[flows", "[scenario.flows")
    text = STUDY.replace('scenario = "dumbbell.toml"\n', "") + "\n" + inside
    assert len(plan_of(tmp_path, text).combinations) == 4
    wrong = text.replace('warmup = "1s"', 'warmup = "1"').replace('stagger = "100ms"', 'stager = "100ms"')
    error = diagnosis(tmp_path, wrong)
    lines = wrong.splitlines()
    marked = [lines[d["line"] - 1][d["column"] - 1 : d["end_column"] - 1] for d in error.diagnostics]
    assert marked == ['"1"', "stager"]
    assert {d["file"] for d in error.diagnostics} == {str(tmp_path / "study.toml")}


def test_a_level_that_breaks_the_scenario_is_told_once(tmp_path):
    text = STUDY + '"topology.dumbbell.pairs" = [1, 2, 3, 4]\n'
    error = diagnosis(tmp_path, text)
    found = [(text.splitlines()[d["line"] - 1][d["column"] - 1 : d["end_column"] - 1], d["message"]) for d in error.diagnostics]
    # With one pair the second TCP flow has no hosts; with two the UDP flow has none.
    assert [marked for marked, _ in found] == ["1"] * 4 + ["2"] * 2, error.rendered
    assert "the level 1: flow `tcp.1`: unknown node `s1`" in error.rendered
    assert "the level 2: unknown node `s2` (" in error.rendered
    line = next(i for i, x in enumerate(DUMBBELL.splitlines(), 1) if x == 'from = "s2"')
    assert f"dumbbell.toml:{line})" in error.rendered


def test_levels_that_only_together_break_the_scenario(tmp_path):
    text = STUDY + 'duration = ["2s", "9s"]\nwarmup = ["1s", "3s"]\n'
    error = diagnosis(tmp_path, text)
    (d,) = error.diagnostics
    assert text.splitlines()[d["line"] - 1][d["column"] - 1 : d["end_column"] - 1] == '"3s"'
    assert "(with duration = 2s)" in d["message"] and "is not shorter than the duration" in d["message"]


def test_levels_that_only_together_break_the_base(tmp_path):
    text = STUDY + '"topology.dumbbell.pairs" = [3, 4, 5]\n"flows.tcp.count" = [3, 4, 5]\n'
    error = diagnosis(tmp_path, text)
    found = sorted({d["message"].partition(" (")[0] for d in error.diagnostics})
    # Of the nine pairs of levels three lack hosts; what else is varied does not matter.
    assert [s for s in found if "`s" in s] == [
        "pairs = 3 and count = 4 together: flow `tcp.3`: unknown node `s3`",
        "pairs = 3 and count = 5 together: flow `tcp.3`: unknown node `s3`",
        "pairs = 4 and count = 5 together: flow `tcp.4`: unknown node `s4`",
    ]
    assert len(found) == 6


def test_a_missing_value_may_come_from_a_factor(tmp_path):
    (tmp_path / "dumbbell.toml").write_text(DUMBBELL.replace('duration = "5s"', ""))
    (tmp_path / "study.toml").write_text(STUDY + 'duration = ["2s", "3s"]\n')
    assert len(make_plan(read_study(tmp_path / "study.toml")).combinations) == 8


def test_a_level_whose_faults_are_in_a_large_study(tmp_path):
    many = '{ from = "1Mbit/s", to = "90Mbit/s", count = 90 }'
    text = (
        replaced('["1Mbit/s", "10Mbit/s"]', many)
        + '"links.bottleneck.delay" = { from = "1ms", to = "90ms", count = 90 }\nwarmup = ["1s", "6s"]\n'
    )
    error = diagnosis(tmp_path, text)
    (d,) = error.diagnostics
    assert text.splitlines()[d["line"] - 1][d["column"] - 1 : d["end_column"] - 1] == '"6s"'


def test_combinations_that_are_the_same_scenario_are_told(tmp_path):
    plan = plan_of(tmp_path, STUDY.replace('"red{min=5p}"', '"droptail{limit=20p}"'))
    assert plan.warnings == ["the levels droptail and droptail{limit=20p} of queue give the same scenario: 2 combinations computed once"]
    assert len({t.key for _, t in plan.tasks()}) == 6
    assert plan_of(tmp_path, STUDY).warnings == []


ODD = [
    *(True, 0, -1, 1.5, 2**62, "", "x", "1Mbit/s", "2%", "..", '"', "a b", "\0", "seed", "red", "links.bottleneck.rate"),
    *([], {}, [1], [[]], [{}], [None], ["droptail", "DropTail"], {"red": None}, {"": [1]}, {"a": {"b": [1]}}),
    *({"from": 1}, {"from": "1ms", "to": "2ms", "step": "1e-9s"}, {"path": "duration", "from": 1, "to": "x", "count": 2}),
    *({"path": 3}, {"values": {}}, {"levels": 3}, {"levels": {"a": {}}}),
]


def places(tree, at=()):
    if at:
        yield at
    for key, inner in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        yield from places(inner, (*at, key))


def test_whatever_stands_anywhere_is_read_or_told(tmp_path):
    (tmp_path / "lan.toml").write_text(DUMBBELL)
    good = tomllib.loads("\n".join(json_schema("study-file")["x-example"]))
    found = 0
    for k, (at, odd) in enumerate(itertools.product(list(places(good)), ODD)):
        if k % 7:
            continue
        tree = json.loads(json.dumps(good))
        node = tree
        for key in at[:-1]:
            node = node[key]
        node[at[-1]] = odd
        try:
            read_text(json.dumps(tree), str(tmp_path / "study.json"), "json")
        except fl.FairlaneError as e:
            found += 1
            assert str(e).startswith("error: "), str(e)
            assert all(d["message"] and d["help"] and "explain" not in d["help"] for d in e.diagnostics), str(e)
    assert found > 100
