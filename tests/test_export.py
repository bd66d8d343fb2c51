"""Results as files of other programs: each is read back by that program, by a schema of its format, or by its makers' rule."""

from __future__ import annotations

import json
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

import fairlane as fl
from conftest import fairlane
from fairlane.formats.export import FORMATS

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
    path = fl.export(result, "flent", tmp_path / "x.flent.gz", seed=2)
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


QLOG_NUMBER = {"type": "number", "minimum": 0}
QLOG_INT = {"type": "integer", "minimum": 0}
QLOG_TEXT = {"type": "string"}
TIMERS = ["ack", "pto", "loss_timeout", "path_validation", "handshake_timeout", "idle_timeout"]
CONNECTION_STATES = [
    *("attempted", "handshake_started", "handshake_complete", "closed"),
    *("peer_validated", "early_write", "handshake_confirmed", "closing", "draining"),
    # "implementations are allowed to use other ConnectionState values that adhere more closely to their internal logic": RFC 9293's.
    *("CLOSED", "LISTEN", "SYN-SENT", "SYN-RECEIVED", "ESTABLISHED", "FIN-WAIT-1", "FIN-WAIT-2", "CLOSE-WAIT", "CLOSING", "LAST-ACK"),
    "TIME-WAIT",
]


def _event(name: str, **data: object) -> dict:
    of = {"type": "object", "properties": data, "additionalProperties": False}
    if name in ("congestion_state_updated", "connection_state_updated"):
        of["required"] = ["new"]
    if name == "recovery_metrics_updated":
        of["minProperties"] = 1  # "is only guaranteed to contain at least one"
    if name == "timer_updated":
        of["required"] = ["event_type"]
    return {"properties": {"name": {"const": f"quic:{name}"}, "data": of}}


QLOG = {
    "type": "object",
    "required": ["file_schema", "serialization_format"],
    "additionalProperties": False,
    "properties": {
        "file_schema": {"const": "urn:ietf:params:qlog:file:contained"},
        "serialization_format": {"const": "application/qlog+json"},
        "title": QLOG_TEXT,
        "description": QLOG_TEXT,
        "traces": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["event_schemas", "events"],
                "additionalProperties": False,
                "properties": {
                    "title": QLOG_TEXT,
                    "event_schemas": {"type": "array", "minItems": 1, "items": {"pattern": "^urn:ietf:params:qlog:events:"}},
                    "vantage_point": {
                        "type": "object",
                        "required": ["type"],
                        "properties": {"name": QLOG_TEXT, "type": {"enum": ["client", "server", "network", "unknown"]}},
                    },
                    "common_fields": {
                        "type": "object",
                        "properties": {
                            "time_format": {"enum": ["relative_to_epoch", "relative_to_previous_event"]},
                            "reference_time": {
                                "type": "object",
                                "required": ["clock_type", "epoch"],
                                "properties": {"clock_type": {"enum": ["system", "monotonic"]}, "epoch": QLOG_TEXT},
                            },
                            "protocol_types": {"type": "array", "items": QLOG_TEXT},
                            "group_id": QLOG_TEXT,
                        },
                    },
                    "events": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["time", "name", "data"],
                            "additionalProperties": False,
                            "properties": {"time": QLOG_NUMBER, "name": QLOG_TEXT, "data": {"type": "object"}},
                            "anyOf": [
                                _event(
                                    "recovery_metrics_updated", min_rtt=QLOG_NUMBER, smoothed_rtt=QLOG_NUMBER, latest_rtt=QLOG_NUMBER,
                                    rtt_variance=QLOG_NUMBER, pto_count=QLOG_INT, congestion_window=QLOG_INT, bytes_in_flight=QLOG_INT,
                                    ssthresh=QLOG_INT, packets_in_flight=QLOG_INT, pacing_rate=QLOG_INT,
                                ),
                                _event("congestion_state_updated", old=QLOG_TEXT, new=QLOG_TEXT, trigger=QLOG_TEXT),
                                _event("connection_state_updated", old={"enum": CONNECTION_STATES}, new={"enum": CONNECTION_STATES}),
                                _event(
                                    "timer_updated", timer_id=QLOG_INT, event_type={"enum": ["set", "expired", "cancelled"]},
                                    timer_type={"enum": TIMERS},
                                    delta=QLOG_NUMBER,
                                ),
                                _event(
                                    "packet_lost", header={"type": "object"}, frames={"type": "array"},
                                    is_mtu_probe_packet={"type": "boolean"},
                                    trigger={"enum": ["reordering_threshold", "time_threshold", "pto_expired"]},
                                ),
                            ],
                        },
                    },
                },
            },
        },
    },
}  # fmt: skip
"""The members that draft-ietf-quic-qlog-main-schema-13 and draft-ietf-quic-qlog-quic-events-12 define, as far as used; no others."""


