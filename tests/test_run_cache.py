"""The cache of runs of the tests: a run is made once for all tests; nothing damaged or of another build comes out of it."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

import run_cache
from conftest import DUMBBELL
from fairlane import _core
from fairlane.study import one_run
from fairlane.study.executors.loop import work
from fairlane.study.model import Outcome, PlugIn, Task
from fairlane.study.plan import Runs, combination_of
from run_cache import RunCache

TASK = Task("k", "{}", 1, "engine")


class Counted:
    """Notes each run in a file, so that processes can be asked, too."""

    def __init__(self, notes: Path, error: str = "", cpu_s: float = 1.0) -> None:
        self.notes, self.error, self.cpu_s = notes, error, cpu_s

    def __call__(self, task: Task, *_: object) -> Outcome:
        with self.notes.open("a") as file:
            file.write("x")
        time.sleep(0.02)  # so that others ask meanwhile
        return Outcome(task.key, task.seed, data=task.resolved.encode() * 1000, error=self.error, cpu_s=self.cpu_s)

    def __int__(self) -> int:
        return len(self.notes.read_text())


@pytest.fixture
def counted(tmp_path, monkeypatch):
    monkeypatch.setattr(one_run.announced, "times", 0)
    return Counted(tmp_path / "notes")


def test_a_run_is_made_once_and_read_afterwards(counted, tmp_path):
    first, second = (RunCache(tmp_path / "c", counted)(TASK) for _ in range(2))
    assert first == second and int(counted) == 1


def test_another_task_or_build_is_another_run(counted, tmp_path, monkeypatch):
    others = [{"seed": 2}, {"resolved": "[]"}, {"wanted": (("flows", "goodput", ("a",)),)}, {"hop_probe": True}, {"key": "other"}]
    for n, change in enumerate([{}, *others], 1):
        RunCache(tmp_path / "c", counted)(replace(TASK, **change))
        assert int(counted) == n, change
    monkeypatch.setattr(run_cache, "build", lambda: "another")
    RunCache(tmp_path / "c", counted)(TASK)
    assert int(counted) == len(others) + 2


@pytest.mark.parametrize("damage", [lambda d: b"", lambda d: d[:-1], lambda d: d[:40] + bytes([d[40] ^ 1]) + d[41:], lambda d: b"x" * 100])
def test_what_is_damaged_is_made_again(counted, tmp_path, damage):
    cache = RunCache(tmp_path / "c", counted)
    made = cache(TASK)
    (file,) = (tmp_path / "c").iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert cache(TASK) == made and cache(TASK) == made and int(counted) == 2


def test_errors_small_runs_and_plug_ins_are_not_kept(counted, tmp_path, monkeypatch):
    for run in (Counted(tmp_path / "bad", error="no"), Counted(tmp_path / "small", cpu_s=0.001)):
        for _ in range(2):
            RunCache(tmp_path / "c", run)(TASK)
        assert int(run) == 2
    RunCache(tmp_path / "c", counted)(replace(TASK, plugins=(PlugIn("a.py", "d"),)))
    monkeypatch.setattr(one_run.announced, "times", 1)
    RunCache(tmp_path / "c", counted)(TASK)
    assert int(counted) == 2 and list((tmp_path / "c").iterdir()) == []


def asked(place: Path) -> bytes:
    return RunCache(place / "c", Counted(place / "notes"))(TASK).data


def test_threads_and_processes_that_ask_at_once_get_one_run(counted, tmp_path):
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(asked, [tmp_path] * 40)) == {b"{}" * 1000}
    assert int(counted) == 1
    for file in (tmp_path / "c").iterdir():
        file.unlink()
    with get_context("fork").Pool(4) as processes:
        assert set(processes.map(asked, [tmp_path] * 40)) == {b"{}" * 1000}
    assert int(counted) == 2
    assert len(list((tmp_path / "c").iterdir())) == 1


def test_the_runs_used_last_stay_when_there_are_too_many(counted, tmp_path):
    folder = tmp_path / "c"
    cache = RunCache(folder, counted, limit=12_000)
    for seed in range(8):
        cache(replace(TASK, seed=seed))
    for age, file in enumerate(folder.iterdir()):
        run_cache.os.utime(file, (age, age))
    cache(TASK)  # seed 1
    for name in ("old.new", "new.new"):
        (folder / name).write_text("half")
    run_cache.os.utime(folder / "old.new", (1, 1))  # of a process that was killed
    cache.trim()
    left = list(folder.iterdir())
    assert folder / "new.new" in left and folder / "old.new" not in left
    assert 5 <= len(left) < 9 and sum(f.stat().st_size for f in left) <= 12_000
    before = int(counted)
    cache(TASK)
    assert int(counted) == before


def test_a_kept_run_is_that_of_the_engine(tmp_path, monkeypatch):
    monkeypatch.setattr(one_run.announced, "times", 0)
    monkeypatch.setattr(run_cache, "WORTH", 0.0)
    combination = combination_of(json.loads(_core.resolve(DUMBBELL, "d.toml", "toml", []).json()))
    task = Runs(combination).task(3)
    plain = work(task)
    monkeypatch.setattr(one_run, "run_task", RunCache(tmp_path))
    made, kept = work(task), work(task)
    assert made.data == kept.data == plain.data and made.fingerprint == kept.fingerprint == plain.fingerprint != ""
    assert len(list(tmp_path.iterdir())) == 1
