"""One scenario under several queues."""

from .compare import CAPACITY, SAMPLES, StepProgress, compare, mixed
from .ellipse import Ellipse, ellipse
from .result import GROUP_METRICS, LINK_METRICS, Compared, Comparison

__all__ = [
    "CAPACITY",
    "GROUP_METRICS",
    "LINK_METRICS",
    "SAMPLES",
    "Compared",
    "Comparison",
    "Ellipse",
    "StepProgress",
    "compare",
    "ellipse",
    "mixed",
]
