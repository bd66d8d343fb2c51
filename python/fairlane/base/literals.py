"""Conversion of quantities of scenario files to numbers and back."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any

SI = {
    **{"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0},
    **{"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "Tbit/s": 1e12},
    **{"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1024.0, "MiB": 2.0**20, "GiB": 2.0**30, "p": 1.0, "%": 0.01, "": 1.0},
}
"""Factor from each unit to the base unit of its kind."""
_KIND = (("s", "ps ns us µs ms s min h"), ("bit/s", "bit/s kbit/s Mbit/s Gbit/s Tbit/s"), ("byte", "B kB MB GB KiB MiB GiB"),
         ("packets", "p"), ("1", "%"), ("", ""))  # fmt: skip
_QUANTITY = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-zµ/%]*)\s*")


def quantity(value: Any) -> tuple[float, str] | None:
    """Splits a literal into number and unit; None if it is not a number or quantity.

    >>> quantity("2.5ms"), quantity(3), quantity("2%"), quantity("soon")
    ((2.5, 'ms'), (3.0, ''), (2.0, '%'), None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return (float(value), "") if math.isfinite(value) else None
    return _of_text(value) if isinstance(value, str) else None


@lru_cache(maxsize=65536)
def _of_text(text: str) -> tuple[float, str] | None:
    m = _QUANTITY.fullmatch(text)
    return (float(m[1]), m[2]) if m and m[2] in SI else None


def kind(unit: str) -> str:
    """Returns the base unit of a unit: s, bit/s, byte, packets, 1 (a share) or "" (a plain number)."""
    return next(k for k, units in _KIND if unit in units.split(" "))


def si(value: Any) -> float | None:
    """Converts a literal to base units (s, bit/s, byte, packets, shares).

    >>> si("20ms"), si("5%"), si(0.05), si("10Mbit/s")
    (0.02, 0.05, 0.05, 10000000.0)
    """
    q = quantity(value)
    return None if q is None else q[0] * SI[q[1]]


def written(value: float, unit: str, whole: bool) -> Any:
    """Returns a sampled number as a literal with three digits, so that nearby samples are one setting.

    >>> written(12.3456, "ms", False), written(17, "p", True), written(0.0123456, "", False)
    ('12.3ms', '17p', 0.0123)
    """
    if whole:
        return f"{int(value)}{unit}" if unit else int(value)
    short = float(f"{value:.3g}")
    return f"{short:.12g}{unit}" if unit else short
