"""Wireless channels from Python and the command line: written, run, drawn, explained, refused."""

from __future__ import annotations

import json
import math

import pytest

import fairlane as fl
from conftest import ROOT
from fairlane.base.scenario import resolve
from fairlane.cli import invoke
from fairlane.graphs import graph_of
from fairlane.graphs import render_graph as picture
from fairlane.look.topology import Topology

EXAMPLES = ["hidden_terminals", "wireless_chain", "wireless_house", "wireless_mesh", "wireless_walk"]


def two(**settings: object) -> fl.Network:
    net = fl.Network(duration="5s", warmup="1s").wireless("air", nodes={"a": [0, 0], "b": [30, 0]}, **settings)
    return net.flow("f", "a", "b", udp={}, source={"cbr": {"rate": "20Mbit/s", "size": "1472B"}})


def test_one_station_sends_what_the_standard_leaves_it():
    """802.11b at 11 Mbit/s, long preamble: 1472 bytes take DIFS, 15.5 slots, 192 us, 1536 bytes, SIFS, an answer at 2 Mbit/s."""
    cycle = 50 + 15.5 * 20 + 192 + math.ceil(1536 * 8 / 11) + 10 + 192 + 14 * 8 / 2
    got = two(rate="11Mbit/s").run().value("goodput").mean
    assert got == pytest.approx(1472 * 8 / cycle * 1e6, rel=0.01)


def test_what_is_written_is_read_again():
    net = two(rate="5.5Mbit/s", propagation=fl.propagation.TwoRay(height_m=2), queues={"a": "codel"})
    again = fl.Network.from_toml(net.to_toml())
    assert again.to_dict() == net.to_dict()
    assert net.resolve()["wireless"]["air"]["propagation"] == {"two_ray": {"frequency_ghz": 2.4, "height_m": 2.0}}
    # A resolved scenario runs again as it is.
    whole = {k: v for k, v in net.resolve().items() if k not in ("expanded", "warnings")}
    again._tree = whole
    assert again.run().fingerprints == net.run().fingerprints


def test_walks_are_written_read_and_walked():
    """From 30 m at 200 m/s: out of a range of 430 m after two seconds of the walk, three of the run."""
    points = [{"at": "1s", "place": [30, 0]}, {"at": "4s", "place": {"x": 630, "y": 0}}]
    net = two(walks={"b": {"points": points}}, propagation=fl.propagation.FixedRange(range_m=430), routes="static").replace("warmup", "0s")
    again = fl.Network.from_toml(net.to_toml())
    assert again.to_dict() == net.to_dict()
    assert net.resolve()["wireless"]["air"]["walks"]["b"]["points"][1]["place"] == [630.0, 0.0]
    (way,) = net.resolve()["expanded"]["channels"][0]["ways"]
    assert way == {"node": "b", "points": [[30.0, 0.0], [630.0, 0.0]]}
    goodput = net.run().value("goodput").mean
    still = two(propagation=fl.propagation.FixedRange(range_m=430)).replace("warmup", "0s").run().value("goodput").mean
    assert goodput / still == pytest.approx(3.05 / 5, rel=0.02)
    assert again.run().fingerprints == net.run().fingerprints


