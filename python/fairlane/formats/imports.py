"""`import_file`: imports a recording of another program as a result."""

from __future__ import annotations

import gzip
import hashlib
import shutil
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ..base.extras import need
from ..base.files import open_file, reason, staging
from ..errors import FairlaneError, InputError, ScenarioWarning
from .readers import HEAD, Reader, names, reader_of

if TYPE_CHECKING:
    from ..runs.result import Result
    from .imported import ImportedRun

MOST_UNPACKED = 64 << 30
"""Most bytes of a compressed file after decompression."""
_SEED = 0
"""Seed of an imported run in tables."""


def reader_for(file: Path) -> Reader:
    """Returns the reader of a file, chosen by its first bytes; an error lists the supported formats."""
    try:
        with open_file(file) as f:
            head = f.read(HEAD)
            if head[:2] == b"\x1f\x8b":
                f.seek(0)
                head = _first_unpacked(f)
    except (EOFError, zlib.error):
        raise InputError(f"cannot read {file}: its compressed data is truncated or damaged") from None
    except OSError as e:
        raise InputError(f"cannot read {file}: {reason(e)}") from None
    if not head:
        raise InputError(f"cannot read {file}: it is empty")
    found = reader_of(head)
    if found is None:
        raise FairlaneError(f"cannot import {file}: unknown format; supported are {names()}, also gzipped (fairlane import --list)")
    return found


def _first_unpacked(f: BinaryIO) -> bytes:
    """Returns the first bytes of a compressed file, as far as they can be read."""
    head = b""
    with gzip.GzipFile(fileobj=f) as inner:
        try:
            while len(head) < HEAD and (more := inner.read1(HEAD)):
                head += more
        except (EOFError, zlib.error, OSError):
            if not head:
                raise
    return head


def import_file(
    file: str | PathLike[str], folder: str | PathLike[str] | None = None, *, force: bool = False, sample: str | None = None
) -> Result:
    """Imports a capture, a trace or a log of another program as a result with tables, series and, of packets, events.

    `fairlane import --list` lists the formats. The file may be compressed by gzip. A truncated file is read to its end, with a warning.

    `folder`: a result folder to write; without it the event trace exists until the program ends. `sample`: the step of the time series
    (default: a round number that gives about a thousand samples). See docs/guides/formats.md.
    """
    need("tables")
    from ..runs.folder import check_free, save

    path = Path(fspath(file))
    target = None if folder is None else check_free(folder, force=force)
    reader = reader_for(path)
    step = None if sample is None else _picoseconds(sample)
    with nullcontext(_unnamed()) if target is None else staging(target) as place:
        with nullcontext((path, "")) if reader.unpacks else _unpacked(path, place) as (plain, remark):
            imported = reader.load()(plain, place / "trace", step)
        imported.kind = reader.name
        imported.remarks += [remark] if remark else []
        result = _result(path, imported)
        if target is None:
            return result
        save(result, target, force=force, moves=True)
    from ..runs.result import load

    return load(target)


@contextmanager
def _unpacked(path: Path, place: Path) -> Iterator[tuple[Path, str]]:
    """Yields the file, or a decompressed copy, and a remark."""
    try:
        with open_file(path) as f:
            packed = f.read(2) == b"\x1f\x8b"
    except OSError as e:
        raise InputError(f"cannot read {path}: {reason(e)}") from None
    if not packed:
        yield path, ""
        return
    folder = place / ".unpacked"
    plain = folder / (path.name.removesuffix(".gz") or "capture")
    try:
        try:
            folder.mkdir(parents=True)
            remark = _unpack(path, plain)
        except OSError as e:
            raise InputError(f"cannot unpack {path}: {reason(e)}") from None
        yield plain, remark
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unpack(path: Path, plain: Path) -> str:
    """Decompresses a file; returns a remark."""
    total = 0
    with open_file(path) as f, gzip.GzipFile(fileobj=f) as inner, plain.open("xb") as out:
        try:
            while data := inner.read1(1 << 20):
                total += len(data)
                if total > MOST_UNPACKED:
                    raise InputError(f"cannot import {path}: its decompressed size exceeds {MOST_UNPACKED >> 30} GiB")
                out.write(data)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            return "its compressed data is truncated or damaged; only the readable part was imported"
    return ""


def _unnamed() -> Path:
    from ..runs.trace import temporary_folder

    return temporary_folder()


def _picoseconds(text: str) -> int:
    from .. import _core

    if _core.quantity_kind(text) != "dur":
        raise FairlaneError(f"cannot read the step {text!r}: write a time, such as 10ms")
    step = round(_core.quantity("dur", text)[0] * 1e12)
    if step < 1_000_000:
        raise FairlaneError(f"a step of {text} is too short: the minimum is 1us")
    return step


def _result(path: Path, of: ImportedRun) -> Result:
    from ..runs.result import Result

    nodes = list(dict.fromkeys([*(n for f in of.flows for n in (f.start, f.end)), *(n for _, a, b in of.links for n in (a, b))]))
    flows = [
        {"name": f.name, "group": f.name, "from": f.start, "to": f.end, "transport": f.transport, "start": "0s", "stop": None, "class": 0}
        for f in of.flows
    ]
    links = [{"name": name, "from": start, "to": end} for name, start, end in of.links]
    scenario: dict[str, Any] = {
        "name": path.name,
        "description": None,
        "duration": _time(of.span),
        "warmup": "0s",
        "seed": _SEED,
        "sample": _time(of.step),
        "imported": {"file": path.name, "format": of.kind, "began": of.began, "packets": of.packets, "sha256": _digest(path)},
        "links": {name: {"from": start, "to": end} for name, start, end in of.links},
        "flows": {f.name: {"from": f.start, "to": f.end, "count": 1} for f in of.flows},
        "expanded": {"nodes": nodes, "positions": {}, "links": links, "flows": flows},
    }
    info = {
        "seed": _SEED,
        "fingerprint": scenario["imported"]["sha256"][:16],
        "events": of.events,
        "packet_hops": 0,
        "cpu_s": 0.0,
        "setup_s": 0.0,
        "peak_packets": 0,
        "warnings": [ScenarioWarning(remark, "imported") for remark in of.remarks],
    }
    result = Result(scenario, [info], of.tables)
    result.trace_folder = of.traced
    return result


def _time(picoseconds: int) -> str:
    """Formats a time with the largest unit that leaves no fraction."""
    for size, unit in ((10**12, "s"), (10**9, "ms"), (10**6, "us"), (10**3, "ns")):
        if picoseconds % size == 0:
            return f"{picoseconds // size}{unit}"
    return f"{picoseconds}ps"


def _digest(path: Path) -> str:
    with open_file(path) as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def summary(result: Result) -> Sequence[str]:
    """Returns a line about the imported file."""
    from ..base.format import duration, seconds

    about = result.description["imported"]
    many = f"{len(result.flows)} flow{'s' * (len(result.flows) != 1)}"
    packets = f", {about['packets']} packets" if about["packets"] else ""
    began = f", from {about['began']} on" if about["began"] else ""
    return [f"{about['file']}: {about['format']}, {duration(seconds(result.description['duration']))}, {many}{packets}{began}"]
