"""The record of the paper's setup: in how many runs of the study's own tables each claim holds."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast, get_args

from ..claims import Outcome
from ..errors import PaperError
from .claims import Claim, Judged
from .records import made_of, made_of_this, save_record

if TYPE_CHECKING:
    from .definition import Paper

OWN = "in_paper_setup.csv"
COLUMNS = ("made_of", "claim", "runs_true", "runs", "on_means")


@dataclass(frozen=True)
class Own:
    """The result of a claim in the paper's setup."""

    runs_true: int
    runs: int
    on_means: Outcome

    def judged(self, claim: Claim) -> Judged:
        """Returns the claim with this result; the other setups are not judged yet."""
        return Judged(claim, "inconclusive", self.on_means, self.runs_true, self.runs)


def record_own(claims: Sequence[Judged], paper: Paper) -> None:
    """Writes `in_paper_setup.csv` into the study's folder."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    made = made_of(paper)
    writer.writerows([made, j.claim.id, j.runs_true, j.runs, j.outcome] for j in claims)
    save_record(paper.folder / OWN, out.getvalue().encode())


def recorded_own(paper: Paper) -> dict[str, Own]:
    """The result of each claim that the study's folder records; none without the file. Raises if they were made of another study."""
    path = paper.folder / OWN
    if not path.exists():
        return {}

    def own(r: dict[str, str]) -> Own:
        if r["on_means"] not in get_args(Outcome) or not (r["runs_true"].isdigit() and r["runs"].isdigit()):
            raise PaperError(f"{path}: {r['claim']} has no result that can be read")
        return Own(int(r["runs_true"]), int(r["runs"]), cast("Outcome", r["on_means"]))

    return {r["claim"]: own(r) for r in made_of_this(paper, path, COLUMNS)}
