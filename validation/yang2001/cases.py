"""Expected values, in seconds. The numbers of the paper are those of its tables 1 and 4, FCFS."""

from __future__ import annotations

from dataclasses import dataclass

CLASSES = ("TCP1", "TCP2", "TCP3", "TCP4", "UDP3", "UDP4")
RATIOS = range(81, 100)
"""Numbers of TCP flows among the 100 of a source."""


@dataclass(frozen=True)
class Expected:
    """A range for one number, and what the paper prints."""

    low: float
    high: float
    source: str
    printed: str = ""


def around(value: float, part: float, source: str, printed: str = "") -> Expected:
    """A value with a bound on both sides."""
    return Expected(value * (1 - part), value * (1 + part), source, printed)


FLUID = (448.3, 1106.9, 1428.7, 1895.2, 1548.3, 1804.8)
"""Class means of ts/ts: each source serves its flows in turn at 0.5 Mbit/s, slots of 0.1 s, 1 s lost in each turn of TCP."""
TS = ((450.42, 1114.75, 1447.57, 1910.88, 1533.65, 1719.07), "ts/ts")
STRICT = ((187, 366), (551, 728), (996, 1171), (1427, 1600), (775, 1171), (1212, 1600))
"""Class means under strict priority: one flow of a class after the other, and equal shares within a class."""
CC = ((290.39, 612.04, 1084.67, 1581.06, 802.65, 1390.16), "cc/cc")

TABLE1 = {
    "10kB": (Expected(2.3, 3.1, "ns-2 and paper", "2.6-2.8"), Expected(0.6, 1.4, "ns-2 and paper", "0.6-1.4")),
    "100kB": (Expected(11.6, 16.4, "ns-2 and paper", "13.5-16.4"), Expected(3.2, 6.0, "ns-2 and paper", "3.2-6.0")),
    "1MB": (Expected(99.3, 207.5, "ns-2 and paper", "121.7-207.5"), Expected(39.5, 60.4, "ns-2 and paper", "46.5-49.2")),
}
"""Transmission times of seven TCP and six UDP flows without control that start together, CBR of 3 Mbit/s: what the flows of ns-2 and of the
paper span."""
SHARE = Expected(0.0, 1.0, "paper, fig. 2", "below 1")
"""Share of TCP in all that was delivered from 100 s on, in percent."""
RATES = ("1Mbit/s", "2Mbit/s", "3Mbit/s")
"""Rates of each CBR flow, which the paper does not state."""
