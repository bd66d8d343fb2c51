"""Networks as graphs: drawing, export to graph formats, and import from them."""

from .inline_svg import MOST_NODES, inline_network
from .network import Graph, Link, Node, Way, graph_of
from .reader import MOST, ImportedGraph, read_graph
from .writers import FORMATS, document, render_graph

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
