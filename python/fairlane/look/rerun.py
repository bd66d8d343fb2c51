"""Section of a page on reproducing a result: command, seeds, version, and the scenario with every parameter."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..base.seeds import seed_options
from .templates import saved_link

if TYPE_CHECKING:
    from markupsafe import Markup

MOST_SCENARIO = 250_000
"""Most bytes of a scenario in a page."""
MOST_PRINTS = 20


@dataclass(frozen=True)
class Rerun:
    """Reproduction instructions for one result."""

    name: str = ""
    command: str = ""
    hint: str = ""
    scenario: str = ""
    """Scenario as TOML; "" if it is too long for a page."""
    saved: Markup | None = None
    facts: Sequence[tuple[str, str]] = field(default_factory=tuple)
    summary: str = "Scenario with every parameter"
    code: str = ""
    """Warning about third-party code that the command runs."""


def rerun_scenario(
    scenario: str, seeds: Sequence[int], *, name: str = "", folder: str = "", facts: Sequence[tuple[str, str]] = ()
) -> Rerun:
    """Returns the instructions for runs of one scenario; `folder`: the folder of its scenario.toml, if any."""
    whole = len(scenario) <= MOST_SCENARIO
    file = f"{folder.rstrip('/')}/scenario.toml" if folder else "scenario.toml"
    command = shlex.join(["fairlane", "run", file, *seed_options(seeds)])
    hint = ""
    if whole:
        hint = f"Without the folder {folder}, save the scenario as scenario.toml:" if folder else "Save the scenario first:"
    elif not folder:
        hint = "The scenario is too long for this page; use a result folder (fairlane run -o DIR)."
    saved = saved_link(scenario, "scenario.toml", "scenario.toml", "application/toml") if whole else None
    return Rerun(name, command, hint, scenario if whole else "", saved, tuple(facts))


def code_warning(files: Sequence[str]) -> str:
    """Returns a warning about third-party code.

    >>> code_warning(["queue.py"]), code_warning([])
    ('This runs the code of queue.py with all rights of your account: run it only if you trust that file.', '')
    """
    if not files:
        return ""
    those = "that file" if len(files) == 1 else "those files"
    return f"This runs the code of {', '.join(files)} with all rights of your account: run it only if you trust {those}."


def fingerprint_list(prints: Sequence[str]) -> str:
    """Formats fingerprints in one line, at most `MOST_PRINTS`."""
    more = len(prints) - MOST_PRINTS
    return " ".join(prints[:MOST_PRINTS]) + (f" and {more} more" if more > 0 else "")
