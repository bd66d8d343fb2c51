"""Growth of the cost of a packet-hop with what a packet should not depend on: rates, windows, flows and queued packets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..base.choices import choices, known, limited
from ..errors import suggest
from . import benchmarks

GROWTH_SCHEMA = "fairlane.bench-growth/1"


@dataclass(frozen=True)
class Case:
    """One thing that grows."""

    name: str
    path: Path
    sizes: Mapping[str, dict[str, Any]]
    """By size, from the smallest: values of the scenario by path."""


def cases() -> dict[str, Case]:
    """Returns all cases by name: the rate of links, flows that begin at once, the window of each TCP, flows and packets in each queue."""
    p = benchmarks.scenarios()
    rates = {rate: {"topology.fat_tree.rate": rate, "duration": t} for rate, t in _RATES.items()}
    starts = {f"{n} flows": _starts(n) for n in (1_000, 10_000, 100_000)}
    found = [Case("rate", p["P6"], rates), Case("starts", p["P9"], starts)]
    found += [Case(cc, p["P8"], {s: _window(cc, s, *v) for s, v in _PATHS.items()}) for cc in _names("cc")]
    queue = Path(str(files("fairlane").joinpath("scenarios", "growth.toml")))
    found += [Case(q, queue, {f"{n} flows": _queue(q, n) for n in (100, 1_000, 10_000)}) for q in _names("queue")]
    return {case.name: case for case in found}


_RATES = {"10Gbit/s": "1ms", "100Gbit/s": "100us", "400Gbit/s": "50us"}
"""Rates of the links of P6, and how long a run is."""
_PATHS = {"120Mbit/s": ("60s", "500p"), "1200Mbit/s": ("12s", "5000p"), "12Gbit/s": ("4s", "50000p")}
"""Rates of the path of P8, with the length of a run and the buffer: the window is in proportion."""
_SHARE = 10
"""Rate of the link of P9 for each flow, kbit/s."""
_FLOWS_RATE = 15_000
"""Rate of all flows before the queue together, Mbit/s."""


def _names(kind: str) -> list[str]:
    return sorted(set(known(kind).values()))


def _starts(n: int) -> dict[str, Any]:
    return {"flows.tcp.count": n, "links.line.rate": f"{_SHARE * n}kbit/s"}


def _window(cc: str, rate: str, duration: str, buffer: str) -> dict[str, Any]:
    flows = {f"flows.{flow}.tcp.cc": cc for flow in ("bbr", "scalable")}
    return {"links.line.rate": rate, "links.line.queue.droptail.limit": buffer, "duration": duration, **flows}


def _queue(name: str, n: int) -> dict[str, Any]:
    (choice,) = choices(name)
    rate = f"{_FLOWS_RATE * 1000 // n}kbit/s"
    return {"links.line.queue": limited(choice, f"{n}p"), "flows.f.count": n, "flows.f.source.poisson.rate": rate}


def choose(names: Iterable[str] = ()) -> list[Case]:
    """Returns the cases with these names; without names all."""
    every = cases()
    spelt = {**{n.lower(): n for n in every}, **known("cc"), **known("queue")}
    for name in names:
        if spelt.get(name.lower()) not in every:
            raise suggest(name, list(every), "benchmark of growth")
    return [every[n] for n in dict.fromkeys(spelt[name.lower()] for name in names)] or list(every.values())


def run_growth(names: Iterable[str] = (), *, repeat: int = 1, report: Callable[[dict[str, Any]], None] | None = None) -> dict[str, Any]:
    """Returns the document of `fairlane bench growth --json`: one row per case, of each size the repetition with the least CPU time."""
    rows = []
    for case in choose(names):
        ns = [min(float(benchmarks.one(case.name, case.path, s)["ns_per_packet_hop"]) for _ in range(repeat)) for s in case.sizes.values()]
        row = {"case": case.name, "sizes": list(case.sizes), "ns": ns, "ratio": ns[-1] / ns[0]}
        rows.append(row)
        if report is not None:
            report(row)
    from .. import _core

    return {"schema": GROWTH_SCHEMA, "fairlane": _core.version(), "results": rows}
