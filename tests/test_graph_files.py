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
    ("x.csv", "from,to,speed\na,b,1\n", "x.csv:2, link a-b: speed has the value 1 without a unit"),
    ("x.csv", "from,to,rate,rate\na,b,1,2\n", "x.csv:1: the column 'rate' occurs twice"),
    ("x.txt", "a b", "x.txt:1: this text is no network of SNDlib"),
    ("x.txt", "?SNDlib native\nLINKS (\n L ( A B ) 1 2 3 ( )\n)\n", "x.txt:3: found '(', expected the setup cost"),
    ("x.txt", "?SNDlib native\nNODES ( A )\nLINKS (\n L ( A B ) 1 2 3 4 ( )\n)\n", "x.txt:4: the node 'B' does not exist"),
    ("x.json", "[1]", "x.json: this JSON is no node-link graph"),
    ("x.json", '{"nodes": [{"id": 1}], "links": [{"source": 1}]}', "x.json: target of link 1 has no id"),
    ("x.json", '{"nodes": [1,\n', "x.json:2: invalid JSON"),
    ("x.intra", "a b 3\na b\n", "x.intra:2: found 'a b', expected two nodes and a number"),
    ("x.cch", "1 @A (1) -> <2> =a r0\n", "x.cch:1: the router 2 of this link does not exist"),
    ("x.xml", "<network><networkStructure><links><link id='l'/></links></networkStructure></network>", "x.xml: a link has no source"),
    ("x.csv", "from,to\na,b\na\n", "x.csv:3: 1 values for 2 columns"),
    ("x.csv", "from,to,rate\na,b,10\n", "x.csv:2, link a-b: "),
    ("x.csv", "from,to,delay\na,b,1ms\nb,c,-3ms\n", "x.csv:3, link b-c: "),
    ("x.csv", "from,to,rate\na,b,0Mbit/s\n", "the rate is zero"),
    ("x.csv", "from,to\n,b\n", "x.csv:2: a link needs two nodes"),
    ("x.csv", "", "x.csv:1: "),
    ("x.doc", "a b", "must end in"),
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


def graph_file(tmp_path, name: str, text: str) -> str:
    (tmp_path / name).write_text(text)
    return str(tmp_path / name)


BARE = (
    'graph [\n node [ id 0 label "A" ]\n node [ id 1 label "B" ]\n node [ id 2 label "C" ]\n'
    " edge [ source 0 target 1 bandwidth 1000 latency 12 ]\n edge [ source 1 target 2 delay 2 bw 9000 ]\n]\n"
)
NESTED = BARE.replace("bandwidth 1000 latency 12", 'dist 1000.0 capacity "10G"').replace("delay 2 bw 9000", "res [ delay 2 bw 9000 ]")


def test_numbers_without_a_unit_are_asked_for_by_name_in_one_line(tmp_path):
    file = graph_file(tmp_path, "bare.gml", BARE)
    with pytest.raises(FairlaneError) as wrong:
        read_graph(file)
    first, help_line = str(wrong.value).split("\n")
    assert first == f"{file}:5, link A-B: bandwidth has the value 1000 without a unit"
    asked = "rate=bandwidth:Mbit/s,delay=latency:ms,rate=bw:Mbit/s,delay=delay:ms"
    assert f"--map {asked};" in help_line
    # What is asked for is an answer.
    read = read_graph(file, map=asked)
    assert [(x["rate"], x["delay"]) for x in read.links.values()] == [("1000Mbit/s", "12ms"), ("9000Mbit/s", "2ms")]
    assert "rate of edges from bandwidth, in Mbit/s: 1; bw, in Mbit/s: 1" in read.notes
    left_out = read_graph(file, map={"rate": "none", "delay": "none"})
    assert {(x["rate"], x["delay"]) for x in left_out.links.values()} == {("10Mbit/s", "5ms")}


def test_lengths_are_light_in_fibre_and_nested_tables_are_read(tmp_path):
    file = graph_file(tmp_path, "nested.gml", NESTED)
    read = read_graph(file, map="delay=dist:km,rate=bw:Mbit/s,delay=res.delay:ms")
    a, b = read.links.values()
    # 1000 km over two thirds of 299,792.458 km/s.
    assert si(a["delay"]) == pytest.approx(1000 / (299_792.458 * 2 / 3), rel=1e-6)
    # The capacity that no mapping names has its unit, and is taken.
    assert (a["rate"], b["rate"], b["delay"]) == ("10Gbit/s", "9000Mbit/s", "2ms")
    assert any("light in fibre, 199862 km/s" in n for n in read.notes)


