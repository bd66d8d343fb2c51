"""Inline drawing of a network in a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import FairlaneError
from ..look.theme import inline
from .network import graph_of
from .svg import svg

if TYPE_CHECKING:
    from markupsafe import Markup

MOST_NODES = 300
"""Most nodes of an inline drawing; `fairlane draw` draws larger networks."""
MOST_BYTES = 400_000


def inline_network(resolved: Mapping[str, Any], name: str) -> Markup | None:
    """Returns the network of a resolved scenario in the colours of the page; None if it is too large or has no nodes.

    `name`: prefix of its ids. A wide drawing has its own scroll bar.
    """
    from markupsafe import Markup

    expanded = resolved.get("expanded") or {}
    nodes = expanded.get("nodes")
    # A link of an imported recording has no rate.
    if not nodes or len(nodes) > MOST_NODES or not all("rate" in x for x in expanded["links"]):
        return None
    try:
        graph = graph_of(resolved)
    except (KeyError, ValueError):  # a folder of an earlier version has another format of positions
        graph = graph_of({**resolved, "expanded": {**expanded, "positions": {}}})
    try:
        text = svg(graph)
    except FairlaneError:
        return None
    if len(text) > MOST_BYTES:
        return None
    wide = float(text.split('width="', 1)[1].split('"', 1)[0])
    label = f"The network: {len(graph.nodes)} nodes, {len(graph.links)} links"
    drawn = inline(text.replace(' role="img"', "", 1), name, label).replace("<svg ", f'<svg style="width:{wide:.0f}px;max-width:none" ', 1)
    region = Markup('<div class="network" role="region" tabindex="0" aria-label="{}">').format(label)
    return region + Markup(drawn) + Markup("</div>")
