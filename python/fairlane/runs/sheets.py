"""Tables of a result for terminals, pages and notebooks: groups of flows or single flows, busy links, the whole network."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from heapq import nlargest
from itertools import islice
from typing import TYPE_CHECKING

from ..base.format import number, quantity
from ..base.metrics import jain, unit, within
from ..look.sheet import Sheet
from ..stats import Interval, interval
from .fairness import competitors
from .groups import members
from .headings import heading
from .tables import LABELS, columns, intervals, link_loads

if TYPE_CHECKING:
    from .data import ResultData

FEW = 8
"""Most flows with a row each; above that, the table has a row per group."""
MAX_LINKS = 12
_TRANSACTIONS = ("transactions", "transaction_time_mean", "transaction_time_p95")
_QUALITY = ("mos", "startup_delay", "rebufferings", "rebuffering_time")
_FLOWS = (
    "goodput", "share", "delay_mean", "delay_p95", "rtt_mean", "loss", "retransmits", "timeouts", "completion_time",
    *_TRANSACTIONS, *_QUALITY,
)  # fmt: skip
_LINKS = ("utilisation", "queue_mean", "queue_max", "sojourn_mean", "sojourn_p95", "drops", "marks", "loss")
_SUMS = ("retransmits", "timeouts", "transactions", "rebufferings", "rebuffering_time")
"""Metrics that are added up over the flows of a group; all others are averaged."""
_GROUPS = (
    "goodput", "goodput_mean", "jain", "share", "delay_mean", "delay_p95", "rtt_mean", "loss", "retransmits", "timeouts", "completion_time",
    "completion_time_p95", *_TRANSACTIONS, *_QUALITY,
)  # fmt: skip
_PERCENT = ("utilisation", "loss", "discard_rate", "rebuffering_ratio")
_RATIOS = ("share", "worst_share")
_FAIRNESS = ("jain", "jain_tcp", "worst_share")
"""Metrics of the network over flows that may not compete."""
_COUNTS = ("marks", "timeouts", "retransmits", "drops", "completion_time", "completion_time_p95", "transactions")
"""Metrics without a column if they are zero in all rows."""


def cell(name: str, iv: Interval) -> str:
    """Formats a metric with its interval and unit."""
    if name in _RATIOS and iv.mean is not None:
        return f"{quantity(iv, '1')} ×"
    return quantity(iv.times(100), "%") if name in _PERCENT else quantity(iv, unit(name))


def flow_sheet(result: ResultData, each: bool = False, where: str = "--flows, or result.flows in Python") -> Sheet | None:
    """Returns one row per flow if there are few or with `each`, else one row per group and a note where to find the flows (`where`)."""
    if result.rows_of == "groups":
        return _groups_sheet(result)
    of = Groups(result)
    if not of.flows:
        return None
    if each or of.flows <= FEW:
        rows = intervals(result, "flows")
        shown = [c for c in _FLOWS if c in rows[0][1] and any(_worth_showing(per[c], c) for _, per in rows)]
        alike = {f for s in competitors(result) if s.alone for f in s.flows}
        if not alike:
            shown = [c for c in shown if c != "share"]
        body = [
            [labels["flow"], *("-" if c == "share" and labels["flow"] not in alike else cell(c, per[c]) for c in shown)]
            for labels, per in rows
        ]
        return Sheet(["flow", *map(heading, shown)], body)
    return _group_sheet(result, of, where)


def _groups_sheet(result: ResultData) -> Sheet | None:
    rows = intervals(result, "groups")
    if not rows:
        return None
    shown = [c for c in _GROUPS if any(_worth_showing(per[c], c) for _, per in rows)]
    if any(per["completed"].mean for _, per in rows):
        shown.append("completed")
    heads = {"goodput": "total goodput", "goodput_mean": "goodput per flow"} | {c: f"total {heading(c)}" for c in _SUMS}
    body = [[labels["group"], number(per["flows"].mean or 0.0), *(cell(c, per[c]) for c in shown)] for labels, per in rows]
    note = "One row per group (report = groups): totals are sums; times are over all packets or transactions of a group."
    return Sheet(["group", "flows", *(heads.get(c) or heading(c) for c in shown)], body, note=note)


def _group_sheet(result: ResultData, of: Groups, where: str) -> Sheet:
    groups = members(result)
    present = [c for c in _FLOWS if c in next(filter(None, columns(result, "flows")))]
    per = {g: {c: of.value(names, c) for c in present} for g, names in groups.items()}
    shown = [c for c in _FLOWS if any(c in p and _worth_showing(p[c], c) for p in per.values())]
    # A share of a group that competes with others says nothing about fairness; `fairness_sheet` has the shares within each set.
    shown = [c for c in shown if c != "share"]
    heads = ["group", "flows", "total goodput", "goodput per flow"]
    body = []
    for g, names in groups.items():
        rates = [cell("goodput", of.value(names, "goodput", "sum")), cell("goodput", per[g]["goodput"])]
        body.append([g, str(len(names)), *rates, *(cell(c, per[g][c]) for c in shown[1:])])
    names = [f"total {heading(c)}" if c in _SUMS else heading(c) for c in shown[1:]]
    note = f"Means over the flows of a group; totals are sums. All {of.flows} flows: {where}."
    return Sheet([*heads, *names], body, note=note)


class Groups:
    """Metrics of sets of flows over the runs."""

    def __init__(self, result: ResultData) -> None:
        rows = [(c, i) for c in columns(result, "flows") if c for i in range(len(c["flow"]))]
        each = len(rows) // len(result.info)
        # Every run has the same flows in the same order.
        self._runs = [rows[k : k + each] for k in range(0, len(rows), max(1, each))]
        self.flows = each
        self.runs = len(result.info)
        self._places = {c["flow"][i]: place for place, (c, i) in enumerate(rows[:each])}

    def extremes(self, names: Sequence[str]) -> tuple[Interval, Interval]:
        """Returns the smallest and the largest goodput of some flows, in units of their mean."""
        found: list[list[float]] = [[], []]
        for run in self._runs:
            values = [float(run[p][0]["goodput"][run[p][1]]) for p in (self._places[n] for n in names)]
            mean = math.fsum(values) / len(values)
            for out, x in zip(found, (min(values), max(values)), strict=True):
                out.append(x / mean if mean else math.nan)
        n = float(len(names))
        return interval(found[0], within=(0.0, 1.0), unit="1"), interval(found[1], within=(1.0, n), unit="1")

    def value(self, names: Sequence[str], metric: str, how: str = "") -> Interval:
        """Returns a metric of some flows: their mean, the sum of counts, or with `how` their mean, sum, min, max or Jain's index."""
        how = how or ("sum" if metric in _SUMS else "mean")
        places = [self._places[n] for n in names]
        found = []
        for run in self._runs:
            rows = [(c, i) for c, i in (run[p] for p in places) if math.isfinite(c[metric][i])]
            values = [float(c[metric][i]) for c, i in rows]
            if how == "jain":
                fair = [float(c["fair_share"][i]) for c, i in rows] if all("fair_share" in c for c, _ in rows) else None
                found.append(jain(values, fair))
            else:
                found.append(_formed(values, how))
        return interval(found, within=within(metric, how), unit="1" if how == "jain" else unit(metric))


