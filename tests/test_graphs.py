"""Networks of the topology builders against graph theory: networkx, closed formulas, and the laws in their sources."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter

import networkx as nx
import pytest

import fairlane as fl
from fairlane import _core
from fairlane.base.literals import si
from fairlane.base.spec import plain


def network(topology: str, **parameters) -> dict:
    """The network in single parts."""
    tree = {"duration": "1s", "topology": {topology: plain(parameters)}, "flows": {"f": {"from": "n0", "to": "n1", "tcp": {}}}}
    if topology in ("tree", "leaf_spine"):
        tree["flows"]["f"].update({"from": "h0", "to": "h1"})
    return json.loads(_core.resolve(json.dumps(tree), "x.json", "json", []).json())["expanded"]


def graph(topology: str, **parameters) -> nx.Graph:
    """The network as networkx has it, nodes by name, with places and delays in seconds."""
    found = network(topology, **parameters)
    g = nx.Graph()
    for name in found["nodes"]:
        g.add_node(name, pos=tuple(found["positions"][name]))
    names = [x["name"] for x in found["links"]]
    assert len(set(names)) == len(names)
    for x in found["links"]:
        g.add_edge(x["from"], x["to"], delay=si(x["delay"]))
    assert 2 * g.number_of_edges() == len(names), "two links between the same nodes"
    return g


def numbered(g: nx.Graph) -> nx.Graph:
    return nx.relabel_nodes(g, {f"n{i}": i for i in range(len(g))})


def same(ours: nx.Graph, theirs: nx.Graph) -> bool:
    return nx.utils.graphs_equal(nx.Graph(sorted(numbered(ours).edges)), nx.Graph(sorted(theirs.edges)))


@pytest.mark.parametrize(("rows", "columns"), [(1, 2), (1, 7), (4, 5), (6, 2)])
def test_a_grid_is_that_of_networkx(rows, columns):
    ours = graph("grid", rows=rows, columns=columns)
    theirs = nx.convert_node_labels_to_integers(nx.grid_2d_graph(rows, columns))
    assert same(ours, theirs)
    assert ours.number_of_edges() == 2 * rows * columns - rows - columns
    # Neighbours lie one apart.
    assert all(math.dist(ours.nodes[a]["pos"], ours.nodes[b]["pos"]) == 1 for a, b in ours.edges)


def test_a_ring_and_a_full_mesh_are_those_of_networkx():
    for n in (3, 4, 9):
        assert same(graph("ring", nodes=n), nx.cycle_graph(n))
        assert same(graph("full_mesh", nodes=n), nx.complete_graph(n))
    ring = graph("ring", nodes=24)
    assert all(math.dist(ring.nodes[a]["pos"], ring.nodes[b]["pos"]) == pytest.approx(1, abs=0.01) for a, b in ring.edges)


@pytest.mark.parametrize(("fanout", "depth"), [(2, 1), (2, 4), (3, 3), (7, 2)])
def test_a_tree_is_that_of_networkx(fanout, depth):
    ours = graph("tree", fanout=fanout, depth=depth)
    inner = sum(fanout**k for k in range(depth))
    ours = nx.relabel_nodes(ours, {f"h{i}": f"n{inner + i}" for i in range(fanout**depth)})
    assert same(ours, nx.balanced_tree(fanout, depth))
    assert len(ours) == (fanout ** (depth + 1) - 1) // (fanout - 1) and ours.number_of_edges() == len(ours) - 1


def test_the_levels_of_a_tree_have_their_rates_and_delays():
    links = network("tree", fanout=2, depth=3, rates=["4Mbit/s", "2Mbit/s", "1Mbit/s"], delays=["3ms", "2ms", "1ms"])["links"]
    kinds = Counter((x["rate"], x["delay"]) for x in links)
    assert kinds == {("4Mbit/s", "3ms"): 4, ("2Mbit/s", "2ms"): 8, ("1Mbit/s", "1ms"): 16}


def test_leaf_and_spine_have_as_many_paths_as_spines():
    """RFC 7938, section 3.2: any two leaves are two links apart, over each of the spines."""
    ours = graph("leaf_spine", spines=3, leaves=4, hosts=5)
    assert len(ours) == 3 + 4 + 20 and ours.number_of_edges() == 3 * 4 + 20
    for a, b in itertools.combinations(range(4), 2):
        paths = list(nx.all_shortest_paths(ours, f"l{a}", f"l{b}"))
        assert {p[1] for p in paths} == {"s0", "s1", "s2"} and all(len(p) == 3 for p in paths)
    for a, b in itertools.combinations(range(20), 2):
        assert nx.shortest_path_length(ours, f"h{a}", f"h{b}") == (2 if a // 5 == b // 5 else 4)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_geometric_links_are_those_of_networkx_for_the_same_places(seed):
    ours = numbered(graph("random_geometric", nodes=80, radius=0.13, seed=seed))
    place = nx.get_node_attributes(ours, "pos")
    assert all(0 <= x < 1 and 0 <= y < 1 for x, y in place.values())
    theirs = nx.random_geometric_graph(80, 0.13, pos=place)
    bridges = set(map(frozenset, ours.edges)) - set(map(frozenset, theirs.edges))
    assert not set(map(frozenset, theirs.edges)) - set(map(frozenset, ours.edges))
    assert nx.is_connected(ours) and len(bridges) == nx.number_connected_components(theirs) - 1
    # No other links that join the parts are shorter in sum: the minimum spanning tree in which the links drawn cost nothing.
    whole = nx.complete_graph(80)
    for a, b in whole.edges:
        whole.edges[a, b]["weight"] = 0.0 if theirs.has_edge(a, b) else math.dist(place[a], place[b])
    least = nx.minimum_spanning_tree(whole).size("weight")
    assert sum(math.dist(place[a], place[b]) for a, b in map(tuple, bridges)) == pytest.approx(least)


def test_random_geometric_has_the_expected_number_of_links():
    """Two uniform points of the unit square are at most r <= 1 apart with the probability pi r^2 - 8/3 r^3 + r^4 / 2 (Philip 2007)."""
    n, r, seeds = 100, 0.3, range(1, 41)
    share = math.pi * r**2 - 8 / 3 * r**3 + r**4 / 2
    pairs = n * (n - 1) / 2
    found = [graph("random_geometric", nodes=n, radius=r, seed=s).number_of_edges() / pairs for s in seeds]
    assert sum(found) / len(found) == pytest.approx(share, rel=0.03)


def test_delays_are_lengths():
    ours = graph("random_geometric", nodes=40, radius=0.3, across="10ms")
    for a, b, delay in ours.edges(data="delay"):
        assert delay == pytest.approx(0.01 * math.dist(ours.nodes[a]["pos"], ours.nodes[b]["pos"]), abs=1e-9)
    assert set(nx.get_edge_attributes(graph("waxman", link={"delay": "3ms"}), "delay").values()) == {0.003}


def test_waxmans_probability():
    """Waxman 1988: a pair at the distance d has a link with the probability beta exp(-d / (alpha L)), in ten classes of distance."""
    alpha, beta, n = 0.3, 0.9, 60
    wanted, variance, found = [0.0] * 10, [0.0] * 10, [0] * 10
    for seed in range(1, 61):
        ours = numbered(graph("waxman", nodes=n, alpha=alpha, beta=beta, seed=seed))
        place = nx.get_node_attributes(ours, "pos")
        apart = {(a, b): math.dist(place[a], place[b]) for a, b in itertools.combinations(range(n), 2)}
        longest = max(apart.values())
        for (a, b), d in apart.items():
            p = beta * math.exp(-d / (alpha * longest))
            k = min(9, int(10 * d / longest))
            wanted[k] += p
            variance[k] += p * (1 - p)
            found[k] += ours.has_edge(a, b)
    # A few links join lone nodes to the rest; they are one in a thousand.
    for w, v, f in zip(wanted, variance, found, strict=True):
        assert abs(f - w) < 4 * math.sqrt(v) + 0.002 * sum(found), (wanted, found)


def test_barabasi_albert_has_the_law_of_its_degrees():
    """P(k) = 2 m (m + 1) / (k (k + 1) (k + 2)) (Dorogovtsev, Mendes and Samukhin 2000), the exact form of Barabasi and Albert's k^-3."""
    n, m = 20_000, 3
    ours = graph("barabasi_albert", nodes=n, links=m)
    assert ours.number_of_edges() == m * (n - m) and nx.is_connected(ours)
    degrees = Counter(d for _, d in ours.degree)
    assert min(degrees) == m
    for k in range(m, 16):
        p = 2 * m * (m + 1) / (k * (k + 1) * (k + 2))
        assert degrees[k] / n == pytest.approx(p, abs=5 * math.sqrt(p / n) + 0.002), k
    # The oldest grow as the square root of the size: hubs of a hundred links and more, where a random graph has none of twenty.
    assert max(degrees) > math.sqrt(n) / 2
    theirs = Counter(d for _, d in nx.barabasi_albert_graph(n, m, seed=1).degree)
    assert all(degrees[k] / theirs[k] == pytest.approx(1, abs=0.15) for k in range(m, 9))


