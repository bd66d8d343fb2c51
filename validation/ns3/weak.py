"""`python -m validation.ns3.weak [RUNS]`: TCP over chains among weak frames, compared with ns-3.37, as distributions over runs.

Receivers have ns-3's default sensitivity, so that they follow frames that they cannot read: those of stations two and three hops away, 4
to 10 dB above noise. 802.11a at 12 Mbit/s in free space; one flow from end to end, 12 s after 2 s.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from statistics import mean, stdev

import fairlane as fl

from . import mesh, peer
from .gateways import AIR, TCP


@dataclass(frozen=True)
class Cell:
    """A chain, and what ns-3 measured.

    Kilobits a second of each of five runs; of each station the share of data frames without acknowledgment, the mean of two of them.
    """

    hops: int
    metres: int
    goodput: tuple[int, ...]
    lost: tuple[float, ...]

    @property
    def name(self) -> str:
        """For tables."""
        return f"{self.hops} hops of {self.metres} m"


CELLS = (
    Cell(2, 150, (2531, 2497, 2497, 2489, 2530), (0.317, 0.155, 0.541)),
    Cell(2, 180, (2500, 2496, 2496, 2488, 2530), (0.321, 0.158, 0.543)),
    Cell(2, 250, (2499, 2488, 2456, 2516, 2500), (0.320, 0.158, 0.544)),
    Cell(3, 180, (1136, 1069, 1044, 1087, 1128), (0.587, 0.155, 0.484, 0.275)),
    Cell(4, 150, (644, 797, 603, 645, 601), (0.648, 0.301, 0.525, 0.381, 0.571)),
    Cell(4, 180, (692, 581, 539, 616, 524), (0.658, 0.308, 0.518, 0.425, 0.497)),
    Cell(4, 250, (478, 423, 664, 473, 608), (0.665, 0.360, 0.520, 0.457, 0.524)),
    Cell(6, 180, (261, 334, 298, 312, 329), (0.711, 0.404, 0.633, 0.491, 0.531, 0.478, 0.379)),
)


def chain(hops: int, metres: int, far: bool = False) -> fl.Network:
    """The network; `far`: with a saturated pair 4 km away, 13 dB below noise, which no station can hear."""
    nodes = {f"n{i}": [float(i * metres), 0.0] for i in range(hops + 1)}
    if far:
        nodes |= {"x0": [0.0, 4000.0], "x1": [50.0, 4000.0]}
    net = fl.Network(duration="14s", warmup="2s", routing="single").wireless(
        "mesh", nodes=nodes, **AIR | ({"floor_dbm": -120} if far else {})
    )
    net.flow("f", "n0", f"n{hops}", tcp=TCP, spread="10ms")
    if far:
        net.flow("d", "x0", "x1", udp={}, source={"cbr": {"rate": "12Mbit/s", "size": "2200B"}})
    return net


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0, also where ns-3 is not installed."""
    given = sys.argv[1:] if arguments is None else arguments
    runs = int(given[0]) if given else 5
    sides = [("ours", mesh.ours), ("ns-3", mesh.theirs)]
    try:
        peer.executable(mesh.SOURCE, mesh.MODULES)
    except peer.PeerMissing as error:
        print(f"SKIPPED: {error}")
        sides.pop()
    for cell in CELLS:
        for name, side in sides:
            found = [side(chain(cell.hops, cell.metres), run) for run in range(1, runs + 1)]
            goodput = [o.total for o in found]
            lost = ", ".join(f"{mean(x):.3f}" for x in zip(*(o.lost for o in found), strict=True))
            values = ", ".join(f"{g:.0f}" for g in goodput)
            print(f"{cell.name}, {name}: {mean(goodput):.0f} kbit/s, deviation {stdev(goodput):.0f} ({values}), lost {lost}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
