"""The tables of a comparison, for the page and the terminal."""

from __future__ import annotations

from collections.abc import Callable

from ..base.format import quantity
from ..base.metrics import unit
from ..stats import Interval
from .result import Compared, Comparison

COLUMNS: tuple[tuple[str, Callable[[Compared], Interval], str], ...] = (
    ("Jain", lambda q: q.jain(), "1"),
    ("utilisation", lambda q: q.of_link("utilisation"), "%"),
    ("queue", lambda q: q.of_link("queue_mean"), "packets"),
    ("wait", lambda q: q.of_link("sojourn_mean"), "s"),
    ("drops", lambda q: q.of_link("drops"), "packets"),
    ("marks", lambda q: q.of_link("marks"), "packets"),
)
"""What is told about the link and all flows: heading, value, unit."""

GROUP_COLUMNS = (("goodput", "goodput_sum"), ("Jain", "jain"), ("delay", "delay_mean"), ("delay p95", "delay_p95"), ("loss", "loss"))
"""What is told about a group of flows."""


def cell(iv: Interval, of: str) -> str:
    """A number with its interval and unit."""
    if of == "%":
        iv = iv.times(100)
    return quantity(iv, of)


def what(c: Comparison) -> str:
    """What a row is: the factors by which settings differ."""
    return ", ".join([f.name for f in c.factors if len(f.levels) > 1] or [f.name for f in c.factors])


def link_table(c: Comparison) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: one row a setting."""
    kept = [col for col in COLUMNS if col[0] != "marks" or any(col[1](q).mean for q in c.settings)]
    return [what(c), *(h for h, _, _ in kept)], [[q.label, *(cell(value(q), of) for _, value, of in kept)] for q in c.settings]


def group_table(c: Comparison, group: str) -> tuple[list[str], list[list[str]]]:
    """Headings and rows for one group of flows: sums of the goodput, means of the rest."""
    one = c.settings[0].flows(group)["flow"].n_unique() == 1
    kept = [(h, m) for h, m in GROUP_COLUMNS if not (one and m == "jain")]

    def text(q: Compared, metric: str) -> str:
        return cell(q.of_group(group, metric), "%" if metric == "loss" else unit(metric.removesuffix("_sum")))

    return [what(c), *(h for h, _ in kept)], [[q.label, *(text(q, m) for _, m in kept)] for q in c.settings]
