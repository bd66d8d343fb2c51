"""Small studies, queues that fail as asked, and a Dask cluster, for tests of executors."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from fairlane.own import plugin
from fairlane.study import Factor, Level, StudySpec, selector
from fairlane.study.executors import Dask, Processes, Threads, WorkerPool
from fairlane.study.model import Outcome, Task
from fairlane.study.plan import make_plan

BASE = """
duration = "2s"
sample = "200ms"

[links.a-b]
from = "a"
to = "b"
rate = "2Mbit/s"
delay = "5ms"
queue.droptail.limit = "20p"

[flows.tcp]
from = "a"
to = "b"
tcp = "newreno"

[flows.udp]
from = "a"
to = "b"
udp = {}
source.poisson = { rate = "500kbit/s", size = "500B" }
"""

FATE = '''
"""A queue that brings its worker's fate."""
import os
import shutil
import signal
import time
from pathlib import Path

import fairlane


class Fate(fairlane.Qdisc):
    """First in, first out, unless fate wills otherwise."""

    fate = fairlane.Parameter("none", "What happens at the start.")
    number = fairlane.Parameter(0, "Tells runs apart.")

    def start(self):
        self.waiting = []  # Planning a study gets here, too.

    def enqueue(self, packet):
        word, _, rest = self.fate.partition(":")
        if word == "raise":
            raise RuntimeError("as fate has it")
        if word == "exit":
            os._exit(3)
        if word == "kill" or (word == "once" and not Path(rest).exists()):
            if rest:
                Path(rest).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if word == "leave":
            raise SystemExit(3)
        self.waiting.append(packet)
        if len(self.waiting) > 20:
            self.drop(self.waiting.pop(0))

    def dequeue(self):
        return self.waiting.pop(0) if self.waiting else None
'''


def spec(queues: list[object], *, seeds: int = 2, duration: str = "2s", plugins: tuple[str, ...] = ()) -> StudySpec:
    levels = tuple(Level(str(i), (("links.a-b.queue", q),)) for i, q in enumerate(queues))
    return StudySpec(
        "pool", BASE, "base.toml", "toml", (Factor("queue", levels),), tuple(range(1, seeds + 1)), (selector("network.jain"),),
        sets=(("duration", duration),), plugins=plugins,
    )  # fmt: skip


PLAIN = spec(["droptail", {"red": {"min": "3p"}}, "codel"], seeds=4)


def tasks_of(study: StudySpec) -> list[Task]:
    return [t for _, t in make_plan(study).tasks()]


def run(pool: WorkerPool, tasks: list[Task], tick=lambda: None) -> dict[str, Outcome]:
    todo, outcomes = iter(tasks), {}

    def done(outcome: Outcome) -> None:
        assert outcome.key not in outcomes, "told twice"
        outcomes[outcome.key] = outcome

    with pool:
        pool.run(lambda: next(todo, None), done, tick)
    assert set(outcomes) == {t.key for t in tasks}
    return outcomes


def good(outcomes: dict[str, Outcome]) -> dict[str, bytes]:
    assert [o.error for o in outcomes.values() if o.error] == []
    return {k: o.data for k, o in outcomes.items()}


@pytest.fixture(scope="module")
def plain() -> tuple[list[Task], dict[str, bytes]]:
    tasks = tasks_of(PLAIN)
    return tasks, good(run(Threads(1), tasks))


@pytest.fixture(scope="module")
def fate(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("plugin") / "fate.py"
    path.write_text(FATE)
    plugin.load(path)
    return str(path)


def fates(path: str, *words: str, seeds: int = 1, duration: str = "200ms") -> list[Task]:
    return tasks_of(
        spec([{"Fate": {"fate": w, "number": i}} for i, w in enumerate(words)], seeds=seeds, plugins=(path,), duration=duration)
    )


@pytest.fixture(scope="module")
def dask_cluster():
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    import dask

    settings = {
        "distributed.scheduler.allowed-failures": 1,
        "distributed.worker.daemon": True,
        "distributed.nanny.pre-spawn-environ": {},
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50) as c,
    ):
        yield c


@pytest.fixture
def cluster(dask_cluster):
    """With two workers, whatever an earlier test did to them."""
    if len(dask_cluster.scheduler.workers) != 2:
        restart(dask_cluster)
    return dask_cluster


def restart(cluster) -> None:
    """Replaces the workers. A cluster replaces killed workers itself, but slowly on a busy machine."""
    cluster.scale(0)
    eventually(lambda: not cluster.scheduler.workers)
    cluster.scale(2)
    eventually(lambda: len(cluster.scheduler.workers) == 2)


def eventually(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


POOLS = {"threads": lambda _: Threads(2), "processes": lambda _: Processes(2), "dask": lambda c: Dask(c.scheduler_address)}
