"""The JSON document of a run (`fairlane.run/1`); docs/reference/json.md describes it, schemas/run.json defines it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .result import Result

RUN_SCHEMA = "fairlane.run/1"


def run_document(result: Result) -> dict[str, Any]:
    """The document of all replications."""
    from .. import _core
    from ..base.document import finite
    from ..base.metrics import unit
    from .tables import intervals

    tables: dict[str, list[dict[str, Any]]] = {}
    used: dict[str, str] = {}
    for name in ("flows", "links", "network"):
        rows = []
        for labels, per_metric in intervals(result, name):
            row: dict[str, Any] = {("name" if k in ("flow", "link") else k): v for k, v in labels.items()}
            for metric, iv in per_metric.items():
                row[metric] = iv.as_dict()
                used.setdefault(metric, unit(metric))
            rows.append(row)
        tables[name] = rows
    return finite(
        {
            "schema": RUN_SCHEMA,
            "fairlane": _core.version(),
            "scenario": {k: v for k, v in result.scenario.items() if k not in ("expanded", "warnings")},
            "seeds": result.seeds,
            "fingerprints": result.fingerprints,
            "warnings": result.warnings,
            "units": used,
            **tables,
        }
    )
