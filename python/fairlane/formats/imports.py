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
from typing import TYPE_CHECKING, Any

from ..base.extras import need
from ..base.files import open_file, reason, staging
from ..errors import FairlaneError, InputError, ScenarioWarning

if TYPE_CHECKING:
    from ..runs.result import Result
    from .imported import ImportedRun

KINDS = ("pcap", "pcapng", "ns2", "flent")
_PCAP = {bytes.fromhex(m) for m in ("d4c3b2a1", "a1b2c3d4", "4d3cb2a1", "a1b23c4d")}
_PCAPNG = bytes.fromhex("0a0d0d0a")
MOST_UNPACKED = 64 << 30
"""Most bytes of a compressed file after decompression."""
_SEED = 0
"""Seed of an imported run in tables."""


def kind_of(file: Path) -> str:
    """Returns the format of a file by its first bytes; an error lists the supported formats."""
    try:
        with open_file(file) as f:
            head = f.read(512)
            if head[:2] == b"\x1f\x8b":
                f.seek(0)
                with gzip.GzipFile(fileobj=f) as inner:
                    head = inner.read1(512)
    except (EOFError, zlib.error):
        raise InputError(f"cannot read {file}: its compressed data is truncated or damaged") from None
    except OSError as e:
        raise InputError(f"cannot read {file}: {reason(e)}") from None
    if not head:
        raise InputError(f"cannot read {file}: it is empty")
    if head[:4] in _PCAP:
        return "pcap"
    if head[:4] == _PCAPNG:
        return "pcapng"
    if head.lstrip()[:1] == b"{":
        return "flent"
    if any(line[:2] in (b"+ ", b"- ", b"r ", b"d ", b"h ", b"e ", b"v ", b"s ", b"f ") for line in head.split(b"\n")):
        return "ns2"
    raise FairlaneError(f"cannot import {file}: unknown format; supported are pcap, pcapng, traces of ns-2 and .flent files, also gzipped")


def import_file(
    file: str | PathLike[str], folder: str | PathLike[str] | None = None, *, force: bool = False, sample: str | None = None
) -> Result:
    """Imports a pcap, pcapng, trace of ns-2 (`trace-all`, wired links) or `.flent` file as a result with tables, series and events.

    The file may be compressed by gzip. A truncated capture or trace is read to its end, with a warning.

    `folder`: a result folder to write; without it the event trace exists until the program ends. `sample`: the step of the time series
    (default: a round number that gives about a thousand samples). See docs/guides/formats.md.
    """
    need("tables")
    from ..runs.folder import check_free, save

    path = Path(fspath(file))
    target = None if folder is None else check_free(folder, force=force)
    kind = kind_of(path)
    step = None if sample is None else _picoseconds(sample)
    with nullcontext(_unnamed()) if target is None else staging(target) as place:
        if kind in ("pcap", "pcapng"):
            from .capture import read_capture as read
        elif kind == "ns2":
            from .ns2 import read_trace as read
        else:
            from .flent import read_flent as read
        with _unpacked(path, place) if kind != "flent" else nullcontext((path, "")) as (plain, remark):
            imported = read(plain, place / "trace", step)
        imported.kind = kind
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
