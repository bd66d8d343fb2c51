"""Reads an ns-2 trace as it is produced and keeps sums only.

Lines that count: `+`, `-`, `d`, `r` with time, two nodes, type, length, flags, flow, source, destination, sequence
number and unique packet number; `F` with a sender's counters; a variable trace of `cwnd_`; `END`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

Pair = tuple[str, str]
"""Numbers of the nodes at the start and end of a link."""


@dataclass
class Backlog:
    """One queue: packets waiting, the one in transmission not counted."""

    begin: float = 0.0
    now: float = 0.0
    packets: int = 0
    integral: float = 0.0
    square: float = 0.0
    arrivals: int = 0
    departures: int = 0
    octets: int = 0
    wait: float = 0.0
    since: dict[str, float] = field(default_factory=dict)

    def move(self, time: float, step: int) -> None:
        """Accounts for the time since the last change, then changes the backlog."""
        span = time - self.now
        if span > 0.0:
            self.integral += span * self.packets
            self.square += span * self.packets * self.packets
            self.now = time
        self.packets += step

    def mean(self) -> float:
        """Mean backlog over the time so far."""
        return self.integral / (self.now - self.begin)

    def std(self) -> float:
        """Standard deviation of the backlog over time."""
        return math.sqrt(max(0.0, self.square / (self.now - self.begin) - self.mean() ** 2))


@dataclass
class FlowSums:
    """One flow: what the trace shows, and the sender's counters."""

    received: int = 0
    octets: int = 0
    drops: int = 0
    ack: int = 0
    sent: int = 0
    retransmits: int = 0
    timeouts: int = 0


@dataclass
class Measured:
    """Everything read from one run."""

    queue: Backlog
    flows: dict[int, FlowSums] = field(default_factory=dict)
    windows: list[tuple[float, float]] = field(default_factory=list)
    """time and congestion window at each change, first flow"""
    complete: bool = False

    def flow(self, number: str) -> FlowSums:
        """The sums of a flow."""
        return self.flows.setdefault(int(number), FlowSums())


def read(lines: Iterable[str], duration: float, watched: Pair, origin: float = 0.0) -> Measured:
    """Reads all lines; `watched` is the link whose queue is measured, `origin` the clock reading at which the scenario
    begins."""
    queue = Backlog(begin=origin, now=origin)
    out = Measured(queue)
    src, dst = watched
    since = queue.since
    for line in lines:
        kind = line[0]
        if kind in "+-d":
            part = line.split(None, 11)
            here = part[2] == src and part[3] == dst
            if kind == "+":
                if here:
                    time = float(part[1])
                    queue.move(time, 1)
                    queue.arrivals += 1
                    since[part[11]] = time
                else:
                    out.flow(part[7]).sent += 1
            elif kind == "-":
                time = float(part[1])
                queue.move(time, -1)
                queue.departures += 1
                queue.octets += int(part[5])
                queue.wait += time - since.pop(part[11])
            else:
                out.flow(part[7]).drops += 1
                if here:
                    queue.move(float(part[1]), -1)
                    del since[part[11]]
        elif kind == "r":
            part = line.split(None, 8)
            flow = out.flow(part[7])
            flow.received += 1
            flow.octets += int(part[5])
        elif kind == "F":
            part = line.split()
            flow = out.flow(part[1])
            flow.ack, flow.sent, flow.retransmits, flow.timeouts = (int(v) for v in part[2:6])
        elif kind == "E":
            out.complete = True
        else:
            part = line.split()
            if len(part) == 7 and part[5] == "cwnd_":
                out.windows.append((float(part[0]) - origin, float(part[6])))
    queue.move(origin + duration, 0)
    return out