@pytest.mark.parametrize(
    ("attributes", "rate", "delay"),
    [
        # Names with their unit: TopoHub, FNSS, the Topology Zoo.
        ('"capacity_mbps": 100, "dist_km": 199.861639', "100Mbit/s", 1e-3),
        ('"bw": "2.5 Gb/s", "latency": "3 ms"', "2.5Gbit/s", 3e-3),
        ('"speed": "10GBps", "delay_us": 7', "80Gbit/s", 7e-6),
        ('"LinkSpeed": "<1.5", "LinkSpeedUnits": "M", "length_m": 199861.639', "1.5Mbit/s", 1e-3),
        ('"LinkSpeedRaw": 45000000.0, "capacity": 3, "delay": "1ms"', "45000000bit/s", 1e-3),
    ],
)
def test_attributes_that_say_their_unit_need_no_mapping(tmp_path, attributes, rate, delay):
    text = '{"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b", ' + attributes + "}]}"
    (link,) = read_graph(graph_file(tmp_path, "x.json", text)).links.values()
    assert link["rate"] == rate and si(link["delay"]) == pytest.approx(delay, rel=1e-6)


def test_a_graph_that_declares_its_units_is_read_as_networkx_writes_it(tmp_path):
    """FNSS (Saino, Cocora, Pavlou, SIMUTools 2013) declares `capacity_unit` and `delay_unit` for the whole graph."""
    graph = nx.path_graph(4, create_using=nx.DiGraph)
    nx.set_edge_attributes(graph, 40, "capacity")
    nx.set_edge_attributes(graph, 6, "delay")
    graph.graph |= {"capacity_unit": "Gbps", "delay_unit": "ms"}
    file = graph_file(tmp_path, "x.json", json.dumps(nx.node_link_data(graph, edges="links")))
    for source in (file, graph):
        links = read_graph(source).links
        assert len(links) == 3 and all((x["rate"], x["delay"], x["duplex"]) == ("40Gbit/s", "6ms", False) for x in links.values())


def test_networks_of_sndlib_with_their_demands_run(tmp_path):
    """A demand is its value times its routing unit, in the unit of the capacities (SNDlib, native format)."""
    text = (
        "?SNDlib native format; type: network; version: 1.0\n# comment (\nNODES ( A ( 18.60 54.20 )\n B ( 14.50 53.40 ) )\n"
        "LINKS (\n L0 ( A B ) 155.00 0.00 0.00 156.00 ( 155.00 156.00 622.00 300.00 )\n)\n"
        "DEMANDS (\n D ( A B ) 2 2.50 UNLIMITED\n E ( B A ) 1 0.50 UNLIMITED\n)\nADMISSIBLE_PATHS ( D ( P ( L0 ) ) )\n"
    )
    xml = (
        '<?xml version="1.0" encoding="ISO-8859-1"?>\n<network xmlns="http://sndlib.zib.de/network"><networkStructure>'
        '<nodes coordinatesType="geographical"><node id="A"><coordinates><x>18.60</x><y>54.20</y></coordinates></node>'
        '<node id="B"><coordinates><x>14.50</x><y>53.40</y></coordinates></node></nodes><links><link id="L0"><source>A</source>'
        "<target>B</target><preInstalledModule><capacity>155.0</capacity><cost>0.0</cost></preInstalledModule></link></links>"
        "</networkStructure><demands><demand id='D'><source>A</source><target>B</target><routingUnit>2</routingUnit>"
        "<demandValue>2.5</demandValue></demand><demand id='E'><source>B</source><target>A</target><demandValue>0.5</demandValue>"
        "</demand></demands></network>"
    )
    files = [graph_file(tmp_path, "x.txt", text), graph_file(tmp_path, "x.xml", xml)]
    with pytest.raises(FairlaneError, match=r"pre_installed_capacity has the value 155.0 without a unit\n.*pre_installed_capacity:Mbit/s"):
        read_graph(files[0])
    natively, as_xml = (read_graph(f, map="rate=pre_installed_capacity:Mbit/s") for f in files)
    assert natively.links == as_xml.links and natively.demands == as_xml.demands and natively.positions == as_xml.positions
    assert natively.links["L0"]["rate"] == "155Mbit/s"
    assert natively.demands == [{"from": "A", "to": "B", "rate": "5Mbit/s"}, {"from": "B", "to": "A", "rate": "0.5Mbit/s"}]
    assert read_graph(files[0], map="rate=module_capacity.1:Mbit/s").links["L0"]["rate"] == "622Mbit/s"
    net = fl.Network.from_graph(files[0], duration="20s", map="rate=pre_installed_capacity:Mbit/s")
    rates = dict(zip((r := net.run()).flows["flow"], r.flows["throughput"], strict=True))
    # 20 s of Poisson packets of 1028 bytes: the standard error of their number is one in the root of it.
    assert rates["demands.A-B"] == pytest.approx(5e6, rel=4 / (5e6 * 20 / 8 / 1028) ** 0.5)


