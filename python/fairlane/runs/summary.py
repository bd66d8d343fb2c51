"""Summary of a result in three sentences, and an estimate of what limited each flow from its counters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..base.format import number, quantity
from ..base.literals import si
from ..base.metrics import unit
from ..look.sheet import Sheet
from .fairness import competitors
from .groups import members
from .sheets import FEW, Groups, cell
from .tables import columns, intervals, link_loads

if TYPE_CHECKING:
    from ..stats import Interval
    from .data import ResultData

MOST_LIMITS = 16
"""Most flows with a row each; above that, flows are counted by group and limit."""
_MOST_SETS = 2
"""Most sets of competing flows that a sentence names."""
_CLOSE = 0.9
"""Share of the rate that a window allows from which the window counts as the limit."""
_WAITS = 1e-4
"""Mean queueing delay, seconds, below which no queueing is reported."""


def sentences(result: ResultData) -> list[str]:
    """Returns sentences on the goodput of the flows, the longest queue, and the precision."""
    return [s for s in (goodput_sentence(result), queueing_sentence(result), precision_sentence(result)) if s]


def goodput_sentence(result: ResultData) -> str:
    """Returns the goodput in total, the most, the least, and the fairness among flows that compete."""
    if result.rows_of == "groups":
        return _goodput_of_groups(result)
    of = Groups(result)
    if not of.flows:
        return ""
    rows = {labels["flow"]: per for labels, per in intervals(result, "flows")} if of.flows <= FEW else {}
    if len(rows) == 1:
        ((name, per),) = rows.items()
        return f"The goodput of {name} is {cell('goodput', per['goodput'])}."
    groups = members(result)
    everyone = [f for own in groups.values() for f in own]
    total = cell("goodput", of.value(everyone, "goodput", "sum"))
    lead = f"{of.flows} flows deliver {total} in total"
    fair = _fairness(result, of)
    if rows:
        order = sorted(rows, key=lambda f: -(rows[f]["goodput"].mean or 0.0))
        most, least = (
            f"{f} gets the {word} ({cell('goodput', rows[f]['goodput'])})" for f, word in ((order[0], "most"), (order[-1], "least"))
        )
        return f"{lead}: {most}, {least}{fair}."
    means = [(g, of.value(own, "goodput")) for g, own in groups.items()]
    return f"{lead}: {_per_flow(means)}{fair}."


def _fairness(result: ResultData, of: Groups) -> str:
    """Returns Jain's index of the largest sets of flows that compete; empty without one."""
    sets = sorted(competitors(result), key=lambda s: -len(s.flows))[:_MOST_SETS]
    said = [f"{cell('jain', of.value(s.flows, 'goodput', 'jain'))} among the flows of {s.title}" for s in sets]
    return f"; Jain's fairness index is {' and '.join(said)}" if said else ""


def _goodput_of_groups(result: ResultData) -> str:
    rows = [(labels["group"], per) for labels, per in intervals(result, "groups")]
    ((_, whole),) = intervals(result, "network")
    count = number(math.fsum(per["flows"].mean or 0.0 for _, per in rows))
    lead = f"{count} flows deliver {cell('goodput', whole['goodput'])} in total"
    means = [(g, per["goodput_mean"]) for g, per in rows]
    return f"{lead}: {_per_flow(means)}."


def _per_flow(means: list[tuple[str, Interval]]) -> str:
    order = sorted(means, key=lambda x: -(x[1].mean or 0.0))
    ends = order[:1] if len(order) == 1 else [order[0], order[-1]]
    return ", ".join(f"a flow of {g} gets {cell('goodput', iv)} on average" for g, iv in ends)


def queueing_sentence(result: ResultData) -> str:
    """Returns where packets wait most, and what is lost there."""
    link = max(link_loads(result), key=lambda row: row[1], default=("",))[0]
    if not link:
        return ""
    ((_, per),) = intervals(result, "links", (link,))

    def value(per: Mapping[str, Interval], name: str) -> float:
        mean = per[name].mean if name in per else None
        return mean if mean is not None and math.isfinite(mean) else 0.0

    used = f"the utilisation is {cell('utilisation', per['utilisation'])}" if "utilisation" in per else ""
    lost = f"{cell('loss', per['loss'])} of the packets are dropped" if value(per, "drops") else "no packets are dropped"
    if value(per, "marks"):
        lost += f", {cell('marks', per['marks'])} are ECN-marked"
    rest = f"{used} and {lost}" if used else lost
    if value(per, "sojourn_mean") < _WAITS:
        return f"There is almost no queueing; at {link} {rest}." if used else ""
    waits = f"Queueing delay is largest at {link}: {cell('sojourn_mean', per['sojourn_mean'])} on average"
    if "sojourn_p95" in per and value(per, "sojourn_p95"):
        waits += f", more than {cell('sojourn_p95', per['sojourn_p95'])} for 5 % of the packets"
    return f"{waits}; {rest}."


def precision_sentence(result: ResultData) -> str:
    """Returns how many runs there are, and how precise their means."""
    runs = len(result.info)
    if runs == 1:
        return f"One run (seed {result.seeds[0]}): the random variation is unknown. Use --seeds 1..10 for confidence intervals."
    if len(set(result.fingerprints)) == 1:
        return f"All {runs} runs are identical: nothing in this scenario is random."
    iv = intervals(result, "network")[0][1]["goodput"] if result.rows_of == "groups" else _total_goodput(result)
    sure = ""
    if iv is not None and iv.mean and iv.half_width is not None:
        ends = f"± {number(100 * iv.half_width / iv.mean, 2)} %" if iv.even else quantity(iv, unit("goodput"))
        sure = f" (total goodput: {ends})"
    return f"Means of {runs} runs with different seeds, with 95 % confidence intervals{sure}."


