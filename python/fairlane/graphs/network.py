"""Network of a scenario as nodes and bidirectional links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..base.format import number, scale
from ..base.literals import si
from ..base.scenario import ways

_PLAIN = {"name", "from", "to", "rate", "delay", "queue", "loss", "duplicate", "rates", "down", "trace", "device", "weight", "on_air"}


@dataclass(frozen=True)
class Way:
    """Link direction."""

    rate: str
    delay: str
    queue: Mapping[str, Any]
    more: tuple[str, ...] = ()
    """Further properties in words: "loss 1 %"."""

    @property
    def speed(self) -> str:
        """Formatted rate."""
        return shown(self.rate, "bit/s")

    @property
    def lag(self) -> str:
        """Formatted delay."""
        return shown(self.delay, "s")

    @property
    def discipline(self) -> str:
        """Queue discipline with its limit, and further properties."""
        name, parameters = next(iter(self.queue.items()))
        if name == "plugin" and isinstance(parameters, Mapping):
            name, parameters = parameters.get("name", name), parameters.get("params") or {}
        limit = parameters.get("limit") if isinstance(parameters, Mapping) else None
        return ", ".join((f"{name} {limit}" if limit else str(name), *self.more))


@dataclass(frozen=True)
class Link:
    """Link; `back` is None for a unidirectional link."""

    name: str
    start: str
    end: str
    there: Way
    back: Way | None

    @property
    def alike(self) -> bool:
        """True if both directions are equal."""
        return self.back is None or self.back == self.there

    def label(self, what: str) -> str:
        """Returns `speed`, `lag` or `discipline`, of both directions if they differ."""
        there: str = getattr(self.there, what)
        back: str = there if self.back is None else getattr(self.back, what)
        return there if there == back else f"→ {there}, ← {back}"


@dataclass(frozen=True)
class Node:
    """Node; `sends`, `receives`: True if flows start or end there."""

    name: str
    sends: bool = False
    receives: bool = False


@dataclass(frozen=True)
class Graph:
    """Network: nodes, links, and known positions of nodes."""

    title: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    places: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    walks: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    """Paths of mobile stations, in the units of the positions."""
    flows: tuple[tuple[str, str], ...] = ()
    """Sender and receiver of each flow."""


def graph_of(resolved: Mapping[str, Any], title: str = "") -> Graph:
    """Returns the network of a resolved scenario."""
    found = resolved["expanded"]
    sends, receives = {f["from"] for f in found["flows"]}, {f["to"] for f in found["flows"]}
    directions = ways(found)
    links: list[Link] = []
    at = 0
    while at < len(directions):
        x = directions[at]
        other = directions[at + 1] if at + 1 < len(directions) else None
        both = other is not None and other["name"] == f"{x['name']}.reverse" and (other["from"], other["to"]) == (x["to"], x["from"])
        links.append(Link(x["name"], x["from"], x["to"], way_of(x), way_of(other) if both and other is not None else None))
        at += 1 + both
    nodes = tuple(Node(n, n in sends, n in receives) for n in found["nodes"])
    places = {name: (float(x), float(y)) for name, (x, y) in found.get("positions", {}).items()}
    ways_of = [w for c in found.get("channels", []) for w in c.get("ways", [])]
    walks = {w["node"]: tuple((float(x), float(y)) for x, y in w["points"]) for w in ways_of}
    flows = tuple((f["from"], f["to"]) for f in found["flows"])
    return Graph(str(resolved.get("name") or title), nodes, tuple(links), places, walks, flows)


def way_of(x: Mapping[str, Any]) -> Way:
    """Returns a link direction of an expanded scenario."""
    more = [f"{key} {number(100 * x[key], 3)} %" for key in ("loss", "duplicate") if isinstance(x.get(key), float) and x[key] > 0]
    more += [f"{key} {x[key]}" for key in ("device", "weight") if x.get(key)]
    more += [f"Wi-Fi, channel {x['on_air']}"] if x.get("on_air") else []
    more += ["rate follows a trace"] if x.get("trace") else [f"{len(x['rates'])} rate changes"] if x.get("rates") else []
    more += [f"down from {d['at']}" + (f" to {d['until']}" if d.get("until") else " on") for d in x.get("down", [])]
    more += [key.replace("_", " ") for key, value in x.items() if key not in _PLAIN and value not in (None, 0, 0.0, "0s", [], {})]
    return Way(x["rate"], x["delay"], x["queue"], tuple(more))


def shown(quantity: str, unit: str) -> str:
    """Formats a rate or delay with three digits and a space before the unit.

    >>> shown("10Mbit/s", "bit/s"), shown("3.214159ms", "s"), shown("0s", "s")
    ('10 Mbit/s', '3.21 ms', '0 s')
    """
    value = si(quantity)
    if value is None:
        return quantity
    factor, name = scale(unit, value) if value else (1.0, unit)
    return f"{float(f'{value * factor:.3g}'):g} {name}"
