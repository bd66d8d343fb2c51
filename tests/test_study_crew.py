"""Where cells run: the same results everywhere, and what becomes of workers that die, refuse or are stopped."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from fairlane import plugin
from fairlane.errors import CrewError, FairlaneError
from fairlane.study import Factor, Level, StudySpec, selector
from fairlane.study.cell import digest_of
from fairlane.study.crew import Crew, Dask, Given, Mpi, Processes, Threads, choose, remote
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
import shutil
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
        anew(dask_cluster)
    return dask_cluster


def anew(cluster) -> None:
    """Other workers. Those of a cluster do come back when they were killed, but a busy machine takes its time."""
    cluster.scale(0)
    eventually(lambda: not cluster.scheduler.workers)
    cluster.scale(2)
    eventually(lambda: len(cluster.scheduler.workers) == 2)


def eventually(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


CREWS = {"threads": lambda _: Threads(2), "processes": lambda _: Processes(2), "dask": lambda c: Dask(c.scheduler_address)}

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


@pytest.mark.parametrize("crew", CREWS.values(), ids=CREWS)
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


def test_a_process_pool_that_is_given_and_breaks_is_one_clear_line(fate):
    from multiprocessing import get_context

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool, pytest.raises(CrewError, match="finished cells are kept"):
        run(Given(pool), fates(fate, "none", "exit", "none"))


# --- Dask: workers come, go, and differ ----------------------------------------------------------------------


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


# --- stopping ----------------------------------------------------------------------------------------------


class Enough(Exception):
    pass


def _enough() -> None:
    raise Enough


@pytest.mark.parametrize("crew", CREWS.values(), ids=CREWS)
def test_stopping_gives_up_long_cells_at_once(crew, cluster):
    """Cells of hours: without an end the test would never come back."""
    long = tasks_of(spec(["droptail"], seeds=4, duration="400000s"))
    with pytest.raises(Enough):
        run(crew(cluster), long, tick=_enough)
    if isinstance(crew(cluster), Dask):
        anew(cluster)  # Dask does not end what runs; whoever owns the workers may.


def test_stopping_takes_back_what_an_executor_that_is_given_has_not_begun():
    long = tasks_of(spec(["droptail"], seeds=6, duration="400000s"))
    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(Enough):
            run(Given(pool), long, tick=_enough)
        assert pool.submit(int, "7").result() == 7


DRIVER = """
import sys
from fairlane.study.crew import Processes
sys.path.insert(0, {tests!r})
from test_study_crew import spec, tasks_of

if __name__ == "__main__":
    tasks = iter(tasks_of(spec(["droptail"], seeds=4, duration="400000s")))
    with Processes(2) as crew:
        crew.run(lambda: next(tasks, None), print, lambda: None)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_process_is_left_behind(how, tmp_path):
    psutil = pytest.importorskip("psutil")
    script = tmp_path / "driver.py"
    script.write_text(DRIVER.format(tests=str(Path(__file__).parent)))
    driver = subprocess.Popen([sys.executable, str(script)], stderr=subprocess.PIPE, text=True, start_new_session=True)
    me = psutil.Process(driver.pid)

    def busy() -> list[psutil.Process]:
        return [c for c in me.children(recursive=True) if c.cpu_times().user > 0.5]

    eventually(lambda: len(busy()) >= 2)
    family = me.children(recursive=True)
    if how == signal.SIGINT:
        os.killpg(driver.pid, how)  # Ctrl-C goes to all processes of the terminal.
    else:
        os.kill(driver.pid, how)
    _, said = driver.communicate(timeout=60)
    psutil.wait_procs(family, timeout=30)
    assert not [c for c in family if c.is_running() and c.status() != psutil.STATUS_ZOMBIE]
    if how == signal.SIGINT:
        assert said.count("KeyboardInterrupt") == 1, said


# --- MPI ----------------------------------------------------------------------------------------------------

MPI_DRIVER = """
import sys
from fairlane.study.crew import Mpi
sys.path.insert(0, {tests!r})
from test_study_crew import Enough, PLAIN, Threads, _enough, good, run, spec, tasks_of

if __name__ == "__main__":
    tasks = tasks_of(PLAIN)
    crew = Mpi()
    print(good(run(crew, tasks)) == good(run(Threads(1), tasks)), crew.workers)
    try:
        run(crew, tasks_of(spec(["droptail"], seeds=4, duration="400000s")), tick=_enough)
    except Enough:
        print("stopped")
"""


def test_cells_are_the_same_bytes_in_an_mpi_job_and_it_can_be_stopped(tmp_path):
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    mpiexec = shutil.which("mpiexec")
    if mpiexec is None:
        pytest.skip("there is no mpiexec")
    (tmp_path / "driver.py").write_text(MPI_DRIVER.format(tests=str(Path(__file__).parent)))
    command = [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(tmp_path / "driver.py")]
    more = {f"{word}_ALLOW_RUN_AS_ROOT{end}": "1" for word in ("OMPI", "PRTE") for end in ("", "_CONFIRM")}
    env = {**os.environ, **more, "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.splitlines() == ["True 2", "stopped"], done.stderr


# --- asking for a crew -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("module", "crew", "extra"), [("distributed", Dask("tcp://h:1"), "cluster"), ("mpi4py", Mpi(), "mpi")])
def test_what_is_not_installed_is_named_with_its_extra(module, crew, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(FairlaneError) as e, crew:
        pass
    assert str(e.value) == f"{module} is not installed: pip install 'fairlane[{extra}]'"


def test_a_script_without_a_main_guard_is_told_so(tmp_path):
    script = tmp_path / "driver.py"
    script.write_text(DRIVER.format(tests=str(Path(__file__).parent)).replace('if __name__ == "__main__":', "if True:"))
    said = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False).stderr
    assert said.rstrip().splitlines()[-1].startswith("fairlane.errors.CrewError: worker processes cannot be started")


def test_a_crew_is_chosen_by_one_word():
    with ThreadPoolExecutor(3) as pool:
        crews = [choose(), choose(threads=2), choose(processes=3), choose(cluster="tcp://h:1"), choose(executor=pool), choose(mpi=True)]
        assert [type(c) for c in crews] == [Threads, Threads, Processes, Dask, Given, Mpi]
        assert [c.workers for c in crews[1:3]] == [2, 3]
        assert crews[4].workers == 3
    with pytest.raises(FairlaneError, match="one place only"):
        choose(threads=1, cluster="tcp://h:1")
    with pytest.raises(FairlaneError, match="negative"):
        choose(processes=-1)
