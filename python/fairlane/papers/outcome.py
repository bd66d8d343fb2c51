"""`ReproductionOutcome`: the tables, verdicts and scores of a reproduction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..claims import Row
from .animations import Watched
from .answer import answer
from .attainable import Reach, of_values, reach, with_recorded, with_whole
from .claims import Judged
from .definition import Alternative, Built, Experiment, Paper, Results
from .joint_sample import Joint
from .score import published_results, scores
from .tables import NEAR, Compared
from .verdicts import WORDS

if TYPE_CHECKING:
    from ..watch.inset import Inset

SCHEMA = "fairlane.reproduction/4"
WORST = ("contradicted", "inconclusive", "only_in_paper_setup", "depends", "inconsistent_in_print", "supported")
"""Verdicts in the order in which one of them, on a claim, becomes that of the experiment."""


@dataclass
class Shift:
    """The effect of another choice for an unstated parameter."""

    alternative: Alternative
    values: list[float]
    results: Results
    changed: list[tuple[str, str, str]]
    """Claims with another outcome on the means: id, outcome here, outcome with the alternative."""
    silent: list[str] = field(default_factory=list)
    """Claims that the combinations of the alternative say nothing about."""


@dataclass
class ReproductionOutcome:
    """The outcome of a reproduction: the part of `Reproduction` that presents nothing."""

    paper: Paper
    folder: Path
    page: Path
    quick: bool
    partial: bool
    seeds: list[int]
    experiments: list[tuple[Experiment, Built]]
    claims: list[Judged]
    results: Results
    shifts: list[Shift] = field(default_factory=list)
    base: list[float] = field(default_factory=list)
    """The sensitivity columns with our own choices."""
    warnings: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    runs: int = 0
    reused: int = 0
    seconds: float = 0.0
    cpu_s: float = 0.0
    packet_hops: int = 0
    version: str = ""
    tables: dict[str, list[Row]] = field(default_factory=dict)
    """Our tables as the claims read them."""
    missing: str = ""
    """Which runs of the study were not made, as in a quick look."""
    png: bool = True
    """True if the figures are written as PNG, besides SVG."""
    joint: Joint | None = None
    """The settings that were run, or those on record if this is a part of the runs; None if nothing is unstated, or on record."""
    moving: list[Inset] = field(default_factory=list)
    """Runs that move in the page."""
    watched: list[Watched] = field(default_factory=list)
    """Runs of which it says what limited their flows, if that was asked for."""
    of_all: bool = True
    """True if every scenario was run, not only some that have all levels together."""
    notes: list[str] = field(default_factory=list)
    """Notes for the user about the contents of the folder, such as damaged files whose runs were repeated."""

    @cached_property
    def reach_of_sample(self) -> list[Reach]:
        """Every published result, with its range over the settings of the sample and those around the published values."""
        built = {e.id: b for e, b in self.experiments}
        return with_recorded(reach(self.paper, built, self.joint.seen), self.joint.earlier) if self.joint else reach(self.paper, built, ())

    @cached_property
    def reach(self) -> list[Reach]:
        """Every published result with its range; a result that no setting of `reach_of_sample` has, over the full reruns."""
        whole = self.joint.whole if self.joint else None
        return with_whole(self.reach_of_sample, whole.over_settings()) if whole else self.reach_of_sample

    def of_values(self, e: Experiment) -> dict[str, Any] | None:
        """Returns the verdict on an experiment's published values, without its claims; None if none is published as its table."""
        searched = self.joint.searched if self.joint else ()
        return of_values([x for x in self.reach if x.table == e.id], self.joint is not None, searched)

    @property
    def answer(self) -> str:
        """The result in a sentence: the claims by verdict, and the main conclusions."""
        return answer([j.to_json() for j in self.claims])

    def resting(self, e: Experiment) -> list[Judged]:
        """The claims that rest on an experiment or a part of it."""
        parts = {e.id, *(x.id for x in self.paper.experiments() if x.part_of == e.id)}
        return [j for j in self.claims if {f"{self.paper.key}/{id}" for id in parts} & set(j.claim.experiments)]

    def verdict(self, e: Experiment, b: Built) -> tuple[str, str]:
        """The verdict on an experiment and why: the worst of the claims that rest on it, else how near its published values are."""
        if b.inconclusive:
            return "inconclusive", b.inconclusive
        of: dict[str, list[str]] = {}
        for j in self.claims:
            if f"{self.paper.key}/{e.id}" in j.claim.experiments:
                of.setdefault(j.verdict, []).append(j.claim.id)
        worst = next((v for v in WORST if v in of), None)
        if worst is not None:
            return worst, "; ".join(f"{', '.join(ids)}: {WORDS[v].name}" for v, ids in of.items())
        values = self.of_values(e)
        if values is None:
            near = [row.near for row in b.comparison.rows if row.near is not None]
            if not near:
                return "inconclusive", "no claim and no published value to compare"
            word = "reproduced" if all(near) else "inconclusive"
            return word, f"no claim rests on it; {sum(near)} of {len(near)} published values are within {100 * NEAR:.0f} % of ours"
        return values["verdict"], f"no claim rests on it; {values['reason']}"

    def to_json(self) -> dict[str, Any]:
        """One document: `experiments` (id, rows: factors, metric, published, ours, low, high), `claims` (id, verdict, evidence, cause)."""
        key = self.paper.key
        columns = self.paper.sensitivity_columns()
        return {
            "schema": SCHEMA, "fairlane": self.version, "key": key, "title": self.paper.words["title"],
            "quick": self.quick, "missing": self.missing or None, "answer": self.answer, "seeds": self.seeds, "runs": self.runs,
            "page": str(self.page),
            "experiments": [
                {
                    "id": f"{key}/{e.id}", "title": e.title, "notes": b.notes,
                    **dict(zip(("verdict", "reason"), self.verdict(e, b), strict=True)),
                    "claims": {j.claim.id: j.verdict for j in self.resting(e)}, "values": self.of_values(e),
                    "rank_correlation": _rounded(b.comparison.rank_correlation()),
                    "rank_correlations": {m: round(x, 4) for m, x in b.comparison.rank_correlations().items()},
                    "figures": [f"figures/{p.name}.svg" for p in b.pictures],
                    "rows": [r.to_json() for r in [*b.comparison.rows, *b.more]],
                }
                for e, b in self.experiments
            ],
            "claims": [j.to_json() for j in self.claims],
            "settings": self.joint.to_json() if self.joint else None,
            "sensitivity": [
                {
                    "choice": s.alternative.name, "why": s.alternative.why,
                    "values": [
                        {"quantity": c.title, "unit": c.unit, "published": c.published, "ours": ours, "with_choice": value}
                        for c, ours, value in zip(columns, self.base, s.values, strict=True)
                    ],
                    "claims_changed": [{"id": i, "ours": a, "with_choice": b} for i, a, b in s.changed],
                }
                for s in self.shifts
            ],
            "score": scores(results_of(self)).to_json(),
            "contradictions": self.paper.words.get("contradictions", []),
            "warnings": self.warnings,
            **({"why": [w.to_json() for w in self.watched]} if self.watched else {}),
        }  # fmt: skip


def _rounded(x: float | None) -> float | None:
    return None if x is None else round(x, 4)


def results_of(r: ReproductionOutcome, names: Sequence[str] = ()) -> list[Compared]:
    """The published results, each once, with ours: the entries of the study's published tables (or of those named).

    Inputs that are set as published, and numbers computed from other published ones, stand in no published table of results, and so are not
    among them.
    """
    return published_results(r.paper, {e.id: b for e, b in r.experiments}, names)
