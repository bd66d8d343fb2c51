"""Demand matrices over time: the dynamic traffic of SNDlib, a file for each time in a folder or an archive.

Each file is a network of SNDlib, native or XML, with demands; its metadata have the unit and the time. Files are taken in the order of
their times, else of their names.
"""

from __future__ import annotations

import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.files import read_input, reason
from ..errors import FairlaneError, InputError, short
from .edges import graphml
from .sndlib import native

MOST_MATRICES = 10_000
MOST_BYTES = 16 << 20
"""Most bytes of one matrix."""
_UNITS = {"bitpersec": 1, "kbitpersec": 10**3, "mbitpersec": 10**6, "gbitpersec": 10**9}
_ENDINGS = (".txt", ".xml")
_TIME = re.compile(r"\d{8}-?\d{4}")
_HELP = (
    "\n  = help: the archives of dynamic traffic are on the site of SNDlib, such as directed-abilene-zhang-5min-over-6months-ALL-native.tgz"
)


@dataclass
class Matrix:
    """Demands that hold for one period."""

    label: str
    """The time in the file, else its name."""
    demands: list[dict[str, str]]


def read_matrices(source: str, nodes: list[str], unit: str = "", first: int = 0, most: int | None = None) -> tuple[list[Matrix], list[str]]:
    """Reads the matrices of a folder or of an archive (.tgz, .tar, .zip) for a network with these nodes, and notes.

    `unit` is that of files without one, such as MBITPERSEC. `first` and `most` choose a part of the matrices.
    """
    files = sorted(_names(source), key=_order)
    if not files:
        raise FairlaneError(f"{source} has no matrix: its files are expected to end in {' or '.join(_ENDINGS)}{_HELP}")
    chosen = files[first : None if most is None else first + most]
    if not chosen:
        raise FairlaneError(f"{source} has {len(files)} matrices, none from number {first} on\n  = help: the first has number 0")
    if len(chosen) > MOST_MATRICES:
        raise FairlaneError(
            f"{source} has {len(chosen)} matrices, and at most {MOST_MATRICES} are read\n  = help: choose a part with --matrices"
        )
    known = set(nodes)
    out: list[Matrix] = []
    strangers: dict[str, int] = {}
    for name, data in _contents(source, chosen):
        out.append(_matrix(data, f"{source}/{name}", known, unit, strangers))
    notes = []
    if strangers:
        shown = ", ".join(short(x) for x in list(strangers)[:4])
        notes.append(f"demands of nodes that the network does not have are left out: {shown}{', ...' if len(strangers) > 4 else ''}")
    if len(chosen) < len(files):
        notes.append(f"{len(chosen)} of the {len(files)} matrices are used")
    return out, notes


def flows(matrices: list[Matrix], period: str) -> tuple[dict[str, Any], str]:
    """Returns a flow group for each matrix, which begins and ends with its period, and the duration of all of them."""
    from .. import _core

    value = round(_core.quantity("dur", period)[0] * 1e12) if _core.quantity_kind(period) == "dur" else 0
    if value < 10**6:
        raise FairlaneError(f"cannot read the period {short(period)}: write a time from 1us on, such as 1s")
    ends = [_time(value * i) for i in range(len(matrices) + 1)]
    groups = {
        f"demands{i}": {
            "pairs": {"matrix": {"demands": m.demands}}, "udp": {}, "source": {"poisson": {"size": "1000B"}},
            "start": ends[i], **({"stop": ends[i + 1]} if i + 1 < len(matrices) else {}),
        }
        for i, m in enumerate(matrices) if m.demands
    }  # fmt: skip
    if not groups:
        raise FairlaneError("no matrix has a demand between nodes of the network\n  = help: nodes are compared by their names")
    return groups, ends[-1]


def _time(picoseconds: int) -> str:
    for unit, size in (("s", 10**12), ("ms", 10**9), ("us", 10**6)):
        if picoseconds % size == 0:
            return f"{picoseconds // size}{unit}"
    return f"{picoseconds}ps"


def _order(name: str) -> tuple[str, str]:
    found = _TIME.findall(name)
    return (found[-1].replace("-", "") if found else "", name)


def _names(source: str) -> list[str]:
    """Returns the files of a folder or of an archive."""
    try:
        if Path(source).is_dir():
            return [p.name for p in Path(source).iterdir() if p.suffix.lower() in _ENDINGS and p.is_file()]
        if zipfile.is_zipfile(source):
            with zipfile.ZipFile(source) as z:
                return [i.filename for i in z.infolist() if i.filename.lower().endswith(_ENDINGS) and not i.is_dir()]
        with tarfile.open(source) as t:
            return [m.name for m in t if m.isfile() and m.name.lower().endswith(_ENDINGS)]
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError) as e:
        raise InputError(f"cannot read {source} as a folder or an archive of matrices: {short(str(e))}{_HELP}") from None
    except OSError as e:
        raise InputError(f"cannot read {source}: {reason(e)}") from None


def _contents(source: str, names: list[str]) -> Iterator[tuple[str, bytes]]:
    """Yields the chosen files in their order. An archive that is compressed as a whole is read once."""
    if Path(source).is_dir():
        for name in names:
            yield name, _checked(name, read_input(str(Path(source) / name)))
        return
    try:
        if zipfile.is_zipfile(source):
            with zipfile.ZipFile(source) as z:
                for name in names:
                    with z.open(name) as f:
                        yield name, _checked(name, f.read(MOST_BYTES + 1))
            return
        wanted = set(names)
        found: dict[str, bytes] = {}
        with tarfile.open(source) as t:
            for member in t:
                if member.name in wanted and (inner := t.extractfile(member)) is not None:
                    found[member.name] = zlib.compress(_checked(member.name, inner.read(MOST_BYTES + 1)), 1)
    # Of zipfile: RuntimeError for a file with a password, NotImplementedError for a compression that it does not have.
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as e:
        raise InputError(f"cannot read {source}: {short(str(e))}") from None
    except OSError as e:
        raise InputError(f"cannot read {source}: {reason(e)}") from None
    for name in names:
        yield name, zlib.decompress(found[name])


def _checked(name: str, data: bytes) -> bytes:
    if len(data) > MOST_BYTES:
        raise InputError(f"the matrix {name} has more than {MOST_BYTES >> 20} MiB")
    return data


def _matrix(data: bytes, name: str, known: set[str], default: str, strangers: dict[str, int]) -> Matrix:
    graph = graphml(data, name) if name.lower().endswith(".xml") else native(data, name)
    unit = str((getattr(graph, "about", None) or {}).get("capacity_unit") or default).lower()
    factor = _UNITS.get(unit)
    if factor is None:
        raise FairlaneError(f"{name} does not say the unit of its demands\n  = help: its metadata have for instance unit = MBITPERSEC")
    demands = []
    for start, end, amount, line in getattr(graph, "demands", ()):
        absent = [x for x in (start, end) if x not in known]
        for x in absent:
            strangers[x] = line
        bits = round(amount * factor)
        if bits < 0:
            raise FairlaneError(f"{name}{f':{line}' if line else ''}: the demand from {short(start)} to {short(end)} is negative")
        if bits and not absent and start != end:
            demands.append({"from": start, "to": end, "rate": f"{bits}bit/s"})
    found = _TIME.findall(name)
    return Matrix(found[-1] if found else Path(name).name, demands)
