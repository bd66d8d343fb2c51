"""Exact conversion of quantities of a resolved scenario to those of tc(8)."""

from __future__ import annotations

import math
import re
from fractions import Fraction

_UNITS: dict[str, dict[str, int | Fraction]] = {
    "s": {"ps": Fraction(1, 10**12), "ns": Fraction(1, 10**9), "us": Fraction(1, 10**6), "ms": Fraction(1, 1000), "s": 1,
          "min": 60, "h": 3600},
    "bit/s": {f"{p}bit/s": f for p, f in (("", 1), ("k", 10**3), ("M", 10**6), ("G", 10**9), ("T", 10**12))},
    "byte": {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30},
}  # fmt: skip


def number(text: str, kind: str) -> Fraction:
    """Returns a quantity in s, bit/s or byte.

    >>> number("2.5ms", "s"), number("10Mbit/s", "bit/s"), number("64KiB", "byte")
    (Fraction(1, 400), Fraction(10000000, 1), Fraction(65536, 1))
    """
    m = re.fullmatch(r"([0-9.eE+-]+?)\s*([A-Za-zµ/]+)", text)
    if not m or m[2] not in _UNITS[kind]:
        raise ValueError(f"not a quantity in {kind}: {text!r}")
    return Fraction(m[1]) * _UNITS[kind][m[2]]


def seconds(text: str) -> Fraction:
    """Returns a duration in seconds."""
    return number(text, "s")


def size(text: str) -> int:
    """Returns a number of bytes."""
    return math.ceil(number(text, "byte"))


def packets(text: str) -> int | None:
    """Returns the packets of a queue length such as "50p"; None if it is in bytes."""
    return int(text[:-1]) if text.endswith("p") and text[:-1].isdigit() else None


def length(text: str, packet: int) -> int:
    """Returns a queue length in bytes, with packets of `packet` bytes.

    >>> length("10p", 1000), length("64KiB", 1000)
    (10000, 65536)
    """
    n = packets(text)
    return size(text) if n is None else n * packet


def count(text: str, packet: int) -> int:
    """Returns a queue length in packets of `packet` bytes, at least one."""
    n = packets(text)
    return max(1, size(text) // packet) if n is None else n


def rate(bps: Fraction | int) -> str:
    """Returns a rate in the notation of tc; tc's mbit is 10^6 bit/s (tc(8), UNITS).

    >>> rate(10_000_000), rate(1_500), rate(Fraction(2, 3))
    ('10mbit', '1500bit', '1bit')
    """
    whole = max(1, round(bps))
    for factor, name in ((10**9, "gbit"), (10**6, "mbit"), (10**3, "kbit")):
        if whole % factor == 0:
            return f"{whole // factor}{name}"
    return f"{whole}bit"


def time(span: Fraction) -> str:
    """Returns a duration in the notation of tc, to the nanosecond.

    >>> time(Fraction(1, 200)), time(Fraction(3, 2)), time(Fraction(1, 3_000_000))
    ('5ms', '1500ms', '333ns')
    """
    for factor, name in ((1, "s"), (10**3, "ms"), (10**6, "us")):
        if (span * factor).denominator == 1:
            return f"{span * factor}{name}"
    return f"{round(span * 10**9)}ns"


def share(p: float, digits: int = 6) -> str:
    """Returns a probability without an exponent, which some options of tc do not accept.

    >>> share(0.02), share(1 / 3), share(0.00005)
    ('0.02', '0.333333', '0.00005')
    """
    text = f"{p:.{max(digits, 1 - math.floor(math.log10(p)) if p > 0 else digits)}f}".rstrip("0").rstrip(".")
    return text or "0"


def log_of_weight(w_q: float) -> int:
    """Returns the exponent of the power of two nearest to a weight of RED's average: Linux has no other weights."""
    return min(31, max(1, round(-math.log2(w_q)))) if w_q > 0 else 31


def burst_below(low: float, log: int) -> int:
    """Returns the burst in packets for which tc computes the weight 2^-log.

    A burst of L packets into an empty queue leaves the average below the threshold `low` (packets) if
    L + 1 + ((1 - w)^L - 1) / w <= low (Floyd and Jacobson 1993, section 6). tc takes the largest w = 1/2, 1/4... for which that
    holds; this is the longest burst for which it takes 2^-log.

    >>> [burst_below(low, log) for low, log in ((5.0, 9), (30.0, 9), (10.0, 6))]
    [65, 182, 37]
    """
    short, long = math.ceil(low), 2 * math.ceil(low) + 2
    while _absorbs(long, low, log):
        short, long = long, 2 * long
    while long - short > 1:
        middle = (short + long) // 2
        short, long = (middle, long) if _absorbs(middle, low, log) else (short, middle)
    return max(1, short)


def log_of_burst(low: float, burst: int) -> int:
    """Returns the exponent of the weight that tc computes for a burst."""
    return next((log for log in range(1, 32) if _absorbs(burst, low, log)), 31)


def _absorbs(burst: int, low: float, log: int) -> bool:
    w = 0.5**log
    # (1 - w)^L - 1 without loss of digits for small w.
    return burst + 1 + math.expm1(burst * math.log1p(-w)) / w <= low
