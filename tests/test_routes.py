"""Routes by hops, delay and weight, against networkx' shortest paths: by the links that lone packets cross."""

from __future__ import annotations

import random

import networkx as nx
import pytest

import fairlane as fl
from fairlane.base.literals import si


def network(seed: int, route_by: str) -> tuple[fl.Network, nx.DiGraph]:
    """A random network with delays and weights that differ by direction, and the same as networkx has it."""
    draw = random.Random(seed)
    net = fl.Network(duration="2s", route_by=route_by)
    graph = nx.DiGraph()
    for a, b in nx.connected_watts_strogatz_graph(14, 4, 0.4, seed=seed).edges:
        ways = [{"delay": f"{draw.randint(1, 30)}ms", "weight": draw.randint(1, 9)} for _ in range(2)]
        net.link(f"n{a}", f"n{b}", rate="100Mbit/s", **ways[0], reverse=ways[1])
        for (x, y), way in zip(((a, b), (b, a)), ways, strict=True):
            graph.add_edge(f"n{x}", f"n{y}", hops=1, delay=int(way["delay"].removesuffix("ms")), weight=way["weight"])
    return net, graph


def path_sums(net: fl.Network, graph: nx.DiGraph, measure: str) -> dict[tuple[str, str], float]:
    """The sum of a measure over the links that the packets of a flow crossed, for flows from one node to all others."""
    sums = {}
    for target in sorted(set(graph) - {"n0"}):
        alone = fl.Network(**{k: v for k, v in net.to_dict().items() if k in ("duration", "route_by")})
        alone._tree["links"] = net.to_dict()["links"]
        alone.flow("probe", "n0", target, udp={}, source=fl.sources.Cbr(rate="80kbit/s", size="100B"))
        links = alone.run().links.to_dicts()
        used = [x for x in links if x["arrivals"] > 0]
        sums["n0", target] = sum(graph.edges[x["from"], x["to"]][measure] for x in used)
    return sums


@pytest.mark.parametrize("measure", ["hops", "delay", "weight"])
@pytest.mark.parametrize("seed", [1, 2])
def test_routes_are_the_shortest_paths_of_networkx(measure, seed):
    net, graph = network(seed, measure)
    wanted = nx.single_source_dijkstra_path_length(graph, "n0", weight=measure)
    for (_, target), found in path_sums(net, graph, measure).items():
        assert found == wanted[target], target


def test_equal_sums_are_shared_by_the_hash_of_flows():
    """Two ways of the same sum but of two and three links: only routes by weight see them as equal, and flows spread over both."""

    def carried(route_by: str, routing: str = "ecmp") -> list[bool]:
        net = fl.Network(duration="1s", route_by=route_by, routing=routing)
        for a, b, w in (("a", "x", 3), ("x", "z", 3), ("a", "p", 2), ("p", "q", 2), ("q", "z", 2)):
            net.link(a, b, rate="100Mbit/s", delay=f"{w}ms", weight=w)
        net.flow("f", "a", "z", count=32, udp={}, source=fl.sources.Cbr(rate="80kbit/s", size="100B"))
        links = {x["link"]: x["arrivals"] for x in net.run().links.to_dicts()}
        return [links["a-x"] > 0, links["a-p"] > 0]

    assert carried("hops") == [True, False]
    assert carried("weight") == carried("delay") == [True, True]
    assert sorted(carried("weight", "single")) == [False, True], "one of them alone"


def test_the_way_back_goes_by_its_own_weights():
    net = fl.Network(duration="1s", route_by="weight")
    net.link("a", "b", name="short", rate="10Mbit/s", delay="1ms", reverse={"weight": 5})
    net.link("a", "m", rate="10Mbit/s", delay="1ms").link("m", "b", rate="10Mbit/s", delay="1ms").flow("f", "a", "b", tcp={})
    used = {x["link"] for x in net.run().links.to_dicts() if x["arrivals"] > 0}
    assert used == {"short", "m-b.reverse", "a-m.reverse"}
    assert si(net.resolve()["expanded"]["links"][0]["delay"]) == 0.001
