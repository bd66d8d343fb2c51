"""Ranges of levels: from one number or quantity to another, by count or by step, evenly or by a common factor."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .. import _core
from .paths import Kind

_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)((?:[eE][+-]?[0-9]+)?)\s*([A-Za-zµ/]+)\s*")
KINDS = {"rate": "a rate", "dur": "a duration", "packets": "a number of packets", "bytes": "a size in bytes", "number": "a number"}
_UNITS = {
    "rate": ("Tbit/s", "Gbit/s", "Mbit/s", "kbit/s", "bit/s"),
    "dur": ("s", "ms", "us", "ns", "ps"),
    "bytes": ("GB", "MB", "kB", "B"),
    "packets": ("p",),
}
_LEAST = {"rate": Fraction(1), "dur": Fraction(1, 10**12), "bytes": Fraction(1), "packets": Fraction(1)}
"""The engine counts in whole bits a second, picoseconds, bytes and packets."""
MOST = 100_000
_TOLERANCE = Fraction(1, 200)


class RangeError(Exception):
    """A range that cannot be: which of its keys is wrong, what is, and what to write."""

    def __init__(self, key: str, message: str, help: str = "") -> None:
        super().__init__(message)
        self.key, self.message, self.help = key, message, help


@dataclass(frozen=True)
class Amount:
    """A number, or a quantity in its base unit, exactly."""

    kind: str
    """number, rate (bit/s), dur (s), bytes or packets."""
    size: Fraction
    unit: str
    """The unit as written; "" for a number."""


def amount(written: Any) -> Amount | None:
    """Parses a number or a quantity; returns None for anything else.

    >>> amount("10Mbit/s")
    Amount(kind='rate', size=Fraction(10000000, 1), unit='Mbit/s')
    """
    if isinstance(written, bool):
        return None
    if isinstance(written, (int, float)):
        return Amount("number", Fraction(repr(written)), "") if math.isfinite(written) else None
    m = _QUANTITY.fullmatch(written) if isinstance(written, str) else None
    if m is None or (kind := _core.quantity_kind(f"1{m[3]}")) is None:
        return None
    one, packets = _core.quantity(kind, f"1{m[3]}")
    kind = ("packets" if packets else "bytes") if kind == "len" else kind
    return Amount(kind, Fraction(m[1] + m[2]) * Fraction(repr(one)), m[3])


def spread(table: dict[str, Any], at: Kind) -> list[Any]:
    """The values of a range, both ends as written; raises `RangeError`."""
    ends = {}
    for key in ("from", "to"):
        found = amount(table[key])
        if found is None:
            raise RangeError(key, f"{_show(table[key])} is neither a number nor a quantity", 'write for instance 0.5, or "10Mbit/s"')
        ends[key] = found
    low, high = ends["from"], ends["to"]
    if low.kind != high.kind:
        raise RangeError(
            "to", f"the ends have different units: {_show(table['from'])} is {KINDS[low.kind]}, {_show(table['to'])} {KINDS[high.kind]}",
            "write both ends in units of one kind",
        )  # fmt: skip
    if low.size == high.size:
        raise RangeError("to", f"the range is empty: it begins and ends at {_show(table['to'])}", "write different ends, or a list")
    log = str(table.get("scale", "linear")).lower() == "log"
    if log and min(low.size, high.size) <= 0:
        key = "from" if low.size <= 0 else "to"
        raise RangeError(
            key, f"a range with a logarithmic scale cannot contain {_show(table[key])}", 'write ends above zero, or scale = "linear"'
        )
    if ("count" in table) == ("step" in table):
        both = "count" in table
        raise RangeError(
            "step" if both else "", "a range has either `count` or `step`, not both" if both else "a range needs `count` or `step`",
            "leave one of them out" if both else "write for instance count = 5",
        )  # fmt: skip
    count = int(table["count"]) if "count" in table else _steps(table, low, high, log)
    inner = [_exact(low.size, high.size, k / Fraction(count - 1), log) for k in range(1, count - 1)]
    whole = Fraction(1) if at.whole else _LEAST.get(low.kind)
    rounded = _rounded(low.size, inner, high.size, whole)
    sizes = [low.size, *rounded, high.size]
    if len(set(sizes)) < count:
        what = "whole numbers" if low.kind == "number" else "values"
        most = f"there are no {count} different {what} between {_show(table['from'])} and {_show(table['to'])}"
        raise RangeError("count" if "count" in table else "step", most, "write a smaller count")
    return [table["from"], *(_written(x, low, high, at) for x in rounded), table["to"]]


def _steps(table: dict[str, Any], low: Amount, high: Amount, log: bool) -> int:
    """How many levels a step makes."""
    step = amount(table["step"])
    wanted = "number" if log else low.kind
    if step is None or step.kind != wanted:
        what = "the factor from one level to the next, a number above 1" if log else f"{KINDS[low.kind]}, as the ends"
        raise RangeError(
            "step",
            f"the step {_show(table['step'])} is not {what}",
            "write for instance step = 2" if log else "write the step in a unit of the ends",
        )
    if step.size <= (1 if log else 0):
        raise RangeError(
            "step",
            f"with a step of {_show(table['step'])} the range never arrives at {_show(table['to'])}",
            f"write a step above {1 if log else 0}",
        )
    if log:
        steps = abs(math.log(high.size / low.size)) / math.log(step.size)
        n, arrives = round(steps), abs(steps - round(steps)) < 1e-9 * max(1.0, steps)
    else:
        exact = abs(high.size - low.size) / step.size
        n, arrives, steps = round(exact), exact.denominator == 1, float(exact)
    if steps >= MOST:
        raise RangeError("step", f"the range has {steps:.0f} levels, the most is {MOST}", "write a larger step")
    if not arrives or n < 1:
        up = high.size > low.size
        whole = math.floor(steps + 1e-9)
        last = low.size * step.size ** (whole if up else -whole) if log else low.size + (whole if up else -whole) * step.size
        before = _text(last, low.kind, high.unit)
        message = f"with a step of {_show(table['step'])} the range never arrives at {_show(table['to'])}"
        instead = before if low.kind == "number" else _show(before)
        raise RangeError("step", f"{message}: the last level before is {before}", f"write to = {instead}, or count instead of step")
    return n + 1


def _exact(low: Fraction, high: Fraction, share: Fraction, log: bool) -> Fraction:
    """The place of a level, as numpy's linspace and geomspace have it."""
    if not log:
        return low + (high - low) * share
    return low * Fraction(math.exp(math.log(high / low) * float(share)))


