"""Statistics across independent replications: the only place where intervals are computed and tests are made.

What each function does, when to use which and what it assumes: docs/background/statistics.md. Everything is loaded on first use, because
scipy is slow to import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .intervals import CONFIDENCE, Estimate, Interval, from_moments, interval

if TYPE_CHECKING:
    from .distributions import KS, ks
    from .factorial import Anova, anova, effects
    from .pairs import Difference, Equivalence, Pair, all_pairs, holm, paired, tost, welch
    from .resampling import Bootstrap, bootstrap
    from .sequential import Verdict, narrow_enough, replications_needed, verdict
    from .warmup import Truncation, Warmup, mser5

_WHERE = {
    "Anova": "factorial",
    "Bootstrap": "resampling",
    "Difference": "pairs",
    "Equivalence": "pairs",
    "KS": "distributions",
    "Pair": "pairs",
    "Truncation": "warmup",
    "Verdict": "sequential",
    "Warmup": "warmup",
    "all_pairs": "pairs",
    "anova": "factorial",
    "bootstrap": "resampling",
    "effects": "factorial",
    "holm": "pairs",
    "ks": "distributions",
    "mser5": "warmup",
    "narrow_enough": "sequential",
    "paired": "pairs",
    "replications_needed": "sequential",
    "tost": "pairs",
    "verdict": "sequential",
    "welch": "pairs",
}

__all__ = [
    "Anova",
    "Bootstrap",
    "CONFIDENCE",
    "Difference",
    "Equivalence",
    "Estimate",
    "Interval",
    "KS",
    "Pair",
    "Truncation",
    "Verdict",
    "Warmup",
    "all_pairs",
    "anova",
    "bootstrap",
    "effects",
    "from_moments",
    "holm",
    "interval",
    "ks",
    "mser5",
    "narrow_enough",
    "paired",
    "replications_needed",
    "tost",
    "verdict",
    "welch",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f".{_WHERE[name]}", __name__), name)
    raise AttributeError(f"module 'fairlane.stats' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
