"""A fluid model of ts/ts: what the class means follow from, besides packets."""

from __future__ import annotations

from collections import deque
from functools import cache
from statistics import fmean

SIZE, RATE = 8e6, 0.5e6
"""Bits of a transfer of 1 MB, and bits per second of a source: the two sources share 1 Mbit/s."""
WAIT = 1.0
"""Seconds that a TCP flow loses at the start of each turn: slow start after the pause."""


@cache
def fluid(tcp: int, slot: float, flows: int = 100) -> dict[str, float]:
    """Returns the mean time of each class of a source, in seconds, with this many TCP flows among its flows and this slot.

    A source serves its flows in turn, TCP flows first; a turn of priority P lasts 2^(9-P) slots; a flow that is done gives up the rest
    of its turn. TCP flows have priorities 1 to 4 in turn, UDP flows 3 and 4.
    """
    ring = deque(("TCP", 1 + i % 4, SIZE) for i in range(tcp))
    ring.extend(("UDP", 3 + i % 2, SIZE) for i in range(flows - tcp))
    now, times = 0.0, dict[str, list[float]]()
    while ring:
        kind, priority, left = ring.popleft()
        wait, turn = (WAIT if kind == "TCP" else 0.0), 2 ** (9 - priority) * slot
        done = RATE * max(0.0, turn - wait)
        if done >= left:
            now += wait + left / RATE
            times.setdefault(f"{kind}{priority}", []).append(now)
        else:
            now += turn
            ring.append((kind, priority, left - done))
    return {name: fmean(xs) for name, xs in times.items()}
