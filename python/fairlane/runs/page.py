"""The page of a result: one HTML file without any link to the network."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from .. import _core
from ..base import toml
from ..graphs import MOST_NODES, inline_network
from ..look.rerun import Rerun, fingerprint_list, rerun_scenario, seed_range
from ..look.templates import render
from ..look.web_charts import Charts
from .charts import charts
from .sheets import flow_sheet, link_sheet, network_words
from .summary import limit_section, limits_sheet, sentences
from .tables import series_names, series_tables

if TYPE_CHECKING:
    import polars as pl

    from .result import Result

MOST_CELLS = 20_000
"""Cells of a table that is saved from the page as CSV."""
NO_SERIES = (
    "Nothing was recorded over time: the scenario has no sampling step (sample), so there is nothing to draw over time. "
    "--set sample=10ms records it, and changes no result."
)


def page(result: Result, folder: str = "") -> str:
    """The page as text; `folder`: the result folder that it is of."""
    drawn = charts(result)
    series = any(series_names(result, name) for name in series_tables(result))
    scenario = result.scenario
    words = network_words(result)
    exact = {name: exact_table(result, name) for name in (result.reports, "links")}
    cut = [name for name, frame in exact.items() if frame is None and result.table(name).height]
    return render(
        "runs/page.html.j2", title=title(result, folder), description=scenario.get("description") or "", sentences=sentences(result),
        live=Charts(drawn), charts_of=[c.name for c in drawn], no_series="" if series else NO_SERIES, warnings=result.warnings,
        flows=flow_sheet(result, where="flows.parquet of a result folder"), links=link_sheet(result, where="in the CSV file"),
        each=result.reports.removesuffix("s"),
        flows_exact=exact[result.reports], links_exact=exact["links"], network=words[:1].upper() + words[1:],
        limits=limits_sheet(result), why=limit_section(result),
        cut=f"The exact table of {' and '.join(cut)} is too long for a page; a result folder has it." if cut else "",
        picture=inline_network(scenario, "net"), nodes=len((scenario.get("expanded") or {}).get("nodes") or ()), most=MOST_NODES, ran=describe_run(result),
        repeat=rerun_of(result, folder), version=_core.version(),
    )  # fmt: skip


def title(result: Result, folder: str = "") -> str:
    """The name of the scenario, or of its folder."""
    return str(result.description.get("name") or PurePath(folder).name or "Run")


def exact_table(result: Result, name: str) -> pl.DataFrame | None:
    """Means with their intervals, if that is no more than a page can hold."""
    frame = result.table(name)
    if not frame.height or frame.height * frame.width > MOST_CELLS * max(1, len(result.info)):
        return None
    return result.mean(name)


def describe_run(result: Result) -> str:
    """Time, network and flows in one sentence."""
    told, expanded = result.description, result.scenario.get("expanded") or {}
    parts = [
        f"{len(expanded[k])} {word}"
        for k, word in (("nodes", "nodes"), ("links", "directions of links"), ("flows", "flows"))
        if k in expanded
    ]
    span = f"{told['duration']} were simulated" if "duration" in told else "A recording"
    warm = told.get("warmup")
    warm = f", of which {warm} are warm-up that no number counts" if warm and warm != "0s" else ""
    return f"{span}{warm}; {', '.join(parts)}." if parts else f"{span}{warm}."


def facts(result: Result) -> list[tuple[str, str]]:
    """Seeds, fingerprints, version."""
    many = "s" if len(result.seeds) > 1 else ""
    told = [(f"seed{many}", seed_range(result.seeds)), (f"fingerprint{many}", fingerprint_list(result.fingerprints))]
    return [*told, ("fairlane", _core.version())]


def rerun_of(result: Result, folder: str = "", name: str = "") -> Rerun:
    """What runs it again."""
    told: dict[str, Any] = result.description
    if not is_simulated(result):
        return Rerun(name, "", "This was not simulated, so there is nothing to run again.", facts=facts(result))
    return rerun_scenario(toml.dumps(told), result.seeds, name=name, folder=folder, facts=facts(result))


def is_simulated(result: Result) -> bool:
    """Whether a result is one of the simulator, and not one of a recording."""
    told = result.description
    return bool(told.get("flows")) and "duration" in told and not told.get("imported")