def test_qlog_is_by_its_schema_and_says_what_happened(folder: Path, tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    result = fl.load(folder)
    document = json.loads(fl.export(result, "qlog", tmp_path / "x.qlog").read_bytes())
    jsonschema.validate(document, QLOG)
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
        for told in states.values():
            assert "old" not in told[0] and all(b["old"] == a["new"] for a, b in pairwise(told))
        assert [s["new"] for s in states["connection"]] == ["SYN-SENT", "ESTABLISHED"]
        assert trace["vantage_point"]["type"] == "client", "it sends the SYN"
        assert any("smoothed_rtt" in e["data"] for e in events)
        windows = [e["data"]["congestion_window"] for e in events if "congestion_window" in e["data"]]
        rows = result.trace().filter((pl.col("flow") == trace["title"]) & (pl.col("event") == "window") & (pl.col("seed") == 1)).collect()
        assert windows == rows["cwnd"].to_list()


def test_a_trace_of_mahimahi_carries_what_the_link_does(folder: Path, tmp_path: Path) -> None:
    path = fl.export(fl.load(folder), "mahimahi", tmp_path / "x.trace", link="out")
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
    again = fl.export(one, "mahimahi", tmp_path / "y.trace", link="x")
    assert again.read_text().split() == path.read_text().split()


def test_steps_and_outages_of_a_link(tmp_path: Path) -> None:
    net = fl.Network(duration="3s")
    net.link("a", "b", name="x", rate="12Mbit/s", delay="1ms", rates=[{"at": "1s", "rate": "0bit/s"}, {"at": "2s", "rate": "6Mbit/s"}])
    net.flow("f", "a", "b", tcp="newreno")
    lines = [int(x) for x in fl.export(net.run(1), "mahimahi", tmp_path / "t", link="x").read_text().split()]
    assert lines == [*range(1, 1001), *range(2002, 3001, 2)]


def test_numpy_and_gnuplot_read_the_points(folder: Path, tmp_path: Path) -> None:
    import numpy as np

    result = fl.load(folder)
    path = fl.export(result, "gnuplot", tmp_path / "x.dat", flow=["tcp.0", EVIL])
    blocks = [b for b in path.read_text().split("\n\n\n") if b.strip()]
    assert len(blocks) == 2
    got = np.loadtxt(blocks[0].splitlines())
    mine = result.flow_series.filter((pl.col("seed") == 1) & (pl.col("flow") == "tcp.0"))
    assert got[:, 0].tolist() == mine["time"].to_list() and got[:, 1].tolist() == mine["cwnd"].to_list()
    if shutil.which("gnuplot"):
        ask = f"stats '{path}' index 0 using 1:2 nooutput; print STATS_records, STATS_max_y"
        done = subprocess.run(["gnuplot", "-e", ask], capture_output=True, text=True, check=True)
        assert [float(x) for x in done.stderr.split()] == [mine.height, mine["cwnd"].max()]


def test_xgraph_has_a_set_for_each(folder: Path, tmp_path: Path) -> None:
    """xgraph(1): a set begins with its name in quotes and ends with an empty line; `TitleText: ` and the like come before."""
    path = fl.export(fl.load(folder), "xgraph", tmp_path / "x.xg", series="queue", link="out")
    head, points = path.read_text().split("\n\n", 1)
    assert head.splitlines() == ["TitleText: a _net__<script>", "XUnitText: s", "YUnitText: queue (packets)"]
    lines = points.splitlines()
    assert lines[0] == '"out"'
    assert all(len([float(x) for x in line.split()]) == 2 for line in lines[1:] if line)
    names = fl.export(fl.load(folder), "xgraph", tmp_path / "y.xg", series="goodput").read_text()
    assert '"=x_\'<b>$(id)"' in names, "no name ends its quotes"


def test_the_command(folder: Path, tmp_path: Path) -> None:
    listed = json.loads(fairlane("export", "--list", "--json").stdout)
    schema = json.loads((Path(fl.__file__).parent / "schemas" / "export.json").read_text())
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(listed, schema)
    assert [f["name"] for f in listed["formats"]] == [f.name for f in FORMATS]
    assert all(f.name in fairlane("export", "--list").stdout for f in FORMATS)
    done = fairlane("export", str(folder), "flent", "-o", "x.flent.gz", "--json", cwd=tmp_path)
    jsonschema.validate(json.loads(done.stdout), schema)
    for more, said in (
        (["flnet", "-o", "y"], "did you mean 'flent'"),
        (["flent", "-o", "x.flent.gz"], "exists"),
        (["flent", "-o", "y", "--link", "out"], "no choice of links"),
        (["flent", "-o", "y", "--seed", "7"], "seed"),
        (["qlog", "-o", "y", "--flow", "tpc.0"], "did you mean 'tcp.0'"),
        (["mahimahi", "-o", "y"], "name it"),
        (["gnuplot", "-o", "y", "--series", "cwdn"], "did you mean 'cwnd'"),
        (["gnuplot", "-o", "no/y"], "does not exist"),
        (["flent"], "give a result folder"),
    ):
        done = fairlane("export", str(folder), *more, cwd=tmp_path)
        assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["x.flent.gz"]


def test_what_a_result_lacks_is_told(tmp_path: Path) -> None:
    net = fl.Network(duration="1s").link("a", "b", name="x", rate="1Mbit/s", delay="1ms")
    result = net.flow("f", "a", "b", tcp="newreno").run(1)
    for form, said in (("flent", "no time series"), ("qlog", "no events"), ("gnuplot", "no time series"), ("xgraph", "no time series")):
        with pytest.raises(fl.FairlaneError, match=said):
            fl.export(result, form, tmp_path / "y")
    assert not list(tmp_path.iterdir())
