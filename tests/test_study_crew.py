"""Where cells run: the same results everywhere, and what becomes of workers that die, refuse or are stopped."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from fairlane import plugin
from fairlane.study import Factor, Level, StudySpec, selector
from fairlane.study.cell import digest_of
from fairlane.study.crew import Crew, Dask, Given, Processes, Threads
from fairlane.study.model import Outcome, Task
from fairlane.study.plan import make_plan
from fairlane.study.store import Store

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
import signal
import time
from pathlib import Path

import fairlane


class Fate(fairlane.Qdisc):
    """First in, first out, unless fate wills otherwise."""

    fate = fairlane.Parameter("none", "What happens at the start.")
    number = fairlane.Parameter(0, "Tells cells apart.")

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
        "crew", BASE, "base.toml", "toml", (Factor("queue", levels),), tuple(range(1, seeds + 1)), (selector("network.jain"),),
        sets=(("duration", duration),), plugins=plugins,
    )  # fmt: skip


PLAIN = spec(["droptail", {"red": {"min": "3p"}}, "codel"], seeds=4)


def tasks_of(study: StudySpec) -> list[Task]:
    return [t for _, t in make_plan(study).tasks()]


def run(crew: Crew, tasks: list[Task], tick=lambda: None) -> dict[str, Outcome]:
    todo, outcomes = iter(tasks), {}

    def done(outcome: Outcome) -> None:
        assert outcome.key not in outcomes, "told twice"
        outcomes[outcome.key] = outcome

    with crew:
        crew.run(lambda: next(todo, None), done, tick)
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
def cluster():
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    import dask

    settings = {
        "distributed.scheduler.allowed-failures": 1,
        "distributed.worker.daemon": True,
        "distributed.nanny.pre-spawn-environ": {},
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50) as c,
    ):
        yield c


# --- the same everywhere --------------------------------------------------------------------------------


def test_cells_are_the_same_bytes_on_two_threads_and_in_processes(plain):
    tasks, expected = plain
    assert good(run(Threads(2), tasks)) == expected
    assert good(run(Processes(2), tasks)) == expected


def test_cells_are_the_same_bytes_on_a_dask_cluster(plain, cluster):
    tasks, expected = plain
    assert good(run(Dask(cluster.scheduler_address), tasks)) == expected


def test_cells_are_the_same_bytes_on_executors_that_are_given_and_these_live_on(plain, cluster):
    from distributed import Client

    tasks, expected = plain
    with ThreadPoolExecutor(2) as threads:
        assert good(run(Given(threads), tasks)) == expected
        assert threads.submit(int, "7").result() == 7
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        assert good(run(Given(client.get_executor(pure=False)), tasks)) == expected
        assert good(run(Dask(client), tasks)) == expected
        assert client.submit(int, "7").result() == 7


def test_the_tables_of_a_study_are_the_same_wherever_its_cells_ran(plain, cluster, tmp_path):
    tasks, _ = plain
    frames = []
    for i, crew in enumerate((Threads(2), Processes(2), Dask(cluster.scheduler_address))):
        store = Store(tmp_path / str(i))
        todo = iter(tasks)
        with crew:
            crew.run(lambda todo=todo: next(todo, None), store.put, lambda: None)
        frames.append(store.scan([t.key for t in tasks]).sort("key", "table", "name", "time", "metric", "text").collect())
        store.close()
    assert frames[0].height > 100
    assert frames[1].equals(frames[0], null_equal=True)
    assert frames[2].equals(frames[0], null_equal=True)


def test_a_queue_written_in_python_travels_as_a_file_to_processes_and_dask(fate, cluster):
    tasks = fates(fate, "none", "none", seeds=2)
    assert tasks[0].plugins == ((fate, digest_of(fate)),)
    expected = good(run(Threads(2), tasks))
    assert good(run(Processes(2), tasks)) == expected
    assert good(run(Dask(cluster.scheduler_address), tasks)) == expected


# --- cells that fail ------------------------------------------------------------------------------------


@pytest.mark.parametrize("crew", [lambda _: Threads(2), lambda _: Processes(2), lambda c: Dask(c.scheduler_address)])
def test_a_cell_that_raises_is_one_failure_among_results(crew, fate, cluster):
    tasks = fates(fate, "none", "raise", "none", "leave", "none")
    outcomes = run(crew(cluster), tasks)
    kinds = [outcomes[t.key].kind for t in tasks]
    assert kinds[0] == kinds[2] == kinds[4] == ""
    assert kinds[1] == "PluginError"
    assert "as fate has it" in outcomes[tasks[1].key].error
    assert kinds[3] != ""


@pytest.mark.parametrize("word", ["exit", "kill"])
def test_a_cell_that_kills_its_process_is_found_and_the_others_are_finished(word, fate):
    tasks = fates(fate, *["none"] * 4, word, *["none"] * 5)
    outcomes = run(Processes(2), tasks)
    assert [outcomes[t.key].kind for t in tasks] == [""] * 4 + ["Crash"] + [""] * 5
    assert good({k: o for k, o in outcomes.items() if k != tasks[4].key}) == good(run(Threads(1), tasks[:4] + tasks[5:]))


def test_a_cell_that_kills_its_dask_worker_is_found_and_the_others_are_finished(fate, cluster):
    tasks = fates(fate, *["none"] * 3, "exit", *["none"] * 3)
    outcomes = run(Dask(cluster.scheduler_address), tasks)
    assert [outcomes[t.key].kind for t in tasks] == [""] * 3 + ["Crash"] + [""] * 3


def test_a_cell_whose_worker_is_killed_from_outside_is_simply_run_again(fate, tmp_path):
    tasks = fates(fate, "none", f"once:{tmp_path / 'dead'}", "none")
    outcomes = run(Processes(2), tasks)
    assert (tmp_path / "dead").exists()
    assert len(good(outcomes)) == 3
