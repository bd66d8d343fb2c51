"""`Network`, `Result` and result folders."""

from __future__ import annotations

import json
import math
import pickle
import tomllib

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairlane as fl
from conftest import DUMBBELL
from fairlane import _core
from fairlane.base import toml
from fairlane.base.scenario import checked
from fairlane.base.seeds import parse_seeds


def network(**settings) -> fl.Network:
    net = fl.Network(**({"duration": "5s", "warmup": "1s", "sample": "50ms", "name": "two"} | settings))
    bottleneck: fl.settings.PipeTable = {"rate": "5Mbit/s", "delay": "10ms", "queue": {"droptail": {"limit": "20p"}}}
    net.dumbbell(pairs=2, access={"rate": "100Mbit/s", "delay": "1ms"}, bottleneck=bottleneck)
    return net.flow("tcp", "s{i}", "d{i}", count=2, stagger="100ms", tcp={"preset": "rfc", "cc": "newreno"})


def mean(result: fl.Result, metric: str, **where: str) -> float:
    """The mean of a metric that has one."""
    found = result.value(metric, **where).mean
    assert found is not None
    return found


@pytest.fixture(scope="module")
def result() -> fl.Result:
    return network().run(seeds="1..3")


def test_tables(result):
    assert result.flows.height == 3 * 2 and result.flows["flow"].to_list()[:2] == ["tcp.0", "tcp.1"]
    assert result.network.height == 3
    assert set(result.links.filter(pl.col("link") == "bottleneck")["seed"]) == {1, 2, 3}
    assert {"seed", "time", "flow", "cwnd"} <= set(result.flow_series.columns)
    assert {"seed", "time", "link", "queue"} <= set(result.link_series.columns)
    assert result.flow_series["time"].max() == pytest.approx(5, abs=0.06)


def test_means_are_the_intervals_of_the_table(result):
    goodputs = result.flows.filter(pl.col("flow") == "tcp.1")["goodput"].to_list()
    iv = fl.interval(goodputs, unit="bit/s")
    assert result.value("goodput", flow="tcp.1") == iv
    wide = result.mean("flows").filter(pl.col("flow") == "tcp.1")
    assert wide["goodput"].item() == iv.mean
    assert wide["goodput_low"].item() == iv.low
    long = result.summary("flows").filter((pl.col("flow") == "tcp.1") & (pl.col("metric") == "goodput"))
    assert long.select("mean", "low", "high", "sd", "n", "unit").row(0) == (iv.mean, iv.low, iv.high, iv.sd, 3, "bit/s")


def test_settings_of_a_flow_have_the_names_of_the_file():
    net = fl.Network(duration="2s").link("a", "b", rate="1Mbit/s", delay="1ms")
    net.flow("late", "a", "b", start="500ms", stop="1s", tcp="reno")
    (flow,) = net.resolve()["expanded"]["flows"]
    assert (flow["start"], flow["stop"]) == ("500ms", "1s")


def test_a_warning_says_when_chance_has_no_part():
    net = fl.Network(duration="1s").link("a", "b", rate="1Mbit/s", delay="1ms")
    alike = net.flow("cbr", "a", "b", udp={}, source={"cbr": {"rate": "2Mbit/s", "size": "1000B"}}).run(seeds="1..3")
    assert any("nothing in this scenario is random" in str(w) for w in alike.warnings)
    # The flows differ with the seed even if a row of totals happened not to.
    other = net.replace("links.a-b.loss", 0.1).run(seeds="1..3")
    assert len(set(other.fingerprints)) == 3
    assert not any("is random" in str(w) for w in other.warnings)


def test_arrow_and_pandas(result):
    assert result.to_arrow("links").num_rows == result.links.height
    assert list(result.to_pandas().columns) == result.flows.columns


def test_unknown_names(result):
    with pytest.raises(fl.UnknownNameError, match="goodput"):
        result.value("godput", flow="tcp.0")
    with pytest.raises(fl.UnknownNameError, match="bottleneck"):
        result.value("utilisation", link="bottelneck")
    with pytest.raises(fl.UnknownNameError, match="flows"):
        result.table("flow")
    with pytest.raises(fl.FairlaneError, match="cwnd"):
        result.plot("cwind")


def test_plots(result, tmp_path):
    for what in ("cwnd", "ssthresh", "queue", "goodput", "utilisation", "jain"):
        figure = result.plot(what, path=tmp_path / f"{what}.svg")
        assert len(figure.axes) == 1
    assert result.plot("queue", link=["bottleneck"], seed=2).axes[0].get_lines()