def fairness_sheet(result: ResultData) -> Sheet | None:
    """Returns Jain's index and the extreme shares of each set of flows that compete; None without one."""
    sets = competitors(result)
    if not sets:
        return None
    of = Groups(result)
    rows = []
    for c in sets[:MAX_LINKS]:
        least, most = of.extremes(c.flows)
        rows.append(
            [c.title, str(len(c.flows)), cell("jain", of.value(c.flows, "goodput", "jain")), cell("share", least), cell("share", most)]
        )
    more = f" {len(sets) - MAX_LINKS} more sets of flows not shown." if len(sets) > MAX_LINKS else ""
    note = f"Only flows of one kind with the same bottleneck are compared; 1 × is an equal share.{more}"
    return Sheet(["fairness among", "flows", heading("jain"), "smallest share", "largest share"], rows, note=note)


def _formed(values: list[float], how: str) -> float:
    if how in ("min", "max"):
        return (min if how == "min" else max)(values, default=math.nan)
    return math.fsum(values) if how == "sum" else math.fsum(values) / len(values) if values else math.nan


_Weight = tuple[float, float, float]


def _busy_links(result: ResultData) -> tuple[list[tuple[dict[str, str], dict[str, Interval]]], int]:
    """Returns the links with the highest utilisation with their metrics, and the number of all links."""
    weighed = ("drops", "queue_mean", "utilisation")
    if len(result.info) != 1 or len(runs := [c for c in columns(result, "links") if c]) != 1:
        rows = list(link_loads(result))
        kept = _heaviest(lambda: ((drops, waits, used) for _, (waits, drops, used) in rows))
        return intervals(result, "links", {rows[i][0] for i in kept}), len(rows)
    # With one run, intervals are formed for the shown links only: there may be millions.
    (run,) = runs
    count = len(run["link"])
    nothing = [0.0] * (0 if all(c in run for c in weighed) else count)
    kept = _heaviest(lambda: map(_weight, zip(*(run.get(c, nothing) for c in weighed), strict=True)))
    metrics = [c for c in run if c not in LABELS]
    return [({c: run[c][i] for c in LABELS if c in run}, {m: interval([run[m][i]]) for m in metrics}) for i in kept], count


def _weight(values: Sequence[float | None]) -> _Weight:
    drops, waiting, used = (v if v is not None and math.isfinite(v) else 0.0 for v in values)
    return drops, waiting, used


def _heaviest(weights: Callable[[], Iterable[_Weight]]) -> list[int]:
    """Returns the indices of the busy links in order, or that of the first link if none is busy."""
    least = min(nlargest(MAX_LINKS, weights()), default=(0.0, 0.0, 0.0))
    busy = (i for i, w in enumerate(weights()) if (w[0] > 0 or w[1] > 0.5 or w[2] > 0.9) and w >= least)
    return list(islice(busy, MAX_LINKS)) or list(range(min(1, sum(1 for _ in islice(weights(), 1)))))


def link_sheet(result: ResultData, where: str = "--json, or result.links in Python") -> Sheet | None:
    """Returns a table of the links with queueing or drops, with a note where to find the others (`where`)."""
    kept, count = _busy_links(result)
    if not kept:
        return None
    rest = count - len(kept)
    shown = [c for c in _LINKS if c in kept[0][1] and any(_worth_showing(per[c], c) for _, per in kept)]
    body = [[labels["link"], *(cell(c, per[c]) for c in shown)] for labels, per in kept]
    note = f"{rest} less busy link{'s' * (rest > 1)} not shown (all links: {where})" if rest else ""
    return Sheet(["link", *map(heading, shown)], body, note=note)


def network_sheet(result: ResultData) -> Sheet:
    """Returns a table of the whole network, one row per metric that is not zero; `fairness_sheet` has the fairness."""
    ((_, per),) = intervals(result, "network")
    shown = [(name, iv) for name, iv in per.items() if iv.mean and name not in _FAIRNESS]
    return Sheet(["whole network", "value"], [[heading(name), cell(name, iv)] for name, iv in shown])


def _worth_showing(iv: Interval, name: str) -> bool:
    return iv.mean is not None and (iv.mean != 0 or name not in _COUNTS)
