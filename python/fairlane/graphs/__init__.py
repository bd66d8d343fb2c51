"""Networks as graphs: drawn, written in the formats of graph tools, and read from them."""

from .network import Graph, Link, Node, Way, of_scenario
from .reading import MOST, Read, read_graph
from .written import FORMATS, document, drawn

__all__ = ["FORMATS", "MOST", "Graph", "Link", "Node", "Read", "Way", "document", "drawn", "of_scenario", "read_graph"]