def _total_goodput(result: ResultData) -> Interval | None:
    of = Groups(result)
    names = [f for own in members(result).values() for f in own]
    return of.value(names, "goodput", "sum") if of.flows else None


@dataclass(frozen=True)
class LimitSection:
    """Section of a page on what limited the flows, measured during the run."""

    sentences: list[str]
    sheet: Sheet | None
    """Shares of each flow's time; None above `MOST_LIMITS` flows."""


def limit_section(result: ResultData) -> LimitSection | None:
    """Returns the section; None if the run did not record limits."""
    if not result._why or not all(result._why):
        return None
    from .limits import LIMITS

    why = result.why()
    flows = [f for f in why.flows.values() if f.shares]
    if not 0 < len(flows) <= MOST_LIMITS:
        return LimitSection(why.sentences(), None)
    used = [limit for limit in LIMITS if any((f.shares[limit].mean or 0.0) > 0 for f in flows)]
    rows = [[f.flow, *(quantity(f.shares[limit].times(100), "%") for limit in used)] for f in flows]
    note = "Share of each flow's time by limit; a row adds up to 100 %."
    return LimitSection(why.sentences(), Sheet(["flow", *(LIMITS[limit] for limit in used)], rows, note=note))


def limits_sheet(result: ResultData) -> Sheet | None:
    """Returns the table of estimated limits; None without flows."""
    found = estimated_limits(result)
    if not found:
        return None
    if len(found) <= MOST_LIMITS:
        return Sheet(["flow", "limited by", "evidence"], [[f, *row] for f, row in found.items()], words=(1, 2))
    counts: dict[tuple[str, str], int] = {}
    groups = {f: g for g, own in members(result).items() for f in own}
    for f, (limit, _) in found.items():
        counts[groups[f], limit] = counts.get((groups[f], limit), 0) + 1
    return Sheet(["group", "limited by", "flows"], [[g, limit, str(n)] for (g, limit), n in counts.items()], words=(1,))


def estimated_limits(result: ResultData) -> dict[str, tuple[str, str]]:
    """Returns for each flow what limited it, and the evidence.

    A TCP flow that reduced its window was limited by congestion. Without a reduction it was limited by its receive window if its goodput
    comes near what that window allows per round trip, else by its application if the source is finite or has a rate. UDP is limited by
    its application. Any other flow has the limit "unknown".
    """
    tables = [] if result.rows_of == "groups" else columns(result, "flows")
    if not tables or not tables[0] or "goodput" not in tables[0]:
        return {}
    groups = {f: g for g, own in members(result).items() for f in own}
    described: Mapping[str, Any] = result.description.get("flows") or {}
    out = {}
    of = Groups(result)
    for flow in dict.fromkeys(f for t in tables if t for f in t["flow"]):
        out[flow] = _limit(of, flow, described.get(groups.get(flow, ""), {}))
    return out


def _limit(of: Groups, flow: str, settings: Mapping[str, Any]) -> tuple[str, str]:
    def mean(metric: str) -> float:
        try:
            found = of.value([flow], metric).mean
        except KeyError:
            return math.nan
        return math.nan if found is None else found

    per_run = " per run" if of.runs > 1 else ""
    source = next(iter(settings.get("source") or {}), "")
    if settings.get("tcp") is None:
        if settings.get("udp") is None:
            return "unknown", ""
        rate = ((settings.get("source") or {}).get(source) or {}).get("rate")
        sends = f"; {source} source{f' at {rate}' if rate else ''}" if source else ""
        lost = mean("loss")
        gone = f"; {number(100 * lost, 2)} % lost" if lost > 0 else ""
        return "application", f"UDP without congestion control{sends}{gone}"
    cuts, timeouts, marks = mean("cwnd_cuts"), mean("timeouts"), mean("ecn_cuts")
    if cuts > 0:
        parts = [f"{number(cuts, 2)} window reductions{per_run}"]
        parts += [f"{number(timeouts, 2)} by timeouts"] if timeouts > 0 else []
        parts += [f"{number(marks, 2)} by ECN marks"] if marks > 0 else []
        return "congestion", ", ".join(parts)
    window, rtt, goodput = si((settings["tcp"] or {}).get("receive_window")), mean("rtt_mean"), mean("goodput")
    if window and rtt > 0 and goodput * rtt >= _CLOSE * 8 * window:
        return "receive window", f"{number(window / 1e3)} kB per round trip of {_time(rtt)} allow {_rate(8 * window / rtt)}"
    own = (settings["tcp"] or {}).get("window")
    allowed = si(own) if own is not None else None
    if allowed and rtt > 0 and str(own).strip().endswith("B") and goodput * rtt >= _CLOSE * 8 * allowed:
        return "window limit", f"{own} per round trip of {_time(rtt)} allow {_rate(8 * allowed / rtt)}"
    if source and source != "bulk":
        return "application", f"no window reduction; the source ({source}) determines how much there is to send"
    done = mean("completion_time")
    if math.isfinite(done):
        return "nothing: the transfer finished first", f"finished after {_time(done)} without a window reduction"
    return "unknown", "no window reduction"


def _time(seconds: float) -> str:
    return _formatted(seconds, "rtt_mean")


def _rate(rate: float) -> str:
    return _formatted(rate, "goodput")


def _formatted(value: float, metric: str) -> str:
    from ..stats import interval

    return quantity(interval([value]), unit(metric))
