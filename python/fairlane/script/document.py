"""The JSON document of `fairlane script` (`fairlane.script/2`), defined by schemas/script.json."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import InputError
from .diagnostics import Refusal, ScriptError
from .runner import Outcome

KINDS = ("passed", "failed", "refused", "unreadable")
"""Outcomes: passed, failed, refused (needs a feature that is not simulated), unreadable."""


def document(version: str, outcomes: Sequence[Outcome], *, timeline: bool = False, error: str | None = None) -> dict[str, Any]:
    """Returns the document of `fairlane script --json`; `timeline` adds calls and packets, `error` is the reason why no script ran."""
    counts = {kind: sum(o.kind == kind for o in outcomes) for kind in KINDS}
    messages = [{"text": text, "scripts": n} for text, n in warnings(outcomes).items()]
    rows = [_row(o, timeline) for o in outcomes]
    return {"schema": "fairlane.script/2", "fairlane": version, **counts, "error": error, "warnings": messages, "scripts": rows}


def unread(file: str, trouble: ScriptError | InputError | OSError | UnicodeError) -> Outcome:
    """Returns the outcome of a script that did not run."""
    if isinstance(trouble, ScriptError):
        (found,) = trouble.diagnostics
        kind = "refused" if isinstance(trouble, Refusal) else "unreadable"
        out = Outcome(file, False, found["message"], found["line"], kind=kind, rendered=trouble.rendered)
        out.column, out.help = found["column"], found["help"]
        return out
    reason = trouble.strerror if isinstance(trouble, OSError) and trouble.strerror else str(trouble)
    reason = reason.removeprefix(f"cannot read {file}: ")
    return Outcome(file, False, reason, kind="unreadable", rendered=f"error: {file}: {reason}")


def warnings(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Returns the warnings, with the number of scripts of each."""
    out: dict[str, int] = {}
    for o in outcomes:
        for text in o.warnings:
            out[text] = out.get(text, 0) + 1
    return out


def _row(outcome: Outcome, timeline: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"file": outcome.file, "outcome": outcome.kind, "message": outcome.message, "help": outcome.help}
    row |= {"line": outcome.line, "column": outcome.column, "events": outcome.events, "time": outcome.time}
    row |= {"warnings": outcome.warnings, "printed": outcome.printed}
    return row | ({"timeline": outcome.timeline} if timeline else {})
