"""Keeps what simulations of expensive fixtures gave, from one run of the tests to the next and for all workers of one.

A run is named by its content: the build of the extension and the Python code around it, the resolved scenario, the seed, what is measured.
`target/test-runs` has a file for each, sealed with its digest; one that is damaged is as none. The oldest go when there are too many.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from conftest import ROOT
from fairlane import _core
from fairlane.study import one_run
from fairlane.study.model import Outcome, Task

FOLDER = ROOT / "target" / "test-runs"
LIMIT = 256 << 20
"""Bytes that all files together may have."""
WORTH = 0.02
"""Seconds of processor time from which on a run is kept."""
LEFT = 3600
"""Seconds after which a file that is not complete, or a lock, was left by a process that is gone."""
_SEAL = hashlib.sha256().digest_size


@functools.cache
def build() -> str:
    """Digest of all code that decides what a run gives, but for its scenario."""
    package = Path(one_run.__file__).parent.parent
    code = [Path(_core.__file__), *sorted(p for part in ("base", "study") for p in (package / part).rglob("*.py"))]
    digest = hashlib.sha256(f"{sys.version} {version('polars')}".encode())
    for path in code:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


class RunCache:
    """Runs a task, or reads what it gave before. For several threads and processes at once: each run is made by the first that asks."""

    def __init__(self, folder: Path = FOLDER, run: Callable[..., Outcome] = one_run.run_task, limit: int = LIMIT) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._run, self._limit = folder, run, limit

    def __call__(self, task: Task, *halt: Any) -> Outcome:
        if task.plugins or one_run.announced.times:  # whose code is in no key
            return self._run(task, *halt)
        path = self._folder / hashlib.sha256(repr((build(), task)).encode()).hexdigest()
        kept = _read(path)
        if kept is None:
            with _alone(path.with_suffix(".lock")):
                kept = _read(path)
                if kept is None:
                    made = self._run(task, *halt)
                    if not made.error and made.cpu_s >= WORTH:
                        _write(path, made)
                    return made
        with suppress(FileNotFoundError):
            os.utime(path)
        return kept

    def trim(self) -> None:
        """Removes the files that were not used for longest until the limit is kept, and what processes left that were killed."""
        found = []
        for file in self._folder.iterdir():
            with suppress(FileNotFoundError):  # of another run of the tests, which removed it
                found.append((file.stat().st_mtime, file.stat().st_size, file))
        room = self._limit
        for used, size, file in sorted(found, reverse=True):
            room -= size
            if room < 0 or (file.suffix and used < time.time() - LEFT):
                file.unlink(missing_ok=True)


def _read(path: Path) -> Outcome | None:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    whole = len(data) > _SEAL and hashlib.sha256(data[_SEAL:]).digest() == data[:_SEAL]
    return pickle.loads(data[_SEAL:]) if whole else None


def _write(path: Path, outcome: Outcome) -> None:
    data = pickle.dumps(outcome)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".new", delete=False) as file:
        file.write(hashlib.sha256(data).digest() + data)
    Path(file.name).replace(path)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Lets one in at a time. The next may find the file gone and another one in its place: then two do the same work, with one result."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
