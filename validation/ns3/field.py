"""`python -m validation.ns3.field [NODES] [SEEDS]`: the air of ramachendra2014 beside ns-3.37: how many flows deliver nothing.

Both sides have the same places, flows, starts and static routes of fewest hops, 802.11b at 2 Mbit/s over two-ray ground, TCP NewReno with
ns-3's parameters, segments of 512 bytes and 16 KiB in flight at most, and DropTail of 100 packets before each station. ns-3's queue is that
of its MAC; control frames go at 1 Mbit/s.
"""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import fairlane as fl

from . import peer

SOURCE = Path(__file__).with_name("field.cc")
MODULES = ("ns3-wifi", "ns3-propagation", "ns3-mobility", "ns3-applications", "ns3-internet", "ns3-network", "ns3-core")
STUDY = Path(__file__).resolve().parents[2] / "papers" / "ramachendra2014" / "air.toml"
WARMUP, MEASURED = 3.0, 12.0


@dataclass(frozen=True)
class Field:
    """What came of one network: kilobits a second of each flow, and the hops between its ends."""

    goodput: list[float]
    hops: list[int]

    @property
    def silent(self) -> float:
        """Share of the flows that deliver nothing."""
        return mean(g == 0 for g in self.goodput)

    def by_hops(self) -> dict[int, tuple[int, int]]:
        """For each number of hops how many flows there are, and how many of them are silent."""
        out: dict[int, tuple[int, int]] = {}
        for g, h in zip(self.goodput, self.hops, strict=True):
            many, silent = out.get(h, (0, 0))
            out[h] = (many + 1, silent + (g == 0))
        return dict(sorted(out.items()))


def scenario(nodes: int, seconds: float = MEASURED) -> fl.Network:
    """The network, as both sides have it."""
    net = fl.Network.from_file(STUDY)
    net.set("wireless.air.scatter.count", nodes).set("flows.ftp.count", nodes)
    net.set("wireless.air.queue", {"droptail": {"limit": "100p"}})
    net.set("wireless.air.control_rate", "1Mbit/s").set("wireless.air.long_retries", 7).set("routing", "single")
    net.set("flows.ftp.tcp", {"preset": "ns3", "cc": "newreno", "mss": "512B", "ack_every": 2, "window": "16384B"})
    return net.set("duration", f"{WARMUP + seconds}s").set("warmup", f"{WARMUP}s")


def lengths(tree: dict[str, Any]) -> tuple[dict[int, dict[int, int]], list[tuple[int, int, int]]]:
    """From each node to each other: hops, and the next node on the way, the first of equals, as (at, to, next)."""
    (channel,) = tree["expanded"]["channels"]
    near: dict[int, list[int]] = {}
    for a, b in channel["hops"]:
        near.setdefault(a, []).append(b)
    far: dict[int, dict[int, int]] = {}
    nexts = []
    for to in range(len(channel["stations"])):
        distance, open_ = {to: 0}, deque([to])
        while open_:
            n = open_.popleft()
            for m in near.get(n, ()):
                if m not in distance:
                    distance[m] = distance[n] + 1
                    open_.append(m)
        for at, d in distance.items():
            far.setdefault(at, {})[to] = d
            if at != to:
                nexts.append((at, to, next(m for m in near[at] if distance.get(m) == d - 1)))
    return far, nexts


def theirs(tree: dict[str, Any], seed: int, seconds: float = MEASURED, **options: Any) -> Field:
    """ns-3's run."""
    far, nexts = lengths(tree)
    (channel,) = tree["expanded"]["channels"]
    number = {s["node"]: i for i, s in enumerate(channel["stations"])}
    flows = [(number[f["from"]], number[f["to"]], _seconds(f["start"])) for f in tree["expanded"]["flows"]]
    lines = [f"stations {len(number)}", *("{} {}".format(*s["at"]) for s in channel["stations"])]
    lines += [f"hops {len(nexts)}", *("{} {} {}".format(*n) for n in nexts)]
    lines += [f"flows {len(flows)}", *("{} {} {}".format(*f) for f in flows)]
    program = peer.executable(SOURCE, MODULES)
    given = [f"--run={seed}", f"--warmup={WARMUP}", f"--seconds={seconds}", *(f"--{k}={v}" for k, v in options.items())]
    done = subprocess.run([program, *given], input="\n".join(lines), capture_output=True, text=True, check=True)
    return Field([int(x) * 8e-3 / seconds for x in done.stdout.split()], [far[a][b] for a, b, _ in flows])


def ours(net: fl.Network, seed: int) -> Field:
    """Our run."""
    net.set("seed", seed)
    tree = net.resolve()
    far, _ = lengths(tree)
    (channel,) = tree["expanded"]["channels"]
    number = {s["node"]: i for i, s in enumerate(channel["stations"])}
    hops = [far[number[f["from"]]][number[f["to"]]] for f in tree["expanded"]["flows"]]
    flows = net.run().flows
    return Field([g / 1e3 for g in flows["goodput"]], hops)


def _seconds(text: str) -> float:
    from fairlane.base.written import si

    return si(text)


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0, also where ns-3 is not installed."""
    given = sys.argv[1:] if arguments is None else arguments
    nodes, seeds = int(given[0]) if given else 16, int(given[1]) if len(given) > 1 else 3
    try:
        peer.executable(SOURCE, MODULES)
    except peer.PeerMissing as error:
        print(f"SKIPPED: {error}")
        return 0
    for seed in range(1, seeds + 1):
        net = scenario(nodes)
        mine = ours(net, seed)
        other = theirs(net.resolve(), seed)
        for name, field in (("ours", mine), ("ns-3", other)):
            told = ", ".join(f"{h} hops {silent}/{many}" for h, (many, silent) in field.by_hops().items())
            print(f"{nodes} nodes, seed {seed}, {name}: {sum(field.goodput):.0f} kbit/s, silent {field.silent:.0%}: {told}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
