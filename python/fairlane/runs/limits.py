"""`why`: what limited each flow, as shares of its time, and what its queues had to do with it; in sentences, each with its number."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..base.format import number
from ..base.metrics import within
from ..base.printable import one_line
from ..errors import FairlaneError, suggest
from ..stats import Interval, interval

LIMITS = {
    "handshake": "the connection was being opened",
    "application": "the application had nothing more to send",
    "receive_window": "the receiver's window was full",
    "send_buffer": "its own bound of what may be out was reached",
    "slow_start": "the congestion window was full, in slow start",
    "avoidance": "the congestion window was full, in congestion avoidance",
    "recovery": "the congestion window was full, while a loss or a mark was dealt with",
    "pacing": "it spread its packets in time",
    "control": "a control at its source held it",
    "timeout": "it could only wait for the retransmission timer",
}
"""What may limit a sender, in the order of `fairlane`'s documents."""
_LEAST = 0.005
_MOST = 12


@dataclass(frozen=True)
class FlowLimits:
    """What limited a flow."""

    flow: str
    shares: dict[str, Interval]
    """Share of its time by limit: the means over the runs add up to 1. Empty if it never began."""
    seconds: Interval
    """Its time: from its start, or the end of the warm-up, to its end."""
    timeouts: Interval
    """Timeouts that it waited for, a run."""
    picoseconds: list[dict[str, int]]
    """The same run by run, as whole numbers that add up."""

    def __str__(self) -> str:
        name = one_line(self.flow)
        if not self.shares:
            return f"{name} never sent."
        told = sorted(((s.mean or 0.0, limit) for limit, s in self.shares.items()), reverse=True)
        parts = [f"for {_percent(share)} of its time {self._words(limit)}" for share, limit in told if share >= _LEAST]
        return f"{name}: {'; '.join(parts)}."

    def _words(self, limit: str) -> str:
        if limit != "timeout" or not self.timeouts.mean:
            return LIMITS[limit]
        n = self.timeouts.mean
        return f"it sent nothing and waited for {number(n, 3)} timeout{'s' * (n != 1)}"


@dataclass(frozen=True)
class QueueUsage:
    """What flows had to do with a queue."""

    link: str
    filled: dict[str, float]
    """Share of the bytes times their waiting, by flow."""
    drops: dict[str, float]
    """Packets that the queue dropped, a run."""
    marks: dict[str, float]
    """Packets that it marked, a run."""
    starved: float
    """Share of the time in which a flow on its way here had data to send, and nothing waited; 0 if no flow ever had."""
    starved_seconds: float
    """The same in seconds, a run."""

    def __str__(self) -> str:
        parts = [f"filled by {_ranked(self.filled, _percent)}"] if self.filled else ["nothing waited"]
        for what, hit in (("drops", self.drops), ("marks", self.marks)):
            total = sum(hit.values())
            if total:
                shares = {f: n / total for f, n in hit.items()}
                parts.append(f"its {number(total, 4)} {what} hit {_ranked(shares, _percent)}")
        if self.starved > 0:
            span = f"{number(self.starved_seconds, 3)} s"
            parts.append(f"it stood empty for {_percent(self.starved)} of the time in which a flow had data to send ({span})")
        return f"queue of {one_line(self.link)}: {'; '.join(parts)}."


