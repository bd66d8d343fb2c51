"""Pictures that the field prints, by name: a file each, and a line here. What all of them share is in `figure.py`, `pen.py` and `view.py`.

A kind draws into one `Axes` with a `Pen`, which remembers what was drawn, so that the numbers behind a picture can be written beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

SAMPLE = 'sample = "20ms" in the scenario, or --set sample=20ms'


@dataclass(frozen=True)
class Kind:
    """A kind of picture."""

    name: str
    shows: str
    file: str
    """Module, and the function in it."""
    theory: tuple[str, ...] = ()
    """What can be drawn in on demand, by its name in `formulas.py`."""
    sample: bool = False
    """Whether it is made of time series."""
    trace: str = ""
    """The events that it is made of, as a filter of `--trace`."""
    more: str = ""
    """Events that it shows where they are on record."""
    together: bool = True
    """Whether several results share one panel; otherwise each has its own."""
    pooled: bool = False
    """Whether it is of all runs, unless one is chosen."""
    each: str = ""
    """`flow` or `link`, if each of those has a panel of its own."""
    flows: bool = True
    """Whether it is of single flows, which a result of groups does not have."""

    def draws(self) -> Callable[..., None]:
        """The function that draws it: `f(pen, views)`."""
        module, _, function = self.file.partition(":")
        found: Callable[..., None] = getattr(import_module(f".{module}", __name__), function)
        return found

    def document(self) -> dict[str, Any]:
        """As `fairlane plot --list --json` has it."""
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
        "round-trip time over time: smoothed, and each sample where events are on record",
        "rtt:draw",
        ("rtt", "full"),
        sample=True,
        more="send,retransmit,receive",
    ),
    Kind("rtt-cdf", "distribution of the round-trip time", "rtt_cdf:draw", ("rtt", "full"), trace="send,retransmit,receive"),
    Kind(
        "queue-events",
        "queue over time with its average, the thresholds of its discipline, drops and marks",
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
        "throughput over time, the flows on top of one another",
        "stack:draw",
        ("capacity",),
        sample=True,
        together=False,
    ),
    Kind("delay-cdf", "distribution of the one-way delay of data packets", "delay:cdf", ("delay", "md1"), trace="send,retransmit,receive"),
    Kind(
        "delay-ccdf",
        "its tail: the share of packets that take longer, on a logarithmic axis",
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
    Kind("jain-time", "Jain's index of fairness over time", "jain:over_time", (), sample=True),
    Kind(
        "jain-scale",
        "Jain's index of fairness over the time scale: how long one must look for shares to be equal",
        "jain:over_scale",
        (),
        sample=True,
    ),
    Kind("drop-timeline", "when packets were dropped, by reason", "drops:draw", (), trace="drop", together=False, flows=False),
    Kind("phase", "congestion windows against the queue: what cycles, and what settles", "phase:draw", ("bdp",), sample=True),
    Kind("sharing", "heat map of who got what: flows down, time across", "sharing:draw", (), sample=True, together=False),
    Kind("fct", "flow completion time by size, with percentiles", "fct:draw", ("ideal",), pooled=True),
    Kind(
        "loss-throughput",
        "goodput of flows against their loss, for the laws of TCP's throughput",
        "loss:draw",
        ("sqrt", "pftk"),
        pooled=True,
    ),
)

KINDS = {kind.name: kind for kind in _ALL}
"""All kinds, by name; none is called as a metric or a time series is."""
