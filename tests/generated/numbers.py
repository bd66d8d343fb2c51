"""Means, rates and series of tables, worked out again from the events of the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .events import Events
from .laws import Columns
from .values import value_of

EXACT = 1e-6
"""Tolerance of means and rates, which are summed in another order here."""
BIN = 1 / 32
"""Tolerance of percentiles, which come from bins of a 64th of their value."""


def near(a: float, b: float, least: float = 0.0) -> bool:
    """True if both say the same."""
    return abs(a - b) <= EXACT * max(abs(a), abs(b)) + least


class Fixed:
    """A direction of a link of which rate and delay stay as they are."""

    def __init__(self, e: Events, number: int, link: dict[str, Any]) -> None:
        mine = e.rows["link"] == number
        out = mine & e.kinds["dequeue"]
        self.start = e.time[out].astype(float)
        self.took = e.rows["length"][out].astype(float) * 8e12 / value_of("rate", link["rate"])
        self.rate = value_of("rate", link["rate"])

    def bits(self, begin: float, end: float) -> float:
        """Bits sent in a span, given in picoseconds."""
        within = np.minimum(self.start + self.took, end) - np.maximum(self.start, begin)
        return float(np.maximum(within, 0).sum()) * self.rate / 1e12


def plain(link: dict[str, Any], changed: bool) -> bool:
    """True if what the link sends follows from when packets leave its queue."""
    other = ("air", "rates", "trace", "profile", "device", "down")
    return not changed and "rate" in link and not any(link.get(k) for k in other)


def of_links(e: Events, t: Columns, links: list[dict[str, Any]], changed: bool, warm: int, end: int) -> Iterator[str]:
    """Where the table of links says something else than the events."""
    span = (end - warm) / 1e12
    step = e.kinds["enqueue"].astype(np.int64) - e.kinds["dequeue"] - e.dropped
    after = e.time > warm if warm else np.ones(e.rows.size, bool)
    for i, link in enumerate(links):
        mine = e.rows["link"] == i
        if not mine.any():
            continue
        name = link["name"]
        times = np.clip(np.append(e.time[mine], end).astype(float), warm, end)
        mean = float((np.cumsum(step[mine]) * np.diff(times)).sum()) / (end - warm)
        if not near(mean, t["queue_mean"][i], 1e-9):
            yield f"numbers: {name}: queue_mean is {t['queue_mean'][i]!r}, of its events {mean!r}"
        into, out = mine & e.kinds["enqueue"], mine & e.kinds["dequeue"]
        ids, first = np.unique(e.rows["packet"][into], return_index=True)
        leaving = e.rows["packet"][out & after]
        if leaving.size and np.isin(leaving, ids).all():
            waits = (e.time[out & after] - e.time[into][first][np.searchsorted(ids, leaving)]).astype(np.int64).astype(float) / 1e12
            for column, there in (("sojourn_mean", waits.mean()), ("sojourn_max", waits.max())):
                if not near(float(there), float(t[column][i]), 2e-12):
                    yield f"numbers: {name}: {column} is {t[column][i]!r}, of its events {float(there)!r}"
            yield from ranks(name, "sojourn", waits, t, i)
        if plain(link, changed):
            fixed = Fixed(e, i, link)
            # Times are whole picoseconds.
            sent, least = fixed.bits(warm, end) / span, (1e-3 + fixed.rate * 4e-12) / span
            if not near(sent, t["throughput"][i], least):
                yield f"numbers: {name}: throughput is {t['throughput'][i]!r}, of its events {sent!r}"
            if not near(sent / fixed.rate, t["utilisation"][i], 1e-9 + least / fixed.rate):
                yield f"numbers: {name}: utilisation is {t['utilisation'][i]!r}, of its events {sent / fixed.rate!r}"


def ranks(name: str, stem: str, values: Any, t: Columns, i: int) -> Iterator[str]:
    """Percentiles that are not those of the values."""
    ordered = np.sort(values)
    for p in (50, 95, 99):
        if (column := f"{stem}_p{p}") not in t:
            continue
        at = (len(ordered) - 1) * p / 100
        low, high = ordered[max(0, int(at) - 1)], ordered[min(len(ordered) - 1, int(at) + 2)]
        if not low * (1 - BIN) - 1e-9 <= t[column][i] <= high * (1 + BIN) + 1e-9:
            yield f"numbers: {name}: {column} is {t[column][i]!r}, of its events between {low!r} and {high!r}"


def of_flows(e: Events, t: Columns, warm: int, end: int) -> Iterator[str]:
    """Where the table of flows says something else than the events."""
    span = (end - warm) / 1e12
    got = e.kinds["receive"] & e.data & ((e.time > warm) | (warm == 0))
    begun = e.sent & e.data
    ids, first = np.unique(e.rows["packet"][begun], return_index=True)
    for i, name in enumerate(t["name"]):
        mine = got & (e.rows["flow"] == i)
        rate = float(e.rows["length"][mine].astype(float).sum()) * 8 / span
        if not near(rate, t["throughput"][i]):
            yield f"numbers: {name}: throughput is {t['throughput'][i]!r}, of its events {rate!r}"
        if t["goodput"][i] * span / 8 > float(e.rows["payload"][mine].astype(float).sum()) * (1 + EXACT):
            yield f"numbers: {name}: goodput is {t['goodput'][i]!r}, more than what arrived"
        arrived = e.rows["packet"][mine]
        if not arrived.size or not np.isin(arrived, ids).all():
            continue  # copies that links made have no sender
        took = (e.time[mine] - e.time[begun][first][np.searchsorted(ids, arrived)]).astype(np.int64).astype(float) / 1e12
        for column, there in (
            ("delay_mean", took.mean()),
            ("delay_max", took.max()),
            ("jitter", np.abs(np.diff(took)).mean() if took.size > 1 else None),
        ):
            if there is not None and not warm and not near(float(there), float(t[column][i]), 2e-12):
                yield f"numbers: {name}: {column} is {t[column][i]!r}, of its events {float(there)!r}"
        yield from ranks(name, "delay", took, t, i)


def subjects(column: list[str], names: list[str]) -> Any:
    """For each row of a series the number of its flow or link."""
    number = {name: i for i, name in enumerate(names)}
    return np.fromiter((number.get(name, -1) for name in column), np.int64, len(column))


def of_series(e: Events, flows: Columns, links: Columns, of: list[dict[str, Any]], changed: bool) -> Iterator[str]:
    """Where sums over the time series are not what happened until the last sample."""
    whose = subjects(links["link"], [link["name"] for link in of])
    for i, link in enumerate(of):
        own = whose == i
        mine = e.rows["link"] == i
        if not own.any() or (not mine.any() and not links["throughput"][own].any() and not links["drops"][own].any()):
            continue
        times, drops = links["time"][own], links["drops"][own]
        last = round(float(times[-1]) * 1e12)
        dropped = int((mine & e.dropped & (e.time <= last)).sum())
        if int(drops.sum()) != dropped:
            yield f"series: {link['name']}: drops add up to {drops.sum():.0f}, there are {dropped} rows"
        if plain(link, changed):
            fixed = Fixed(e, i, link)
            sent, there = fixed.bits(0, last), area(times, links["throughput"][own])
            # Times are whole picoseconds.
            if not near(sent, there, 1e-3 + fixed.rate * 4e-12):
                yield f"series: {link['name']}: the throughput adds up to {there!r} bit, of its events {sent!r}"
    if not flows:
        return
    whose = subjects(flows["flow"], e.texts["flow"])
    got = e.kinds["receive"] & e.data
    for i, name in enumerate(e.texts["flow"]):
        own = whose == i
        if not own.any():
            continue
        times = flows["time"][own]
        mine = got & (e.rows["flow"] == i) & (e.time <= round(float(times[-1]) * 1e12))
        bits, there = float(e.rows["length"][mine].sum(dtype=np.int64)) * 8, area(times, flows["throughput"][own])
        if not near(bits, there, 1e-3):
            yield f"series: {name}: the throughput adds up to {there!r} bit, of its events {bits!r}"


def area(times: Any, rates: Any) -> float:
    """A rate added up over the time since the sample before."""
    return float((rates * np.diff(times, prepend=0.0)).sum())
