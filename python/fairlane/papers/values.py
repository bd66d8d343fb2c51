"""Values as scenario files write them, for studies that compute with them."""

from __future__ import annotations

from typing import Any

from .. import _core
from ..base.choices import choices
from ..base.metrics import jain
from ..errors import FairlaneError

__all__ = ["jain", "quantity", "queue_of"]


def quantity(text: str) -> float:
    """A quantity in its base unit: bit/s, seconds, byte or packets.

    >>> quantity("1.5Mbit/s"), quantity("20ms")
    (1500000.0, 0.02)
    """
    kind = _core.quantity_kind(text)
    if kind is None:
        raise FairlaneError(f"{text!r} is not a quantity: write a number with a unit, such as 10Mbit/s, 20ms or 50p")
    return float(_core.quantity(kind, text)[0])


def queue_of(text: str) -> dict[str, Any]:
    """The queue that a text names, as the command line and study files write it, as the table of a scenario file.

    >>> queue_of("red{min=5p, max=15p}")
    {'red': {'min': '5p', 'max': '15p'}}
    """
    (choice,) = choices(text)
    return choice.value
