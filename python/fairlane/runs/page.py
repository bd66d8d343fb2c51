"""HTML page of a result: one file without external resources."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from .. import _core
from ..base import toml
from ..base.format import number, scale
from ..base.metrics import unit
from ..base.seeds import seed_range
from ..graphs import MOST_NODES, inline_network
from ..look.rerun import Rerun, fingerprint_list, rerun_scenario
from ..look.templates import render
from ..look.web_charts import Charts
from .charts import charts
from .first_screen import heads, next_steps, rows
from .groups import flows_in
from .sheets import fairness_sheet, flow_sheet, link_sheet, network_sheet
from .summary import goodput_sentence, limit_section, limits_sheet, precision_sentence, queueing_sentence
from .tables import intervals, link_loads, metrics_of, series_names, series_tables

if TYPE_CHECKING:
    import polars as pl

    from .data import ResultData

LEAST_DELAY = 1e-4
"""Least queueing delay, seconds, that a headline mentions."""
MOST_CELLS = 20_000
"""Most cells of a table that the page offers as CSV."""
NO_SERIES = "No time series: the scenario has no sampling step. --set sample=10ms records them and changes no result."


def page(result: ResultData, folder: str = "") -> str:
    """Returns the page; `folder`: the result folder it describes."""
    drawn = charts(result)
    series = any(series_names(result, name) for name in series_tables(result))
    scenario = result.scenario
    said, got = (goodput_sentence(result), queueing_sentence(result), precision_sentence(result)), rows(result)
    file = f"{folder.rstrip('/')}/scenario.toml" if folder else "scenario.toml"
    exact = {name: exact_table(result, name) for name in (result.rows_of, "links")}
    cut = [name for name, frame in exact.items() if frame is None and result.table(name).height]
    return render(
        "runs/page.html.j2", title=title(result, folder), headline=headline(result, folder),
        description=scenario.get("description") or "", sentences=said[:1], why_slow=said[1], precision=said[2],
        got=got, heads=heads(result), limited=any(x.limit for x in got),
        grouped=result.rows_of == "groups" or any(x.count > 1 for x in got),
        steps=next_steps(result, file) if is_simulated(result) else [], fairness=fairness_sheet(result), folder=folder,
        live=Charts(drawn), charts_of=[c.name for c in drawn], no_series="" if series else NO_SERIES, warnings=result.warnings,
        flows=flow_sheet(result, where="flows.parquet of a result folder"), links=link_sheet(result, where="CSV file"),
        flows_exact=exact[result.rows_of], links_exact=exact["links"], network=network_sheet(result),
        limits=limits_sheet(result), why=limit_section(result),
        cut=f"The full table of {' and '.join(cut)} is too long for a page; it is in the result folder." if cut else "",
        picture=inline_network(scenario, "net"), nodes=len((scenario.get("expanded") or {}).get("nodes") or ()), most=MOST_NODES,
        ran=describe_run(result),
        repeat=rerun_of(result, folder), version=_core.version(),
    )  # fmt: skip


def title(result: ResultData, folder: str = "") -> str:
    """Returns the name of the scenario, else that of its folder."""
    return str(result.description.get("name") or PurePath(folder).name or "Run")


def headline(result: ResultData, folder: str = "") -> str:
    """Returns the name with the largest queueing delay and the total goodput."""
    ((_, whole),) = intervals(result, "network")
    goodput = whole["goodput"].mean if "goodput" in whole else None
    name = title(result, folder)
    if not goodput:
        return name
    n = sum(flows_in(result).values())
    parts = [f"{n} flows deliver {_mean(goodput, 'goodput')} in total" if n != 1 else f"its flow gets {_mean(goodput, 'goodput')}"]
    link = max(link_loads(result), key=lambda row: row[1], default=("",))[0]
    delay = result.value("sojourn_mean", link=link).mean if link and "sojourn_mean" in metrics_of(result, "links") else None
    if delay and delay >= LEAST_DELAY:
        parts.insert(0, f"{link} delays packets by {_mean(delay, 'sojourn_mean')}")
    return f"{name}: {'; '.join(parts)}"


def _mean(value: float, metric: str) -> str:
    factor, per = scale(unit(metric), value)
    return f"{number(float(f'{value * factor:.3g}'), 3)} {per}"


def exact_table(result: ResultData, name: str) -> pl.DataFrame | None:
    """Returns means with their intervals; None if the table is too large for a page."""
    frame = result.table(name)
    if not frame.height or frame.height * frame.width > MOST_CELLS * max(1, len(result.info)):
        return None
    return result.mean(name)


def describe_run(result: ResultData) -> str:
    """Returns a sentence on the duration, the network and the flows."""
    description, expanded = result.description, result.scenario.get("expanded") or {}
    parts = [
        f"{len(expanded[k])} {word}" for k, word in (("nodes", "nodes"), ("links", "link directions"), ("flows", "flows")) if k in expanded
    ]
    span = f"{description['duration']} simulated" if "duration" in description else "A recording"
    warm = description.get("warmup")
    warm = f", the first {warm} (warm-up) excluded from all metrics" if warm and warm != "0s" else ""
    return f"{span}{warm}; {', '.join(parts)}." if parts else f"{span}{warm}."


def facts(result: ResultData) -> list[tuple[str, str]]:
    """Returns the seeds, fingerprints and version."""
    many = "s" if len(result.seeds) > 1 else ""
    rows = [(f"seed{many}", seed_range(result.seeds)), (f"fingerprint{many}", fingerprint_list(result.fingerprints))]
    return [*rows, ("fairlane", _core.version())]


def rerun_of(result: ResultData, folder: str = "", name: str = "") -> Rerun:
    """Returns the command and the scenario that reproduce the result."""
    description: dict[str, Any] = result.description
    if not is_simulated(result):
        return Rerun(name, "", "This is a recording, not a simulation: it cannot be run again.", facts=facts(result))
    return rerun_scenario(toml.dumps(description), result.seeds, name=name, folder=folder, facts=facts(result))


def is_simulated(result: ResultData) -> bool:
    """Returns True if the result comes from a simulation, not from an imported recording."""
    description = result.description
    return bool(description.get("flows")) and "duration" in description and not description.get("imported")
