"""Where the results of runs are kept: a folder that a study may be torn out of at any instant, and lose no result and double none.

* `runs/KEY.parquet`: one file per run, written elsewhere and renamed. The name is the run's content hash, so a result that comes twice is
  the same file twice.
* `parts/*.parquet`: the same rows of many runs, made of small files so that ten thousand runs are opened in a moment. A part is on the
  disk, and named in the index, before its small files go; readers take each key from one file, so a key that is in two does not
  count twice.
* `index.parquet`: one row per run, with the file that holds it.

What is renamed survives the end of the process. A power failure may cost the runs of the last seconds, which the system had not written
yet: they are found to be torn or missing when the folder is opened, and run again. Only parts and large runs wait for the disk.

Each of these files carries a checksum of all its bytes, compared before it is read (`survey.py`): a damaged one does not count.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Self

import polars as pl

from ..base.checksums import SealError, fault_of, seal_parquet
from ..base.files import in_place_of_file, open_file, reason, remove_empty
from ..errors import FairlaneError, FolderError
from . import plan_file, run_list
from .integrity import INDEX, SEAL_OF_INDEX, Stamp, changed, is_named, seal_of_part, stamp, survey
from .lock import Lock
from .model import Outcome
from .one_run import SCHEMA, seal_of

PART_RUNS = 512
"""Small files that become one part."""
PART_BYTES = 32 << 20
"""A part is made sooner if the files have this much in them."""
SMALL = 256 << 10
"""Larger runs stay files of their own, and are written through to the disk at once."""
_AT_ONCE = 256
"""Files that are not parts, in one batch of what is read."""
INDEX_COLUMNS = ("combination", "replication", "seed", "key", "status", "kind", "error", "file", "fingerprint", "events", "cpu_s")
"""Columns of the index; those of the factors follow."""

_GO_ON = "all finished runs are kept, run the study again to resume"


@contextmanager
def opened(folder: str | PathLike[str]) -> Iterator[Store]:
    """The store of a folder, closed at the end. What was made for it goes again if an error comes before the first result."""
    path = Path(fspath(folder)).absolute()
    made = [p for p in (path, *path.parents) if not p.exists()]
    try:
        with Store(folder) as store:
            try:
                yield store
            except FairlaneError:
                if made and not store:  # while no other process can begin to write in it
                    shutil.rmtree(path, ignore_errors=True)
                raise
    except FairlaneError:
        remove_empty([path / "runs", *made] if made else [])
        raise


class Store:
    """The runs of a folder; holds its lock until `close`.

    `read_only` takes no lock and changes nothing, for readers of results.
    """

    def __init__(self, folder: str | PathLike[str], *, read_only: bool = False) -> None:
        self.folder = Path(fspath(folder))
        self.notes: list[str] = []
        """Notes for the user about the contents of the folder."""
        self._runs, self._parts = self.folder / "runs", self.folder / "parts"
        self._files: dict[str, str] = {}
        """Where each key is read from: path below the folder."""
        self._small: dict[str, int] = {}
        """Bytes of the small files that no part has."""
        self._whole: dict[str, frozenset[str]] = {}
        """All keys of each part."""
        self._stamps: dict[str, Stamp] = {}
        """Stamps of files whose checksums are correct; a file that has changed since is checked again before it is read."""
        self._damaged: list[str] = []
        self._lock: Lock | None = None
        self._read_only = read_only
        if not read_only:
            self._claim()
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    # --- opening and closing ----------------------------------------------------------------------------

    def _claim(self) -> None:
        """Makes the folder and locks it; refuses one that has other things in it."""
        try:
            for place in (self.folder, self._runs, self._parts):
                if os.path.lexists(place) and not place.is_dir():
                    raise FolderError(
                        f"{place} is {in_place_of_file(place) or 'a file'}, not a folder: move it away, or choose another folder"
                    )
            own = not self.folder.is_dir() or _is_ours(self._runs) or run_list.is_one(self.folder) or plan_file.is_one(self.folder)
            if not own and any(not p.name.startswith(".") for p in self.folder.iterdir()):
                raise FolderError(f"{self.folder} is not a study's folder, and not empty: choose another folder")
            self._runs.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise FolderError(f"cannot write {self.folder}: {reason(e)}") from None
        self._lock = Lock(self.folder)

    def _open(self) -> None:
        for _ in range(20):
            try:
                self._look()
                return
            except FileNotFoundError:
                continue  # read while another process brings files together: look again
            except OSError as e:
                raise FolderError(f"cannot read {e.filename or self.folder}: {reason(e)}") from None
        raise FolderError(f"cannot read {self.folder}: its files change all the time")

    def look_again(self) -> None:
        """Finds what is there after an interrupt, which may have come between a file and the note of it."""
        self._open()

    def _look(self) -> None:
        """Finds what is there; removes what a process that was killed left behind, and what is no result."""
        found = survey(self.folder, read_only=self._read_only)
        self._files, self._whole, self._stamps = found.files, found.whole, found.stamps
        self._small = {key: size for key, size in found.sizes.items() if size <= SMALL}
        self._damaged = [f"{self.folder / name} {fault}" for name, fault in found.damaged.items()]
        if not self._read_only:
            for name in (*found.left, *found.doubled, *found.damaged):
                (self.folder / name).unlink(missing_ok=True)
        notes = [self._lock.note] if self._lock is not None and self._lock.note else []
        self.notes = notes + found.notes(self.folder)

    def close(self) -> None:
        """Gives the folder free for others; what is in it can be read on."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None
        self._read_only = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- results ----------------------------------------------------------------------------------------

    def __contains__(self, key: object) -> bool:
        return key in self._files

    def __len__(self) -> int:
        return len(self._files)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def file(self, key: str) -> str | None:
        """The file that holds a key, as a path below the folder."""
        return self._files.get(key)

    def put(self, outcome: Outcome) -> None:
        """Keeps a result; when this returns it survives the end of the process."""
        if outcome.key in self._files:
            return
        path = self._runs / f"{outcome.key}.parquet"
        self._write(path, outcome.data, through=len(outcome.data) > SMALL)
        name = self._files[outcome.key] = f"runs/{path.name}"
        self._stamps[name] = stamp(path)
        if len(outcome.data) <= SMALL:
            self._small[outcome.key] = len(outcome.data)

    def scan(self, keys: Iterable[str]) -> pl.LazyFrame:
        """The tables of these runs below one another, each key once, in no particular order."""
        frames = self._frames(keys)
        return pl.concat(frames) if frames else pl.LazyFrame(schema=SCHEMA)

    def batches(self, keys: Iterable[str]) -> Iterator[pl.DataFrame]:
        """Yields the tables of whole runs, some at a time, for readers with little memory."""
        return (frame.collect() for frame in self._frames(keys))

    def _frames(self, keys: Iterable[str]) -> list[pl.LazyFrame]:
        wanted = dict.fromkeys(keys)
        if any(not (self.folder / self._files[k]).exists() for k in wanted if k in self._small):
            self._open()  # somebody has brought them together since
        missing = [k for k in wanted if k not in self._files]
        if missing:
            why = f" ({self._damaged[0]})" if self._damaged else ""
            raise FolderError(f"{self.folder} has no result for {len(missing)} runs, such as {missing[0]}{why}: run the study again")
        taken: dict[str, list[str]] = {}
        for key in wanted:
            taken.setdefault(self._files[key], []).append(key)
        self._be_sure(taken)
        single = [self.folder / f for f in taken if f not in self._whole]
        frames = [pl.scan_parquet(single[i : i + _AT_ONCE], glob=False) for i in range(0, len(single), _AT_ONCE)]
        for name, own in taken.items():
            if name in self._whole:
                part = pl.scan_parquet(self.folder / name, glob=False)
                frames.append(part if len(own) == len(self._whole[name]) else part.filter(pl.col("key").is_in(own)))
        return frames

    def _be_sure(self, names: Iterable[str]) -> None:
        """Looks again at files that were changed since their sums were compared; one that is damaged is never read."""
        try:
            fault = changed(self.folder, names, self._stamps, self._seal_of)
        except OSError as e:
            raise FolderError(f"cannot read {e.filename or self.folder}: {reason(e)}") from None
        if fault is not None:
            raise SealError(f"{fault}: run the study again, to repeat its runs")

    def _seal_of(self, name: str) -> str:
        return (seal_of_part if name in self._whole else seal_of)(Path(name).stem)

    # --- parts ------------------------------------------------------------------------------------------

    @property
    def untidy(self) -> bool:
        """True if there are enough small files for a part."""
        return len(self._small) >= PART_RUNS or sum(self._small.values()) >= PART_BYTES

    def tidy(self, write_index: Callable[[], object] = lambda: None) -> None:
        """Brings small files together while there are enough of them.

        The part is on the disk first, then the index names it (`write_index`), then the small files go: whenever this is cut off,
        every key has a file, and the index names one that is there.
        """
        while self.untidy:
            chosen: list[str] = []
            size = 0
            for key, n in self._small.items():
                chosen.append(key)
                size += n
                if len(chosen) == PART_RUNS or size >= PART_BYTES:
                    break
            self._bring_together(sorted(chosen), write_index)

    def _bring_together(self, keys: list[str], write_index: Callable[[], object]) -> None:
        stem = hashlib.sha256("".join(keys).encode()).hexdigest()[:32]
        name = f"parts/{stem}.parquet"
        small = [self._runs / f"{k}.parquet" for k in keys]
        self._be_sure(self._files[k] for k in keys)
        out = io.BytesIO()
        try:
            rows = pl.read_parquet(small, glob=False)
            rows.write_parquet(out, compression="zstd", statistics=True, row_group_size=1 << 17)
        except (OSError, pl.exceptions.PolarsError) as e:
            raise FolderError(f"cannot read the runs in {self._runs}: {e}; run the study again to resume") from None
        try:
            if not self._parts.is_dir():
                self._parts.mkdir()
                _sync_folder(self.folder)
        except OSError as e:
            raise FolderError(f"cannot write {self._parts}: {reason(e)}; {_GO_ON}") from None
        self._write(self.folder / name, seal_parquet(out.getvalue(), seal_of_part(stem)), through=True)
        self._stamps[name] = stamp(self.folder / name)
        self._whole[name] = frozenset(keys)
        for key in keys:
            self._files[key] = name
            del self._small[key]
        write_index()
        for path in small:
            path.unlink(missing_ok=True)

    # --- index ------------------------------------------------------------------------------------------

    def write_index(self, index: pl.DataFrame) -> None:
        """Replaces `index.parquet`, the list of the study's runs."""
        out = io.BytesIO()
        index.write_parquet(out, compression="zstd")
        self._write(self.folder / INDEX, seal_parquet(out.getvalue(), SEAL_OF_INDEX))

    def read_index(self) -> pl.DataFrame | None:
        """The index as it was written last; None if there is none, or none that is whole."""
        try:
            with open_file(self.folder / INDEX) as f:
                data = f.read()
        except OSError:
            return None
        if fault_of(data, SEAL_OF_INDEX):
            return None
        index = pl.read_parquet(data)
        return index if set(INDEX_COLUMNS) <= set(index.columns) else None

    def _write(self, path: Path, data: Any, *, through: bool = False) -> None:
        """Puts a file in place whole; `through` waits until it is on the disk."""
        temp = path.with_suffix(".part")
        try:
            with temp.open("wb", buffering=0) as f:
                view = memoryview(data)
                while view:
                    view = view[f.write(view) :]
                if through:
                    os.fsync(f.fileno())
            temp.replace(path)
            if through:
                _sync_folder(path.parent)
        except OSError as e:
            try:
                temp.unlink(missing_ok=True)
            except OSError:  # a file system that went read-only: removed when the folder is opened next
                pass
            raise FolderError(f"cannot write {path}: {reason(e)}; {_GO_ON}") from None


