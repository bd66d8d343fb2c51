"""Studies: a base scenario, factors, replications; every run computed once and kept, statistics over all of them."""

from ..runs.selection import selector
from .model import Factor, Level, Selector, StudySpec
from .reader import read_study
from .result import StudyResult, load_study
from .study import Study
from .verification import Verified, verify

__all__ = ["Factor", "Level", "Selector", "Study", "StudyResult", "StudySpec", "Verified", "load_study", "read_study", "selector", "verify"]
