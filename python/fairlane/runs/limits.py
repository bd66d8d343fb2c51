"""Limit report (`why`): what limited each flow, as shares of its time, and which flows filled each queue; each sentence has its numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..base.escapes import one_line
from ..base.format import number
from ..base.metrics import within
from ..errors import FairlaneError, suggest
from ..stats import Interval, interval

LIMITS = {
    "handshake": "handshake",
    "application": "application",
    "receive_window": "receive window",
    "send_buffer": "send window limit",
    "slow_start": "slow start",
    "avoidance": "congestion avoidance",
    "recovery": "loss recovery",
    "pacing": "pacing",
    "control": "source control",
    "timeout": "retransmission timeout",
}
"""Words for the limits of a sender, in the order of `fairlane`'s documents."""
_SENTENCE = {
    "handshake": "by the handshake",
    "application": "by its application",
    "receive_window": "by the receive window",
    "send_buffer": "by its own send window limit",
    "pacing": "by pacing",
    "control": "by the flow control of its source",
}
_CWND = ("avoidance", "recovery", "slow_start")
"""Limits that are phases of a full congestion window."""
_LEAST = 0.005
_MOST = 12


@dataclass(frozen=True)
class FlowLimits:
    """Limits of one flow."""

    flow: str
    shares: dict[str, Interval]
    """Share of the flow's time by limit; the means over the runs add up to 1. Empty if the flow never started."""
    seconds: Interval
    """Time of the flow: from its start, or the end of the warm-up, to its end."""
    timeouts: Interval
    """Retransmission timeouts per run."""
    picoseconds: list[dict[str, int]]
    """Time by limit in each run; integers that add up to the time of the flow."""

    def __str__(self) -> str:
        name = one_line(self.flow)
        if not self.shares:
            return f"{name} never sent."
        means = {limit: s.mean or 0.0 for limit, s in self.shares.items()}
        parts = [(share, self._phrase(limit, share)) for limit, share in means.items() if limit not in _CWND]
        full = sum(means.get(limit, 0.0) for limit in _CWND)
        parts.append((full, self._window(full, {limit: means.get(limit, 0.0) for limit in _CWND})))
        shown = [text for share, text in sorted(parts, key=lambda x: -x[0]) if share >= _LEAST]
        return f"{name}: {'; '.join(shown)}."

    def _phrase(self, limit: str, share: float) -> str:
        if limit == "timeout":
            n = self.timeouts.mean or 0.0
            per_run = " per run" if self.timeouts.n > 1 else ""
            return f"waited for a retransmission timeout {_span(share)} ({number(n, 2)} timeout{'s' * (n != 1)}{per_run})"
        return f"limited {_SENTENCE[limit]} {_span(share)}"

    def _window(self, share: float, phases: Mapping[str, float]) -> str:
        order = sorted(((s, limit) for limit, s in phases.items() if s >= _LEAST), reverse=True)
        return f"limited by its congestion window {_span(share)} ({', '.join(f'{_percent(s)} {LIMITS[limit]}' for s, limit in order)})"


@dataclass(frozen=True)
class QueueUsage:
    """Share of each flow in a queue, its drops and its marks."""

    link: str
    filled: dict[str, float]
    """Share of the backlog over time (bytes times their waiting time) by flow."""
    drops: dict[str, float]
    """Packets of each flow that the queue dropped, per run."""
    marks: dict[str, float]
    """Packets of each flow that the queue marked, per run."""
    starved: float
    """Share of the time with data to send for this queue in which it was empty; 0 if no flow ever had data."""
    starved_seconds: float
    """Time per run in which the queue was empty although a flow had data to send."""
    runs: int = 1

    def __str__(self) -> str:
        parts = [f"filled by {_ranked(self.filled, ' ({})')}"] if self.filled else ["always empty"]
        per_run = " per run" if self.runs > 1 else ""
        for kind, hit in ((f"drops{per_run} were", self.drops), (f"marks{per_run} were on", self.marks)):
            total = sum(hit.values())
            if total:
                shares = {f: n / total for f, n in hit.items()}
                parts.append(f"its {number(total, 4)} {kind} packets of {_ranked(shares, ' ({})')}")
        if self.starved > 0:
            span = f"{number(self.starved_seconds, 2)} s{per_run}"
            parts.append(f"idle {_span(self.starved)} although a sender had data ({span})")
        return f"queue of {one_line(self.link)}: {'; '.join(parts)}."


