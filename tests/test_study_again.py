"""A study that is finished is run again with nothing to do: no scenario is resolved, and nothing is drawn or written again."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fairlane as fl
from fairlane.base.reference import scenario_schema
from fairlane.study import plan

BASE = """
duration = "300ms"
[links.line]
from = "a"
to = "b"
rate = "1Mbit/s"
delay = "5ms"
[flows.up]
from = "a"
to = "b"
tcp = "newreno"
"""
STUDY = """
scenario = "base.toml"
seeds = "1..2"
[metrics]
goodput = "flows.up.goodput"
[factors]
links.line.rate = ["1Mbit/s", "2Mbit/s", "3Mbit/s"]
links.line.delay = ["5ms", "6ms"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "base.toml").write_text(BASE)
    (tmp_path / "s.toml").write_text(STUDY)
    return tmp_path


def run(folder: Path) -> tuple[fl.StudyResult, dict[str, tuple[int, bytes]]]:
    """The result of the study, and what is in its folder."""
    result = fl.Study.from_file(folder / "s.toml").run(folder / "r")
    result.save()
    files = (p for p in sorted((folder / "r").rglob("*")) if p.is_file() and ".lock" not in p.name)
    return result, {str(p.relative_to(folder)): (p.stat().st_mtime_ns, p.read_bytes()) for p in files}


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Counts the scenarios that are resolved for combinations."""
    made: list[Any] = []
    real = plan.resolve_combination

    def counted(spec: Any, index: int, levels: Any, prepared: Any = None) -> Any:
        made.append(levels)
        return real(spec, index, levels, prepared)

    monkeypatch.setattr(plan, "resolve_combination", counted)
    return made


def test_no_cell_is_resolved_twice(folder: Path, resolved: list[Any]) -> None:
    first, before = run(folder)
    assert len(resolved) == 6 == len(first.combinations)
    resolved.clear()
    again, after = run(folder)
    assert not resolved
    # Nothing but the index is written, and the same.
    assert {n: c for n, (_, c) in before.items()} == {n: c for n, (_, c) in after.items()}
    assert [n for n in after if after[n][0] != before[n][0]] == ["r/index.parquet"]
    assert again.summary().equals(first.summary()) and again.warnings == first.warnings
    assert again.tally is not None and (again.tally.reused, again.tally.runs) == (12, 12)
    sums = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder / "r", capture_output=True, check=False)
    assert (sums.returncode, sums.stderr) == (0, b"")


def test_what_is_missing_is_run_and_drawn(folder: Path, resolved: list[Any]) -> None:
    _, before = run(folder)
    resolved.clear()
    next((folder / "r" / "runs").glob("*.parquet")).unlink()
    (folder / "r" / "summary.csv").write_text("mine")
    again, after = run(folder)
    assert len(resolved) == 6 and again.tally is not None and again.tally.reused == 11
    same = {n for n in before if before[n][1] == after[n][1]}
    assert {"r/summary.csv", "r/runs.csv", "r/index.html"} <= same and set(before) == set(after)
    resolved.clear()
    page = folder / "r" / "index.html"
    page.unlink()
    _, third = run(folder)
    assert not resolved and third["r/index.html"][1] == before["r/index.html"][1]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("base.toml", '"300ms"', '"400ms"'),
        ("s.toml", '"6ms"', '"7ms"'),
        ("s.toml", '"1..2"', '"1..3"'),
    ],
    ids=["base", "level", "seeds"],
)
def test_another_study_is_planned_anew(file: str, old: str, new: str, folder: Path, resolved: list[Any]) -> None:
    run(folder)
    resolved.clear()
    (folder / file).write_text((folder / file).read_text().replace(old, new))
    result, _ = run(folder)
    assert len(resolved) == 6 and result.tally is not None and result.tally.reused < result.tally.runs


@pytest.mark.parametrize(
    ("key", "file", "texts"),
    [
        ("trace", "cell.trace", ("10\n20\n", "5\n10\n")),
        ("profile", "path.csv", ("time_s,rate_mbps\n0,1\n1,1\n", "time_s,rate_mbps\n0,2\n1,2\n")),
    ],
)
def test_a_file_that_a_parameter_names_is_read_each_time(
    key: str, file: str, texts: tuple[str, str], folder: Path, resolved: list[Any]
) -> None:
    (folder / "base.toml").write_text(BASE.replace('rate = "1Mbit/s"', f'{key} = "{file}"'))
    (folder / "s.toml").write_text(STUDY.replace('links.line.rate = ["1Mbit/s", "2Mbit/s", "3Mbit/s"]\n', ""))
    (folder / file).write_text(texts[0])
    first, _ = run(folder)
    resolved.clear()
    (folder / file).write_text(texts[1])
    second, _ = run(folder)
    assert len(resolved) == 2 and second.tally is not None and second.tally.reused == 0
    assert not second.summary().equals(first.summary())


def test_every_parameter_that_names_a_file_is_known() -> None:
    schema = json.loads(json.dumps(scenario_schema()))
    names: set[str] = set()

    def walk(node: Any, key: str = "") -> None:
        if isinstance(node, dict):
            kind = node.get("$ref", "").removeprefix("#/$defs/")
            alternatives = schema["$defs"].get(kind, {}).get("anyOf", [])
            if any(n.get("format") == "fl-file" for n in (node, *alternatives)):
                names.add(key)
            for name, below in node.items():
                if name != "$defs":
                    walk(below, name if name not in ("anyOf", "oneOf", "allOf") else key)
        elif isinstance(node, list):
            for below in node:
                walk(below, key)

    for name, definition in schema["$defs"].items():
        walk(definition.get("properties", {}), name)
    assert names == {"trace", "file", "profile"}
    assert all(re.search(plan._FILES, f'{name} = "x"') for name in names)


def test_a_finished_study_loads_no_library_for_pictures(folder: Path) -> None:
    code = """
import sys
from fairlane.cli import invoke
assert invoke(["study", "s.toml", "--out", "r"]) == 0
sys.stderr.write(" ".join(m.partition(".")[0] for m in sys.modules))
"""
    loaded = [
        set(subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True).stderr.split())
        for _ in range(2)
    ]
    assert {"matplotlib", "jinja2"} <= loaded[0] and "scipy" not in loaded[0]
    assert not loaded[1] & {"matplotlib", "jinja2", "scipy"}
