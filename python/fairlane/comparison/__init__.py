"""One scenario under several queues."""

from .compare import CAPACITY, SAMPLES, StepProgress, compare, mixed
from .ellipse import Ellipse, ellipse
from .result import COMPARE_SCHEMA, GROUP_METRICS, LINK_METRICS, Compared, Comparison, jain

__all__ = [
    "CAPACITY",
    "COMPARE_SCHEMA",
    "GROUP_METRICS",
    "LINK_METRICS",
    "SAMPLES",
    "Compared",
    "Comparison",
    "Ellipse",
    "StepProgress",
    "compare",
    "ellipse",
    "jain",
    "mixed",
]