class LimitReport:
    """Limits of the flows and usage of the queues, by name (`flows`, `queues`); `print` shows a sentence for each.

    Times count after the warm-up, from the start of a flow to its end. The limit of a sender is its tightest bound, from one call of the
    sender to the next. A wait for a timeout is known afterwards: the time since the last segment from the other end.
    """

    def __init__(self, runs: Sequence[Mapping[str, Any]]) -> None:
        self.flows = {rows[0]["flow"]: _flow(rows) for rows in zip(*(r["flows"] for r in runs), strict=True)}
        self.queues = {rows[0]["link"]: _queue(rows) for rows in zip(*(r["queues"] for r in runs), strict=True)}

    def flow(self, name: str) -> FlowLimits:
        """Returns a flow by name; an unknown name is an error with a suggestion."""
        if name not in self.flows:
            raise suggest(name, list(self.flows), "flow")
        return self.flows[name]

    def queue(self, link: str) -> QueueUsage:
        """Returns the queue of a link direction."""
        if link not in self.queues:
            raise suggest(link, list(self.queues), "link")
        return self.queues[link]

    def sentences(self) -> list[str]:
        """Returns a sentence for each flow and for each queue with a backlog, drops or marks."""
        busy = [q for q in self.queues.values() if q.filled or q.drops or q.marks]
        busy.sort(key=lambda q: -sum(q.drops.values()))
        return [*_few([str(f) for f in self.flows.values()], "flows"), *_few([str(q) for q in busy], "queues")]

    def document(self) -> dict[str, Any]:
        """Returns the data that `fairlane run --why --json` prints."""
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
    """Reads the limit data of each run; an error if a run did not record them."""
    if any(r is None for r in runs):
        raise FairlaneError("this result has no limit data: run with --why (in Python why=True)")
    return LimitReport([json.loads(r or "") for r in runs])


def _flow(rows: Sequence[Mapping[str, Any]]) -> FlowLimits:
    times: list[dict[str, int]] = [dict(r["picoseconds"]) for r in rows]
    begun = [(t, total) for t in times if (total := sum(t.values())) > 0]
    shares = {limit: interval((t[limit] / total for t, total in begun), within=(0.0, 1.0), unit="1") for limit in times[0]} if begun else {}
    return FlowLimits(
        rows[0]["flow"],
        shares,
        interval((sum(t.values()) / 1e12 for t in times), within=within("open_time"), unit="s"),
        interval((r["timeouts"] for r in rows), within=within("timeouts"), unit="count"),
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
    return QueueUsage(rows[0]["link"], filled, hits["drops"], hits["marks"], share, starved / 1e12 / len(rows), len(rows))


def _percent(share: float) -> str:
    """Returns a share in percent with two digits.

    >>> _percent(0.9554), _percent(0.99999), _percent(0.0454), _percent(1.0)
    ('96 %', 'over 99 %', '4.5 %', '100 %')
    """
    x = 100 * share
    if 99.5 <= x < 100:
        return "over 99 %"
    return f"{x:.0f} %" if x >= 10 else f"{number(float(f'{x:.2g}'), 2)} %"


def _span(share: float) -> str:
    return "all the time" if share >= 1.0 - 1e-12 else f"{_percent(share)} of the time"


def _ranked(shares: Mapping[str, float], form: str) -> str:
    ranked = sorted(shares.items(), key=lambda x: -x[1])
    names = [one_line(f) + form.format(_percent(s)) for f, s in ranked[:4]]
    return ", ".join(names) + (f" and {len(ranked) - 4} more" if len(ranked) > 4 else "")


def _few(sentences: list[str], kind: str) -> Iterator[str]:
    yield from sentences[:_MOST]
    if len(sentences) > _MOST:
        yield f"{len(sentences) - _MOST} more {kind} not shown: use --json."
