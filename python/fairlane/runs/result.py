"""`run` and `Result`: replications of a scenario and their results as tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from .. import _core
from ..base.cores import available_threads
from ..base.extras import need
from ..base.metrics import within
from ..base.scenario import checked
from ..base.seeds import parse_seeds
from ..errors import FairlaneError, ScenarioWarning, UnknownNameError, suggest
from ..stats import Interval, interval

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..stats import Warmup
    from .limits import LimitReport
    from .network import Network
    from .pcap import Names, Pcap
    from .trace import Trace

Progress = Callable[[float, int, int], bool | None]
LABELS = ("seed", "flow", "group", "link", "from", "to", "transport")
KEYS = {"flows": "flow", "groups": "group", "links": "link"}
_NO_CHANCE = ScenarioWarning("all runs are identical: nothing in this scenario is random, so the intervals have no meaning", "same-runs")


class RunOptions(TypedDict, total=False):
    """Options of `run` besides the scenario and the seeds, for `Network.run`."""

    threads: int | None
    sets: Mapping[str, Any] | Iterable[tuple[str, str]]
    hop_probe: bool
    pcap: Pcap | Names | None
    trace: Trace | str | bool | None
    why: bool
    progress: Progress | None


class PlotOptions(TypedDict, total=False):
    """Options of `Result.plot` for quantities."""

    flow: str | Iterable[str] | None
    group: str | Iterable[str] | bool | None
    aggregate: str
    link: str | Iterable[str] | None
    seed: int | str | None
    kind: str
    size: tuple[float, float] | None
    theory: str | Iterable[str]
    time: str | tuple[float | None, float | None] | None
    style: str


def run(
    scenario: str | PathLike[str] | Network,
    seeds: int | str | Iterable[int] | None = None,
    *,
    threads: int | None = None,
    sets: Mapping[str, Any] | Iterable[tuple[str, str]] = (),
    hop_probe: bool = False,
    pcap: Pcap | Names | None = None,
    trace: Trace | str | bool | None = None,
    why: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Runs a scenario file or `Network` once per seed, on all cores.

    `seeds`: one seed, several, or text such as "1..10" (default: the seed of the scenario). `threads`: worker threads (0 or None: one per
    core, at most one per run); with more threads than runs, single runs are split if the network allows it (`Network.partition`). Results
    never depend on it. `hop_probe` enables the observed event loop, which does not change results. `pcap` captures packets: names of
    links, nodes or flows, a dict from names to files, or a `Pcap`. `trace` records events for `Result.trace`: True, a filter such as
    "event=drop link=bottleneck", or a `Trace`. `why` records what limits flows, for `Result.why`.
    `progress(fraction, runs done, events)` is called about ten times per second; if it returns False, the runs stop with `RunError`.
    """
    resolved = checked(scenario, sets)
    return run_resolved(resolved, seeds, threads=threads, hop_probe=hop_probe, pcap=pcap, trace=trace, why=why, progress=progress)


