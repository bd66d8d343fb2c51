"""Processes end with their parent, whatever killed it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from executors import FATE

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are looked for in /proc")

BASE = """
duration = "100000s"
[links.a-b]
from = "a"
to = "b"
rate = "100Mbit/s"
delay = "5ms"
queue.droptail.limit = "100p"
[flows.tcp]
from = "a"
to = "b"
tcp = "newreno"
"""
STUDY = 'name = "s"\nscenario = "base.toml"\nseeds = "1..8"\nmetrics = ["network.jain"]\n'
TUNE = """
name = "t"
link = "a-b"
seeds = "1..4"
holdout_seeds = "101..102"
scenario = "base.toml"
[objectives]
"network.delay_p99" = "min"
"network.goodput" = "max"
[search]
droptail.limit = { from = "5p", to = "50p" }
"""
SCRIPT = """
from fairlane import Study
if __name__ == "__main__":
    Study.from_file("study.toml").run("out", processes=2)
"""


def descendants(mark: str) -> list[int]:
    """Living processes with this mark in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z" and mark.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:  # it has ended since
                continue
    return found


@pytest.mark.parametrize("start", [0.3, 1.0, None], ids=["early", "starting", "running"])
@pytest.mark.parametrize("how", ["study", "tune", "script", "bench", "plugin"])
def test_workers_end_with_a_parent_that_is_killed(tmp_path, how, start):
    """The limit is generous for a busy machine; a worker that is not told ends after many minutes or never."""
    (tmp_path / "base.toml").write_text(BASE)
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "tune.toml").write_text(TUNE)
    (tmp_path / "script.py").write_text(SCRIPT)
    # A user-defined queue that never returns holds Python's lock as code of a library may: no thread of the worker gets a turn.
    stuck = FATE.replace('word, _, rest = self.fate.partition(":")', 'import re; re.match(r"(a+)+$", "a" * 40 + "b"); word = rest = ""')
    (tmp_path / "fate.py").write_text(textwrap.dedent(stuck))
    (tmp_path / "plugin.toml").write_text(STUDY + 'plugins = ["fate.py"]\n[set]\n"links.a-b.queue" = "Fate"\n')
    command = {
        "study": ["-m", "fairlane", "study", "study.toml", "--processes", "2"],
        "tune": ["-m", "fairlane", "tune", "tune.toml", "--processes", "2"],
        "script": ["script.py"],
        "bench": ["-m", "fairlane", "bench", "P5", "--repeat", "1000"],
        "plugin": ["-m", "fairlane", "study", "plugin.toml", "--processes", "2", "--plugin", "fate.py"],
    }[how]
    if how == "tune":
        pytest.importorskip("optuna")
    mark = f"FAIRLANE_TEST_MARK={os.getpid()}.{random.random()}"
    environment = {**os.environ, "FAIRLANE_TEST_MARK": mark.partition("=")[2]}
    with subprocess.Popen(
        [sys.executable, *command], cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as p:
        deadline = time.monotonic() + 60
        while start is None and len(descendants(mark)) < (2 if how == "bench" else 4) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(start or 1.0)
        assert p.poll() is None
        while start is None and len(descendants(mark)) < 2:  # between two repetitions the parent is alone for a moment
            assert time.monotonic() < deadline
        p.send_signal(signal.SIGKILL)
        p.wait()
        gone = time.monotonic() + 10
        while (left := descendants(mark)) and time.monotonic() < gone:
            time.sleep(0.02)
        for process in left:
            os.kill(process, signal.SIGKILL)
    assert not left
