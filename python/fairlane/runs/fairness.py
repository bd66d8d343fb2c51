"""Fairness among flows that compete: flows of one kind with the same bottleneck, in one direction."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..base.metrics import jain
from .tables import columns

if TYPE_CHECKING:
    from .data import ResultData


@dataclass(frozen=True)
class Competitors:
    """Flows that compete with one another, at least two."""

    link: str
    """Direction of the link that is their bottleneck; "" if several links may be."""
    groups: tuple[str, ...]
    flows: tuple[str, ...]
    alone: bool
    """True if no other flow has this bottleneck."""

    @property
    def title(self) -> str:
        """Groups and link in words."""
        who = self.groups[0] if len(self.groups) == 1 else f"{', '.join(self.groups[:-1])} and {self.groups[-1]}"
        return f"{who} at {self.link}" if self.link else who


def competitors(result: ResultData) -> list[Competitors]:
    """Returns the sets of flows whose shares are compared, by the bottlenecks of the first run.

    A set has the flows of one kind with the same bottleneck: all TCP flows with unlimited data, or the flows of one other group. A call
    and an upload, or an upload and a download, are never in one set: their goodputs have different reasons.
    """
    first = _first_run(result, "flows") if result.rows_of == "flows" else {}
    if not {"goodput", "fair_share"} <= set(first):
        return []
    described: Mapping[str, Any] = result.description.get("flows") or {}
    groups = {f: _group(f, described) for f in first["flow"]}
    links = _first_run(result, "links")
    at: dict[float, list[int]] = {}
    for i, fair in enumerate(first["fair_share"]):
        if math.isfinite(fair):
            at.setdefault(float(fair), []).append(i)
    out = []
    for rows in at.values():
        names = _bottlenecks(links, [float(first["goodput"][i]) for i in rows])
        # Several links may have flows with equal shares: then each group is a set of its own.
        merged = len(names) != 1
        sets: dict[str, list[str]] = {}
        for i in rows:
            flow = first["flow"][i]
            group = groups.get(flow, flow)
            sets.setdefault(group if merged else _kind(described.get(group), group), []).append(flow)
        for flows in sets.values():
            if len(flows) > 1:
                own = tuple(dict.fromkeys(groups.get(f, f) for f in flows))
                out.append(Competitors("" if merged else names[0], own, tuple(flows), len(flows) == len(rows)))
    return out


def _group(flow: str, described: Mapping[str, Any]) -> str:
    """Returns the table under `flows` that makes a flow; its name begins with that of the table."""
    name = flow
    while name and name not in described:
        name = name.rpartition(".")[0]
    return name or flow


def _first_run(result: ResultData, table: str) -> Mapping[str, Sequence[Any]]:
    """Returns the columns of a table in the first run; of a folder, a table has all runs one after the other."""
    found = [c for c in columns(result, table) if c]
    if not found:
        return {}
    rows = len(next(iter(found[0].values())))
    return {c: v[: rows * len(found) // max(1, len(result.info))] for c, v in found[0].items()}


def _kind(settings: Any, group: str) -> str:
    """Returns the kind of a group: TCP flows with unlimited data take what they get, any other group has a demand of its own."""
    if not isinstance(settings, Mapping) or settings.get("tcp") is None or settings.get("amount") is not None:
        return f"group {group}"
    return "bulk" if next(iter(settings.get("source") or {"bulk": {}}), "bulk") == "bulk" else f"group {group}"


def _bottlenecks(links: Mapping[str, Any], goodputs: list[float]) -> list[str]:
    """Returns the link directions that are the bottleneck of as many flows with the same fairness."""
    if "bottleneck_flows" not in links:
        return []
    index, n = jain(goodputs), len(goodputs)
    return [
        name
        for name, count, fair in zip(links["link"], links["bottleneck_flows"], links["jain"], strict=True)
        if count == n and (abs(fair - index) < 1e-9 or (math.isnan(fair) and math.isnan(index)))
    ]
