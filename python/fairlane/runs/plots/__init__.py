"""Kinds of plots by name: a file and an entry here for each; `figure.py`, `pen.py` and `view.py` have the shared code.

A kind draws into one `Axes` with a `Pen`, which records the drawn numbers for the document of the plot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

SAMPLE = 'sample = "20ms" in the scenario, or --set sample=20ms'


@dataclass(frozen=True)
class Kind:
    """Kind of plot."""

    name: str
    shows: str
    file: str
    """Module and function."""
    theory: tuple[str, ...] = ()
    """Theoretical curves it can show, by their names in `formulas.py`."""
    sample: bool = False
    """True if it needs time series."""
    trace: str = ""
    """Required events, as a filter of `--trace`."""
    more: str = ""
    """Optional events."""
    together: bool = True
    """True if several results share one panel; otherwise each has its own."""
    pooled: bool = False
    """True if it shows all runs by default."""
    each: str = ""
    """`flow` or `link`, if each of them has its own panel."""
    flows: bool = True
    """True if it shows single flows, which a result of groups does not have."""

    def draws(self) -> Callable[..., None]:
        """Returns the drawing function `f(pen, views)`."""
        module, _, function = self.file.partition(":")
        found: Callable[..., None] = getattr(import_module(f".{module}", __name__), function)
        return found

    def document(self) -> dict[str, Any]:
        """Returns the entry of `fairlane plot --list --json`."""
        needs = [*(["sample"] if self.sample else []), *([f"trace {self.trace}"] if self.trace else [])]
        return {"name": self.name, "shows": self.shows, "theory": list(self.theory), "needs": needs}


_ALL = (
    Kind("window", "congestion window and slow-start threshold over time", "window:draw", ("bdp", "fair"), sample=True),
    Kind(
        "sequence",
        "time-sequence graph as tcptrace draws it: segments, acknowledgments, window, SACK, retransmissions, drops, marks",
        "sequence:draw",
        (),
        trace="send,retransmit,receive",
        more="drop,mark,timeout",
        together=False,
        each="flow",
    ),
    Kind(
        "rtt",
        "round-trip time over time: smoothed, and single samples if events were recorded",
        "rtt:draw",
        ("rtt", "full"),
        sample=True,
        more="send,retransmit,receive",
    ),
    Kind("rtt-cdf", "distribution of the round-trip time", "rtt_cdf:draw", ("rtt", "full"), trace="send,retransmit,receive"),
    Kind(
        "queue-events",
        "queue length over time with its average, the thresholds of its discipline, drops and marks",
        "queue_events:draw",
        ("bdp", "md1"),
        sample=True,
        more="drop,mark",
        together=False,
        each="link",
        flows=False,
    ),
    Kind(
        "throughput-stack",
        "stacked throughput of the flows over time",
        "stack:draw",
        ("capacity",),
        sample=True,
        together=False,
    ),
    Kind("delay-cdf", "distribution of the one-way delay of data packets", "delay:cdf", ("delay", "md1"), trace="send,retransmit,receive"),
    Kind(
        "delay-ccdf",
        "tail of the one-way delay: share of packets with a longer delay, on a logarithmic axis",
        "delay:ccdf",
        ("delay", "md1"),
        trace="send,retransmit,receive",
    ),
    Kind(
        "ellipses",
        "throughput against delay, an ellipse at one standard deviation (Winstein and Balakrishnan 2013)",
        "ellipses:draw",
        ("fair", "delay"),
        pooled=True,
    ),
    Kind("jain-time", "Jain's fairness index over time", "jain:over_time", (), sample=True),
    Kind(
        "jain-scale",
        "Jain's fairness index over the length of the averaging window",
        "jain:over_scale",
        (),
        sample=True,
    ),
    Kind("drop-timeline", "packet drops over time, by reason", "drops:draw", (), trace="drop", together=False, flows=False),
    Kind("phase", "congestion windows against the queue length: cycles and equilibria", "phase:draw", ("bdp",), sample=True),
    Kind("sharing", "heat map of goodput: one row per flow over time", "sharing:draw", (), sample=True, together=False),
    Kind("fct", "flow completion time by size, with percentiles", "fct:draw", ("ideal",), pooled=True),
    Kind(
        "loss-throughput",
        "goodput of flows against their loss, for formulas of TCP throughput",
        "loss:draw",
        ("sqrt", "pftk"),
        pooled=True,
    ),
)

KINDS = {kind.name: kind for kind in _ALL}
"""All kinds by name; no name is also that of a metric or time series."""
