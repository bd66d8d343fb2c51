"""Result folders: written whole under a temporary name, then renamed, so that a folder is complete or absent."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.files import replacing, write_file
from ..errors import FolderError
from .pcap import ENDING

if TYPE_CHECKING:
    from .result import Result

MANIFEST_SCHEMA = "fairlane.results/1"


def check_free(folder: str | PathLike[str], *, force: bool = False) -> Path:
    """The folder's path, if results may be written there; otherwise an error, before any time is spent on a run."""
    path = Path(fspath(folder))
    if os.path.lexists(path):
        if not force:
            raise FolderError(f"{path} exists: choose another folder, or replace it with --force")
        if not path.is_dir() or path.is_symlink():
            raise FolderError(f"{path} exists and is not a folder: not replaced")
        if any(path.iterdir()) and not (path / "manifest.json").is_file():
            raise FolderError(f"{path} is not a result folder (it has no manifest.json): not replaced")
    parent = path.absolute().parent
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir():
        raise FolderError(f"cannot write {path}: {parent} is not a folder")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise FolderError(f"cannot write {path}: no permission to write in {parent}")
    return path


def _as_json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _digest(path: Path) -> str:
    """SHA-256 of a file that may be larger than memory."""
    with path.open("rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def save(result: Result, folder: str | PathLike[str], *, force: bool = False, captures: Iterable[Path] = ()) -> Path:
    """Writes a result folder; see `Result.save`. The files `captures` move into it."""
    from .. import _core
    from ..base import toml
    from ..base.document import finite

    path = check_free(folder, force=force)
    scenario = {k: v for k, v in result.scenario.items() if k not in ("expanded", "warnings")}
    with replacing(path) as temp:
        written: dict[str, dict[str, Any]] = {}

        def put(name: str, data: bytes) -> None:
            written[name] = {"sha256": write_file(temp / name, data), "bytes": len(data)}

        put("scenario.json", _as_json(finite(result.scenario)))
        put("scenario.toml", toml.dumps(scenario).encode())
        put("run.json", _as_json(result.document()))
        for name in ("flows", "links", "network", "flow_series", "link_series"):
            frame = result.table(name)
            if frame.height or not name.endswith("_series"):
                buffer = io.BytesIO()
                frame.write_parquet(buffer)
                put(f"{name}.parquet", buffer.getvalue())
        for file in captures:
            written[file.name] = {"sha256": _digest(file), "bytes": file.stat().st_size}
            shutil.move(file, temp / file.name)
        manifest = {
            "schema": MANIFEST_SCHEMA,
            "fairlane": _core.version(),
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "created_by": f"fairlane {_core.version()}",
            "seeds": result.seeds,
            "fingerprints": result.fingerprints,
            "runs": finite(result.info),
            "files": written,
        }
        write_file(temp / "manifest.json", _as_json(manifest))
    return path


def load(folder: str | PathLike[str]) -> Result:
    """Reads a result folder back, checking every file against the manifest."""
    import polars as pl

    from .result import Result

    path = Path(fspath(folder))
    try:
        manifest = json.loads((path / "manifest.json").read_text("utf-8"))
        if manifest.get("schema") != MANIFEST_SCHEMA:
            raise FolderError(f"{path} has the format {manifest.get('schema')!r}, this version reads {MANIFEST_SCHEMA!r}")
        data = {name: (path / name).read_bytes() for name in manifest["files"] if not name.endswith(ENDING)}
        digests = {name: _digest(path / name) for name in manifest["files"] if name not in data}
    except OSError as e:
        raise FolderError(f"{path} is not a result folder: {e.filename} is missing or unreadable") from e
    except (ValueError, KeyError, AttributeError, TypeError) as e:
        raise FolderError(f"{path} is not a result folder: its manifest.json is damaged") from e
    digests |= {name: hashlib.sha256(raw).hexdigest() for name, raw in data.items()}
    for name, digest in digests.items():
        if digest != manifest["files"][name]["sha256"]:
            raise FolderError(f"{path / name} was changed after it was written: its checksum differs from the manifest")
    names = ("flows", "links", "network", "flow_series", "link_series")
    tables = {n: pl.read_parquet(io.BytesIO(data[f"{n}.parquet"])) if f"{n}.parquet" in data else pl.DataFrame() for n in names}
    result = Result(json.loads(data["scenario.json"]), manifest["runs"], tables)
    result.captures = [path / name for name in manifest["files"] if name not in data]
    return result