def test_stations_have_their_metrics_and_wires_do_not():
    links = two().link("b", "c", rate="1Mbit/s", delay="1ms").run().links
    row = {r["link"]: r for r in links.iter_rows(named=True)}
    assert row["a-air"]["acknowledged"] > 500 and row["a-air"]["attempts"] >= row["a-air"]["acknowledged"]
    assert 0.7 < row["a-air"]["medium_busy"] <= 1 and row["b-air"]["airtime"] < row["a-air"]["airtime"]
    assert math.isnan(row["b-c"]["attempts"]) and math.isnan(row["b-c"]["airtime"])
    wired = fl.Network(duration="2s").dumbbell().flow("f", "s0", "d0", tcp="reno").run().links
    assert "attempts" not in wired.columns


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run_and_can_be_drawn(name):
    tree = resolve(ROOT / "examples" / f"{name}.toml")
    stations = [s for c in tree["expanded"]["channels"] for s in c["stations"]]
    assert {f["from"] for f in tree["expanded"]["flows"]} <= set(tree["expanded"]["nodes"])
    assert all(s["node"] in tree["expanded"]["positions"] for s in stations)
    figure = pytest.importorskip("matplotlib.figure").Figure()
    drawn = Topology({k: v for k, v in tree.items() if k not in ("expanded", "warnings")})
    drawn.draw(figure, figure.add_subplot())
    assert drawn.size[0] > 0
    graph = graph_of(tree)
    hops = {frozenset(x.name.split(" ~ ")) for x in graph.links if " ~ " in x.name}
    mutual = {frozenset(c["stations"][i]["node"] for i in pair) for c in tree["expanded"]["channels"] for pair in c["hops"]}
    assert hops == mutual and all(x.start in tree["expanded"]["nodes"] and x.end in tree["expanded"]["nodes"] for x in graph.links)
    drawn_graph = picture(graph)
    assert "Wi-Fi, channel" in drawn_graph and ("path of telephone" in drawn_graph) == (name == "wireless_walk")
    result = fl.run(ROOT / "examples" / f"{name}.toml", sets={"duration": "7s", "warmup": "2s"})
    assert all(g > 0 for g in result.flows["goodput"])


def test_a_call_through_the_access_point_is_saved_by_its_queue():
    """Behind DropTail the call waits with the downloads, behind FQ-CoDel it does not (RFC 8290 section 1)."""
    delay = {}
    for queue in ("fq_codel", "droptail"):
        result = fl.run(ROOT / "examples" / "wireless_house.toml", sets={"wireless.home.queues.ap": queue})
        delay[queue] = result.value("delay_p95", flow="call").mean
    assert delay["fq_codel"] < 0.03 < 3 * delay["fq_codel"] < delay["droptail"]


def test_rts_helps_hidden_stations():
    """Fewer packets are given up where only short frames collide."""
    lost = {}
    for threshold in ("none", "1B"):
        result = fl.run(ROOT / "examples" / "hidden_terminals.toml", sets={"wireless.air.rts_threshold": threshold})
        lost[threshold] = sum(result.links["given_up"].fill_nan(0))
    assert lost["1B"] < 0.5 * lost["none"]


def test_the_command_line_knows_channels(capsys, tmp_path):
    assert invoke(["explain", "two_ray"]) == 0
    assert "height_m" in capsys.readouterr().out
    assert invoke(["explain", "wireless.NAME.rts_threshold"]) == 0
    assert "RTS" in capsys.readouterr().out
    assert invoke(["explain", "medium_busy"]) == 0
    assert "carrier sense" in capsys.readouterr().out
    file = tmp_path / "far.toml"
    file.write_text(two().to_toml().replace("[30, 0]", "[30000, 0]"))
    assert invoke(["run", str(file)]) == 2
    output = capsys.readouterr().err
    assert "no frame of another station reaches" in output and f"{file}:" in output
    file.write_text(two().to_toml())
    assert invoke(["run", str(file), "--json", "--set", "duration=2s"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {"attempts", "airtime"} <= set(document["links"][0])
    assert document["units"]["medium_busy"] == "1"


def test_the_queue_of_a_station_is_compared_as_that_of_a_link(capsys):
    file = str(ROOT / "examples" / "wireless_house.toml")
    options = [
        "--scenario",
        file,
        "--queues",
        "droptail,fq_codel",
        "--link",
        "ap-home",
        "--seeds",
        "1..2",
        "--json",
        "--set",
        "duration=8s",
    ]
    assert invoke(["compare", *options, "--set", "warmup=2s"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [next(iter(s["queue"])) for s in document["settings"]] == ["droptail", "fq_codel"]


def test_tc_leaves_the_rate_of_a_station_to_the_air(capsys):
    assert invoke(["tc", str(ROOT / "examples" / "wireless_house.toml")]) == 0
    output = capsys.readouterr().out.split("# ap-home: ")[1]
    assert "fq_codel" in output and "htb" not in output.split("# see tc")[0]
