"""Executors of runs: threads, processes, a Dask cluster, MPI, or any `concurrent.futures.Executor`.

All are executors of other people's; here is how they are made and renewed (`Threads`, `Processes`, `Given`, `Dask`, `Mpi`),
and one loop over the standard interface (`loop`) that knows what to do when a worker dies.
"""

from __future__ import annotations

from concurrent.futures import Executor
from typing import TYPE_CHECKING

from ...errors import FairlaneError
from .local import Given, Processes, Threads
from .loop import WorkerPool
from .remote import Dask, Mpi

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["WorkerPool", "Dask", "Given", "Mpi", "Processes", "Threads", "choose"]


def choose(
    *,
    threads: int | None = None,
    processes: int | None = None,
    cluster: str | Client | None = None,
    mpi: bool = False,
    executor: Executor | None = None,
) -> WorkerPool:
    """The pool that is asked for; threads on all cores if none is. A number of 0 stands for one per core.

    Raises:
        FairlaneError: two are asked for, or a number is negative.

    >>> choose(processes=3).workers
    3
    >>> choose(threads=2, processes=2)
    Traceback (most recent call last):
      ...
    fairlane.errors.FairlaneError: runs can run in one place only: choose threads or processes
    """
    asked = [("threads", threads), ("processes", processes), ("cluster", cluster), ("mpi", mpi or None), ("executor", executor)]
    named = [name for name, value in asked if value is not None]
    if len(named) > 1:
        raise FairlaneError(f"runs can run in one place only: choose {' or '.join(named)}")
    for name, count in (("threads", threads), ("processes", processes)):
        if count is not None and count < 0:
            raise FairlaneError(f"{name} cannot be negative")
    if processes is not None:
        return Processes(processes)
    if cluster is not None:
        return Dask(cluster)
    if executor is not None:
        return Given(executor)
    return Mpi() if mpi else Threads(threads)
