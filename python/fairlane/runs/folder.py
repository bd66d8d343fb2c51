"""Result folders: written under a temporary name and renamed at the end, so that a folder is complete or absent."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..base.checksums import MEMBER, dump_json, fault_of_text
from ..base.files import open_file, reason, replacing, write_file
from ..base.outputs import open_folder
from ..base.partial_files import put_back, where_it_is
from ..base.sha256sums import digest_in
from ..errors import FolderError
from . import limit_tables
from .document import json_chunks
from .pcap import ENDING
from .tables import SERIES, StoredTables, metric_tables, series_tables, write_series
from .trace import FOLDER, PART

if TYPE_CHECKING:
    from .data import ResultData

R = TypeVar("R", bound="ResultData")

MANIFEST = "manifest.json"
MANIFEST_SCHEMA = "fairlane.results/2"
_EARLIER = "fairlane.results/1"
"""Earlier format, without the checksum of the manifest."""
_TABLES = ("flows", "groups", "links", "network")


def check_free(folder: str | PathLike[str], *, force: bool = False) -> Path:
    """Returns the path if results can be written there; raises an error before any run otherwise."""
    path = Path(fspath(folder))
    put_back(path)
    if os.path.lexists(path):
        if not force:
            raise FolderError(f"{path} exists: choose another folder, or replace it with force=True")
        if not path.is_dir() or path.is_symlink():
            raise FolderError(f"{path} exists and is not a folder: not replaced")
        if not _may_replace(path):
            raise FolderError(f"{path} is not a result folder (it has no manifest.json of fairlane): not replaced")
    # The folder is written next to the target and renamed at the end.
    open_folder(path.absolute().parent, path)
    try:
        path.lstat()
    except FileNotFoundError:
        pass
    except OSError as e:
        raise FolderError(f"cannot write {path}: {reason(e)}") from None
    return path


def _may_replace(path: Path) -> bool:
    """Returns True for a result folder and for an empty folder."""
    if not path.is_dir() or path.is_symlink():
        return False
    return ((path / MANIFEST).is_file() and is_kept(path)) or not any(path.iterdir())


def _as_json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def save(
    result: ResultData, folder: str | PathLike[str], *, force: bool = False, captures: Iterable[Path] = (), moves: bool = False
) -> Path:
    """Writes a result folder; see `Result.save`. The files `captures` are moved into it, and with `moves` also the event trace."""
    from .. import _core
    from ..base import toml
    from ..base.document import finite

    path = check_free(folder, force=force)
    scenario = result.description
    with replacing(path, _may_replace if force else None) as temp:
        written: dict[str, dict[str, Any]] = {}

        def put(name: str, data: bytes) -> None:
            written[name] = {"sha256": write_file(temp / name, data), "bytes": len(data)}

        # Without rows of flows, the expanded scenario is not stored: it may list millions of flows.
        put("scenario.json", _as_json(finite(scenario if result.rows_of == "groups" else result.scenario)))
        put("scenario.toml", toml.dumps(scenario).encode())
        put("run.json", "".join(json_chunks(result)).encode())
        tables = {name: result.table(name) for name in metric_tables(result)} | limit_tables.tables(result.seeds, result._why)
        for name, frame in tables.items():
            buffer = io.BytesIO()
            frame.write_parquet(buffer)
            put(f"{name}.parquet", buffer.getvalue())
        for name in series_tables(result):
            file = temp / f"{name}.parquet"
            if write_series(result, name, file):
                written[file.name] = {"sha256": digest_in(file), "bytes": file.stat().st_size}
        for file in captures:
            written[file.name] = {"sha256": digest_in(file), "bytes": file.stat().st_size}
            shutil.move(file, temp / file.name)
        if result.trace_folder is not None:
            for name, part in _parts(result.trace_folder):
                written[name] = {"sha256": digest_in(part), "bytes": part.stat().st_size}
                (temp / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.move(part, temp / name) if moves else shutil.copyfile(part, temp / name)
        manifest = {
            "schema": MANIFEST_SCHEMA,
            "fairlane": _core.version(),
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "created_by": f"fairlane {_core.version()}",
            "seeds": result.seeds,
            "fingerprints": result.fingerprints,
            "runs": finite([{**r, "warnings": [str(w) for w in r["warnings"]]} for r in result.info]),
            "files": written,
        }
        write_file(temp / MANIFEST, dump_json(manifest))
    return path


def _parts(folder: Path) -> list[tuple[str, Path]]:
    """Returns the files of an event trace with their names in a result folder."""
    files = sorted([*folder.glob("seed=*/*.parquet"), *folder.glob("seed=*.tr"), *folder.glob("seed=*.nam")])
    return [(f"{FOLDER}/{p.relative_to(folder).as_posix()}", p) for p in files]


def _is_large(name: str) -> bool:
    """Returns True for files that may be larger than memory: captures, event traces and series."""
    return name.endswith(ENDING) or PART.fullmatch(name) is not None or name.removesuffix(".parquet") in SERIES


def load(folder: str | PathLike[str], cls: type[R]) -> R:
    """Reads a result folder as a `cls`: checks every file against the manifest, and the manifest against its own checksum."""
    import polars as pl

    path = Path(fspath(folder))
    manifest = _manifest(path)
    files: dict[str, Any] = manifest["files"]
    data: dict[str, bytes] = {}
    for name in files:
        if fault := _compare(path, name, files[name], None if _is_large(name) else data):
            raise FolderError(f"{path / name} {fault}")
    try:
        rows = [n for n in _TABLES if n != ("flows" if "groups.parquet" in data else "groups")]
        frames = {n: pl.read_parquet(io.BytesIO(data[f"{n}.parquet"])) if f"{n}.parquet" in data else pl.DataFrame() for n in rows}
        tables = StoredTables(frames, {n: path / f"{n}.parquet" for n in SERIES if f"{n}.parquet" in files})
        for name in SERIES:
            tables.names(name)  # reports an invalid file now, not on first access
        result = cls(json.loads(data["scenario.json"]), manifest["runs"], tables)
        tables_of_limits = {n: pl.read_parquet(io.BytesIO(data[f"{n}.parquet"])) for n in limit_tables.TABLES if f"{n}.parquet" in data}
        result._why = limit_tables.runs_of(result.seeds, tables_of_limits)
    except (ValueError, KeyError, pl.exceptions.PolarsError) as e:
        raise FolderError(f"{path} is not a result folder of fairlane: {e}") from None
    result.captures = [path / name for name in files if name.endswith(ENDING)]
    result.trace_folder = path / FOLDER if any(PART.fullmatch(name) for name in files) else None
    return result


def _manifest(path: Path) -> dict[str, Any]:
    """Reads and checks the manifest of a folder."""
    try:
        with open_file(path / MANIFEST) as f:
            raw = f.read()
    except OSError as e:
        raise FolderError(f"{path} is not a result folder: cannot read {path / MANIFEST}: {reason(e)}{where_it_is(path)}") from None
    try:
        manifest: dict[str, Any] = json.loads(raw)
        schema = manifest.get("schema")
        if schema != _EARLIER and (fault := fault_of_text(raw)) and (schema == MANIFEST_SCHEMA or MEMBER in raw):
            raise FolderError(f"{path / MANIFEST} {fault}")
        if schema not in (MANIFEST_SCHEMA, _EARLIER):
            raise FolderError(f"{path} has the format {schema!r}, this version reads {MANIFEST_SCHEMA!r}")
        named = all(Path(name).name == name or PART.fullmatch(name) for name in manifest["files"])
        whole = named and all(isinstance(f["sha256"], str) for f in manifest["files"].values())
        if not whole or not isinstance(manifest["runs"], list):
            raise ValueError("no manifest")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        raise FolderError(f"{path} is not a result folder: its manifest.json is damaged") from None
    return manifest


def _compare(path: Path, name: str, entry: dict[str, Any], keep: dict[str, bytes] | None) -> str:
    """Returns the fault of a file, "" if it matches the manifest; its data goes into `keep`."""
    try:
        if keep is None:
            digest = digest_in(path / name)
        else:
            with open_file(path / name) as f:
                keep[name] = f.read()
            digest = hashlib.sha256(keep[name]).hexdigest()
    except FileNotFoundError:
        return "is missing"
    except OSError as e:
        return f"cannot be read: {reason(e)}"
    return "" if digest == entry["sha256"] else "was changed after it was written: its checksum differs from the manifest"


def is_kept(folder: Path) -> bool:
    """Returns True if the `manifest.json` of a folder is one of fairlane: other programs use this name, too."""
    if any((folder / name).exists() for name in ("scenario.toml", "run.json")):
        return True
    try:
        with open_file(folder / MANIFEST) as f:
            return b"fairlane.results/" in f.read(256)
    except OSError:
        return False


def faults(folder: Path, wanted: Callable[[str], bool] = lambda _: True) -> tuple[int, dict[str, str]]:
    """Returns the number of files of a result folder, with its manifest, and the faults of the `wanted` files."""
    try:
        files = _manifest(folder)["files"]
    except FolderError as e:
        return 1, {MANIFEST: str(e).removeprefix(f"{folder / MANIFEST} ").removeprefix(f"{folder} ")}
    found = {name: _compare(folder, name, entry, None) for name, entry in files.items() if wanted(name)}
    return 1 + len(files), {name: fault for name, fault in found.items() if fault}
