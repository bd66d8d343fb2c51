"""First screen of the page of a result: who got what, what limited each flow, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..base.seeds import seed_options
from .colours import colours
from .groups import members
from .sheets import FEW, Groups, cell
from .summary import estimated_limits
from .tables import intervals, link_loads, metrics_of

if TYPE_CHECKING:
    from .data import ResultData

MOST_ROWS = 12
"""Most flows or groups of the table."""
LONG_DELAY = 0.02
"""Mean queueing delay, seconds, from which the page advises another queue."""
_FULL = 0.05
"""Least share of its time by which a limit of a flow is named."""


@dataclass(frozen=True)
class Row:
    """A flow or a group of flows."""

    name: str
    count: int
    hue: int
    cells: tuple[str, ...]
    wide: float
    """Goodput in percent of the largest one."""
    limit: str
    """Limit with its share of the time; "" if it is unknown."""


@dataclass(frozen=True)
class Step:
    """Advice with the command that follows it."""

    words: str
    command: str


def heads(result: ResultData) -> list[str]:
    """Returns the headings of the columns of numbers."""
    return ["goodput", "delay (p95)", "packet loss"] if _known(result) else ["goodput"]


def _known(result: ResultData) -> bool:
    return {"delay_p95", "loss"} <= set(metrics_of(result, result.rows_of))


def rows(result: ResultData) -> list[Row]:
    """Returns a row per flow if there are few, else per group."""
    hues = colours(result, "flow")
    limits = _limits(result)
    wanted = ["goodput", *(["delay_p95", "loss"] if _known(result) else [])]
    found: list[tuple[str, int, list[Any]]]
    if result.rows_of == "groups":
        found = [(x["group"], int(per["flows"].mean or 0), [per[m] for m in wanted]) for x, per in intervals(result, "groups")]
        of: Mapping[str, list[str]] = {}
    else:
        groups, all_flows = members(result), Groups(result)
        of = {f: [f] for own in groups.values() for f in own} if all_flows.flows <= FEW else groups
        found = [(name, len(own), [all_flows.value(own, m, "sum" if m == "goodput" else "") for m in wanted]) for name, own in of.items()]
    most = max((ivs[0].mean or 0.0 for *_, ivs in found), default=0.0)
    return [
        Row(
            name, count, hues.number(name, of.get(name, ()), i), tuple(cell(m, iv) for m, iv in zip(wanted, ivs, strict=True)),
            100 * (ivs[0].mean or 0.0) / most if most else 0.0, _common([limits[f] for f in of.get(name, ()) if f in limits]),
        )
        for i, (name, count, ivs) in enumerate(found[:MOST_ROWS])
    ]  # fmt: skip


def _limits(result: ResultData) -> dict[str, str]:
    """Returns what limited each flow most: measured if the run recorded it, else estimated from counters."""
    if not result._why or not all(result._why):
        return {f: f"{limit} (estimated)" if limit != "unknown" else limit for f, (limit, _) in estimated_limits(result).items()}
    from .limits import LIMITS

    out = {}
    for f in result.why().flows.values():
        if f.shares:
            shares = {limit: s.mean or 0.0 for limit, s in f.shares.items()}
            window = sum(shares.pop(k, 0.0) for k in ("avoidance", "recovery", "slow_start"))
            named = {LIMITS[k]: s for k, s in shares.items()} | {"congestion window": window}
            first = sorted(((s, k) for k, s in named.items() if s >= _FULL), reverse=True)[:2]
            out[f.flow] = ", ".join(f"{k} {100 * s:.0f} %" for s, k in first)
    return out


def _common(limits: list[str]) -> str:
    """Returns the limit of a flow, or the limits of a group with the number of its flows."""
    if len(limits) < 2:
        return limits[0] if limits else ""
    counts: dict[str, int] = {}
    for limit in limits:
        kind = limit.split(" (")[0].rstrip(" %0123456789").split(" %")[0].rstrip(" 0123456789")
        counts[kind] = counts.get(kind, 0) + 1
    order = sorted(counts.items(), key=lambda x: -x[1])
    return order[0][0] if len(order) == 1 else ", ".join(f"{k} ({n} of {len(limits)})" for k, n in order[:2])


def next_steps(result: ResultData, file: str) -> list[Step]:
    """Returns one or two commands that follow from the result; `file`: the scenario in the commands."""
    out = []
    link = max(link_loads(result), key=lambda row: row[1], default=("",))[0]
    delay = result.value("sojourn_mean", link=link) if link and "sojourn_mean" in metrics_of(result, "links") else None
    queue = _own_queue(result, link) if delay is not None and (delay.mean or 0.0) >= LONG_DELAY else ""
    if queue and delay is not None:
        words = f"The queue of {link} delays packets by {cell('sojourn_mean', delay)}: compare it with queues that keep delays short."
        command = ["fairlane", "compare", "--scenario", file, "--link", link, "--queues", f"{queue},codel,fq_codel"]
        out.append(Step(words, shlex.join([*command, "--page", "queues.html"])))
    if len(result.info) == 1:
        words = "One run says nothing about chance: ten runs give intervals."
        out.append(Step(words, shlex.join(["fairlane", "run", file, "--seeds", "1..10", "--page", "ten.html"])))
    if not (result._why and all(result._why)) and result.rows_of == "flows":
        words = "What limited each flow is an estimate: measure it."
        out.append(Step(words, shlex.join(["fairlane", "run", file, *seed_options(result.seeds), "--why"])))
    words = "See the packets, the windows and the queues move."
    out.append(Step(words, shlex.join(["fairlane", "watch", file])))
    return out[:2]


def _own_queue(result: ResultData, link: str) -> str:
    """Returns the DropTail queue of a link as `compare` reads it; "" for another queue, which holds its delay already."""
    links = (result.scenario.get("expanded") or {}).get("links") or ()
    queue = next((x.get("queue") for x in links if x["name"] == link), None)
    if not isinstance(queue, Mapping) or list(queue) != ["droptail"]:
        return ""
    return f"droptail{{limit={queue['droptail']['limit']}}}"
