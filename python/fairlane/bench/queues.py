"""Cost of queues: enqueue and dequeue alone, and a packet-hop of P1 with the queue at its bottleneck."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..base.choices import choices, known, limited
from ..errors import FairlaneError, ScenarioError, suggest
from . import benchmarks

QUEUES_SCHEMA = "fairlane.bench-queues/1"
PACKETS = 1_000_000
P1_LIMIT = "300p"
"""Buffer of P1's bottleneck: with `droptail` it is P1 itself."""
YARDSTICK = "droptail"
"""The baseline queue."""


def choose(names: Iterable[str] = ()) -> list[str]:
    """Returns the registered names of queues; without names all. The baseline is first."""
    spelt = known()
    wanted = []
    for name in names:
        if name.lower() not in spelt:
            raise suggest(name, sorted(set(spelt.values())), "queue")
        wanted.append(spelt[name.lower()])
    every = wanted or list(dict.fromkeys(spelt[n] for n in spelt if spelt[n] == n))
    return list(dict.fromkeys([YARDSTICK, *every]))


def run_queues(
    names: Iterable[str] = (),
    *,
    packets: int = PACKETS,
    repeat: int = 1,
    hops: bool = True,
    report: Callable[[dict[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Returns the document of `fairlane bench queues --json`: one row per queue with default parameters.

    `hops` also runs P1 with each queue. `repeat` is the number of measurements, of which the smallest counts for each column.
    """
    rows = []
    base: float | None = None
    for name in choose(names):
        row = _alone(name, packets, repeat)
        row["hop_ns"] = _hop(name, repeat) if hops and row["ns"] is not None else None
        base = row["hop_ns"] if base is None else base
        row["hop_ratio"] = row["hop_ns"] / base if row["hop_ns"] and base else None
        rows.append(row)
        if report is not None:
            report(row)
    from .. import _core

    return {"schema": QUEUES_SCHEMA, "fairlane": _core.version(), "packets": packets, "yardstick": YARDSTICK, "queues": rows}


def _alone(name: str, packets: int, repeat: int) -> dict[str, Any]:
    from .. import _core

    try:
        found = [_core.bench_queue(name, packets, seed) for seed in range(1, repeat + 1)]
    except (ScenarioError, FairlaneError):
        # The queue needs parameters: the row has no values.
        return {"queue": name, "ns": None, "packets": 0, "drops": 0}
    best = min(found, key=lambda f: f["ns"])
    return {"queue": name, "ns": best["ns"], "packets": int(best["packets"]), "drops": int(best["drops"])}


def _hop(name: str, repeat: int) -> float:
    """Returns the CPU time of a packet-hop of P1 with this queue in ns."""
    (path,) = benchmarks.choose(["P1"]).values()
    (choice,) = choices(name)
    sets = {"links.bottleneck.queue": limited(choice, P1_LIMIT)}
    return min(float(benchmarks.one(name, path, sets)["ns_per_packet_hop"]) for _ in range(repeat))
