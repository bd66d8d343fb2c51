"""Integrity of a study's folder: which files are whole, which are damaged, and which are foreign.

Every byte is covered by a checksum (`base/checksums.py`), which is compared before anything reads a file: a reader of Parquet may give
other numbers for a flipped bit, or bring the process down.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from ..base.checksums import UNSEALED, fault_in
from ..base.files import in_place_of_file, reason
from ..errors import FolderError
from . import plan_file
from .one_run import SCHEMA, seal_of

INDEX = "index.parquet"
_KEY = re.compile(r"[0-9a-f]{32}")
Stamp = tuple[int, int, int, int]


def stamp(path: Path) -> Stamp:
    """Returns values that differ after every change of a file, whatever the clock says."""
    s = path.stat()
    return s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns


def seal_of_part(name: str) -> str:
    """Returns the seal of a part."""
    return f"part/1 {name}"


SEAL_OF_INDEX = "index/2"


@dataclass
class Found:
    """The files of a folder. Names are paths below it."""

    files: dict[str, str] = field(default_factory=dict)
    """Where each key is read from."""
    whole: dict[str, frozenset[str]] = field(default_factory=dict)
    """All keys of each part."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Bytes of the file of each key that no part has."""
    stamps: dict[str, Stamp] = field(default_factory=dict)
    """Stamps of the files whose checksums are correct."""
    damaged: dict[str, str] = field(default_factory=dict)
    """Files that do not count, and why."""
    doubled: list[str] = field(default_factory=list)
    """Runs that a part has, too."""
    left: list[str] = field(default_factory=list)
    """Unfinished files of a process that was killed."""
    strange: list[str] = field(default_factory=list)
    """Files that do not belong there."""
    blocked: dict[str, str] = field(default_factory=dict)
    """Names taken by something that is not a file (a pipe, a folder), with the reason; readers ignore them."""
    checked: int = 0
    """Files whose sums were compared."""

    def notes(self, folder: Path) -> list[str]:
        """Returns notes for the user, one line each."""
        kept = {n: fault for n, fault in self.damaged.items() if "/" in n}
        unsealed = [n for n, fault in kept.items() if fault == UNSEALED]
        torn = [n for n in kept if n not in unsealed]
        out = []
        if torn:
            what = "1 file is not a whole result" if len(torn) == 1 else f"{len(torn)} files are not whole results"
            does = "does" if len(torn) == 1 else "do"
            fault = kept[torn[0]].removeprefix("is damaged: ")
            out.append(f"{what} and {does} not count, what {_it(torn)} held is run again: {_some(torn)} ({fault})")
        if unsealed:
            what = "1 file carries" if len(unsealed) == 1 else f"{len(unsealed)} files carry"
            out.append(
                f"{what} no checksum of this version (kept by another version of fairlane, or damaged) and "
                f"{'does' if len(unsealed) == 1 else 'do'} not count, what {_it(unsealed)} held is run again: {_some(unsealed)}"
            )
        out += [f"{folder / n} {fault}; it is written again" for n, fault in self.damaged.items() if n not in kept]
        out += [f"{folder / n} {fault}" for n, fault in self.blocked.items()]
        if self.strange:
            out.append(f"foreign files in {folder} are ignored: {_some(self.strange)}")
        return out


