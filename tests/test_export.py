"""Results as files of other programs: each is read back by that program, by a schema of its format, or by its makers' rule."""

from __future__ import annotations

import functools
import json
import subprocess
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

import fairlane as fl
from conftest import ROOT, fairlane, rust_binary
from fairlane.runs.exports import FORMATS

EVIL = "=x\"'<b>$(id)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    net = fl.Network(name='a "net"\n<script>', duration="6s", sample="50ms")
    net.link("a", "b", name="out", rate="3Mbit/s", delay="10ms", queue={"droptail": {"limit": "12p"}})
    net.flow("tcp", "a", "b", count=2, tcp="newreno")
    net.flow(EVIL, "a", "b", udp={}, source={"cbr": {"rate": "200kbit/s", "size": "500B"}})
    return net.run("1..2", trace="window,state,timeout,retransmit,dequeue").save(tmp_path_factory.mktemp("e") / "r")


def test_flent_reads_it(folder: Path, tmp_path: Path) -> None:
    resultset = pytest.importorskip("flent.resultset")
    result = fl.load(folder)
    path = result.export("flent", tmp_path / "x.flent.gz", seed=2)
    read = resultset.load(str(path))
    assert set(read.series_names) == {
        *(f"TCP tcp.{i}{of}" for i in (0, 1) for of in ("", "::tcp_rtt", "::tcp_cwnd")),
        f"UDP {EVIL}",
    }
    mine = result.flow_series.filter((pl.col("seed") == 2) & (pl.col("flow") == "tcp.0"))
    assert list(read.x_values) == mine["time"].to_list()
    assert list(read["TCP tcp.0"]) == [g / 1e6 for g in mine["goodput"].to_list()]
    assert read.meta("SERIES_META")["TCP tcp.0"]["UNITS"] == "Mbits/s"
    assert list(read["TCP tcp.0::tcp_cwnd"]) == pytest.approx([w / 1460 for w in mine["cwnd"].to_list()])
    # And so do we.
    again = fl.import_file(path)
    theirs = again.flow_series.filter(pl.col("flow") == "TCP tcp.0")
    assert theirs["goodput"].to_list() == pytest.approx(mine["goodput"].to_list())
    assert theirs["cwnd"].to_list() == pytest.approx(mine["cwnd"].to_list())
    trips = theirs.select("srtt").with_columns(pl.Series("mine", mine["srtt"])).drop_nans()
    assert trips.height > 50 and trips["srtt"].to_list() == pytest.approx(trips["mine"].to_list())


@functools.cache
def _qlog_check() -> str:
    """The program that reads qlog with the types of another implementation (validation/qlog)."""
    return rust_binary("qlog-check")


def _read_by_others(path: Path) -> tuple[int, str]:
    done = subprocess.run([_qlog_check(), str(path)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 2), done.stderr
    return done.returncode, done.stdout.removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    ("control", "marks"), [("newreno", False), ("newreno", True), ("cubic", False), ("vegas", False), ("bbr", False), ("dctcp", True)]
)
def test_another_implementation_reads_qlog(control: str, marks: bool, tmp_path: Path) -> None:
    """Losses, timeouts, marks and pacing; connections that are opened from either end, and closed."""
    net = fl.Network(name=f"{EVIL}\n", duration="8s", sample="20ms")
    queue = {"red": {"min": "4p", "max": "12p", "limit": "20p", "ecn": True}} if marks else {"droptail": {"limit": "8p"}}
    net.link("a", "b", name="out", rate="2Mbit/s", delay="15ms", queue=queue, loss=0.02)
    tcp = {"cc": control, "ecn": "classic"} if control == "newreno" and marks else control
    net.flow(EVIL, "a", "b", count=2, tcp=tcp, stop="5s")
    net.flow("web", "a", "b", tcp=tcp, source={"request_response": {"request": "350B", "response": "20kB", "think": "50ms"}})
    result = net.run(1, trace="window,state,timeout,retransmit,gauge")
    path = result.export("qlog", tmp_path / "x.qlog")
    code, output = _read_by_others(path)
    assert code == 0, output
    counts = json.loads(output)
    assert counts["quic:packet_lost"] > 0 and counts["quic:congestion_state_updated"] > 3
    assert (result.links["marks"].sum() > 0) == marks
    ends = {t["title"]: t["vantage_point"]["type"] for t in json.loads(path.read_bytes())["traces"]}
    assert ends == {f"{EVIL}.0": "client", f"{EVIL}.1": "client", "web": "server"}
    assert counts["+tcp_state"] == counts["quic:connection_state_updated"], "each state has TCP's name as well, and nothing else is custom"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('"new":"attempted"', '"new":"SYN-SENT"'),
        ('"congestion_window":', '"cwnd":'),
        ('"smoothed_rtt":', '"smoothed_rtt_ms":'),
        ("quic:packet_lost", "quic:packet_dropped_by_tcp"),
        ('"relative_to_epoch"', '"relative"'),
        ('"type":"client"', '"type":"sender"'),
        ('"title":"tcp.0",', '"titel":"tcp.0",'),
        ('"time":0.0', '"time":"0.0"'),
        ('"events":[', '"event":['),
    ],
)
def test_what_is_no_qlog_is_told(folder: Path, tmp_path: Path, right: str, wrong: str) -> None:
    """The check of the test above can fail: one word is another."""
    text = fl.load(folder).export("qlog", tmp_path / "x.qlog").read_text()
    assert right in text
    (tmp_path / "y.qlog").write_text(text.replace(right, wrong, 1))
    code, output = _read_by_others(tmp_path / "y.qlog")
    assert code == 2, output


