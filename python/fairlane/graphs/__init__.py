"""Networks as graphs: drawing, export to graph formats, and import from them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .inline_svg import MOST_NODES, inline_network
from .network import Graph, Link, Node, Way, graph_of

if TYPE_CHECKING:
    from .reader import MOST, ImportedGraph, read_graph
    from .writers import FORMATS, document, render_graph

_WHERE = {
    "FORMATS": "writers",
    "ImportedGraph": "reader",
    "MOST": "reader",
    "document": "writers",
    "read_graph": "reader",
    "render_graph": "writers",
}
"""Names that are loaded on first use: a page with a drawing reads and writes no graph."""

__all__ = [
    "FORMATS",
    "MOST",
    "MOST_NODES",
    "Graph",
    "Link",
    "Node",
    "ImportedGraph",
    "Way",
    "document",
    "render_graph",
    "inline_network",
    "graph_of",
    "read_graph",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f".{_WHERE[name]}", __name__), name)
    raise AttributeError(f"module 'fairlane.graphs' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
