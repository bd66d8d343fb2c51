"""What a comparison found: each setting with all its runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import polars as pl

from ..base.metrics import jain, within
from ..errors import Doubt, suggest
from ..runs.result import Result
from ..runs.tables import series, series_names
from ..stats import Interval, interval
from ..stats.ellipse import Ellipse, ellipse

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .differences import Difference
    from .factors import Factor

GROUP_METRICS = ("goodput_sum", "jain", "delay_mean", "delay_p95", "loss")
"""What is told about each group of flows; see `Compared.of_group`."""

_MOST_NAMED = 4
"""Settings that a warning names."""

LINK_METRICS = ("utilisation", "queue_mean", "sojourn_mean", "sojourn_p95", "drops", "marks")
"""What is told about the link."""


@dataclass(frozen=True)
class Compared:
    """One setting of a comparison: all its runs."""

    label: str
    """The levels as they were asked for: those by which settings differ."""
    levels: Mapping[str, str]
    """The level of each factor."""
    result: Result
    link: str
    own_sample: bool = False
    """Whether the scenario, not `compare`, chose the step of the time series."""
    _seen: dict[tuple[str, str], list[float | None]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def warnings(self) -> list[Doubt]:
        """What to check before trusting the numbers."""
        # Nobody asked for the series that the picture is drawn from, so how coarse they are is no news.
        return [w for w in self.result.warnings if self.own_sample or w.code != "coarse-sampling"]

    def _repr_html_(self) -> str:
        return self.result._repr_html_()

    def groups(self) -> list[str]:
        """The groups of flows, as the scenario names them."""
        return list(self.result.scenario["flows"])

    def flows(self, group: str) -> pl.DataFrame:
        """One row per run and flow of a group."""
        members = [f["name"] for f in self.result.scenario["expanded"]["flows"] if f["group"] == group]
        return self.result.flows.filter(pl.col("flow").is_in(members))

    def ellipse(self, group: str) -> Ellipse | None:
        """Delay and throughput of the flows of a group, one point per run and flow."""
        frame = self.flows(group)
        return ellipse(zip(frame["delay_mean"].to_list(), frame["throughput"].to_list(), strict=True))

    def of_group(self, group: str, metric: str) -> Interval:
        """A metric of a group of flows: `goodput_sum` adds the flows up, `jain` is Jain's index among them, others are means over them.

        A flow without a value (the delay of one that delivered nothing) does not count in the mean.
        """
        of = "goodput" if metric in ("goodput_sum", "jain") else metric
        how = "sum" if metric == "goodput_sum" else "jain" if metric == "jain" else "mean"
        return interval(self.per_run(group, metric), within=within(of, how))

    def per_run(self, group: str, metric: str) -> list[float | None]:
        """The same as one value a run, in the order of the seeds; None without a value. With "" as group: a metric of the network."""
        key = (group, metric)
        if key not in self._seen:
            self._seen[key] = [None if x is None or not math.isfinite(x) else x for x in self._per_run(group, metric)]
        return self._seen[key]

    def _per_run(self, group: str, metric: str) -> list[float]:
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
        """Jain's index of the goodputs of all flows."""
        return self.result.value("jain")

    def of_link(self, metric: str) -> Interval:
        """A metric of the link that is told about."""
        return self.result.value(metric, link=self.link)

    def series(self) -> tuple[list[float], list[float]]:
        """Times and packets waiting, of the first seed."""
        if not series_names(self.result, "link_series"):
            return [], []
        frame = series(self.result, "link_series", "queue").filter((pl.col("link") == self.link) & (pl.col("seed") == self.result.seeds[0]))
        return frame["time"].to_list(), frame["queue"].cast(pl.Float64).to_list()


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


