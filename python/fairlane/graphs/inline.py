"""A network drawn into a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import FairlaneError
from ..look.theme import inline
from .network import of_scenario
from .svg import svg

if TYPE_CHECKING:
    from markupsafe import Markup

MOST_NODES = 300
"""Nodes of a network that is drawn into a page; `fairlane draw` draws larger ones into files of their own."""
MOST_BYTES = 400_000


def inlined(resolved: Mapping[str, Any], name: str) -> Markup | None:
    """The network of a resolved scenario, in the colours of the page; None if it is too large to be looked at there, or is none.

    `name` tells its ids from those of other drawings. Wider than the screen it scrolls by itself.
    """
    from markupsafe import Markup

    nodes = (resolved.get("expanded") or {}).get("nodes")
    if not nodes or len(nodes) > MOST_NODES:
        return None
    try:
        graph = of_scenario(dict(resolved))
        text = svg(graph)
    except (FairlaneError, KeyError, ValueError):
        return None
    if len(text) > MOST_BYTES:
        return None
    wide = float(text.split('width="', 1)[1].split('"', 1)[0])
    label = f"The network: {len(graph.nodes)} nodes, {len(graph.links)} links"
    drawn = inline(text.replace(' role="img"', "", 1), name, label).replace("<svg ", f'<svg style="width:{wide:.0f}px;max-width:none" ', 1)
    region = Markup('<div class="network" role="region" tabindex="0" aria-label="{}">').format(label)
    return region + Markup(drawn) + Markup("</div>")
