"""Export of a network as DOT (Graphviz) and GraphML."""

from __future__ import annotations

import json
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from ..base.literals import si
from .network import Graph, Way

_SPACE = "http://graphml.graphdrawing.org/xmlns"
KEYS = (
    ("node", "x", "double"), ("node", "y", "double"), ("node", "sends", "boolean"), ("node", "receives", "boolean"),
    ("edge", "link", "string"), ("edge", "rate", "string"), ("edge", "delay", "string"), ("edge", "queue", "string"),
    ("edge", "rate_bps", "double"), ("edge", "delay_s", "double"),
)  # fmt: skip
"""Attributes of nodes and edges in GraphML; rates and delays as in a scenario, and as numbers."""


def graphml(graph: Graph) -> str:
    """Returns GraphML with an edge per link direction."""
    root = ET.Element("graphml", xmlns=_SPACE)
    for number, (of, name, kind) in enumerate(KEYS):
        ET.SubElement(root, "key", {"id": f"d{number}", "for": of, "attr.name": name, "attr.type": kind})
    key = {(of, name): f"d{number}" for number, (of, name, _) in enumerate(KEYS)}
    made = ET.SubElement(root, "graph", edgedefault="directed", id=xml_text(graph.title) or "network")

    def data(into: ET.Element, of: str, name: str, value: object) -> None:
        ET.SubElement(into, "data", key=key[of, name]).text = xml_text(str(value).lower() if isinstance(value, bool) else str(value))

    for node in graph.nodes:
        own = ET.SubElement(made, "node", id=xml_text(node.name))
        if node.name in graph.places:
            for axis, place in zip("xy", graph.places[node.name], strict=True):
                data(own, "node", axis, place)
        data(own, "node", "sends", node.sends)
        data(own, "node", "receives", node.receives)
    for link, name, start, end, way in _ways(graph):
        own = ET.SubElement(made, "edge", id=xml_text(name), source=xml_text(start), target=xml_text(end))
        for what, value in (("link", link), ("rate", way.rate), ("delay", way.delay), ("queue", json.dumps(dict(way.queue)))):
            data(own, "edge", what, value)
        data(own, "edge", "rate_bps", si(way.rate) or 0.0)
        data(own, "edge", "delay_s", si(way.delay) or 0.0)
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _ways(graph: Graph) -> Iterator[tuple[str, str, str, str, Way]]:
    for x in graph.links:
        yield x.name, x.name, x.start, x.end, x.there
        if x.back is not None:
            yield x.name, f"{x.name}.reverse", x.end, x.start, x.back


def dot(graph: Graph) -> str:
    """Returns a DOT digraph with a two-headed edge per bidirectional link. Positions are for `neato -n2`."""
    lines = [f"digraph {_quoted(graph.title or 'network')} {{", "  node [shape=circle];", "  edge [dir=both];"]
    xs = [x for x, _ in graph.places.values()]
    ys = [y for _, y in graph.places.values()]
    span = max(max(xs, default=1.0) - min(xs, default=0.0), max(ys, default=1.0) - min(ys, default=0.0)) or 1.0
    points = 72.0 * max(6.0, len(graph.nodes) ** 0.5 * 2) / span
    for node in graph.nodes:
        has = ["shape=box"] if node.sends or node.receives else []
        if node.name in graph.places:
            x, y = graph.places[node.name]
            has.append(f'pos="{x * points:.1f},{y * points:.1f}"')
        lines.append(f"  {_quoted(node.name)}{' [' + ', '.join(has) + ']' if has else ''};")
    for link in graph.links:
        label = "\n".join(link.label(what) for what in ("speed", "lag", "discipline"))
        has = [f"label={_quoted(label)}", f"id={_quoted(link.name)}", *(["dir=forward"] if link.back is None else [])]
        lines.append(f"  {_quoted(link.start)} -> {_quoted(link.end)} [{', '.join(has)}];")
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    """Returns a quoted DOT string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def xml_text(text: str) -> str:
    """Replaces characters that are invalid in XML by U+FFFD."""
    return "".join(c if (ord(c) >= 32 or c in "\t\n") and not 0xD800 <= ord(c) < 0xE000 and ord(c) < 0xFFFE else _odd(c) for c in text)


def _odd(c: str) -> str:
    return c if ord(c) > 0xFFFF else "\ufffd"