def test_qlog_says_what_happened(folder: Path, tmp_path: Path) -> None:
    result = fl.load(folder)
    document = json.loads(result.export("qlog", tmp_path / "x.qlog").read_bytes())
    assert [t["title"] for t in document["traces"]] == ["tcp.0", "tcp.1"], "UDP has no recovery"
    for trace in document["traces"]:
        events = trace["events"]
        times = [e["time"] for e in events]
        assert times == sorted(times)
        row = result.flows.filter((pl.col("flow") == trace["title"]) & (pl.col("seed") == 1)).row(0, named=True)
        names = [e["name"].removeprefix("quic:") for e in events]
        assert names.count("packet_lost") == row["retransmits"] > 0
        assert names.count("timer_updated") == row["timeouts"]
        states = {n: [e["data"] for e in events if e["name"] == f"quic:{n}_state_updated"] for n in ("congestion", "connection")}
        for states_of in states.values():
            assert "old" not in states_of[0] and all(b["old"] == a["new"] for a, b in pairwise(states_of))
        assert [s["new"] for s in states["connection"]] == ["attempted", "handshake_confirmed"]
        assert [e["tcp_state"] for e in events if "tcp_state" in e] == ["SYN-SENT", "ESTABLISHED"]
        assert trace["vantage_point"]["type"] == "client", "it sends the SYN"
        assert any("smoothed_rtt" in e["data"] for e in events)
        windows = [e["data"]["congestion_window"] for e in events if "congestion_window" in e["data"]]
        rows = result.trace().filter((pl.col("flow") == trace["title"]) & (pl.col("event") == "window") & (pl.col("seed") == 1)).collect()
        assert windows == rows["cwnd"].to_list()


def test_a_trace_of_mahimahi_carries_what_the_link_does(folder: Path, tmp_path: Path) -> None:
    path = fl.load(folder).export("mahimahi", tmp_path / "x.trace", link="out")
    lines = [int(line) for line in path.read_text().splitlines()]
    assert lines == sorted(lines) and lines[0] >= 1
    assert len(lines) == 3_000_000 * 6 // 12_000, "an opportunity for each 1500 bytes"
    assert lines[:3] == [4, 8, 12], "each 4 ms at 3 Mbit/s"
    net = fl.Network(duration="6s").link("a", "b", name="x", trace=str(path), delay="10ms", queue={"droptail": {"limit": "12p"}})
    net.flow("f", "a", "b", tcp="newreno")
    plain = fl.Network(duration="6s").link("a", "b", name="x", rate="3Mbit/s", delay="10ms", queue={"droptail": {"limit": "12p"}})
    plain.flow("f", "a", "b", tcp="newreno")
    one, two = (n.run(1) for n in (net, plain))
    assert one.value("goodput", flow="f").mean == pytest.approx(two.value("goodput", flow="f").mean, rel=0.03)
    # And a link that follows a trace gives it back.
    again = one.export("mahimahi", tmp_path / "y.trace", link="x")
    assert again.read_text().split() == path.read_text().split()


def test_steps_and_outages_of_a_link(tmp_path: Path) -> None:
    net = fl.Network(duration="3s")
    net.link("a", "b", name="x", rate="12Mbit/s", delay="1ms", rates=[{"at": "1s", "rate": "0bit/s"}, {"at": "2s", "rate": "6Mbit/s"}])
    net.flow("f", "a", "b", tcp="newreno")
    lines = [int(x) for x in net.run(1).export("mahimahi", tmp_path / "t", link="x").read_text().split()]
    assert lines == [*range(1, 1001), *range(2002, 3001, 2)]


def test_the_command(folder: Path, tmp_path: Path) -> None:
    listed = json.loads(fairlane("export", "--list", "--json").stdout)
    schema = json.loads((Path(fl.__file__).parent / "schemas" / "export.json").read_text())
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(listed, schema)
    assert [f["name"] for f in listed["formats"]] == [f.name for f in FORMATS]
    assert all(f.name in fairlane("export", "--list").stdout for f in FORMATS)
    done = fairlane("export", str(folder), "flent", "-o", "x.flent.gz", "--json", cwd=tmp_path)
    jsonschema.validate(json.loads(done.stdout), schema)
    for more, expected in (
        (["flnet", "-o", "y"], "did you mean 'flent'"),
        (["flent", "-o", "x.flent.gz"], "exists"),
        (["flent", "-o", "y", "--link", "out"], "no selection of links"),
        (["flent", "-o", "y", "--seed", "7"], "seed"),
        (["qlog", "-o", "y", "--flow", "tpc.0"], "did you mean 'tcp.0'"),
        (["mahimahi", "-o", "y"], "name it"),
        (["flent", "-o", "no/y"], "does not exist"),
        (["flent"], "give a result folder"),
    ):
        done = fairlane("export", str(folder), *more, cwd=tmp_path)
        assert done.returncode == 2 and expected in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["x.flent.gz"]


def test_what_a_result_lacks_is_told(tmp_path: Path) -> None:
    net = fl.Network(duration="1s").link("a", "b", name="x", rate="1Mbit/s", delay="1ms")
    result = net.flow("f", "a", "b", tcp="newreno").run(1)
    for form, expected in (("flent", "no time series"), ("qlog", "no recorded events")):
        with pytest.raises(fl.FairlaneError, match=expected):
            result.export(form, tmp_path / "y")
    assert not list(tmp_path.iterdir())
