"""Statistics across independent replications: all confidence intervals and tests of fairlane.

docs/background/statistics.md explains each function, its use and its assumptions. All but means with their intervals is loaded on first
use, because NumPy and scipy (the extra `study`) are slow to import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..base.extras import loaded
from .intervals import ANY, CONFIDENCE, Estimate, Interval, Range, bounded, from_moments, interval

if TYPE_CHECKING:
    from .distributions import KS, ks
    from .factorial import Anova, anova, effects
    from .findings import MARGIN, Contrast, contrasts, margin_share, margin_text, p_text
    from .pairs import Difference, Equivalence, Pair, all_pairs, holm, paired, tost, welch
    from .resamples import Bootstrap, bootstrap
    from .stopping_rule import Verdict, narrow_enough, replications_needed, verdict
    from .warmup import Truncation, Warmup, mser5

_WHERE = {
    "Anova": "factorial",
    "Bootstrap": "resamples",
    "Contrast": "findings",
    "Difference": "pairs",
    "Equivalence": "pairs",
    "KS": "distributions",
    "MARGIN": "findings",
    "Pair": "pairs",
    "Truncation": "warmup",
    "Verdict": "stopping_rule",
    "Warmup": "warmup",
    "all_pairs": "pairs",
    "anova": "factorial",
    "bootstrap": "resamples",
    "contrasts": "findings",
    "effects": "factorial",
    "holm": "pairs",
    "ks": "distributions",
    "margin_share": "findings",
    "margin_text": "findings",
    "mser5": "warmup",
    "narrow_enough": "stopping_rule",
    "p_text": "findings",
    "paired": "pairs",
    "replications_needed": "stopping_rule",
    "tost": "pairs",
    "verdict": "stopping_rule",
    "welch": "pairs",
}

_SCIENTIFIC = ("distributions", "factorial", "pairs", "resamples")
"""Modules that need NumPy and scipy."""

__all__ = [
    "ANY",
    "Anova",
    "Bootstrap",
    "CONFIDENCE",
    "Contrast",
    "Difference",
    "Equivalence",
    "Estimate",
    "Interval",
    "KS",
    "MARGIN",
    "Pair",
    "Range",
    "Truncation",
    "Verdict",
    "Warmup",
    "all_pairs",
    "anova",
    "bootstrap",
    "bounded",
    "contrasts",
    "effects",
    "from_moments",
    "holm",
    "interval",
    "ks",
    "margin_share",
    "margin_text",
    "mser5",
    "narrow_enough",
    "p_text",
    "paired",
    "replications_needed",
    "tost",
    "verdict",
    "welch",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        if _WHERE[name] in _SCIENTIFIC:
            return loaded(name, "study", lambda: getattr(import_module(f".{_WHERE[name]}", __name__), name))
        return getattr(import_module(f".{_WHERE[name]}", __name__), name)
    raise AttributeError(f"module 'fairlane.stats' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