def test_files_of_rocketfuel(tmp_path):
    graph_file(tmp_path, "weights.intra", "Boston,+MA Chicago,+IL 2.5\nChicago,+IL Boston,+MA 3\n")
    file = graph_file(tmp_path, "latencies.intra", "Boston,+MA Chicago,+IL 7\nChicago,+IL Boston,+MA 7\n")
    (link,) = read_graph(file).links.values()
    assert link["delay"] == "7ms" and "weight" not in link
    read = read_graph(file, map="weight=weight:2")
    (link,) = read.links.values()
    assert link["weight"] == 5 and link["reverse"] == {"weight": 6} and "weights.intra next to it was joined" in read.notes
    assert fl.Network.from_graph(file, duration="1s", map="weight=weight:2").to_dict()["route_by"] == "weight"
    with pytest.raises(FairlaneError, match=r"weight is 2.5, which is no weight"):
        read_graph(file, map="weight=weight")
    cch = graph_file(
        tmp_path, "1.cch",
        "1 @Boston,+MA + bb (2) &1 -> <2> <3> {-9} =r1.net r0\n2 @NY,+NY (1) -> <1> =r2.net! r0\n"
        "3 @NY,+NY bb (1) -> <1> =r3.net r1\n-9 =1.2.3.4 r1\n",
    )  # fmt: skip
    read = read_graph(cch)
    assert read.nodes == ["r1.net", "r2.net", "r3.net"] and list(read.links) == ["r1.net-r2.net", "r1.net-r3.net"]


REPETITA = """NODES 3
label x y
0_SRI -122.18219 37.45383
1_USCB -119.69819 34.42083
2_UCLA -118.24368 34.05223

EDGES 4
label src dest weight bw delay
edge_0 0 1 1 1000000 678
edge_1 1 0 1 1000000 678
edge_2 0 2 5 2000000 869
edge_3 2 0 5 500000 869
"""
DEMANDS = "DEMANDS 2\nlabel src dest bw\ndemand_0 0 1 4351\ndemand_1 2 0 5322\n"


def test_topologies_and_demands_of_repetita(tmp_path):
    """Rates are kbit/s, delays microseconds, nodes the numbers of their lines (repetita.info.ucl.ac.be, "Data Format")."""
    file = graph_file(tmp_path, "Arpanet.graph", REPETITA)
    assert not read_graph(file).demands
    graph_file(tmp_path, "Arpanet.0000.demands", DEMANDS)
    read = read_graph(file, map="weight=weight")
    assert read.nodes == ["0_SRI", "1_USCB", "2_UCLA"]
    assert read.links == {
        "edge_0": {"from": "0_SRI", "to": "1_USCB", "rate": "1000000kbit/s", "delay": "678us", "weight": 1},
        "edge_2": {
            "from": "0_SRI", "to": "2_UCLA", "rate": "2000000kbit/s", "delay": "869us", "weight": 5, "reverse": {"rate": "500000kbit/s"},
        },
    }  # fmt: skip
    assert [d["rate"] for d in read.demands] == ["4351kbit/s", "5322kbit/s"] and read.demands[1]["from"] == "2_UCLA"
    assert "demands of Arpanet.0000.demands next to it" in read.notes
    assert read.positions["0_SRI"][1] == 37.45383
    flows = fl.Network.from_graph(file, duration="1s").run().flows
    assert flows.height == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("EDGES 4", r"x.graph: EDGES lacks 4 rows"),
        (REPETITA.replace("NODES 3", "NODES 4"), r"x.graph:7: NODES lacks 1 rows"),
        (REPETITA.replace("edge_1 1 0", "edge_1 1 3"), r"x.graph:10: \'3\' is no node: nodes have the numbers 0 to 2"),
        (REPETITA.replace("678", "fast"), r"x.graph:9: \'fast\' is no number"),
        (REPETITA.replace("5 2000000 869", "5 2000000"), r"x.graph:11: found \'edge_2 0 2 5 2000000\', expected 6 words"),
        ("hello", r"x.graph:1: found \'hello\', expected NODES"),
        ("", r"x.graph"),
    ],
)
def test_topologies_of_repetita_that_are_none(text, message, tmp_path):
    with pytest.raises(FairlaneError, match=message):
        read_graph(graph_file(tmp_path, "x.graph", text))


BAD_MAPS = ["speed=x:ms", "rate=bw:km", "delay=dist:Mbit/s", "rate=:Mbit/s", "weight=w:x", "rate"]


@pytest.mark.parametrize("text", BAD_MAPS)
def test_mappings_that_are_none(text, tmp_path):
    with pytest.raises(FairlaneError, match=r"cannot map .*\n  = help: |write weight=NAME"):
        read_graph(graph_file(tmp_path, "bare.gml", BARE), map=text)


def test_a_mapped_name_that_no_link_has_is_an_error(tmp_path):
    with pytest.raises(FairlaneError, match=r"bandwith.*did you mean 'bandwidth'"):
        read_graph(graph_file(tmp_path, "bare.gml", BARE), map="rate=bandwith:Mbit/s")
