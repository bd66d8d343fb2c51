"""What came of a run in three sentences, and what is known of what held each flow back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..base.format import number, quantity
from ..base.metrics import unit
from ..base.written import si
from ..look.sheet import Sheet
from .groups import members
from .sheets import FEW, Groups, cell
from .tables import columns, intervals, link_loads

if TYPE_CHECKING:
    from ..stats import Interval
    from .result import Result

MOST_LIMITS = 16
"""Flows that are told one by one; of more, how many each thing held back."""
_CLOSE = 0.9
"""Share of what a window allows from which on it is the window that holds a flow back."""
_WAITS = 1e-4
"""Mean waiting time, seconds, below which nothing is said to wait."""


def sentences(result: Result) -> list[str]:
    """Who got what, where packets waited, and how sure that is."""
    return [s for s in (_shares(result), _waiting(result), _sure(result)) if s]


def _shares(result: Result) -> str:
    if result.reports == "groups":
        return _group_shares(result)
    of = Groups(result)
    if not of.flows:
        return ""
    rows = {labels["flow"]: per for labels, per in intervals(result, "flows")} if of.flows <= FEW else {}
    if len(rows) == 1:
        ((name, per),) = rows.items()
        return f"{name} delivers {cell('goodput', per['goodput'])} of data."
    groups = members(result)
    everyone = [f for own in groups.values() for f in own]
    total, fair = (cell(m, of.value(everyone, "goodput", how)) for m, how in (("goodput", "sum"), ("jain", "jain")))
    lead = f"{of.flows} flows deliver {total} of data together"
    if rows:
        order = sorted(rows, key=lambda f: -(rows[f]["goodput"].mean or 0.0))
        most, least = order[0], order[-1]
        told = [f"{f} ({cell('goodput', rows[f]['goodput'])})" for f in (most, least)]
        return f"{lead}: most goes to {told[0]}, least to {told[1]}; Jain's index is {fair}."
    means = [(g, of.value(own, "goodput")) for g, own in groups.items()]
    means.sort(key=lambda x: -(x[1].mean or 0.0))
    ends = [means[0]] if len(means) == 1 else [means[0], means[-1]]
    told = [f"a flow of {g} gets {cell('goodput', iv)} on average" for g, iv in ends]
    return f"{lead}: {', '.join(told)}; Jain's index of all is {fair}."


def _group_shares(result: Result) -> str:
    """The same where only groups have rows."""
    rows = [(labels["group"], per) for labels, per in intervals(result, "groups")]
    ((_, whole),) = intervals(result, "network")
    count = number(math.fsum(per["flows"].mean or 0.0 for _, per in rows))
    lead = f"{count} flows deliver {cell('goodput', whole['goodput'])} of data together"
    rows.sort(key=lambda r: -(r[1]["goodput_mean"].mean or 0.0))
    ends = rows[:1] if len(rows) == 1 else [rows[0], rows[-1]]
    told = [f"a flow of {g} gets {cell('goodput', per['goodput_mean'])} on average" for g, per in ends]
    return f"{lead}: {', '.join(told)}; Jain's index of all is {cell('jain', whole['jain'])}."


def _waiting(result: Result) -> str:
    link = max(link_loads(result), key=lambda row: row[1], default=("",))[0]
    if not link:
        return ""
    ((_, per),) = intervals(result, "links", (link,))

    def value(per: Mapping[str, Interval], name: str) -> float:
        mean = per[name].mean if name in per else None
        return mean if mean is not None and math.isfinite(mean) else 0.0

    used = f"{link} is in use for {cell('utilisation', per['utilisation'])} of the time" if "utilisation" in per else ""
    lost = "drops nothing"
    if value(per, "drops"):
        lost = f"drops {cell('loss', per['loss'])} of the packets"
    if value(per, "marks"):
        lost += f" and marks {cell('marks', per['marks'])}"
    if value(per, "sojourn_mean") < _WAITS:
        return f"Hardly any packet waits in a queue; {used} and {lost}." if used else ""
    waits = f"Packets wait longest at {link}: {cell('sojourn_mean', per['sojourn_mean'])} on average"
    if "sojourn_p95" in per and value(per, "sojourn_p95"):
        waits += f", and 5 % of them longer than {cell('sojourn_p95', per['sojourn_p95'])}"
    return f"{waits}; {used} and {lost}." if used else f"{waits}; it {lost}."


def _sure(result: Result) -> str:
    runs = len(result.info)
    if runs == 1:
        return f"This is one run (seed {result.seeds[0]}): what chance does to its numbers is not known; several seeds tell."
    if len(set(result.fingerprints)) == 1:
        return f"All {runs} runs are the same: nothing in this scenario is left to chance."
    iv = intervals(result, "network")[0][1]["goodput"] if result.reports == "groups" else _goodput_of_all(result)
    sure = ""
    if iv is not None and iv.mean and iv.half_width is not None:
        ends = f"± {number(100 * iv.half_width / iv.mean, 2)} % of it" if iv.even else quantity(iv, unit("goodput"))
        sure = f"; that of the goodput of all is {ends}"
    return f"The numbers are means of {runs} runs with different seeds, with 95 % intervals{sure}."


def _goodput_of_all(result: Result) -> Interval | None:
    of = Groups(result)
    names = [f for own in members(result).values() for f in own]
    return of.value(names, "goodput", "sum") if of.flows else None


@dataclass(frozen=True)
class LimitSection:
    """What limited flows, for a page."""

    sentences: list[str]
    sheet: Sheet | None
    """Shares of the time of each flow; None where the flows are too many."""


def limit_section(result: Result) -> LimitSection | None:
    """What limited flows, if the run was watched for that."""
    if not result._why or not all(result._why):
        return None
    from .limits import LIMITS

    why = result.why()
    flows = [f for f in why.flows.values() if f.shares]
    if not 0 < len(flows) <= MOST_LIMITS:
        return LimitSection(why.sentences(), None)
    used = [limit for limit in LIMITS if any((f.shares[limit].mean or 0.0) > 0 for f in flows)]
    rows = [[f.flow, *(_share(f.shares[limit]) for limit in used)] for f in flows]
    note = "Shares of the time of each flow by what limited it; they add up to 1."
    return LimitSection(why.sentences(), Sheet(["flow", *(limit.replace("_", " ") for limit in used)], rows, note=note))


def _share(of: Interval) -> str:
    return quantity(of.times(100), "%")


def limits_sheet(result: Result) -> Sheet | None:
    """What held each flow back, where the counters of the run say so; None without flows."""
    found = estimated_limits(result)
    if not found:
        return None
    if len(found) <= MOST_LIMITS:
        return Sheet(["flow", "held back by", "how that is known"], [[f, *told] for f, told in found.items()], words=(1, 2))
    counts: dict[tuple[str, str], int] = {}
    groups = {f: g for g, own in members(result).items() for f in own}
    for f, (what, _) in found.items():
        counts[groups[f], what] = counts.get((groups[f], what), 0) + 1
    return Sheet(["group", "held back by", "flows"], [[g, what, str(n)] for (g, what), n in counts.items()], words=(1,))


def estimated_limits(result: Result) -> dict[str, tuple[str, str]]:
    """For each flow what held it back, and the number that says so.

    A TCP flow that cut its window was held back by congestion; one that never did, by its receive window if its rate comes near what that
    allows in a round trip, else by its application if that has an end or a rate of its own. UDP sends as its application says. What none of
    these explains is not known.
    """
    tables = [] if result.reports == "groups" else columns(result, "flows")
    if not tables or not tables[0] or "goodput" not in tables[0]:
        return {}
    groups = {f: g for g, own in members(result).items() for f in own}
    described: Mapping[str, Any] = result.description.get("flows") or {}
    out = {}
    of = Groups(result)
    for flow in dict.fromkeys(f for t in tables if t for f in t["flow"]):
        out[flow] = _limit(of, flow, described.get(groups.get(flow, ""), {}))
    return out


def _limit(of: Groups, flow: str, told: Mapping[str, Any]) -> tuple[str, str]:
    def mean(metric: str) -> float:
        try:
            found = of.value([flow], metric).mean
        except KeyError:
            return math.nan
        return math.nan if found is None else found

    a_run = " a run" if of.runs > 1 else ""

    def times(metric: str, word: str) -> str:
        return f"{number(mean(metric), 2)} {word}"

    source = next(iter(told.get("source") or {}), "")
    if told.get("tcp") is None:
        rate = ((told.get("source") or {}).get(source) or {}).get("rate")
        sends = f"it sends {rate} of {source} traffic" if rate else f"it sends {source} traffic" if source else "it adapts to nothing"
        lost = mean("loss")
        gone = f"; {number(100 * lost, 2)} % is lost" if lost > 0 else ""
        if told.get("udp") is None:
            return "not known", ""
        return "its application", f"UDP without congestion control: {sends}{gone}"
    cuts, timeouts, marks = mean("cwnd_cuts"), mean("timeouts"), mean("ecn_cuts")
    if cuts > 0:
        parts = [f"its window was cut {number(cuts, 2)} times{a_run}"]
        parts += [times("timeouts", "of them by timeouts")] if timeouts > 0 else []
        parts += [times("ecn_cuts", "by marks")] if marks > 0 else []
        return "congestion", ", ".join(parts)
    window, rtt, goodput = si((told["tcp"] or {}).get("receive_window")), mean("rtt_mean"), mean("goodput")
    if window and rtt > 0 and goodput * rtt >= _CLOSE * 8 * window:
        return "its receive window", f"{number(window / 1e3)} kB in a round trip of {_time(rtt)} are {_rate(8 * window / rtt)}"
    own = (told["tcp"] or {}).get("window")
    allowed = si(own) if own is not None else None
    if allowed and rtt > 0 and str(own).strip().endswith("B") and goodput * rtt >= _CLOSE * 8 * allowed:
        return "its window", f"{own} in a round trip of {_time(rtt)} are {_rate(8 * allowed / rtt)}"
    if source and source != "bulk":
        return "its application", f"it never cut its window, and its source ({source}) decides how much it has to send"
    done = mean("completion_time")
    if math.isfinite(done):
        return "nothing for long", f"it was done after {_time(done)} without a cut of its window"
    return "not known", "it never cut its window"


def _time(seconds: float) -> str:
    return _said(seconds, "rtt_mean")


def _rate(rate: float) -> str:
    return _said(rate, "goodput")


def _said(value: float, metric: str) -> str:
    from ..stats import interval

    return quantity(interval([value]), unit(metric))