@pytest.mark.parametrize("topology", ["random_geometric", "waxman", "barabasi_albert"])
def test_random_networks_follow_their_own_seed_and_not_that_of_the_run(topology):
    def links(run: int, seed: int) -> list:
        net = fl.Network(duration="1s", seed=run).topology(topology, seed=seed, nodes=30)
        net.flow("f", "n0", "n1", tcp={})
        return [(x["from"], x["to"], x["delay"]) for x in net.resolve()["expanded"]["links"]]

    assert links(1, 1) == links(2, 1) != links(1, 2)
    assert links(3, 7) == links(4, 7)


def test_every_builder_says_where_its_nodes_are_drawn():
    for entry in json.loads(_core.registry()):
        if entry["kind"] == "topology":
            tree = {
                "duration": "1s",
                "topology": entry["name"],
                "links": {"x": {"from": "one", "to": "two", "rate": "1Mbit/s", "delay": "1ms"}},
            }
            tree |= {"flows": {"f": {"from": "one", "to": "two", "tcp": {}}}, "positions": {"two": {"x": 4, "y": -2}}}
            found = json.loads(_core.resolve(json.dumps(tree), "x.json", "json", []).json())["expanded"]
            assert set(found["nodes"]) - set(found["positions"]) == {"one"}
            assert found["positions"]["two"] == [4.0, -2.0]
