"""Levels, combinations and numbers of a study as people read them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..base.format import quantity, scale
from ..stats import Interval
from .settings import SETTING

if TYPE_CHECKING:
    from .model import Combination, Factor, Label, Selector, StudySpec
    from .tables import StudyTables

SHARE_OF_VARIANCE = "share of the variance between settings that each accounts for alone"
PERCENT = ("utilisation", "loss")
"""Metrics that are shares and read better as percent."""


def label(x: Label, unit: str = "") -> str:
    """A level's label with its unit.

    >>> label(1e6, "bit/s"), label(0.02, "s"), label("red"), label(True), label(0.25)
    ('1 Mbit/s', '20 ms', 'red', 'true', '0.25')
    """
    if isinstance(x, bool):
        return str(x).lower()
    if isinstance(x, str):
        return x
    factor, name = scale(unit, x) if unit else (1.0, "")
    return f"{x * factor:.6g} {name}".rstrip()


def level(factor: Factor, x: Label) -> str:
    """A level of a factor: its label with its unit, or all that varies together."""
    if len(factor.paths) > 1 and factor.name != SETTING:
        for found in factor.levels:
            if found.text and (found.label == x or str(found.label) == x):
                return found.text
    return label(x, factor.unit)


def combination(spec: StudySpec, p: Combination) -> str:
    """A combination by its levels: "queue red, rate 1 Mbit/s"."""
    return ", ".join(f"{f.name} {level(f, p.labels[f.name])}" for f in spec.factors)


def cell(result: StudyTables, metric: str, iv: Interval) -> str:
    """A mean with its interval and unit."""
    s = result.metric(metric)
    if s.metric in PERCENT and s.aggregate in ("mean", "min", "max"):
        return quantity(iv.times(100), "%")
    return quantity(iv, result.unit(s.label))


def count(n: int, word: str, many: str = "") -> str:
    """A number of things.

    >>> count(1, "run"), count(2, "run"), count(0, "replication")
    ('1 run', '2 runs', '0 replications')
    """
    return f"{n} {word if n == 1 else many or word + 's'}"


def alike(text: str) -> str:
    """A message without its numbers and names in backquotes: messages that differ in those only are one.

    >>> alike("flow `tcp.1` is measured for 292.9ms"), alike("flow `tcp` is measured for 3s")
    ('flow `#` is measured for #', 'flow `#` is measured for #')
    """
    return re.sub(r"\d[\d.]*(e[+-]?\d+)?\s?(ps|ns|us|ms|s|min|h)?\b", "#", re.sub(r"`[^`]*`", "`#`", text))


def short(labels: list[str]) -> dict[str, str]:
    """The shortest endings of dotted labels that still tell them apart.

    >>> short(["links.a.drops", "links.b.drops", "network.jain"])
    {'links.a.drops': 'a.drops', 'links.b.drops': 'b.drops', 'network.jain': 'jain'}
    """
    parts = {x: x.split(".") for x in labels}
    out = {}
    for x in labels:
        for k in range(1, len(parts[x]) + 1):
            tail = parts[x][-k:]
            # An ending such as "sum" says nothing without what is added up.
            alone = k == 1 and tail[0] in ("mean", "sum", "min", "max") and len(parts[x]) > 1
            if not alone and sum(p[-k:] == tail for p in parts.values()) == 1:
                break
        out[x] = ".".join(tail)
    return out


def metric(s: Selector) -> str:
    """A metric in words, for axes and sentences: its label if it was given one, else what it is of and what it is.

    >>> from fairlane.study import selector
    >>> metric(selector("links.bottleneck.queue_mean")), metric(selector("flows.tcp.goodput.sum")), metric(selector("network.jain"))
    ('bottleneck queue mean', 'tcp goodput, sum', 'jain')
    >>> metric(selector("flows.*.delay_p95")), metric(selector("flows.web.loss", "lost"))
    ('delay p95 of all flows', 'lost')
    """
    tail = s.text.rsplit(".", 1)[-1]
    if s.label != s.text and not s.text.endswith(s.label):
        return s.label
    name = s.metric.replace("_", " ")
    whose = "" if s.table == "network" else f" of all {s.table}" if s.name == "*" else s.name
    text = f"{name}{whose}" if whose.startswith(" ") else f"{whose} {name}".strip()
    return f"{text}, {s.aggregate}" if tail == s.aggregate else text
