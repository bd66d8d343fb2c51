"""Event tables: what is recorded of a run, the Parquet files it goes to while the run goes on, and how they are read."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.cores import available_threads
from ..base.extras import need
from ..base.files import reason
from ..errors import FairlaneError, FolderError, suggest

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

FOLDER = "trace"
PART = re.compile(r"trace/seed=\d+(/\d{6}\.parquet|\.tr)")
"""Files of a table in a result folder: for each run a folder with parts in the order of time, or one file with lines of ns-2's traces."""
FORMATS = ("parquet", "ns2")
UNFINISHED = ".unfinished"
_LINES = ("enqueue", "dequeue", "arrive", "drop")
"""What ns-2 has lines for: `+`, `-`, `r`, `d`."""
_KEYS = {"event": "events", "flow": "flows", "link": "links"}
_PACKED = ("seq", "ack", "payload", "length", "packet", "queue_packets", "queue_bytes", "cwnd", "ssthresh", "time_ps")
_TEXTS = ("event", "flow", "link", "ecn", "reason", "flags", "state")


@dataclass(frozen=True)
class Trace:
    """What `run` records, one row an event.

    `events`, `flows` and `links` are names, one or several (a group stands for its flows); a row has to match each that is given, so
    `links` leaves out what happens at endpoints. `time`: from when and to when, such as `("10s", "20s")`, either may be None. `folder`:
    where the files go, a folder for each seed; without it they last as long as the program. `format`: "parquet", or "ns2"
    for the lines that ns-2 writes, in one file for each seed.
    """

    events: str | Iterable[str] = ()
    flows: str | Iterable[str] = ()
    links: str | Iterable[str] = ()
    time: tuple[str | None, str | None] = (None, None)
    folder: str | PathLike[str] | None = None
    format: str = "parquet"

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise suggest(self.format, list(FORMATS), "format of traces")

    def arguments(self) -> tuple[list[str], list[str], list[str], str | None, str | None, bool]:
        """What `_core.run` takes."""
        lines = self.format == "ns2"
        events = _names(self.events) or (list(_LINES) if lines else [])
        if lines and (other := [e for e in events if e not in _LINES]):
            raise FairlaneError(f"ns-2's traces have no lines for `{other[0]}`: they have {', '.join(_LINES)}")
        return events, _names(self.flows), _names(self.links), *self.time, lines


