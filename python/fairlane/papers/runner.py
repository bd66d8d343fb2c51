"""Runs the cells of a study on all cores; finished runs are kept, so an interrupted reproduction goes on where it stopped."""

from __future__ import annotations

import functools
import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..folder import save_bytes
from ..result import available_threads
from .definition import Cell, Paper, RunTables

Progress = Callable[[float, str], object]
"""progress(fraction of the work done, what is being done); returning False stops the reproduction."""


class Stopped(KeyboardInterrupt):
    """The caller's progress function asked to stop."""


@dataclass(frozen=True)
class Job:
    """One replication of one cell."""

    cell: Cell
    seed: int


@functools.cache
def _build_id() -> str:
    """Identifies the simulator: its version and a hash of the extension module, so that another build never reads old runs."""
    from fairlane import _core

    digest = hashlib.sha256(_core.version().encode())
    path = getattr(_core, "__file__", None)
    if path:
        digest.update(Path(path).read_bytes())
    return digest.hexdigest()


def _plain(column: Any) -> list[Any]:
    values = column.tolist() if hasattr(column, "tolist") else list(column)
    return [None if isinstance(x, float) and x != x else x for x in values]


def _kept(table: dict[str, Any], columns: Sequence[str], rows: Sequence[str] | None = None) -> dict[str, list[Any]]:
    """The names and those of the wanted columns that exist (drop reasons differ between queues); only the named rows if given."""
    names = _plain(table["name"]) if "name" in table else [""]
    at = [i for i, n in enumerate(names) if rows is None or n in rows]
    kept: dict[str, list[Any]] = {"name": [names[i] for i in at]}
    for c in columns:
        if c in table:
            values = _plain(table[c])
            kept[c] = [values[i] for i in at]
    return kept


def _series(
    table: Callable[[], dict[str, Any]], columns: Sequence[str], key: str, rows: Sequence[str] | None = None
) -> dict[str, list[Any]]:
    """The wanted columns of time series; none if the paper keeps none or the scenario records none."""
    found = table() if columns else {}
    if key not in found:
        return {}
    at = [i for i, n in enumerate(found[key]) if rows is None or n in rows]
    kept = {c: _plain(found[c]) for c in ("time", key, *columns) if c in found}
    return {c: [values[i] for i in at] for c, values in kept.items()}


class Runner:
    """Runs jobs and remembers them in a folder of content-addressed files."""

    def __init__(self, paper: Paper, cache: Path, threads: int | None = None) -> None:
        self.paper, self.cache = paper, cache
        self.threads = threads or available_threads()
        self.reused = 0
        self.fresh = 0
        self.cpu_s = 0.0
        self._stop = threading.Event()
        self._part: dict[int, float] = {}

    def _key(self, resolved: str, seed: int) -> str:
        tree = json.loads(resolved)
        for words in ("name", "description", "seed"):
            tree.pop(words, None)
        p = self.paper
        what = [_build_id(), seed, p.flow_columns, p.link_columns, p.network_columns, p.links, p.flow_series, p.link_series, tree]
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()

    def _one(self, number: int, job: Job) -> tuple[RunTables, bool]:
        """The tables of a job, and whether they were kept from before."""
        from fairlane import _core

        if self._stop.is_set():
            raise Stopped
        resolved = _core.resolve(json.dumps(job.cell.tree(job.seed)), f"{self.paper.key}.json", "json", [])
        key = self._key(resolved, job.seed)
        path = self.cache / key[:2] / f"{key}.json"
        try:
            return RunTables(**json.loads(path.read_text("utf-8"))), True
        except (OSError, ValueError, TypeError):
            pass  # not run yet, or a file that is no longer whole: run it

        def on_progress(fraction: float, _done: int, _events: int) -> bool:
            self._part[number] = fraction
            return not self._stop.is_set()

        (run,) = _core.run(resolved, [job.seed], 1, True, on_progress)
        if self._stop.is_set():
            raise Stopped
        p = self.paper
        tables = RunTables(
            _kept(run.flows(), p.flow_columns), _kept(run.links(), p.link_columns, p.links),
            _kept(run.network(), p.network_columns), job.seed, str(run.fingerprint), int(run.events),
            int(run.packet_hops), float(run.cpu_s), list(run.warnings),
            _series(run.flow_series, p.flow_series, "flow"), _series(run.link_series, p.link_series, "link", p.links),
        )  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        save_bytes(path, json.dumps(asdict(tables), separators=(",", ":")).encode())
        return tables, False

    def run(self, jobs: Iterable[Job], progress: Progress | None = None, span: tuple[float, float] = (0.0, 1.0)) -> list[RunTables]:
        """Runs all jobs, in their order; `progress` is told fractions from `span`. Ctrl-C stops at once and keeps what is finished."""
        work = list(jobs)
        self._part.clear()
        done: dict[int, RunTables] = {}
        with ThreadPoolExecutor(self.threads, thread_name_prefix="replication") as pool:
            waiting: dict[Future[tuple[RunTables, bool]], int] = {pool.submit(self._one, i, job): i for i, job in enumerate(work)}
            try:
                while waiting:
                    finished, _ = wait(waiting, timeout=0.1, return_when=FIRST_COMPLETED)
                    for f in finished:
                        i = waiting.pop(f)
                        done[i], kept = f.result()
                        self.reused += kept
                        self.fresh += not kept
                        self.cpu_s += 0.0 if kept else done[i].cpu_s
                        self._part.pop(i, None)
                    share = (len(done) + sum(list(self._part.values()))) / max(1, len(work))
                    label = f"{len(done)} of {len(work)} runs"
                    if progress is not None and progress(span[0] + (span[1] - span[0]) * min(1.0, share), label) is False:
                        raise Stopped
            except BaseException:
                self._stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return [done[i] for i in range(len(work))]
