"""Whatever is wrong with the folder of a study: one message with file and line, exit code 2, nothing written."""

from __future__ import annotations

import os
import re

import pytest

from fairlane.cli import invoke
from fairlane.papers.template import new_paper


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = new_paper("mine1999")
    change(folder, "scenario.toml", 'duration = "30s"\nwarmup = "5s"', 'duration = "2s"\nwarmup = "1s"')
    return folder


def change(folder, name, old, new):
    """Puts `new` in the place of `old`, which must be there."""
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1))


def refused(capsys, *words):
    """Returns the error of `fairlane reproduce mine1999 --quick`: a key and the intended one; the command leaves nothing behind."""
    assert invoke(["reproduce", "mine1999", "--quick", "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "Traceback" not in err and err.startswith("error") and err.count("error:") <= 2, err
    assert not os.path.exists("results")  # noqa: PTH110
    for word in words:
        assert word in err, err


def line_of(folder, name, text):
    return next(i for i, line in enumerate((folder / name).read_text().splitlines(), 1) if text in line)


def test_a_key_that_nothing_has_suggests_near_ones(capsys, mine):
    assert invoke(["reproduce", "sarma2031"]) == 2
    assert "did you mean 'sarma2013'" in capsys.readouterr().err


def test_a_table_that_is_not_utf_8(capsys, mine):
    with (mine / "table1.csv").open("ab") as table:
        table.write(b"table,\xff\xfe\n")
    refused(capsys, "table1.csv:14: this is not UTF-8")


def test_what_a_measure_gives_and_nobody_can_use_is_told_without_a_traceback(capsys, mine):
    text = (mine / "study.py").read_text()
    start = text.index("    def measure")
    (mine / "study.py").write_text(text[:start] + text[start:].replace("        return ", "        _ = ", 1))
    assert invoke(["reproduce", "mine1999", "--quick", "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "Traceback" not in err and "measure() gives NoneType of the combination" in err and "study.py:" in err, err


@pytest.mark.parametrize("name", ["paper.toml", "study.py", "claims.toml"])
def test_a_file_that_is_missing(capsys, mine, name):
    (mine / name).unlink()
    refused(capsys, f"mine1999 is not a study: it lacks {name}")


CODE = [
    ("SENDERS = (2, 5, 10)", "SENDERS = (2, 5, 10", "'(' was never closed"),
    ("SENDERS = (2, 5, 10)", "SENDERS = 1 / 0", "ZeroDivisionError: division by zero"),
    ("SENDERS = (2, 5, 10)", "from .absent import SENDERS", "No module named"),
    ("SENDERS = (2, 5, 10)", "raise SystemExit", "SystemExit"),
    ("class Study(Paper)", "class Study(Papers)", "NameError: name 'Papers'"),
    ("class Study(Paper)", "class Study(object)", "study.py: a study is one subclass of fairlane.papers.Paper; this file defines none"),
    ("for n in SENDERS]", "for n in SENDER]", "NameError: name 'SENDER'"),
    ('self.experiment("table1"', 'self.experiment("tabel1"', "[experiments.tabel1] is not in paper.toml: unknown experiment"),
    ('self.scenario("scenario.toml")', 'self.scenario("net.toml")', "cannot read mine1999/net.toml: no such file"),
    ('t["flows"]["tcp"]["count"]', 't["flows"]["tpc"]["count"]', "KeyError: 'tpc'"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), CODE, ids=[x[1] for x in CODE])
def test_code_that_fails(capsys, mine, old, new, expected):
    change(mine, "study.py", old, new)
    place = "" if expected.startswith("study.py") else f"mine1999/study.py:{line_of(mine, 'study.py', new)}: "
    refused(capsys, place, expected)


def test_a_method_that_is_missing(capsys, mine):
    change(mine, "study.py", "    def measure(", "    def measures(")
    refused(capsys, f"mine1999/study.py:{line_of(mine, 'study.py', 'class Study')}: Study does not define measure()")


def test_two_studies_in_one_file(capsys, mine):
    with (mine / "study.py").open("a") as f:
        f.write("\n\nclass Other(Paper):\n    pass\n")
    refused(capsys, "mine1999/study.py: a study is one subclass of fairlane.papers.Paper; this file defines 2: Study, Other")


def test_two_combinations_with_the_same_factors(capsys, mine):
    change(mine, "study.py", "SENDERS = (2, 5, 10)", "SENDERS = (2, 5, 5)")
    refused(capsys, "two combinations have the factors senders=5, queue=DropTail")


def test_a_scenario_that_cannot_run(capsys, mine):
    change(mine, "study.py", '"red": {"min": "5p"', '"red": {"mni": "5p"')
    refused(capsys, "combination senders=2, queue=RED of mine1999", "mni", "did you mean `min`?")


WORDS = [
    ("claims.toml", "[[claim]]", "[[claim]", "claims.toml:4", ""),
    ("claims.toml", 'id = "C1"', 'di = "C1"', "claims.toml:5", "did you mean `id`?"),
    ("claims.toml", 'id = "C2"', 'id = "C1"', "claims.toml:12", "`C1` is there twice"),
    ("claims.toml", '["table1"]', '["tabel1"]', "claims.toml:7", "unknown experiment 'tabel1'"),
    ("claims.toml", 'v("table1", senders=n', 'v("table9", senders=n', "claims.toml:8", "unknown table 'table9'"),
    ("claims.toml", "for n in [2, 5, 10] for", "for n in [2, 5, 10 for", "claims.toml:8", "not an expression"),
    ("claims.toml", "all(v(", "every(v(", "claims.toml:8", "unknown name 'every'"),
    ("claims.toml", ', metric="use"', "", "claims.toml:8", "2 rows, one expected"),
    ("claims.toml", 'published = "holds"', 'published = "fails"', "claims.toml:9", "on the published tables the check says holds"),
    ("paper.toml", "[experiments.fig2]", "[experiments.fig22]", "study.py", "[experiments.fig2] is not in paper.toml"),
    ("paper.toml", "[experiments.fig2]", '[experiments.fig9]\ntitle = ""\ntext = ""\n[experiments.fig2]', "paper.toml:21", "unknown exper"),
    ("paper.toml", "title = ", "titel = ", "paper.toml:2", "did you mean `title`?"),
    ("paper.toml", 'topology = "fig1"', 'topology = "fig3"', "paper.toml:7", "unknown experiment 'fig3'"),
    ("table1.csv", "99.9,", "99.9 %,", "table1.csv:3", "'99.9 %' is not a number"),
    ("parameters.csv", "parameter,value,status,basis", "parameter,value,basis", "parameters.csv:2", "4 cells for 3 columns"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "place", "expected"), WORDS, ids=[f"{x[0]} {x[2]}" for x in WORDS])
def test_words_and_numbers_that_do_not_fit(capsys, mine, name, old, new, place, expected):
    change(mine, name, old, new)
    refused(capsys, place, expected)


def test_what_fails_in_the_end_keeps_the_runs(capsys, mine):
    """An error after the runs names its line; the runs are there for the next attempt, and no page is."""
    change(mine, "study.py", 'run.link("bottleneck", "sojourn_mean")', 'run.link("bottleneck", "sojourn_maen")')
    assert invoke(["reproduce", "mine1999", "--quick"]) == 2
    out, err = capsys.readouterr()
    line = line_of(mine, "study.py", "sojourn_maen")
    assert out == "" and err.startswith(f"error: mine1999/study.py:{line}: KeyError: 'sojourn_maen'")
    assert not list(mine.parent.glob("results/mine1999/*.*"))
    change(mine, "study.py", "sojourn_maen", "sojourn_mean")
    assert invoke(["reproduce", "mine1999", "--quick"]) == 0
    assert re.search(r"18 runs \(18 from an earlier call\)", capsys.readouterr().out)


@pytest.mark.parametrize("key", ["9lives", "", "a b", "../up", "all", "sarma2013", "mine1999", "ü2000"])
def test_a_new_study_needs_a_free_and_plain_name(capsys, mine, key):
    before = sorted(mine.parent.rglob("*"))
    assert invoke(["new", "paper", key]) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert sorted(mine.parent.rglob("*")) == before