def _names(value: str | Iterable[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def as_trace(value: Any) -> Trace:
    """True, the text of a filter, or a `Trace`, as a `Trace`."""
    if isinstance(value, Trace):
        return value
    if value is True:
        return Trace()
    if isinstance(value, str):
        return parse_filter(value)
    raise FairlaneError(f"cannot record {value!r}: give True, a filter such as 'event=drop link=bottleneck', or fairlane.Trace(...)")


def parse_filter(text: str, folder: str | PathLike[str] | None = None, format: str = "parquet") -> Trace:
    """The filter `event=drop,mark flow=tcp link=bottleneck time=10s..20s`; names alone are those of events.

    >>> parse_filter("drop,mark link=bottleneck time=10s..").time
    ('10s', None)
    """
    found: dict[str, Any] = {}
    for word in text.split():
        key, equals, value = word.partition("=")
        if not equals:
            key, value = "event", word
        if key != "time" and key not in _KEYS:
            raise suggest(key, ["event", "flow", "link", "time"], "condition of a trace")
        if not value:
            raise FairlaneError(f"cannot read the condition {word!r}: write {key}={'10s..20s' if key == 'time' else 'NAME,NAME'}")
        if key == "time":
            start, dots, end = value.partition("..")
            if not dots:
                raise FairlaneError(f"cannot read the condition {word!r}: write time=10s..20s, time=10s.. or time=..20s")
            found["time"] = (start or None, end or None)
        else:
            found.setdefault(_KEYS[key], []).extend(name for name in value.split(",") if name)
    return Trace(**found, folder=folder, format=format)


class Writer:
    """Writes batches as they come, each a file that has its name when it is whole; other threads than the run's do it."""

    def __init__(self, folder: Path, seeds: Sequence[int], *, lines: bool = False) -> None:
        if not lines:
            need("arrow")
        self.folder, self.seeds = folder, seeds
        self.parts = [0] * len(seeds)
        self.crew = ThreadPoolExecutor(min(4, available_threads()), "trace")
        self.under_way: deque[Future[None]] = deque()
        try:
            for seed in seeds:
                (folder / f"seed={seed}").mkdir(parents=True) if not lines else folder.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise FolderError(f"cannot write {folder}: {reason(e)}") from e

    def take(self, run: int, rows: int, columns: bytes | list[tuple[str, str, bytes, bytes | None, list[str] | None]]) -> None:
        """One batch, lines or columns; waits while as many are under way as there are threads, so that memory stays flat."""
        if isinstance(columns, bytes):
            self._append(self.folder / f"seed={self.seeds[run]}.tr", columns, first=not self.parts[run])
            self.parts[run] += 1
            return
        target = self.folder / f"seed={self.seeds[run]}" / f"{self.parts[run]:06d}.parquet"
        self.parts[run] += 1
        while len(self.under_way) > 4:
            self.under_way.popleft().result()
        self.under_way.append(self.crew.submit(_write, target, rows, columns))

    @staticmethod
    def _append(target: Path, lines: bytes, *, first: bool) -> None:
        try:
            with target.open("xb" if first else "ab") as file:
                file.write(lines)
        except OSError as e:
            raise FolderError(f"cannot write {target}: {reason(e)}") from e

    def close(self) -> None:
        """Waits until all is written; the first failure is raised."""
        try:
            while self.under_way:
                self.under_way.popleft().result()
        finally:
            self.crew.shutdown(cancel_futures=True)


def _write(target: Path, rows: int, columns: list[tuple[str, str, bytes, bytes | None, list[str] | None]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({column[0]: _array(pa, rows, column) for column in columns})
    temporary = target.with_name(f".{target.name}.part")
    try:
        pq.write_table(
            table,
            temporary,
            compression="zstd",
            compression_level=1,
            use_dictionary=list(_TEXTS),
            column_encoding=dict.fromkeys(_PACKED, "DELTA_BINARY_PACKED"),
            write_statistics=["time_ps"],
            store_schema=False,
        )
        temporary.replace(target)
    except OSError as e:
        temporary.unlink(missing_ok=True)
        raise FolderError(f"cannot write {target}: {reason(e)}") from e


def _array(pa: Any, rows: int, column: tuple[str, str, bytes, bytes | None, list[str] | None]) -> pa.Array:
    _, kind, values, valid, texts = column
    buffers = [None if valid is None else pa.py_buffer(valid), pa.py_buffer(values)]
    if kind == "names":
        return pa.DictionaryArray.from_arrays(pa.Array.from_buffers(pa.int32(), rows, buffers), pa.array(texts, pa.string()))
    if kind == "bool":
        return pa.Array.from_buffers(pa.uint8(), rows, buffers).cast(pa.bool_())
    return pa.Array.from_buffers(pa.int64() if kind == "int64" else pa.int32(), rows, buffers)


def place_of(folder: str | PathLike[str], *, force: bool = False) -> Path:
    """Where the table of a result folder lies while the run goes on: beside it, for all to see, since a killed run leaves it."""
    path = Path(fspath(folder)).absolute()
    place = path.with_name(path.name + UNFINISHED)
    if os.path.lexists(place):
        if not force:
            raise FolderError(f"{place} exists: a run that did not end has recorded it; move it away, or replace it with force=True")
        if place.is_symlink() or not place.is_dir() or {p.name for p in place.iterdir()} - {FOLDER}:
            raise FolderError(f"{place} is not what a run has recorded: not replaced")
        shutil.rmtree(place)
    return place


@contextmanager
def beside(folder: str | PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """The table's place while the run goes on, removed in the end: what is whole has moved on, what failed is not kept."""
    place = place_of(folder, force=force)
    try:
        yield place / FOLDER
    finally:
        shutil.rmtree(place, ignore_errors=True)


_UNNAMED: list[tempfile.TemporaryDirectory[str]] = []
"""Folders that go when the program ends: a lazy frame may outlive the result it is of."""


def temporary() -> Path:
    """A folder for a table that nobody named."""
    _UNNAMED.append(tempfile.TemporaryDirectory(prefix="fairlane-trace-"))
    return Path(_UNNAMED[-1].name)


def scan(folder: Path) -> pl.LazyFrame:
    """The table, lazily, with `time` in seconds."""
    import polars as pl

    if not any(folder.glob("seed=*/*.parquet")):
        raise FairlaneError(f"{folder} has lines of ns-2's traces, and no table")
    frame = pl.scan_parquet(folder / "seed=*" / "*.parquet", hive_partitioning=True, hive_schema={"seed": pl.Int64})
    others = [name for name in frame.collect_schema().names() if name not in ("seed", "time_ps")]
    return frame.select("seed", (pl.col("time_ps") / 1e12).alias("time"), *others, "time_ps")
