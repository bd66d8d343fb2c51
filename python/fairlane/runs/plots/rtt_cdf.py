"""Distribution of the round-trip time, from the samples of the senders."""

from __future__ import annotations

from collections.abc import Sequence

from . import distributions
from .pen import Pen
from .samples import round_trips
from .view import View


def draw(pen: Pen, views: Sequence[View]) -> None:
    """Draws a curve per flow with acknowledgments."""
    distributions.draw(pen, views, round_trips, "rtt", "round-trip time")
