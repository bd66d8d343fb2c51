"""Errors for a file of one kind given to the command of another; they name the right command."""

from __future__ import annotations

from ..errors import FairlaneError, ScenarioError

_SIGNS = {
    "scenario": ({"flows", "links", "topology", "wireless"}, "run"),
    "study": ({"factors", "zip", "metrics"}, "study"),
    "tune file": ({"objectives", "search"}, "tune"),
}
"""Keys that identify a kind of file, and its command."""


def other_kind(file: str, e: ScenarioError, wanted: str) -> FairlaneError:
    """Returns the error for a file that was read as kind `wanted`; it names the kind that its keys show."""
    of = {code: {d["path"] for d in e.diagnostics if d["code"] == code} for code in ("unknown-key", "missing-key")}
    # A study and a tune file name their scenario.
    based = "scenario" in of["unknown-key"] if wanted == "scenario" else "scenario" not in of["missing-key"]
    for kind, (signs, command) in _SIGNS.items():
        if kind == wanted or not signs & of["unknown-key"] or based == (kind == "scenario"):
            continue
        if kind != "scenario":
            return FairlaneError(f"{file} is not a {wanted} but a {kind}: fairlane {command} {file}")
        guide = {"study": "studies", "tune file": "tuning"}[wanted]
        return FairlaneError(
            f"{file} is a scenario, not a {wanted}\n"
            f'  = help: run it: fairlane run {file}; or name it in a {wanted}: scenario = "{file}" (docs/guides/{guide}.md)'
        )
    return e
