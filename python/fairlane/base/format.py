"""Formatting of numbers: units, magnitudes, significant digits."""

from __future__ import annotations

import math
import re
from typing import Protocol

_PREFIXES = {"bit/s": ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"), "byte": ("B", "kB", "MB", "GB", "TB")}
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_SECONDS = {
    "ps": 1e-12,
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
}


class Spread(Protocol):
    """A mean that may have an interval, such as `fairlane.stats.Interval`."""

    @property
    def mean(self) -> float | None:
        """The mean; None without a value."""

    @property
    def low(self) -> float | None:
        """The lower end of the interval."""

    @property
    def high(self) -> float | None:
        """The upper end of the interval."""

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval."""

    @property
    def even(self) -> bool:
        """True if the mean is in the middle of the interval, or nearly so."""


def scale(unit: str, size: float) -> tuple[float, str]:
    """Returns the factor and the unit for a number of magnitude `size`.

    >>> scale("bit/s", 9.6e6)
    (1e-06, 'Mbit/s')
    >>> scale("s", 0.0213)
    (1000.0, 'ms')
    """
    size = abs(size)
    if unit in _PREFIXES:
        names = _PREFIXES[unit]
        i = min(len(names) - 1, max(0, math.floor(math.log10(size) / 3))) if size > 0 else 0
        return 10.0 ** (-3 * i), names[i]
    if unit == "s":
        for one, name in _TIMES:
            if size >= one or (size == 0 and one == 1.0):
                return round(1.0 / one, 0), name
        return 1e9, "ns"
    if unit in ("1", "", "fraction", "ratio"):
        return 1.0, ""
    return 1.0, {"packets": "p", "count": ""}.get(unit, unit)


def base_unit(unit: str) -> str:
    """Returns a unit as it is written behind a number that is not scaled: "packets" as "p", a share without any.

    >>> base_unit("bit/s"), base_unit("packets"), base_unit("1")
    ('bit/s', 'p', '')
    """
    return "B" if unit == "byte" else unit if unit in (*_PREFIXES, "s") else scale(unit, 1.0)[1]


def number(x: float | None, digits: int = 4) -> str:
    """Formats a number with `digits` significant digits, with an exponent for very large and small ones only.

    >>> number(1234567.0), number(0.012345), number(None)
    ('1234567', '0.01235', '-')
    """
    if x is None or math.isnan(x):
        return "-"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    if x == 0:
        return "0"
    if x == int(x) and abs(x) < 1e12:
        return str(int(x))
    e = math.floor(math.log10(abs(x)))
    if -4 <= e < 12:
        return f"{x:.{max(0, digits - 1 - e)}f}"
    return f"{x:.{digits - 1}e}"


def quantity(iv: Spread, unit: str) -> str:
    """Formats a mean with its interval and unit; an asymmetric interval by both ends.

    >>> from fairlane import Interval
    >>> quantity(Interval(9.6e6, 9.5e6, 9.7e6, 1.0, 5), "bit/s")
    '9.60 ± 0.10 Mbit/s'
    >>> quantity(Interval(0.02, None, None, None, 1), "s")
    '20 ms'
    >>> quantity(Interval(4.0, 0.42, 29.1, 4.4, 3), "%")
    '4 (0.42 to 29) %'
    >>> quantity(Interval(0.9961, 0.9908, 0.9984, 0.01, 5), "1")
    '0.996 (0.991 to 0.998)'
    """
    if iv.mean is None:
        return "-"
    factor, name = scale(unit, iv.mean)
    mean, half = iv.mean * factor, iv.half_width
    if half is None:
        text = number(mean)
    elif half * factor <= 5e-13 * abs(mean):
        text = f"{number(mean)} ± 0"
    elif not iv.even and iv.low is not None and iv.high is not None:
        low, high = iv.low * factor, iv.high * factor
        side = min(mean - low, high - mean)

        def shown(x: float) -> str:
            # At least two digits, and enough to distinguish the three numbers.
            return number(x, max(2, math.ceil(math.log10(abs(x) / side)) if x and side else 2))

        text = f"{shown(mean)} ({shown(low)} to {shown(high)})"
    else:
        half *= factor
        places = min(9, max(0, 1 - math.floor(math.log10(half))))
        text = f"{mean:.{places}f} ± {half:.{places}f}"
    return f"{text} {name}".rstrip()


def duration(seconds: float) -> str:
    """Formats a span of wall-clock time.

    >>> duration(3.21), duration(75), duration(7300)
    ('3.2 s', '1 min 15 s', '2 h 01 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"
    return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60):02d} min"


def seconds(text: str) -> float:
    """Returns the seconds of a resolved duration.

    >>> seconds("100s"), seconds("2.5ms")
    (100.0, 0.0025)
    """
    m = re.fullmatch(r"\s*([0-9.eE+]+)\s*([a-zµ]+)\s*", text)
    if not m or m[2] not in _SECONDS:
        raise ValueError(f"not a duration: {text!r}")
    return float(m[1]) * _SECONDS[m[2]]
