"""The JSON document of a tuning (`fairlane.tune/3`), defined by schemas/tune.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base.document import finite
from .recommendation import tc_lines

if TYPE_CHECKING:
    from .model import Trial
    from .outcome import TuneOutcome

TUNE_SCHEMA = "fairlane.tune/3"


def tune_document(r: TuneOutcome) -> dict[str, Any]:
    """The document; nothing in it depends on the machine or on what was found done."""
    from .. import _core
    from ..study.one_run import engine

    s = r.spec
    head = {
        "name": s.name, "description": s.study.description, "link": s.link, "seeds": list(s.seeds), "holdout_seeds": list(s.holdout_seeds),
        "training_scenarios": [m.name for m in s.training_scenarios], "holdout": [m.name for m in s.holdout],
        "over": s.over, "rule": s.rule, "trials": s.trials,
        "seed": s.seed, "batch": s.batch,
        "objectives": [
            {"label": o.label, "metric": o.selector.text, "unit": o.unit, "goal": o.goal, "good": r.scale[o.label][0],
             "bad": r.scale[o.label][1], "weight": o.weight}
            for o in s.objectives
        ],
        "constraints": [{"label": c.label, "metric": c.selector.text, "min": c.least, "max": c.most} for c in s.constraints],
    }  # fmt: skip
    verdicts = [
        {
            "rival": v.rival.label, "kind": v.rival.kind, "verdict": v.word, "why": v.why, "sentence": v.sentence, "percent": v.percent,
            "cost": v.difference.as_dict(), "p": v.p, "p_holm": v.p_holm, "p_equivalent": v.p_equivalent,
            "objectives": {k: {**d.as_dict(), "percent": p} for k, (d, p) in v.objectives.items()},
        }
        for v in r.verdicts
    ]  # fmt: skip
    return finite(
        {
            "schema": TUNE_SCHEMA, "fairlane": _core.version(), "engine": engine(), "tune": head,
            "runs": {"done": r.tally.done, "failed": r.tally.failed},
            "chosen": {**trial(r, r.chosen), "feasible": r.met},
            "front": [t.number for t in r.front],
            "trials": [trial(r, t) for t in r.trials],
            "held_out": [trial(r, t) for t in r.held_out],
            "verdicts": verdicts,
            "importance": [{"queue": q, "parameter": k, "share": x} for q, k, x in r.importance()],
            "tc": tc_lines(r),
            "warnings": r.warnings,
        }
    )  # fmt: skip


def trial(r: TuneOutcome, t: Trial) -> dict[str, Any]:
    """One setting and its values."""
    from ..stats import interval

    ranges = r.ranges()
    return {
        "trial": t.number, "label": t.label, "kind": t.kind, "queue": t.queue, "error": t.error, "feasible": t.feasible,
        "parameters": t.parameters, "cost": t.cost if t.costs else None,
        "values": {k: {**interval(t.per_seed[k], within=ranges[k]).as_dict(), "mean": t.values[k]} for k in r.labels() if k in t.values},
    }  # fmt: skip
