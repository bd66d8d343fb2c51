"""Invariants of the events of any run: every packet begins and ends once, and counters are numbers of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fairlane import _core
from fairlane.runs.listeners import FIELDS

from .laws import Columns
from .values import value_of

ROW = np.dtype([(name, f"<u{size}") for name, size in zip(FIELDS, (8,) * 5 + (4,) * 5 + (1,) * 4, strict=True)])
BACK = 4
"""In the field of a row: the packet goes from the receiver to the sender."""
ON_LINK = ("link", "retry", "cut")
"""Reasons of drops that are losses on a link."""


class Events:
    """All events of a run, with masks by kind."""

    def __init__(self, parts: list[bytes], texts: dict[str, list[str]]) -> None:
        self.rows = np.frombuffer(b"".join(parts), ROW)
        self.texts = texts
        self.kinds = {name: self.rows["event"] == i for i, name in enumerate(texts["event"])}
        reason = {name: i for i, name in enumerate(texts["reason"])}
        lost = np.isin(self.rows["detail"], [reason[r] for r in ON_LINK])
        self.of_reason = {name: self.kinds["drop"] & (self.rows["detail"] == i) for name, i in reason.items()}
        self.lost, self.dropped = self.kinds["drop"] & lost, self.kinds["drop"] & ~lost
        forward = (self.rows["field"] & BACK) == 0
        self.sent = self.kinds["send"] | self.kinds["retransmit"]
        self.data = (self.rows["payload"] > 0) & forward
        self.time = self.rows["time_ps"]

    def count(self, mask: Any, column: str, n: int) -> Any:
        """How many of these rows each flow or link has."""
        return np.bincount(self.rows[column][mask], minlength=n)[:n]


def packets(e: Events, alive: int, copies: bool) -> Iterator[str]:
    """Packets that appear or vanish."""
    if not e.rows.size:
        return
    if (back := np.flatnonzero(np.diff(e.time.astype(np.int64)) < 0)).size:
        yield f"order: row {back[0] + 1} is of an earlier time than the row before"
    ids = e.rows["packet"]
    begun, ended = ids[e.sent], ids[e.kinds["receive"] | e.kinds["drop"]]
    if np.unique(begun).size != begun.size:
        yield "packets: one is sent twice under one number"
    if np.unique(ended).size != ended.size:
        yield "packets: one ends twice"
    # Copies of packets first appear behind the link that made them.
    in_flight = begun.size - int(np.isin(ended, begun).sum())
    if in_flight > alive if copies else begun.size - ended.size != alive:
        yield f"packets: {begun.size} sent less {ended.size} that ended is not the {alive} that are in flight"


def counters(e: Events, flows: Columns, links: Columns, warm: int) -> Iterator[str]:
    """Counters of tables that are not the numbers of rows after the warm-up."""
    after = e.time > warm if warm else np.ones(e.rows.size, bool)

    def compare(t: Columns, column: str, mask: Any, by: str, of: Any = True) -> Iterator[str]:
        if column not in t:
            return
        rows, there = e.count(mask & after, by, len(t["name"])), t[column]
        if (bad := (rows != there) & of).any():
            i = int(np.flatnonzero(bad)[0])
            yield f"rows: {by} {t['name'][i]}: {column} is {there[i]:.0f}, there are {rows[i]} rows"

    yield from compare(links, "arrivals", e.kinds["enqueue"], "link")
    yield from compare(links, "departures", e.kinds["dequeue"], "link")
    yield from compare(links, "drops", e.dropped, "link")
    yield from compare(links, "lost", e.lost, "link")
    for reason in ("overflow", "early", "forced", "head", "evicted", "down"):
        yield from compare(links, f"drops_{reason}", e.of_reason[reason], "link")
    yield from compare(links, "lost_cut", e.of_reason["cut"], "link")
    yield from compare(flows, "packets_sent", e.sent & e.data, "flow")
    yield from compare(flows, "packets_received", e.kinds["receive"] & e.data, "flow")
    yield from compare(flows, "packets_lost", e.kinds["drop"] & e.data, "flow")
    yield from compare(flows, "acks_lost", e.kinds["drop"] & ~e.data, "flow")
    yield from compare(flows, "retransmits", e.kinds["retransmit"] & e.data, "flow")
    # Those of RAP have no events.
    yield from compare(flows, "timeouts", e.kinds["timeout"], "flow", np.array([t == "tcp" for t in flows["transport"]]))
    ce = (e.rows["field"] & 3) == e.texts["ecn"].index("CE")
    yield from compare(flows, "marked", e.kinds["receive"] & e.data & ce, "flow")


def flows(e: Events, of: list[dict[str, Any]], t: Columns, warm: int, restarts: bool) -> Iterator[str]:
    """Flows that send before they start, more than they have, or are acknowledged faster than their packets can travel."""
    whose, back = e.rows["flow"], (e.rows["field"] & BACK) != 0
    begun, ended = e.sent, e.kinds["receive"]
    ids, first = np.unique(e.rows["packet"][begun], return_index=True)
    at = np.minimum(np.searchsorted(ids, e.rows["packet"][ended]), max(ids.size - 1, 0))
    took = e.time[ended].astype(np.int64) - (e.time[begun][first][at].astype(np.int64) if ids.size else 0)
    took = np.where(ids[at] == e.rows["packet"][ended], took, 0) if ids.size else took
    for i, flow in enumerate(of):
        mine = whose == i
        if not mine.any():
            continue
        if (early := e.time[mine & begun]).size and int(early[0]) < _core.picoseconds(flow["start"] or "0s"):
            yield f"start: {flow['name']} sends at {early[0]} ps, and starts at {flow['start']}"
        if restarts or flow["transport"] != "tcp":
            continue
        ways = [took[(whose == i)[ended] & (back[ended] == b)] for b in (False, True)]
        if all(w.size for w in ways):
            least = float(sum(w.min() for w in ways)) / 1e12
            for column in ("rtt_mean", "rtt_p50", "rtt_p99"):
                if t[column][i] * (1 + 1 / 32) < least:
                    yield f"rtt: {flow['name']}: {column} is {t[column][i]!r}, the fastest packets there and back took {least!r}"


def hops(e: Events, links: list[dict[str, Any]], changed: bool) -> Iterator[str]:
    """Transmissions that are faster than the link, and packets faster than its propagation."""
    rows, of = e.rows, e.rows["link"]
    for i, link in enumerate(links):
        if changed or any(link.get(k) for k in ("air", "trace", "rates")) or "delay" not in link or "rate" not in link:
            continue
        rate, delay = value_of("rate", link["rate"]), round(value_of("dur", link["delay"]) * 1e12)
        width = link.get("jitter") or {}
        # Other distributions than the uniform one have no bound but a delay of zero.
        slack = delay if width and width["distribution"] != "uniform" else round(value_of("dur", width["width"]) * 1e12) if width else 0
        out = (of == i) & e.kinds["dequeue"]
        if not out.any():
            continue
        start, bits = e.time[out].astype(np.int64), rows["length"][out].astype(float) * 8e12
        if not link.get("device") and (bad := np.diff(start) < np.floor(bits / rate)[:-1] - 2).any():
            k = int(np.flatnonzero(bad)[0])
            message = f"a packet of {bits[k] / 8e12:.0f} B leaves {int(np.diff(start)[k])} ps before the next"
            yield f"rate: {link['name']}: {message} at {link['rate']}"
        end = (of == i) & e.kinds["arrive"]
        ids, first = np.unique(rows["packet"][out], return_index=True)
        at = np.minimum(np.searchsorted(ids, rows["packet"][end]), ids.size - 1)
        known = ids[at] == rows["packet"][end]
        took = e.time[end].astype(np.int64) - start[first][at]
        least = np.floor(bits[first][at] / rate) + delay - slack - 2
        if (bad := (took < least) & known).any():
            k = int(np.flatnonzero(bad)[0])
            yield f"propagation: {link['name']}: {took[k]} ps from end to end, {least[k]:.0f} at the least"


def queues(e: Events, sim: _core.Simulation, links: list[dict[str, Any]], copies: bool) -> Iterator[str]:
    """Queues whose lengths are not what came less what left."""
    of, rows = e.rows["link"], e.rows
    step = e.kinds["enqueue"].astype(np.int64) - e.kinds["dequeue"] - e.dropped
    for i in range(len(links)):
        mine = of == i
        if not mine.any():
            continue
        waiting, size = int(step[mine].sum()), int((step * rows["length"])[mine].sum())
        there = sim.queue(i)["queue"]
        if (waiting, size) != (there["packets"], there["bytes"]):
            yield f"queue: link {e.texts['link'][i]}: {waiting} packets, {size} B by rows, {there['packets']} and {there['bytes']} in it"
        left, there = rows["packet"][e.kinds["dequeue"] & mine], rows["packet"][(e.kinds["arrive"] | e.lost) & mine]
        flying, in_flight = left.size - there.size, sim.queue(i)["link"]["in_flight"]
        if flying != in_flight and not copies:
            yield f"in flight: link {e.texts['link'][i]}: {flying} by rows, {in_flight} on it"
        gone = mine & e.kinds["dequeue"]
        running = np.cumsum(np.where(mine, step, 0))
        if (bad := running[gone] != rows["queue_packets"][gone]).any():
            k = int(np.flatnonzero(bad)[0])
            at = int(e.time[gone][k])
            yield f"queue: link {e.texts['link'][i]} at {at} ps: {running[gone][k]} by rows, {rows['queue_packets'][gone][k]} told"
