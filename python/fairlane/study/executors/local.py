"""Workers of this machine: threads, processes, and any executor of the caller's."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from typing import Any

from ...base.cores import available_threads
from ...base.threads import PATIENCE, Halt
from ...base.workers import enlist
from ...errors import WorkerError
from ..model import Outcome, Task
from .loop import KEPT, WorkerPool, work

STARTS = 3
"""Worker processes that may die before they have done anything, until we say that they cannot be started."""


class Threads(WorkerPool):
    """Threads of this process: runs do not hold Python's lock. `n`: how many, one per core by default."""

    name = "threads"

    def __init__(self, n: int | None = None) -> None:
        super().__init__()
        self.workers = n or available_threads()

    def open(self) -> None:
        """Starts the threads."""
        self._halt, self._own = Halt(), False
        self._executor = ThreadPoolExecutor(self.workers, thread_name_prefix="run")

    def close(self, *, hurry: bool) -> None:
        """Current runs end within a tenth of a second, in the code of a plug-in, too; only that of one in C is not interrupted."""
        self._halt.set()
        self._executor.shutdown(wait=False, cancel_futures=True)
        if self._halt.end(PATIENCE if self._own else None):
            self._executor.shutdown(wait=True)

    def submit(self, task: Task) -> Future[Outcome]:
        """Hands a run to a thread."""
        self._own |= bool(task.plugins)
        return self._executor.submit(work, task, self._halt)


class Processes(WorkerPool):
    """Processes of this machine: for queues written in Python, which hold its lock, and for code that may crash.

    `n`: how many, one per core by default. They are started afresh (no fork), so a script that uses them needs the usual
    `if __name__ == "__main__":`. They end with this process, however it ends.
    """

    name = "processes"
    apart = staticmethod(lambda: _One())

    def __init__(self, n: int | None = None) -> None:
        super().__init__()
        self.workers = n or available_threads()

    def open(self) -> None:
        """Starts the first process and waits for it: what cannot start at all is reported at once."""
        for _ in range(STARTS):
            self._pool = _Pool(self.workers)
            try:
                self._pool.submit(os.getpid).result()
                return
            except BrokenExecutor:
                self._pool.end(hurry=True)
            except BaseException:
                self._pool.end(hurry=True)
                raise
        raise WorkerError(
            "worker processes cannot be started; a Python script that uses them must run the study under "
            f'if __name__ == "__main__": ({KEPT})'
        )

    def close(self, *, hurry: bool) -> None:
        """Ends all processes and waits until they are gone."""
        self._pool.end(hurry=hurry)

    def submit(self, task: Task) -> Future[Outcome]:
        """Hands a run to a process."""
        return self._pool.submit(work, task)

    def renew(self) -> None:
        """Starts other processes."""
        self._pool.end(hurry=True)
        self.open()


class _One(Processes):
    """A process for one run; no need to try it first."""

    def __init__(self) -> None:
        super().__init__(1)

    def open(self) -> None:
        self._pool = _Pool(1)


class _Pool(ProcessPoolExecutor):
    """Processes that end when this one does, or when it says so: they hold one end of a pipe and we the other."""

    def __init__(self, n: int) -> None:
        ours, self._line = multiprocessing.Pipe(duplex=False)
        self._end = ours
        super().__init__(n, mp_context=multiprocessing.get_context("spawn"), initializer=enlist, initargs=(ours,))

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        # This is where processes start; Ctrl-C is for us alone, from their first instruction on.
        with _without_interrupts():
            return super().submit(fn, *args, **kwargs)

    def end(self, *, hurry: bool) -> None:
        if hurry:
            self._line.close()
        self.shutdown(wait=True, cancel_futures=True)
        self._line.close()
        self._end.close()


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Given(WorkerPool):
    """An executor of the caller's, who also ends it. `workers`: how many runs it runs at once, if it does not say so itself."""

    name = "executor"
    proof = 1

    def __init__(self, executor: Executor, workers: int | None = None) -> None:
        super().__init__()
        self._executor = executor
        known = (getattr(executor, name, None) for name in ("_max_workers", "num_workers"))
        self.workers = workers or next((n for n in known if isinstance(n, int)), None) or available_threads()

    def open(self) -> None:
        """Nothing to start."""
        # An event cannot travel; to threads of this process it need not.
        self._halt = Halt() if isinstance(self._executor, ThreadPoolExecutor) else None
        self._sent: set[Future[Outcome]] = set()

    def close(self, *, hurry: bool) -> None:
        """Takes back what has not begun. The executor stays as it is."""
        if self._halt is not None:
            self._halt.set()
        sent = list(self._sent)
        running = [f for f in sent if not f.cancel()]
        if self._halt is not None:
            self._halt.end()
            wait(running)

    def submit(self, task: Task) -> Future[Outcome]:
        """Hands a run to the executor."""
        try:
            future = self._executor.submit(work, task) if self._halt is None else self._executor.submit(work, task, self._halt)
        except BrokenExecutor:
            raise
        except RuntimeError as e:
            raise WorkerError(f"the executor takes no more runs ({e}): {KEPT}") from None
        self._sent.add(future)
        future.add_done_callback(self._sent.discard)
        return future

    def renew(self) -> None:
        """It is not ours to renew."""
        raise WorkerError(f"the executor that was given is broken: one of its workers died; {KEPT}")
