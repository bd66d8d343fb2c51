"""Every example runs, and shows what it says."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from conftest import ROOT, fairlane
from fairlane.study import Study
from fairlane.tuning import Tuning

SCENARIOS = sorted((ROOT / "examples").glob("*.toml"))
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
TUNINGS = sorted((ROOT / "examples" / "tuning").glob("*.toml"))
STUDIES = sorted((ROOT / "examples" / "studies").glob("*.toml"))


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda p: p.stem)
def test_scenario(path):
    done = fairlane("run", str(path), "--json")
    assert done.returncode == 0, done.stderr
    doc = json.loads(done.stdout)
    assert all(f["goodput"]["mean"] > 0 for f in doc.get("flows", doc.get("groups")))
    assert all(link["utilisation"]["mean"] <= 1.001 for link in doc["links"])


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.stem)
def test_script(path, tmp_path):
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    if path.stem == "tcp_endpoint":
        assert "20000 bytes delivered, 1 segment sent again" in done.stdout
    if path.stem == "quickstart":
        assert (tmp_path / "queue.svg").exists()


@pytest.mark.parametrize("path", STUDIES, ids=lambda p: p.stem)
def test_study(path, tmp_path):
    study = Study.from_file(path)
    result = study.run(tmp_path / "out")
    assert result.index["status"].unique().to_list() == ["done"]
    assert result.index.height >= len(study.spec.seeds) * len(result.combinations)
    table = result.runs()
    for metric in study.spec.metrics:
        assert table[metric.label].is_finite().all()
    if study.spec.precision is not None:
        # Points differ in how many runs they need, or the example shows nothing.
        runs = table.group_by(["load", "queue"]).len()["len"]
        assert runs.min() == study.spec.precision.minimum and runs.max() > runs.min()


@pytest.mark.parametrize("path", TUNINGS, ids=lambda p: p.stem)
def test_tuning(path, tmp_path):
    pytest.importorskip("optuna")
    found = Tuning.from_file(path).run(tmp_path / "out")
    # The defaults are recommended where the best of the search is within chance of them.
    assert found.met and [str(w) for w in found.warnings] == ["the search found nothing clearly better than calls_first with its defaults"]
    assert found.chosen.label == "calls_first" and "worse" not in {v.word for v in found.verdicts}


def test_there_are_examples():
    assert len(SCENARIOS) >= 5 and len(SCRIPTS) >= 2 and len(STUDIES) >= 3
