"""Files of one kind given to the command of another: one message that names the right command."""

from __future__ import annotations

from ..errors import FairlaneError, ScenarioError

_SIGNS = {
    "scenario": ({"flows", "links", "topology", "wireless"}, "run"),
    "study": ({"factors", "zip", "metrics"}, "study"),
    "search": ({"objectives", "search"}, "tune"),
}
"""Keys by which a kind of file is known, and the command that it is for."""


def other_kind(file: str, e: ScenarioError, wanted: str) -> FairlaneError:
    """The error of a file that was read as one of the kind `wanted`: what it is instead, if its keys say so."""
    of = {code: {d["path"] for d in e.diagnostics if d["code"] == code} for code in ("unknown-key", "missing-key")}
    # A study and a search name their scenario, and a scenario none.
    based = "scenario" in of["unknown-key"] if wanted == "scenario" else "scenario" not in of["missing-key"]
    for kind, (signs, command) in _SIGNS.items():
        if kind == wanted or not signs & of["unknown-key"] or based == (kind == "scenario"):
            continue
        if kind != "scenario":
            return FairlaneError(f"{file} is no {wanted} but a {kind}: fairlane {command} {file}")
        guide = {"study": "studies", "search": "tuning"}[wanted]
        return FairlaneError(
            f"{file} is a scenario, not a {wanted} of one\n"
            f'  = help: run it by itself: fairlane run {file}; or name it in a {wanted}, as scenario = "{file}" (docs/guides/{guide}.md)'
        )
    return e
