"""`fairlane draw`: valid XML whatever names say, labels that do not cover one another, and files that other tools read."""

from __future__ import annotations

import itertools
import json
import math
import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import jsonschema
import networkx as nx
import pydot
import pytest

import fairlane as fl
from conftest import ROOT, fairlane
from fairlane.base.document import json_schema
from fairlane.base.scenario import resolve
from fairlane.graphs import Graph, document, graph_of, render_graph
from fairlane.graphs.svg import MOST

SVG = "{http://www.w3.org/2000/svg}"
EXAMPLES = sorted(ROOT.glob("examples/*.toml"))


def chain(*names: str, **link: object) -> fl.Network:
    net = fl.Network(duration="1s")
    for k, (a, b) in enumerate(itertools.pairwise(names)):
        net.link(a, b, name=f"l{k}", **({"rate": "10Mbit/s", "delay": "5ms"} | link))
    return net.flow("f", names[0], names[-1], tcp={})


def refused(*words: str) -> subprocess.CompletedProcess[str]:
    done = fairlane(*words)
    assert done.returncode == 2 and not done.stdout and "Traceback" not in done.stderr
    return done


def network_of(source: object) -> Graph:
    return graph_of(resolve(source))


def picture(source: object) -> ET.Element:
    return ET.fromstring(render_graph(network_of(source)))


