"""Numbers as text for tables: digits that the interval supports."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..stats.intervals import EVEN

if TYPE_CHECKING:
    from .tables import Compared


def value(x: float | None, digits: int = 5) -> str:
    """Five significant digits (or `digits`), no exponent.

    >>> value(9687.619), value(0.10754), value(0.0), value(None), value(1300000.0)
    ('9687.6', '0.10754', '0', '', '1 300 000')
    """
    if x is None or not math.isfinite(x):
        return ""
    if x == 0:
        return "0"
    if abs(x) >= 1e5:
        return f"{x:,.0f}".replace(",", " ")
    places = max(0, digits - 1 - math.floor(math.log10(abs(x))))
    text = f"{x:.{min(places, 6)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _places(x: float, digits: int) -> int:
    return max(0, min(6, digits - 1 - math.floor(math.log10(abs(x))))) if x else 0


def mean_and_interval(row: Compared) -> tuple[str, str]:
    """Our mean and its interval, as "± 0.2" or "(0 to 15)"; the digits follow the interval, but not beyond five of the mean.

    The second is empty for a value without an interval.
    """
    if row.ours is None:
        return "", ""
    if row.low is None or row.high is None:
        return value(row.ours), ""
    h = (row.high - row.low) / 2
    if h <= 5e-7 * max(1.0, abs(row.ours)):
        return value(row.ours), "± 0"
    places = min(_places(h, 2), _places(row.ours, 5))
    while round(h, places) == 0:
        places += 1
    if abs(row.low + row.high - 2 * row.ours) > 2 * EVEN * h:
        return f"{row.ours:.{places}f}", f"({row.low:.{places}f} to {row.high:.{places}f})"
    return f"{row.ours:.{places}f}", f"± {h:.{places}f}"


def mean(row: Compared) -> str:
    """Our mean alone: with the digits of its interval, but not beyond five."""
    return min(mean_and_interval(row)[0], value(row.ours), key=len)


def pm(row: Compared) -> str:
    """Our mean with its interval."""
    return " ".join(x for x in mean_and_interval(row) if x)


def published(row: Compared) -> str:
    """The published value, with the digits it was published with."""
    return row.published_text or value(row.published)


def difference(row: Compared) -> str:
    """Our difference from the published value, percent.

    A published zero that we meet is no difference.
    """
    d = row.difference
    if d is None:
        return "0 %" if row.published == 0 and row.ours == 0 else ""
    p = 100 * d
    if abs(p) < 0.005:
        return "0 %"
    text = f"{p:+.2f} %" if abs(p) < 1 else f"{p:+.1f} %" if abs(p) < 100 else f"{p:+.0f} %"
    return text.replace("-", "−")
