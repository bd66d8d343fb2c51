"""Quantities with their units, with types of their own: for a type checker a delay is no rate.

>>> from fairlane import Network
>>> from fairlane.units import Mbit, ms
>>> Network(duration="9s").link("a", "b", rate=Mbit(10), delay=ms(20)).to_dict()["links"]["a-b"]["delay"]
'20ms'

Wherever a scenario takes a quantity, text such as `"20ms"` works, too; but a checker cannot look into a text. Rates are per second, and
have the names that `tc` gives them: `Mbit(10)` is 10 Mbit/s.
"""

from __future__ import annotations

import math
from typing import ClassVar, Self

from . import _core
from .errors import ArgumentError

__all__ = [
    "B",
    "Duration",
    "GB",
    "Gbit",
    "GiB",
    "KiB",
    "MB",
    "Mbit",
    "MiB",
    "Packets",
    "Quantity",
    "Rate",
    "Size",
    "Tbit",
    "bit",
    "h",
    "kB",
    "kbit",
    "min",
    "ms",
    "ns",
    "packets",
    "s",
    "us",
]


class Quantity:
    """A quantity, written as in a scenario: `str(Duration("20ms"))` is "20ms", `float(Duration("20ms"))` is 0.02.

    Wrong text is an `ArgumentError`. Equal quantities are equal in any unit.
    """

    __slots__ = ("_text", "_value")
    _kind: ClassVar[str]
    _smallest: ClassVar[str]

    def __init__(self, text: str) -> None:
        try:
            self._value = _core.quantity(self._kind, str(text))
        except ValueError as e:
            raise ArgumentError(str(e)) from None
        self._text = str(text)

    @classmethod
    def _of(cls, number: float, unit: str, steps: float = 1) -> Self:
        """Returns a number of units; a fraction is rounded to the smallest unit, of which one has so many `steps`."""
        text = f"{number:.15g}{unit}" if isinstance(number, float) else f"{number}{unit}"
        try:
            return cls(text)
        except ArgumentError:
            whole = number * steps
            if not math.isfinite(whole) or whole == round(whole):
                raise
            return cls(f"{round(whole)}{cls._smallest}")

    def __float__(self) -> float:
        return self._value[0]

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._text!r})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)


class Duration(Quantity):
    """A duration, such as `Duration("20ms")` or `ms(20)`; as a number in seconds."""

    __slots__ = ()
    _kind, _smallest = "dur", "ps"


class Rate(Quantity):
    """A rate, such as `Rate("10Mbit/s")` or `Mbit(10)`; as a number in bit/s."""

    __slots__ = ()
    _kind, _smallest = "rate", "bit/s"


class Size(Quantity):
    """A size, such as `Size("64KiB")` or `KiB(64)`; as a number in bytes."""

    __slots__ = ()
    _kind, _smallest = "bytes", "B"


class Packets(Quantity):
    """A length of a queue in packets, such as `Packets("50p")` or `packets(50)`; a `Size` is one in bytes."""

    __slots__ = ()
    _kind = "len"

    def __init__(self, text: str) -> None:
        super().__init__(text)
        if not self._value[1]:
            raise ArgumentError(f'{text!r} is a size in bytes, not in packets: write Size({text!r}), or packets such as "50p"')


def ns(number: float) -> Duration:
    """Returns nanoseconds."""
    return Duration._of(number, "ns", 1e3)


def us(number: float) -> Duration:
    """Returns microseconds."""
    return Duration._of(number, "us", 1e6)


def ms(number: float) -> Duration:
    """Returns milliseconds."""
    return Duration._of(number, "ms", 1e9)


def s(number: float) -> Duration:
    """Returns seconds."""
    return Duration._of(number, "s", 1e12)


def min(number: float) -> Duration:
    """Returns minutes."""
    return Duration._of(number, "min", 60e12)


def h(number: float) -> Duration:
    """Returns hours."""
    return Duration._of(number, "h", 3600e12)


def bit(number: float) -> Rate:
    """Returns a rate in bit/s."""
    return Rate._of(number, "bit/s")


def kbit(number: float) -> Rate:
    """Returns a rate in kbit/s."""
    return Rate._of(number, "kbit/s", 1e3)


def Mbit(number: float) -> Rate:
    """Returns a rate in Mbit/s."""
    return Rate._of(number, "Mbit/s", 1e6)


def Gbit(number: float) -> Rate:
    """Returns a rate in Gbit/s."""
    return Rate._of(number, "Gbit/s", 1e9)


def Tbit(number: float) -> Rate:
    """Returns a rate in Tbit/s."""
    return Rate._of(number, "Tbit/s", 1e12)


def B(number: float) -> Size:
    """Returns bytes."""
    return Size._of(number, "B")


def kB(number: float) -> Size:
    """Returns thousands of bytes."""
    return Size._of(number, "kB", 1e3)


def MB(number: float) -> Size:
    """Returns millions of bytes."""
    return Size._of(number, "MB", 1e6)


def GB(number: float) -> Size:
    """Returns billions of bytes."""
    return Size._of(number, "GB", 1e9)


def KiB(number: float) -> Size:
    """Returns units of 1024 bytes."""
    return Size._of(number, "KiB", 2**10)


def MiB(number: float) -> Size:
    """Returns units of 1024 KiB."""
    return Size._of(number, "MiB", 2**20)


def GiB(number: float) -> Size:
    """Returns units of 1024 MiB."""
    return Size._of(number, "GiB", 2**30)


def packets(number: int) -> Packets:
    """Returns a length of a queue in packets."""
    return Packets(f"{number}p")
