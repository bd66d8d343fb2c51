"""Output of commands: paths are checked before the run, existing files are kept, and names cannot choose other paths."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

import polars as pl
import pytest

import fairlane as fl
from conftest import DUMBBELL, fairlane
from fairlane.base.csv_text import csv_of
from fairlane.claims import row_of
from fairlane.cli import output
from fairlane.errors import FolderError
from fairlane.papers.tables import csv_of_rows

LONG = DUMBBELL.replace('duration = "5s"', 'duration = "500000s"')
"""Would run for many minutes: a command that answers has not run it."""
STUDY = 'name = "s"\nscenario = "long.toml"\nseeds = "1..2"\nmetrics = ["network.jain"]\n'
TUNE = """
name = "t"
link = "bottleneck"
seeds = "1..2"
holdout_seeds = "101..102"
trials = 1
scenario = "long.toml"
[objectives]
delay = { metric = "network.delay_p99", goal = "min", good = "15ms", bad = "100ms" }
[search]
droptail.limit = { from = "5p", to = "50p" }
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "long.toml").write_text(LONG)
    (tmp_path / "short.toml").write_text(DUMBBELL.replace('"5s"', '"2s"'))
    (tmp_path / "s.toml").write_text(STUDY)
    (tmp_path / "t.toml").write_text(TUNE)
    (tmp_path / "there.svg").write_text("mine")
    (tmp_path / "there.html").write_text("mine")
    (tmp_path / "there.pcapng").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder.svg").mkdir()
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "folder.pcapng").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("mine")
    for name, inside in (("study", "plots"), ("study2", "index.html"), ("tuned", "chosen.toml"), ("paper", "figures")):
        (tmp_path / name / ("runs")).mkdir(parents=True)
        if inside == "index.html" or inside == "chosen.toml":
            (tmp_path / name / inside).mkdir()
        else:
            (tmp_path / name / inside).write_text("mine")
    os.mkfifo(tmp_path / "pipe.svg")
    return tmp_path


