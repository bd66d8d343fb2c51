"""A run: one run, and the table that is kept of it.

The table is long: `key`, `table` (run, flows or groups, links, network, flow_series, link_series), `name`, `time` (of a series),
`metric`, `value`, `text`. One shape for all networks and queues, so the runs of any studies make one dataset. Rows of the table `run`
tell of the run itself: its seed, events, fingerprint, engine and warnings. Nothing in it depends on the machine, so equal runs are
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
from ..base.checksums import fault_of, seal_parquet
from ..base.files import read_input
from ..base.threads import Halt, alarm
from ..base.workers import stop
from ..errors import FairlaneError, InputError
from ..own.modules import Made, difference, is_current
from ..own.plugin import announced, load
from .model import Outcome, PlugIn, Task

if TYPE_CHECKING:
    from collections.abc import Iterable

PLUGIN = "Plugin"
"""Kind of the answer of a worker whose plug-in is another one than the study's."""
SCHEMA = {
    "key": pl.String,
    "table": pl.String,
    "name": pl.String,
    "time": pl.Float64,
    "metric": pl.String,
    "value": pl.Float64,
    "text": pl.String,
}


class PluginDiffers(FairlaneError):
    """A worker's plug-in is not the one that the study was planned with."""


class Stopped(FairlaneError):
    """The run was given up because everything is to stop."""


@functools.cache
def engine() -> str:
    """The engine: its version, and a hash of the sources that decide results. Runs of another engine are not reused."""
    return f"{_core.version()}+{_core.engine()}"


def key_of(essence: str, seed: int) -> str:
    """The name of a run: 128 bits of SHA-256 of engine, scenario and seed, in hexadecimal."""
    return hashlib.sha256(f"{engine()}\n{essence}\n{seed}".encode()).hexdigest()[:32]


def seal_of(key: str) -> str:
    """Returns the seal of a run: the version of its table, and its key."""
    return f"run/2 {key}"


def is_whole(outcome: Outcome) -> bool:
    """Returns true if a result is bit for bit as the worker made it."""
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
        """True if the run has taken longer than it may."""
        return self._limit is not None and time.monotonic() - self._began >= self._limit

    def verdict(self) -> str:
        """Returns the message for a run that exceeded its time limit."""
        assert self._limit is not None
        return f"it took longer than the run_limit of {self._limit:g} s: stopped at {100 * self._fraction:.0f} % of its simulated time"


def run_task(task: Task, halt: Halt = stop) -> Outcome:
    """Runs a run and gives its table, or says why there is none. A failing run is an answer, too; raises `Stopped` when `halt` is set."""
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
            (run,) = _core.run(_whole(task.resolved, announced.times), [task.seed], 1, task.hop_probe, watch, here=True)
        return Outcome(task.key, task.seed, _encode(task, run), "", "", str(run.fingerprint), int(run.events), float(run.cpu_s), worker)
    except PluginDiffers as e:
        return Outcome(task.key, task.seed, error=f"the worker {worker}: {e}", kind=PLUGIN, worker=worker)
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
def _whole(resolved: str, _announced: int) -> _core.Resolved:
    """The scenario of a run, which the same engine checked and wrote: read once for the seeds of a combination that follow one another.

    It holds the plug-ins that had the names when it was read, so it is read again when others have been announced.
    """
    return _core.Resolved(resolved)


_loaded: dict[str, Made] = {}
"""Plug-ins that this process has loaded."""
_loading = threading.Lock()


def planned(path: str) -> PlugIn:
    """A plug-in as it is now: loaded, and loaded again if a file of it has changed since."""
    with _loading:
        made = _loaded.get(path)
        if made is None or made.file != digest_of(path) or not is_current(made):
            made = _loaded[path] = load(path)
    return PlugIn(path, made.digest, made.parts, made.file)


def load_plugins(plugins: Iterable[PlugIn]) -> None:
    """Loads plug-ins that this process does not have as the study has them; raises `PluginDiffers` if what is here is not the same."""
    for plugin in plugins:
        with _loading:
            known = _loaded.get(plugin.path)
            if known is not None and known.digest == plugin.digest:
                continue
            made = _loaded[plugin.path] = load(plugin.path)
            if made.digest != plugin.digest:
                raise PluginDiffers(
                    f"the plug-in {plugin.path} is not the one that the study was planned with, or has changed: {difference(made, plugin)}"
                )


_LARGEST_PLUGIN = 1 << 30
"""A shared library may be large."""


def digest_of(path: str) -> str:
    """SHA-256 of the file of a plug-in."""
    try:
        return hashlib.sha256(read_input(path, _LARGEST_PLUGIN)).hexdigest()
    except InputError as e:
        raise FairlaneError(str(e).replace("cannot read", "cannot read the plug-in", 1)) from None


def _encode(task: Task, run: _core.Run) -> bytes:
    """The run's table as Parquet, sealed where it is made, so that neither the way here nor a disk can change it unnoticed."""
    return seal_parquet(run.cell(task.key, task.engine, task.wanted), seal_of(task.key))
