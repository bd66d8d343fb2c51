"""The order in which nodes, links, stations and flows are declared decides no result."""

from __future__ import annotations

import copy
import random
from statistics import mean, stdev
from typing import Any

import pytest

import fairlane as fl

ORDERED = ("nodes", "links", "flows", "wireless", "queues")
"""Tables whose keys are names."""


def shuffled(tree: dict[str, Any], seed: int) -> dict[str, Any]:
    """Returns the scenario with its nodes, links, channels, stations and flows declared in another order."""
    draw = random.Random(seed)

    def other(value: Any) -> Any:
        if not isinstance(value, dict):
            return draw.sample(value, len(value)) if isinstance(value, list) and all(isinstance(x, str) for x in value) else value
        names = list(value)
        draw.shuffle(names)
        return {name: value[name] for name in names}

    out = {key: other(value) if key in ORDERED else value for key, value in tree.items()}
    for name, channel in out.get("wireless", {}).items():
        out["wireless"][name] = {
            key: other(value) if key in (*ORDERED, "access_points", "association") else value for key, value in channel.items()
        }
    return out


def network(tree: dict[str, Any]) -> fl.Network:
    """The network of a tree."""
    net = fl.Network(duration="1s")
    net._tree = copy.deepcopy(tree)
    return net


def by_name(result: fl.Result) -> dict[str, dict[str, Any]]:
    """All metrics of flows and links."""
    flows = {f"flow {r['flow']}": r for r in result.flows.to_dicts()}
    return flows | {f"link {r['link']}": r for r in result.links.to_dicts()}


def same(metric: str, a: Any, b: Any) -> bool:
    """True if equal, as nothing is to itself. Shares are of a sum over all flows, which is rounded in the order of the file."""
    return a == b or (a != a and b != b) or (metric == "share" and a == pytest.approx(b, rel=1e-12))


def assert_the_same(tree: dict[str, Any], orders: int = 3) -> None:
    """Results by name do not depend on the order of declarations, to the last bit."""
    wanted = by_name(network(tree).run(1))
    for seed in range(1, orders + 1):
        found = by_name(network(shuffled(tree, seed)).run(1))
        assert found.keys() == wanted.keys()
        for name, row in wanted.items():
            differing = {k: (v, found[name][k]) for k, v in row.items() if not same(k, v, found[name][k])}
            assert not differing, (seed, name, differing)


def mesh_of_wires(**settings: Any) -> fl.Network:
    """A torus of 16 nodes with many equally short paths. Rates and delays of links differ, so that no events are simultaneous."""
    net = fl.Network(duration="4s", warmup="1s", nodes=[f"n{i}" for i in range(16)], **settings)
    for i in range(16):
        for to in (4 * (i // 4) + (i + 1) % 4, (i + 4) % 16):
            own, back = 40 * i + to, 40 * i + to + 20
            ways = [{"rate": f"{5_000_000 + 1_013 * k}bit/s", "delay": f"{3_000_000 + 7_919 * k}ns"} for k in (own, back)]
            net.link(f"n{i}", f"n{to}", **ways[0], queue=fl.queues.Red(limit="30p"), loss=0.002, reverse=ways[1])
    for i in range(10):
        net.flow(f"t{i}", f"n{i}", f"n{(i + 10) % 16}", tcp={"cc": "cubic"}, spread="500ms")
        net.flow(f"u{i}", f"n{(3 * i) % 16}", f"n{(3 * i + 6) % 16}", udp={}, source=fl.sources.Poisson(rate="300kbit/s", size="700B"))
    return net


@pytest.mark.parametrize("routing", ["ecmp", "single", "ecmp_packets"])
def test_wires_have_the_same_results_in_any_order(routing):
    assert_the_same(mesh_of_wires(routing=routing).to_dict())


def test_failures_have_the_same_results_in_any_order():
    net = (
        mesh_of_wires(reroute="100ms")
        .replace("links.n0-n1.down", [{"at": "2s", "until": "3s"}])
        .replace("links.n5-n9.down", [{"at": "1500ms"}])
    )
    assert_the_same(net.to_dict())


def cells() -> fl.Network:
    """Two access points with stations between them, some of them as near to the one as to the other."""
    places = {f"s{i}": [40, 10 * i - 35] for i in range(8)} | {"near": [5, 3], "far": [71, -2]}
    net = fl.Network(duration="3s", warmup="500ms").wireless(
        "air", standard="802.11a", rate="12Mbit/s", access_points=["west", "east"], nodes={"west": [0, 0], "east": [80, 0], **places}
    )
    net.link("west", "core", rate="100Mbit/s", delay="2ms").link("east", "core", rate="100Mbit/s", delay="3ms")
    for name in places:
        net.flow(f"to-{name}", "core", name, udp={}, source=fl.sources.Poisson(rate="250kbit/s", size="800B"))
    return net


def test_stations_have_the_same_results_in_any_order():
    assert_the_same(cells().to_dict())


def test_stations_between_two_access_points_divide():
    """The stations that both access points reach equally well do not all belong to the one that is declared first."""
    links = {r["link"]: r["attempts"] for r in cells().run(1).links.to_dicts()}
    assert min(links["west-air"], links["east-air"]) > 0.2 * max(links["west-air"], links["east-air"])


def lock_step(order: list[str]) -> fl.Network:
    """Equal flows in lock-step on one lattice of transmission times."""
    net = fl.Network(duration="12s", warmup="2s").link(
        "r", "sink", name="bottleneck", rate="10Mbit/s", delay="10ms", queue=fl.queues.Droptail(limit="20p")
    )
    for name in order:
        net.link(name, "r", rate="100Mbit/s", delay="5ms")
    for name in order:
        net.flow(f"f{name}", name, "sink", tcp={"cc": "newreno"})
    return net


def test_who_is_declared_first_in_lock_step_has_no_advantage():
    """The mean share of the first half over seeds is the same in both orders and one half, within three standard errors."""
    names = [f"h{i}" for i in range(8)]

    def shares(order: list[str]) -> list[float]:
        flows = [{r["flow"]: r["goodput"] for r in lock_step(order).run(seed=seed).flows.to_dicts()} for seed in range(1, 17)]
        return [sum(run[f"f{n}"] for n in names[:4]) / sum(run.values()) for run in flows]

    there, back = shares(names), shares(names[::-1])
    error = (stdev(there) ** 2 / 16 + stdev(back) ** 2 / 16) ** 0.5
    assert abs(mean(there) - mean(back)) < 3 * error
    for got in (there, back):
        assert abs(mean(got) - 0.5) < 3 * stdev(got) / 4
