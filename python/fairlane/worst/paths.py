"""The paths that the command has of its own: one link, a pair of flows, senders before a queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import ArgumentError, suggest

DURATION = "15s"
RATE = "10Mbit/s"
CONTROLS = "newreno|cubic|bbr3|vegas"
"""Congestion controls that a queue's senders may have."""


@dataclass(frozen=True)
class Path:
    """A scenario with the meaning of the words of `--may`."""

    tree: dict[str, Any]
    flows: tuple[str, ...]
    """Flows under test, the searched one first."""
    may: str
    """Default changes."""
    link: str = "line"
    paths: dict[str, str] = field(default_factory=dict)
    most: dict[str, str] = field(default_factory=dict)


def _line(start: str, **more: Any) -> dict[str, Any]:
    return {"from": start, "to": "b", "rate": RATE, "delay": "20ms", "queue": {"droptail": {"limit": "50p"}}, **more}


def single(tcp: Any) -> Path:
    """Returns one flow on one link."""
    tree = {"duration": DURATION, "links": {"line": _line("a")}, "flows": {"flow": {"from": "a", "to": "b", "tcp": tcp}}}
    return Path(tree, ("flow",), "rate,delay,queue,loss,jitter,steps,square,outages,bursts,cross")


def pair(first: Any, second: Any) -> Path:
    """Returns two flows that share a link; the access link of each varies alone."""
    access = {"to": "r", "rate": "1Gbit/s", "delay": "20ms"}
    links = {"line": _line("r", delay="5ms"), "access1": {"from": "a1", **access}, "access2": {"from": "a2", **access}}
    flows = {"first": {"from": "a1", "to": "b", "tcp": first}, "second": {"from": "a2", "to": "b", "tcp": second}}
    return Path(
        {"duration": DURATION, "links": links, "flows": flows},
        ("first", "second"),
        "rate,delay,queue,loss,jitter,start,steps,square,cross",
        paths={"jitter": "links.access1.jitter", "delay": "links.access1.delay", "start": "flows.second.start"},
        most={"start": "5s"},
    )


_SENDERS: dict[str, tuple[dict[str, Any], str]] = {
    "tcp": ({"count": 2, "tcp": "cubic"}, f"flows.tcp.count=1..8,flows.tcp.tcp={CONTROLS}"),
    "udp": (
        {"udp": {}, "source": {"on_off": {"rate": "2Mbit/s", "on": "200ms", "off": "800ms"}}},
        "flows.udp.source.on_off.rate=1Mbit/s..20Mbit/s,flows.udp.source.on_off.size=100B..1400B,flows.udp.source.on_off.on=10ms..1s,"
        "flows.udp.source.on_off.off=200ms..2s",
    ),
    "web": ({"tcp": "cubic", "source": "web", "count": 4}, "flows.web.count=1..16"),
    "voip": ({"udp": {}, "source": "voip"}, "flows.voip.count=1..8"),
}
"""Kinds of traffic before a queue: the flow, and what may change about it."""


def queue(name: Any, traffic: Sequence[str]) -> Path:
    """Returns senders of these kinds before a queue."""
    if not traffic:
        raise ArgumentError(f"--traffic is empty: name {', '.join(_SENDERS)}")
    links = {"access": {"from": "a", "to": "r", "rate": "1Gbit/s", "delay": "5ms"}, "line": _line("r", queue=name)}
    flows, may = {}, ["rate", "delay"]
    for word in dict.fromkeys(traffic):
        if word not in _SENDERS:
            raise suggest(word, list(_SENDERS), "kind of traffic")
        settings, own = _SENDERS[word]
        flows[word] = {"from": "a", "to": "b", **settings}
        may.append(own)
    tree = {"duration": DURATION, "links": links, "flows": flows}
    return Path(tree, tuple(flows), ",".join(may))
