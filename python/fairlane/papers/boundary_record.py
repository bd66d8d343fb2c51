"""The record of where each claim changes, which follows from the recorded settings and takes seconds to find.

`python -m fairlane.papers.boundary_record KEY` finds and records it, in `boundaries.csv` in the study's folder.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Sequence
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
    from .full_reruns import SETTINGS

    files = [paper.folder / name for name in ("settings.csv", SETTINGS)]
    return hashlib.sha256(b"".join(f.read_bytes() for f in files if f.exists())).hexdigest()[:16]


def record_boundaries(paper: Paper) -> Path:
    """Finds where each claim of a study changes in its recorded settings, and writes `boundaries.csv` into its folder."""
    from .joint_sample import deciding, of_record

    path = paper.folder / FILE
    path.unlink(missing_ok=True)
    joint = of_record(paper)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    head = (made_of(paper), _settings_of(paper))
    for claim in joint.claims if joint else ():
        boundaries, decides = deciding(joint, claim.id) if joint else ((), None)
        for b in boundaries:
            value = _LEVELS.join(b.value) if isinstance(b.value, tuple) else b.value
            writer.writerow([*head, claim.id, b.name, value, b.side, repr(b.share_there), repr(b.share_else), b.where, b.n])
        if not boundaries:  # the parameter with the largest effect, alone
            writer.writerow([*head, claim.id, decides.name if decides else "", *[""] * 6])
    save_record(path, out.getvalue().encode())
    return path


def recorded_boundaries(paper: Paper) -> dict[str, Deciding]:
    """Returns where each claim changes as the study's folder records it; none without the file, or if it was found in other settings.

    Raises if the record is of another study.
    """
    from .joint_sample import depends_on

    path = paper.folder / FILE
    if not path.exists():
        return {}
    rows = made_of_this(paper, path, COLUMNS, "boundary_record")
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
    return {claim: ((), d) for claim, d in largest.items()} | {c: (tuple(b), depends_on(b[0])) for c, b in found.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Finds where each claim of a study changes in its recorded settings, and records it in its folder."""
    import argparse

    from .folders import load

    parser = argparse.ArgumentParser(prog="python -m fairlane.papers.boundary_record", description=main.__doc__)
    parser.add_argument("key", help="a study that comes with fairlane, or the folder of one")
    print(record_boundaries(load(parser.parse_args(arguments).key)))


if __name__ == "__main__":
    main()