def texts(root: ET.Element) -> list[str]:
    return [t.text or "" for t in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_every_example_is_drawn(path):
    graph = network_of(path)
    root = ET.fromstring(render_graph(graph))
    assert root.tag == f"{SVG}svg"
    assert {n.name for n in graph.nodes} <= set(texts(root))
    # Each link tells all of itself when pointed at.
    found = [p.find(f"{SVG}title").text for p in root.iter(f"{SVG}path")]
    assert len(found) == len(graph.links)
    for link, title in zip(graph.links, found, strict=True):
        for part in (link.name, link.there.speed, link.there.lag, link.there.discipline):
            assert part in title


def test_rates_delays_and_queues_are_in_the_picture():
    net = chain("a", "b", "c", "d").refine("l1", rate="2Mbit/s", delay="3.14159ms", queue="codel", reverse={"rate": "500kbit/s"}, loss=0.02)
    labels = "\n".join(texts(picture(net)))
    assert "10 Mbit/s, 5 ms, droptail 1000p (2 links)" in re.sub(r" +", " ", labels)
    for part in ("2 Mbit/s", "500 kbit/s", "3.14 ms", "codel", "loss 2 %"):
        assert part in labels


EVIL = [
    '<script>alert("1")</script>',
    "a&b",
    "]]>",
    "x' onload='y",
    'say "hi"',
    "\\N",
    "n\ufffe",
    "--><g>",
    "名前",
    "a;b->c",
    "{|}",
    "\u202e",
    "%s",
]


def test_names_inject_nothing():
    net = chain(*EVIL)
    net.link(EVIL[0], EVIL[2], name='"><svg onload=alert(1)>', rate="1Mbit/s", delay="1ms")
    graph = network_of(net)
    text = render_graph(graph)
    root = ET.fromstring(text)
    allowed = {"svg", "title", "rect", "g", "path", "polygon", "circle", "line", "text"}
    assert {e.tag.removeprefix(SVG) for e in root.iter()} <= allowed
    assert not [k for e in root.iter() for k in e.attrib if k.lower().startswith("on") or "href" in k.lower()]
    assert {"a&b", "]]>", "名前"} <= set(texts(root))
    # GraphML gives every name back, but for what XML cannot hold.
    held = [n.replace("\ufffe", "\ufffd") for n in EVIL]
    read = nx.parse_graphml(render_graph(graph, ".graphml"))
    assert set(read.nodes) == set(held)
    assert nx.is_strongly_connected(nx.DiGraph(read))
    # DOT as pydot's grammar reads it.
    (made,) = pydot.graph_from_dot_data(render_graph(graph, ".dot"))
    unquoted = {n.get_name()[1:-1].replace('\\"', '"').replace("\\\\", "\\") for n in made.get_nodes() if n.get_name()[0] == '"'}
    assert set(EVIL) <= unquoted and len(made.get_edges()) == len(EVIL)


def test_graphml_has_both_directions_with_their_values():
    net = chain("a", "b", "c", reverse={"rate": "1Mbit/s", "delay": "9ms"})
    net.link("c", "a", name="one way", rate="3Mbit/s", delay="1ms", duplex=False, queue="red")
    net.set("positions.a", {"x": 1.5, "y": -2})
    read = nx.parse_graphml(render_graph(network_of(net), ".graphml"))
    assert read.is_directed() and read.number_of_edges() == 5
    there, back = (read.edges[pair] for pair in (("a", "b"), ("b", "a")))
    assert (there["rate"], there["delay_s"], there["link"]) == ("10Mbit/s", 0.005, "l0")
    assert (back["rate_bps"], back["delay"], back["link"]) == (1e6, "9ms", "l0")
    assert json.loads(read.edges["c", "a"]["queue"]).keys() == {"red"} and not read.has_edge("a", "c")
    assert (read.nodes["a"]["x"], read.nodes["a"]["y"]) == (1.5, -2.0) and read.nodes["a"]["sends"] and not read.nodes["b"]["sends"]


def test_parallel_links_are_several_edges_and_several_lines():
    net = chain("a", "b")
    net.link("a", "b", name="second", rate="1Mbit/s", delay="1ms")
    read = nx.parse_graphml(render_graph(network_of(net), ".graphml"))
    assert read.number_of_edges("a", "b") == 2
    assert len({p.get("d") for p in picture(net).iter(f"{SVG}path")}) == 2


def boxes(root: ET.Element) -> list[tuple[float, float, float, float]]:
    """Rectangles of the names and labels in the drawing, a little smaller than letters are."""
    out = []
    for t in root.iter(f"{SVG}text"):
        if t.get("text-anchor") == "middle":
            size, text = float(t.get("font-size")), t.text or ""
            out.append((float(t.get("x")), float(t.get("y")), 0.5 * size * len(text), 0.8 * size))
    return out


LARGE = (
    ("waxman", {"nodes": 200, "alpha": 0.08, "beta": 0.35}),
    ("barabasi_albert", {"nodes": 200}),
    ("leaf_spine", {"leaves": 10, "hosts": 18}),
)


@pytest.mark.parametrize("builder", LARGE, ids=lambda b: b[0])
def test_two_hundred_nodes_are_legible(builder):
    """Every node has its name, nothing is written over anything else, and nearly all labels of links find room."""
    name, settings = builder
    net = fl.Network(duration="1s").topology(name, **settings)
    ends = ("h0", "h1") if name == "leaf_spine" else ("n0", "n1")
    net.flow("f", *ends, tcp={})
    graph = network_of(net)
    root = ET.fromstring(render_graph(graph))
    assert {n.name for n in graph.nodes} <= set(texts(root)) and len(graph.nodes) >= 192
    all_boxes = boxes(root)
    over = [(a, b) for i, a in enumerate(all_boxes) for b in all_boxes[:i]
            if 2 * abs(a[0] - b[0]) < a[2] + b[2] and 2 * abs(a[1] - b[1]) < a[3] + b[3]]  # fmt: skip
    assert len(over) <= 2, over[:5]
    left_out = re.search(r"(\d+) labels? left out", "\n".join(texts(root)))
    assert left_out is None or int(left_out[1]) < 0.1 * len(graph.links)
    # Near nodes do not touch.
    places = [(n["x"], n["y"]) for n in document(graph)["nodes"]]
    assert min(math.dist(a, b) for i, a in enumerate(places) for b in places[:i]) > 16


def test_a_graph_of_ones_own_lies_by_its_hops():
    """Without places, nodes are as far apart on paper as in hops: the ends of a chain of five are four links apart."""
    at = {n["name"]: (n["x"], n["y"]) for n in document(network_of(chain("a", "b", "c", "d", "e")))["nodes"]}
    one = math.dist(at["a"], at["b"])
    assert math.dist(at["a"], at["e"]) == pytest.approx(4 * one, rel=0.02)


def test_nodes_without_a_place_go_beside_their_neighbours():
    net = fl.Network(duration="1s", positions={"n9": {"x": 9, "y": 9}}).topology("grid", rows=3, columns=3)
    net.link("n8", "n9", rate="1Mbit/s", delay="1ms").link("n0", "lone", rate="1Mbit/s", delay="1ms").flow("f", "n9", "lone", tcp={})
    at = {n["name"]: (n["x"], n["y"]) for n in document(network_of(net))["nodes"]}
    assert at["n9"] == (max(x for x, _ in at.values()), min(y for _, y in at.values()))
    assert math.dist(at["lone"], at["n0"]) < 1.5 * math.dist(at["n0"], at["n1"])


def test_too_many_nodes_are_refused_with_a_way_out(tmp_path):
    scenario = tmp_path / "ring.toml"
    scenario.write_text(f'duration = "1s"\n[topology.ring]\nnodes = {MOST + 1}\n[flows.f]\nfrom = "n0"\nto = "n1"\ntcp = {{}}\n')
    done = refused("draw", str(scenario))
    assert f"limit is {MOST}" in done.stderr and ".graphml" in done.stderr and not done.stdout
    fairlane("draw", str(scenario), "-o", str(tmp_path / "ring.graphml"))
    assert nx.read_graphml(tmp_path / "ring.graphml").number_of_edges() == 2 * (MOST + 1)


def test_the_command(tmp_path):
    example = str(ROOT / "examples" / "parking_lot.toml")
    shown = fairlane("draw", example).stdout
    assert ET.fromstring(shown).tag == f"{SVG}svg"
    target = tmp_path / "a.svg"
    assert str(target) in fairlane("draw", example, "-o", str(target)).stdout
    assert target.read_text("utf-8") == shown
    assert "exists" in refused("draw", example, "-o", str(target)).stderr
    fairlane("draw", example, "-o", str(target), "--force", "--set", "topology.parking_lot.bottleneck.rate=3Mbit/s")
    assert target.read_text("utf-8") != shown
    wrong = refused("draw", example, "-o", str(tmp_path / "a.png")).stderr
    assert ".svg, .dot, .gv or .graphml" in wrong and "Traceback" not in wrong
    data = json.loads(fairlane("draw", example, "--json").stdout)
    jsonschema.validate(data, json_schema("draw"))
    assert data["schema"] == "fairlane.draw/1" and {n["name"] for n in data["nodes"]} >= {"r0", "s0", "d0"}


def test_the_same_scenario_gives_the_same_bytes():
    example = ROOT / "examples" / "custom_graph.toml"
    imports = "from fairlane.graphs import *; from fairlane.base.scenario import resolve"
    code = f"{imports}; print(render_graph(graph_of(resolve({str(example)!r}))))"
    runs = {subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout for _ in range(2)}
    assert len(runs) == 1
