"""Tables of a comparison for the page and the terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..base.format import quantity
from ..base.metrics import unit
from ..stats import Interval, interval
from .differences import Measure, measures

if TYPE_CHECKING:
    from .data import Compared, ComparisonData

COLUMNS: tuple[tuple[str, Callable[[Compared], Interval], str], ...] = (
    ("utilisation", lambda q: q.of_link("utilisation"), "%"),
    ("queue length (mean)", lambda q: q.of_link("queue_mean"), "packets"),
    ("queueing delay (mean)", lambda q: q.of_link("sojourn_mean"), "s"),
    ("drops", lambda q: q.of_link("drops"), "packets"),
    ("ECN marks", lambda q: q.of_link("marks"), "packets"),
)
"""Columns of the link: heading, value, unit."""

GROUP_COLUMNS = (
    ("goodput", "goodput_sum"), ("Jain's fairness index", "jain"), ("delay (mean)", "delay_mean"), ("delay (p95)", "delay_p95"),
    ("packet loss", "loss"),
)  # fmt: skip
"""Columns of a group of flows: heading, metric."""


def cell(iv: Interval, of: str) -> str:
    """Formats a number with its interval and unit."""
    if of == "%":
        iv = iv.times(100)
    return quantity(iv, of)


def what(c: ComparisonData) -> str:
    """Returns the names of the varied factors."""
    return ", ".join([f.name for f in c.factors if len(f.levels) > 1] or [f.name for f in c.factors])


def link_table(c: ComparisonData) -> tuple[list[str], list[list[str]]]:
    """Returns headings and rows of the link table, one row per setting."""
    kept = [col for col in COLUMNS if col[0] != "ECN marks" or any(col[1](q).mean for q in c.settings)]
    # A group has its index in its own table.
    several = [s for s in c.competing if len(s.groups) > 1]
    heads = [what(c), *(h for h, _, _ in kept), *(f"Jain's fairness index of {s.label}" for s in several)]
    rows = [
        [q.label, *(cell(value(q), of) for _, value, of in kept), *(cell(q.of_group(s.groups, "jain"), "1") for s in several)]
        for q in c.settings
    ]
    return heads, rows


def measure_table(c: ComparisonData) -> tuple[list[str], list[list[str]]]:
    """Returns headings and rows of the compared measures, one row per setting."""
    own = measures(c)

    def text(m: Measure, q: Compared) -> str:
        return cell(interval(m.values(q), within=m.within), "%" if m.percent else m.unit)

    return [what(c), *(m.title for m in own)], [[q.label, *(text(m, q) for m in own)] for q in c.settings]


def group_table(c: ComparisonData, group: str) -> tuple[list[str], list[list[str]]]:
    """Returns headings and rows of a group of flows: total goodput, and means of other metrics."""
    one = c.settings[0].flows(group)["flow"].n_unique() == 1
    kept = [(h, m) for h, m in GROUP_COLUMNS if not (one and m == "jain")]

    def text(q: Compared, metric: str) -> str:
        return cell(q.of_group(group, metric), "%" if metric == "loss" else unit(metric.removesuffix("_sum")))

    return [what(c), *(h for h, _ in kept)], [[q.label, *(text(q, m) for _, m in kept)] for q in c.settings]
