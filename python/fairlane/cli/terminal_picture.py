"""Whether a picture can be drawn on this terminal, and the one of a run."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..runs.result import Result

_MANY = 500
"""Flows, over all runs, of which series are kept only for the picture."""


def draws() -> bool:
    """Whether standard output is a terminal that has Braille dots."""
    if not sys.stdout.isatty():
        return False
    try:
        "\u28ff".encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def few(tree: dict[str, Any], runs: int) -> bool:
    """Whether a scenario is small enough to be sampled for nothing but the picture."""
    return runs * sum(flow.get("count") or 1 for flow in tree["flows"].values()) <= _MANY


def picture_of(result: Result) -> list[Any]:
    """The picture, an empty line before it."""
    from ..runs.terminal_chart import picture

    lines = picture(result, shutil.get_terminal_size((100, 40)).columns)
    return ["", *lines] if lines else []


def forget_coarseness(result: Result) -> None:
    """Nobody asked for the series of this picture, so nobody is warned of their step."""
    for run in result.info:
        run["warnings"] = [w for w in run["warnings"] if w.code != "coarse-sampling"]