class Comparison:
    """What `compare` returns: a `Compared` for each setting, in the order asked for."""

    def __init__(self, settings: list[Compared], link: str, factors: list[Factor], margin: str, command: str) -> None:
        self.settings = settings
        self.link = link
        """The link whose queue is compared, or else the one that is told about."""
        self.factors = factors
        """What is varied."""
        self.margin = margin
        """What does not matter, as a share: equivalence is shown within it."""
        self.command = command
        """What makes it again."""

    @property
    def seeds(self) -> list[int]:
        """The seed of each run; all settings have the same."""
        return self.settings[0].result.seeds

    @property
    def warnings(self) -> list[Doubt]:
        """What to check before trusting the numbers, each once, with the settings that it is about."""
        of: dict[tuple[str, str], list[str]] = {}
        for q in self.settings:
            for w in q.warnings:
                of.setdefault((str(w), w.code), []).append(q.label)
        return [Doubt(f"{self._where(labels)}: {text}", code) for (text, code), labels in of.items()]

    def _where(self, labels: list[str]) -> str:
        """Settings in few words."""
        if len(labels) == len(self.settings) > 1:
            return "in all settings"
        more = len(labels) - _MOST_NAMED
        return "; ".join(labels[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")

    def groups(self) -> list[str]:
        """The groups of flows."""
        return self.settings[0].groups()

    def setting(self, label: str) -> Compared:
        """One setting by its label: its levels as they were asked for, with ", " between them."""
        for q in self.settings:
            if q.label == label:
                return q
        raise suggest(label, [q.label for q in self.settings], "setting of this comparison")

    @cached_property
    def _differences(self) -> list[Difference]:
        from .differences import differences

        return differences(self)

    def differences(self) -> pl.DataFrame:
        """Every two levels of each factor, by goodput, delay and loss of each group of flows and by fairness: `level` minus `against`.

        Paired by seed, with the 95 % interval of this pair alone (`low`, `high`), and as `percent` of the mean of `against`; with several
        factors, of means over the levels of the others. `p_holm` (no difference) and `p_equivalent` (the margin or more) are corrected for
        all rows together. `finding`: more, less, equivalent or undecided.
        """
        rows = []
        for d in self._differences:
            told = d.as_dict()
            e, percent = told.pop("difference"), told.pop("percent")
            rows.append(
                {**told, "difference": e["value"], "low": e["low"], "high": e["high"], "n": e["n"]}
                | {f"percent{k and '_' + k}": percent[k or "value"] for k in ("", "low", "high")}
            )
        texts = ("factor", "group", "metric", "level", "against", "finding")
        floats = ("difference", "low", "high", "percent", "percent_low", "percent_high", "p", "p_holm", "p_equivalent")
        order = [*texts[:-1], *floats[:-3], "n", *floats[-3:], "finding"]
        schema = {k: pl.String if k in texts else pl.Int64 if k == "n" else pl.Float64 for k in order}
        return pl.DataFrame(rows, schema=schema, orient="row") if not rows else pl.DataFrame(rows, schema_overrides=schema).select(order)

    def sentences(self) -> list[str]:
        """Who has more of what, by how much and how sure that is; what was not shown is not called equal."""
        from .differences import sentences

        return sentences(self, self._differences)

    def table(self) -> pl.DataFrame:
        """Long form: one row per setting, group of flows ("" for the link and the whole network) and metric; a column for each factor."""
        rows = [
            {"setting": q.label, **q.levels, "group": group, "metric": metric, **iv.as_dict()}
            for q in self.settings
            for group, metric, iv in _headline(q)
        ]
        return pl.DataFrame(rows, schema_overrides=dict.fromkeys(("mean", "low", "high", "sd"), pl.Float64), infer_schema_length=None)

    def plot(self, what: str = "ellipses", *, path: str | PathLike[str] | None = None) -> Figure:
        """A figure: "ellipses", "queue" (over time) or "jain"; `path` saves it as SVG, PNG or PDF."""
        from .plots import picture

        figure = picture(self, what)
        if path is not None:
            from ..look.figures import save_figure

            save_figure(figure, path)
        return figure

    def page(self) -> str:
        """One HTML page without any link to the network."""
        from .page import page

        return page(self)

    def document(self) -> dict[str, Any]:
        """The document that `fairlane compare --json` prints."""
        from .document import compare_document

        return compare_document(self)

    def _repr_html_(self) -> str:
        from .html import comparison_html

        return comparison_html(self)

    def __repr__(self) -> str:
        return f"Comparison({'; '.join(q.label for q in self.settings)}; {len(self.seeds)} runs each)"


def _headline(q: Compared) -> list[tuple[str, str, Interval]]:
    rows = [("", "jain", q.jain())]
    rows += [("", m, q.of_link(m)) for m in LINK_METRICS]
    for g in q.groups():
        rows += [(g, m, q.of_group(g, m)) for m in GROUP_METRICS]
    return rows
