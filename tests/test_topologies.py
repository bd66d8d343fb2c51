"""Topology builders, tested by packets: the delay of a lone packet is the sum of 8 n / C + D over the links of its path."""

from __future__ import annotations

import pytest

import fairlane as fl

LENGTH = 1000
"""Bytes on the wire."""


def links(*each: tuple[float, float]) -> float:
    """Returns the delay over links with these Mbit/s and ms, in seconds."""
    return sum(8 * LENGTH / (rate * 1e6) + delay / 1e3 for rate, delay in each)


ACCESS, HOP = (100, 1), (10, 20)
TREE = (10_000, 0.001)

CASES = [
    ("dumbbell", {"pairs": 2}, "s1", "d1", [ACCESS, HOP, ACCESS]),
    ("dumbbell", {"pairs": 2, "delays": ["1ms", "7ms"]}, "s1", "d1", [(100, 7), HOP, ACCESS]),
    ("star", {"clients": 3}, "c2", "server", [(10, 3), (50, 10)]),
    ("star", {"clients": 3}, "c0", "c2", [(10, 3), (10, 3)]),
    # The long flow crosses all n bottlenecks, flow i the i-th alone.
    *(("parking_lot", {"hops": n}, "s0", "d0", [ACCESS, *[HOP] * n, ACCESS]) for n in (1, 3, 7)),
    *(("parking_lot", {"hops": 3}, f"s{i}", f"d{i}", [ACCESS, HOP, ACCESS]) for i in (1, 2, 3)),
    # Al-Fares, Loukissas and Vahdat 2008 section 3: 2 links below one edge switch, 4 within a pod, 6 between pods.
    *(("fat_tree", {"k": 4}, "h0", to, [TREE] * n) for to, n in (("h1", 2), ("h2", 4), ("h3", 4), ("h4", 6), ("h15", 6))),
]


@pytest.mark.parametrize(("topology", "parameters", "start", "end", "path"), CASES, ids=lambda v: str(v) if isinstance(v, str) else "")
def test_delay_over_a_path(topology, parameters, start, end, path):
    net = fl.Network(duration="1s")
    net.topology(topology, **parameters)
    net.flow("probe", start, end, udp={"header": "0B"}, source=fl.sources.Cbr(rate="80kbit/s", size=f"{LENGTH}B"))
    run = net.run()
    for metric in ("delay_mean", "delay_max"):
        assert run.value(metric, flow="probe").mean == pytest.approx(links(*path), rel=1e-9), metric


def test_a_parking_lot_shares_each_hop_between_the_long_flow_and_one_other():
    """Two constant rates meet on each hop: its utilisation is their sum over the rate, whatever the number of hops."""
    net = fl.Network(duration="20s", warmup="2s")
    net.topology("parking_lot", hops=4)
    for i, rate in enumerate((2, 1, 3, 5, 7)):
        net.flow(f"f{i}", f"s{i}", f"d{i}", udp={"header": "0B"}, source=fl.sources.Cbr(rate=f"{rate}Mbit/s", size=f"{LENGTH}B"))
    run = net.run()
    for hop, other in zip(range(1, 5), (1, 3, 5, 7), strict=True):
        assert run.value("utilisation", link=f"hop{hop}").mean == pytest.approx((2 + other) / 10, abs=1e-3)


def test_paths_between_pods_carry_what_one_link_cannot():
    """Al-Fares, Loukissas and Vahdat 2008 section 3: (k/2)^2 paths lead from pod to pod, and ECMP spreads flows over them.

    A single route for each switch leaves two of the four: the hosts of two switches send to those of two switches.
    """

    def delivered(routing: str) -> float:
        net = fl.Network(duration="2ms", warmup="500us", routing=routing)
        net.topology("fat_tree", k=4)
        for i in range(4):
            for j in range(8):
                net.flow(f"f{i}_{j}", f"h{i}", f"h{i + 4}", udp={"header": "0B"}, source=fl.sources.Cbr(rate="1Gbit/s", size=f"{LENGTH}B"))
        return run_goodput(net)

    def run_goodput(net: fl.Network) -> float:
        return net.run().value("goodput").mean or 0.0

    # At the ends of the window a packet more may arrive than is sent.
    assert delivered("single") < 20.1e9 < delivered("ecmp") < 32.1e9
