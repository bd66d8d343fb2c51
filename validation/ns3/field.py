"""`python -m validation.ns3.field [NODES] [SEEDS]`: the air of ramachendra2014, compared with ns-3.37: how many flows deliver nothing.

Both sides have the same places, flows, starts and static routes of fewest hops, 802.11b at 2 Mbit/s over two-ray ground, TCP NewReno with
ns-3's parameters, segments of 512 bytes and 16 KiB in flight at most, and DropTail of 100 packets before each station. ns-3's queue is that
of its MAC; control frames go at 1 Mbit/s (`mesh.py`).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import fairlane as fl

from . import mesh, peer

STUDY = Path(__file__).resolve().parents[2] / "papers" / "ramachendra2014" / "air.toml"
WARMUP, MEASURED = 3.0, 12.0
PLAIN = {"initial_window": "1p", "timestamps": False, "window_scaling": False}


@dataclass(frozen=True)
class Field:
    """Results of one network: kbit/s of each flow, and the hops between its ends."""

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
    net.set({"wireless.air.scatter.count": nodes, "flows.ftp.count": nodes})
    net.set("wireless.air.queue", {"droptail": {"limit": "100p"}})
    net.set({"wireless.air.control_rate": "1Mbit/s", "wireless.air.long_retries": 7, "routing": "single"})
    net.set("flows.ftp.tcp", {"preset": "ns3", "cc": "newreno", "mss": "512B", "ack_every": 2, "window": "16384B", **PLAIN})
    return net.replace("duration", f"{WARMUP + seconds}s").replace("warmup", f"{WARMUP}s")


def theirs(net: fl.Network, seed: int) -> Field:
    """ns-3's run."""
    found = mesh.theirs(net.replace("seed", seed), seed)
    return Field(found.goodput, found.hops)


def ours(net: fl.Network, seed: int) -> Field:
    """Our run."""
    found = mesh.ours(net, seed)
    return Field(found.goodput, found.hops)


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0, also where ns-3 is not installed."""
    given = sys.argv[1:] if arguments is None else arguments
    nodes, seeds = int(given[0]) if given else 16, int(given[1]) if len(given) > 1 else 3
    try:
        peer.executable(mesh.SOURCE, mesh.MODULES)
    except peer.PeerMissing as error:
        print(f"SKIPPED: {error}")
        return 0
    for seed in range(1, seeds + 1):
        net = scenario(nodes)
        mine = ours(net, seed)
        other = theirs(net, seed)
        for name, field in (("ours", mine), ("ns-3", other)):
            shares = ", ".join(f"{h} hops {silent}/{many}" for h, (many, silent) in field.by_hops().items())
            print(f"{nodes} nodes, seed {seed}, {name}: {sum(field.goodput):.0f} kbit/s, silent {field.silent:.0%}: {shares}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
