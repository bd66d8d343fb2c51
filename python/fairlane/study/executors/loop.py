"""The loop that keeps the workers of an executor busy, and finds the run that kills them."""

from __future__ import annotations

import os
import socket
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, wait
from queue import Empty, SimpleQueue
from typing import ClassVar, NamedTuple, Self

from ...base.threads import Halt
from ...errors import WorkerError
from .. import one_run
from ..model import Outcome, Task

HEARTBEAT = 0.1
"""Seconds between two calls of `tick`."""
REFUSALS = 8
"""A run that so many workers of other versions refused is given up."""
KEPT = "all finished runs are kept, run the study again to resume"


def work(task: Task, halt: Halt | None = None) -> Outcome:
    """Runs a run where a worker is; whatever the run's code does comes back as an answer, so nothing strange has to travel."""
    try:
        return one_run.run_task(task) if halt is None else one_run.run_task(task, halt)
    except one_run.Stopped:
        raise
    except BaseException as e:
        where = f"{socket.gethostname()}:{os.getpid()}"
        return Outcome(task.key, task.seed, error=f"{type(e).__name__}: {e}", kind=type(e).__name__, worker=where)


class WorkerPool(ABC):
    """Makes an executor, renews it when it breaks, and ends it. A context manager.

    `notes` tells what the user should know of the workers, for instance which were left out; it may grow while runs run.
    """

    name: ClassVar[str]
    workers: int
    """How many runs run at once; 0 while no worker is there, and workers are waited for (`look` says how long)."""
    apart: Callable[[], WorkerPool] | None = None
    """Makes a pool of one to run a suspect, whose death affects no other run; None: a suspect has this pool for itself."""
    proof: ClassVar[int] = 2
    """A run is taken for the culprit after so many deaths of a worker that had nothing else to do."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(hurry=kind is not None)

    @abstractmethod
    def open(self) -> None:
        """Makes the executor; raises `WorkerError` if that cannot be."""

    @abstractmethod
    def close(self, *, hurry: bool) -> None:
        """Ends what was opened. With `hurry`, current runs are abandoned at once."""

    @abstractmethod
    def submit(self, task: Task) -> Future[Outcome]:
        """Hands a run over; raises `BrokenExecutor` if the executor has to be renewed."""

    def renew(self) -> None:
        """Makes another executor instead of a broken one."""
        raise WorkerError(f"the executor is broken, its workers died: {KEPT}")

    def refused(self, outcome: Outcome) -> bool:
        """A worker of another version, or with another plug-in, refused a run: True to try again."""
        return outcome.kind == "Version"

    def lost(self) -> WorkerError:
        """Returns the error for futures that somebody else cancelled."""
        return WorkerError(f"the executor gave up its runs: {KEPT}")

    def look(self) -> None:  # noqa: B027 (most pools never change)
        """Called now and then, to see who came and who went."""

    def run(self, feed: Callable[[], Task | None], done: Callable[[Outcome], object], tick: Callable[[], object]) -> None:
        """Runs what `feed` gives until it gives nothing and no run is left; `done` hears of each, in the calling thread.

        `feed` is asked again after each outcome, so it may depend on results. `tick` is called about ten times a second.
        """
        _Loop(self, feed, done, tick).run()


class _Flight(NamedTuple):
    task: Task
    pool: WorkerPool
    """Who runs it: the pool, or a pool of one."""


class _Loop:
    def __init__(
        self, pool: WorkerPool, feed: Callable[[], Task | None], done: Callable[[Outcome], object], tick: Callable[[], object]
    ) -> None:
        self.pool, self.feed, self.done, self.tick = pool, feed, done, tick
        self.flights: dict[Future[Outcome], _Flight] = {}
        self.landed: SimpleQueue[Future[Outcome]] = SimpleQueue()
        self.again: deque[Task] = deque()
        self.suspects: deque[Task] = deque()
        """Runs that were in progress when a worker died; each runs by itself from then on."""
        self.deaths: Counter[str] = Counter()
        """Workers that died while they had nothing but this run."""
        self.refusals: Counter[str] = Counter()
        self.lone: Task | None = None
        """The suspect that has the whole pool for itself."""
        self.broken = False

    def run(self) -> None:
        due = 0.0
        try:
            while True:
                self._fill()
                if not (self.flights or self.broken or self.again or self.suspects):
                    return
                try:
                    self._land(self.landed.get(timeout=0 if self.broken else HEARTBEAT))
                    while True:
                        self._land(self.landed.get_nowait())
                except Empty:
                    pass
                if self.broken:
                    self._mend()
                if time.monotonic() >= due:
                    self.pool.look()
                    self.tick()
                    due = time.monotonic() + HEARTBEAT
        finally:
            for flight in self.flights.values():
                if flight.pool is not self.pool:
                    flight.pool.close(hurry=True)

    def _fill(self) -> None:
        """Keeps the workers busy: each has a run and another one waiting, not more, for every result takes memory."""
        if not self.pool.workers:
            if not self.again and not self.suspects and (task := self.feed()) is not None:
                self.again.append(task)
            return
        apart = sum(f.pool is not self.pool for f in self.flights.values())
        if self.pool.apart is not None:
            while self.suspects and apart < self.pool.workers:
                other = self.pool.apart()
                other.open()
                self._send(self.suspects.popleft(), other)
                apart += 1
        elif self.suspects or self.lone is not None:
            if not self.flights:
                self.lone = self.suspects.popleft()
                self._send(self.lone, self.pool)
            return
        while not self.broken and len(self.flights) - apart < 2 * self.pool.workers + 2:
            task = self.again.popleft() if self.again else self.feed()
            if task is None:
                return
            self._send(task, self.pool)

    def _send(self, task: Task, pool: WorkerPool) -> None:
        try:
            future = pool.submit(task)
        except BrokenExecutor:
            self.again.appendleft(task)
            self.lone = None
            if pool is self.pool:
                self.broken = True
            else:
                pool.close(hurry=True)
            return
        self.flights[future] = _Flight(task, pool)
        future.add_done_callback(self.landed.put)

    def _land(self, future: Future[Outcome]) -> None:
        flight = self.flights.pop(future, None)
        if flight is None:
            return  # `_mend` has seen it.
        task, pool = flight
        alone = pool is not self.pool or self.lone is not None
        self.lone = None
        if pool is not self.pool:
            pool.close(hurry=True)
        if future.cancelled():
            raise self.pool.lost()
        error = future.exception()
        if error is None:
            self._answer(task, future.result())
        elif _worker_died(error):
            self._suspect(task, alone)
            self.broken |= pool is self.pool and isinstance(error, BrokenExecutor)
        else:
            self.done(Outcome(task.key, task.seed, error=f"{type(error).__name__}: {error}", kind=type(error).__name__))

    def _answer(self, task: Task, outcome: Outcome) -> None:
        if outcome.kind in ("Version", one_run.PLUGIN):
            self.refusals[task.key] += 1
            if self.refusals[task.key] < REFUSALS and self.pool.refused(outcome):
                self.again.append(task)
                return
        if not outcome.error and not one_run.is_whole(outcome):
            why = f"what came back from {outcome.worker or 'the worker'} is not a whole result"
            outcome = Outcome(task.key, task.seed, error=why, kind="Torn", worker=outcome.worker)
        self.done(outcome)

    def _suspect(self, task: Task, alone: bool) -> None:
        self.deaths[task.key] += alone
        n = self.deaths[task.key]
        if n < self.pool.proof:
            self.suspects.append(task)
            return
        why = "its worker died while it ran nothing but this run: a plug-in whose code crashes, or too little memory"
        self.done(Outcome(task.key, task.seed, error=why, kind="Crash"))

    def _mend(self) -> None:
        """The executor is broken: every run that was in progress on it is suspect, and it is renewed."""
        mine = [f for f, flight in self.flights.items() if flight.pool is self.pool]
        wait(mine, timeout=10)
        for f in mine:
            if f.done():
                self._land(f)
            else:
                self.suspects.append(self.flights.pop(f).task)
        self.pool.renew()
        self.broken = False


def _worker_died(error: BaseException) -> bool:
    # Dask's KilledWorker is no BrokenExecutor, and Dask may not be installed.
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"