def test_plots_show_only_what_has_the_quantity():
    net = fl.Network(duration="2s", sample="50ms").link("a", "b", rate="5Mbit/s", delay="5ms")
    net.flow("udp", "a", "b", udp={}, source={"cbr": {"rate": "1Mbit/s", "size": "500B"}})
    net.flow("bulk", "a", "b", tcp="sack").flow("file", "a", "b", tcp="sack", source={"file": {"size": "20kB"}})
    r = net.run()
    legend = r.plot("cwnd").axes[0].get_legend()
    assert legend is not None and [t.get_text() for t in legend.get_texts()] == ["bulk", "file"]
    (axes,) = r.plot("completion_time").axes
    assert [t.get_text() for t in axes.get_xticklabels()] == ["file"]
    assert axes.get_ylabel().startswith("completion time (")
    assert r.plot("queue").axes[0].get_ylabel() == "queue length (packets)"


def test_plot_without_series_says_what_to_do():
    with pytest.raises(fl.FairlaneError, match="sample"):
        network(sample=None, duration="2s").run().plot("cwnd")


def test_folder_round_trip(result, tmp_path):
    folder = result.save(tmp_path / "a" / "out")
    back = fl.load(folder)
    for name in ("flows", "links", "network", "flow_series", "link_series"):
        assert back.table(name).equals(result.table(name), null_equal=True)
    assert back.document() == result.document()
    assert back.fingerprints == result.fingerprints
    again = fl.run(folder / "scenario.toml", seeds="1..3")
    assert again.fingerprints == result.fingerprints
    assert fl.run(folder / "scenario.json", seeds="1..3").fingerprints == result.fingerprints
    with pytest.raises(fl.FolderError, match="exists"):
        result.save(folder)
    result.save(folder, force=True)
    assert sorted(p.name for p in (tmp_path / "a").iterdir()) == ["out"]


def test_damaged_folder(result, tmp_path):
    folder = result.save(tmp_path / "out")
    (folder / "scenario.json").write_text("{}")
    with pytest.raises(fl.FolderError, match=r"scenario\.json was changed"):
        fl.load(folder)
    (folder / "manifest.json").write_text("{")
    with pytest.raises(fl.FolderError, match="damaged"):
        fl.load(folder)
    with pytest.raises(fl.FolderError, match="not a result folder"):
        fl.load(tmp_path)


def test_network_errors_carry_diagnostics():
    with pytest.raises(fl.ScenarioError) as e:
        network(duration="fast").run()
    (d,) = e.value.diagnostics
    assert d["path"] == "duration" and d["line"] == 1 and d["message"]
    assert e.value.rendered == str(e.value)
    with pytest.raises(fl.FairlaneError, match="already has"):
        network().flow("tcp", "s0", "d0")
    with pytest.raises(fl.FairlaneError, match="already has"):
        network().star(clients=2)


def test_network_and_file_are_the_same(tmp_path):
    path = tmp_path / "net.toml"
    network().save(path)
    assert fl.run(path).fingerprints == network().run().fingerprints
    assert fl.Network.from_file(path).to_dict() == network().to_dict()
    text = fl.Network.from_toml(DUMBBELL)
    assert mean(text.replace("topology.dumbbell.bottleneck.rate", "2Mbit/s").run(), "throughput", link="bottleneck") < 2.01e6


def test_a_network_is_read_from_whatever_run_reads(tmp_path, monkeypatch):
    """TOML and JSON, with or without a byte order mark, as written or resolved, and the files next to it that it names."""
    place = tmp_path / "sub"
    place.mkdir()
    (place / "call.txt").write_text("0.1 100\n0.2 300\n")
    net = network().flow("call", "s0", "d0", udp={}, source={"replay": {"file": "call.txt"}})
    (place / "net.toml").write_text("\ufeff" + net.to_toml(), "utf-8")
    (place / "net.json").write_text(json.dumps(net.to_dict()))
    (place / "marked.JSON").write_text("\ufeff" + json.dumps(net.to_dict()), "utf-8")
    absolute = fl.Network.from_toml(net.to_toml()).replace("flows.call.source.replay.file", str(place / "call.txt"))
    (place / "resolved.json").write_text(json.dumps(absolute.resolve()))
    monkeypatch.chdir(tmp_path)
    for file in place.glob("*.[tjJ]*"):
        if file.name != "call.txt":
            assert fl.Network.from_file(file).run().fingerprints == fl.run(file).fingerprints, file
    (place / "cut.json").write_text('{"duration": "1s",')
    for read in (fl.run, fl.Network.from_file):
        with pytest.raises(fl.ScenarioError, match=r"cut\.json:1:"):
            read(place / "cut.json")


def test_set_and_refine():
    small = network().refine("bottleneck", queue={"droptail": {"limit": "5p"}}).run()
    assert mean(small, "queue_max", link="bottleneck") <= 5
    same = network().replace("links.bottleneck.queue.droptail.limit", "5p").run()
    assert same.fingerprints == small.fingerprints


def test_hop_probe():
    plain, probed = network(duration="3s").run(), network(duration="3s").run(hop_probe=True)
    name = "router_path_delay_mean"
    assert plain.value(name, flow="tcp.0").n == 0
    assert 0.011 < mean(probed, name, flow="tcp.0") <= mean(probed, "delay_mean", flow="tcp.0") * 1.001