def _rounded(low: Fraction, inner: list[Fraction], high: Fraction, whole: Fraction | None) -> list[Fraction]:
    """Levels with no more digits than needed to keep them near their places."""
    places = [low, *inner, high]
    out = []
    for i in range(1, len(places) - 1):
        x, gap = places[i], min(abs(places[i] - places[i - 1]), abs(places[i + 1] - places[i]))
        digits = next((d for d in range(3, 17) if abs(_to_digits(x, d) - x) <= gap * _TOLERANCE), 17)
        y = _to_digits(x, digits)
        out.append(y if whole is None else round(y / whole) * whole)
    return out


def _to_digits(x: Fraction, digits: int) -> Fraction:
    return Fraction(f"{float(x):.{digits - 1}e}")


def _written(x: Fraction, low: Amount, high: Amount, at: Kind) -> Any:
    """A level between the ends as a scenario file has it."""
    if low.kind == "number":
        whole = at.whole or (not at.number and low.size.denominator == high.size.denominator == x.denominator == 1)
        return int(x) if whole else float(x)
    return _text(x, low.kind, low.unit if low.unit == high.unit else "")


def _text(x: Fraction, kind: str, unit: str) -> str:
    """A size in the unit given, or the one in which it reads best.

    >>> _text(Fraction(31600000), "rate", "")
    '31.6Mbit/s'
    """
    if kind == "number":
        return _decimal(x)
    sizes = {u: _one(u) for u in ((unit,) if unit else _UNITS[kind])}
    # The written unit stays unless the number would be no decimal of it.
    best = next((u for u, one in sizes.items() if abs(x) >= one), list(sizes)[-1])
    if not _is_decimal(x / sizes[best]):
        best = next(u for u in reversed(_UNITS[kind]) if _is_decimal(x / _one(u)))
    return f"{_decimal(x / _one(best))}{best}"


def _one(unit: str) -> Fraction:
    one = amount(f"1{unit}")
    assert one is not None
    return one.size


def _is_decimal(x: Fraction) -> bool:
    d = x.denominator
    for p in (2, 5):
        while d % p == 0:
            d //= p
    return d == 1


def _decimal(x: Fraction) -> str:
    """A fraction as a decimal number, without an exponent."""
    if x.denominator == 1:
        return str(x.numerator)
    if not _is_decimal(x):
        return repr(float(x))
    digits = 0
    while (x * 10**digits).denominator != 1:
        digits += 1
    whole = str(abs(int(x * 10**digits))).rjust(digits + 1, "0")
    return f"{'-' if x < 0 else ''}{whole[:-digits]}.{whole[-digits:]}"


def _show(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
