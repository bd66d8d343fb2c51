"""Data of the runs of a scenario: tables, means, warnings and fingerprints."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from .. import _core
from ..base.extras import need
from ..base.metrics import unit, within
from ..errors import FairlaneError, ScenarioWarning, UnknownNameError, suggest
from ..stats import Interval, interval

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from .limits import LimitReport

LABELS = ("seed", "flow", "group", "link", "from", "to", "transport")
KEYS = {"flows": "flow", "groups": "group", "links": "link"}
_NO_CHANCE = ScenarioWarning("all runs are identical: nothing in this scenario is random, so the intervals have no meaning", "same-runs")


class ResultData:
    """Tables, means and facts of all replications of a scenario; `Result` adds figures, reports and folders.

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
        self.logs: dict[tuple[int, str], bytes] = {}
        """Logs of real transport stacks, by seed and by name of the flow and the end: `app.sender`."""
        self._why: list[str | None] = [None]
        self.trace_folder: Path | None = None
        """Folder of the event trace, with a folder per seed; None if no events were recorded."""

    @cached_property
    def scenario(self) -> dict[str, Any]:
        """Scenario with every parameter filled in, as `resolve` returns it."""
        tree: dict[str, Any] = self._scenario if isinstance(self._scenario, dict) else json.loads(self._scenario.json())
        if "expanded" not in tree and self.rows_of == "groups":  # a folder keeps no list of a million flows
            tree = json.loads(_core.resolve(json.dumps(tree), "scenario.json", "json", []).json())
        return tree

    @cached_property
    def description(self) -> dict[str, Any]:
        """`scenario` without its lists of nodes, links and flows, which may be long."""
        tree = self._scenario if isinstance(self._scenario, dict) else json.loads(self._scenario.json(expanded=False))
        return {k: v for k, v in tree.items() if k not in ("expanded", "warnings")}

    @classmethod
    def from_runs(cls, scenario: dict[str, Any] | _core.Resolved, runs: list[_core.Run], seeds: Sequence[int] | None = None) -> Self:
        """Builds a result from the runs that `_core.run` returned; `seeds`: numbers to use instead of their seeds."""
        from .tables import Tables

        numbers = [r.seed for r in runs] if seeds is None else list(seeds)
        facts = ("fingerprint", "events", "packet_hops", "cpu_s", "setup_s", "peak_packets")
        info = [
            {"seed": n, **{k: getattr(r, k) for k in facts}, "warnings": [ScenarioWarning(text, code) for code, text in r.warnings]}
            for n, r in zip(numbers, runs, strict=True)
        ]
        result = cls(scenario, info, Tables(runs, numbers))
        result._why = [r.why() for r in runs]
        return result

    @cached_property
    def rows_of(self) -> str:
        """Kind of row that the result has: "flows" or "groups", as the scenario says (`report`)."""
        return "groups" if "groups" in list(self._tables) else "flows"

    def _having(self, table: str) -> Mapping[str, pl.DataFrame]:
        """Returns the tables; an error if this one is missing."""
        from .tables import missing_table

        if why := missing_table(table, self.rows_of):
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
        if self.trace_folder is None:
            raise FairlaneError("this result has no recorded events: run with trace=True, or fairlane run FILE --trace -o DIR")
        from .trace import scan

        return scan(self.trace_folder)

    def why(self) -> LimitReport:
        """Returns what limited each flow, as shares of its time that add up to 1, and which flows filled each queue.

        Needs `run(..., why=True)`, `fairlane run FILE --why` or `fairlane.start(..., why=True)`; result folders store it.
        """
        from .limits import limit_report

        return limit_report(self._why)

    def to_arrow(self, table: str | None = None) -> pa.Table:
        """Returns a table, by default that of flows or groups, as a pyarrow Table (needs the extra `arrow`)."""
        need("arrow")
        return self.table(table or self.rows_of).to_arrow()

    def to_pandas(self, table: str | None = None) -> pd.DataFrame:
        """Returns a table, by default that of flows or groups, as a pandas DataFrame (needs the extra `pandas`)."""
        need("pandas")
        return self.table(table or self.rows_of).to_pandas()

    def summary(self, table: str | None = None) -> pl.DataFrame:
        """Returns the means in long form: one row per flow (or group), link or network and metric, with low, high, sd, n and unit."""
        from .tables import summary_frame

        return summary_frame(self, table or self.rows_of)

    def mean(self, table: str | None = None) -> pl.DataFrame:
        """Returns the means in wide form: one row per flow (or group), link or network, with `_low` and `_high` for several runs."""
        from .tables import mean_frame

        return mean_frame(self, table or self.rows_of)

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
            return interval((x for run in runs for x in run[metric]), within=within(metric), unit=unit(metric))
        own = (x for run in runs for of, x in zip(run[KEYS[name]], run[metric], strict=True) if of == label)
        return interval(own, within=within(metric), unit=unit(metric))