class LimitReport:
    """Why flows sent no more: `flows` and `queues` by name; printed, it says so in sentences.

    Times are those after the warm-up, in which a flow has begun and is not over. A sender is limited by the tightest of its bounds from one
    call of it to the next. Waiting for a timeout is known afterwards: the time since it last heard of the other end.
    """

    def __init__(self, runs: Sequence[Mapping[str, Any]]) -> None:
        self.flows = {rows[0]["flow"]: _flow(rows) for rows in zip(*(r["flows"] for r in runs), strict=True)}
        self.queues = {rows[0]["link"]: _queue(rows) for rows in zip(*(r["queues"] for r in runs), strict=True)}

    def flow(self, name: str) -> FlowLimits:
        """A flow by name; one that is not there is an error with a suggestion."""
        if name not in self.flows:
            raise suggest(name, list(self.flows), "flow")
        return self.flows[name]

    def queue(self, link: str) -> QueueUsage:
        """The queue of a direction of a link."""
        if link not in self.queues:
            raise suggest(link, list(self.queues), "link")
        return self.queues[link]

    def sentences(self) -> list[str]:
        """A sentence for each flow, and for each queue in which anything waited or was dropped or marked."""
        busy = [q for q in self.queues.values() if q.filled or q.drops or q.marks]
        busy.sort(key=lambda q: -sum(q.drops.values()))
        return [*_few([str(f) for f in self.flows.values()], "flows"), *_few([str(q) for q in busy], "queues")]

    def document(self) -> dict[str, Any]:
        """The same as data, as `fairlane run --why --json` has it."""
        return {
            "flows": [
                {
                    "name": f.flow,
                    "seconds": f.seconds.as_dict(),
                    "shares": {k: v.as_dict() for k, v in f.shares.items()},
                    "timeouts": f.timeouts.as_dict(),
                    "sentence": str(f),
                }
                for f in self.flows.values()
            ],
            "queues": [
                {
                    "name": q.link,
                    "filled": q.filled,
                    "drops": q.drops,
                    "marks": q.marks,
                    "starved": q.starved,
                    "starved_seconds": q.starved_seconds,
                    "sentence": str(q),
                }
                for q in self.queues.values()
            ],
        }

    def __repr__(self) -> str:
        return "\n".join(self.sentences())


def limit_report(runs: Sequence[str | None]) -> LimitReport:
    """What the core tells of each run."""
    if any(r is None for r in runs):
        raise FairlaneError("this result does not know why: run with why=True, or fairlane run FILE --why")
    return LimitReport([json.loads(r or "") for r in runs])


def _flow(rows: Sequence[Mapping[str, Any]]) -> FlowLimits:
    times: list[dict[str, int]] = [dict(r["picoseconds"]) for r in rows]
    begun = [(t, total) for t in times if (total := sum(t.values())) > 0]
    shares = {limit: interval((t[limit] / total for t, total in begun), within=(0.0, 1.0)) for limit in times[0]} if begun else {}
    return FlowLimits(
        rows[0]["flow"],
        shares,
        interval((sum(t.values()) / 1e12 for t in times), within=within("open_time")),
        interval((r["timeouts"] for r in rows), within=within("timeouts")),
        times,
    )


def _queue(rows: Sequence[Mapping[str, Any]]) -> QueueUsage:
    waited: dict[str, float] = {}
    hits: dict[str, dict[str, float]] = {"drops": {}, "marks": {}}
    for row in rows:
        for share in row["flows"]:
            waited[share["flow"]] = waited.get(share["flow"], 0.0) + share["byte_seconds"]
            for what, by in hits.items():
                if share[what]:
                    by[share["flow"]] = by.get(share["flow"], 0.0) + share[what] / len(rows)
    total = sum(waited.values())
    filled = {f: w / total for f, w in waited.items() if w > 0}
    starved, wanted = (sum(r[key] for r in rows) for key in ("starved_ps", "wanted_ps"))
    share = starved / wanted if wanted else 0.0
    return QueueUsage(rows[0]["link"], filled, hits["drops"], hits["marks"], share, starved / 1e12 / len(rows))


def _percent(share: float) -> str:
    return "all" if share == 1.0 else f"{number(100 * share, 3)} %"


def _ranked(shares: Mapping[str, float], told: Any) -> str:
    ranked = sorted(shares.items(), key=lambda x: -x[1])
    names = [f"{one_line(f)} ({told(s)})" for f, s in ranked[:4]]
    return ", ".join(names) + (f" and {len(ranked) - 4} more" if len(ranked) > 4 else "")


def _few(told: list[str], what: str) -> Iterator[str]:
    yield from told[:_MOST]
    if len(told) > _MOST:
        yield f"... and {len(told) - _MOST} more {what}: --json has all."
