"""Invariants of the tables and series of any run, whatever the scenario."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from fairlane import _core

Columns = dict[str, Any]
SHARES = {
    "flows": ("loss",),
    "groups": ("loss", "jain"),
    "links": ("utilisation", "loss", "loss_synchronisation", "jain", "airtime", "medium_busy"),
    "network": ("jain", "jain_tcp", "worst_share", "loss"),
    "flow_series": ("open", "loss_event_rate", "b"),
    "link_series": ("max_p", "drop_prob", "drop_prob_in", "drop_prob_out", "mark_prob", "clamping", "dropping", "virtual_share"),
}
"""Columns from 0 to 1."""
PARTS = {
    "flows": (
        ("goodput", "throughput"),
        ("lost_down", "packets_lost"),
        ("retransmits", "packets_sent"),
        ("marked", "packets_received"),
        ("reordered", "packets_received"),
        ("ecn_cuts", "cwnd_cuts"),
        ("delay_mean", "delay_max"),
        ("completed", "flows"),
    ),
    "links": (
        ("drops_down", "drops"),
        ("lost_cut", "lost"),
        ("given_up", "lost"),
        ("queue_mean", "queue_max"),
        ("sojourn_mean", "sojourn_max"),
        ("queue_bytes_mean", "queue_bytes_max"),
        ("airtime", "medium_busy"),
    ),
    "network": (("goodput_tcp", "goodput"), ("goodput", "throughput"), ("retransmits", "packets_sent")),
}
"""Columns of which the first is never more than the second, whatever was in flight when the warm-up ended."""
AT_ONCE = {"flows": (("jitter", "delay_max"),), "links": (("acknowledged", "attempts"), ("drops", "arrivals"))}
"""Columns of which the first is never more than the second if there is no warm-up."""
RISING = ("_p50", "_p95", "_p99", "_max")
NEGATIVE = {"diff", "queueing_delay", "a"}
"""Inner variables of algorithms that may be below zero."""
CLOSE = 1e-9
"""Relative tolerance of floating-point sums."""


def table(run: _core.Run, name: str) -> Columns:
    """A table with its columns of numbers as arrays."""
    whole = {"flows": run.flows, "groups": run.groups, "links": run.links, "network": run.network}.get(name)
    if whole is not None:
        return {k: v if isinstance(v, list) else np.asarray(v) for k, v in whole().items()}
    names = run.names(name)
    return {k: v if isinstance(v, list) else np.asarray(v) for k in names for v in [run.column(name, k)]}


def broken(name: str, t: Columns, warm: int = 0) -> Iterator[str]:
    """Yields the impossible values of a table."""
    key = next((k for k in ("name", "link", "flow") if k in t), None)

    def where(mask: Any, *columns: str) -> str:
        i = int(np.flatnonzero(mask)[0])
        at = f" at {float(t['time'][i])} s" if "time" in t else ""
        shown = ", ".join(f"{c} {float(t[c][i])!r}" for c in columns)
        return f"{name} {t[key][i] if key else ''}{at}: {shown}"

    numbers = {k: v for k, v in t.items() if isinstance(v, np.ndarray)}
    for column, values in numbers.items():
        if (bad := values < 0).any() and column.split("_", 1)[-1] not in NEGATIVE and column not in NEGATIVE:
            yield f"sign: {where(bad, column)} is negative"
        if np.isinf(values).any() and column not in ("ssthresh", "srtt", "inflight_longterm", "bandwidth_shortterm", "inflight_shortterm"):
            yield f"infinite: {where(np.isinf(values), column)}"
    for column in SHARES[name]:
        if column in numbers and (bad := numbers[column] > 1 + CLOSE).any():
            yield f"share: {where(bad, column)} is above 1"
    base = "flows" if name == "groups" else name
    for part, whole in (*PARTS.get(base, ()), *(() if warm else AT_ONCE.get(base, ()))):
        if part in numbers and whole in numbers and (bad := numbers[part] > numbers[whole] * (1 + CLOSE)).any():
            yield f"part: {where(bad, part, whole)}"
    for stem in sorted({c.rsplit("_", 1)[0] for c in numbers if c.endswith(RISING)}):
        own = [stem + end for end in RISING if stem + end in numbers]
        for less, more in itertools.pairwise(own):
            if (bad := numbers[less] > numbers[more] * (1 + CLOSE)).any():
                yield f"percentiles: {where(bad, less, more)}"


def sums(flows: Columns, links: Columns, network: Columns) -> Iterator[str]:
    """Yields the contradictions between the tables of a run."""
    drops = sum(links[c] for c in links if c.startswith("drops_"))
    if (bad := drops != links["drops"]).any():
        yield f"drops: {links['name'][int(np.flatnonzero(bad)[0])]}: reasons make {drops[bad][0]}, all {links['drops'][bad][0]}"
    for column in ("packets_sent", "packets_received", "retransmits", "timeouts", "goodput", "throughput"):
        there, sum_ = float(network[column][0]), float(flows[column].sum())
        if not math.isclose(there, sum_, rel_tol=1e-9, abs_tol=1e-9):
            yield f"network: {column} is {there!r}, of its flows {sum_!r}"
    for column in ("drops", "lost", "marks"):
        if float(network[column][0]) != float(links[column].sum()):
            yield f"network: {column} is {network[column][0]}, of its links {links[column].sum()}"
    fates = ((flows, "flows", "packets_lost", "packets_received"), (links, "links", "drops", "departures"))
    for t, of, lost, well in fates:
        all_ = t[lost] + t[well]
        ratio = t[lost] / np.maximum(all_, 1)
        if (bad := np.abs(ratio - t["loss"]) > CLOSE).any():
            i = int(np.flatnonzero(bad)[0])
            yield f"loss: {of} {t['name'][i]} has {float(t['loss'][i])!r}, but {t[lost][i]:.0f} of {all_[i]:.0f} packets"


def grouped(flows: Columns, groups: Columns, of: list[str]) -> Iterator[str]:
    """Where rows of groups are not the sums of their flows; `of` is the group of each flow."""
    for i, name in enumerate(groups["name"]):
        mine = np.array([g == name for g in of])
        if not mine.any():
            continue  # nothing of a group without flows is a number
        if int(groups["flows"][i]) != int(mine.sum()):
            yield f"groups: {name} has {groups['flows'][i]} flows instead of {mine.sum()}"
        for column in ("packets_sent", "packets_received", "packets_lost", "retransmits", "timeouts", "marked", "reordered", "cwnd_cuts"):
            if float(groups[column][i]) != float(flows[column][mine].sum()):
                yield f"groups: {name}: {column} is {groups[column][i]}, of its flows {flows[column][mine].sum()}"
        for column in ("throughput", "goodput"):
            if not math.isclose(groups[column][i], flows[column][mine].sum(), rel_tol=1e-9, abs_tol=1e-9):
                yield f"groups: {name}: {column} is {groups[column][i]!r}, of its flows {flows[column][mine].sum()!r}"
