"""Graphs from files and from networkx, against networkx and geometry, and the errors for files that are no graphs."""

from __future__ import annotations

import json
import math

import networkx as nx
import pytest

import fairlane as fl
from conftest import ROOT, fairlane
from fairlane.base.literals import si
from fairlane.base.scenario import resolve
from fairlane.errors import FairlaneError
from fairlane.graphs import graph_of, read_graph, render_graph
from fairlane.graphs.reader import great_circle

ABILENE = ROOT / "examples" / "data" / "abilene.gml"


def test_a_map_of_the_topology_zoo_has_labels_speeds_and_delays_of_its_distances():
    read = read_graph(ABILENE)
    assert len(read.nodes) == 11 and len(read.links) == 14 and "Kansas City" in read.nodes
    assert {x["rate"] for x in read.links.values()} == {"10000000000bit/s"}
    # Another formula for the great circle, the spherical law of cosines, on a sphere of 6371 km.
    place = {
        d["label"]: (math.radians(d["Latitude"]), math.radians(d["Longitude"]))
        for _, d in nx.read_gml(ABILENE, label="id").nodes(data=True)
    }
    for x in read.links.values():
        (a, u), (b, v) = place[x["from"]], place[x["to"]]
        km = 6371 * math.acos(math.sin(a) * math.sin(b) + math.cos(a) * math.cos(b) * math.cos(u - v))
        assert si(x["delay"]) == pytest.approx(km / (299_792.458 * 2 / 3), rel=1e-4)
    # New York to Los Angeles: 3,936 km.
    assert great_circle((-74.006, 40.714), (-118.244, 34.052)) == pytest.approx(3_936e3, rel=2e-3)
    seattle, york, houston = (read.positions[n] for n in ("Seattle", "New York", "Houston"))
    assert seattle[0] < york[0] and seattle[1] > houston[1]


