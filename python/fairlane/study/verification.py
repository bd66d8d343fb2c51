"""`fairlane verify`: compares every kept file below a folder with its checksum; changes nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import polars as pl

from .. import _core
from ..base import sha256sums
from ..base.checksums import SealError
from ..base.files import in_place_of_file, open_file, reason
from ..base.partial_files import where_it_is
from ..errors import FolderError
from ..runs import folder as results
from . import plan_file, run_list
from .integrity import INDEX, Found, is_named, survey
from .labels import count

SCHEMA = "fairlane.verify/1"
_TRIES = 20
_MOST = 20
"""Damaged files that are named to people."""


@dataclass
class Verified:
    """The result of `verify`."""

    folder: Path
    checked: int = 0
    """Files whose sums were compared, and those that should be there and are not."""
    damaged: dict[str, str] = field(default_factory=dict)
    """Files that are not what was written, as paths below the folder, and what is wrong with each."""
    notes: list[str] = field(default_factory=list)
    """Files that could not be checked or do not belong there."""

    @property
    def whole(self) -> bool:
        """True if nothing is damaged."""
        return not self.damaged

    def document(self) -> dict[str, Any]:
        """The document that `fairlane verify --json` prints."""
        return {
            "schema": SCHEMA,
            "fairlane": _core.version(),
            "folder": str(self.folder),
            "whole": self.whole,
            "checked": self.checked,
            "damaged": [{"file": name, "fault": fault} for name, fault in self.damaged.items()],
            "notes": self.notes,
        }

    def lines(self) -> list[str]:
        """Returns the result as text, one line per damaged file."""
        lines = [f"{self.folder / name} {fault}" for name, fault in list(self.damaged.items())[:_MOST]]
        if (more := len(self.damaged) - _MOST) > 0:
            lines.append(f"and {count(more, 'other file')} (--json has all)")
        n = f"{count(self.checked, 'file')} checked"
        if not self.damaged:
            return [*self.notes, f"{self.folder}: {n}, {'it is' if self.checked == 1 else 'all are'} whole"]
        return [
            *lines,
            *self.notes,
            f"{self.folder}: {n}, {len(self.damaged)} damaged or missing; the command that made the folder puts them right",
        ]


def verify(folder: str | PathLike[str]) -> Verified:
    """Compares every file that fairlane keeps in a folder, and in folders inside of it, with its checksum.

    Runs, parts and the index of a study, `study.json`, result folders by their manifest, and tables, pictures and pages by `SHA256SUMS`.
    Nothing is removed: a study, search or reproduction that is run again does that itself, and runs again what is damaged.

    Raises `FolderError` if there is nothing that fairlane keeps, or it cannot be read.
    """
    top = Path(fspath(folder))
    if not top.is_dir():
        raise FolderError(
            f"{top} is {in_place_of_file(top) or 'a file'}, not a folder"
            if os.path.lexists(top)
            else f"there is no folder {top}{where_it_is(top)}"
        )
    done = Verified(top)
    known = False
    try:
        for place, folders, names in os.walk(top, onerror=_raise):
            folders.sort()
            folders[:] = [f for f in folders if not f.startswith(".")]
            here = Path(place)
            there = {*folders, *names}
            if is_store := _is_store(here, there):
                known = True
                _store(done, here)
                lost = _lost(there)
                _add(done, here, len(lost), lost)
                folders[:] = [f for f in folders if f not in ("runs", "parts")]
            if results.MANIFEST in there and results.is_kept(here):
                known = True
                _add(done, here, *results.faults(here))
            if sha256sums.NAME in there:
                known = True
                _sums(done, here)
            elif written := sorted(there & _WRITTEN) if is_store else _document(here, there):
                known = True
                _add(
                    done,
                    here,
                    1,
                    {sha256sums.NAME: f"is missing, and {written[0]} is there: tables, pictures and the page were not checked"},
                )
    except OSError as e:
        raise FolderError(f"cannot read {e.filename or top}: {reason(e)}") from None
    if not known:
        raise FolderError(f"{top} has nothing that fairlane keeps: no study, search, reproduction or result folder")
    return done


_WRITTEN = {"index.html", "runs.csv", "summary.csv", "settings.csv", "trials.csv", "front.csv", "tune.json", "plots"}
"""Files of a study or a search, besides its runs, that exist when its list of checksums is written."""
_DOCUMENTS = {"reproduction.json": b'"fairlane.reproduc', "tune.json": b'"fairlane.tune/'}
"""Documents of a reproduction or a search, whose runs may be missing, with the text they begin with."""


def _document(here: Path, there: set[str]) -> list[str]:
    """The document of a reproduction or a search in a folder: other programs have files of these names, too."""
    found = []
    for name, mark in _DOCUMENTS.items():
        if name in there and not in_place_of_file(here / name):
            with open_file(here / name) as f:
                found += [name] if mark in f.read(256) else []
    return found


def _is_store(here: Path, there: set[str]) -> bool:
    """Returns true if a folder is that of a study, a search or a reproduction's runs. Other programs have files of these names, too."""
    if (INDEX in there and "runs" in there) or (run_list.NAME in there and run_list.is_one(here)):
        return True
    if plan_file.NAME in there and not in_place_of_file(here / plan_file.NAME) and plan_file.format_of(here):
        return True
    return (here / "runs").is_dir() and any(is_named(p) for p in (here / "runs").iterdir())


