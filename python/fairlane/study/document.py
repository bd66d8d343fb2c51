"""The JSON document of a study (`fairlane.study/2`); docs/reference/json.md describes it, schemas/study.json defines it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from ..base.document import finite
from ..runs.selection import unit_of
from .contrast import explained
from .model import StudySpec
from .one_run import engine

if TYPE_CHECKING:
    from .analysis import StudyAnalysis

STUDY_SCHEMA = "fairlane.study/2"


def head(spec: StudySpec) -> dict[str, Any]:
    """Returns the design of the study."""
    return {
        "name": spec.name,
        "description": spec.description,
        "factors": [
            {"name": f.name, "unit": f.unit, "levels": [{"label": x.label, "sets": dict(x.sets)} for x in f.levels]} for f in spec.factors
        ],
        "seeds": list(spec.seeds),
        "confidence": spec.confidence,
        "precision": None if spec.precision is None else spec.precision.relative,
        **_settings(spec),
        "metrics": [{"label": s.label, "metric": s.text, "unit": unit_of(s)} for s in spec.metrics],
    }


def _settings(spec: StudySpec) -> dict[str, Any]:
    """Returns the varied parameters, if there are any; the levels of the factor `setting` contain what each setting changes."""
    if spec.settings is None:
        return {}
    keys = ("name", "base", "low", "high", "scale", "step", "unit", "why")
    opens = [{**{k: getattr(o, k) for k in keys}, "choices": list(o.choices), "paths": list(o.paths)} for o in spec.settings.opens]
    return {"settings": {"n": len(spec.settings.values), "seed": spec.settings.seed, "open": opens}}


def document(result: StudyAnalysis, *, why: bool = False) -> dict[str, Any]:
    """See `StudyResult.document`."""
    names = result.factors
    states = dict(result.index.group_by("status").len().iter_rows())
    rows = [
        {"factors": {n: r[n] for n in names}, **{k: r[k] for k in ("metric", "mean", "low", "high", "sd", "n")}}
        for r in result.summary().to_dicts()
    ]
    failures = [{"factors": {n: r[n] for n in names}, **{k: r[k] for k in ("seed", "kind", "error")}} for r in result.failures.to_dicts()]
    tables = {s.label: explained(result, s.label) for s in result.spec.metrics}
    return finite(
        {
            "schema": STUDY_SCHEMA,
            "fairlane": _core.version(),
            "engine": engine(),
            "study": head(result.spec),
            "runs": {
                "planned": result.index.height,
                "done": states.get("done", 0),
                "reused": result.tally.reused if result.tally is not None else states.get("done", 0),
                "failed": states.get("failed", 0),
            },
            "failures": failures,
            "rows": rows,
            **({"claims": [c.to_json() for c in result.claims]} if result.spec.claims else {}),
            **({"matters": {m: result.matters(m) for m in result.metrics}} if result.spec.settings is not None else {}),
            "anova": {label: t.table for label, t in tables.items() if t is not None},
            "warnings": result.warnings,
            "out": str(result.folder),
            **({"why": _why(result)} if why else {}),
        }
    )


def _why(result: StudyAnalysis) -> list[dict[str, Any]]:
    from .combinations import MOST
    from .replay import watched

    names = [f.name for f in result.spec.factors]
    found = watched(result, most=MOST)
    return [{"factors": {n: p.labels[n] for n in names}, "seed": seed, "why": r.why().document()} for p, seed, r in found]
