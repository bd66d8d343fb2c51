"""Import of packet captures: the extension reads the packets, polars computes the tables."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from .. import _core
from ..base.files import reason
from ..errors import FairlaneError, FolderError, InputError
from ..runs.trace import scan, scan_parts
from .event_metrics import Flow, Recorded, step_of, tables
from .imported import ImportedRun


def read_capture(file: Path, folder: Path, step: int | None) -> ImportedRun:
    """Reads a pcap or pcapng file; the event trace goes to `folder`."""
    try:
        flows, begin, span, packets, events, remarks = _core.read_capture(str(file), str(folder / "seed=0"))
    except OSError as e:
        raise FolderError(f"cannot read {file} into {folder}: {reason(e)}") from None
    except FairlaneError as e:
        raise InputError(f"cannot import {file}: {e}") from None
    if not flows:
        why = "; ".join(remarks) or "no packets"
        raise InputError(f"cannot import {file}: no TCP or UDP packets found ({why})")
    named = [Flow(name, start, end, "tcp" if tcp else "udp") for name, start, end, tcp, *_ in flows]
    spanned = max(span * 1000, 1_000_000)
    of = Recorded(scan(folder), named, span=spanned, one_way=False, parts=scan_parts(folder))
    chosen = step_of(spanned, len(named), step)
    late = sum(f[6] for f in flows)
    if late:
        remarks.append(f"{late} segment{'s are' if late != 1 else ' is'} out of order and not counted as retransmissions")
    found = tables(of, chosen)
    return ImportedRun(
        "", named, [], found, spanned, chosen, events=events, remarks=remarks, traced=folder, began=_date(begin), packets=packets
    )


def _date(nanoseconds: int) -> str | None:
    try:
        return datetime.fromtimestamp(nanoseconds / 1e9, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError, OSError):
        return None
