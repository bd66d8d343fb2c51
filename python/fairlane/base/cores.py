"""How many runs go at once."""

from __future__ import annotations

import os


def available_threads() -> int:
    """Cores this process may use."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:
        return os.cpu_count() or 1
