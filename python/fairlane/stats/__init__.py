"""Statistics across independent replications: the only place where intervals are computed and tests are made.

What each function does, when to use which and what it assumes: docs/background/statistics.md. Everything is loaded on first use, because
scipy is slow to import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .intervals import CONFIDENCE, Interval, from_moments, interval

if TYPE_CHECKING:
    from .sequential import Verdict, narrow_enough, replications_needed, verdict

_WHERE = {
    "Verdict": "sequential",
    "narrow_enough": "sequential",
    "replications_needed": "sequential",
    "verdict": "sequential",
}

__all__ = [
    "CONFIDENCE",
    "Interval",
    "Verdict",
    "from_moments",
    "interval",
    "narrow_enough",
    "replications_needed",
    "verdict",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f".{_WHERE[name]}", __name__), name)
    raise AttributeError(f"module 'fairlane.stats' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
