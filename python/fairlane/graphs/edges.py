"""The texts of graph files: what is wrong with one is said with its line."""

from __future__ import annotations

import csv
import io
import re
from typing import Any
from xml.etree import ElementTree as ET

from ..errors import FairlaneError

_COLUMNS = {"from": "from", "source": "from", "src": "from", "to": "to", "target": "to", "dst": "to", "dest": "to", "destination": "to",
            "rate": "rate", "delay": "delay", "queue": "queue", "name": "link", "link": "link"}  # fmt: skip
"""Columns of a list of edges, with other spellings."""


class EdgeList:
    """A list of edges with the part of networkx' interface that is read: nodes in their order, edges with attributes."""

    def __init__(self) -> None:
        self._nodes: dict[str, dict[str, Any]] = {}
        self._edges: list[tuple[str, str, dict[str, Any]]] = []

    def add(self, start: str, end: str, data: dict[str, Any]) -> None:
        """Adds an edge, and its ends."""
        for node in (start, end):
            self._nodes.setdefault(node, {})
        self._edges.append((start, end, data))

    def nodes(self, data: bool = False) -> Any:
        """Nodes with their attributes."""
        return self._nodes.items() if data else self._nodes

    def edges(self, keys: bool = False, data: bool = False) -> Any:
        """Edges, each with a key of its own."""
        return ((a, b, k, d) for k, (a, b, d) in enumerate(self._edges))

    def number_of_nodes(self) -> int:
        """How many nodes there are."""
        return len(self._nodes)

    def number_of_edges(self) -> int:
        """How many edges there are."""
        return len(self._edges)

    def is_directed(self) -> bool:
        """Links carry packets both ways."""
        return False

    def is_multigraph(self) -> bool:
        """There may be several links between the same nodes."""
        return True


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = data[: e.start].count(b"\n") + 1
        raise FairlaneError(f"{name}:{line}: this is not UTF-8, so it is not a text file\n  = help: give a GraphML, GML or CSV file") from e


def edge_list(data: bytes, name: str) -> EdgeList:
    """A list of edges: CSV whose first line names the columns."""
    text = _text(data, name)
    first = text.partition("\n")[0]
    mark = max(",;\t", key=first.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    help_text = "\n  = help: the first line names the columns: from,to,rate,delay (the last two, name and queue may be left out)"
    try:
        head = [c.strip().lower() for c in next(rows, [])]
        unknown = [c for c in head if c not in _COLUMNS]
        columns = [_COLUMNS.get(c, "") for c in head]
        if unknown or "from" not in columns or "to" not in columns or len(set(columns)) < len(columns):
            what = f"unknown column {unknown[0]!r}" if unknown and "from" in columns else "there are no columns `from` and `to`"
            raise FairlaneError(f"{name}:1: {what}{help_text}")
        out = EdgeList()
        for row in rows:
            line = rows.line_num
            if not row or not any(c.strip() for c in row) or row[0].lstrip().startswith("#"):
                continue
            if len(row) != len(columns):
                raise FairlaneError(f"{name}:{line}: {len(row)} values for {len(columns)} columns{help_text}")
            cells: dict[str, Any] = {c: v.strip() for c, v in zip(columns, row, strict=True)}
            start, end = cells.pop("from"), cells.pop("to")
            if not start or not end:
                raise FairlaneError(f"{name}:{line}: a link needs two nodes\n  = help: write the names of both ends")
            out.add(start, end, {**cells, "_line": line})
    except csv.Error as e:
        raise FairlaneError(f"{name}:{rows.line_num}: {e}{help_text}") from e
    return out


def graphml(data: bytes, name: str) -> Any:
    """GraphML, as networkx reads it."""
    import networkx as nx

    help_text = "\n  = help: give a file whose outermost element is <graphml>, such as `fairlane draw FILE -o x.graphml` writes"
    try:
        root = ET.fromstring(data)
    except ET.ParseError as e:
        line, column = e.position
        raise FairlaneError(f"{name}:{line}:{column + 1}: this is no XML: {str(e).partition(':')[0]}{help_text}") from e
    tag = root.tag.rpartition("}")[2]
    if tag != "graphml":
        raise FairlaneError(f"{name}:1: this is XML, but no GraphML: its outermost element is <{tag}>{help_text}")
    try:
        return nx.read_graphml(io.BytesIO(data))
    except (nx.NetworkXError, ValueError, KeyError, TypeError, StopIteration) as e:
        raise FairlaneError(f"{name}: this GraphML cannot be read: {_first(e)}{help_text}") from e


def gml(data: bytes, name: str) -> Any:
    """GML, as networkx reads it; several links between the same nodes, which files of the Topology Zoo have unannounced, are several."""
    import networkx as nx

    # Old files write characters beyond ASCII as entities, and newer ones as they are.
    text = _text(data, name)
    if not re.search(r"^\s*multigraph\s+1", text, re.M):
        # On the same line, so that lines keep their numbers.
        text = re.sub(r"\bgraph(\s*)\[", r"graph\1[ multigraph 1 ", text, count=1)
    try:
        return nx.parse_gml(text.split("\n"), label="id")
    except (nx.NetworkXError, ValueError, KeyError, TypeError, IndexError) as e:
        place = re.search(r"\((\d+), (\d+)\)", str(e))
        at = f":{place[1]}" if place else ""
        help_text = "\n  = help: GML has graph [ ... ] with node [ id 0 ] and edge [ source 0 target 1 ] in it"
        raise FairlaneError(f"{name}{at}: this GML cannot be read: {_first(e)}{help_text}") from e


def _first(e: Exception) -> str:
    """The first line of what an error says."""
    return (str(e).splitlines() or [type(e).__name__])[0].rstrip(".") or type(e).__name__
