"""The JSON document of a comparison (`fairlane.compare/3`); docs/reference/json.md describes it, schemas/compare.json defines it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from ..base.document import finite
from ..base.metrics import unit
from ..runs.document import run_document
from ..runs.result import Result
from .data import GROUP_METRICS

if TYPE_CHECKING:
    from .data import ComparisonData

COMPARE_SCHEMA = "fairlane.compare/3"


def compare_document(c: ComparisonData) -> dict[str, Any]:
    """Returns the document of all settings."""
    rows = []
    for q in c.settings:
        whole = run_document(q.result)
        (link,) = (row for row in whole["links"] if row["name"] == c.link)
        times, lengths = q.series()
        groups = [
            {
                "name": g,
                "flows": q.flows(g)["flow"].n_unique(),
                **{m: q.of_group(g, m).as_dict() for m in GROUP_METRICS},
                "ellipse": None if (e := q.ellipse(g)) is None else e.as_dict(),
            }
            for g in q.groups()
        ]
        rows.append(
            {
                "name": q.label,
                "levels": dict(q.levels),
                "queue": _resolved_queue(q.result, c.link),
                "fingerprints": q.result.fingerprints,
                "warnings": [str(w) for w in q.warnings],
                "network": whole["network"][0],
                "link": link,
                "groups": groups,
                "flows": whole["flows"],
                "series": {"time": times, "queue": lengths},
                **({"why": whole["why"]} if "why" in whole else {}),
            }
        )
    metrics = {m: unit(m) for row in rows for part in (row["network"], row["link"], *row["flows"]) for m in part if unit(m)}
    scenario = c.settings[0].result.description
    head = {"schema": COMPARE_SCHEMA, "fairlane": _core.version(), "command": c.command, "link": c.link, "seeds": c.seeds}
    factors = [{"name": f.name, "paths": list(f.paths), "levels": [level.label for level in f.levels]} for f in c.factors]
    findings = {"margin": c.margin, "differences": [d.as_dict() for d in c._differences], "sentences": c.sentences()}
    units = metrics | {"goodput_sum": "bit/s"}
    return finite({**head, "factors": factors, "scenario": scenario, "units": units, "settings": rows, **findings})


def _resolved_queue(result: Result, link: str) -> Any:
    return next(x["queue"] for x in result.scenario["expanded"]["links"] if x["name"] == link)
