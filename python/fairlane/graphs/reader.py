"""Import of networks from graph files and networkx, as tables of a scenario."""

from __future__ import annotations

import json
import math
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from .. import _core
from ..base.extras import need
from ..base.files import read_input
from ..errors import FairlaneError, short
from .attributes import FIBRE, Attributes, mapping, unit_of
from .edges import edge_list, graphml
from .gml import gml
from .node_link import node_link
from .repetita import beside as demands_beside
from .repetita import topology
from .rocketfuel import cch, intra, joined
from .sndlib import native

MOST = 200_000
"""Default limit of links."""
_LINK_BYTES, _LINK_SECONDS = 8_200, 45e-6
"""Memory and setup time per link of a scenario, measured with 100,000 links."""
LONGEST_NAME = 1000
"""Most characters of the name of a node or a link."""
_LONGEST_QUEUE = 20_000
_LONGEST_QUANTITY = 100
_EARTH = 6371.0088e3
"""Mean radius of the Earth in metres (IUGG)."""

_READERS: dict[str, Callable[[bytes, str], Any]] = {
    ".graphml": graphml, ".xml": graphml, ".gml": gml, ".csv": edge_list, ".tsv": edge_list, ".json": node_link, ".txt": native,
    ".intra": intra, ".cch": cch, ".graph": topology,
}  # fmt: skip
_EDGE: dict[object, re.Pattern[bytes]] = {
    graphml: re.compile(rb"<(?:\w+:)?edge\b"),
    gml: re.compile(rb"\bedge\s*\["),
    edge_list: re.compile(rb"\n[^\n#]"),
    node_link: re.compile(rb'"source"\s*:'),
    native: re.compile(rb"\n[ \t]*[^\s()#]+\s*\(\s*[^\s()]+\s+[^\s()]+\s*\)\s*[0-9.]+\s+[0-9.]+\s+[0-9.]+\s+[0-9.]+\s*\("),
    intra: re.compile(rb"(?m)^[ \t]*[^\s#]+[ \t]+\S"),
    cch: re.compile(rb"<[0-9]+>"),
    topology: re.compile(rb"(?m)^[ \t]*\S+[ \t]+[0-9]+[ \t]+[0-9]+[ \t]+\S+[ \t]+\S+[ \t]+\S"),
}
"""Pattern of an edge by file format."""


@dataclass
class ImportedGraph:
    """Imported network in the form of a scenario."""

    nodes: list[str] = field(default_factory=list)
    positions: dict[str, list[float]] = field(default_factory=dict)
    links: dict[str, dict[str, Any]] = field(default_factory=dict)
    demands: list[dict[str, str]] = field(default_factory=list)
    """Traffic between nodes, as a traffic matrix of a scenario has it: `from`, `to`, `rate`."""
    unit: str = ""
    """Unit of capacities that the file declares, such as MBITPERSEC."""
    notes: list[str] = field(default_factory=list)
    """Notes on what was taken from where, skipped links and default values."""

    def flows(self) -> dict[str, dict[str, Any]]:
        """Returns the traffic of the demands as a flow group of a scenario."""
        if not self.demands:
            return {}
        return {"demands": {"pairs": {"matrix": {"demands": self.demands}}, "udp": {}, "source": {"poisson": {"size": "1000B"}}}}


