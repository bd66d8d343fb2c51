"""Executors of runs: equal results everywhere, and workers that die, refuse or are stopped."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from executors import POOLS, cluster, dask_cluster, eventually, fate, fates, good, plain, restart, run, spec, tasks_of
from fairlane.base.extras import installing
from fairlane.errors import FairlaneError, WorkerError
from fairlane.study.executors import Dask, Given, Mpi, Processes, Threads, choose
from fairlane.study.one_run import digest_of
from fairlane.study.store import Store

__all__ = ["cluster", "dask_cluster", "fate", "plain"]

# --- the same everywhere --------------------------------------------------------------------------------


def test_runs_are_the_same_bytes_on_two_threads_and_in_processes(plain):
    tasks, expected = plain
    assert good(run(Threads(2), tasks)) == expected
    assert good(run(Processes(2), tasks)) == expected


def test_runs_are_the_same_bytes_on_a_dask_cluster(plain, cluster):
    tasks, expected = plain
    assert good(run(Dask(cluster.scheduler_address), tasks)) == expected


def test_runs_are_the_same_bytes_on_executors_that_are_given_and_these_live_on(plain, cluster):
    from distributed import Client

    tasks, expected = plain
    with ThreadPoolExecutor(2) as threads:
        assert good(run(Given(threads), tasks)) == expected
        assert threads.submit(int, "7").result() == 7
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        assert good(run(Given(client.get_executor(pure=False)), tasks)) == expected
        assert good(run(Dask(client), tasks)) == expected
        assert client.submit(int, "7").result() == 7


def test_the_tables_of_a_study_are_the_same_wherever_its_runs_ran(plain, cluster, tmp_path):
    tasks, _ = plain
    frames = []
    for i, pool in enumerate((Threads(2), Processes(2), Dask(cluster.scheduler_address))):
        store = Store(tmp_path / str(i))
        todo = iter(tasks)
        with pool:
            pool.run(lambda todo=todo: next(todo, None), store.put, lambda: None)
        frames.append(store.scan([t.key for t in tasks]).sort("key", "table", "name", "time", "metric", "text").collect())
        store.close()
    assert frames[0].height > 100
    assert frames[1].equals(frames[0], null_equal=True)
    assert frames[2].equals(frames[0], null_equal=True)


def test_a_queue_written_in_python_travels_as_a_file_to_processes_and_dask(fate, cluster):
    tasks = fates(fate, "none", "none", seeds=2)
    ((path, digest, parts, file),) = tasks[0].plugins
    assert (path, file) == (fate, digest_of(fate)) and digest != file and {name for name, _ in parts} == {"python", "fairlane"}
    expected = good(run(Threads(2), tasks))
    assert good(run(Processes(2), tasks)) == expected
    assert good(run(Dask(cluster.scheduler_address), tasks)) == expected


# --- runs that fail ------------------------------------------------------------------------------------


@pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS)
def test_a_run_that_raises_is_one_failure_among_results(pool, fate, cluster):
    tasks = fates(fate, "none", "raise", "none", "leave", "none")
    outcomes = run(pool(cluster), tasks)
    kinds = [outcomes[t.key].kind for t in tasks]
    assert kinds[0] == kinds[2] == kinds[4] == ""
    assert kinds[1] == "PluginError"
    assert "as fate has it" in outcomes[tasks[1].key].error
    assert kinds[3] != ""


@pytest.mark.parametrize("word", ["exit", "kill"])
def test_a_run_that_kills_its_process_is_found_and_the_others_are_finished(word, fate):
    tasks = fates(fate, *["none"] * 4, word, *["none"] * 5)
    outcomes = run(Processes(2), tasks)
    assert [outcomes[t.key].kind for t in tasks] == [""] * 4 + ["Crash"] + [""] * 5
    assert good({k: o for k, o in outcomes.items() if k != tasks[4].key}) == good(run(Threads(1), tasks[:4] + tasks[5:]))


def test_a_run_that_kills_its_dask_worker_is_found_and_the_others_are_finished(fate, cluster):
    tasks = fates(fate, *["none"] * 3, "exit", *["none"] * 3)
    outcomes = run(Dask(cluster.scheduler_address), tasks)
    assert [outcomes[t.key].kind for t in tasks] == [""] * 3 + ["Crash"] + [""] * 3


def test_a_run_whose_worker_is_killed_from_outside_is_simply_run_again(fate, tmp_path):
    tasks = fates(fate, "none", f"once:{tmp_path / 'dead'}", "none")
    outcomes = run(Processes(2), tasks)
    assert (tmp_path / "dead").exists()
    assert len(good(outcomes)) == 3


def test_a_process_pool_that_is_given_and_breaks_is_one_clear_line(fate):
    from multiprocessing import get_context

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool, pytest.raises(WorkerError, match="finished runs are kept"):
        run(Given(pool), fates(fate, "none", "exit", "none"))


# --- stopping ----------------------------------------------------------------------------------------------


class Enough(Exception):
    pass


def _enough() -> None:
    raise Enough


@pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS)
def test_stopping_gives_up_long_runs_at_once(pool, cluster):
    """Runs of hours: without an end the test would never come back."""
    long = tasks_of(spec(["droptail"], seeds=4, duration="400000s"))
    with pytest.raises(Enough):
        run(pool(cluster), long, tick=_enough)
    if isinstance(pool(cluster), Dask):
        restart(cluster)  # Dask does not end running tasks; the owner of the workers may.


def test_stopping_takes_back_what_an_executor_that_is_given_has_not_begun():
    long = tasks_of(spec(["droptail"], seeds=6, duration="400000s"))
    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(Enough):
            run(Given(pool), long, tick=_enough)
        assert pool.submit(int, "7").result() == 7


DRIVER = """
import sys
from fairlane.study.executors import Processes
sys.path.insert(0, {tests!r})
from test_study_executors import spec, tasks_of

