"""`--verbose`: files read, warnings with their place, times; documents and numbers do not change."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from conftest import DUMBBELL, ROOT, fairlane
from fairlane.cli import invoke
from tune_cases import BUFFER, POISSON

STUDY = """
scenario = "dumbbell.toml"
seeds = "1..2"
metrics = ["links.bottleneck.utilisation"]
[set]
duration = "2s"
[factors]
"links.bottleneck.queue" = ["droptail", "red"]
"""
LINE = re.compile(r" *\d+\.\d{3} s  +\S.*")


def test_run_tells_on_standard_error(dumbbell):
    text = DUMBBELL.replace('name = "small dumbbell"\n', 'sample = "4s"\n')
    dumbbell.write_text(text)
    done = fairlane("run", str(dumbbell), "--json", "--verbose", "--seeds", "1,2", "--set", "duration=4s")
    assert done.returncode == 0 and json.loads(done.stdout)
    lines = [line.split(" s  ", 1)[1] for line in done.stderr.splitlines()]
    assert lines[0].startswith(f"read {dumbbell}") and lines[1] == "set duration = 4s"
    assert any(line.startswith("  seed 2: ") and "packet-hops" in line for line in lines)
    line = 1 + text.splitlines().index('sample = "4s"')
    assert any(f"warning[coarse-sampling] at {dumbbell}:{line}: " in x for x in lines), lines
    assert fairlane("run", str(dumbbell), "--json").stderr == ""


@pytest.fixture
def place(dumbbell, monkeypatch):
    monkeypatch.chdir(dumbbell.parent)
    (dumbbell.parent / "study.toml").write_text(STUDY)
    (dumbbell.parent / "poisson.toml").write_text(POISSON.replace('"40s"', '"4s"').replace('"2s"', '"1s"'))
    (dumbbell.parent / "tune.toml").write_text(BUFFER.replace("trials = 24", "trials = 4"))
    return dumbbell.parent


OF = {
    "compare": (["--scenario", "dumbbell.toml", "--queues", "droptail,red", "--seeds", "1..2", "--set", "duration=2s"],
                ("read dumbbell.toml: 22 lines", "set duration = 2s", "red: 0.", "warning[short-measurement]")),
    "study": (["study.toml", "--out", "s"], ("read study.toml: 8 lines", "checked: 1 factor, 1 metric; runs are kept in s",
                                            "4/4 runs",
                                                            "4 runs done in ", "of which 0 kept from before, 0 failed",
                                                            "2 warnings")),
    "tune": (["tune.toml", "--out", "t"], ("read tune.toml: 14 lines", "checked: 4 trials on 2 seeds", "settings tried", "tuning ")),
}  # fmt: skip


@pytest.mark.parametrize("command", OF)
def test_long_commands_tell_too_and_change_nothing(command, place, capsys):
    if command == "tune":
        pytest.importorskip("optuna")
    options, expected = OF[command]
    verbose = invoke([command, *options, "--json", "-v"])
    out, err = capsys.readouterr()
    assert verbose in (0, 1), err
    lines = [line for line in err.splitlines() if not line.startswith(("note: ", "wrote "))]
    assert all(LINE.fullmatch(line) for line in lines), lines
    assert all(any(x in line for line in lines) for x in expected), lines
    assert lines[-1].endswith(" s  done")
    # Nothing of it is in the document, and no number has changed.
    assert json.loads(out)["schema"].startswith("fairlane.")
    if command != "compare":
        shutil.rmtree(place / options[-1])
    assert invoke([command, *options, "--json"]) == verbose
    again, silent = capsys.readouterr()
    assert "done" not in silent
    assert _timeless(json.loads(again)) == _timeless(json.loads(out))


def _timeless(tree):
    """Without what the clock says, which no two runs share."""
    if isinstance(tree, dict):
        return {k: _timeless(v) for k, v in tree.items() if not re.search(r"cpu|elapsed|setup|seconds|took|time_s|command", k)}
    return [_timeless(x) for x in tree] if isinstance(tree, list) else tree


def test_reproduce_tells_of_its_steps(tmp_path, capsys):
    here = ROOT / "examples" / "papers" / "mathis1997"
    assert invoke(["reproduce", str(here), "--quick", "--json", "-v", "--out", str(tmp_path / "r")]) == 0
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert all(LINE.fullmatch(line) for line in lines), lines
    assert any("scenarios read" in line or "runs" in line for line in lines) and lines[-1].endswith(" s  done")
    assert json.loads(out)["schema"].startswith("fairlane.reproduction")


def test_a_name_cannot_break_a_line_of_it(place, capsys):
    (place / "a\nb.toml").write_text((place / "dumbbell.toml").read_text())
    assert invoke(["run", "a\nb.toml", "-v", "-q", "--set", "duration=2s"]) == 0
    assert all(LINE.fullmatch(line) for line in capsys.readouterr().err.splitlines())
