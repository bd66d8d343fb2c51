"""`python -m validation.ns3.air`: TCP over the air in whole scenarios, compared with ns-3.37: chains, an access point, grids.

ns-3's numbers are means of 1 to 3 runs of 10 s after 2 to 3 s; ours of several of 20 s. Both have TCP with ns-3's parameters, an
acknowledgment for each segment, 802.11b at 11 Mbit/s with control frames at 1 Mbit/s, and ns-3's rules of access. In the grid ns-3's
routes lead along the row first; ours are of as few hops, chosen by a hash where several are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import mean
from typing import Any

import fairlane as fl
from fairlane.base.metrics import jain

RULES: dict[str, Any] = {"rate": "11Mbit/s", "control_rate": "1Mbit/s", "after_timeout": "difs", "immediate_access": False}
GROUND: dict[str, Any] = {
    **RULES,
    "overlaid_unsensed": True,
    "propagation": {"two_ray": {"frequency_ghz": 0.914, "height_m": 1.5}},
    "power_dbm": 24.5,
    "sensitivity_dbm": -64.37,
    "cca_dbm": -78.07,
    "floor_dbm": -101,
}
"""ns-2's ground with stations 200 m apart: neighbours decode, two hops are sensed."""
GRID = (
    (3, 2, "tcp"), (12, 4, "cbr"), (7, 8, "tcp"), (5, 11, "cbr"), (11, 0, "tcp"), (0, 10, "cbr"), (10, 14, "tcp"), (6, 15, "cbr"),
    (4, 11, "tcp"), (13, 6, "cbr"), (8, 12, "tcp"), (2, 13, "cbr"), (15, 11, "tcp"), (9, 3, "cbr"), (1, 0, "tcp"), (14, 0, "cbr"),
)  # fmt: skip
"""Source, destination and kind of the flows of the grid; a load of 50 % has the first half."""


@dataclass(frozen=True)
class Cell:
    """Recorded values of ns-3, and the network that gives ours."""

    name: str
    goodput: float
    jain: float
    network: Callable[[], fl.Network]
    seeds: int = 3
    waiting: float | None = None
    """Packets in the access point's queue on average."""


def _tcp(mss: int, segments: int | None = None) -> dict[str, Any]:
    own = {} if segments is None else {"window": f"{segments}p"}
    return {"preset": "ns3", "cc": "newreno", "mss": f"{mss}B", "ack_every": 1, **own}


def chain(hops: int) -> fl.Network:
    """One flow from end to end."""
    net = fl.Network(duration="22s", warmup="2s").wireless(
        "air", grid={"columns": hops + 1, "spacing_m": 200}, queue={"droptail": {"limit": "50p"}}, **GROUND
    )
    return net.flow("f", "n0", f"n{hops}", tcp=_tcp(1000))


def house(down: int, up: int) -> fl.Network:
    """Stations around an access point that has a queue of 50 packets, behind it a server; one flow for each station."""
    n = down + up
    net = fl.Network(duration="23s", warmup="3s").wireless(
        "air", access_point="ap", nodes={"ap": [0, 0]}, ring={"count": n, "radius_m": 1},
        queue={"droptail": {"limit": "100p"}}, queues={"ap": {"droptail": {"limit": "50p"}}}, sensitivity_dbm=-82, cca_dbm=-82, **RULES,
    )  # fmt: skip
    net.link("ap", "server", rate="100Mbit/s", delay="10ms")
    for i in range(n):
        ends = ("server", f"n{i}") if i < down else (f"n{i}", "server")
        net.flow(f"f{i}", *ends, tcp=_tcp(1448, 44), spread="100ms")
    return net


def grid(load: int, limit: int) -> fl.Network:
    """Sixteen stations, a share of which send: endless TCP, or ten datagrams of 512 bytes a second."""
    net = fl.Network(duration="23s", warmup="3s", routing="single").wireless(
        "air", grid={"rows": 4, "columns": 4, "spacing_m": 200}, queue={"droptail": {"limit": f"{limit}p"}}, **GROUND
    )
    for k, (a, b, kind) in enumerate(GRID[: 16 * load // 100]):
        if kind == "tcp":
            net.flow(f"f{k}", f"n{a}", f"n{b}", tcp=_tcp(512, 32), spread="100ms")
        else:
            net.flow(f"f{k}", f"n{a}", f"n{b}", udp={}, source={"cbr": {"rate": "40960bit/s", "size": "512B"}}, spread="100ms")
    return net


CELLS = (
    Cell("TCP over 1 hop", 3.35733, 1.0, lambda: chain(1)),
    Cell("TCP over 4 hops", 0.959467, 1.0, lambda: chain(4)),
    Cell("access point, 5 down", 4.29303, 0.9805, lambda: house(5, 0), waiting=40.35),
    Cell("access point, 5 up", 5.376, 0.9997, lambda: house(0, 5), waiting=49.8),
    Cell("access point, 2 down, 3 up", 5.151, 0.6032, lambda: house(2, 3), waiting=49.61),
    Cell("grid of 16, load 50 %, 25 packets", 1.715, 0.3331, lambda: grid(50, 25), 4),
    Cell("grid of 16, load 50 %, 100 packets", 1.453, 0.4769, lambda: grid(50, 100), 4),
    Cell("grid of 16, load 100 %, 25 packets", 4.077, 0.2741, lambda: grid(100, 25), 4),
    Cell("grid of 16, load 100 %, 100 packets", 3.928, 0.285, lambda: grid(100, 100), 4),
)


@dataclass(frozen=True)
class Row:
    """A cell with what was measured here: Mbit/s, Jain's index, packets."""

    cell: Cell
    goodput: float
    jain: float
    waiting: float | None


def rows() -> Iterator[Row]:
    """Every cell, run."""
    for cell in CELLS:
        result = cell.network().run(seeds=cell.seeds)
        waiting = None if cell.waiting is None else result.value("queue_mean", link="ap-air").mean
        yield Row(
            cell,
            result.value("goodput").mean / 1e6,
            mean(jain(run["goodput"].to_list()) for _, run in result.flows.group_by("seed", maintain_order=True)),
            waiting,
        )


def main() -> None:
    """Prints the table of docs/validation/wireless.md."""
    print("| ns-3 / fairlane | Mbit/s | difference | Jain's index | waiting at the access point |\n|---|---|---|---|---|")
    for r in rows():
        c, waits = r.cell, "" if r.waiting is None else f"{r.cell.waiting:.1f} / {r.waiting:.1f}"
        share = f"{100 * (r.goodput / c.goodput - 1):+.1f} %"
        print(f"| {c.name} | {c.goodput:.3f} / {r.goodput:.3f} | {share} | {c.jain:.3f} / {r.jain:.3f} | {waits} |")


if __name__ == "__main__":
    main()
