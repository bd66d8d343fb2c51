"""A result as a notebook shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..look.notebook import card, muted, notices
from .sheets import fairness_sheet, flow_sheet, link_sheet, network_sheet
from .tables import columns, series_tables
from .terminal import head

if TYPE_CHECKING:
    from .data import ResultData


def result_html(result: ResultData) -> str:
    """Returns the head line, flows or groups, links, network, warnings, and hints."""
    parts = [
        flow_sheet(result, where="result.flows"),
        fairness_sheet(result),
        link_sheet(result, where="result.links"),
        network_sheet(result),
        notices(result.warnings),
    ]
    series = any(any(columns(result, name)) for name in series_tables(result))
    draw = (
        'result.plot("queue", "cwnd")'
        if series and result.rows_of == "flows"
        else 'result.plot("queue")'
        if series
        else 'result.plot("goodput")'
    )
    hint = muted(
        f"Plots: {draw}; tables: result.{result.rows_of}, result.links, result.network" + (", result.link_series." if series else ".")
    )
    kept = [muted("Recorded events: result.trace(), one row each; SQL with fairlane query.")] if result.trace_folder is not None else []
    kept += [muted(f"Captured packets: {', '.join(p.name for p in result.captures)}")] if result.captures else []
    return card(head(result), *parts, *kept, hint, muted('HTML report with charts: result.page("page.html").'))
