"""Distribution of the round trip, of the samples that a sender could take."""

from __future__ import annotations

from collections.abc import Sequence

from . import distributions
from .pen import Pen
from .samples import round_trips
from .view import View


def draw(pen: Pen, views: Sequence[View]) -> None:
    """Each flow that has acknowledgments."""
    distributions.draw(pen, views, round_trips, "rtt", "round-trip time")
