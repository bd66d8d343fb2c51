"""Unstated parameters with their plausible values, and settings: one value for each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ..base.literals import SI, kind, quantity, si, written
from ..errors import FairlaneError, suggest

Value = str | int | float | bool
"""A value as a scenario file writes it: "12p", "7.5ms", "reno", 3, true."""
Setting = dict[str, Value]
"""One value for each varied parameter, by its name."""


class OpenError(FairlaneError):
    """An invalid declaration of a parameter; the message names it."""


def same(a: Value, b: Value) -> bool:
    """Returns true if two values are written alike; `true` is not 1.

    >>> same(True, 1), same("5p", "5p"), same(2, 2.0)
    (False, True, True)
    """
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def text_of(value: Value) -> str:
    """A value in a table or a sentence.

    >>> text_of(True), text_of("5ms"), text_of(0.5), text_of(3)
    ('true', '5ms', '0.5', '3')
    """
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Span:
    """Every value between two ends, each as likely as any other: on a linear scale, or on a logarithmic one.

    The ends are written with their units ("5p" to "100p", "2ms" to "80ms"); whole packets, bytes and counts stay whole. `step` leaves
    multiples of it above the low end alone.
    """

    low: Value
    high: Value
    scale: Literal["linear", "log"] = "linear"
    step: Value | None = None

    def __post_init__(self) -> None:
        ends = {}
        for name, value in (("low", self.low), ("high", self.high), ("step", self.step)):
            found = quantity(value) if value is not None else (1.0, "")
            if found is None:
                raise OpenError(f'{name} of a span is {value!r}: write a number or a quantity, such as "5p", "20ms" or 0.1')
            ends[name] = found
        (_, unit), (_, other) = ends["low"], ends["high"]
        if kind(unit) != kind(other):
            raise OpenError(f"{text_of(self.low)} and {text_of(self.high)} are of different kinds: give both ends of a span the same unit")
        if self.scale not in ("linear", "log"):
            raise OpenError(f'unknown scale {self.scale!r}: write "linear" or "log"')
        if not self._end(self.low) < self._end(self.high):
            raise OpenError(f"a span ends at {text_of(self.high)}, where it begins ({text_of(self.low)}) or before")
        if self.scale == "log" and self._end(self.low) <= 0:
            raise OpenError(f"a logarithmic span begins above zero, not at {text_of(self.low)}")
        if self.step is not None:
            if kind(ends["step"][1]) != kind(unit):
                raise OpenError(f"the step {text_of(self.step)} is of another kind than {text_of(self.low)}")
            if self.scale == "log":
                raise OpenError("a logarithmic span has no step")
            if not 0 < self._end(self.step) <= self._end(self.high) - self._end(self.low):
                raise OpenError(f"a step of {text_of(self.step)} does not fit between {text_of(self.low)} and {text_of(self.high)}")
        if self.whole and any(e != int(e) for e in (self._end(self.low), self._end(self.high))):
            raise OpenError(f"no parts of {'a packet' if unit == 'p' else 'a byte'}: {text_of(self.low)} to {text_of(self.high)}")

    @cached_property
    def unit(self) -> str:
        """The unit in which values are written: that of the low end."""
        found = quantity(self.low)
        return found[1] if found else ""

    @cached_property
    def whole(self) -> bool:
        """True if all values are whole numbers: packets, bytes, and counts."""
        return self.unit in ("p", "B") or (not self.unit and all(isinstance(x, int) for x in (self.low, self.high)))

    def _end(self, value: Value) -> float:
        """A value in the unit of the span."""
        x = si(value)
        return math.nan if x is None else round(x / SI[self.unit], 12)

    @cached_property
    def _ends(self) -> tuple[float, float, float | None]:
        """Low end, high end and step in the unit of the span."""
        return self._end(self.low), self._end(self.high), None if self.step is None else self._end(self.step)

    @cached_property
    def count(self) -> int | None:
        """How many values there are; None if they are dense."""
        low, high, step = self._ends
        if step is not None:
            return int((high - low) / step + 1e-9) + 1
        return int(high - low) + 1 if self.whole else None

    def at(self, u: float) -> Value:
        """The value at a place from 0 to 1."""
        low, high, step = self._ends
        if step is not None and (n := self.count) is not None:
            x = low + min(n - 1, int(u * n)) * step
            whole = self.whole and x == int(x)
            return self._written(x, whole)
        if self.whole:  # each whole number has a stretch of its own, the ends as long a one as the others
            low, high = low - 0.5, high + 0.5
            if self.scale == "log":
                low, high = max(low, 0.5), high
        x = low * (high / low) ** u if self.scale == "log" else low + (high - low) * u
        if self.whole:
            x = min(max(math.floor(x + 0.5), self._ends[0]), self._ends[1])
        return self._written(x, self.whole)

    def _written(self, x: float, whole: bool) -> Value:
        value: Value = written(x, self.unit, whole)
        return value

    def place(self, value: Value) -> float:
        """Where a value lies, from 0 to 1: the inverse of `at`."""
        (low, high, step), x = self._ends, self._end(value)
        if step is not None and (n := self.count) is not None:
            return (round((x - low) / step) + 0.5) / n
        if self.whole:
            low, high = low - 0.5, high + 0.5
            if self.scale == "log":
                low = max(low, 0.5)
        u = math.log(x / low) / math.log(high / low) if self.scale == "log" else (x - low) / (high - low)
        return min(max(u, 0.0), 1.0)

    def has(self, value: Value) -> bool:
        """Returns true if a value lies between the ends."""
        found = quantity(value)
        if found is None or kind(found[1]) != kind(self.unit):
            return False
        low, high, _ = self._ends
        return low <= self._end(value) <= high

    def read(self, text: str) -> Value:
        """A value from a table."""
        found = quantity(text)
        if found is None:
            raise OpenError(f"{text!r} is not a quantity")
        return text if found[1] else int(text) if self.whole else float(text)

    def __str__(self) -> str:
        logarithmic = ", logarithmic" if self.scale == "log" else ""
        return f"{text_of(self.low)} to {text_of(self.high)}{logarithmic}"


@dataclass(frozen=True)
class Levels:
    """A few values, each as likely as any other: names, switches, or numbers of which only these are plausible."""

    values: Sequence[Value]

    def __post_init__(self) -> None:
        if isinstance(self.values, str) or not all(isinstance(v, (str, int, float)) for v in self.values):
            raise OpenError(f"levels are several values as a scenario writes them, not {self.values!r}")
        object.__setattr__(self, "values", tuple(self.values))
        if len(self.values) < 2:
            raise OpenError("a choice has two levels or more; what has one is not open")
        texts = [text_of(v) for v in self.values]
        if len(set(texts)) < len(texts):
            raise OpenError(f"the levels {', '.join(texts)} are not all different")

    @property
    def count(self) -> int:
        """How many values there are."""
        return len(self.values)

    def at(self, u: float) -> Value:
        """The value at a place from 0 to 1."""
        return self.values[min(len(self.values) - 1, int(u * len(self.values)))]

    def index(self, value: Value) -> int:
        """The number of a level."""
        return next(i for i, v in enumerate(self.values) if same(v, value))

    def place(self, value: Value) -> float:
        """The middle of the stretch from 0 to 1 that a level has."""
        return (self.index(value) + 0.5) / len(self.values)

    def has(self, value: Value) -> bool:
        """Returns true if a value is one of the levels."""
        return any(same(v, value) for v in self.values)

    def read(self, text: str) -> Value:
        """A value from a table."""
        for v in self.values:
            if text_of(v) == text:
                return v
        raise suggest(text, [text_of(v) for v in self.values], "level")

    def __str__(self) -> str:
        return ", ".join(text_of(v) for v in self.values)


@dataclass(frozen=True)
class Open:
    """Parameter that a paper does not state, or that a study varies."""

    name: str
    """Its name in a word or two: "access limit"."""
    base: Value
    """The value in the first setting: what would be taken if nothing else were known."""
    over: Span | Levels
    """The plausible values."""
    why: str
    """Why it is open, and why these values are plausible."""

    def __post_init__(self) -> None:
        if not self.name.strip() or "," in self.name or "\n" in self.name:
            raise OpenError(f"{self.name!r} is not a valid parameter name: write a word or two")
        if not self.over.has(self.base):
            raise OpenError(f"{self.name}: the base {text_of(self.base)} is not among its values ({self.over})")

    @property
    def ordered(self) -> bool:
        """True if its values have an order: those of a span, and levels that are all numbers, given in order."""
        return isinstance(self.over, Span)

    def number(self, value: Value) -> float:
        """A value as a number to compute with: in SI units, or the number of the level."""
        if isinstance(self.over, Levels):
            return float(self.over.index(value))
        x = si(value)
        if x is None:
            raise OpenError(f"{self.name}: {value!r} is not a quantity")
        return x


def check_opens(opens: Sequence[Open]) -> None:
    """Raises if two have one name."""
    names = [o.name for o in opens]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise OpenError(f"{twice!r} is declared twice: each name stands for one thing")


def check_setting(opens: Sequence[Open], values: Mapping[str, Value], what: str = "the setting") -> Setting:
    """The values of a setting in the order of the parameters; raises if one is missing, unknown or not among the plausible ones."""
    names = [o.name for o in opens]
    strange = next((n for n in values if n not in names), None)
    if strange is not None:
        raise OpenError(f"{what}: {suggest(strange, names, 'parameter')}")
    missing = [n for n in names if n not in values]
    if missing:
        raise OpenError(f"{what} has no value for {', '.join(missing)}")
    for o in opens:
        if not o.over.has(values[o.name]):
            raise OpenError(f"{what}: {o.name} is {text_of(values[o.name])}, which is not among its values ({o.over})")
    return {n: values[n] for n in names}


def base_of(opens: Sequence[Open]) -> Setting:
    """The setting in which everything has its base value."""
    return {o.name: o.base for o in opens}


def setting_text(setting: Mapping[str, Value]) -> str:
    """A setting in words.

    >>> setting_text({"limit": "12p", "sack": True})
    'limit 12p, sack true'
    """
    return ", ".join(f"{name} {text_of(value)}" for name, value in setting.items())