def test_several_links_between_the_same_cities_need_not_be_announced(tmp_path):
    """Files of the Topology Zoo have them without `multigraph 1`, and labels that come twice."""
    file = tmp_path / "zoo.gml"
    file.write_text(
        'graph [\n  directed 0\n  node [\n    id 0\n    label "A"\n  ]\n  node [\n    id 1\n    label "A"\n  ]\n  node [ id 2 label "C" ]\n'
        '  edge [ source 0 target 1 LinkSpeed "45" LinkSpeedUnits "M" ]\n  edge [ source 0 target 1 ]\n  edge [ source 2 target 2 ]\n]\n'
    )
    read = read_graph(file, rate="7Mbit/s", delay="9ms")
    assert read.nodes == ["A", "A 2", "C"] and list(read.links) == ["A-A 2", "A-A 2 2"]
    assert [(x["rate"], x["delay"]) for x in read.links.values()] == [("45Mbit/s", "9ms"), ("7Mbit/s", "9ms")]
    assert any("1 links from a node to itself" in n for n in read.notes)


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/*.toml")), ids=lambda p: p.stem)
def test_what_is_drawn_as_graphml_comes_back(path, tmp_path):
    graph = graph_of(resolve(path))
    file = tmp_path / "x.graphml"
    file.write_text(render_graph(graph, ".graphml"), "utf-8")
    read = read_graph(file)
    assert read.nodes == [n.name for n in graph.nodes] and len(read.links) == len(graph.links)
    for link in graph.links:
        got = read.links[link.name]
        assert (got["from"], got["to"], got["rate"], got["delay"]) == (link.start, link.end, link.there.rate, link.there.delay)
        assert got["queue"] == link.there.queue
        back = {k: got.get("reverse", {}).get(k, got[k]) for k in ("rate", "delay", "queue")}
        assert (got.get("duplex", True), link.back is not None) in ((True, True), (False, False))
        if link.back is not None:
            assert back == {"rate": link.back.rate, "delay": link.back.delay, "queue": link.back.queue}


def test_graphs_of_networkx_run():
    for graph, sender, receiver in ((nx.karate_club_graph(), "0", "33"), (nx.grid_2d_graph(3, 3), "(0, 0)", "(2, 2)")):
        net = fl.Network.from_graph(graph, duration="2s", delay="1ms").flow("f", sender, receiver, tcp={})
        links = [x for x in net.resolve()["expanded"]["links"] if not x["name"].endswith(".reverse")]
        assert len(links) == graph.number_of_edges()
        assert net.run().value("goodput", flow="f").mean > 1e6
    one_way = nx.DiGraph([("a", "b"), ("b", "c"), ("c", "b"), ("c", "a")])
    nx.set_edge_attributes(one_way, {("b", "c"): "3Mbit/s", ("c", "b"): "2Mbit/s"}, "rate")
    links = fl.Network.from_graph(one_way, duration="1s").to_dict()["links"]
    assert links["a-b"]["duplex"] is False and links["b-c"]["reverse"] == {"rate": "2Mbit/s"} and "duplex" not in links["b-c"]
    places = nx.Graph([(1, 2)])
    nx.set_node_attributes(places, {1: (0.5, 1.0), 2: (2.0, 3.0)}, "pos")
    assert fl.Network.from_graph(places, duration="1s").to_dict()["positions"] == {"1": [0.5, 1.0], "2": [2.0, 3.0]}


def test_a_list_of_edges(tmp_path):
    file = tmp_path / "net.csv"
    file.write_text("source;target;rate;delay;name\n# a comment\na;b;5Mbit/s;2ms;up\n\nb;c;;;\n")
    read = read_graph(file, rate="1Mbit/s", delay="3ms")
    assert read.links == {
        "up": {"from": "a", "to": "b", "rate": "5Mbit/s", "delay": "2ms"},
        "b-c": {"from": "b", "to": "c", "rate": "1Mbit/s", "delay": "3ms"},
    }
    done = fairlane("new", "network", "net.csv", "--rate", "1Mbit/s", cwd=tmp_path)
    assert done.returncode == 0 and "3 nodes, 2 links" in done.stdout, done.stderr
    assert fairlane("run", "net.toml", "--quiet", cwd=tmp_path).returncode == 0
    assert "exists" in fairlane("new", "network", "net.csv", cwd=tmp_path).stderr


BAD = [
    ("x.graphml", "graph [ ]", "x.graphml:1:1: invalid XML"),
    ("x.graphml", "<graphml>\n<graph>\n<node></graph>", "x.graphml:3:"),
    ("x.graphml", "<?xml version='1.0'?><svg/>", "not GraphML: its root element is <svg>"),
    ("x.graphml", "<graphml xmlns='http://graphml.graphdrawing.org/xmlns'/>", "cannot be read"),
    ("x.graphml", "\x00\x01", "x.graphml:1:"),
    ("x.gml", "<graphml/>", "x.gml:1: this GML cannot be read"),
    ("x.gml", "graph [\n  node [\n    id 0 0\n  ]\n]", "x.gml:3: this GML cannot be read"),
    ("x.gml", "graph [\n  edge [ source 0 target 1 ]\n]", "cannot be read"),
    ("x.csv", "a,b\nb,c\n", "x.csv:1: the columns `from` and `to` are missing"),
    ("x.csv", "from,to,speed\na,b,1\n", "x.csv:1: unknown column 'speed'"),
    ("x.csv", "from,to\na,b\na\n", "x.csv:3: 1 values for 2 columns"),
    ("x.csv", "from,to,rate\na,b,10\n", "x.csv:2, link a-b: "),
    ("x.csv", "from,to,delay\na,b,1ms\nb,c,-3ms\n", "x.csv:3, link b-c: "),
    ("x.csv", "from,to,rate\na,b,0Mbit/s\n", "the rate is zero"),
    ("x.csv", "from,to\n,b\n", "x.csv:2: a link needs two nodes"),
    ("x.csv", "", "x.csv:1: "),
    ("x.txt", "a b", "must end in"),
]


@pytest.mark.parametrize(("name", "text", "message"), BAD, ids=lambda v: v[:28].strip() if isinstance(v, str) else "")
def test_files_that_are_none_are_told_with_line_and_hint(name, text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(FairlaneError) as wrong:
        read_graph(name)
    assert message in str(wrong.value)
    assert "= help: " in str(wrong.value) or "must end in" in message


def test_the_command_says_the_same_in_one_message(tmp_path):
    (tmp_path / "map.graphml").write_text("no xml at all")
    done = fairlane("new", "network", "map.graphml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith("error: map.graphml:1:1: invalid XML")
    assert not (tmp_path / "map.toml").exists()


def test_a_million_edges_are_refused_at_once_with_what_they_would_take(tmp_path):
    file = tmp_path / "large.csv"
    file.write_text("from,to\n" + "".join(f"n{i},n{i * 7919 % 300_007}\n" for i in range(1, 1_000_001)))
    with pytest.raises(FairlaneError, match=r"1000000 links, which need about .* GB of memory and .* s") as wrong:
        read_graph(file)
    assert "most=1000000" in str(wrong.value)


def test_a_hundred_thousand_edges_work():
    graph = nx.random_regular_graph(4, 50_000, seed=1)
    net = fl.Network.from_graph(graph, duration="1ms").flow("f", "0", "1", tcp={})
    assert len(json.loads(json.dumps(net.to_dict()))["links"]) == 100_000
    assert len(net.resolve()["expanded"]["links"]) == 200_000


@pytest.mark.parametrize(
    ("file", "text", "edge"),
    [
        ("x.csv", "from,to\n", "a,b\n"),
        ("x.gml", "graph [\nnode [ id 0 ]\n", "edge [ source 0 target 1 ]\n"),
        ("x.graphml", "<graphml>", '<edge source="a" target="b"/>'),
    ],
)
def test_a_huge_graph_is_refused_before_it_is_taken_apart(tmp_path, monkeypatch, file, text, edge):
    """A million links: the error reports the memory they need at once; the readers are never called."""
    from fairlane.graphs import reader

    monkeypatch.setattr(reader, "_READERS", {k: _never(v) for k, v in reader._READERS.items()})
    monkeypatch.setattr(reader, "_EDGE", {_NEVER[k]: v for k, v in reader._EDGE.items()})
    (tmp_path / file).write_text(text + edge * 1_000_000)
    with pytest.raises(fl.FairlaneError, match=r"has about 1000000 links, which need about 8\.2 GB of memory and 45 s"):
        fl.Network.from_graph(tmp_path / file, duration="1s")


_NEVER: dict = {}


def _never(reader):
    def fails(data, name):
        raise AssertionError("the file was taken apart")

    return _NEVER.setdefault(reader, fails)
