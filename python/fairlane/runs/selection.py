"""Numbers of a run by name: `network.jain`, `links.bottleneck.utilisation`, `flows.tcp.goodput`, `flows.tcp.goodput.sum`.

A name that is a group of flows stands for all its members: their mean, or what the last word says (`mean`, `sum`, `min`, `max`;
`jain`: Jain's index of fairness among them). `flows.*` and `links.*` stand for all flows, and all directions of links. Where the
scenario has `report = "groups"` there are `groups` instead of `flows`, each with one row: `groups.tcp.goodput`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..base.metrics import AGGREGATES, jain, metrics_in, unit, within
from ..base.paths import split
from ..errors import FairlaneError, short, suggest
from ..stats import Range

TABLES = ("flows", "groups", "links", "network")


@dataclass(frozen=True)
class Selector:
    """A number of a run by name."""

    text: str
    """The metric as written: links.bottleneck.utilisation, flows.tcp.goodput.sum, network.jain."""
    label: str
    """The column of tables."""
    table: str
    name: str
    """A flow, a group of flows, a link's direction; "" for the network."""
    metric: str
    aggregate: str = "mean"
    """Over the members of a group: mean, sum, min, max or jain."""
    place: tuple[str, ...] = ()
    """Keys that lead to it in a study file."""


class Named(Protocol):
    """Names of the rows of a scenario's results."""

    @property
    def groups(self) -> Mapping[str, tuple[str, ...]]:
        """Flow names of each group."""

    @property
    def links(self) -> tuple[str, ...]:
        """Names of all directions of links."""

    @property
    def reports(self) -> str:
        """Whose rows its runs have: "flows" or "groups"."""


@dataclass(frozen=True)
class RowNames:
    """Names of the rows of a resolved scenario."""

    groups: Mapping[str, tuple[str, ...]]
    links: tuple[str, ...]
    reports: str


