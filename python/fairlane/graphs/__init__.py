"""Networks as graphs: drawn, written in the formats of graph tools, and read from them."""

from .inline_svg import MOST_NODES, inlined
from .network import Graph, Link, Node, Way, of_scenario
from .reader import MOST, Read, read_graph
from .writers import FORMATS, document, drawn

__all__ = [
    "FORMATS",
    "MOST",
    "MOST_NODES",
    "Graph",
    "Link",
    "Node",
    "Read",
    "Way",
    "document",
    "drawn",
    "inlined",
    "of_scenario",
    "read_graph",
]
