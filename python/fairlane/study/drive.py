"""A study on its way: which cells are open, what becomes of them, and the index that says so at any time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

import polars as pl

from ..errors import FolderError
from .crew import Crew
from .model import Outcome, Point, Task
from .plan import Plan
from .sequential import Stopping, replication_seeds
from .store import Store, index_frame
from .tally import Tally

INDEX_SECONDS = 5.0
"""The index is written this often while cells run, unless writing takes long."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C: what is finished is kept."""


class Drive:
    """Runs the cells of a plan that a store does not have."""

    def __init__(self, plan: Plan, store: Store, tally: Tally) -> None:
        self.plan, self.store, self.tally = plan, store, tally
        precision = plan.spec.precision
        self._stopping = None if precision is None else Stopping(plan.spec, precision)
        self._known = _facts_of(store.read_index())
        # One list a column; a row is a point and a replication. Rows with one key (points that come to the same scenario) share its result.
        self._point: list[int] = []
        self._replication: list[int] = []
        self._seed: list[int] = []
        self._key: list[str] = []
        self._status: list[str] = []
        self._kind: list[str] = []
        self._error: list[str] = []
        self._fingerprint: list[str | None] = []
        self._events: list[int | None] = []
        self._cpu_s: list[float | None] = []
        self._rows: dict[str, list[int]] = {}
        self._of_point: list[list[int]] = [[] for _ in plan.points]
        self._open: list[int] = [0] * len(plan.points)
        """Cells of each point without an answer."""
        self._beyond: list[int] = [0] * len(plan.points)
        """Cells that each point is expected to need beyond those."""
        self._queue: deque[int] = deque()
        self._running: set[str] = set()
        self._next_index = 0.0
        seeds = plan.spec.seeds
        first = list(seeds) if self._stopping is None else replication_seeds(seeds, self._stopping.first)
        for point in plan.points:
            self._add(point, first, 0)
        self._recall()
        if self._stopping is not None:
            self._stopping.remember([k for k in self._rows if k in store], store)
        for point in plan.points:
            self._settle(point)

    def notes(self) -> list[str]:
        """What is worth telling about what was found in the folder."""
        others = [k for k in self.store if k not in self._rows]
        if not others:
            return list(self.store.notes)
        engines = (
            self.store.scan(others)
            .filter((pl.col("table") == "run") & (pl.col("metric") == "engine") & (pl.col("text") != self.plan.engine))
            .group_by("text")
            .len()
            .sort("text")
            .collect()
        )
        mine = self.plan.engine
        told = [f"{n} results in the folder are of fairlane {e}, this is {mine}: they are kept, not used" for e, n in engines.iter_rows()]
        return [*self.store.notes, *told]

    def run(self, crew: Crew, progress: Callable[[], object] | None = None) -> None:
        """Runs everything; the index is right at the end, however it comes. `progress` hears of the beginning and of the end as well."""
        tell = progress or (lambda: None)
        self.write_index()
        self.tally.begin()
        try:
            tell()
            self._tidy()
            if self._queue:
                with crew as workers:
                    workers.run(self._feed, self._done, tell)
            tell()
        except BaseException as e:
            # What ended the study is to be told, not that the index could not be written on top of it: it is made anew next time.
            try:
                self.write_index()
            except FolderError:
                pass
            if isinstance(e, KeyboardInterrupt):
                t = self.tally
                raise Interrupted(
                    f"{t.done} of {t.cells} cells are finished and kept in {self.store.folder}; run the study again to go on"
                ) from None
            raise
        self.write_index()

    # --- cells ------------------------------------------------------------------------------------------

    def _add(self, point: Point, seeds: list[int], first: int) -> None:
        """More replications of a point."""
        for i, seed in enumerate(seeds, first):
            row, key = len(self._key), self.plan.task(point, seed).key
            self._point.append(point.index)
            self._replication.append(i)
            self._seed.append(seed)
            self._key.append(key)
            self._status.append("open")
            self._kind.append("")
            self._error.append("")
            self._fingerprint.append(None)
            self._events.append(None)
            self._cpu_s.append(None)
            self._of_point[point.index].append(row)
            twins = self._rows.setdefault(key, [])
            twins.append(row)
            self.tally.cells += 1
            answered = next((t for t in twins[:-1] if self._status[t] != "open"), None)
            if answered is not None:
                self._copy(answered, row)
            elif key in self.store:
                self._finish(row, "done", *self._known.get(key, (None, None, None)))
                self.tally.reused += 1
            else:
                self._open[point.index] += 1
                self.tally.add(point.index)
                if len(twins) == 1:
                    self._queue.append(row)

    def _copy(self, twin: int, row: int) -> None:
        """The answer of a cell that two points share."""
        self._kind[row], self._error[row] = self._kind[twin], self._error[twin]
        self._finish(row, self._status[twin], self._fingerprint[twin], self._events[twin], self._cpu_s[twin])

    def _finish(self, row: int, status: str, fingerprint: str | None, events: int | None, cpu_s: float | None) -> None:
        self._status[row], self._fingerprint[row], self._events[row], self._cpu_s[row] = status, fingerprint, events, cpu_s
        if status == "done":
            self.tally.done += 1
        else:
            self.tally.failed += 1

    def _recall(self) -> None:
        """Facts of results from before that the last index did not have: it was lost, or of another study."""
        unknown = [k for k, f, s in zip(self._key, self._fingerprint, self._status, strict=True) if s == "done" and not f]
        if not unknown:
            return
        facts = self.store.scan(unknown).filter((pl.col("table") == "run") & pl.col("metric").is_in(["fingerprint", "events"]))
        for key, value, text in facts.select("key", "value", "text").collect().iter_rows():
            for row in self._rows[key]:
                if text is None:
                    self._events[row] = int(value)
                else:
                    self._fingerprint[row] = text

    def _feed(self) -> Task | None:
        while self._queue:
            row = self._queue.popleft()
            if self._status[row] == "open":
                self._running.add(self._key[row])
                return self.plan.task(self.plan.points[self._point[row]], self._seed[row])
        return None

    def _done(self, outcome: Outcome) -> None:
        if outcome.key not in self._running:
            return
        error, kind = outcome.error, outcome.kind
        if not error and not (outcome.data[:4] == outcome.data[-4:] == b"PAR1"):
            error, kind = f"what came back from {outcome.worker or 'the worker'} is not a whole result", "Torn"
        if not error:
            self.store.put(outcome)
        self._running.discard(outcome.key)
        settled: dict[int, Point] = {}
        for row in self._rows[outcome.key]:
            at = self._point[row]
            if error:
                self._kind[row], self._error[row] = kind, error
                self._finish(row, "failed", None, None, None)
            else:
                self._finish(row, "done", outcome.fingerprint, outcome.events, outcome.cpu_s)
            self.tally.ran(at, outcome.cpu_s if not error else 0.0)
            self._open[at] -= 1
            if not self._open[at]:
                settled[at] = self.plan.points[at]
        for point in settled.values():
            self._settle(point)
        self._tidy()
        if time.monotonic() >= self._next_index:
            self.write_index()

    def _settle(self, point: Point) -> None:
        """All replications of a point have an answer: are they enough?"""
        stopping = self._stopping
        while stopping is not None and not self._open[point.index]:
            rows = self._of_point[point.index]
            more, beyond = 0, 0
            # A point with failed cells gets no more: they are tried again first, next time.
            if all(self._status[r] == "done" for r in rows):
                more, beyond = stopping.more(point, [self._key[r] for r in rows], self.store)
            self.tally.expected += beyond - self._beyond[point.index]
            self._beyond[point.index] = beyond
            if not more:
                return
            self._add(point, replication_seeds(self.plan.spec.seeds, len(rows) + more)[len(rows) :], len(rows))

    def _tidy(self) -> None:
        if self.store.untidy:
            self.store.tidy(self.write_index)

    # --- index ------------------------------------------------------------------------------------------

    def index(self) -> pl.DataFrame:
        """One row a cell, in the order of points and replications."""
        columns: dict[str, list[Any]] = {
            "point": self._point, "replication": self._replication, "seed": self._seed, "key": self._key, "status": self._status,
            "kind": self._kind, "error": self._error, "fingerprint": self._fingerprint, "events": self._events, "cpu_s": self._cpu_s,
        }  # fmt: skip
        points = self.plan.points
        factors = {f.name: [points[p].labels[f.name] for p in self._point] for f in self.plan.spec.factors}
        return index_frame(columns, factors, self.store.file).sort("point", "replication")

    def write_index(self) -> None:
        """Writes the index, and sees to it that this takes no more than a thousandth of the time."""
        began = time.monotonic()
        self.store.write_index(self.index())
        now = time.monotonic()
        self._next_index = now + max(INDEX_SECONDS, 1000 * (now - began))


def _facts_of(index: pl.DataFrame | None) -> dict[str, tuple[str | None, int | None, float | None]]:
    """What the last index knew of finished cells."""
    if index is None:
        return {}
    rows = index.filter(pl.col("status") == "done").select("key", "fingerprint", "events", "cpu_s")
    return {key: (fingerprint, events, cpu_s) for key, fingerprint, events, cpu_s in rows.iter_rows()}
