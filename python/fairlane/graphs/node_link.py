"""Reader of node-link JSON, as networkx and D3 write it: `nodes`, and `links` or `edges` with `source` and `target`."""

from __future__ import annotations

import json
from typing import Any

from ..errors import FairlaneError, short
from .edges import PlainGraph, text_of

_HELP = "\n  = help: write it by json.dump(networkx.node_link_data(graph), file)"


def node_link(data: bytes, name: str) -> PlainGraph:
    """Reads a node-link graph."""
    try:
        tree = json.loads(text_of(data, name))
    except json.JSONDecodeError as e:
        raise FairlaneError(f"{name}:{e.lineno}: invalid JSON: {e.msg} (column {e.colno}){_HELP}") from None
    except RecursionError:
        raise FairlaneError(f"{name}: JSON is nested too deeply{_HELP}") from None
    except ValueError as e:
        raise FairlaneError(f"{name}: invalid JSON: {short(str(e))}{_HELP}") from None
    links = (tree.get("links", tree.get("edges")) if isinstance(tree, dict) else None) or []
    nodes = tree.get("nodes") if isinstance(tree, dict) else None
    if not isinstance(nodes, list) or not isinstance(links, list):
        raise FairlaneError(f"{name}: this JSON is no node-link graph: `nodes` and `links` are expected to be lists{_HELP}")
    about = tree.get("graph")
    out = PlainGraph(directed=tree.get("directed") is True, about=about if isinstance(about, dict) else {})
    for i, node in enumerate(nodes):
        number = node.get("id", node.get("name", i)) if isinstance(node, dict) else node
        known = _key(number, f"node {i + 1}", name)
        if known in out.nodes():
            raise FairlaneError(f"{name}: the node {short(str(known))} occurs twice{_HELP}")
        out.add_node(known, {str(k): v for k, v in node.items() if k != "id"} if isinstance(node, dict) else {})
    for i, link in enumerate(links):
        if not isinstance(link, dict):
            raise FairlaneError(f"{name}: link {i + 1} is no table with `source` and `target`{_HELP}")
        ends = []
        for what in ("source", "target"):
            end = link.get(what)
            # D3 has the whole node instead of its id once its layout ran.
            end = _key(end.get("id") if isinstance(end, dict) else end, f"{what} of link {i + 1}", name)
            if end not in out.nodes():
                raise FairlaneError(f"{name}: the node {short(str(end))} of link {i + 1} does not exist{_HELP}")
            ends.append(end)
        key = link.get("key")
        more = {str(k): v for k, v in link.items() if k not in ("source", "target", "key")}
        out.add(ends[0], ends[1], more, key if isinstance(key, (str, int)) else None)
    return out


def _key(found: Any, what: str, name: str) -> Any:
    """Returns the identity of a node; a list, as JSON has for a tuple, becomes its text."""
    if isinstance(found, list):
        return "(" + ", ".join(map(str, found)) + ")"
    if found is None or isinstance(found, (dict, bool)):
        raise FairlaneError(f"{name}: {what} has no id{_HELP}")
    return found
