"""Untrusted studies and plug-ins: commands that run their code and those that do not, names that leave a folder, invalid numbers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import fairlane as fl
from conftest import DUMBBELL
from fairlane.cli import invoke
from fairlane.linux import commands_for, export, scripts
from fairlane.papers import Experiment, Picture

NAMES = (
    "../../../x", "/tmp/x", "a/../../x", "..", ".", "", ".hidden", "a\\b", "a\nb", "a b", "a,b", "x" * 300, "a/b/c", "\x1b[2J", None, 7,
)  # fmt: skip


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user-defined study in the current folder."""
    monkeypatch.chdir(tmp_path)
    assert invoke(["new", "paper", "mine"]) == 0
    return tmp_path / "mine"


def changed(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text, text
    file.write_text(text.replace(old, new, 1), "utf-8")


def error_of(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """Returns the error of a command line that fails."""
    capsys.readouterr()
    assert invoke([*argv]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "Traceback" not in err
    return err


def test_code_of_a_stranger_runs_where_it_is_said_and_nowhere_else(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["reproduce", "mine", "--quick", "-q"]) == 0
    page = (study.parent / "results" / "mine" / "index.html").read_text("utf-8")
    assert "This runs the code of mine/study.py with all rights of your account" in page
    plugin = study.parent / "q.py"
    plugin.write_text("from fairlane import Qdisc\nclass Q(Qdisc):\n    def enqueue(self, p): self.p = p\n    def dequeue(self): pass\n")
    (study.parent / "s.toml").write_text(DUMBBELL.replace('duration = "5s"', 'duration = "2s"'))
    (study.parent / "study.toml").write_text(
        'scenario = "s.toml"\nseeds = "1..2"\nmetrics = ["network.goodput"]\nplugins = ["q.py"]\n[factors]\n"flows.tcp.count" = [1, 2]\n'
    )
    assert invoke(["study", "study.toml", "-q"]) == 0
    (kept,) = (p for p in (study.parent / "results").iterdir() if p.name != "mine")
    assert "q.py with all rights of your account" in (kept / "index.html").read_text("utf-8")
    marked = f"open({str(study.parent / 'ran')!r}, 'w').close()\n"
    for code in (study / "study.py", plugin):
        code.write_text(re.sub("(from __future__.*\n)?", lambda m: m[0] + marked, code.read_text("utf-8"), count=1), "utf-8")
    for argv in (
        ["reproduce"],
        ["reproduce", "--json"],
        ["verify", "results"],
        ["report", "results/mine"],
        ["report", str(kept)],
        ["report", str(kept), "-o", "all.html"],
    ):
        assert invoke(argv) == 0, (argv, capsys.readouterr())
        assert not (study.parent / "ran").exists(), argv
    for argv in (["reproduce", "--help"], ["study", "--help"], ["tune", "--help"], ["run", "--help"], ["--help"]):
        capsys.readouterr()
        invoke(argv)
        assert "all rights of your account" in (found := " ".join(capsys.readouterr().out.split())) or "that you trust" in found, argv


@pytest.mark.parametrize("name", NAMES, ids=lambda n: repr(n)[:20])
def test_no_name_leads_out_of_the_results(name: object, study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for make in (lambda: Picture(name, "", "", []), lambda: Experiment(name, "", "", lambda _: None)):
        with pytest.raises(fl.FairlaneError, match="names files"):
            make()
    changed(study / "study.py", 'Picture("fig1"', f"Picture({name!r}")
    assert re.match(r"error: mine/study.py:\d+: .* cannot name a picture", error_of(capsys, "reproduce", "mine", "--quick"))
    changed(study / "study.py", f"Picture({name!r}", 'Picture("fig1"')
    made = f"    def claim_tables(self, results, built):\n        return {{{name!r}: built['table1'].rows}}\n"
    changed(study / "study.py", "    # Runs", made)
    assert "cannot name a table" in error_of(capsys, "reproduce", "mine", "--quick", "-q")
    assert {p.name for p in study.parent.iterdir()} == {"mine", "results"}


def test_the_results_have_files_of_their_own() -> None:
    for name in ("index", "settings", "attainable", "reproduction", "runs/x", "figures/x"):
        with pytest.raises(fl.FairlaneError, match="cannot name an experiment"):
            Experiment(name, "", "", lambda _: None)
    assert Picture("index", "", "", []).name == "index" and Experiment("table1/C1", "", "", lambda _: None).id == "table1/C1"


# Faults of a published table, by line, and their messages.
TABLES = {
    "a cell of 5 MB": (lambda rows: [*rows[:2], rows[2].replace("DropTail", "x" * 5_000_000), *rows[3:]], 3, "more than 131072 characters"),
    "a quotation mark alone": (lambda rows: [*rows[:2], '"' + rows[2], *rows[3:], "x" * 200_000], 3, "quotation mark"),
    "NaN": (lambda rows: [*rows[:3], re.sub(r",[^,]*,([^,]*)$", r",nan,\1", rows[3]), *rows[4:]], 4, "is nan"),
    "infinite": (lambda rows: [*rows[:3], re.sub(r",[^,]*,([^,]*)$", r",-inf,\1", rows[3]), *rows[4:]], 4, "is -inf"),
    "a cell too many": (lambda rows: [rows[0], rows[1] + ",more", *rows[2:]], 2, "cells for"),
    "a cell too few": (lambda rows: [rows[0], rows[1].rpartition(",")[0], *rows[2:]], 2, "cells for"),
    "a column twice": (lambda rows: [rows[0] + ",metric", *(r + ",x" for r in rows[1:])], 1, "two columns are called 'metric'"),
    "NUL": (lambda rows: [rows[0], rows[1] + "\0", *rows[2:]], 2, "NUL"),
    "an empty line before": (lambda rows: [rows[0], "", rows[1] + ",more", *rows[2:]], 3, "cells for"),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_a_wrong_table_is_told_with_file_and_line(name: str, study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoil, line, words = TABLES[name]
    table = study / "table1.csv"
    table.write_text("\n".join(spoil(table.read_text("utf-8").splitlines())) + "\n", "utf-8")
    output = error_of(capsys, "reproduce", "mine", "--quick")
    assert output.startswith(f"error: mine/table1.csv:{line}: ") and words in output and len(output) < 600, output[:600]
    assert not (study.parent / "results").exists()


def test_tables_may_have_a_byte_order_mark_and_ends_of_lines_of_windows(study: Path) -> None:
    for file in ("table1.csv", "paper.toml", "claims.toml", "scenario.toml", "parameters.csv"):
        data = (study / file).read_bytes()
        (study / file).write_bytes(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"))
    assert invoke(["reproduce", "mine", "--quick", "-q"]) == 0


MEASURES = {
    "NaN": ("float('nan')", r"mine/study.py:\d+: .*senders=.*table table1 is nan, since its measure 'wait' is nan in 3 of 3 runs"),
    "infinite": ("float('inf')", r"mine/study.py:\d+: .*measure 'wait' is inf in 3 of 3 runs"),
    "text": ("'7'", r"mine/study.py:\d+: the measure 'wait' of the combination .* with seed 1 is '7', not a number"),
    "none": ("None", r"the measure 'wait' of the combination .* is None"),
    "a list": ("[1.0] * 100_000", r"the measure 'wait' of .* is \[1.0, .{,60}\.\.\., not a number"),
}


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_that_is_no_number_is_told_with_its_combination(name: str, study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value, words = MEASURES[name]
    text = (study / "study.py").read_text("utf-8")
    (study / "study.py").write_text(re.sub(r'"wait": .*}', f'"wait": {value}}}', text), "utf-8")
    assert re.search(words, error_of(capsys, "reproduce", "mine", "--quick", "-q"))
    assert not (study.parent / "results" / "mine" / "index.html").exists()


def test_only_many_names_a_file_that_can_be(study: Path) -> None:
    from types import SimpleNamespace

    from fairlane.papers.reproduction import _page_name

    many = [SimpleNamespace(id=f"experiment{i}/part") for i in range(100)]
    assert _page_name(many, True) == "experiment0-part-and-99-more.html"  # type: ignore[arg-type]


def test_devices_are_checked_in_python_as_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "s.toml"
    file.write_text(DUMBBELL)
    links = fl.Network.from_file(file).resolve()["expanded"]["links"]
    for dev in ("eth0; rm -rf ~", "$(id)", "a b", "x" * 16, "", "eth0\n", "-x", "../x", None):
        with pytest.raises(fl.FairlaneError, match="not a network device name"):
            export(file, dev=dev)
        with pytest.raises(fl.FairlaneError, match="not a network device name"):
            commands_for(links[0], dev)
        if isinstance(dev, str):
            assert "not a network device name" in error_of(capsys, "tc", str(file), "--dev", dev)
            with pytest.raises(fl.FairlaneError, match="not a network device name"):
                scripts(file, "l", down_dev=dev)
            assert "not a network device name" in error_of(capsys, "tc", str(file), "--down-dev", dev)
    assert "dev eth0.7_x" in export(file, dev="eth0.7_x")[0].commands[0]


def test_a_file_that_cannot_be_written_does_not_say_that_nothing_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first picture exists, the second does not: the message is about the second alone."""
    import resource
    import subprocess
    import sys

    (tmp_path / "s.toml").write_text(DUMBBELL)
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))"
    code = f"{limited}; from fairlane.cli import main; main(['run', 's.toml', '--plot', 'cwnd.png', '--page', 'x.html', '-q'])"
    assert resource.RLIMIT_FSIZE is not None
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "x.html: the file would be larger than allowed; no part of it was written" in done.stderr, done.stderr
    assert {p.name for p in tmp_path.iterdir()} == {"s.toml", "cwnd.png"}


def test_documents_have_no_numbers_that_json_lacks(study: Path) -> None:
    assert invoke(["reproduce", "mine", "--quick", "-q"]) == 0
    json.loads((study.parent / "results" / "mine" / "reproduction.json").read_text("utf-8"), parse_constant=pytest.fail)
