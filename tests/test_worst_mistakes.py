"""Mistakes in a search for worst paths: one clear error, exit code 2, and nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

import fairlane as fl
from conftest import fairlane

pytest.importorskip("optuna")

MOODY = '''
import fairlane as fl


class Moody(fl.CongestionControl):
    """A window that grows with the number of connections there were."""

    made = 0

    def start(self):
        type(self).made += 1
        self.k = type(self).made

    def on_ack(self, sample):
        self.cwnd += self.k * self.mss * self.mss / self.cwnd

    def on_congestion(self, event):
        self.cut(event, 0.5 * self.basis(event))
'''
HOME = """duration = "1s"
[links.line]
from = "a"
to = "b"
rate = "10Mbit/s"
delay = "15ms"
[flows.upload]
from = "a"
to = "b"
tcp = "cubic"
[flows.call]
from = "a"
to = "b"
udp = {}
source = "voip"
"""

MISTAKES = {
    "no algorithm": ("", "nothing to search: give a scenario, --tcp NAME or --queue NAME"),
    "an unknown control": ("--tcp cubik", "did you mean `cubic`?"),
    "an unknown reference": ("--tcp bbr3 --reference cubik", "did you mean `cubic`?"),
    "an unknown queue": ("--queue fq_codl", "did you mean `fq_codel`?"),
    "unknown traffic": ("--queue fq_codel --traffic tcp,foo", "unknown kind of traffic 'foo'"),
    "an unknown metric": ("--tcp cubic --least godput", "did you mean 'goodput'"),
    "two metrics": ("--tcp cubic --least goodput --most delay_p99", "--least and --most exclude each other"),
    "two ways": ("--tcp cubic --pair --competitor bbr", "--pair and --competitor exclude each other"),
    "an unknown word": ("--tcp cubic --may jittr", "did you mean 'jitter'?"),
    "an unknown link": ("--tcp cubic --may links.lin.rate", "did you mean 'line'?"),
    "nothing may change": ("--tcp cubic --may ,", "--may is empty"),
    "a range that ends before it begins": ("--tcp cubic --may rate=20Mbit/s..5Mbit/s", "the range ends at 5Mbit/s, where it begins"),
    "a range of two kinds": ("--tcp cubic --may rate=5Mbit/s..20ms", "are of different kinds"),
    "a range of another kind": ("--tcp cubic --may rate=5ms..20ms", 'unknown unit "ms"'),
    "a range that is none": ("--tcp cubic --may rate=5Mbit/s", "expected a range such as 5Mbit/s..20Mbit/s"),
    "a range outside of the engine's": ("--tcp cubic --may delay=1ms..2h", "the most is 1h"),
    "a path without a default range": ("--tcp cubic --may flows.flow.start", "has no default range: write flows.flow.start=LOW..HIGH"),
    "a share above one": ("--tcp cubic --may loss=0.5..2", "a share lies between 0 and 1"),
    "one path by two names": ("--tcp cubic --may rate,links.line.rate", "are the same path links.line.rate"),
    "no steps": ("--tcp cubic --may steps=0", "expected a number of steps from 1 to 200"),
    "a choice of one": ("--tcp cubic --may flows.flow.tcp=cubic|", "a choice has two values or more"),
    "a budget that is none": ("--tcp cubic --budget 5x", "cannot read the budget '5x'"),
    "no seeds": ("--tcp cubic --seeds 0", "cannot use 0 seeds"),
    "a flow that is not named": ("home.toml", "goodput is a metric of a flow: name one with --flow, such as --flow upload"),
    "an unknown flow": ("home.toml --flow uplod", "did you mean 'upload'?"),
    "a file that is missing": ("nope.toml", "no such file"),
    "a plug-in with a memory": (
        "--tcp moody --plugin moody.py",
        "moody is not deterministic: the same path with seed 1 has the fingerprint",
    ),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_is_one_error(tmp_path: Path, what: str):
    (tmp_path / "moody.py").write_text(MOODY)
    (tmp_path / "home.toml").write_text(HOME)
    words, said = MISTAKES[what]
    done = fairlane("worst", *words.split(), "--out", "w", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr and done.stderr.count("error:") == 1 and "Traceback" not in done.stderr
    assert done.stdout == "" and not (tmp_path / "w").exists()


def test_the_library_raises_its_own_errors():
    with pytest.raises(fl.ArgumentError, match="nothing to search"):
        fl.WorstPaths()
    with pytest.raises(fl.ArgumentError, match="keeps one path or more"):
        fl.WorstPaths(tcp="cubic", paths=0)
    with pytest.raises(fl.ArgumentError, match="cannot read the budget"):
        fl.WorstPaths(tcp="cubic").run(budget=0)
    with pytest.raises(fl.UnknownNameError, match="did you mean 'steps'"):
        fl.WorstPaths(tcp="cubic", may="stepps")


def test_a_folder_with_other_files_is_refused(tmp_path: Path):
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "thesis.tex").write_text("x")
    done = fairlane("worst", "--tcp", "cubic", "--out", "w", cwd=tmp_path)
    assert done.returncode == 2 and "thesis.tex" in done.stderr
    assert [p.name for p in (tmp_path / "w").iterdir()] == ["thesis.tex"]


def test_damaged_evaluations_name_the_line(tmp_path: Path):
    search = fl.WorstPaths(tcp="cubic", may="queue", sets=[("duration", "300ms")], seeds=1)
    search.run(tmp_path / "w", budget=16)
    notes = tmp_path / "w" / "evaluations.jsonl"
    lines = notes.read_text().splitlines()
    notes.write_text("\n".join([lines[0], "{}", *lines[2:]]) + "\n")
    with pytest.raises(fl.FolderError, match="damaged in line 2"):
        search.run(tmp_path / "w", budget=16)
