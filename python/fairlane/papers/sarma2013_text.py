"""What we find in Sarma 2013, in sentences with the numbers of the runs at hand."""

from __future__ import annotations

from collections.abc import Mapping

from .definition import Results


def findings(r: Results) -> list[str]:
    """The summary at the top of the page."""
    return []


def causes(r: Results) -> Mapping[str, str]:
    """Why claims come out as they do."""
    return {}
