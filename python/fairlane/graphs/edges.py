"""Readers of edge lists (CSV) and of XML (GraphML, SNDlib), with line numbers in errors."""

from __future__ import annotations

import io
import warnings
from typing import Any
from xml.parsers import expat

from ..base.csv_text import CsvError, rows_in
from ..base.extras import need
from ..errors import FairlaneError, short

_COLUMNS = {"from": "from", "source": "from", "src": "from", "to": "to", "target": "to", "dst": "to", "dest": "to", "destination": "to",
            "rate": "rate", "delay": "delay", "queue": "queue", "name": "link", "link": "link"}  # fmt: skip
"""Columns of an edge list with their alternative names."""


class PlainGraph:
    """Directed or undirected multigraph with the part of networkx' interface that the import uses."""

    def __init__(self, *, directed: bool = False, about: dict[str, Any] | None = None) -> None:
        self.about: dict[str, Any] = about or {}
        """Attributes of the graph as a whole."""
        self.demands: list[tuple[Any, Any, float, int]] = []
        """Traffic between nodes: start, end, amount, line (0: unknown)."""
        self._nodes: dict[Any, dict[str, Any]] = {}
        self._edges: list[tuple[Any, Any, Any, dict[str, Any]]] = []
        self._directed = directed

    def add_node(self, node: Any, data: dict[str, Any]) -> None:
        """Adds a node."""
        self._nodes[node] = data

    def add(self, start: Any, end: Any, data: dict[str, Any], key: Any = None) -> None:
        """Adds an edge and its nodes."""
        for node in (start, end):
            self._nodes.setdefault(node, {})
        self._edges.append((start, end, len(self._edges) if key is None else key, data))

    def nodes(self, data: bool = False) -> Any:
        """Returns the nodes, with `data` also their attributes."""
        return self._nodes.items() if data else self._nodes

    def edges(self, keys: bool = False, data: bool = False) -> Any:
        """Returns the edges with keys and attributes."""
        return iter(self._edges)

    def number_of_nodes(self) -> int:
        """Returns the number of nodes."""
        return len(self._nodes)

    def number_of_edges(self) -> int:
        """Returns the number of edges."""
        return len(self._edges)

    def is_directed(self) -> bool:
        """Returns True if links are unidirectional."""
        return self._directed

    def is_multigraph(self) -> bool:
        """Returns True: several links may connect two nodes."""
        return True


def text_of(data: bytes, name: str) -> str:
    """Decodes a graph file."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = data[: e.start].count(b"\n") + 1
        raise FairlaneError(f"{name}:{line}: invalid UTF-8: not a text file\n  = help: give a GraphML, GML or CSV file") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise FairlaneError(f"{name}:{line}: NUL byte: not a text file\n  = help: give a GraphML, GML or CSV file")
    return text


def edge_list(data: bytes, name: str) -> PlainGraph:
    """Reads an edge list: CSV whose first line names the columns."""
    text = text_of(data, name)
    first = text.partition("\n")[0]
    rows = rows_in(text, max(",;\t", key=first.count))
    help_text = "\n  = help: the first line names the columns: from,to,rate,delay (all but the first two are optional)"
    try:
        head = [c.strip().lower() for c in next(rows, (1, []))[1]]
        # Other columns are attributes of links, for mappings.
        columns = [_COLUMNS.get(c, c) for c in head]
        if "from" not in columns or "to" not in columns:
            raise FairlaneError(f"{name}:1: the columns `from` and `to` are missing{help_text}")
        twice = next((c for i, c in enumerate(columns) if c in columns[:i]), None)
        if twice is not None or "" in columns:
            raise FairlaneError(
                f"{name}:1: {'a column has no name' if twice is None else f'the column {short(twice)} occurs twice'}{help_text}"
            )
        out = PlainGraph()
        for line, row in rows:
            if not any(c.strip() for c in row) or row[0].lstrip().startswith("#"):
                continue
            if len(row) != len(columns):
                raise FairlaneError(f"{name}:{line}: {len(row)} values for {len(columns)} columns{help_text}")
            cells: dict[str, Any] = {c: v.strip() for c, v in zip(columns, row, strict=True)}
            start, end = cells.pop("from"), cells.pop("to")
            if not start or not end:
                raise FairlaneError(f"{name}:{line}: a link needs two nodes\n  = help: write the names of both nodes")
            out.add(start, end, {**cells, "_line": line})
    except CsvError as e:
        raise FairlaneError(f"{name}:{e.line}: {e}{help_text}") from None
    return out


DEEPEST = 64
"""Most nested elements of GraphML."""


class _Refused(Exception):
    """Rejected XML feature."""


def _outermost(data: bytes) -> str:
    """Returns the name of the root element; an error for deep nesting, or for entities, whose expansion is unbounded."""
    names: list[str] = []
    depth = 0
    parser = expat.ParserCreate()

    def begin(name: str, _: object) -> None:
        nonlocal depth
        depth += 1
        if depth == 1:
            names.append(name)
        if depth > DEEPEST:
            raise _Refused(f"elements are nested more than {DEEPEST} deep")

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    def entity(*_: object) -> None:
        raise _Refused("it declares entities")

    parser.StartElementHandler, parser.EndElementHandler, parser.EntityDeclHandler = begin, end, entity
    try:
        parser.Parse(data, True)
    except _Refused as e:
        raise FairlaneError(f":{parser.CurrentLineNumber}:{parser.CurrentColumnNumber + 1}: rejected XML: {e}") from None
    except expat.ExpatError as e:
        raise FairlaneError(f":{e.lineno}:{e.offset + 1}: invalid XML: {expat.ErrorString(e.code)}") from None
    except (ValueError, LookupError) as e:  # unknown encoding
        raise FairlaneError(f":1: invalid XML: {_first(e)}") from None
    return names[0].rpartition(":")[2]


def graphml(data: bytes, name: str) -> Any:
    """Reads GraphML with networkx, or a network of SNDlib."""
    help_text = "\n  = help: the root element must be <graphml>, as in a file of `fairlane draw FILE -o x.graphml`"
    try:
        tag = _outermost(data)
    except FairlaneError as e:
        raise FairlaneError(f"{name}{e}{help_text}") from None
    if tag == "network":
        from .sndlib import xml

        return xml(data, name)
    if tag != "graphml":
        raise FairlaneError(f"{name}:1: this is XML, but not GraphML: its root element is <{tag[:80]}>{help_text}")
    need("graphs")
    import networkx as nx

    try:
        with warnings.catch_warnings():
            # A key without a declaration is text.
            warnings.simplefilter("ignore", UserWarning)
            return nx.read_graphml(io.BytesIO(data))
    except (nx.NetworkXError, ArithmeticError, AttributeError, LookupError, SyntaxError, TypeError, ValueError, StopIteration) as e:
        # ElementTree.ParseError is a SyntaxError.
        raise FairlaneError(f"{name}: this GraphML cannot be read: {_first(e)}{help_text}") from None


def _first(e: Exception) -> str:
    """Returns the first line of an error message."""
    text = (str(e).splitlines() or [type(e).__name__])[0].rstrip(".") or type(e).__name__
    return text if len(text) <= 200 else f"{text[:100]} ... {text[-80:]}"
