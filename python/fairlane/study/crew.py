"""Who runs the cells: threads, processes, a Dask cluster, MPI, or any `concurrent.futures.Executor`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait

from .._cores import available_threads
from . import cell
from .model import Outcome, Task


class Crew:
    """An executor, how much it is given at once, and how to get another one if it breaks."""

    name = "threads"

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or available_threads()

    def __enter__(self) -> Crew:
        cell.stop.clear()
        self._executor: Executor = ThreadPoolExecutor(self.workers, thread_name_prefix="cell")
        return self

    def __exit__(self, *_: object) -> None:
        cell.stop.set()
        self._executor.shutdown(wait=True, cancel_futures=True)

    def run(self, feed: Callable[[], Task | None], done: Callable[[Outcome], None], tick: Callable[[], object]) -> None:
        """Runs what `feed` gives until it gives nothing and nothing is under way; `done` hears of each, in the calling thread.

        `feed` is asked again after each outcome, so it may depend on results. `tick` is called about ten times a second.
        """
        waiting: set[Future[Outcome]] = set()
        while True:
            while len(waiting) < 2 * self.workers + 2 and (task := feed()) is not None:
                waiting.add(self._executor.submit(cell.run_task, task))
            if not waiting:
                return
            finished, waiting = wait(waiting, timeout=0.1, return_when=FIRST_COMPLETED)
            for f in finished:
                done(f.result())
            tick()