def _it(names: list[str]) -> str:
    return "it" if len(names) == 1 else "they"


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def survey(folder: Path, *, read_only: bool) -> Found:
    """Looks at everything in the folder; changes nothing.

    Raises:
        FolderError: somebody who writes cannot continue: a pipe where a run belongs, a study of a later version.
        FileNotFoundError: another process brings files together just now.
    """
    found = Found()
    refuse = _refusal(found, folder, read_only=read_only)
    for path in _entries(folder):
        if path.suffix == ".part":
            _leftover(found, folder, path)
    for path, name in _kept(found, folder, "parts", refuse):
        if _compare(found, folder, name, seal_of_part(path.stem)):
            keys = _keys_of(path)
            if not keys:
                found.damaged[name] = UNSEALED
                continue
            found.whole[name] = frozenset(keys)
            for key in keys:
                found.files.setdefault(key, name)
    for path, name in _kept(found, folder, "runs", refuse):
        if path.stem in found.files:
            found.doubled.append(name)
        elif _compare(found, folder, name, seal_of(path.stem)):
            found.files[path.stem] = name
            found.sizes[path.stem] = found.stamps[name][1]
    for name in (INDEX, plan_file.NAME):
        path = folder / name
        if os.path.lexists(path) and not refuse(path):
            found.checked += 1
            fault = plan_file.fault(folder) if name == plan_file.NAME else fault_in(path, SEAL_OF_INDEX)
            if fault:
                found.damaged[name] = fault
            elif name == plan_file.NAME and not read_only and plan_file.is_later(folder):
                raise FolderError(f"{path} was written by a later version of fairlane: choose another folder")
    return found


def _refusal(found: Found, folder: Path, *, read_only: bool) -> Callable[[Path], bool]:
    def refuse(path: Path) -> bool:
        kind = in_place_of_file(path)
        if not kind:
            return False
        if not read_only:
            raise FolderError(f"{path} is {kind}, not a file: move it away")
        found.blocked[str(path.relative_to(folder))] = f"cannot be read: it is {kind}, not a file"
        return True

    return refuse


def _kept(found: Found, folder: Path, part: str, refuse: Callable[[Path], bool]) -> Iterator[tuple[Path, str]]:
    """The files of results in a part of the folder with their names; what else is there is noted."""
    for path in _entries(folder / part):
        if path.suffix == ".part":
            _leftover(found, folder, path)
        elif not is_named(path):
            _stranger(found, folder, path)
        elif not refuse(path):
            yield path, f"{part}/{path.name}"


def _entries(place: Path) -> Iterator[Path]:
    """Yields the entries of a folder, sorted by name."""
    try:
        there = sorted(place.iterdir())
    except FileNotFoundError:
        return iter(())
    return (p for p in there if not p.name.startswith("."))


def is_named(path: Path) -> bool:
    """Returns true if a file has the name of a run or a part."""
    return path.suffix == ".parquet" and _KEY.fullmatch(path.stem) is not None


def _leftover(found: Found, folder: Path, path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        _stranger(found, folder, path)
    else:
        found.left.append(str(path.relative_to(folder)))


def _stranger(found: Found, folder: Path, path: Path) -> None:
    kind = in_place_of_file(path)
    found.strange.append(str(path.relative_to(folder)) + (f" ({kind})" if kind else ""))


def _compare(found: Found, folder: Path, name: str, what: str) -> bool:
    """Returns true if a file is whole."""
    path = folder / name
    before = stamp(path)
    found.checked += 1
    try:
        fault = fault_in(path, what)
    except OSError as e:
        if e.errno != errno.EIO:
            raise
        fault = f"is damaged: {reason(e)}"
    if fault:
        found.damaged[name] = fault
    else:
        found.stamps[name] = before
    return not fault


def _keys_of(path: Path) -> list[str] | None:
    """The keys of a part in their order; None if its table is not one of runs."""
    scan = pl.scan_parquet(path, glob=False)
    if dict(scan.collect_schema()) != SCHEMA:
        return None
    return scan.select(pl.col("key").unique(maintain_order=True)).collect()["key"].to_list()


def changed(folder: Path, names: Iterable[str], stamps: dict[str, Stamp], what: Callable[[str], str]) -> str | None:
    """The first of these files that is no longer what it was, in one line; `stamps` learns of those that are."""
    for name in names:
        path = folder / name
        now = stamp(path)
        if stamps.get(name) == now:
            continue
        if fault := fault_in(path, what(name)):
            return f"{path} {fault}"
        stamps[name] = now
    return None
