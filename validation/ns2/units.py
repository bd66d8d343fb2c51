"""Quantities of resolved scenarios ("20ms", "10Mbit/s", "1500B", "50p") as plain numbers."""

from __future__ import annotations

import re
from decimal import Decimal

_NUMBER = re.compile(r"^\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z/]+)\s*$")

_SECONDS = {"ps": "1e-12", "ns": "1e-9", "us": "1e-6", "ms": "1e-3", "s": "1", "min": "60", "h": "3600"}
_RATES = {"bit/s": "1", "kbit/s": "1e3", "Mbit/s": "1e6", "Gbit/s": "1e9", "Tbit/s": "1e12"}
_OCTETS = {"B": 1, "kB": 1000, "MB": 10**6, "GB": 10**9, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}
_PACKETS = {"p", "pkts", "packets"}


def _split(text: str) -> tuple[Decimal, str]:
    match = _NUMBER.match(text)
    if match is None:
        raise ValueError(f"not a quantity with a unit: {text!r}")
    return Decimal(match[1]), match[2]


def seconds(text: str) -> float:
    """A duration in seconds."""
    number, unit = _split(text)
    return float(number * Decimal(_SECONDS[unit]))


def bits_per_second(text: str) -> float:
    """A rate in bit/s."""
    number, unit = _split(text)
    return float(number * Decimal(_RATES[unit]))


def octets(text: str) -> int:
    """A size in bytes."""
    number, unit = _split(text)
    return int(number * _OCTETS[unit])


def queue_length(text: str) -> tuple[float, str]:
    """A queue length: the number and ``"packets"`` or ``"bytes"``."""
    number, unit = _split(text)
    if unit in _PACKETS:
        return float(number), "packets"
    return float(number * _OCTETS[unit]), "bytes"