REFUSED = {
    "plot unknown": ("run long.toml --plot cwmd.svg", "unknown quantity to plot 'cwmd'"),
    "plot of nothing here": ("run long.toml --plot ecn_marks_here.svg", "unknown quantity to plot"),
    "plot exists": ("run long.toml --plot there.svg", "there.svg exists: choose another name, or replace it with --force"),
    "plot no folder": ("run long.toml --plot nowhere/cwnd.svg", "the folder nowhere does not exist"),
    "plot under a file": ("run long.toml --plot file/cwnd.svg", "file is a file, not a folder"),
    "plot is a folder": ("run long.toml --plot folder.svg --force", "folder.svg: it is a folder, not a file"),
    "plot is a pipe": ("run long.toml --plot pipe.svg --force", "pipe.svg: it is a pipe, not a file"),
    "plot twice": ("run long.toml --plot cwnd.svg --plot ./cwnd.svg", "named twice"),
    "plot too long": (f"run long.toml --plot {'x' * 300}.svg", "name too long"),
    "plot ending": ("run long.toml --plot cwnd.gif", "the name must end in .svg"),
    "pcap exists": ("run long.toml --pcap bottleneck=there.pcapng", "there.pcapng exists: choose another name"),
    "pcap folder": ("run long.toml --pcap bottleneck=folder.pcapng --force", "it is a folder, not a file"),
    "pcap nowhere": ("run long.toml --pcap bottleneck=nowhere/x.pcapng", "the folder nowhere does not exist"),
    "pcap unknown": ("run long.toml --pcap bottelneck", "bottelneck"),
    "out exists": ("run long.toml --out other", "other exists: choose another folder, or replace it with --force"),
    "out foreign": ("run long.toml --out other --force", "other is not a result folder"),
    "out under a file": ("run long.toml --out file/x", "file is a file, not a folder"),
    "compare plot": ("compare --scenario long.toml --queues red --plot elipses.svg", "did you mean 'ellipses'"),
    "compare plot exists": ("compare --scenario long.toml --plot there.svg", "there.svg exists"),
    "compare page": ("compare --scenario long.toml --page there.html", "there.html exists: choose another name"),
    "compare page folder": ("compare --scenario long.toml --page folder.html --force", "it is a folder, not a file"),
    "compare page nowhere": ("compare --scenario long.toml --page nowhere/x.html", "the folder nowhere does not exist"),
    "study plots": ("study s.toml --out study", "study/plots: it is a file, not a folder"),
    "study page": ("study s.toml --out study2", "study2/index.html: it is a folder, not a file"),
    "study foreign": ("study s.toml --out other", "not a study's folder, and not empty"),
    "study under a file": ("study s.toml --out file/x", "file is a file, not a folder"),
    "tune": ("tune t.toml --out tuned", "tuned/chosen.toml: it is a folder, not a file"),
    "tune foreign": ("tune t.toml --out other", "not empty: choose another folder"),
    "reproduce figures": ("reproduce sarma2013 --out paper", "paper/figures: it is a file, not a folder"),
    "reproduce foreign": ("reproduce sarma2013 --out other", "other is not the folder of a reproduction, and not empty"),
    "reproduce under a file": ("reproduce sarma2013 --out file/x", "file is a file, not a folder"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_written_is_told_before_anything_is_run(place, case):
    words, expected = REFUSED[case]
    if words.startswith("tune"):
        pytest.importorskip("optuna")
    before = {p: p.stat().st_mtime_ns for p in place.rglob("*")}
    ran = fairlane(*words.split(), cwd=place, timeout=100)
    assert ran.returncode == 2 and ran.stdout == "" and expected in ran.stderr, ran.stderr
    assert "Traceback" not in ran.stderr
    after = {p: p.stat().st_mtime_ns for p in place.rglob("*")}
    assert {p for p in after if not p.is_dir()} == {p for p in before if not p.is_dir()}
    assert all((place / n).read_text() == "mine" for n in ("there.svg", "there.html", "there.pcapng", "file"))


def test_no_permission_is_told_before_anything_is_run(place):
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    (place / "closed").mkdir(mode=0o500)
    for words in ("run long.toml --plot closed/cwnd.svg", "run long.toml --out closed/x", "compare --page closed/x.html"):
        ran = fairlane(*words.split(), cwd=place)
        assert ran.returncode == 2 and "no permission to write in" in ran.stderr


def test_what_exists_is_replaced_with_force_and_what_was_written_is_said(place):
    ran = fairlane("run", "short.toml", "--plot", "queue.svg", "--pcap", "bottleneck", cwd=place)
    assert ran.returncode == 0 and ran.stdout.splitlines()[-1] == "wrote bottleneck.pcapng, queue.svg"
    again = fairlane("run", "short.toml", "--plot", "queue.svg", cwd=place)
    assert again.returncode == 2 and "queue.svg exists" in again.stderr
    first = (place / "queue.svg").read_bytes()
    forced = fairlane("run", "short.toml", "--plot", "queue.svg", "--out", "r", "--force", "--json", cwd=place)
    assert forced.returncode == 0 and json.loads(forced.stdout) and forced.stderr == "wrote r, queue.svg\n"
    assert (place / "queue.svg").read_bytes() == first
    quiet = fairlane("run", "short.toml", "--plot", "queue.svg", "--force", "-q", cwd=place)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    page = ("compare", "--scenario", "short.toml", "--queues", "red,codel", "--seeds", "1,2", "--page", "c.html", "--plot", "queue.svg")
    refused = fairlane(*page, cwd=place)
    assert refused.returncode == 2 and "queue.svg exists" in refused.stderr and not (place / "c.html").exists()
    written = fairlane(*page, "--force", cwd=place)
    assert written.returncode == 0 and written.stdout.splitlines()[-1] == "wrote c.html, queue.svg"


def test_every_declared_quantity_that_a_run_has_can_be_drawn(place):
    """The look before the run takes no name for unknown that the run would draw."""
    from fairlane.cli.figures import check_quantities
    from fairlane.runs.data import LABELS

    result = fl.run(place / "short.toml", 1, sets={"sample": "100ms"})
    names = {c for t in ("flows", "links", "network", "flow_series", "link_series") for c in result.table(t).columns} - {*LABELS, "time"}
    assert len(names) > 40
    check_quantities(str(place / "short.toml"), [], "2s", sorted(names))


def test_a_name_is_tried_though_a_flow_starts_late(place):
    """The look before the run is as long as it takes until every flow has begun, be it most of the run."""
    (place / "late.toml").write_text(
        DUMBBELL.replace('"5s"', '"8s"') + '\n[flows.late]\nfrom = "s0"\nto = "d0"\nstart = "1s"\nudp = {}\nsource.cbr.rate = "1Mbit/s"\n'
    )
    ran = fairlane("run", "late.toml", "--plot", "cwmd.svg", cwd=place)
    assert ran.returncode == 2 and ran.stdout == "" and "unknown quantity to plot 'cwmd'" in ran.stderr


# --- names -----------------------------------------------------------------------------------------------


EVIL = "t\x1b[31mRED\x1b]0;title\x07\x9b2J\u202eabc\x7f $5 and $6 {^}"
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_names_cannot_steer_a_terminal(place):
    (place / "evil.toml").write_text(f"name = {json.dumps(EVIL)}\n" + re.sub(r"^name.*$", "", DUMBBELL.replace('"5s"', '"2s"'), flags=re.M))
    (place / "q.py").write_text(
        "import fairlane\n\nclass Bad(fairlane.Qdisc):\n    def enqueue(self, packet):\n"
        f"        raise RuntimeError({EVIL!r})\n    def dequeue(self):\n        return None\n"
    )
    (place / "study.toml").write_text(
        f'name = "s"\ndescription = {json.dumps(EVIL)}\nscenario = "evil.toml"\nseeds = "1..2"\nmetrics = ["network.jain"]\n'
        f'[factors.queue.levels]\n{json.dumps(EVIL)} = {{ "links.bottleneck.queue" = "red" }}\n'
        'b = { "links.bottleneck.queue" = "codel" }\n'
    )
    (place / "evil.pkt").write_text(f"0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3 // {EVIL}\n+0 no_such_call({EVIL!r}) = 0\n")
    (place / "print.pkt").write_text("%{ print('\\x1b[31mRED\\x07') }%\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n")
    commands = (
        "run evil.toml", "run evil.toml --json", "run evil.toml --plot queue.svg", "run evil.toml --plot goodput.png",
        "run evil.toml --plugin q.py --set links.bottleneck.queue=Bad", f"run evil.toml --set links.{EVIL.replace(' ', '')}=1",
        "compare --scenario evil.toml --queues red,codel --seeds 1,2 --page c.html", "study study.toml", "study study.toml --json",
        "study study.toml --dry-run", "script evil.pkt", "script print.pkt -v", "script evil.pkt --json", "explain \x1b[31m",
        "verify \x1b[31m", "reproduce \x1b[31m",
    )  # fmt: skip
    for command in commands:
        ran = fairlane(*command.split(" "), cwd=place)
        assert ran.returncode in (0, 1, 2) and ("Traceback" not in ran.stderr or "--plugin" in command), command
        for stream in (ran.stdout, ran.stderr):
            assert not CONTROLS.search(stream), (command, stream)
    ET.parse(place / "queue.svg")
    assert EVIL.replace("\u202e", "\\u202e")[-10:] in fairlane("run", "evil.toml", cwd=place).stdout


def test_colours_on_a_terminal_are_ours_alone():
    from rich.text import Text

    styled = output.Styled("\x1b[1mbold\x1b[0m")
    assert str(styled + "\x1b[2J") == "\x1b[1mbold\x1b[0m\\x1b[2J"
    assert "\\x1b[31mx" in output.render(Text("\x1b[31mx"))
    assert "a [/x] b" in output.render("a [/x] b")


def test_a_title_makes_no_link(monkeypatch):
    monkeypatch.setattr(output.sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    shown = output.render("[link=https://example.org]here[/link] [bold]x[/bold]")
    assert "\x1b]8" not in shown and "here" in shown


@pytest.mark.parametrize("name", ["../../escaped", "a/b", "a\\b", "p\nq", "..", "\x1b[31m", "\u202eabc", " "])
def test_a_search_or_study_cannot_be_called_what_leaves_its_folder(place, name):
    for file, command in (("t.toml", "tune"), ("s.toml", "study")):
        if command == "tune":
            pytest.importorskip("optuna")
        text = re.sub(r"^name = .*$", lambda _: f"name = {json.dumps(name)}", (place / file).read_text(), flags=re.M)
        (place / file).write_text(text)
        ran = fairlane(command, file, cwd=place)
        assert ran.returncode == 2 and "names a folder, too" in ran.stderr and not CONTROLS.search(ran.stderr)
    assert not (place / "results").exists() and not (place.parent / "escaped").exists()


def test_a_chosen_scenario_is_toml_whatever_things_are_called(place):
    pytest.importorskip("optuna")
    (place / "short.toml").write_text(f"description = {json.dumps(EVIL)}\n" + (place / "short.toml").read_text())
    (place / "t.toml").write_text(
        TUNE.replace("long.toml", "short.toml").replace('name = "t"\n', 'name = "a # b"\n')
        + f'\n[[training_scenarios]]\nname = {json.dumps("p" + chr(10) + "q")}\n[[training_scenarios]]\nname = "two"\n'
    )
    ran = fairlane("tune", "t.toml", cwd=place)
    assert ran.returncode in (0, 1), ran.stderr
    assert tomllib.loads((place / "results" / "a # b" / "chosen.toml").read_text())["links"]
    assert not CONTROLS.search(ran.stdout)


# --- CSV -------------------------------------------------------------------------------------------------


TEXTS = ["=1+1", "+x", "-x", "@SUM(A1)", "\tx", "\rx", "=cmd|' /C calc'!A0"]
HARMLESS = ["-1", "+2.5", "-.5e-3", "red", "a=b", "", "'quoted"]


def test_no_text_in_a_csv_can_pass_for_a_formula():
    frame = pl.DataFrame({"=head": TEXTS + HARMLESS, "n": [-1.5] * len(TEXTS + HARMLESS)})
    head, *rows = list(csv.reader(io.StringIO(csv_of(frame).decode(), newline="")))
    assert head == ["'=head", "n"] and [r[0] for r in rows] == [f"'{t}" for t in TEXTS] + HARMLESS
    assert {r[1] for r in rows} == {"-1.5"}
    written = csv_of_rows([row_of({"=f": t}, t, [-1.0, -2.0], t) for t in TEXTS + HARMLESS]).decode()
    cells = [c for r in csv.reader(io.StringIO(written, newline="")) for c in r]
    assert not [c for c in cells if re.match(r"[=+\-@\t\r]", c) and not re.fullmatch(r"[+-]?[\d.]+(e[+-]?\d+)?", c)]


def test_the_tables_of_a_study_hold_no_formulas(tmp_path):
    net = fl.Network.from_toml(DUMBBELL.replace('"5s"', '"2s"'))
    levels = {"=1+1": {"links.bottleneck.queue": "red"}, "-b": {"links.bottleneck.queue": "codel"}}
    study = fl.Study(net, factors={"queue": {"levels": levels}}, seeds=[1], metrics=["network.jain"])
    for path in study.run(tmp_path / "out").save_tables():
        assert "'=1+1" in path.read_text() and not re.search(r"(^|,)[=@]", path.read_text(), re.M)


def test_a_folder_that_only_looks_like_results_is_not_replaced(tmp_path, place):
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "manifest.json").write_text('{"name": "an extension"}')
    result = fl.run(place / "short.toml", 1)
    with pytest.raises(FolderError, match="not a result folder"):
        result.save(tmp_path / "web", force=True)
    assert (tmp_path / "web" / "manifest.json").exists()


def test_the_help_of_a_note_has_a_line_of_its_own(capsys):
    output.notes(["settings.csv is damaged\n  = help: put it back", "a\nb"])
    assert capsys.readouterr().err.splitlines() == ["note: settings.csv is damaged", "  = help: put it back", "note: a\\nb"]
