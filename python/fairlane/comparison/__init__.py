"""Comparison of queues, congestion controls or other parameter values in one scenario."""

from ..stats.ellipse import Ellipse, ellipse
from .compare import CAPACITY, SAMPLES, StepProgress, compare, default_network
from .data import GROUP_METRICS, LINK_METRICS, Compared
from .differences import Difference, Measure
from .factors import Factor, Level
from .result import Comparison

__all__ = [
    "CAPACITY",
    "GROUP_METRICS",
    "LINK_METRICS",
    "Level",
    "Measure",
    "SAMPLES",
    "Compared",
    "Comparison",
    "Difference",
    "Ellipse",
    "Factor",
    "StepProgress",
    "compare",
    "ellipse",
    "default_network",
]
