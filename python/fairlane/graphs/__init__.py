"""Networks as graphs: drawn, written in the formats of graph tools, and read from them."""

from .network import Graph, Link, Node, Way, of_scenario
from .written import FORMATS, document, drawn

__all__ = ["FORMATS", "Graph", "Link", "Node", "Way", "document", "drawn", "of_scenario"]