def run_resolved(
    resolved: _core.Resolved,
    seeds: int | str | Iterable[int] | None = None,
    *,
    threads: int | None = None,
    hop_probe: bool = False,
    pcap: Pcap | Names | None = None,
    trace: Trace | str | bool | None = None,
    why: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Runs a scenario that `checked` returned; see `run`."""
    chosen = parse_seeds(resolved.seed if seeds is None else seeds)
    if threads is not None and threads < 0:
        raise FairlaneError("threads cannot be negative")
    # On a busy machine the threads of one run would wait for each other thousands of times per second: only explicit `threads` split runs.
    workers = threads or min(available_threads(), len(chosen))
    plan = None
    if pcap is not None:
        from .pcap import as_pcap

        plan = as_pcap(pcap).plan(chosen)
    folder = recorded = None
    if trace is not None and trace is not False:
        from .trace import as_trace, temporary_folder

        wanted = as_trace(trace)
        folder = temporary_folder() if wanted.folder is None else Path(wanted.folder)
        recorded = wanted.arguments(folder)
    with nullcontext() if plan is None else plan.placed() as placed:
        captures = None if placed is None else placed.arguments()
        runs = _core.run(resolved, chosen, workers, hop_probe, progress, captures, recorded, why)
    result = Result.from_runs(resolved, runs)
    result.captures = [] if plan is None else plan.files()
    result.traced = folder
    return result


class Result:
    """Results of all replications of a scenario.

    `flows`, `links` and `network` have one row per run and flow, link direction or run. `flow_series` and `link_series` have one row per
    run, instant and flow or link (empty unless the scenario sets `sample`). With `report = "groups"` in the scenario, `groups` (a row per
    run and group of flows) replaces `flows` and `flow_series`. All are polars frames (the extra `tables`); `to_arrow` and `to_pandas`
    convert them. `mean`, `summary` and `value` average over the runs with 95 % intervals.
    """

    def __init__(self, scenario: dict[str, Any] | _core.Resolved, info: list[dict[str, Any]], tables: Mapping[str, pl.DataFrame]) -> None:
        self._scenario = scenario
        self.info = info
        self._tables = tables
        self.captures: list[Path] = []
        """Capture files that the runs wrote."""
        self._why: list[str | None] = [None]
        self.traced: Path | None = None
        """Folder of the event trace, with a folder per seed; None if no events were recorded."""

    @cached_property
    def scenario(self) -> dict[str, Any]:
        """Scenario with every parameter filled in, as `resolve` returns it."""
        tree: dict[str, Any] = self._scenario if isinstance(self._scenario, dict) else json.loads(self._scenario.json())
        if "expanded" not in tree and self.reports == "groups":  # a folder keeps no list of a million flows
            tree = json.loads(_core.resolve(json.dumps(tree), "scenario.json", "json", []).json())
        return tree

    @cached_property
    def description(self) -> dict[str, Any]:
        """`scenario` without its lists of nodes, links and flows, which may be long."""
        tree = self._scenario if isinstance(self._scenario, dict) else json.loads(self._scenario.json(expanded=False))
        return {k: v for k, v in tree.items() if k not in ("expanded", "warnings")}

    @classmethod
    def from_runs(cls, scenario: dict[str, Any] | _core.Resolved, runs: list[Any]) -> Result:
        """Builds a result from the runs that `_core.run` returned."""
        from .tables import Tables

        facts = ("seed", "fingerprint", "events", "packet_hops", "cpu_s", "setup_s", "peak_packets")
        info = [{**{k: getattr(r, k) for k in facts}, "warnings": [ScenarioWarning(text, code) for code, text in r.warnings]} for r in runs]
        result = cls(scenario, info, Tables(runs))
        result._why = [r.why() for r in runs]
        return result

    @cached_property
    def reports(self) -> str:
        """Rows of the result: "flows" or "groups", as the scenario says."""
        return "groups" if "groups" in list(self._tables) else "flows"

    def _having(self, table: str) -> Mapping[str, pl.DataFrame]:
        """Returns the tables; an error if this one is missing."""
        from .tables import missing_table

        if why := missing_table(table, self.reports):
            raise UnknownNameError(why)
        return self._tables

    @property
    def flows(self) -> pl.DataFrame:
        """Table with one row per run and flow; an error for a result of groups."""
        return self._having("flows")["flows"]

    @property
    def groups(self) -> pl.DataFrame:
        """Table with one row per run and group of flows, if the scenario has `report = "groups"`; see docs/reference/metrics.md."""
        return self._having("groups")["groups"]

    @property
    def links(self) -> pl.DataFrame:
        """Table with one row per run and link direction."""
        return self._tables["links"]

    @property
    def network(self) -> pl.DataFrame:
        """Table with one row per run."""
        return self._tables["network"]

    @property
    def flow_series(self) -> pl.DataFrame:
        """Time series of the flows."""
        return self._having("flow_series")["flow_series"]

    @property
    def link_series(self) -> pl.DataFrame:
        """Time series of the links."""
        return self._tables["link_series"]

    @property
    def seeds(self) -> list[int]:
        """The seed of each run."""
        return [r["seed"] for r in self.info]

    @property
    def fingerprints(self) -> list[str]:
        """Hash of the trajectory of each run: equal if and only if the runs are."""
        return [r["fingerprint"] for r in self.info]

    @property
    def warnings(self) -> list[ScenarioWarning]:
        """Warnings of all runs, each once."""
        found = dict.fromkeys(w if isinstance(w, ScenarioWarning) else ScenarioWarning(w) for r in self.info for w in r["warnings"])
        if len(self.info) > 1 and len(set(self.fingerprints)) == 1:
            found[_NO_CHANCE] = None
        return list(found)

    def table(self, name: str) -> pl.DataFrame:
        """Returns a table by name: flows (or groups), links, network, flow_series or link_series."""
        tables = self._having(name)
        if name not in list(tables):
            raise suggest(name, list(tables), "table")
        return tables[name]

    def trace(self) -> pl.LazyFrame:
        """Returns the events that `run(trace=...)` recorded, ordered by seed and time, as a lazy polars frame.

        `collect` reads only the requested columns and rows. docs/guides/traces.md has the columns.
        """
        need("tables")
        if self.traced is None:
            raise FairlaneError("this result has no recorded events: run with trace=True, or fairlane run FILE --trace -o DIR")
        from .trace import scan

        return scan(self.traced)

    def why(self) -> LimitReport:
        """Returns what limited each flow, as shares of its time that add up to 1, and which flows filled each queue.

        Needs `run(..., why=True)`, `fairlane run FILE --why` or `fairlane.start(..., why=True)`; result folders store it.
        """
        from .limits import limit_report

        return limit_report(self._why)

    def to_arrow(self, table: str | None = None) -> pa.Table:
        """Returns a table, by default that of flows or groups, as a pyarrow Table (needs the extra `arrow`)."""
        need("arrow")
        return self.table(table or self.reports).to_arrow()

    def to_pandas(self, table: str | None = None) -> pd.DataFrame:
        """Returns a table, by default that of flows or groups, as a pandas DataFrame (needs the extra `pandas`)."""
        need("pandas")
        return self.table(table or self.reports).to_pandas()

    def summary(self, table: str | None = None) -> pl.DataFrame:
        """Returns the means in long form: one row per flow (or group), link or network and metric, with low, high, sd, n and unit."""
        from .tables import summary_frame

        return summary_frame(self, table or self.reports)

    def mean(self, table: str | None = None) -> pl.DataFrame:
        """Returns the means in wide form: one row per flow (or group), link or network, with `_low` and `_high` for several runs."""
        from .tables import mean_frame

        return mean_frame(self, table or self.reports)

    def value(self, metric: str, *, flow: str | None = None, link: str | None = None, group: str | None = None) -> Interval:
        """Returns one metric over all runs: of a flow, of a group (in a result of groups), of a link direction, or of the network."""
        from .tables import columns

        name = "flows" if flow is not None else "groups" if group is not None else "links" if link is not None else "network"
        runs = columns(self, name)
        label = flow if flow is not None else group if group is not None else link
        if label is not None and not any(label in run[KEYS[name]] for run in runs):
            raise suggest(label, list(dict.fromkeys(x for run in runs for x in run[KEYS[name]])), KEYS[name])
        if metric in LABELS or metric not in runs[0]:
            raise suggest(metric, [c for c in runs[0] if c not in LABELS], f"metric of {name}")
        if label is None:
            return interval((x for run in runs for x in run[metric]), within=within(metric))
        own = (x for run in runs for of, x in zip(run[KEYS[name]], run[metric], strict=True) if of == label)
        return interval(own, within=within(metric))

    def warmup(self, metric: str, *, flow: str | None = None, link: str | None = None) -> Warmup:
        """Estimates the initial transient of a time series by MSER-5, and compares it with the warm-up of the scenario.

        `metric`: a series such as "queue", "throughput" or "cwnd". `seconds` of the answer is the longest cut over the runs, None if a run
        is too short. Needs a scenario with a sampling step. See `fairlane.stats.mser5`.
        """
        need("tables")
        from .warmup import warmup

        return warmup(self, metric, flow=flow, link=link)

    def plot(
        self,
        what: str | Iterable[str] = "cwnd",
        *more: str,
        path: str | PathLike[str] | None = None,
        ax: Axes | Iterable[Axes] | None = None,
        **options: Unpack[PlotOptions],
    ) -> Figure:
        """Draws a figure: a kind of plot that `fairlane plot --list` has ("window", "sequence", "delay-cdf", "ellipses"...), or time series
        ("cwnd", "queue", "throughput"...) and metrics ("goodput", "delay_mean"...), one below the other.

        `path` saves the figure as SVG, PNG or PDF, by its ending. `ax`: your own axes, one per quantity. `flow`: names of flows or groups,
        a line per flow. `group`: groups (True: all), a line per group with the `aggregate` of its flows: "mean", "sum", "min" or "max".
        `link`: names of links. By default, up to 12 flows that have the quantity are drawn, above that the means of their groups, or the
        links with the largest values. `seed`: one run (default: the first), or "all" for the mean over the runs with its 95 % interval as a
        band. `kind`: "lines" (over time) or "bars" (one number per run) for quantities that have both. `size`: inches. The warm-up is
        shaded. A result of groups has bars of metrics per group (`group` selects) and series of links; plots of single flows are errors.

        Kinds of plot and single quantities also take `theory` ("bdp"), `time` ("10s..20s") and `style` ("ieee"). `fairlane.plot` draws
        several results.
        """
        need("plots")
        from .plots.dispatch import OF_KINDS, single

        quantities = [*([what] if isinstance(what, str) else what), *more]
        if (drawn := single(self, quantities, ax, options)) is not None:
            if path is not None:
                from .plots.overlay import save as save_plot

                save_plot(drawn, path, options.get("style", "screen"))
            return drawn
        from .plot import draw

        figure = draw(self, quantities, ax=ax, **{k: v for k, v in options.items() if k not in OF_KINDS})  # type: ignore[arg-type]
        if path is not None:
            from ..look.figures import save_figure

            save_figure(figure, path)
        return figure

    def document(self) -> dict[str, Any]:
        """Returns the document that `fairlane run --json` prints."""
        from .document import run_document

        return run_document(self)

    def to_json(self) -> str:
        """Returns `document` as text."""
        from .document import json_chunks

        return "".join(json_chunks(self))

    def save(self, folder: str | PathLike[str], *, force: bool = False) -> Path:
        """Writes a result folder: scenario, tables in Parquet, manifest. An existing one is replaced only with `force`."""
        need("tables")
        from .folder import save

        return save(self, folder, force=force)

    def page(self, folder: str = "") -> str:
        """Returns an HTML report that opens offline: results, charts and scenario. `folder`: the folder of its scenario.toml."""
        need("study")
        from .page import page

        return page(self, folder)

    def report(self, path: str | PathLike[str], *, force: bool = False) -> Path:
        """Writes `page` as a file; an existing file is replaced only with `force`. `fairlane.report` takes several results."""
        need("study")
        from ..base.files import save_bytes
        from ..base.outputs import new_file

        target = new_file(path, force=force)
        save_bytes(target, self.page().encode(), new=not force)
        return target

    def _repr_html_(self) -> str:
        from .html import result_html

        return result_html(self)

    def __repr__(self) -> str:
        from .tables import columns

        runs = len(self.info)
        counts = [f"{sum(len(run[KEYS[t]]) for run in columns(self, t)) // runs} {t}" for t in (self.reports, "links")]
        return f"Result({runs} run{'s' * (runs != 1)}, {', '.join(counts)})"


def load(folder: str | PathLike[str]) -> Result:
    """Reads a result folder back."""
    need("tables")
    from .folder import load as read

    return read(folder)
