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

from crews import cluster, dask_cluster, eventually, fate, fates, good, plain, run
from fairlane.errors import CrewError
from fairlane.study.crew import Dask, remote
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
from fairlane.study import cell

cell.engine = lambda: "0.0.0+another"
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


def test_cells_wait_for_a_fit_worker_while_only_others_are_there(plain, cluster, tmp_path):
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
        with pytest.raises(CrewError, match="none is there"):
            run(Dask(address), [])
        with worker(address, tmp_path, "other", "--preload", "other.py"):
            with pytest.raises(CrewError, match=r"0\.0\.0\+another"):
                run(Dask(address), [])
            with worker(address, tmp_path, "fit"):
                tasks = fates(fate, *["none"] * 20)
                heard = []

                def done(outcome: Outcome) -> None:
                    heard.append(outcome)
                    if len(heard) == 3:
                        os.killpg(scheduler.pid, signal.SIGKILL)

                todo = iter(tasks)
                with pytest.raises(CrewError, match=r"scheduler.*is lost.*kept") as e, Dask(address) as crew:
                    crew.run(lambda: next(todo, None), done, lambda: None)
                assert "\n" not in str(e.value)
                assert 3 <= len(heard) < 20
    with pytest.raises(CrewError, match="no Dask scheduler answers at"):
        run(Dask(address), [])
