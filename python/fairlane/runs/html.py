"""What networks and results show of themselves in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import FairlaneError, ScenarioError
from ..look.notebook import card, drawings, folded, muted, notices
from .sheets import flow_sheet, link_sheet, network_words
from .tables import columns, series_tables
from .terminal import head

if TYPE_CHECKING:
    from .network import Network
    from .result import Result

MOST_LINKS = 400
"""A network with more directions of links than that is told in words."""


def result_html(result: Result) -> str:
    """Head line, flows or groups, links, network, warnings, and what to do next."""
    parts = [
        flow_sheet(result, where="result.flows"),
        link_sheet(result, where="result.links"),
        muted(network_words(result)),
        notices(result.warnings),
    ]
    series = any(any(columns(result, name)) for name in series_tables(result))
    draw = (
        'result.plot("queue", "cwnd")'
        if series and result.reports == "flows"
        else 'result.plot("queue")'
        if series
        else 'result.plot("goodput")'
    )
    hint = muted(
        f"Pictures: {draw}; tables: result.{result.reports}, result.links, result.network" + (", result.link_series." if series else ".")
    )
    kept = [muted("Events on record: result.trace(), one row each; fairlane query asks them.")] if result.traced is not None else []
    kept += [muted(f"Packets on record: {', '.join(p.name for p in result.captures)}")] if result.captures else []
    return card(head(result), *parts, *kept, hint, muted('One page with charts: result.report("page.html").'))


def network_html(net: Network) -> str:
    """The network drawn, its flows, and its scenario file; or what is missing before it can be drawn."""
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
    words = (
        f"{resolved['duration']}, of which {resolved['warmup']} are warm-up; {_count(flows, 'flow')}, {_count(links, 'direction')} of links"
    )
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
