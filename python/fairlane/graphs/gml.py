"""Reader of GML (M. Himsolt, GML: A portable graph file format, 1997): nodes, edges and their attributes.

Nested tables use an explicit stack, so deep nesting cannot exhaust Python's recursion limit.
"""

from __future__ import annotations

import html
import re
from typing import Any

from ..errors import FairlaneError, short
from .edges import PlainGraph, text_of

DEEPEST = 64
"""Most nested tables."""
_DIGITS = 300
"""Most characters of a number."""
_TOKEN = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)|(?P<key>[A-Za-z_][0-9A-Za-z_]*)|(?P<number>[+-]?(?:[0-9]*\.[0-9]+|[0-9]+\.?)(?:[Ee][+-]?[0-9]+)?)"""
    r"""|(?P<infinite>[+-]INF\b)|(?P<string>"[^"]*")|(?P<open>\[)|(?P<close>\])"""
)
_ENTITY = re.compile(r"&(?:[0-9A-Za-z]{1,40}|#[0-9]{1,9}|#x[0-9a-fA-F]{1,8});")
_WORDS = ("id", "label", "source", "target")
"""Keys whose value may be a word without quotes."""
_HELP = "\n  = help: GML has graph [ ... ] with node [ id 0 ] and edge [ source 0 target 1 ] in it"


class _Table(dict[str, Any]):
    """Table of values by key; repeated keys have a list. `line`: its first line."""

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.several: set[str] = set()

    def put(self, key: str, value: Any) -> None:
        """Adds a value."""
        if key not in self:
            self[key] = value
        elif key in self.several:
            self[key].append(value)
        else:
            self[key] = [self[key], value]
            self.several.add(key)

    def all(self, key: str) -> list[Any]:
        """Returns the values of a key in their order."""
        return self[key] if key in self.several else [self[key]] if key in self else []


class _Reader:
    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.text = text_of(data, name)
        self.line, self.begin = 1, 0

    def wrong(self, at: int, message: str) -> FairlaneError:
        return FairlaneError(f"{self.name}:{self.line}: this GML cannot be read: {message} (column {at - self.begin + 1}){_HELP}")

    def table(self) -> _Table:
        """Parses the document to one table."""
        root = _Table(1)
        stack, key, text = [(root, 0)], "", self.text
        at, end = 0, len(text)
        match = _TOKEN.match
        while at < end:
            m = match(text, at)
            if m is None:
                what = "an unclosed string" if text[at] == '"' else repr(text[at])
                raise self.wrong(at, f"found {what}, expected {'a value' if key else 'a key'}")
            kind, table = m.lastgroup, stack[-1][0]
            if kind == "space":
                pass
            elif not key:
                if kind == "key":
                    key = m.group()
                elif kind == "close" and len(stack) > 1:
                    stack.pop()
                else:
                    raise self.wrong(at, f"found {short(m.group())}, expected a key")
            else:
                if kind == "open":
                    if len(stack) > DEEPEST:
                        raise self.wrong(at, f"tables are nested more than {DEEPEST} deep")
                    inner = _Table(self.line)
                    table.put(key, inner)
                    stack.append((inner, at))
                else:
                    table.put(key, self.value(key, kind, m.group(), at))
                key = ""
            lines = m.group().count("\n")
            if lines:
                self.line += lines
                self.begin = at + m.group().rindex("\n") + 1
            at = m.end()
        if key or len(stack) > 1:
            raise self.wrong(end, f"unexpected end, expected {'a value' if key else 'a ]'}")
        return root

    def value(self, key: str, kind: str | None, written: str, at: int) -> Any:
        if kind == "string":
            return _ENTITY.sub(lambda m: html.unescape(m[0]), written[1:-1])
        if kind == "number":
            if len(written) > _DIGITS:
                raise self.wrong(at, f"a number of {len(written)} characters")
            return int(written) if written.lstrip("+-").isdecimal() else float(written)
        if kind == "infinite" or (kind == "key" and written in ("NAN", "INF")):
            return float(written)
        if kind == "key" and key in _WORDS:
            return written
        raise self.wrong(at, f"found {short(written)}, expected a number, a text in double quotes or [")


def gml(data: bytes, name: str) -> PlainGraph:
    """Reads a GML graph. Parallel edges become parallel links; files of the Topology Zoo have them without declaring a multigraph."""
    root = _Reader(data, name).table()
    graphs = [g for g in root.all("graph") if isinstance(g, _Table)]
    if len(graphs) != 1:
        raise FairlaneError(f"{name}: this GML cannot be read: it has {len(graphs) or 'no'} graph{'s' * (len(graphs) != 1)}{_HELP}")
    (graph,) = graphs
    about = {k: v for k, v in graph.items() if k not in ("node", "edge")}
    out = PlainGraph(directed=graph.get("directed") in (1, "1"), about=about)
    for node in _tables(graph, "node", name):
        number = _end(node, "id", "node", name)
        if number in out.nodes():
            raise FairlaneError(f"{name}:{node.line}: this GML cannot be read: the node {short(str(number))} occurs twice{_HELP}")
        out.add_node(number, {**{k: v for k, v in node.items() if k != "id"}, "_line": node.line})
    for edge in _tables(graph, "edge", name):
        start, end = (_end(edge, k, "edge", name) for k in ("source", "target"))
        for strange in (x for x in (start, end) if x not in out.nodes()):
            raise FairlaneError(
                f"{name}:{edge.line}: this GML cannot be read: the node {short(str(strange))} of this edge does not exist{_HELP}"
            )
        more = {k: v for k, v in edge.items() if k not in ("source", "target", "key")}
        key = edge.get("key")
        out.add(start, end, {**more, "_line": edge.line}, key if isinstance(key, (str, int)) else None)
    return out


def _tables(graph: _Table, key: str, name: str) -> list[_Table]:
    for table in graph.all(key):
        if not isinstance(table, _Table):
            raise FairlaneError(f"{name}:{graph.line}: this GML cannot be read: {key} is {short(str(table))}, expected [{_HELP}")
    return graph.all(key)


def _end(table: _Table, key: str, what: str, name: str) -> str | int | float:
    found = table.get(key)
    if not isinstance(found, (str, int, float)):
        raise FairlaneError(
            f"{name}:{table.line}: this GML cannot be read: this {what} has {'no' if found is None else 'more than one'} {key}{_HELP}"
        )
    return found