def _is_ours(runs: Path) -> bool:
    """True if `runs` is the folder of a store: empty, or with results. Other programs have folders of this name."""
    if not runs.is_dir():
        return False
    there = [p for p in runs.iterdir() if not p.name.startswith(".")]
    return not there or any(is_named(p.with_suffix(".parquet")) for p in there)


def _sync_folder(path: Path) -> None:
    if os.name == "nt":  # no folder can be opened there; renaming is on the disk when it returns
        return
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    except OSError as e:
        if e.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems have no such thing for folders
            raise
    finally:
        os.close(fd)


def index_frame(columns: Mapping[str, list[Any]], factors: Mapping[str, list[Any]], file: Callable[[str], str | None]) -> pl.DataFrame:
    """An index of columns: those of `INDEX_COLUMNS`, where `file` tells the file of a key, then those of the factors."""
    types = {**dict.fromkeys(("combination", "replication", "events"), pl.Int64), "cpu_s": pl.Float64, "seed": pl.UInt64}
    every = {**columns, "file": [file(k) for k in columns["key"]]}
    series = [pl.Series(c, every[c], dtype=types.get(c, pl.String)) for c in INDEX_COLUMNS]
    return pl.DataFrame([*series, *(_labels(name, labels) for name, labels in factors.items())])


def _labels(name: str, labels: list[Any]) -> pl.Series:
    """Labels as one column: numbers if all of them are, text otherwise."""
    if all(isinstance(x, bool) for x in labels):
        return pl.Series(name, labels, dtype=pl.Boolean)
    if all(isinstance(x, int | float) and not isinstance(x, bool) for x in labels):
        return pl.Series(name, labels, dtype=pl.Int64 if all(isinstance(x, int) for x in labels) else pl.Float64)
    return pl.Series(name, [str(x) for x in labels], dtype=pl.String)
