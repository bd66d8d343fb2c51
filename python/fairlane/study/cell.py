"""A cell: one run, and the table that is kept of it.

The table is long: `key`, `table` (run, flows, links, network, flow_series, link_series), `name`, `time` (of a series), `metric`, `value`, `text`. One
shape for all networks and queues, so the cells of any studies make one dataset. Rows of the table `run` tell of the run itself: its seed, events,
fingerprint and warnings. Nothing in it depends on the machine, so equal cells are equal files.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from .. import _core
from ..errors import FairlaneError
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
TABLES = ("flows", "links", "network", "flow_series", "link_series")
_LABELS = ("name", "from", "to", "transport", "flow", "link", "time")

stop = threading.Event()
"""Set to make the runs of this process end at once, unfinished: in worker processes, where no event of the driver's reaches."""


class Stopped(FairlaneError):
    """The run was given up because everything is to stop."""


@functools.cache
def engine() -> str:
    """The engine that runs cells: its version, and a hash of the sources that decide results. Cells of another engine are not reused."""
    return f"{_core.version()}+{_core.engine()}"


def key_of(essence: str, seed: int) -> str:
    """The name of a cell: 128 bits of SHA-256 of engine, scenario and seed, in hexadecimal."""
    return hashlib.sha256(f"{engine()}\n{essence}\n{seed}".encode()).hexdigest()[:32]


def run_task(task: Task, halt: threading.Event = stop) -> Outcome:
    """Runs a cell and gives its table, or says why there is none. A failing cell is an answer, too; raises `Stopped` when `halt` is set."""
    worker = f"{socket.gethostname()}:{os.getpid()}"
    try:
        if engine() != task.engine:
            return Outcome(
                task.key,
                task.seed,
                error=f"the worker {worker} runs fairlane {engine()}, the study {task.engine}",
                kind="Version",
                worker=worker,
            )
        _load(task.plugins)
        (run,) = _core.run(task.resolved, [task.seed], 1, False, lambda *_: not halt.is_set())
        return Outcome(task.key, task.seed, _encode(task, run), "", "", str(run.fingerprint), int(run.events), float(run.cpu_s), worker)
    except FairlaneError as e:
        if halt.is_set():
            raise Stopped("stopped") from None
        return Outcome(task.key, task.seed, error=str(e), kind=type(e).__name__, worker=worker)
    except (MemoryError, OSError) as e:
        return Outcome(task.key, task.seed, error=f"{type(e).__name__}: {e}", kind=type(e).__name__, worker=worker)


_loaded: dict[str, str] = {}
_loading = threading.Lock()


def _load(plugins: Iterable[tuple[str, str]]) -> None:
    """Loads plug-ins that this process does not have yet, and makes sure that they are those of the study."""
    for path, digest in plugins:
        with _loading:
            if _loaded.get(path) == digest:
                continue
            if digest_of(path) != digest:
                raise FairlaneError(f"the plug-in {path} is not the one that the study was planned with: it has changed")
            from ..plugin import load

            load(path)
            _loaded[path] = digest


def digest_of(path: str) -> str:
    """SHA-256 of a plug-in."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as e:
        raise FairlaneError(f"cannot read the plug-in {path}: {(e.strerror or str(e)).lower()}") from e


def _encode(task: Task, run: Any) -> bytes:
    """The cell's table as Parquet."""
    parts = [_facts(run)]
    for name in TABLES:
        parts += _long(name, getattr(run, name)(), task.wanted)
    frame = pl.concat(parts).select(pl.lit(task.key).alias("key"), pl.all()).cast(SCHEMA)
    out = io.BytesIO()
    frame.write_parquet(out, compression="zstd", statistics=False)
    return out.getvalue()


def _facts(run: Any) -> pl.DataFrame:
    numbers = [
        ("seed", float(run.seed)),
        ("events", float(run.events)),
        ("packet_hops", float(run.packet_hops)),
        ("peak_packets", float(run.peak_packets)),
    ]
    texts = [("fingerprint", str(run.fingerprint)), *(("warning", str(w)) for w in run.warnings)]
    return _frame(
        "run",
        [""] * (len(numbers) + len(texts)),
        None,
        [m for m, _ in numbers + texts],
        [v for _, v in numbers] + [None] * len(texts),
        [None] * len(numbers) + [t for _, t in texts],
    )


def _frame(
    table: str, names: list[str], times: Any, metrics: list[str], values: Any, texts: list[str | None] | None = None
) -> pl.DataFrame:
    n = len(names)
    return pl.DataFrame(
        {
            "table": pl.repeat(table, n, eager=True, dtype=pl.String),
            "name": pl.Series(names, dtype=pl.String),
            "time": pl.repeat(None, n, eager=True, dtype=pl.Float64) if times is None else pl.Series(times, dtype=pl.Float64),
            "metric": pl.Series(metrics, dtype=pl.String),
            "value": pl.Series(values, dtype=pl.Float64),
            "text": pl.repeat(None, n, eager=True, dtype=pl.String) if texts is None else pl.Series(texts, dtype=pl.String),
        }
    )


def _long(table: str, columns: dict[str, Any], wanted: tuple[tuple[str, str, tuple[str, ...]], ...] | None) -> list[pl.DataFrame]:
    """The metrics of a table below one another; what has no value (NaN) is left out."""
    if not columns:
        return []
    first = next(iter(columns.values()))
    names = list(columns.get("name") or columns.get("flow") or columns.get("link") or [""] * len(first))
    times = columns.get("time")
    n, metrics, values = len(names), [], []
    for metric, column in columns.items():
        if metric not in _LABELS:
            metrics.append(metric)
            values.append(np.asarray(column, dtype=np.float64))
    if not metrics:
        return []
    k = len(metrics)
    frame = _frame(
        table,
        names * k,
        None if times is None else np.tile(np.asarray(times), k),
        [m for m in metrics for _ in range(n)],
        np.concatenate(values),
    )
    frame = frame.filter(pl.col("value").is_not_nan())
    if wanted is not None:
        keep = [(m, own) for t, m, own in wanted if t == table]
        if not keep:
            return []
        frame = frame.filter(pl.any_horizontal([(pl.col("metric") == m) & pl.col("name").is_in(list(own)) for m, own in keep]))
    return [frame]
