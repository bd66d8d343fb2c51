"""`python -m validation.ns3.gateways [RUNS]`: two gateways under endless TCP, compared with ns-3.37: how far one side is ahead, and which.

Sixteen roofs in a grid, 802.11a at 12 Mbit/s, receivers with ns-3's default sensitivity. The roofs in two opposite corners each send to the
seven roofs of their side; they do not hear one another. Both simulators have the same routes (`mesh.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from statistics import median

import fairlane as fl

from . import mesh, peer

WEST = (1, 2, 3, 4, 5, 6, 8)
EAST = tuple(15 - i for i in WEST)
AIR = {
    "standard": "802.11a", "rate": "12Mbit/s", "propagation": {"free_space": {"frequency_ghz": 5.2}}, "power_dbm": 12, "floor_dbm": -101,
    "long_retries": 7, "queue": {"droptail": {"limit": "100p"}}, "after_timeout": "difs", "immediate_access": False,
    "overlaid_unsensed": True,
}  # fmt: skip
TCP = {
    "preset": "ns3", "cc": "newreno", "mss": "512B", "ack_every": 2, "window": "16384B", "initial_window": "1p", "timestamps": False,
    "window_scaling": False,
}  # fmt: skip

NS3 = (
    (186, 3302),
    (218, 3001),
    (205, 3213),
    (2890, 297),
    (277, 2938),
    (118, 3360),
    (240, 3246),
    (218, 3089),
    (2622, 267),
    (5, 3657),
    (319, 2815),
)
"""Values of ns-3 in eleven runs of 12 s: kbit/s of west and east."""


def scenario(seconds: float = 12.0, east_first: bool = False) -> fl.Network:
    """The mesh; `east_first`: the roofs and flows of the other side are declared first."""
    order = range(15, -1, -1) if east_first else range(16)
    places = {f"roof{i}": [180.0 * (i % 4), 180.0 * (i // 4)] for i in order}
    net = fl.Network(duration=f"{3 + seconds}s", warmup="3s", routing="single").wireless("mesh", nodes=places, **AIR)
    sides = [("west", "roof0", WEST), ("east", "roof15", EAST)]
    for side, gateway, roofs in sides[::-1] if east_first else sides:
        for i in roofs:
            net.flow(f"{side}{i}", gateway, f"roof{i}", tcp=TCP, spread="500ms")
    return net


def sides(net: fl.Network, outcome: mesh.Outcome) -> tuple[float, float]:
    """Kilobits a second of west and east."""
    named = dict(zip(net.to_dict()["flows"], outcome.goodput, strict=True))
    west, east = (sum(g for name, g in named.items() if name.startswith(side)) for side in ("west", "east"))
    return west, east


def ratio(west: float, east: float) -> float:
    """Goodput of the side that is ahead over that of the other, which counts as one packet in this time at least."""
    return max(west, east) / max(min(west, east), 512 * 8e-3 / 12)


def summary(name: str, found: Iterable[tuple[float, float]]) -> str:
    """One line of a simulator's runs."""
    runs = list(found)
    ratios = sorted(ratio(w, e) for w, e in runs)
    west = sum(w > e for w, e in runs)
    total = median(w + e for w, e in runs)
    return (
        f"{name}: west ahead in {west} of {len(runs)}, median {median(ratios):.1f}:1, range {ratios[0]:.1f} to {ratios[-1]:.0f}, "
        f"quartiles {ratios[len(ratios) // 4]:.1f} and {ratios[3 * len(ratios) // 4]:.1f}, together {total:.0f} kbit/s"
    )


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0, also where ns-3 is not installed."""
    given = sys.argv[1:] if arguments is None else arguments
    runs = int(given[0]) if given else 11
    for east_first in (False, True):
        net = scenario(east_first=east_first)
        found = [sides(net, mesh.ours(net, seed)) for seed in range(1, 4 * runs + 1)]
        print(summary(f"ours, {'east' if east_first else 'west'} declared first", found), flush=True)
    try:
        peer.executable(mesh.SOURCE, mesh.MODULES)
    except peer.PeerMissing as error:
        print(f"SKIPPED: {error}")
        return 0
    found = []
    for run in range(1, runs + 1):
        net = scenario().replace("seed", run)
        found.append(sides(net, mesh.theirs(net, run)))
        print(f"ns-3 run {run}: {found[-1][0]:.0f} and {found[-1][1]:.0f} kbit/s", flush=True)
    print(summary("ns-3", found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
