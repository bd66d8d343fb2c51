"""The JSON document of scripts that ran."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .runner import Outcome


def document(outcomes: Sequence[Outcome], *, timeline: bool = False) -> dict[str, Any]:
    """The document that `fairlane script --json` prints; `timeline`: with each call and packet."""
    passed = sum(o.passed for o in outcomes)
    rows = [_row(o, timeline) for o in outcomes]
    return {"format": "fairlane.script/1", "passed": passed, "failed": len(outcomes) - passed, "scripts": rows}


def _row(outcome: Outcome, timeline: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"file": outcome.file, "passed": outcome.passed, "events": outcome.events, "time": outcome.time}
    row |= {"line": outcome.line, "message": outcome.message, "warnings": outcome.warnings, "printed": outcome.printed}
    return row | ({"timeline": outcome.timeline} if timeline else {})
