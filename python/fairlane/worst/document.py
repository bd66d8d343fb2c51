"""The JSON document of a search (`fairlane.worst/1`), defined by schemas/worst.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base.document import finite
from .model import Judged

if TYPE_CHECKING:
    from .outcome import WorstOutcome

WORST_SCHEMA = "fairlane.worst/1"


def worst_document(r: WorstOutcome) -> dict[str, Any]:
    """Returns the document; nothing in it depends on the machine, except that a budget of time sets the number of evaluations."""
    from .. import _core
    from ..study.one_run import engine

    s = r.spec
    found = [
        {
            "path": f.number, "sentence": f.sentence, "scenario": f"{f.number}.toml",
            "changes": [
                {"name": name, "state": list(state), "sets": [{"path": k, "value": v} for k, v in s.change(name).sets(state).items()],
                 "words": s.change(name).words(state)}
                for name, state in f.shrunk.candidate.items()
            ],
            "found": _judged(f.found), "shrunk": _judged(f.shrunk),
            "own": f.own.as_dict(), "other": f.other.as_dict(), "effect": f.effect.as_dict(),
            "limits": [{"name": name, "sentences": lines} for name, lines in f.limits],
        }
        for f in r.findings
    ]  # fmt: skip
    head = {
        "name": s.name, "subject": s.subject, "reference": s.reference or None, "metric": s.objective.metric,
        "goal": "most" if s.objective.most else "least", "unit": s.objective.unit, "share": s.objective.share,
        "selectors": [x.text for x in s.objective.selectors], "may": [c.name for c in s.changes], "seeds": list(s.seeds),
        "fresh_seeds": list(s.fresh), "seed": s.seed, "command": ["fairlane", "worst", *s.command, "--budget", str(r.evaluations)],
    }  # fmt: skip
    return finite(
        {
            "schema": WORST_SCHEMA, "fairlane": _core.version(), "engine": engine(), "search": head,
            "budget": {"evaluations": s.evaluations, "seconds": s.seconds},
            "evaluations": {"tried": r.evaluations, "invalid": r.invalid, "stopped_by": r.stopped_by},
            "found": r.found, "summary": r.summary, "paths": found,
            "seen": None if r.worst is None else _judged(r.worst),
            "not_confirmed": None if r.failed is None else _judged(r.failed),
            "curve": [{"evaluations": n, "effect": x} for n, x in r.curve],
        }
    )  # fmt: skip


def _judged(j: Judged) -> dict[str, Any]:
    return {
        "changes": {k: list(v) for k, v in j.candidate.items()}, "own": list(j.own), "other": list(j.other), "effect": j.effect,
    }  # fmt: skip
