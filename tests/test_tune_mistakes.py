"""Mistakes in the file of a search are reported with their place and the fix."""

from __future__ import annotations

import pytest

import fairlane as fl
from fairlane.tuning import Tuning
from tune_cases import TREE, where

pytest.importorskip("optuna")

__all__ = ["where"]

WRONG = [
    ('red = "auto"', 'codle = "auto"', "`codle` is not a queue", "did you mean 'codel'"),
    ('red = "auto"', "red = { mni = { from = 1, to = 2 } }", "unknown key `mni`", "did you mean `min`"),
    ('red = "auto"', 'red = { min = { from = "9p", to = "5p" } }', "the range ends at 5p", "to is larger than from"),
    ('red = "auto"', 'red = { min = { from = "5p", to = "20ms" } }', "of different kinds", "the same unit"),
    ('red = "auto"', 'red = { min = { from = "5p" } }', "`to` is missing", "from ="),
    ('red = "auto"', "red = { max_p = { from = 0, to = 1, scale = \"log\" } }", "a logarithmic range begins above zero", "linear"),
    ('red = "auto"', "red = { max_p = { from = 2, to = 3 } }", "out of range", "0"),
    ('red = "auto"', "red = { max = { of = \"mim\", from = 2, to = 3 } }", "`mim` is not a number or range next to `max`", "same table"),
    ('red = "auto"', "tbf = \"auto\"", "it needs a rate", "write its parameters"),
    ('"flows.tcp.goodput"', '"flows.tcp.godput"', "godput", "goodput"),
    ('"flows.tcp.goodput"', '"flows.tpc.goodput"', "tpc", "did you mean 'tcp'"),
    ('good = "10ms"', 'good = "10Mbit/s"', "expected a value of delay_p99", "20ms"),
    ('good = "10ms"', 'good = "200ms"', "`good` lies below `bad`", ""),
    ("seeds = [11, 12, 13]", "seeds = [2, 12]", "the search sees seed 2 too", "hold out"),
    ('scenario = "stream.toml"', 'scenario = "strem.toml"', "cannot read", "relative to this file"),
    ("set.flows.tcp.count = 2", "set.flows.tcp.cuont = 2", "unknown key `cuont`", "count"),
    ('"droptail{limit=50p}"', '"droptail{limit={from=1p, to=2p}}"', "has no ranges", "[search]"),
    ('"droptail{limit=50p}"', '"droptail{limti=50p}"', "limti", "limit"),
    ("trials = 20", "trails = 30", "unknown key `trails`", "trials"),
    ('[search]\n', '[search]\nlink = { limit = 3 }\n', "`link` is not a queue", ""),
    ("[objectives]", "[constraints]\nlate = \"<= 2s\"\n[objectives]", "late", ""),
    ("[objectives]", "[constraints]\n\"flows.call.loss\" = \"about 2%\"\n[objectives]", "cannot read the bound", "<= 2%"),
    ("trials = 20", 'trials = 20\nlink = "m"', "unknown link 'm'", "l"),
    ('name = "two"', 'name = "alone"', "two scenarios called", "of its own"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected", "help"), WRONG, ids=[w[2][:24] for w in WRONG])
def test_a_mistake_is_told_with_its_place_and_what_to_write(where, old, new, expected, help):
    from fairlane.cli import invoke

    assert old in TREE
    (where / "bad.toml").write_text(TREE.replace(old, new, 1))
    with pytest.raises(fl.FairlaneError) as e:
        Tuning.from_file("bad.toml")
    text = str(e.value)
    assert expected in text and help in text and "bad.toml" in text, text
    assert invoke(["tune", "bad.toml"]) == 2 and not (where / "results").exists()


def test_all_mistakes_come_at_once(where):
    (where / "bad.toml").write_text(TREE.replace('red = "auto"', 'rde = "auto"').replace("goodput", "godput").replace("11, 12", "1, 2"))
    with pytest.raises(fl.ScenarioError) as e:
        Tuning.from_file("bad.toml")
    assert all(x in str(e.value) for x in ("`rde` is not a queue", "godput", "the search sees seed 1 too"))
    assert len(e.value.diagnostics) == 3


@pytest.mark.parametrize("command", ["tune", "study"])
def test_a_line_break_in_a_name_is_told_as_one(where, command, capsys):
    from fairlane.cli import invoke

    study = 'name = "p\\nq"\nscenario = "stream.toml"\nseeds = "1..2"\nmetrics = ["network.jain"]\n'
    (where / "bad.toml").write_text(study if command == "study" else 'name = "p\\nq"\n' + TREE)
    assert invoke([command, "bad.toml"]) == 2 and not (where / "results").exists()
    assert '"p\\nq" cannot name a' in capsys.readouterr().err


class Counted(str):
    """A label that counts how often it is looked at for being another."""

    seen = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Counted.seen += 1
        return str.__eq__(self, other)


def comparisons(many: int) -> int:
    """How often labels are compared while `many` metrics, all of a flow that is not there, are read."""
    import json
    import tomllib

    from fairlane.tuning.reader import _Reader, schema

    tree = tomllib.loads(TREE)
    tree |= {"objectives": {Counted(f"flows.no{i}.loss"): Counted("min") for i in range(many)}, "search": ["droptail"], "baselines": {}}
    defaults = {k: p["default"] for k, p in schema()["properties"].items() if "default" in p}
    reader = _Reader(json.dumps(tree), "many.json", "json", {**defaults, **tree})
    Counted.seen = 0
    with pytest.raises(fl.ScenarioError):
        reader.spec()
    assert len(reader.found) >= many
    return Counted.seen


def test_the_work_of_reading_grows_with_the_file_and_not_with_its_square(where):
    few, many = comparisons(50), comparisons(400)
    assert many <= 10 * (few + 50), (few, many)
