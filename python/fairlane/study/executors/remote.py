"""Workers of other machines: a Dask cluster, and MPI."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from ...base.extras import need
from ...base.threads import Halt
from ...errors import WorkerError
from .. import one_run
from ..model import Outcome, Task
from .loop import KEPT, WorkerPool, work

if TYPE_CHECKING:
    from distributed import Client

CONNECT = "10s"
ARRIVAL = 20.0
"""Seconds that the first worker may take to appear: one that is being started is no reason to give up."""
LOOK = 2.0
"""Seconds between two looks at who is there."""


ANSWER = 10.0
"""Seconds that a worker has to say which engine it has before the others begin; it may answer later, and is in from then on."""
SILENT = 60.0
"""Seconds after which a worker that the scheduler has not heard of is named."""


def _engine() -> tuple[str, str]:
    """Runs on a worker: which engine it has, and who it is in outcomes."""
    return one_run.engine(), f"{socket.gethostname()}:{os.getpid()}"


class Dask(WorkerPool):
    """The workers of a Dask cluster.

    `cluster`: the scheduler's address (`tcp://host:8786`), or a `distributed.Client` of the caller's, who also closes it.
    Workers with another engine or another plug-in, and those that do not answer, are left out and named in `notes`; some may come and go
    while runs run. `patience`: seconds without any worker until the study stops.
    """

    name = "dask"
    # The scheduler itself gives a run to other workers first; what it calls KilledWorker has killed several.
    proof = 1

    def __init__(self, cluster: str | Client, *, patience: float = 60.0) -> None:
        super().__init__()
        self._given = cluster
        self._patience = patience
        self.workers = 0

    def open(self) -> None:
        """Connects, and asks each worker for its engine."""
        need("cluster")
        import distributed  # noqa: F401 (makes its loggers)

        # One line of ours says what is wrong; Dask would say it in many, through loggers that have levels of their own.
        names = ["distributed", *(n for n in logging.root.manager.loggerDict if n.startswith("distributed."))]
        self._levels = {logging.getLogger(n): logging.getLogger(n).level for n in names}
        for log in self._levels:
            log.setLevel(logging.CRITICAL)
        try:
            self._connect()
            self._known: dict[str, str] = {}
            self._names: dict[str, str] = {}
            self._asked: dict[str, float] = {}
            self._answers: SimpleQueue[tuple[str, Any]] = SimpleQueue()
            self._silent: set[str] = set()
            self._executors: list[Executor] = []
            self._seen = self._looked = time.monotonic()
            self._muster(ANSWER)
            while not self._known and time.monotonic() - self._seen < ARRIVAL:
                time.sleep(0.2)
                self._muster()
            if not self.workers:
                raise WorkerError(f"no worker of the Dask cluster {self.address} can run them{self._others()}")
        except BaseException:
            self.close(hurry=True)
            raise

    def _connect(self) -> None:
        from distributed import Client

        self._client: Client | None = None
        if not isinstance(self._given, str):
            self._client, self.address = self._given, str(getattr(self._given.scheduler, "address", "given"))
            return
        self.address = self._given
        try:
            self._client = Client(self._given, timeout=CONNECT, set_as_default=False)
        except (OSError, ValueError, TypeError):
            raise WorkerError(
                f'no Dask scheduler answers at {self._given}: write cluster="tcp://HOST:PORT" as `dask scheduler` shows it'
            ) from None

    def close(self, *, hurry: bool) -> None:
        """Takes back the current runs, and leaves the cluster as it is."""
        try:
            client, self._client = self._client, None
            if client is None:
                return
            if isinstance(self._given, str):
                client.close(timeout=1)  # The scheduler drops what a client that leaves had wanted.
            else:
                for e in self._executors:
                    e.shutdown(wait=False)
        except (OSError, TimeoutError):
            pass
        finally:
            for log, level in self._levels.items():
                log.setLevel(level)

    def submit(self, task: Task) -> Future[Outcome]:
        """Hands a run to the cluster."""
        try:
            return self._executors[-1].submit(work, task)
        except Exception:
            raise self.lost() from None

    def lost(self) -> WorkerError:
        """The scheduler is gone."""
        return WorkerError(f"the connection to the Dask scheduler at {self.address} is lost: {KEPT}")

    def refused(self, outcome: Outcome) -> bool:
        """A worker is new, or has another plug-in: continue with the others, or wait for one."""
        if outcome.kind == one_run.PLUGIN:
            for a, name in self._names.items():
                if name == outcome.worker and self._known.get(a) == one_run.engine():
                    self._known[a] = "another plug-in"
                    self.notes.append(f"the worker {a} is left out: {outcome.error.partition(': ')[2]}")
                    self._employ(force=True)
        self._muster(1.0)
        return True

    def look(self) -> None:
        """Notes workers that came or went; raises `WorkerError` if there is none for too long."""
        now = time.monotonic()
        if now - self._looked < LOOK:
            return
        self._looked = now
        self._muster()
        if self.workers:
            self._seen = now
        elif now - self._seen > self._patience:
            raise WorkerError(f"no worker is left at the Dask cluster {self.address}{self._others()}; {KEPT}")

    def _muster(self, wait: float = 0.0) -> None:
        """Asks workers we do not know yet for their engine, and waits so many seconds for answers, not longer for one that hangs."""
        client = self._client
        if client is None or client.status != "running":
            return
        try:
            self._there: dict[str, dict[str, Any]] = client.scheduler_info()["workers"]
        except OSError:
            return  # A scheduler that is gone: the futures will tell.
        now = time.monotonic()
        for a in [a for a in self._there if a not in self._known and a not in self._asked]:
            self._asked[a] = now
            threading.Thread(target=self._ask, args=(client, a), daemon=True).start()
        came = self._heard()
        while self._asked and time.monotonic() - now < wait:
            time.sleep(0.01)
            came |= self._heard()
        for a in [a for a in self._asked if a not in self._there]:
            del self._asked[a]
        gone = [a for a in self._known if a not in self._there]
        for a in gone:
            del self._known[a]
        self._name_silent()
        self._employ(force=came or bool(gone) or not self._executors)

    def _ask(self, client: Client, a: str) -> None:
        try:
            answer = client.run(_engine, workers=[a], on_error="return").get(a, OSError("no answer"))
        except Exception as e:  # whatever a worker that leaves, or a client that is closed, makes of it
            answer = e if isinstance(e, OSError) else OSError(str(e))
        self._answers.put((a, answer))

    def _heard(self) -> bool:
        """True if a worker has answered since."""
        came = False
        while not self._answers.empty():
            a, answer = self._answers.get()
            self._asked.pop(a, None)
            if isinstance(answer, OSError):
                continue  # Gone, or not there yet: asked again.
            engine, name = answer if isinstance(answer, tuple) else (f"no engine ({type(answer).__name__}: {answer})", "")
            self._known[a], self._names[a], came = engine, name, True
            if engine != one_run.engine():
                self.notes.append(f"the worker {a} is left out: it has fairlane {engine}, the study {one_run.engine()}")
        return came

    def _name_silent(self) -> None:
        now = time.time()
        asked = {a for a, since in self._asked.items() if time.monotonic() - since >= ANSWER}
        lost = {a for a, w in self._there.items() if now - w.get("last_seen", now) > SILENT}
        for a in sorted((asked | lost) - self._silent):
            does = "it does not answer" if a in asked else f"the scheduler has not heard of it for {SILENT:.0f} s"
            self.notes.append(f"the worker {a} is left out: {does}")
        self._silent = asked | lost

    def _employ(self, *, force: bool) -> None:
        """Hands runs to the workers that are fit from here on."""
        fit = [a for a, engine in self._known.items() if engine == one_run.engine() and a not in self._silent]
        self.workers = sum(self._there[a]["nthreads"] for a in fit if a in self._there)
        if force and self._client is not None:
            # While all workers are fit, new ones may start before their check. Dead workers must not be waited for.
            unfit = len(fit) < len(self._there)
            chosen = {"workers": fit, "allow_other_workers": True} if unfit and fit else {}
            self._executors.append(self._client.get_executor(pure=False, **chosen))

    def _others(self) -> str:
        silent = "".join(f"; {a} does not answer" for a in self._silent)
        other = {a: engine for a, engine in self._known.items() if engine != one_run.engine()}
        differing = "".join(f"; {a} has {'' if engine.startswith('another') else 'fairlane '}{engine}" for a, engine in other.items())
        needs = f"; the study needs {one_run.engine()}" if any(not e.startswith("another") for e in other.values()) else ""
        return silent + differing + needs if self._known or silent else ": none is there"


class Mpi(WorkerPool):
    """The other processes of an MPI job, started as `mpiexec -n N python -m mpi4py.futures -m fairlane study FILE --mpi`.

    If one of them dies, MPI ends the whole job: started again, the study resumes.
    """

    name = "mpi"
    workers = 0

    def open(self) -> None:
        """Finds the other processes."""
        need("mpi")
        from mpi4py import MPI
        from mpi4py.futures import MPIPoolExecutor

        self._communicator = MPI.COMM_WORLD
        if self._communicator.Get_size() < 2:
            raise WorkerError(
                "there is no other MPI process: start with mpiexec -n N python -m mpi4py.futures -m fairlane study FILE --mpi"
            )
        self._executor = MPIPoolExecutor()
        self.workers = self._executor.num_workers

    def close(self, *, hurry: bool) -> None:
        """Ends the current runs; the processes themselves end with this one."""
        if hurry:
            for rank in range(1, self._communicator.Get_size()):
                self._communicator.isend(None, dest=rank, tag=HALT)
        self._executor.shutdown(wait=True, cancel_futures=True)

    def submit(self, task: Task) -> Future[Outcome]:
        """Hands a run to a process."""
        future: Future[Outcome] = self._executor.submit(_work_unless_halted, task)
        return future


HALT = 6011
"""Tag of the message that tells a process to end its run."""


class _Halt(Halt):
    def is_set(self) -> bool:
        from mpi4py import MPI

        return bool(MPI.COMM_WORLD.Iprobe(source=0, tag=HALT))


def _work_unless_halted(task: Task) -> Outcome:
    return work(task, _Halt())
