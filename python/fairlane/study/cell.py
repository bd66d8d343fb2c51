"""A cell: one run, and the table that is kept of it.

The table is long: `key`, `table` (run, flows or groups, links, network, flow_series, link_series), `name`, `time` (of a series),
`metric`, `value`, `text`. One shape for all networks and queues, so the cells of any studies make one dataset. Rows of the table `run`
tell of the run itself: its seed, events, fingerprint, engine and warnings. Nothing in it depends on the machine, so equal cells are
equal files.
"""

from __future__ import annotations

import functools
import hashlib
import os
import socket
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import polars as pl

from .. import _core
from ..base.files import read_input
from ..base.sealed import fault_of, seal_parquet
from ..base.threads import Halt, alarm
from ..base.workers import stop
from ..errors import FairlaneError, InputError
from .model import Outcome, Task

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA = {
    "key": pl.String,
    "table": pl.String,
    "name": pl.String,
    "time": pl.Float64,
    "metric": pl.String,
    "value": pl.Float64,
    "text": pl.String,
}


class Stopped(FairlaneError):
    """The run was given up because everything is to stop."""


@functools.cache
def engine() -> str:
    """The engine that runs cells: its version, and a hash of the sources that decide results. Cells of another engine are not reused."""
    return f"{_core.version()}+{_core.engine()}"


def key_of(essence: str, seed: int) -> str:
    """The name of a cell: 128 bits of SHA-256 of engine, scenario and seed, in hexadecimal."""
    return hashlib.sha256(f"{engine()}\n{essence}\n{seed}".encode()).hexdigest()[:32]


def seal_of(key: str) -> str:
    """What the seal of a cell says it is: the shape of its table, and its key."""
    return f"cell/1 {key}"


def is_whole(outcome: Outcome) -> bool:
    """Whether a result is what the worker made of it, to the last bit."""
    return not fault_of(outcome.data, seal_of(outcome.key))


class _Watch:
    """Asked by a run how far it may go; knows how far it has come, and what time it is."""

    def __init__(self, limit: float | None, halt: threading.Event) -> None:
        self._limit, self._halt = limit, halt
        self._began = time.monotonic()
        self._fraction = 0.0

    def __call__(self, fraction: float, _runs: int, _events: int) -> bool:
        self._fraction = fraction
        return not self._halt.is_set() and not self.late()

    def late(self) -> bool:
        """True if the cell has taken longer than it may."""
        return self._limit is not None and time.monotonic() - self._began >= self._limit

    def verdict(self) -> str:
        """What to say of a cell that was late."""
        assert self._limit is not None
        return f"it took longer than the cell_limit of {self._limit:g} s: stopped at {100 * self._fraction:.0f} % of its simulated time"


def run_task(task: Task, halt: Halt = stop) -> Outcome:
    """Runs a cell and gives its table, or says why there is none. A failing cell is an answer, too; raises `Stopped` when `halt` is set."""
    worker = f"{socket.gethostname()}:{os.getpid()}"
    watch = _Watch(task.limit, halt)
    try:
        if engine() != task.engine:
            return Outcome(
                task.key,
                task.seed,
                error=f"the worker {worker} runs fairlane {engine()}, the study {task.engine}",
                kind="Version",
                worker=worker,
            )
        load_plugins(task.plugins)
        with ExitStack() as around:
            thread = around.enter_context(halt.at_work())
            if task.limit is not None and task.plugins:
                # Code of a plug-in is not asked how far it may go.
                around.enter_context(alarm(task.limit, thread))
            # On this thread: another one would have to be made and waited for, and with as many runs as processors it waits for
            # one in turn.
            (run,) = _core.run(_whole(task.resolved), [task.seed], 1, task.hop_probe, watch, here=True)
        return Outcome(task.key, task.seed, _encode(task, run), "", "", str(run.fingerprint), int(run.events), float(run.cpu_s), worker)
    except (FairlaneError, KeyboardInterrupt) as e:
        if halt.is_set():
            raise Stopped("stopped") from None
        if watch.late():
            return Outcome(task.key, task.seed, error=watch.verdict(), kind="Limit", worker=worker)
        if isinstance(e, KeyboardInterrupt):
            raise
        return Outcome(task.key, task.seed, error=str(e), kind=type(e).__name__, worker=worker)
    except (MemoryError, OSError) as e:
        return Outcome(task.key, task.seed, error=f"{type(e).__name__}: {e}", kind=type(e).__name__, worker=worker)


@functools.lru_cache(maxsize=8)
def _whole(resolved: str) -> _core.Resolved:
    """The scenario of a cell, which the same engine checked and wrote: read once for the seeds of a point that follow one another."""
    return _core.Resolved(resolved)


_loaded: dict[str, str] = {}
_loading = threading.Lock()


def load_plugins(plugins: Iterable[tuple[str, str]]) -> None:
    """Loads plug-ins that this process does not have yet, and makes sure that they are those of the study."""
    for path, digest in plugins:
        with _loading:
            if _loaded.get(path) == digest:
                continue
            if digest_of(path) != digest:
                raise FairlaneError(f"the plug-in {path} is not the one that the study was planned with: it has changed")
            from ..own.plugin import load

            load(path)
            _loaded[path] = digest


_LARGEST_PLUGIN = 1 << 30
"""A shared library may be large."""


def digest_of(path: str) -> str:
    """SHA-256 of a plug-in."""
    try:
        return hashlib.sha256(read_input(path, _LARGEST_PLUGIN)).hexdigest()
    except InputError as e:
        raise FairlaneError(str(e).replace("cannot read", "cannot read the plug-in", 1)) from e


def _encode(task: Task, run: _core.Run) -> bytes:
    """The cell's table as Parquet, sealed where it is made, so that neither the way here nor a disk can change it unnoticed."""
    return seal_parquet(run.cell(task.key, task.engine, task.wanted), seal_of(task.key))
