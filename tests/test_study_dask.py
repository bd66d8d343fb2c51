"""Workers of a Dask cluster come, go, and differ."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from executors import FATE, cluster, dask_cluster, eventually, fate, fates, good, plain, run, spec, tasks_of
from fairlane.errors import WorkerError
from fairlane.own.plugin import load
from fairlane.study.executors import Dask, Threads, remote
from fairlane.study.model import Outcome, Task

__all__ = ["cluster", "dask_cluster", "fate", "plain"]


def test_a_dask_worker_killed_in_the_middle_loses_nothing_and_doubles_nothing(plain, cluster):
    from distributed import Client

    tasks, expected = plain
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        victims = iter(client.run(os.getpid).values())

        class Murder(Dask):
            def submit(self, task: Task):
                if task is tasks[4]:
                    os.kill(next(victims), signal.SIGKILL)
                return super().submit(task)

        assert good(run(Murder(cluster.scheduler_address), tasks)) == expected


OTHER_ENGINE = """
from fairlane.study import one_run

one_run.engine = lambda: "0.0.0+another"
"""


@contextmanager
def dask(*args: str, cwd: Path) -> Iterator[subprocess.Popen]:
    """`dask scheduler` or `dask worker` on this machine."""
    command = [sys.executable, "-m", "dask", *args, "--no-dashboard"]
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def worker(address: str, folder: Path, name: str, *args: str) -> Iterator[None]:
    from distributed import Client

    with (
        Client(address, set_as_default=False) as client,
        dask("worker", address, "--nthreads", "1", "--no-nanny", "--name", name, *args, cwd=folder),
    ):
        eventually(lambda: name in {w["name"] for w in client.scheduler_info()["workers"].values()})
        yield


def test_workers_of_another_version_are_named_and_left_out_whenever_they_come(plain, cluster, tmp_path):
    tasks, expected = plain
    (tmp_path / "other.py").write_text(OTHER_ENGINE)
    late = Dask(cluster.scheduler_address)
    with late, worker(cluster.scheduler_address, tmp_path, "other", "--preload", "other.py"):
        early = Dask(cluster.scheduler_address)
        assert good(run(early, tasks)) == expected
        assert len(early.notes) == 1
        assert "0.0.0+another" in early.notes[0] and "is left out" in early.notes[0]

        todo, outcomes = iter(tasks), {}
        late.run(lambda: next(todo, None), lambda o: outcomes.update({o.key: o}), lambda: None)
        assert good(outcomes) == expected
        assert late.notes == early.notes


def test_runs_wait_for_a_fit_worker_while_only_others_are_there(plain, cluster, tmp_path):
    tasks, expected = plain
    (tmp_path / "other.py").write_text(OTHER_ENGINE)

    class Exodus(Dask):
        def submit(self, task: Task):
            if task is tasks[3] and not left:
                left.append(cluster.scale(0))
                eventually(lambda: len(cluster.scheduler.workers) == 1)
            return super().submit(task)

        def refused(self, outcome: Outcome) -> bool:
            answer = super().refused(outcome)
            if not self.workers and len(left) == 1:
                left.append(cluster.scale(2))
            return answer

    left: list[object] = []

    with worker(cluster.scheduler_address, tmp_path, "other", "--preload", "other.py"):
        assert good(run(Exodus(cluster.scheduler_address), tasks)) == expected
        eventually(lambda: len(cluster.scheduler.workers) == 3)


def test_a_cluster_without_a_fit_worker_or_without_a_scheduler_is_one_clear_line(fate, tmp_path, monkeypatch):
    monkeypatch.setattr(remote, "CONNECT", "2s")
    monkeypatch.setattr(remote, "ARRIVAL", 0.5)
    (tmp_path / "other.py").write_text(OTHER_ENGINE)
    file = tmp_path / "scheduler.json"
    with dask("scheduler", "--port", "0", "--scheduler-file", str(file), cwd=tmp_path) as scheduler:
        eventually(file.exists)
        address = json.loads(file.read_text())["address"]
        with pytest.raises(WorkerError, match="none is there"):
            run(Dask(address), [])
        with worker(address, tmp_path, "other", "--preload", "other.py"):
            with pytest.raises(WorkerError, match=r"0\.0\.0\+another"):
                run(Dask(address), [])
            with worker(address, tmp_path, "fit"):
                tasks = fates(fate, *["none"] * 20)
                heard = []

                def done(outcome: Outcome) -> None:
                    heard.append(outcome)
                    if len(heard) == 3:
                        os.killpg(scheduler.pid, signal.SIGKILL)

                todo = iter(tasks)
                with pytest.raises(WorkerError, match=r"scheduler.*is lost.*kept") as e, Dask(address) as pool:
                    pool.run(lambda: next(todo, None), done, lambda: None)
                assert "\n" not in str(e.value)
                assert 3 <= len(heard) < 20
    with pytest.raises(WorkerError, match="no Dask scheduler answers at"):
        run(Dask(address), [])


def test_a_worker_that_hangs_is_named_and_holds_nobody(plain, cluster, tmp_path, monkeypatch):
    """A worker stops before it is asked: the others begin without it, and a study with no other worker says why it cannot begin."""
    from distributed import Client

    tasks, expected = plain
    monkeypatch.setattr(remote, "ANSWER", 2.0)
    with worker(cluster.scheduler_address, tmp_path, "hung"), Client(cluster.scheduler_address, set_as_default=False) as client:
        (address,) = (a for a, w in client.scheduler_info()["workers"].items() if w["name"] == "hung")
        (pid,) = client.run(os.getpid, workers=[address]).values()
        os.kill(pid, signal.SIGSTOP)
        try:
            pool = Dask(cluster.scheduler_address)
            with pool:
                assert f"the worker {address} is left out: it does not answer" in pool.notes  # so may slow ones be, until they answer
                eventually(lambda: pool._muster() or pool.workers == 2)
        finally:
            os.kill(pid, signal.SIGCONT)
        assert good(run(Dask(cluster.scheduler_address), tasks)) == expected


def test_a_worker_whose_plug_in_differs_is_named_with_the_file_and_left_out(cluster, tmp_path):
    """The plug-in lies on all machines under one name, and imports a module that one of them has another version of."""
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    (tmp_path / "here" / "deep_of_mine.py").write_text("LIMIT = 7\n")
    (tmp_path / "there" / "deep_of_mine.py").write_text("LIMIT = 9\n")
    there = f"import sys\nsys.path.insert(0, {str(tmp_path / 'there')!r})\n"
    (tmp_path / "preload.py").write_text(there)
    (tmp_path / "mine.py").write_text(
        f"import sys\nsys.path.append({str(tmp_path / 'here')!r})\n"
        + FATE.replace("> 20", "> deep_of_mine.LIMIT").replace("class Fate", "class Deep")
        .replace("import fairlane", "import deep_of_mine\nimport fairlane")
    )  # fmt: skip
    path = str(tmp_path / "mine.py")
    load(path)
    tasks = tasks_of(spec([{"Deep": {"number": i}} for i in range(8)], seeds=1, plugins=(path,), duration="200ms"))
    try:
        expected = good(run(Threads(1), tasks))
        with worker(cluster.scheduler_address, tmp_path, "differs", "--preload", "preload.py"):
            pool = Dask(cluster.scheduler_address)
            assert good(run(pool, tasks)) == expected
        for note in pool.notes:  # there is none if it was given no run
            assert "is left out" in note and "the module deep_of_mine" in note and "is another one" in note
    finally:
        sys.modules.pop("deep_of_mine", None)
        sys.path.remove(str(tmp_path / "here"))
