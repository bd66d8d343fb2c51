"""Warnings as Python shows them: at the line of the program that called fairlane."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

from ..errors import ScenarioWarning

_PACKAGE = str(Path(__file__).parent.parent)


def warn(found: Iterable[ScenarioWarning]) -> None:
    """Issues warnings at the innermost line outside of fairlane."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    for w in found:
        warnings.warn(w, stacklevel=level)