if __name__ == "__main__":
    tasks = iter(tasks_of(spec(["droptail"], seeds=4, duration="400000s")))
    with Processes(2) as pool:
        pool.run(lambda: next(tasks, None), print, lambda: None)
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
    _, output = driver.communicate(timeout=60)
    psutil.wait_procs(family, timeout=30)
    assert not [c for c in family if c.is_running() and c.status() != psutil.STATUS_ZOMBIE]
    if how == signal.SIGINT:
        assert output.count("KeyboardInterrupt") == 1, output


# --- MPI ----------------------------------------------------------------------------------------------------

MPI_DRIVER = """
import sys
from fairlane.study.executors import Mpi
sys.path.insert(0, {tests!r})
from test_study_executors import Enough, PLAIN, Threads, _enough, good, run, spec, tasks_of

if __name__ == "__main__":
    tasks = tasks_of(PLAIN)
    pool = Mpi()
    print(good(run(pool, tasks)) == good(run(Threads(1), tasks)), pool.workers)
    try:
        run(pool, tasks_of(spec(["droptail"], seeds=4, duration="400000s")), tick=_enough)
    except Enough:
        print("stopped")
"""


def test_runs_are_the_same_bytes_in_an_mpi_job_and_it_can_be_stopped(tmp_path):
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


# --- choosing an executor ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("module", "pool", "extra"), [("distributed", Dask("tcp://h:1"), "cluster"), ("mpi4py", Mpi(), "mpi")])
def test_what_is_not_installed_is_named_with_its_extra(module, pool, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(FairlaneError) as e, pool:
        pass
    assert str(e.value) == f"{module} is not installed: {installing(f'fairlane[{extra}]')}"


def test_a_script_without_a_main_guard_is_told_so(tmp_path):
    script = tmp_path / "driver.py"
    script.write_text(DRIVER.format(tests=str(Path(__file__).parent)).replace('if __name__ == "__main__":', "if True:"))
    output = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False).stderr
    assert output.rstrip().splitlines()[-1].startswith("fairlane.errors.WorkerError: worker processes cannot be started")


def test_a_crew_is_chosen_by_one_word():
    with ThreadPoolExecutor(3) as pool:
        pools = [choose(), choose(threads=2), choose(processes=3), choose(cluster="tcp://h:1"), choose(executor=pool), choose(mpi=True)]
        assert [type(c) for c in pools] == [Threads, Threads, Processes, Dask, Given, Mpi]
        assert [c.workers for c in pools[1:3]] == [2, 3]
        assert pools[4].workers == 3
    with pytest.raises(FairlaneError, match="one place only"):
        choose(threads=1, cluster="tcp://h:1")
    with pytest.raises(FairlaneError, match="negative"):
        choose(processes=-1)
