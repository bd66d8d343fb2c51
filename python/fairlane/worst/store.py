"""The evaluations of a search, kept in its folder, so that the same command resumes: one JSON line for each batch."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import FolderError

NAME = "evaluations.jsonl"
Values = tuple[float | None, ...]


class Kept:
    """Values by path, side and seeds; without a folder they are in memory."""

    def __init__(self, folder: Path | None, head: Mapping[str, Any]) -> None:
        """Reads what is there; raises `FolderError` if it belongs to another search."""
        self.values: dict[str, Values] = {}
        self.seconds: dict[int, float] = {}
        """Time that each batch of the search took, by its number."""
        self.path = None if folder is None else folder / NAME
        self._head = json.dumps(head, sort_keys=True)
        self._started = False
        if self.path is not None and self.path.exists():
            self._read(self.path)

    def _read(self, path: Path) -> None:
        whole = path.read_bytes()
        # The last line of a process that was killed is not whole.
        lines = whole[: whole.rfind(b"\n") + 1].decode("utf-8", "replace").splitlines()
        if not lines:
            return
        if lines[0] != self._head:
            raise FolderError(f"{path.parent} holds another search, or one of another version: choose another folder with --out")
        for number, line in enumerate(lines[1:], 2):
            try:
                entry = json.loads(line)
                self.values |= {k: tuple(v) for k, v in entry["values"].items()}
            except (ValueError, KeyError, TypeError, AttributeError):
                raise FolderError(f"{path} is damaged in line {number}: remove the file to search again") from None
            if "batch" in entry:
                self.seconds[entry["batch"]] = entry["seconds"]
        if len(whole) > whole.rfind(b"\n") + 1:
            os.truncate(path, whole.rfind(b"\n") + 1)
        self._started = True

    def put(self, values: Mapping[str, Sequence[float | None]], batch: int | None = None, seconds: float = 0.0) -> None:
        """Keeps new values; `batch`: they complete this batch of the search, which took so long."""
        self.values |= {k: tuple(v) for k, v in values.items()}
        entry: dict[str, Any] = {"values": {k: list(v) for k, v in values.items()}}
        if batch is not None:
            self.seconds[batch] = seconds
            entry |= {"batch": batch, "seconds": seconds}
        if self.path is None or (not values and batch is None):
            return
        with self.path.open("a", encoding="utf-8") as f:
            if not self._started:
                f.write(self._head + "\n")
                self._started = True
            f.write(json.dumps(entry, separators=(",", ":")) + "\n")
