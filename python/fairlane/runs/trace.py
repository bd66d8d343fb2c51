"""Event traces: filters, the Parquet files that a run writes, and their tables."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.files import reason
from ..base.partial_files import held
from ..errors import FairlaneError, FolderError, short, suggest

if TYPE_CHECKING:
    import polars as pl

FOLDER = "trace"
PART = re.compile(r"trace/seed=\d+(/\d{6}\.parquet|\.tr|\.nam)")
"""Files of a trace in a result folder: per run a folder with parts in the order of time, or one file with lines."""
FORMATS = ("parquet", "ns2", "nam")
UNFINISHED = ".unfinished"
_LINES = ("enqueue", "dequeue", "arrive", "drop")
"""Events with a line in ns-2: `+`, `-`, `r`, `d`."""
_KEYS = {"event": "events", "flow": "flows", "link": "links"}


@dataclass(frozen=True)
class Trace:
    """Event trace for `run`, one row per event.

    `events`, `flows` and `links`: names, one or several (a group stands for its flows). A row must match all given conditions, so `links`
    excludes events of endpoints. `time`: start and end, such as `("10s", "20s")`, either may be None. `folder`: target with a folder per
    seed; without it, files exist until the program ends. `format`: "parquet", or one file per seed with the lines of ns-2 ("ns2") or
    of its animator ("nam").
    """

    events: str | Iterable[str] = ()
    flows: str | Iterable[str] = ()
    links: str | Iterable[str] = ()
    time: tuple[str | None, str | None] = (None, None)
    folder: str | PathLike[str] | None = None
    format: str = "parquet"

    def _repr_html_(self) -> str:
        from ..look.notebook import card, muted
        from ..look.sheet import Sheet

        rows = [[what, ", ".join(_names(getattr(self, what))) or "all"] for what in ("events", "flows", "links")]
        first, last = self.time
        rows += [["time", f"{first or 'the start'} to {last or 'the end'}"], ["format", self.format]]
        return card("Event trace", Sheet(["", ""], rows, words=(1,)), muted("Use run(..., trace=this), then result.trace()."))

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise suggest(self.format, list(FORMATS), "format of traces")

    def arguments(self, folder: Path) -> tuple[list[str], list[str], list[str], str | None, str | None, str, str]:
        """Returns the arguments of `_core.run`; the files go to `folder`."""
        lines = self.format != "parquet"
        events = _names(self.events) or (list(_LINES) if lines else [])
        if lines and (other := [e for e in events if e not in _LINES]):
            raise FairlaneError(f"{'ns-2' if self.format == 'ns2' else 'nam'} has no lines for `{other[0]}`, only for {', '.join(_LINES)}")
        return events, _names(self.flows), _names(self.links), *self.time, self.format, str(folder.absolute())


def _names(value: str | Iterable[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def as_trace(value: Any) -> Trace:
    """Converts True, the text of a filter, or a `Trace` to a `Trace`."""
    if isinstance(value, Trace):
        return value
    if value is True:
        return Trace()
    if isinstance(value, str):
        return parse_filter(value)
    raise FairlaneError(f"cannot record {value!r}: give True, a filter such as 'event=drop link=bottleneck', or fairlane.Trace(...)")


def parse_filter(text: str, folder: str | PathLike[str] | None = None, format: str = "parquet") -> Trace:
    """Parses a filter such as `event=drop,mark flow=tcp link=bottleneck time=10s..20s`; names without a key are events.

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
            raise FairlaneError(f"cannot read the condition {short(word)}: write {key}={'10s..20s' if key == 'time' else 'NAME,NAME'}")
        if key == "time":
            start, dots, end = value.partition("..")
            if not dots:
                raise FairlaneError(f"cannot read the condition {short(word)}: write time=10s..20s, time=10s.. or time=..20s")
            found["time"] = (start or None, end or None)
        else:
            found.setdefault(_KEYS[key], []).extend(name for name in value.split(",") if name)
    return Trace(**found, folder=folder, format=format)


def recording_path(folder: str | PathLike[str], *, force: bool = False) -> Path:
    """Returns the folder of a trace during the run: visible next to the result folder, because a killed run leaves it behind."""
    path = Path(fspath(folder)).absolute()
    place = path.with_name(path.name + UNFINISHED)
    if os.path.lexists(place):
        if not force:
            raise FolderError(f"{place} exists (the trace of an interrupted run): move it, or replace it with force=True")
        if place.is_symlink() or not place.is_dir() or {p.name for p in place.iterdir()} - {FOLDER}:
            raise FolderError(f"{place} is not a trace of fairlane: not replaced")
        with held(place) as gone:
            if gone is False:
                raise FolderError(f"another run writes to {place}: wait for it, or choose another folder")
            shutil.rmtree(place)
    return place


@contextmanager
def recording_folder(folder: str | PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """Yields the folder of a trace during the run and removes it at the end; complete traces have been moved by then."""
    place = recording_path(folder, force=force)
    try:
        place.mkdir(parents=True)
    except FileExistsError:
        raise FolderError(f"another run writes to {place}: wait for it, or choose another folder") from None
    except OSError as e:
        raise FolderError(f"cannot write {place}: {reason(e)}") from None
    with held(place):
        try:
            yield place / FOLDER
        finally:
            shutil.rmtree(place, ignore_errors=True)


_UNNAMED: list[tempfile.TemporaryDirectory[str]] = []
"""Folders that are removed when the program ends: a lazy frame may outlive its result."""


def temporary_folder() -> Path:
    """Creates a temporary folder for a trace without a named folder."""
    _UNNAMED.append(tempfile.TemporaryDirectory(prefix="fairlane-trace-"))
    return Path(_UNNAMED[-1].name)


def parts_of(folder: Path) -> list[tuple[int, Path]]:
    """Returns the seeds of a trace with the glob pattern of their parts."""
    names = (p.name.removeprefix("seed=") for p in folder.glob("seed=*"))
    seeds = sorted(int(name) for name in names if name.isdecimal() and any((folder / f"seed={name}").glob("*.parquet")))
    return [(seed, escape_glob(folder / f"seed={seed}") / "*.parquet") for seed in seeds]


def escape_glob(path: Path) -> Path:
    """Escapes brackets and stars in a path that is used as a glob pattern."""
    return Path(re.sub(r"([*?\[])", r"[\1]", str(path)))


def scan_parts(folder: Path) -> tuple[pl.LazyFrame, ...]:
    """Returns the files of the first run of a trace, in the order of time."""
    import polars as pl

    seed, _ = parts_of(folder)[0]
    files = sorted((folder / f"seed={seed}").glob("*.parquet"))
    return tuple(pl.scan_parquet(escape_glob(f), hive_partitioning=False) for f in files)


def scan(folder: Path) -> pl.LazyFrame:
    """Returns the trace as a lazy frame, with `time` in seconds."""
    import polars as pl

    parts = parts_of(folder)
    if not parts:
        raise FairlaneError(f"{folder} has lines for ns-2 or nam, but no table")
    frame = pl.concat(
        pl.scan_parquet(of, hive_partitioning=False).select(pl.lit(seed, dtype=pl.UInt64).alias("seed"), pl.all()) for seed, of in parts
    )
    others = [name for name in frame.collect_schema().names() if name not in ("seed", "time_ps")]
    return frame.select("seed", (pl.col("time_ps") / 1e12).alias("time"), *others, "time_ps")
