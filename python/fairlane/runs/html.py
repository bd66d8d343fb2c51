"""HTML of networks and results in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import FairlaneError, ScenarioError
from ..look.notebook import card, drawings, folded, muted, notices
from .sheets import flow_sheet, link_sheet, network_sheet
from .tables import columns, series_tables
from .terminal import head

if TYPE_CHECKING:
    from .network import Network
    from .result import Result

MOST_LINKS = 400
"""Most link directions of a network that is drawn."""


def result_html(result: Result) -> str:
    """Returns the head line, flows or groups, links, network, warnings, and hints."""
    parts = [
        flow_sheet(result, where="result.flows"),
        link_sheet(result, where="result.links"),
        network_sheet(result),
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
        f"Plots: {draw}; tables: result.{result.reports}, result.links, result.network" + (", result.link_series." if series else ".")
    )
    kept = [muted("Recorded events: result.trace(), one row each; SQL with fairlane query.")] if result.traced is not None else []
    kept += [muted(f"Captured packets: {', '.join(p.name for p in result.captures)}")] if result.captures else []
    return card(head(result), *parts, *kept, hint, muted('HTML report with charts: result.report("page.html").'))


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
