"""The record of where each claim changes, which follows from the recorded settings and takes seconds to find.

`python -m fairlane.papers.calibration KEY --boundaries` finds it, for `boundaries.csv` in the study's folder.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from ..multiverse import Boundary
from .claims import DependsOn
from .records import made_of, made_of_this, save_record
from .tables import number_in

if TYPE_CHECKING:
    from .definition import Paper

FILE = "boundaries.csv"
COLUMNS = ("made_of", "of", "claim", "name", "value", "side", "share_there", "share_else", "where", "settings")
Deciding = tuple[tuple[Boundary, ...], DependsOn | None]
"""Boundaries of a claim, the widest first, and the parameter that decides it."""
_LEVELS = " | "
"""Between the levels of a boundary."""


def _settings_of(paper: Paper) -> str:
    """Returns a digest of the recorded settings: boundaries that were found in others do not count."""
    files = [paper.folder / name for name in ("settings.csv", "full_rerun_settings.csv")]
    return hashlib.sha256(b"".join(f.read_bytes() for f in files if f.exists())).hexdigest()[:16]


def record_boundaries(found: Mapping[str, Deciding], paper: Paper) -> Path:
    """Writes where each claim changes in the recorded settings into the study's folder."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    head = (made_of(paper), _settings_of(paper))
    for claim, (boundaries, decides) in found.items():
        for b in boundaries:
            value = _LEVELS.join(b.value) if isinstance(b.value, tuple) else b.value
            writer.writerow([*head, claim, b.name, value, b.side, repr(b.share_there), repr(b.share_else), b.where, b.n])
        if not boundaries:  # the parameter with the largest effect, alone
            writer.writerow([*head, claim, decides.name if decides else "", *[""] * 6])
    path = paper.folder / FILE
    save_record(path, out.getvalue().encode())
    return path


def recorded_boundaries(paper: Paper) -> dict[str, Deciding]:
    """Returns where each claim changes as the study's folder records it; none without the file, or if it was found in other settings.

    Raises if the record is of another study.
    """
    path = paper.folder / FILE
    if not path.exists():
        return {}
    rows = made_of_this(paper, path, COLUMNS, "calibration")
    if rows[0]["of"] != _settings_of(paper):
        return {}
    found: dict[str, list[Boundary]] = {}
    largest = {r["claim"]: DependsOn(r["name"]) if r["name"] else None for r in rows if not r["side"]}
    for r in rows:
        if r["side"]:
            levels = r["side"] == "with"
            there, other, n = (number_in(path, r[k]) or 0.0 for k in ("share_there", "share_else", "settings"))
            side = cast('Literal["above", "below", "with"]', r["side"])
            value = tuple(r["value"].split(_LEVELS)) if levels else r["value"]
            found.setdefault(r["claim"], []).append(Boundary(r["name"], value, side, there, other, r["where"], int(n)))
    return {claim: ((), d) for claim, d in largest.items()} | {c: (tuple(b), DependsOn.on(b[0])) for c, b in found.items()}