def test_document_is_json(result):
    json.loads(result.to_json(), parse_constant=lambda c: pytest.fail(f"{c} is not JSON"))


def test_repr(result):
    assert repr(result).startswith("Result(3 runs, 2 flows,")
    assert "dumbbell" in repr(network())


trees = st.recursive(
    st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text('abc.- é"\\', min_size=1), trees, max_size=5))
def test_toml_round_trip(tree):
    sections = {"links": {"x.reverse": tree}, "flows": {}, **{k: v for k, v in tree.items() if k not in ("links", "flows", "topology")}}
    back = tomllib.loads(toml.dumps(sections))
    assert back == {k: v for k, v in sections.items() if k != "flows"}


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, unique=True))
def test_seeds_round_trip(seeds):
    text = ",".join(map(str, seeds))
    assert parse_seeds(text if len(seeds) > 1 else f"{text}..{text}") == seeds == parse_seeds(seeds)


@pytest.mark.parametrize("number", [1, 10, "10", " 3 "])
def test_a_number_is_how_many_seeds(number):
    assert parse_seeds(number) == list(range(1, int(number) + 1))


def test_seed_is_one_run_wherever_seeds_are_several(tmp_path):
    net = network()
    assert net.run(seed=3).seeds == [3] and net.run(2).seeds == net.run(seeds=2).seeds == [1, 2]
    assert net.run(seed=2).fingerprints == net.run(seeds=2).fingerprints[1:]
    queues = fl.compare(net, queues="red,codel", link="bottleneck", seed=4)
    assert queues.seeds == [4] and "seed=4" in queues.command
    assert fl.Study(net, seed=5, metrics=["network.goodput"]).spec.seeds == (5,)
    for call in (lambda: net.run("1..3", seed=2), lambda: fl.compare(net, queues="red,codel", seeds=2, seed=3)):
        with pytest.raises(fl.FairlaneError, match="exclude each other"):
            call()


@pytest.mark.parametrize("seeds", [1.5, [1.5], ["x"], {}, "1..", "5..1", "", [1, 1], 0, -1, 2**64, True])
def test_what_is_no_list_of_seeds(seeds):
    with pytest.raises(fl.FairlaneError, match="seed"):
        parse_seeds(seeds)


def test_numbers_for_people():
    from fairlane.base.format import duration, number, quantity, seconds
    from fairlane.stats import Interval

    assert quantity(Interval(9.6e6, None, None, None, 1), "bit/s") == "9.600 Mbit/s"
    assert quantity(Interval(None, None, None, None, 0), "s") == "-"
    assert number(math.nan) == "-" and number(math.inf) == "inf"
    assert seconds("2min") == 120 and duration(0.04) == "0.0 s"


def test_problems_and_warnings_have_codes(result):
    wrong = fl.Network(duration="10").link("a", "b", rate="1Mbit/s", delay="1ms", bandwith=3)  # type: ignore[call-arg]
    with pytest.raises(fl.ScenarioError) as error:
        wrong.flow("f", "a", "c", tcp="newrno").run()  # type: ignore[arg-type]
    assert {d["code"] for d in error.value.diagnostics} == {"bad-quantity", "unknown-key", "unknown-algorithm"}
    short = network(duration="200ms", warmup="0s")
    doubts = short.run().warnings
    assert {w.code for w in doubts} == {"coarse-sampling", "short-measurement"}
    assert pickle.loads(pickle.dumps(doubts)) == doubts and pickle.loads(pickle.dumps(doubts))[0].code == doubts[0].code
    assert [w.code for w in network().run(seeds=[1, 2]).warnings if "is random" in str(w)] in ([], ["same-runs"])


def test_a_scenario_travels_as_text_and_is_the_same(result):
    one = checked(network())
    other = pickle.loads(pickle.dumps(one))
    assert (other.json(), other.seed) == (one.json(), one.seed) and json.loads(one.json()) == network().resolve()
    (run,) = _core.run(other, [1], 1)
    assert run.fingerprint == result.fingerprints[0]
    for broken, code in (
        ("", "empty-file"),
        ("{}", "unreadable"),
        (one.json(expanded=False).replace('"duration"', '"durtion"'), "unreadable"),
    ):
        with pytest.raises(fl.ScenarioError) as error:
            _core.Resolved(broken)
        assert error.value.diagnostics[0]["code"] == code


def test_jain_has_no_value_where_nothing_is_delivered():
    late = network(duration="2s", warmup="0s").replace("flows.tcp.start", "1.9s").replace("flows.tcp.stagger", "0s")
    silent = late.replace("topology.dumbbell.bottleneck.delay", "300ms").run()
    assert silent.value("goodput").mean == 0.0
    assert silent.value("jain").mean is None and silent.value("jain_tcp").mean is None
    assert silent.document()["network"][0]["jain"]["mean"] is None
    assert {w.code for w in silent.warnings} >= {"silent-flow"}
