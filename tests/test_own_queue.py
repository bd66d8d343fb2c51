"""The guide's claim: the same queue in Python, in a separate Rust crate, and built in, gives identical runs."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from conftest import ROOT, rust_binary
from conftest import started as fairlane

FOLDER = ROOT / "examples" / "own_queue"


def fingerprint(scenario: Path, *options: str) -> str:
    done = fairlane("run", str(scenario), "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["fingerprints"][0]


def guide() -> set[str]:
    text = (ROOT / "docs" / "guides" / "own-queue.md").read_text("utf-8")
    return set(re.findall(r"\| `([0-9a-f]{16})` \|", text))


def test_python_and_built_in(tmp_path):
    text = (FOLDER / "scenario.toml").read_text("utf-8")
    (tmp_path / "built_in.toml").write_text(text.replace("queue.NMinusOne", "queue.management"), "utf-8")
    own = fingerprint(FOLDER / "scenario.toml", "--plugin", str(FOLDER / "queue.py"))
    assert {own, fingerprint(tmp_path / "built_in.toml")} == guide()


def test_rust():
    done = subprocess.run(
        [rust_binary("own-queue"), str(FOLDER / "scenario.toml")], capture_output=True, text=True, cwd=ROOT, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr
    assert {re.search(r"fingerprint ([0-9a-f]{16})", done.stdout)[1]} == guide()


def test_without_its_plugin_the_scenario_says_what_is_missing():
    done = fairlane("run", str(FOLDER / "scenario.toml"))
    assert done.returncode == 2 and "NMinusOne" in done.stderr


def test_a_failing_queue_ends_with_traceback_and_time(tmp_path):
    code = (FOLDER / "queue.py").read_text("utf-8").replace("self.waiting.append(packet)", 'raise KeyError("lost")')
    (tmp_path / "queue.py").write_text(code, "utf-8")
    done = fairlane("run", str(FOLDER / "scenario.toml"), "--plugin", str(tmp_path / "queue.py"))
    assert done.returncode == 1
    assert 'KeyError("lost")' in done.stderr and "of simulated time" in done.stderr
    assert "fairlane/cli" not in done.stderr
