"""Groups of flows: the flows that each table under `flows` of a scenario creates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..base.metrics import metrics_in
from ..errors import suggest

if TYPE_CHECKING:
    from .data import ResultData


def members(result: ResultData) -> dict[str, list[str]]:
    """Returns the flows of each group in the order of the scenario; an error for a result without rows of flows."""
    result._having("flows")
    out: dict[str, list[str]] = {}
    for f in result.scenario["expanded"]["flows"]:
        out.setdefault(f["group"], []).append(f["name"])
    return out


def groups_of(result: ResultData, what: str, names: str | Iterable[str] | None) -> dict[str, list[str]]:
    """Returns the requested groups (None: all) of a result with rows of groups, by their labels in a plot of a metric."""
    there = flows_in(result)
    wanted = list(there) if names is None else [names] if isinstance(names, str) else list(dict.fromkeys(names))
    if lacking := next((name for name in wanted if name not in there), None):
        raise suggest(lacking, list(there), "group of flows")
    how = next((m.pooled for m in metrics_in("groups") if m.name == what), "")
    aggregate = f"{how} of " if how in ("sum", "mean") else ""
    return {name if there[name] < 2 else f"{name} ({aggregate}{there[name]} flows)": [name] for name in wanted}


def flows_in(result: ResultData) -> dict[str, int]:
    """Returns the number of flows of each group."""
    if result.rows_of == "flows":
        return {g: len(own) for g, own in members(result).items()}
    first = result.groups.unique("group", keep="first", maintain_order=True)
    return {g: int(n) for g, n in first.select("group", "flows").iter_rows()}


def flows_of(result: ResultData, names: str | Iterable[str]) -> list[str]:
    """Returns the names of flows, with each group replaced by its flows."""
    groups = members(result)
    known = {f for own in groups.values() for f in own}
    out: list[str] = []
    for name in [names] if isinstance(names, str) else names:
        if name in known:
            out.append(name)
        elif name in groups:
            out += groups[name]
        else:
            raise suggest(name, [*known, *groups], "flow or group of flows")
    return list(dict.fromkeys(out))
