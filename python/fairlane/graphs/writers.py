"""Output of `fairlane draw`: SVG, graph formats, or a JSON document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from ..base.literals import si
from .formats import dot, graphml
from .network import Graph, Way
from .positions import node_positions
from .svg import svg

DRAW_SCHEMA = "fairlane.draw/1"

FORMATS: dict[str, Callable[[Graph], str]] = {".svg": svg, ".dot": dot, ".gv": dot, ".graphml": graphml}
"""Writers by file ending."""


def render_graph(graph: Graph, ending: str = ".svg") -> str:
    """Returns the file contents for an ending in `FORMATS`."""
    return FORMATS[ending](graph)


def document(graph: Graph) -> dict[str, Any]:
    """Returns the JSON document: nodes with positions in pixels, both directions of each link, and mobility paths in metres."""
    places = node_positions(graph) if graph.nodes else {}
    nodes = [
        {"name": n.name, "x": round(places[n.name][0], 1), "y": round(places[n.name][1], 1), "sends": n.sends, "receives": n.receives}
        for n in graph.nodes
    ]
    links = [
        {"name": x.name, "from": x.start, "to": x.end, "there": _way(x.there), "back": None if x.back is None else _way(x.back)}
        for x in graph.links
    ]
    walks = {"walks": {name: [list(p) for p in points] for name, points in graph.walks.items()}} if graph.walks else {}
    return {"schema": DRAW_SCHEMA, "fairlane": _core.version(), "title": graph.title, "nodes": nodes, "links": links, **walks}


def _way(way: Way) -> dict[str, Any]:
    entry = {"rate": way.rate, "delay": way.delay, "rate_bps": si(way.rate), "delay_s": si(way.delay)}
    return {**entry, "queue": dict(way.queue), "more": list(way.more)}