def read_graph(
    source: Any, *, rate: str = "10Mbit/s", delay: str = "5ms", most: int = MOST, map: str | Mapping[str, Any] = ""
) -> ImportedGraph:
    """Imports a network from a file, by its ending, or from a networkx graph.

    Links without a rate get `rate`. Links without a delay get that of their length if both ends have coordinates, else `delay`.
    `map` names attributes and their units: "rate=capacity:Gbit/s,delay=dist:km".
    """
    mapped = mapping(map)
    for kind, text in (("rate", rate), ("dur", delay)):
        _checked(kind, text, f"the {'rate' if kind == 'rate' else 'delay'} for links without one")
    if isinstance(source, (str, PathLike)):
        name = fspath(source)
        reader = _READERS.get(Path(name).suffix.lower())
        if reader is None:
            endings = f"{', '.join(list(_READERS)[:-1])} or {list(_READERS)[-1]}"
            raise FairlaneError(f"cannot read {name} as a graph: the name must end in {endings}")
        if name.lower().endswith(".graphml"):
            need("graphs")
        data = read_input(name)
        # Checked before parsing, which may take a minute.
        if (n := len(_EDGE[reader].findall(data))) > most:
            raise _too_many(name, f"about {n}", n)
        graph = reader(data, name)
        beside = _BESIDE[reader](graph, name) if reader in _BESIDE else ""
    else:
        graph, name, beside = source, "the graph", ""
        if not all(hasattr(graph, a) for a in ("nodes", "edges", "is_directed", "is_multigraph")):
            raise FairlaneError(f"{type(source).__name__} is not a graph: give the path of a file, or a networkx graph")
    if graph.number_of_edges() > most:
        n = graph.number_of_edges()
        raise _too_many(name, str(n), n)
    if graph.number_of_nodes() == 0:
        raise FairlaneError(f"{name} has no nodes\n  = help: give a graph with nodes and edges")
    about = getattr(graph, "about", getattr(graph, "graph", {}))
    units = {"rate": about.get("capacity_unit"), "delay": about.get("delay_unit")} if isinstance(about, Mapping) else {}
    attributes = Attributes(name, mapped, {k: v for k, v in units.items() if isinstance(v, str) and unit_of(v, k)})
    read = _Reader(graph, name, rate, delay, attributes).read()
    read.notes[:0] = [beside] if beside else []
    unit = units.get("rate")
    read.unit = unit if isinstance(unit, str) else ""
    return read


def _beside(graph: Any, name: str) -> str:
    """Joins `weights.intra` and `latencies.intra` of one folder; returns a note."""
    path = Path(name)
    other = path.with_name({"latencies.intra": "weights.intra", "weights.intra": "latencies.intra"}.get(path.name, "") or path.name)
    if other == path or not other.is_file():
        return ""
    joined(graph, intra(read_input(str(other)), str(other)))
    return f"{other.name} next to it was joined"


_BESIDE: dict[object, Callable[[Any, str], str]] = {intra: _beside, topology: demands_beside}
"""Adds what a file next to the graph has, by format; returns a note."""


def _too_many(name: str, count: str, n: int) -> FairlaneError:
    return FairlaneError(
        f"{name} has {count} links, which need about {n * _LINK_BYTES / 1e9:.1f} GB of memory and {n * _LINK_SECONDS:.0f} s before a run "
        f"starts\n  = help: use a part of the graph, or set most={n} (--most {n})"
    )


