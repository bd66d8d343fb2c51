"""The verdicts that docs/papers/findings.md records of the full runs."""

from __future__ import annotations

from conftest import ROOT
from fairlane.papers.reproduction import Reproduction

VERDICTS = ("holds", "fails", "undecided")


def recorded() -> dict[str, dict[str, list[str]]]:
    """Key of a paper: its claims by verdict."""
    text = (ROOT / "docs" / "papers" / "findings.md").read_text("utf-8")
    table = text.split("<!-- verdicts -->")[1].split("<!-- /verdicts -->")[0].strip().splitlines()[2:]
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in table]
    return {key: {v: ids.split(", ") if ids else [] for v, ids in zip(VERDICTS, lists, strict=True)} for key, *lists in cells}


def against_record(quick: Reproduction) -> list[tuple[str, str, str]]:
    """Claims that so far look otherwise than recorded: id, recorded, here. Either may leave open what the other settles."""
    of = {i: v for v, ids in recorded()[quick.paper.key].items() for i in ids}
    return [
        (j.claim.id, of[j.claim.id], j.leaning)
        for j in quick.claims
        if "undecided" not in (j.leaning, of[j.claim.id]) and j.leaning != of[j.claim.id]
    ]
