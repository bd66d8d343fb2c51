"""A network as a notebook shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import FairlaneError, ScenarioError
from ..look.notebook import card, drawings, folded, muted, notices

if TYPE_CHECKING:
    from .network import Network

MOST_LINKS = 400
"""Most link directions of a network that is drawn."""


def network_html(net: Network) -> str:
    """Returns a drawing of the network, its flows and its scenario file, or the problems that prevent a drawing."""
    from ..look.drawings import Topology

    try:
        resolved = net.resolve()
    except ScenarioError as e:
        problems = [": ".join(x for x in (d["path"], d["message"]) if x) for d in e.diagnostics[:5]]
        more = [f"and {len(e.diagnostics) - 5} more"] if len(e.diagnostics) > 5 else []
        return card(repr(net), muted("Not ready to run yet:"), *problems, *more, folded("scenario file", net.to_toml()))
    except FairlaneError as e:
        return card(repr(net), str(e))
    links, flows = len(resolved["expanded"]["links"]), len(resolved["expanded"]["flows"])
    words = f"{resolved['duration']} ({resolved['warmup']} warm-up); {_count(flows, 'flow')}, {_count(links, 'link direction')}"
    drawn = [drawings([Topology(net.to_dict())], repr(net))] if flows and links <= MOST_LINKS else []
    return card(
        resolved.get("name") or "Network",
        muted(words),
        *drawn,
        notices(resolved.get("warnings", [])),
        folded("scenario file", net.to_toml()),
    )


def _count(n: int, word: str) -> str:
    return f"{n} {word}{'s' * (n != 1)}"