class _Reader:
    def __init__(self, graph: Any, name: str, rate: str, delay: str, attributes: Attributes) -> None:
        self.graph, self.name, self.rate, self.delay, self.attributes = graph, name, rate, delay, attributes
        self.out = ImportedGraph()
        self.names = _unique((self._name(data.get("label") or node, "node", data), node) for node, data in graph.nodes(data=True))
        self.globe: dict[Any, tuple[float, float]] = {}
        self.loops = self.by_length = 0
        self.made_up = {"rate": 0, "delay": 0}

    def read(self) -> ImportedGraph:
        self.out.nodes = list(self.names.values())
        self._places()
        taken: set[str] = set()
        counts: dict[str, int] = {}
        for (a, b), there, back in self._links():
            given = there.pop("_name", None) or f"{self.names[a]}-{self.names[b]}"
            name = _free(self._name(given, "link", there), taken, counts)
            link = {"from": self.names[a], "to": self.names[b], **self._way(a, b, there)}
            if back is None and self.graph.is_directed():
                link["duplex"] = False
            elif back is not None:
                back.pop("_name", None)
                other = {k: v for k, v in self._way(b, a, back).items() if v != link.get(k)}
                if other:
                    link["reverse"] = other
            self.out.links[name] = link
        self._demands()
        self.attributes.settle()
        self.out.notes += self.attributes.notes()
        if self.loops:
            self.out.notes.append(f"{self.loops} links from a node to itself were skipped")
        if self.by_length:
            self.out.notes.append(f"delay of edges from light in fibre (199862 km/s) over the great circle: {self.by_length}")
        for what, default in (("rate", self.rate), ("delay", self.delay)):
            if self.made_up[what]:
                self.out.notes.append(f"{what} of edges without one, {default}: {self.made_up[what]}")
        return self.out

    def _demands(self) -> None:
        for a, b, amount, line in getattr(self.graph, "demands", ()):
            if a == b or amount <= 0:
                continue
            where = f"{self.name}{f':{line}' if line else ''}, demand {self.names[a]} to {self.names[b]}"
            rate = self.attributes.demand(amount, where)
            if rate is not None:
                self.out.demands.append({"from": self.names[a], "to": self.names[b], "rate": rate})

    def _name(self, value: Any, what: str, data: Mapping[str, Any]) -> str:
        """Returns a valid name; an error if it is too long."""
        text = short(repr(value)) if isinstance(value, (dict, list)) else str(value)
        if len(text) > LONGEST_NAME:
            line = f":{data['_line']}" if "_line" in data else ""
            raise FairlaneError(
                f"{self.name}{line}: the name of a {what} is too long: {short(text)}"
                f"\n  = help: a name has at most {LONGEST_NAME} characters"
            )
        return text

    def _links(self) -> Iterable[tuple[tuple[Any, Any], dict[str, Any], dict[str, Any] | None]]:
        """Returns ends and attributes of links; a directed graph has both directions of a link paired."""
        # Indexed by ends and name, because two nodes may have many links.
        waiting: dict[tuple[Any, Any, str], deque[list[Any]]] = {}
        found: list[list[Any]] = []
        keyed = (
            self.graph.edges(keys=True, data=True)
            if self.graph.is_multigraph()
            else ((a, b, None, d) for a, b, d in self.graph.edges(data=True))
        )
        for a, b, key, data in keyed:
            if a == b:
                self.loops += 1
                continue
            data = dict(data)
            data["_name"] = data.get("link") or data.get("id") or (key if isinstance(key, str) else None)
            own = repr(data.get("link"))
            others = waiting.get((b, a, own)) if self.graph.is_directed() else None
            data["_back"] = str(data.get("id") or key).endswith(".reverse")
            if others:
                partner = others.popleft()
                # Graphs order edges by nodes; the name tells the forward direction.
                ends, first = partner[0], partner[1]
                partner[:] = [(a, b), data, first] if first["_back"] and not data["_back"] else [ends, first, data]
                continue
            entry = [(a, b), data, None]
            found.append(entry)
            waiting.setdefault((a, b, own), deque()).append(entry)
        return [(e[0], e[1], e[2]) for e in found]

    def _places(self) -> None:
        flat: dict[Any, tuple[float, float]] = {}
        for node, data in self.graph.nodes(data=True):
            low = {str(k).lower(): v for k, v in data.items()}
            found = low.get("graphics")
            graphics: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
            at = _pair(low.get("longitude", low.get("lon")), low.get("latitude", low.get("lat")))
            if at is not None and abs(at[1]) <= 90:
                self.globe[node] = at
            pos = low.get("pos")
            pair = list(pos)[:2] if isinstance(pos, Iterable) and not isinstance(pos, str) else []
            known = _pair(low.get("x", graphics.get("x")), low.get("y", graphics.get("y"))) or (_pair(*pair) if len(pair) == 2 else None)
            if known is not None:
                flat[node] = known
        if self.globe:
            # Map projection: longitudes are scaled by the cosine of the mean latitude.
            narrow = math.cos(math.radians(sum(lat for _, lat in self.globe.values()) / len(self.globe)))
            flat = {n: (round(lon * narrow, 4), lat) for n, (lon, lat) in self.globe.items()}
        self.out.positions = {self.names[n]: [x, y] for n, (x, y) in flat.items()}

    def _way(self, a: Any, b: Any, data: Mapping[str, Any]) -> dict[str, Any]:
        line = f":{data['_line']}" if "_line" in data else ""
        where = f"{self.name}{line}, link {self.names[a]}-{self.names[b]}"
        rate = self.attributes.find("rate", data, where)
        delay = self.attributes.find("delay", data, where)
        weight = self.attributes.weight(data, where)
        if delay is None and a in self.globe and b in self.globe:
            delay = f"{great_circle(self.globe[a], self.globe[b]) / FIBRE * 1e6:.3f}us"
            self.by_length += 1
        self.made_up["rate"] += rate is None
        self.made_up["delay"] += delay is None
        out: dict[str, Any] = {"rate": rate or self.rate, "delay": delay or self.delay, **({} if weight is None else {"weight": weight})}
        queue = data.get("queue")
        if isinstance(queue, str) and queue.strip():
            help_text = "\n  = help: write a queue's name, such as red"
            if len(queue) > _LONGEST_QUEUE:
                raise FairlaneError(f"{where}: the queue has {len(queue)} characters{help_text}")
            try:
                out["queue"] = json.loads(queue) if queue.lstrip().startswith("{") else queue.strip()
            except RecursionError:
                raise FairlaneError(f"{where}: the queue is nested too deeply{help_text}") from None
            except ValueError as e:
                raise FairlaneError(f"{where}: the queue is not valid JSON: {e}{help_text}") from None
        return out