def _raise(e: OSError) -> None:
    raise e


def _add(done: Verified, here: Path, checked: int, faults: dict[str, str]) -> None:
    below = here.relative_to(done.folder)
    done.checked += checked
    done.damaged.update({str(below / name): fault for name, fault in faults.items()})


def _store(done: Verified, here: Path) -> None:
    """The runs, parts and index of a study; one that runs brings files together meanwhile."""
    missing: dict[str, str] = {}
    for _ in range(_TRIES):
        try:
            found = survey(here, read_only=True)
        except FileNotFoundError:
            continue
        # A run that was just brought into a part is where the next look finds it.
        before, missing = missing, _missing(here, found)
        if missing == before:
            break
    else:
        raise FolderError(f"cannot read {here}: its files change all the time")
    if found.strange:
        done.notes.append(f"foreign files in {here} were not checked: {', '.join(found.strange)}")
    _add(done, here, found.checked + len(found.blocked) + len(missing), found.damaged | found.blocked | missing)


def _lost(there: set[str]) -> dict[str, str]:
    """Returns required files of a study's folder that are missing."""
    if INDEX in there and plan_file.NAME not in there:
        return {plan_file.NAME: "is missing, and the index is there"}
    if INDEX not in there and {plan_file.NAME, sha256sums.NAME} <= there:
        return {INDEX: "is missing, and the tables are there"}
    return {}


def _missing(here: Path, found: Found) -> dict[str, str]:
    """Returns finished runs of the index or the list of runs that no file contains, except those of damaged files."""
    return _unlisted(here, found) | _unindexed(here, found)


def _unlisted(here: Path, found: Found) -> dict[str, str]:
    try:
        keys, fault = run_list.read(here)
    except OSError:
        return {}
    if fault:
        return {run_list.NAME: fault}
    reported = found.damaged.keys() | found.blocked.keys()
    if any(name.startswith("parts/") for name in reported):
        return {}  # which runs a damaged part holds is not known
    names = (f"runs/{key}.parquet" for key in keys if key not in found.files)
    return {name: f"is missing, and {run_list.NAME} has it" for name in names if name not in reported}


def _unindexed(here: Path, found: Found) -> dict[str, str]:
    if INDEX in found.damaged or INDEX in found.blocked:
        return {}
    try:
        with open_file(here / INDEX) as f:
            index = pl.read_parquet(f.read(), columns=["key", "status", "file"])
    except FileNotFoundError:
        return {}  # a search has none, nor has a study that was stopped before it wrote one
    except (OSError, pl.exceptions.PolarsError):
        return {}  # of another version
    reported = found.damaged.keys() | found.blocked.keys()
    done = index.filter(pl.col("status") == "done").select("key", "file").iter_rows()
    return {
        f"runs/{key}.parquet": "is missing, and the index has it as done"
        for key, file in done
        if key not in found.files and file not in reported
    }


def _sums(done: Verified, here: Path) -> None:
    for _ in range(_TRIES):
        try:
            _add(done, here, *sha256sums.faults(here))
            return
        except FileNotFoundError:
            continue
        except SealError as e:
            _add(done, here, 1, {sha256sums.NAME: str(e).removeprefix(f"{here / sha256sums.NAME} ")})
            return
        except OSError as e:
            _add(done, here, 1, {sha256sums.NAME: f"cannot be read: {reason(e)}"})
            return
