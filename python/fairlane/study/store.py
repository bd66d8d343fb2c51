"""Where the results of cells are kept: one Parquet file a cell, put in place whole; a killed study loses none and doubles none."""

from __future__ import annotations

import os
from collections.abc import Iterable
from os import PathLike, fspath
from pathlib import Path

import polars as pl

from ..errors import FolderError
from ..folder import reason
from .cell import SCHEMA
from .model import Outcome


class Store:
    """The cells of a folder: `cells/KEY.parquet`.

    The name of a file is the cell's content hash, so putting a result twice writes the same file twice.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(fspath(folder))
        self._cells = self.folder / "cells"
        try:
            self._cells.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise FolderError(f"cannot write {self.folder}: {reason(e)}") from e
        self._keys = {p.stem for p in self._cells.glob("*.parquet")}

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def __len__(self) -> int:
        return len(self._keys)

    def put(self, outcome: Outcome) -> None:
        """Keeps a result; when this returns it survives the end of the process."""
        path = self._cells / f"{outcome.key}.parquet"
        temp = path.with_suffix(".part")
        try:
            temp.write_bytes(outcome.data)
            os.replace(temp, path)
        except OSError as e:
            temp.unlink(missing_ok=True)
            raise FolderError(f"cannot write {path}: {reason(e)}; all finished cells are kept, run the study again to go on") from e
        self._keys.add(outcome.key)

    def scan(self, keys: Iterable[str]) -> pl.LazyFrame:
        """The tables of these cells below one another, in no particular order."""
        files = [self._cells / f"{k}.parquet" for k in keys]
        return pl.scan_parquet(files) if files else pl.LazyFrame(schema=SCHEMA)

    def tidy(self) -> None:
        """Brings many small files together in few."""

    def write_index(self, index: pl.DataFrame) -> None:
        """Replaces `index.parquet`, the list of the study's cells."""
        temp = self.folder / "index.parquet.part"
        index.write_parquet(temp)
        os.replace(temp, self.folder / "index.parquet")

    def close(self) -> None:
        """Gives the folder free for others."""
