"""`run` and `Result`: replications of a scenario and their results as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from .. import _core
from ..base.cores import available_threads
from ..base.extras import need
from ..base.notices import warn
from ..base.scenario import Built, checked
from ..base.seeds import either, parse_seeds
from ..errors import ArgumentError
from .data import KEYS, ResultData

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..stats import Warmup
    from .pcap import Names, Pcap
    from .trace import Trace

Progress = Callable[[float, int, int], bool | None]


class RunOptions(TypedDict, total=False):
    """Options of `run` besides the scenario and the seeds, for `Network.run`."""

    seed: int | None
    threads: int | None
    sets: Mapping[str, Any] | Iterable[tuple[str, str]]
    hop_probe: bool
    pcap: Pcap | Names | None
    trace: Trace | str | bool | None
    why: bool
    qlog: str | Iterable[str]
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
    scenario: str | PathLike[str],
    seeds: int | str | Iterable[int] | None = None,
    *,
    seed: int | None = None,
    threads: int | None = None,
    sets: Mapping[str, Any] | Iterable[tuple[str, str]] = (),
    hop_probe: bool = False,
    pcap: Pcap | Names | None = None,
    trace: Trace | str | bool | None = None,
    why: bool = False,
    qlog: str | Iterable[str] = (),
    progress: Progress | None = None,
) -> Result:
    """Runs a scenario file once per seed, on all cores; a `Network` has `run`.

    `seeds`: how many runs, such as 10 (seeds 1 to 10), or their seeds, such as "3..7" or [1, 2]; `seed`: a single run (default: the seed of
    the scenario). `threads`: worker threads (0 or None: one per core, at most one per run); with more threads than runs, single runs are
    split if the network allows it (`Network.partition`). Results never depend on it. `hop_probe` enables the observed event loop, which
    does not change results. `pcap` captures packets: names of links, nodes or flows, a dict from names to files, or a `Pcap`. `trace`
    records events for `Result.trace`: True, a filter such as "event=drop link=bottleneck", or a `Trace`. `why` records what limits flows,
    for `Result.why`. `qlog`: flows and groups whose real transport stacks write
    their own logs, for `Result.logs`. Warnings are issued as `ScenarioWarning`, and kept in `Result.warnings`.
    `progress(fraction, runs done, events)` is called about ten times per second; if it returns False, the runs stop with `RunError`.
    """
    options = RunOptions(
        seed=seed, threads=threads, sets=sets, hop_probe=hop_probe, pcap=pcap, trace=trace, why=why, progress=progress, qlog=qlog
    )
    return run_of(scenario, seeds, options)


def run_of(scenario: str | PathLike[str] | Built, seeds: int | str | Iterable[int] | None, options: RunOptions) -> Result:
    """Runs a scenario file or network and issues the warnings; see `run`."""
    rest = {k: v for k, v in options.items() if k not in ("sets", "seed")}
    chosen = either(seeds, options.get("seed"))
    result = run_resolved(checked(scenario, options.get("sets", ())), chosen, **rest)  # type: ignore[arg-type]
    warn(result.warnings)
    return result


def run_resolved(
    resolved: _core.Resolved,
    seeds: int | str | Iterable[int] | None = None,
    *,
    threads: int | None = None,
    hop_probe: bool = False,
    pcap: Pcap | Names | None = None,
    trace: Trace | str | bool | None = None,
    why: bool = False,
    qlog: str | Iterable[str] = (),
    progress: Progress | None = None,
) -> Result:
    """Runs a scenario that `checked` returned; see `run`."""
    chosen = [resolved.seed] if seeds is None else parse_seeds(seeds)
    if threads is not None and threads < 0:
        raise ArgumentError("threads cannot be negative")
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
        logs = [qlog] if isinstance(qlog, str) else list(qlog)
        runs = _core.run(resolved, chosen, workers, hop_probe, progress, captures, recorded, why, logs=logs)
    result = Result.from_runs(resolved, runs)
    result.captures = [] if plan is None else plan.files()
    result.logs = {(run.seed, name): text for run in runs for name, text in run.logs()} if logs else {}
    result.trace_folder = folder
    return result


class Result(ResultData):
    """Results of all replications of a scenario.

    `flows`, `links` and `network` have one row per run and flow, link direction or run. `flow_series` and `link_series` have one row per
    run, instant and flow or link (empty unless the scenario sets `sample`). With `report = "groups"` in the scenario, `groups` (a row per
    run and group of flows) replaces `flows` and `flow_series`. All are polars frames (the extra `tables`); `to_arrow` and `to_pandas`
    convert them. `mean`, `summary` and `value` average over the runs with 95 % intervals. `print` shows the summary that `fairlane run`
    prints.
    """

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
        several results in one figure.
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

    def page(self, path: str | PathLike[str] | None = None, *, force: bool = False) -> str:
        """Returns an HTML report that opens offline: results, charts and scenario. `fairlane.report` compares several results.

        `path`: also writes it as a file; an existing file is replaced only with `force`.
        """
        need("study")
        from ..base.outputs import kept_text
        from .page import page

        return kept_text(lambda: page(self), path, force=force)

    def export(
        self,
        format: str,
        path: str | PathLike[str],
        *,
        seed: int | None = None,
        flow: str | Iterable[str] = (),
        link: str | Iterable[str] = (),
        force: bool = False,
    ) -> Path:
        """Writes one run (default: the first) in the format of another program: "flent", "qlog" or "mahimahi".

        `flow` and `link` select flows and links, if the format supports it (default: all). See `docs/guides/formats.md`.
        """
        need("tables")
        from .exports import export

        return export(self, format, path, seed=seed, flow=flow, link=link, force=force)

    def _repr_html_(self) -> str:
        from .html import result_html

        return result_html(self)

    def __str__(self) -> str:
        from ..look.sheet import plain
        from .terminal import run_report

        return plain(*run_report(self, why=bool(self._why) and all(self._why)))

    def __repr__(self) -> str:
        from .tables import columns

        runs = len(self.info)
        counts = [f"{sum(len(run[KEYS[t]]) for run in columns(self, t)) // runs} {t}" for t in (self.rows_of, "links")]
        return f"Result({runs} run{'s' * (runs != 1)}, {', '.join(counts)})"


def load(folder: str | PathLike[str]) -> Result:
    """Reads a result folder back."""
    need("tables")
    from .folder import load as read

    return read(folder, Result)
