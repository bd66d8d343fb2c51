"""Claims whose checks have changed, evaluated again in the recorded settings: with the runs that they read, and no others.

`python -m fairlane.papers.calibration KEY --claim ID` replaces what the record says of these claims and keeps the rest. The setting of the
base is run with all that a setting has: there the claims must come out as with their own runs, and all others as recorded.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import isclose
from pathlib import Path
from typing import TYPE_CHECKING

from ..claims import Factors
from ..errors import PaperError, suggest
from ..multiverse import Setting
from .boundary_record import FILE as BOUNDARIES
from .boundary_record import record_boundaries
from .claims import Claim, read_claims
from .joint_sample import boundaries_of
from .records import csv_of, made_of, recorded_settings, records_in, save_record
from .runner import Runner
from .search_targets import read_alone, runs_for
from .settings import Seen, Settings

if TYPE_CHECKING:
    from .definition import Combination, Paper
    from .runner import Progress


def recheck(paper: Paper, ids: Sequence[str], folder: Path, progress: Progress | None = None) -> Path:
    """Evaluates these claims in all recorded settings, and writes the records of the study's folder again; `folder` keeps the runs.

    Searches for these claims are removed from the record. Raises if another claim comes out otherwise than recorded in the setting of the
    base: then more than these checks has changed.
    """
    claims = _named(paper, ids)
    if (paper.folder / "full_reruns.csv").exists():
        raise PaperError(f"{paper.folder}: some of its settings are run in full: `python -m fairlane.papers.full_reruns` makes them again")
    seen = recorded_settings(paper)
    with Runner(paper, folder) as runner:
        (whole,) = Settings(paper, runner, read_claims(paper.folder / "claims.toml")).see([seen[0].values], "base", progress, (0.0, 0.1))
        other = [i for i in whole.outcomes if i not in ids and not _same(whole, seen[0], i)]
        if other:
            raise PaperError(f"{paper.folder}: {', '.join(other)} come out otherwise than recorded: name them, too, or record all again")
        for alone in (True, False):
            of_claims = Settings(paper, runner, claims, partial(_runs, paper, claims, alone))
            (base,) = of_claims.see([seen[0].values], "base", progress, (0.1, 0.1))
            if all(_same(whole, base, i) for i in ids):
                break
        else:
            raise PaperError(f"{paper.folder}: {', '.join(ids)} read more than their tables and figures: record all settings again")
        fresh = of_claims.these([(s.kind, s.values) for s in seen], progress, (0.1, 1.0))
    save_record(paper.folder / "settings.csv", csv_of([_with(s, new, ids) for s, new in zip(seen, fresh, strict=True)], paper))
    for file in ("attainable.csv", "search.csv", "in_paper_setup.csv"):
        _made_again(paper, paper.folder / file, ids if file == "search.csv" else ())
    (paper.folder / BOUNDARIES).unlink(missing_ok=True)  # those of the checks before
    return record_boundaries(boundaries_of(paper), paper)


def _named(paper: Paper, ids: Sequence[str]) -> list[Claim]:
    known = {c.id: c for c in read_claims(paper.folder / "claims.toml")}
    for id in ids:
        if id not in known:
            raise suggest(id, list(known), f"claim of {paper.called}")
    return [known[id] for id in ids]


def _runs(paper: Paper, claims: Sequence[Claim], alone: bool, setting: Setting) -> list[Combination]:
    """Returns what these claims read of a setting, `alone`, or all that their tables and figures need."""
    out: dict[Factors, Combination] = {}
    for c in claims:
        needed = runs_for(paper, {e.partition("/")[2] for e in c.experiments}, paper.setting)
        out |= {x.factors: x for x in (read_alone(c, needed) if alone else needed)(setting)}
    return list(out.values())


def _same(a: Seen, b: Seen, id: str) -> bool:
    """Returns true if a claim comes out the same in both, to the digits of the record."""
    pairs = ((a.outcomes.get(id), b.outcomes.get(id)), (a.margins.get(id), b.margins.get(id)))
    return all(
        (x is None and y is None) or (x is not None and y is not None and isclose(x, y, rel_tol=1e-5, abs_tol=1e-9)) for x, y in pairs
    )


def _with(s: Seen, new: Seen, ids: Sequence[str]) -> Seen:
    return replace(
        s, outcomes={**s.outcomes, **{i: new.outcomes[i] for i in ids}}, margins={**s.margins, **{i: new.margins[i] for i in ids}}
    )


def _made_again(paper: Paper, path: Path, without: Sequence[str]) -> None:
    """Writes a record with the digest of the study as it is now, without the rows of these claims."""
    if not path.exists():
        return
    rows = [r for r in records_in(paper, path) if r.get("claim") not in without or not without]
    if not rows:
        path.unlink()
        return
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({**r, "made_of": made_of(paper)} for r in rows)
    save_record(path, out.getvalue().encode())
