"""The JSON document of report cards (`fairlane.card/1`), defined by schemas/card.json."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..base.document import finite
from ..study.one_run import engine

if TYPE_CHECKING:
    from .judge import Answer
    from .outcome import CardOutcome

CARD_SCHEMA = "fairlane.card/1"


def card_document(cards: Sequence[CardOutcome]) -> dict[str, Any]:
    """Returns the document of one or several cards."""
    from .. import _core

    made = [
        {
            "kind": c.subject.kind, "subject": c.subject.label, "value": c.subject.value,
            "queue": c.subject.queue.value if c.subject.queue else None, "quick": c.quick, "plugins": list(c.plugins),
            "summary": c.summary, "runs": c.runs, "answers": [_answer(a) for a in c.answers],
        }
        for c in cards
    ]  # fmt: skip
    return finite({"schema": CARD_SCHEMA, "fairlane": _core.version(), "engine": engine(), "cards": made})


def _answer(a: Answer) -> dict[str, Any]:
    q, iv = a.question, a.interval
    asked = not q.left_out
    return {
        "key": q.key, "question": q.question, "section": q.section, "verdict": a.verdict, "number": iv.mean, "low": iv.low,
        "high": iv.high, "n": iv.n, "confidence": iv.confidence if iv.n > 1 else None, "unit": q.unit, "claim": q.claim or None,
        "bound": q.bound if asked else None, "tolerance": q.tolerance if asked else None, "why": q.why or None, "source": q.source or None,
        "sentence": a.sentence, "values": list(a.values), "runs": a.runs, "error": a.error or None,
        "table": {"heads": list(a.heads), "rows": [list(r) for r in a.rows]},
    }  # fmt: skip
