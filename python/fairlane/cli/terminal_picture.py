"""The chart of a run on the terminal."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..runs.result import Result

_MANY = 500
"""Largest number of flows, over all runs, that are sampled for the chart alone."""


def can_draw() -> bool:
    """Returns true if standard output is a terminal that can show Braille dots."""
    if not sys.stdout.isatty():
        return False
    try:
        "\u28ff".encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def is_small(tree: dict[str, Any], runs: int) -> bool:
    """Returns true if a scenario is small enough to be sampled for the chart alone."""
    return runs * sum(flow.get("count") or 1 for flow in tree["flows"].values()) <= _MANY


def chart_of(result: Result) -> list[Any]:
    """Returns the chart after an empty line."""
    from ..runs.terminal_chart import picture

    lines = picture(result, shutil.get_terminal_size((100, 40)).columns)
    return ["", *lines] if lines else []


def drop_sampling_warnings(result: Result) -> None:
    """Removes warnings about the sampling step that was chosen for the chart."""
    for run in result.info:
        run["warnings"] = [w for w in run["warnings"] if w.code != "coarse-sampling"]