def great_circle(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Returns the metres between two points, each longitude and latitude in degrees (haversine formula).

    >>> round(great_circle((0, 0), (90, 0)) / 1000)
    10008
    """
    (lon, lat), (lon2, lat2) = (tuple(map(math.radians, p)) for p in (a, b))
    h = math.sin((lat2 - lat) / 2) ** 2 + math.cos(lat) * math.cos(lat2) * math.sin((lon2 - lon) / 2) ** 2
    return 2 * _EARTH * math.asin(math.sqrt(min(1.0, h)))


def _checked(kind: str, text: str, where: str) -> str:
    if len(text) > _LONGEST_QUANTITY:
        what = "rate" if kind == "rate" else "delay"
        raise FairlaneError(
            f"{where}: {short(text)} is not a {what}\n  = help: write for instance {'10Mbit/s' if kind == 'rate' else '5ms'}"
        )
    try:
        value, _ = _core.quantity(kind, text.strip())
    except ValueError as e:
        raise FairlaneError(f"{where}: {e}\n  = help: write for instance {'10Mbit/s' if kind == 'rate' else '5ms'}") from None
    if kind == "rate" and value <= 0:
        raise FairlaneError(f"{where}: the rate is zero\n  = help: write for instance 10Mbit/s")
    return text.strip()


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _pair(x: Any, y: Any) -> tuple[float, float] | None:
    a, b = _number(x), _number(y)
    return None if a is None or b is None else (a, b)


def _unique(named: Iterable[tuple[str, Any]]) -> dict[Any, str]:
    """Returns a unique name for each node; invalid characters become spaces."""
    taken: set[str] = set()
    counts: dict[str, int] = {}
    return {node: _free(_shown(name).strip() or "node", taken, counts) for name, node in named}


def _shown(name: str) -> str:
    return name if name.isprintable() else "".join(c if c.isprintable() else " " for c in name)


def _free(name: str, taken: set[str], counts: dict[str, int]) -> str:
    """Returns the name, with the first free number if it is taken; `counts`: the last number by name."""
    name = _shown(name)
    n = counts.get(name, 1)
    out = name if n == 1 else f"{name} {n}"
    while out in taken or (out.endswith(".reverse") and out.removesuffix(".reverse") in taken):
        n += 1
        out = f"{name} {n}"
    counts[name] = n
    taken.add(out)
    return out
