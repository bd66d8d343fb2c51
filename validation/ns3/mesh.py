"""TCP over one channel of stations that forward, here and in ns-3.37 (`field.cc`): the same places, flows, starts and static routes.

The network is fairlane's, with `routing = "single"`; routes are those that its packets take. ns-3 has its parameters of the channel. Its
queue is that of the MAC, and ACKs go at 1 Mbit/s (b), or at the highest of 6, 12 and 24 Mbit/s that is not above the data's (a).
"""

from __future__ import annotations

import copy
import subprocess
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import fairlane as fl
from fairlane.base.literals import si

from . import peer

SOURCE = Path(__file__).with_name("field.cc")
MODULES = (
    "ns3-wifi",
    "ns3-propagation",
    "ns3-mobility",
    "ns3-applications",
    "ns3-internet",
    "ns3-traffic-control",
    "ns3-network",
    "ns3-core",
)

Route = tuple[str, str]


@dataclass(frozen=True)
class Outcome:
    """Kilobits a second of each flow, the hops between its ends, and the share of data frames without acknowledgment of each station."""

    goodput: list[float]
    hops: list[int]
    lost: list[float]

    @property
    def total(self) -> float:
        """Goodput of all flows."""
        return sum(self.goodput)


def ends(net: fl.Network) -> list[tuple[str, str, float]]:
    """Sender, receiver and start of each flow."""
    return [(f["from"], f["to"], si(f["start"])) for f in net.resolve()["expanded"]["flows"]]


def routes(net: fl.Network) -> dict[Route, list[str]]:
    """The nodes that packets of the flows come by, there and back, as a lone packet of each pair shows them."""
    (channel,) = net.to_dict()["wireless"]
    both = sorted({pair for a, b, _ in ends(net) for pair in ((a, b), (b, a))})
    probe = copy.deepcopy(net).replace("flows", {}).replace("duration", f"{200 * len(both) + 1000}ms").replace("warmup", "0s")
    for k, (a, b) in enumerate(both):
        once = {"start": f"{200 * k}ms", "stop": f"{200 * k + 1}ms"}
        probe.flow(f"p{k}", a, b, udp={}, source={"cbr": {"rate": "1kbit/s", "size": "50B"}}, **once)
    rows = probe.run(seed=net.resolve()["seed"], trace="enqueue").trace().collect().sort("time_ps")
    found: dict[Route, list[str]] = {pair: [] for pair in both}
    for flow, link in rows.select("flow", "link").iter_rows():
        found[both[int(flow.removeprefix("p"))]].append(link.removesuffix(f"-{channel}"))
    return {(a, b): [*nodes, b] for (a, b), nodes in found.items()}


def options(net: fl.Network) -> dict[str, Any]:
    """The network's parameters as the program takes them."""
    tree = net.resolve()
    (air,) = tree["wireless"].values()
    ((model, space),) = air["propagation"].items()
    queue = air["queue"]["droptail"]["limit"]
    return {
        "standard": air["standard"].removeprefix("802.11"),
        "rate": f"{si(air['rate']) / 1e6:g}",
        "model": model,
        "frequency": space["frequency_ghz"] * 1e9,
        "power": air["power_dbm"],
        "figure": air["noise_figure_db"],
        "sensitivity": air["sensitivity_dbm"],
        "cca": air["cca_dbm"],
        "threshold": -100 if air["errors"] == "rates" else air["threshold_db"],
        "rts": 0 if air.get("rts_threshold") is not None else 999999,
        "limit": int(queue.removesuffix("p")),
        "warmup": si(tree["warmup"]),
        "seconds": si(tree["duration"]) - si(tree["warmup"]),
    }


def theirs(net: fl.Network, run: int) -> Outcome:
    """ns-3's run of this number."""
    given = options(net)
    paths, flows = routes(net), ends(net)
    (channel,) = net.resolve()["expanded"]["channels"]
    number = {s["node"]: i for i, s in enumerate(channel["stations"])}
    nexts = {(number[at], number[to]): number[on] for (_, to), nodes in paths.items() for at, on in pairwise(nodes)}
    lines = [f"stations {len(number)}", *("{} {}".format(*s["at"]) for s in channel["stations"])]
    lines += [f"hops {len(nexts)}", *(f"{at} {to} {on}" for (at, to), on in nexts.items())]
    lines += [f"flows {len(flows)}", *(f"{number[a]} {number[b]} {start}" for a, b, start in flows)]
    program = peer.executable(SOURCE, MODULES)
    words = [f"--run={run}", *(f"--{k}={v}" for k, v in given.items())]
    done = subprocess.run([program, *words], input="\n".join(lines), capture_output=True, text=True, check=True)
    rows = [[int(x) for x in line.split()] for line in done.stdout.splitlines()]
    goodput = [x * 8e-3 / given["seconds"] for (x,) in rows[: len(flows)]]
    return Outcome(goodput, [len(paths[a, b]) - 1 for a, b, _ in flows], [_share(*x) for x in rows[len(flows) :]])


def ours(net: fl.Network, seed: int) -> Outcome:
    """Our run with this seed."""
    net = copy.deepcopy(net).replace("seed", seed)
    paths = routes(net)
    result = net.run(seed=seed)
    stations = [r for r in result.links.to_dicts() if r["attempts"] is not None]
    hops = [len(paths[a, b]) - 1 for a, b, _ in ends(net)]
    return Outcome([g / 1e3 for g in result.flows["goodput"]], hops, [_share(r["attempts"], r["acknowledged"]) for r in stations])


def _share(data: int, acknowledged: int) -> float:
    return 1 - acknowledged / data if data else 0.0
