"""Metrics of a comparison by name, such as `flows.upload.delay_p95` or `links.*.loss_synchronisation`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from ..base.metrics import AGGREGATES, jain, metrics_in, unit, within
from ..base.paths import split
from ..errors import FairlaneError, short, suggest
from ..runs.headings import heading

if TYPE_CHECKING:
    from ..runs.result import Result
    from ..stats import Range

TABLES = ("flows", "links", "network")
PERCENT = ("utilisation", "loss", "loss_synchronisation")
"""Metrics that are shown in percent."""
_LESS = (
    "delay", "sojourn", "queue", "loss", "lost", "drops", "marks", "retransmits", "timeouts", "rtt", "srtt", "reordered", "completion",
    "transaction_time", "jitter",
)  # fmt: skip
"""Beginnings of names of metrics of which less is better."""
_KEYS = {"flows": "flow", "links": "link"}


@dataclass(frozen=True)
class Metric:
    """A metric of one group of flows, flow or link, of the network, or an aggregate over several."""

    table: str
    name: str
    """Group of flows, flow or link; "*" for all; "" for the network."""
    metric: str
    how: str = "mean"
    """Aggregate over the flows or links."""

    @property
    def words(self) -> str:
        """Heading without the name of the flows or the link."""
        lead = {"mean": "", "jain": "Jain's index of "}.get(self.how, f"{self.how} of ")
        return lead + heading(self.metric)

    @property
    def unit(self) -> str:
        """Unit of the values."""
        return "1" if self.how == "jain" or self.metric in PERCENT else unit(self.metric)

    @property
    def percent(self) -> bool:
        """True if values are shown in percent."""
        return self.metric in PERCENT and self.how != "jain"

    @property
    def more(self) -> bool:
        """True if larger values are better."""
        return self.how == "jain" or not self.metric.startswith(_LESS)

    @property
    def within(self) -> Range:
        """Smallest and largest possible value."""
        return within(self.metric, self.how)

    def per_run(self, result: Result) -> list[float | None]:
        """Returns the metric in each run, in the order of the seeds; None without a value."""
        frame = result.table(self.table)
        if self.metric not in frame.columns:
            raise suggest(self.metric, [m.name for m in metrics_in(self.table)], f"metric of {self.table}")
        if self.name not in ("", "*"):
            own = _names(self.table, result.scenario).get(self.name, ())
            frame = frame.filter(pl.col(_KEYS[self.table]).is_in(list(own)))
        fair = "fair_share" if self.how == "jain" and "fair_share" in frame.columns else None
        found: dict[int, float | None] = dict.fromkeys(result.seeds)
        for (seed,), run in frame.group_by("seed", maintain_order=True):
            kept = run.filter(pl.col(self.metric).cast(pl.Float64).is_finite())
            values = kept[self.metric].cast(pl.Float64).to_list()
            x = _formed(values, self.how, None if fair is None else kept[fair].to_list())
            found[int(str(seed))] = x if math.isfinite(x) else None
        return list(found.values())


def _formed(values: list[float], how: str, fair: list[float] | None) -> float:
    if not values:
        return math.nan
    if how == "jain":
        return jain(values, fair)
    if how in ("min", "max"):
        return min(values) if how == "min" else max(values)
    return math.fsum(values) / (1 if how == "sum" else len(values))


def read_metrics(texts: str | Iterable[str], scenario: Mapping[str, Any]) -> list[Metric]:
    """Reads names of metrics; `*` stands for each group of flows or each link, with an aggregate for all of them together.

    `scenario`: resolved, with its flows and links.
    """
    out: list[Metric] = []
    for text in [texts] if isinstance(texts, str) else texts:
        out += _read(text.strip(), scenario)
    if not out:
        raise FairlaneError("name at least one metric, such as flows.tcp.delay_p95")
    return list(dict.fromkeys(out))


def _read(text: str, scenario: Mapping[str, Any]) -> list[Metric]:
    parts = list((split(text) if '"' in text or "'" in text else None) or text.split("."))
    table = parts[0]
    if table not in TABLES:
        raise suggest(table, list(TABLES), f"table in {short(text)}")
    how = parts.pop() if len(parts) > 3 and parts[-1] in AGGREGATES else ""
    if not all(parts) or len(parts) < (2 if table == "network" else 3) or (table == "network" and len(parts) > 2):
        example = {"network": "network.loss", "links": "links.*.utilisation", "flows": "flows.*.delay_p95"}[table]
        raise FairlaneError(f"cannot read metric {short(text)}: write a name such as {example}")
    metric, name = parts[-1], ".".join(parts[1:-1])
    known = [m.name for m in metrics_in(table)]
    if metric not in known and not metric.startswith(("drops_", "marks_")):
        raise suggest(metric, known, f"metric of {table}")
    if table == "network":
        return [Metric(table, "", metric)]
    names = _names(table, scenario)
    if name == "*" and how:
        return [Metric(table, "*", metric, how)]
    if name == "*":
        return [Metric(table, g, metric) for g in (scenario["flows"] if table == "flows" else names)]
    if name not in names:
        raise suggest(name, list(names), "flow or group of flows" if table == "flows" else "link")
    return [Metric(table, name, metric, how or "mean")]


def _names(table: str, scenario: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Returns the names that a selector may have, each with its rows."""
    if table == "links":
        return {x["name"]: (x["name"],) for x in scenario["expanded"]["links"]}
    flows = scenario["expanded"]["flows"]
    out: dict[str, tuple[str, ...]] = {f["name"]: (f["name"],) for f in flows}
    for g in scenario["flows"]:
        out[g] = tuple(f["name"] for f in flows if f["group"] == g)
    return out
