"""What a comparison found: each queue with all its runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import polars as pl

from ..base.choices import Choice
from ..base.metrics import jain
from ..errors import Doubt, suggest
from ..runs.result import Result
from ..stats import Interval, interval
from .ellipse import Ellipse, ellipse

if TYPE_CHECKING:
    from matplotlib.figure import Figure


GROUP_METRICS = ("goodput_sum", "jain", "delay_mean", "delay_p95", "loss")
"""What is told about each group of flows; see `Compared.of_group`."""

LINK_METRICS = ("utilisation", "queue_mean", "sojourn_mean", "sojourn_p95", "drops", "marks")
"""What is told about the link."""


@dataclass(frozen=True)
class Compared:
    """One queue of a comparison: all its runs."""

    choice: Choice
    result: Result
    link: str
    own_sample: bool = False
    """Whether the scenario, not `compare`, chose the step of the time series."""

    @property
    def warnings(self) -> list[Doubt]:
        """What to check before trusting the numbers."""
        # Nobody asked for the series that the picture is drawn from, so how coarse they are is no news.
        return [w for w in self.result.warnings if self.own_sample or w.code != "coarse-sampling"]

    @property
    def label(self) -> str:
        """The queue as it was asked for."""
        return self.choice.label

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
        per_run: list[float] = []
        for _, run in self.flows(group).group_by("seed", maintain_order=True):
            values = run["goodput" if metric in ("goodput_sum", "jain") else metric].to_list()
            kept = [v for v in values if v is not None and math.isfinite(v)]
            per_run.append(math.fsum(kept) if metric == "goodput_sum" else jain(kept) if metric == "jain" else _mean(kept))
        return interval(per_run)

    def jain(self) -> Interval:
        """Jain's index of the goodputs of all flows."""
        return self.result.value("jain")

    def of_link(self, metric: str) -> Interval:
        """A metric of the link whose queue is compared."""
        return self.result.value(metric, link=self.link)

    def series(self) -> tuple[list[float], list[float]]:
        """Times and packets waiting, of the first seed."""
        frame = self.result.link_series
        if frame.is_empty():
            return [], []
        frame = frame.filter((pl.col("link") == self.link) & (pl.col("seed") == self.result.seeds[0]))
        return frame["time"].to_list(), frame["queue"].cast(pl.Float64).to_list()


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


class Comparison:
    """What `compare` returns: a `Compared` for each queue, in the order asked for."""

    def __init__(self, queues: list[Compared], link: str) -> None:
        self.queues = queues
        self.link = link

    @property
    def seeds(self) -> list[int]:
        """The seed of each run; all queues have the same."""
        return self.queues[0].result.seeds

    @property
    def warnings(self) -> list[Doubt]:
        """What to check before trusting the numbers, each with its queue."""
        return [Doubt(f"{q.label}: {w}", w.code) for q in self.queues for w in q.warnings]

    def groups(self) -> list[str]:
        """The groups of flows."""
        return self.queues[0].groups()

    def queue(self, label: str) -> Compared:
        """One queue by how it was asked for."""
        for q in self.queues:
            if q.label == label:
                return q
        raise suggest(label, [q.label for q in self.queues], "queue of this comparison")

    def table(self) -> pl.DataFrame:
        """Long form: one row per queue, group of flows ("" for the link and the whole network) and metric."""
        rows = [
            {"queue": q.label, "group": group, "metric": metric, **iv.as_dict()} for q in self.queues for group, metric, iv in _headline(q)
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

    def __repr__(self) -> str:
        return f"Comparison({', '.join(q.label for q in self.queues)}; {len(self.seeds)} runs each)"


def _headline(q: Compared) -> list[tuple[str, str, Interval]]:
    rows = [("", "jain", q.jain())]
    rows += [("", m, q.of_link(m)) for m in LINK_METRICS]
    for g in q.groups():
        rows += [(g, m, q.of_group(g, m)) for m in GROUP_METRICS]
    return rows
