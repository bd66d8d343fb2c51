"""Data of a comparison: each setting with all its runs, and the differences between settings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from ..base.metrics import jain, unit, within
from ..errors import ScenarioWarning, suggest
from ..runs.fairness import competitors
from ..runs.result import Result
from ..runs.tables import series, series_names
from ..stats import Interval, interval
from ..stats.ellipse import Ellipse, ellipse

if TYPE_CHECKING:
    from .differences import Difference
    from .factors import Factor
    from .metrics import Metric

GROUP_METRICS = ("goodput_sum", "jain", "delay_mean", "delay_p95", "loss")
"""Metrics of each group of flows; see `Compared.of_group`."""

_MOST_NAMED = 4
"""Most settings that a warning names."""

LINK_METRICS = ("utilisation", "queue_mean", "sojourn_mean", "sojourn_p95", "drops", "marks")
"""Metrics of the link."""


@dataclass(frozen=True)
class Compared:
    """Setting of a comparison with all its runs."""

    label: str
    """Levels in which settings differ, as written."""
    levels: Mapping[str, str]
    """Level of each factor."""
    result: Result
    link: str
    own_sample: bool = False
    """True if the scenario, not `compare`, set the sampling step."""
    _seen: dict[tuple[str | tuple[str, ...], str], list[float | None]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def warnings(self) -> list[ScenarioWarning]:
        """Warnings of the runs."""
        # The step of series that `compare` itself records needs no warning.
        return [w for w in self.result.warnings if self.own_sample or w.code != "coarse-sampling"]

    def _repr_html_(self) -> str:
        return self.result._repr_html_()

    def groups(self) -> list[str]:
        """Returns the groups of flows of the scenario."""
        return list(self.result.scenario["flows"])

    def flows(self, group: str | tuple[str, ...]) -> pl.DataFrame:
        """Returns the rows of a group or of several, one per run and flow."""
        groups = (group,) if isinstance(group, str) else group
        members = [f["name"] for f in self.result.scenario["expanded"]["flows"] if f["group"] in groups]
        return self.result.flows.filter(pl.col("flow").is_in(members))

    def ellipse(self, group: str) -> Ellipse | None:
        """Returns the ellipse of delay and throughput of a group, from one point per run and flow."""
        frame = self.flows(group)
        return ellipse(zip(frame["delay_mean"].to_list(), frame["throughput"].to_list(), strict=True))

    def of_group(self, group: str | tuple[str, ...], metric: str) -> Interval:
        """Returns a metric of a group of flows: `goodput_sum` is their sum, `jain` Jain's index among them, others are means over them.

        A flow without a value (no delay without delivered data) does not count in the mean.
        """
        of = "goodput" if metric in ("goodput_sum", "jain") else metric
        how = "sum" if metric == "goodput_sum" else "jain" if metric == "jain" else "mean"
        return interval(self.per_run(group, metric), within=within(of, how), unit="1" if how == "jain" else unit(of))

    def per_run(self, group: str | tuple[str, ...], metric: str) -> list[float | None]:
        """Returns a metric of a group or of several ("": the network) in each run, in the order of the seeds; None without a value."""
        key = (group, metric)
        if key not in self._seen:
            self._seen[key] = [None if x is None or not math.isfinite(x) else x for x in self._per_run(group, metric)]
        return self._seen[key]

    def of_metric(self, m: Metric) -> list[float | None]:
        """Returns a named metric in each run, in the order of the seeds; None without a value."""
        key = (m.table, f"{m.name}.{m.metric}.{m.how}")
        if key not in self._seen:
            self._seen[key] = m.per_run(self.result)
        return self._seen[key]

    def _per_run(self, group: str | tuple[str, ...], metric: str) -> list[float]:
        if not group:
            return self.result.network[metric].to_list()
        found: list[float] = []
        for _, run in self.flows(group).group_by("seed", maintain_order=True):
            own = "goodput" if metric in ("goodput_sum", "jain") else metric
            run = run.filter(pl.col(own).is_finite())
            kept = run[own].to_list()
            if metric == "jain":
                found.append(jain(kept, run["fair_share"].to_list() if "fair_share" in run.columns else None))
            else:
                found.append(math.fsum(kept) if metric == "goodput_sum" else _mean(kept))
        return found

    def jain(self) -> Interval:
        """Returns Jain's fairness index of the network: over all flows, each in units of its bottleneck's mean."""
        return self.result.value("jain")

    def of_link(self, metric: str) -> Interval:
        """Returns a metric of the compared link."""
        return self.result.value(metric, link=self.link)

    def series(self) -> tuple[list[float], list[float]]:
        """Returns times and queue lengths of the first seed."""
        if not series_names(self.result, "link_series"):
            return [], []
        frame = series(self.result, "link_series", "queue").filter((pl.col("link") == self.link) & (pl.col("seed") == self.result.seeds[0]))
        return frame["time"].to_list(), frame["queue"].cast(pl.Float64).to_list()


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


@dataclass(frozen=True)
class Competing:
    """Groups whose flows compete."""

    groups: tuple[str, ...]

    @property
    def label(self) -> str:
        """Names of the groups."""
        return " and ".join(self.groups)


class ComparisonData:
    """Settings of a comparison and their differences; `Comparison` adds figures and reports."""

    def __init__(
        self, settings: list[Compared], link: str, factors: list[Factor], margin: str, command: str, metrics: Sequence[Metric] = ()
    ) -> None:
        self.metrics = list(metrics)
        """Metrics that were named; without one, those that are always compared."""
        self.settings = settings
        self.link = link
        """Link whose queue is compared, or whose metrics are reported."""
        self.factors = factors
        """Varied factors."""
        self.margin = margin
        """Equivalence margin as a share."""
        self.command = command
        """Command that reproduces the comparison."""

    @property
    def seeds(self) -> list[int]:
        """Seeds of the runs, equal in all settings."""
        return self.settings[0].result.seeds

    @property
    def warnings(self) -> list[ScenarioWarning]:
        """Warnings, each once, with the settings that they concern."""
        of: dict[tuple[str, str], list[str]] = {}
        for q in self.settings:
            for w in q.warnings:
                of.setdefault((str(w), w.code), []).append(q.label)
        return [ScenarioWarning(f"{self._where(labels)}: {text}", code) for (text, code), labels in of.items()]

    def _where(self, labels: list[str]) -> str:
        """Names settings briefly."""
        if len(labels) == len(self.settings) > 1:
            return "in all settings"
        more = len(labels) - _MOST_NAMED
        return "; ".join(labels[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")

    def groups(self) -> list[str]:
        """Returns the groups of flows."""
        return self.settings[0].groups()

    @cached_property
    def competing(self) -> list[Competing]:
        """Sets of groups whose flows compete in the first setting: one bottleneck, one direction, one kind."""
        sets = competitors(self.settings[0].result)
        return list(dict.fromkeys(Competing(s.groups) for s in sets))

    def setting(self, label: str) -> Compared:
        """Returns a setting by its label: its levels as written, joined by ", "."""
        for q in self.settings:
            if q.label == label:
                return q
        raise suggest(label, [q.label for q in self.settings], "setting of this comparison")

    @cached_property
    def _differences(self) -> list[Difference]:
        from .differences import differences

        return differences(self)

    def differences(self) -> pl.DataFrame:
        """Returns all pairwise differences of levels (`level` minus `against`) in goodput, delay and loss of each group, and in fairness.

        Differences are paired by seed, with their 95 % intervals (`low`, `high`), and in `percent` of the mean of `against`; with several
        factors, of means over the levels of the others. `p_holm` (no difference) and `p_equivalent` (the margin or more) are corrected for
        all rows together. `finding`: more, less, equivalent or inconclusive.
        """
        rows = []
        for d in self._differences:
            row = d.as_dict()
            e, percent = row.pop("difference"), row.pop("percent")
            rows.append(
                {**row, "difference": e["value"], "low": e["low"], "high": e["high"], "n": e["n"]}
                | {f"percent{k and '_' + k}": percent[k or "value"] for k in ("", "low", "high")}
            )
        texts = ("factor", "group", "metric", "level", "against", "finding")
        floats = ("difference", "low", "high", "percent", "percent_low", "percent_high", "p", "p_holm", "p_equivalent")
        order = [*texts[:-1], *floats[:-3], "n", *floats[-3:], "finding"]
        schema = {k: pl.String if k in texts else pl.Int64 if k == "n" else pl.Float64 for k in order}
        return pl.DataFrame(rows, schema=schema, orient="row") if not rows else pl.DataFrame(rows, schema_overrides=schema).select(order)

    def sentences(self) -> list[str]:
        """Returns sentences on the differences with values and intervals; a difference that is not significant is not called equal."""
        from .differences import sentences

        return sentences(self, self._differences)

    def table(self) -> pl.DataFrame:
        """Returns the means in long form: one row per setting, group of flows ("": link and network) and metric, a column per factor."""
        rows = [
            {"setting": q.label, **q.levels, "group": group, "metric": metric, **iv.as_dict()}
            for q in self.settings
            for group, metric, iv in _headline(q)
        ]
        return pl.DataFrame(rows, schema_overrides=dict.fromkeys(("mean", "low", "high", "sd"), pl.Float64), infer_schema_length=None)

    def __repr__(self) -> str:
        return f"Comparison({'; '.join(q.label for q in self.settings)}; {len(self.seeds)} runs each)"


def _headline(q: Compared) -> list[tuple[str, str, Interval]]:
    rows = [("", m, q.of_link(m)) for m in LINK_METRICS]
    for g in q.groups():
        rows += [(g, m, q.of_group(g, m)) for m in GROUP_METRICS]
    return rows
