"""Number of parallel runs."""

from __future__ import annotations

import os


def available_threads() -> int:
    """Returns the number of cores that this process may use."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:
        return os.cpu_count() or 1
