"""A study on its way: which runs are open, what becomes of them, and the index that says so at any time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, fields

import polars as pl

from ..errors import FolderError
from .executors import WorkerPool
from .model import Combination, Outcome, Task
from .plan import Plan
from .progress import Tally
from .stopping import Stopping, replication_seeds
from .store import Store, index_frame

INDEX_SECONDS = 5.0
"""The index is written this often while runs run, unless writing takes long."""


@dataclass(slots=True)
class Row:
    """A row of the index: a replication of a combination. Rows with one key (equal scenarios) share its result."""

    combination: int
    replication: int
    seed: int
    key: str
    status: str = "open"
    kind: str = ""
    error: str = ""
    fingerprint: str | None = None
    events: int | None = None
    cpu_s: float | None = None

    def answer(self, other: Row) -> None:
        """The answer of a row with the same key."""
        self.status, self.kind, self.error = other.status, other.kind, other.error
        self.fingerprint, self.events, self.cpu_s = other.fingerprint, other.events, other.cpu_s


_COLUMNS = tuple(f.name for f in fields(Row))


class Interrupted(KeyboardInterrupt):
    """Ctrl-C: what is finished is kept."""


class Drive:
    """Runs the runs of a plan that a store does not have."""

    def __init__(self, plan: Plan, store: Store, tally: Tally) -> None:
        self.plan, self.store, self.tally = plan, store, tally
        precision = plan.spec.precision
        self._stopping = None if precision is None else Stopping(plan.spec, precision)
        self._known = _facts_of(store.read_index())
        self._rows: list[Row] = []
        self._of_key: dict[str, list[Row]] = {}
        self._of_combination: list[list[Row]] = [[] for _ in plan.combinations]
        self._open: list[int] = [0] * len(plan.combinations)
        """Runs of each combination without an answer."""
        self._beyond: list[int] = [0] * len(plan.combinations)
        """Runs that each combination is expected to need beyond those."""
        self._queue: deque[Row] = deque()
        self._running: set[str] = set()
        self._next_index = 0.0
        seeds = plan.spec.seeds
        first = list(seeds) if self._stopping is None else replication_seeds(seeds, self._stopping.first)
        for combination in plan.combinations:
            self._add(combination, first, 0)
        self._recall()
        if self._stopping is not None:
            self._stopping.remember([k for k in self._of_key if k in store], store)
        for combination in plan.combinations:
            self._settle(combination)

    @property
    def finished(self) -> bool:
        """True if the store has every run."""
        return not self._queue and self.tally.done == self.tally.runs

    def notes(self) -> list[str]:
        """Returns notes for the user about the contents of the folder."""
        others = [k for k in self.store if k not in self._of_key]
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
        lines = [f"{n} results in the folder are of fairlane {e}, this is {mine}: they are kept, not used" for e, n in engines.iter_rows()]
        return [*self.store.notes, *lines]

    def run(self, pool: WorkerPool, progress: Callable[[], object] | None = None) -> None:
        """Runs everything; the index is right at the end, however it comes. `progress` hears of the beginning and of the end as well."""
        tell = progress or (lambda: None)
        self.write_index()
        self.tally.begin()
        try:
            tell()
            self._tidy()
            if self._queue:
                with pool as workers:
                    workers.run(self._feed, self._done, tell)
            tell()
        except BaseException as e:
            # The error that ended the study is reported, not a failure to write the index after it: the next run writes the index.
            try:
                self._reconcile()
                self.write_index()
            except (FolderError, OSError, pl.exceptions.PolarsError):
                pass
            if isinstance(e, KeyboardInterrupt):
                t = self.tally
                raise Interrupted(
                    f"{t.done} of {t.runs} runs are finished and kept in {self.store.folder}; run the study again to resume"
                ) from None
            raise
        self.write_index()

    # --- runs ------------------------------------------------------------------------------------------

    def _add(self, combination: Combination, seeds: list[int], first: int) -> None:
        """More replications of a combination."""
        for i, seed in enumerate(seeds, first):
            row = Row(combination.index, i, seed, self.plan.key(combination, seed))
            self._rows.append(row)
            self._of_combination[combination.index].append(row)
            twins = self._of_key.setdefault(row.key, [])
            twins.append(row)
            self.tally.runs += 1
            answered = next((t for t in twins[:-1] if t.status != "open"), None)
            if answered is not None:
                row.answer(answered)
                self._count(row)
            elif row.key in self.store:
                row.status = "done"
                row.fingerprint, row.events, row.cpu_s = self._known.get(row.key, (None, None, None))
                self._count(row)
                self.tally.reused += 1
            else:
                self._open[combination.index] += 1
                self.tally.add(combination.index)
                if len(twins) == 1:
                    self._queue.append(row)

    def _count(self, row: Row) -> None:
        if row.status == "done":
            self.tally.done += 1
        else:
            self.tally.failed += 1

    def _recall(self) -> None:
        """Facts of results from before that the last index did not have: it was lost, or of another study."""
        unknown = [r.key for r in self._rows if r.status == "done" and not r.fingerprint]
        if not unknown:
            return
        facts = self.store.scan(unknown).filter((pl.col("table") == "run") & pl.col("metric").is_in(["fingerprint", "events"]))
        for key, value, text in facts.select("key", "value", "text").collect().iter_rows():
            for row in self._of_key[key]:
                if text is None:
                    row.events = int(value)
                else:
                    row.fingerprint = text

    def _reconcile(self) -> None:
        """Rows say what the folder has: an interrupt may have come between the file of a result and its row, or its count."""
        self.store.look_again()
        for row in self._rows:
            if row.status == "open" and row.key in self.store:
                row.status = "done"
        self._recall()
        self.tally.done = sum(row.status == "done" for row in self._rows)
        self.tally.failed = sum(row.status == "failed" for row in self._rows)

    def _feed(self) -> Task | None:
        while self._queue:
            row = self._queue.popleft()
            if row.status == "open":
                self._running.add(row.key)
                return self.plan.task(self.plan.combinations[row.combination], row.seed)
        return None

    def _done(self, outcome: Outcome) -> None:
        if outcome.key not in self._running:
            return
        error, kind = outcome.error, outcome.kind
        if not error:
            self.store.put(outcome)
        self._running.discard(outcome.key)
        settled: dict[int, Combination] = {}
        for row in self._of_key[outcome.key]:
            if error:
                row.status, row.kind, row.error = "failed", kind, error
            else:
                row.status, row.fingerprint, row.events, row.cpu_s = "done", outcome.fingerprint, outcome.events, outcome.cpu_s
            self._count(row)
            self.tally.ran(row.combination, outcome.cpu_s if not error else 0.0)
            self._open[row.combination] -= 1
            if not self._open[row.combination]:
                settled[row.combination] = self.plan.combinations[row.combination]
        for combination in settled.values():
            self._settle(combination)
        self._tidy()
        if time.monotonic() >= self._next_index:
            self.write_index()

    def _settle(self, combination: Combination) -> None:
        """All replications of a combination have an answer: are they enough?"""
        stopping = self._stopping
        while stopping is not None and not self._open[combination.index]:
            rows = self._of_combination[combination.index]
            more, beyond = 0, 0
            # A combination with failed runs gets no more: they are tried again first, next time.
            if all(r.status == "done" for r in rows):
                more, beyond = stopping.more(combination, [r.key for r in rows], self.store)
            self.tally.expected += beyond - self._beyond[combination.index]
            self._beyond[combination.index] = beyond
            if not more:
                return
            self._add(combination, replication_seeds(self.plan.spec.seeds, len(rows) + more)[len(rows) :], len(rows))

    def _tidy(self) -> None:
        if self.store.untidy:
            self.store.tidy(self.write_index)

    # --- index ------------------------------------------------------------------------------------------

    def index(self) -> pl.DataFrame:
        """one row per run, in the order of combinations and replications."""
        columns = {c: [getattr(r, c) for r in self._rows] for c in _COLUMNS}
        combinations = self.plan.combinations
        factors = {f.name: [combinations[r.combination].labels[f.name] for r in self._rows] for f in self.plan.spec.factors}
        return index_frame(columns, factors, self.store.file).sort("combination", "replication")

    def write_index(self) -> None:
        """Writes the index, and sees to it that this takes no more than a thousandth of the time."""
        began = time.monotonic()
        self.store.write_index(self.index())
        now = time.monotonic()
        self._next_index = now + max(INDEX_SECONDS, 1000 * (now - began))


def _facts_of(index: pl.DataFrame | None) -> dict[str, tuple[str | None, int | None, float | None]]:
    """Returns fingerprint, events and CPU seconds of the finished runs in the last index."""
    if index is None:
        return {}
    rows = index.filter(pl.col("status") == "done").select("key", "fingerprint", "events", "cpu_s")
    return {key: (fingerprint, events, cpu_s) for key, fingerprint, events, cpu_s in rows.iter_rows()}
