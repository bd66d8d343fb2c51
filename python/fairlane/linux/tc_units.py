"""Quantities in the notation of tc(8), section UNITS, as iproute2 reads and shows them."""

from __future__ import annotations

import re
from fractions import Fraction

from ..errors import FairlaneError, short

_NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]{1,2}))?([A-Za-z%]*)")
_SI = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_IEC = {"ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40}
RATES = {f"{p}{unit}": f * bits for unit, bits in (("bit", 1), ("bps", 8)) for p, f in (_SI | _IEC).items()} | {"": 1}
"""Bit/s of the units of rates: `bps` are bytes, a bare number is in bit/s."""
SIZES = {
    "": Fraction(1), "b": Fraction(1), "k": Fraction(1 << 10), "kb": Fraction(1 << 10), "m": Fraction(1 << 20), "mb": Fraction(1 << 20),
    "g": Fraction(1 << 30), "gb": Fraction(1 << 30), "kbit": Fraction(1 << 10, 8), "mbit": Fraction(1 << 20, 8),
    "gbit": Fraction(1 << 30, 8),
}  # fmt: skip
"""Bytes of the units of sizes: k is 1024."""
_MICRO = Fraction(1, 10**6)
TIMES = {
    **dict.fromkeys(("s", "sec", "secs"), Fraction(1)), **dict.fromkeys(("ms", "msec", "msecs"), Fraction(1, 1000)),
    **dict.fromkeys(("us", "usec", "usecs", ""), _MICRO),
}  # fmt: skip
"""Seconds of the units of times; a bare number is in microseconds."""
FINE_TIMES = TIMES | dict.fromkeys(("ns", "nsec", "nsecs", ""), Fraction(1, 10**9))
"""Units of netem's times, where a bare number is in nanoseconds."""
LARGEST = 10**15


class TcError(FairlaneError):
    """A text of tc that cannot be read: the wrong word, the message, and what to do about it."""

    def __init__(self, word: str, message: str, help: str = "", line: int = 0, file: str = "") -> None:
        self.word, self.message, self.help, self.line = word, message, help, line
        place = f"{file}{f':{line}' if line else ''}: " if file else ""
        super().__init__(f"{place}{message}" + (f"\n  = help: {help}" if help else ""))


def _parsed(text: str, units: dict[str, int] | dict[str, Fraction], what: str, example: str) -> Fraction:
    m = _NUMBER.fullmatch(text) if len(text) <= 40 else None
    factor = units.get(m[3].lower()) if m else None
    if m is None or factor is None:
        raise TcError(text, f"{short(text)} is no {what} of tc", f"write for instance {example}")
    value = Fraction(m[1]) * Fraction(10) ** int(m[2] or 0) * factor
    if value > LARGEST:
        raise TcError(text, f"{short(text)} is too large", f"write for instance {example}")
    return value


def rate(text: str) -> str:
    """Returns a rate as in a scenario; tc cuts it to whole bytes a second.

    >>> rate("10mbit"), rate("100kbps"), rate("1.5Gbit"), rate("8000"), rate("1kibit")
    ('10Mbit/s', '800kbit/s', '1500Mbit/s', '8kbit/s', '1024bit/s')
    """
    if text.endswith("%"):
        raise TcError(text, f"{short(text)} is a share of the device's rate, which tc does not tell", "write a rate such as 10mbit")
    return bits(int(_parsed(text, RATES, "rate", "10mbit") / 8) * 8)


def bits(whole: int) -> str:
    """Returns a rate in bit/s as in a scenario."""
    for factor, name in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if whole and whole % factor == 0:
            return f"{whole // factor}{name}bit/s"
    return f"{whole}bit/s"


def size(text: str) -> int:
    """Returns a number of bytes. A cell as in `5Kb/8`, which `tc -d` shows, is left out.

    >>> size("1600"), size("5k"), size("32Mb"), size("10kbit")
    (1600, 5120, 33554432, 1280)
    """
    return int(_parsed(text.partition("/")[0], SIZES, "size", "15k"))


def seconds(text: str, *, fine: bool = False) -> Fraction:
    """Returns a time in seconds, cut to microseconds, or to nanoseconds for netem (`fine`).

    >>> seconds("5ms"), seconds("20"), seconds("20", fine=True), seconds("1.5us")
    (Fraction(1, 200), Fraction(1, 50000), Fraction(1, 50000000), Fraction(1, 1000000))
    """
    step = 10**9 if fine else 10**6
    return Fraction(int(_parsed(text, FINE_TIMES if fine else TIMES, "time", "20ms") * step), step)


def count(text: str, unit: str = "p") -> int:
    """Returns a whole number; `tc qdisc show` appends a unit.

    >>> count("1000p"), count("0x10"), count("10pps", "pps")
    (1000, 16, 10)
    """
    m = re.fullmatch(rf"(0[xX][0-9A-Fa-f]{{1,8}}|[0-9]{{1,12}})(?:{unit})?", text)
    if m is None:
        raise TcError(text, f"{short(text)} is no whole number", "write for instance 1000")
    return int(m[1], 16 if m[1][:2].lower() == "0x" else 10)


def minor(text: str) -> int:
    """Returns the number of a class, which is hexadecimal.

    >>> minor("30"), minor("0x1")
    (48, 1)
    """
    if re.fullmatch(r"(?:0[xX])?[0-9A-Fa-f]{1,8}", text) is None:
        raise TcError(text, f"{short(text)} is no number of a class", "write for instance 30")
    return int(text, 16)


def percent(text: str) -> float:
    """Returns a share: tc's percentages are written with or without the sign.

    >>> percent("1%"), percent("0.5")
    (0.01, 0.005)
    """
    m = _NUMBER.fullmatch(text) if len(text) <= 40 else None
    if m is None or m[3] not in ("", "%") or (value := float(m[1]) * 10.0 ** int(m[2] or 0)) > 100:
        raise TcError(text, f"{short(text)} is no percentage", "write for instance 1%")
    return float(f"{value / 100:.15g}")


def share(text: str) -> float:
    """Returns a probability, which is no percentage."""
    m = _NUMBER.fullmatch(text) if len(text) <= 40 else None
    if m is None or m[3] or (value := float(m[1]) * 10.0 ** int(m[2] or 0)) > 1:
        raise TcError(text, f"{short(text)} is no probability", "write for instance 0.02")
    return value
