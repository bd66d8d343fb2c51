"""The tables of a result for people: groups of flows or each flow, busy links, the whole network; for terminals and notebooks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..base.format import quantity
from ..base.metrics import jain, unit
from ..look.sheet import Sheet
from ..stats import Interval, interval
from .groups import members
from .tables import columns, intervals

if TYPE_CHECKING:
    from .result import Result

FEW = 8
"""So many flows have a row each; more are told by their groups."""
MAX_LINKS = 12
_TRANSACTIONS = ("transactions", "transaction_time_mean", "transaction_time_p95")
_FLOWS = ("goodput", "share", "delay_mean", "delay_p95", "rtt_mean", "loss", "retransmits", "timeouts", "completion_time", *_TRANSACTIONS)
_LINKS = ("utilisation", "queue_mean", "queue_max", "sojourn_mean", "sojourn_p95", "drops", "marks", "loss")
_SUMS = ("retransmits", "timeouts", "transactions")
"""What is added up over the flows of a group; of the rest it is the mean that is told."""
_PERCENT = ("utilisation", "loss")
_COUNTS = ("marks", "timeouts", "retransmits", "drops", "completion_time", "transactions")
"""What is left out where it is zero for all."""


def cell(name: str, iv: Interval) -> str:
    """One number with its interval and unit."""
    return quantity(iv.times(100), "%") if name in _PERCENT else quantity(iv, unit(name))


def flow_sheet(result: Result, each: bool = False, where: str = "--flows, --json, --out; in Python result.flows") -> Sheet | None:
    """One row a flow where there are few or `each` is asked for, else one row a group, and `where` each is told."""
    of = Groups(result)
    if not of.flows:
        return None
    if each or of.flows <= FEW:
        rows = intervals(result, "flows")
        shown = [c for c in _FLOWS if c in rows[0][1] and any(_tells(per[c], c) for _, per in rows)]
        body = [[labels["flow"], *(cell(c, per[c]) for c in shown)] for labels, per in rows]
        return Sheet(["flow", *(c.replace("_", " ") for c in shown)], body)
    return _group_sheet(result, of, where)


def _group_sheet(result: Result, of: Groups, where: str) -> Sheet:
    groups = members(result)
    present = [c for c in _FLOWS if c in next(filter(None, columns(result, "flows")))]
    per = {g: {c: of.value(names, c) for c in present} for g, names in groups.items()}
    shown = [c for c in _FLOWS if any(c in p and _tells(p[c], c) for p in per.values())]
    heads = ["group", "flows", "goodput of all", "goodput", "Jain"]
    body = []
    for g, names in groups.items():
        fair = [cell("goodput", of.value(names, "goodput", "sum")), cell("goodput", per[g]["goodput"])]
        body.append([g, str(len(names)), *fair, cell("jain", of.value(names, "goodput", "jain")), *(cell(c, per[g][c]) for c in shown[1:])])
    names = [f"all {w}" if c in _SUMS else w for c in shown[1:] for w in [c.replace("_", " ")]]
    note = f"Means over the flows of a group, sums where it says all. Each of the {of.flows} flows: {where}."
    return Sheet([*heads, *names], body, note=note)


class Groups:
    """Metrics of groups of flows over the runs."""

    def __init__(self, result: Result) -> None:
        rows = [(c, i) for c in columns(result, "flows") if c for i in range(len(c["flow"]))]
        each = len(rows) // len(result.info)
        # Every run has the same flows in the same order.
        self._runs = [rows[k : k + each] for k in range(0, len(rows), max(1, each))]
        self.flows = each
        self.runs = len(result.info)
        self._places = {c["flow"][i]: place for place, (c, i) in enumerate(rows[:each])}

    def value(self, names: Sequence[str], metric: str, how: str = "") -> Interval:
        """A metric of some flows: their mean, the sum of counts, or as `how` says: mean, sum, min, max, jain."""
        how = how or ("sum" if metric in _SUMS else "mean")
        places = [self._places[n] for n in names]
        found = []
        for run in self._runs:
            values = [float(c[metric][i]) for c, i in (run[p] for p in places)]
            found.append(_formed([v for v in values if math.isfinite(v)], how))
        return interval(found)


def _formed(values: list[float], how: str) -> float:
    if how == "jain":
        return jain(values)
    if how in ("min", "max"):
        return (min if how == "min" else max)(values, default=math.nan)
    return math.fsum(values) if how == "sum" else math.fsum(values) / len(values) if values else math.nan


def link_sheet(result: Result, where: str = "--json, --out; in Python result.links") -> Sheet | None:
    """The links where most waits or is lost; idle ones say nothing, and `where` has them."""
    rows = intervals(result, "links")
    if not rows:
        return None

    def weight(per: dict[str, Interval]) -> tuple[float, float, float]:
        drops, waiting, used = ((per[c].mean or 0.0) if c in per else 0.0 for c in ("drops", "queue_mean", "utilisation"))
        return drops, waiting, used

    def busy(per: dict[str, Interval]) -> bool:
        drops, waiting, used = weight(per)
        return drops > 0 or waiting > 0.5 or used > 0.9

    weights = sorted((weight(per) for _, per in rows), reverse=True)
    least = weights[min(MAX_LINKS, len(weights)) - 1]
    kept = [r for r in rows if busy(r[1]) and weight(r[1]) >= least][:MAX_LINKS] or rows[:1]
    rest = len(rows) - len(kept)
    shown = [c for c in _LINKS if c in rows[0][1] and any(_tells(per[c], c) for _, per in kept)]
    body = [[labels["link"], *(cell(c, per[c]) for c in shown)] for labels, per in kept]
    note = f"and {rest} more link{'s' if rest > 1 else ''} that {'carry' if rest > 1 else 'carries'} less: {where}" if rest else ""
    return Sheet(["link", *(c.replace("_", " ") for c in shown)], body, note=note)


def network_words(result: Result) -> str:
    """The whole network in one sentence."""
    ((_, per),) = intervals(result, "network")
    return "network: " + ", ".join(f"{name.replace('_', ' ')} {cell(name, iv)}" for name, iv in per.items() if iv.mean)


def _tells(iv: Interval, name: str) -> bool:
    return iv.mean is not None and (iv.mean != 0 or name not in _COUNTS)
