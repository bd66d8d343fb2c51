"""`run` and `Result`: replications of a scenario and what came of them, as tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from .. import _core
from ..base.cores import available_threads
from ..base.extras import need
from ..base.scenario import checked
from ..base.seeds import parse_seeds
from ..errors import Doubt, FairlaneError, suggest
from ..stats import Interval, interval
from .network import Network
from .pcap import Names, Pcap, as_pcap

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.figure import Figure

    from ..stats import Warmup

Progress = Callable[[float, int, int], bool | None]
LABELS = ("seed", "flow", "link", "from", "to", "transport")
KEYS = {"flows": "flow", "links": "link"}
_NO_CHANCE = Doubt("all runs are the same: nothing in this scenario is left to chance, so the intervals say nothing about it", "same-runs")


class RunOptions(TypedDict, total=False):
    """What `run` takes besides the scenario and the seeds, for `Network.run`."""

    threads: int | None
    sets: Mapping[str, Any] | Iterable[tuple[str, str]]
    hop_probe: bool
    pcap: Pcap | Names | None
    progress: Progress | None


def run(
    scenario: str | PathLike[str] | Network,
    seeds: int | str | Iterable[int] | None = None,
    *,
    threads: int | None = None,
    sets: Mapping[str, Any] | Iterable[tuple[str, str]] = (),
    hop_probe: bool = False,
    pcap: Pcap | Names | None = None,
    progress: Progress | None = None,
) -> Result:
    """Runs a scenario file or `Network`, once for each seed, on all cores.

    `seeds`: one seed, several, or text such as "1..10"; by default the scenario's own. `threads`: how many runs
    at once (0 or None: one a core); results do not depend on it. `hop_probe` switches the observing loop on, which must
    not change any result. `pcap` captures packets: names of links, nodes or flows, a dict
    from names to files, or a `Pcap`. `progress(fraction, runs done, events)` is called about ten times a second; if it
    returns False the runs stop with `RunError`.
    """
    return run_resolved(checked(scenario, sets), seeds, threads=threads, hop_probe=hop_probe, pcap=pcap, progress=progress)


def run_resolved(
    resolved: _core.Resolved,
    seeds: int | str | Iterable[int] | None = None,
    *,
    threads: int | None = None,
    hop_probe: bool = False,
    pcap: Pcap | Names | None = None,
    progress: Progress | None = None,
) -> Result:
    """Runs what `checked` returned."""
    chosen = parse_seeds(resolved.seed if seeds is None else seeds)
    if threads is not None and threads < 0:
        raise FairlaneError("threads cannot be negative")
    workers = min(threads or available_threads(), len(chosen))
    plan = None if pcap is None else as_pcap(pcap).plan(chosen)
    runs = _core.run(resolved, chosen, workers, hop_probe, progress, None if plan is None else plan.arguments())
    result = Result.from_runs(resolved, runs)
    if plan is not None:
        result.captures = plan.files()
    return result


class Result:
    """All replications of one scenario.

    `flows`, `links` and `network` have one row per run and flow, link direction or run; `flow_series` and `link_series` one
    per run, instant and flow or link (empty unless the scenario sets `sample`). All are polars frames;
    `to_arrow` and `to_pandas` convert. `mean`, `summary` and `value` average over the runs with 95 % intervals.
    """

    def __init__(self, scenario: dict[str, Any] | _core.Resolved, info: list[dict[str, Any]], tables: dict[str, pl.DataFrame]) -> None:
        self._scenario = scenario
        self.info = info
        self._tables = tables
        self.captures: list[Path] = []
        """Files with packets that the runs wrote."""

    @cached_property
    def scenario(self) -> dict[str, Any]:
        """The scenario with every parameter filled in, as `resolve` has it."""
        tree: dict[str, Any] = self._scenario if isinstance(self._scenario, dict) else json.loads(self._scenario.json())
        return tree

    @classmethod
    def from_runs(cls, scenario: dict[str, Any] | _core.Resolved, runs: list[Any]) -> Result:
        """Collects what `_core.run` returned."""
        from .tables import collect

        facts = ("seed", "fingerprint", "events", "packet_hops", "cpu_s", "setup_s", "peak_packets")
        info = [{**{k: getattr(r, k) for k in facts}, "warnings": [Doubt(text, code) for code, text in r.warnings]} for r in runs]
        return cls(scenario, info, collect(runs))

    @property
    def flows(self) -> pl.DataFrame:
        """One row per run and flow."""
        return self._tables["flows"]

    @property
    def links(self) -> pl.DataFrame:
        """One row per run and direction of a link."""
        return self._tables["links"]

    @property
    def network(self) -> pl.DataFrame:
        """One row per run."""
        return self._tables["network"]

    @property
    def flow_series(self) -> pl.DataFrame:
        """Time series of the flows."""
        return self._tables["flow_series"]

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
        """A hash of the trajectory of each run: equal if and only if the runs are."""
        return [r["fingerprint"] for r in self.info]

    @property
    def warnings(self) -> list[Doubt]:
        """What to check before trusting the numbers, each once."""
        told = dict.fromkeys(w if isinstance(w, Doubt) else Doubt(w) for r in self.info for w in r["warnings"])
        if len(self.info) > 1 and len(set(self.fingerprints)) == 1:
            told[_NO_CHANCE] = None
        return list(told)

    def table(self, name: str) -> pl.DataFrame:
        """A table by name: flows, links, network, flow_series or link_series."""
        if name not in self._tables:
            raise suggest(name, list(self._tables), "table")
        return self._tables[name]

    def to_arrow(self, table: str = "flows") -> pa.Table:
        """A table as a pyarrow Table (needs the extra `arrow`)."""
        need("pyarrow", "arrow")
        return self.table(table).to_arrow()

    def to_pandas(self, table: str = "flows") -> pd.DataFrame:
        """A table as a pandas DataFrame (needs the extra `pandas`)."""
        need("pyarrow", "pandas")
        need("pandas", "pandas")
        return self.table(table).to_pandas()

    def summary(self, table: str = "flows") -> pl.DataFrame:
        """Long form: one row per flow, link or network and metric, with mean, low, high, sd, n and unit."""
        from .tables import summary_frame

        return summary_frame(self, table)

    def mean(self, table: str = "flows") -> pl.DataFrame:
        """Wide form: one row per flow, link or network; for each metric its mean, and `_low` and `_high` with several runs."""
        from .tables import mean_frame

        return mean_frame(self, table)

    def value(self, metric: str, *, flow: str | None = None, link: str | None = None) -> Interval:
        """One metric over all runs: of a flow, of a link's direction, or of the whole network."""
        import polars as pl

        name = "flows" if flow is not None else "links" if link is not None else "network"
        frame = self.table(name)
        if name != "network":
            key, label = KEYS[name], flow if flow is not None else link
            frame = frame.filter(pl.col(key) == label)
            if frame.is_empty():
                raise suggest(str(label), self.table(name)[key].unique().to_list(), key)
        if metric in LABELS or metric not in frame.columns:
            raise suggest(metric, [c for c in frame.columns if c not in LABELS], f"metric of {name}")
        return interval(frame[metric].to_list())

    def warmup(self, metric: str, *, flow: str | None = None, link: str | None = None) -> Warmup:
        """How long the start of a time series is not typical yet, by the rule MSER-5, and whether the scenario's own warm-up is as long.

        `metric`: a series such as "queue", "throughput" or "cwnd". The answer has the longest cut over the runs in `seconds`, None if a run
        is too short to tell; printed, it says so in words. Needs a scenario with a sampling step. See `fairlane.stats.mser5`.
        """
        from .warmup import warmup

        return warmup(self, metric, flow=flow, link=link)

    def plot(self, what: str = "cwnd", *, path: str | PathLike[str] | None = None, **options: Any) -> Figure:
        """A figure of a time series ("cwnd", "queue", "throughput"...) or a metric ("goodput", "delay_mean"...).

        `path` saves it as SVG, PNG or PDF, by its ending. Options: flow= or link= (a name or names), seed=.
        """
        from ..look.figures import save_figure
        from .plot import draw

        figure = draw(self, what, **options)
        if path is not None:
            save_figure(figure, path)
        return figure

    def document(self) -> dict[str, Any]:
        """The document that `fairlane run --json` prints."""
        from .document import run_document

        return run_document(self)

    def to_json(self) -> str:
        """`document` as text."""
        return json.dumps(self.document(), indent=1, ensure_ascii=False, allow_nan=False)

    def save(self, folder: str | PathLike[str], *, force: bool = False) -> Path:
        """Writes a result folder: scenario, tables in Parquet, manifest. An existing one is replaced only with `force`."""
        from .folder import save

        return save(self, folder, force=force)

    def __repr__(self) -> str:
        runs = len(self.info)
        return f"Result({runs} run{'s' * (runs != 1)}, {self.flows.height // runs} flows, {self.links.height // runs} links)"


def load(folder: str | PathLike[str]) -> Result:
    """Reads a result folder back."""
    from .folder import load as read

    return read(folder)
