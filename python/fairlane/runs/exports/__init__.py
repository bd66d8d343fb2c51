"""Exports: one run in the format of another program."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from ...base.files import save_bytes
from ...base.outputs import new_file
from ...errors import FairlaneError, suggest
from .selection import Selection, sampled

if TYPE_CHECKING:
    from ..result import Result


@dataclass(frozen=True)
class Format:
    """Export format."""

    name: str
    ending: str
    what: str
    """Contents of the file."""
    reads: str
    """Programs that read it."""
    write: Callable[[Selection], bytes]
    takes: tuple[str, ...] = ()
    """Supported selections: `flows`, `links`."""


def _flent(part: Selection) -> bytes:
    from .flent import flent_bytes

    sampled(part, "flow_series", "flow", ())
    return flent_bytes(part.result, part.seed)


def _qlog(part: Selection) -> bytes:
    from .qlog import qlog_bytes

    return qlog_bytes(part)


def _mahimahi(part: Selection) -> bytes:
    from .mahimahi import mahimahi_bytes

    return mahimahi_bytes(part)


FORMATS = (
    Format("flent", ".flent.gz", "goodput and RTT of each flow over time", "flent", _flent),
    Format(
        "qlog",
        ".qlog",
        "window, RTT, recovery and timeouts of TCP flows, from the event trace",
        "qlog tools",
        _qlog,
        ("flows",),
    ),
    Format(
        "mahimahi",
        ".trace",
        "times (ms) at which a link can carry 1500 bytes, one per line",
        "mm-link, `trace` of a link",
        _mahimahi,
        ("links",),
    ),
)


def export(
    result: Result,
    format: str,
    file: str | PathLike[str],
    *,
    seed: int | None = None,
    flow: str | Iterable[str] = (),
    link: str | Iterable[str] = (),
    force: bool = False,
) -> Path:
    """See `Result.export`."""
    known = {f.name: f for f in FORMATS}
    if format not in known:
        raise suggest(format, list(known), "format of export")
    of = known[format]
    given = {"flows": _names(flow), "links": _names(link)}
    for key, names in given.items():
        if names and key not in of.takes:
            takes = f"it supports a selection of {' and '.join(of.takes)}" if of.takes else "it writes the whole run"
            raise FairlaneError(f"{format} has no selection of {key}: {takes}")
    chosen = result.seeds[0] if seed is None else seed
    if chosen not in result.seeds:
        raise suggest(str(chosen), [str(s) for s in result.seeds], "seed")
    path = new_file(Path(fspath(file)), force=force)
    save_bytes(path, of.write(Selection(result, chosen, given["flows"], given["links"])), new=not force)
    return path


def _names(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