def members(flows: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Returns the flow names of each group, from pairs of group and name."""
    groups: dict[str, list[str]] = {}
    for group, name in flows:
        groups.setdefault(group, []).append(name)
    return {group: tuple(names) for group, names in groups.items()}


def row_names(resolved: Mapping[str, Any]) -> RowNames:
    """Returns the names in a scenario that `resolve` returned."""
    expanded = resolved["expanded"]
    groups = members((f["group"], f["name"]) for f in expanded["flows"])
    return RowNames(groups, tuple(x["name"] for x in expanded["links"]), resolved.get("report") or "flows")


def selector(text: str, label: str = "") -> Selector:
    """Reads a selector; raises `FairlaneError` with what to write instead.

    >>> s = selector("links.bottleneck.reverse.drops")
    >>> s.table, s.name, s.metric, s.aggregate
    ('links', 'bottleneck.reverse', 'drops', 'mean')
    >>> selector("flows.tcp.goodput.sum", "TCP").aggregate
    'sum'
    >>> selector('links."a b.c".drops').name
    'a b.c'
    """
    text = text.strip()
    parts = list((split(text) if '"' in text or "'" in text else None) or text.split("."))
    table = parts[0]
    if table not in TABLES:
        raise suggest(table, list(TABLES), f"table in {short(text)}")
    aggregate = "mean"
    known = [m.name for m in metrics_in(table)]
    # Groups and links have an index of fairness of their own: `groups.tcp.jain`, `links.bottleneck.jain`.
    own = table == "groups" or (table == "links" and parts[-1] == "jain")
    if len(parts) > 2 and parts[-1] in AGGREGATES and table != "network" and (not own or (len(parts) > 3 and parts[-2] in known)):
        aggregate = parts.pop()
    least = 2 if table == "network" else 3
    if len(parts) < least or (table == "network" and len(parts) > 2) or not all(parts):
        shape = "network.METRIC" if table == "network" else f"{table}.NAME.METRIC"
        raise FairlaneError(f"cannot read metric {short(text)}: write {shape}, such as {_EXAMPLES[table]}")
    metric, name = parts[-1], ".".join(parts[1:-1])
    # Reasons of drops depend on the queue: what begins like one is looked for in the results.
    if metric not in known and not metric.startswith(("drops_", "marks_")):
        raise suggest(metric, known, f"metric of {table}")
    return Selector(text, label or text, table, name, metric, aggregate)


_EXAMPLES = {
    "network": "network.jain",
    "links": "links.bottleneck.utilisation",
    "flows": "flows.tcp.goodput",
    "groups": "groups.tcp.goodput",
}


def unit_of(s: Selector) -> str:
    """The unit of what a selector gives; "1" for an index.

    >>> unit_of(selector("flows.tcp.goodput.sum")), unit_of(selector("flows.tcp.goodput.jain"))
    ('bit/s', '1')
    """
    return "1" if s.aggregate == "jain" else unit(s.metric) or ("packets" if s.metric.startswith(("drops_", "marks_")) else "")


def within_of(s: Selector) -> Range:
    """The least and the largest possible value of what a selector gives.

    >>> within_of(selector("flows.tcp.loss")), within_of(selector("flows.tcp.loss.sum"))
    ((0.0, 1.0), (0.0, inf))
    """
    return within(s.metric, s.aggregate)


def names(s: Selector, scenario: Named) -> tuple[str, ...]:
    """The flows or links that a selector means in a scenario; raises `FairlaneError` if there are none."""
    if s.table == "network":
        return ("",)
    if s.table == "links":
        if s.name == "*":
            return scenario.links
        if s.name in scenario.links:
            return (s.name,)
        raise suggest(s.name, list(scenario.links), f"link in {short(s.text)}")
    if s.table == "groups":
        if scenario.reports == "flows":
            of_flows = s.metric in {m.name for m in metrics_in("flows")}
            written = f"flows.{s.name}.{s.metric}" if of_flows else "a metric of flows"
            raise FairlaneError(
                f'the scenario has a row for each flow and none for groups: write {written}, or report = "groups" in the scenario'
            )
        if s.name == "*":
            return tuple(scenario.groups)
        if s.name in scenario.groups:
            return (s.name,)
        raise suggest(s.name, list(scenario.groups), f"group of flows in {short(s.text)}")
    if scenario.reports == "groups":
        raise FairlaneError(f'the scenario has report = "groups", so no flow has a row: write {_of_group(s, scenario)}')
    members = {f: (f,) for group in scenario.groups.values() for f in group} | dict(scenario.groups)
    if s.name == "*":
        return tuple(f for group in scenario.groups.values() for f in group)
    if s.name not in members:
        raise suggest(s.name, list(members), f"flow in {short(s.text)}")
    return members[s.name]


def _of_group(s: Selector, scenario: Named) -> str:
    """Returns the selector of groups to write instead of a selector of flows."""
    group = next((g for g, flows in scenario.groups.items() if s.name == g or s.name in flows), s.name)
    of_goodput = {"mean": "goodput_mean", "min": "goodput_min", "max": "goodput_max", "jain": "jain"}
    own = of_goodput.get(s.aggregate, s.metric) if s.metric == "goodput" else s.metric
    if own not in {m.name for m in metrics_in("groups")}:
        return f'report = "flows": {s.metric} means nothing of a group'
    return f"groups.{group}.{own}"


FAIR = "fair_share"
"""The metric that flows with the same bottleneck have the same of."""


def parts(s: Selector) -> tuple[str, ...]:
    """The metrics that a selector is formed of: an index of fairness among flows takes their bottlenecks, too.

    >>> parts(selector("flows.tcp.goodput.sum")), parts(selector("flows.tcp.goodput.jain"))
    (('goodput',), ('goodput', 'fair_share'))
    """
    return (s.metric, FAIR) if s.aggregate == "jain" and s.table == "flows" else (s.metric,)


def formed(s: Selector, members: Iterable[str], values: Mapping[tuple[str, str, str], float]) -> float:
    """Returns the value of a selector from its members; `values` by table, metric and member."""
    own = list(members)
    fair = [values.get((s.table, FAIR, n)) for n in own] if FAIR in parts(s)[1:] else None
    return aggregate(s.aggregate, [values.get((s.table, s.metric, n)) for n in own], fair)


def aggregate(how: str, values: Iterable[float | None], fair: Iterable[float | None] | None = None) -> float:
    """One number of the members' numbers; members without one do not count, and NaN if none has.

    `fair`: the `fair_share` of each, for `jain`.
    """
    every = list(values)
    places = [math.nan] * len(every) if fair is None else [math.nan if x is None else x for x in fair]
    pairs = [(v, at) for v, at in zip(every, places, strict=True) if v is not None and math.isfinite(v)]
    kept: Sequence[float] = [v for v, _ in pairs]
    if not kept:
        return math.nan
    if how == "jain":
        return jain(kept, [at for _, at in pairs])
    return {
        "mean": lambda: math.fsum(kept) / len(kept),
        "sum": lambda: math.fsum(kept),
        "min": lambda: min(kept),
        "max": lambda: max(kept),
    }[how]()


def message_and_help(error: FairlaneError) -> tuple[str, str]:
    """Splits an error of a selector into message and help, for a message that shows the selector anyway.

    >>> message_and_help(FairlaneError("unknown flow in 'flows.tpc.goodput' 'tpc': did you mean 'tcp'?"))
    ('unknown flow `tpc`', 'did you mean `tcp`?')
    """
    message, _, help = str(error).partition(": ")
    return re.sub(r" in '[^']*'(?= ')", "", message).replace("'", "`"), help.replace("'", "`")
