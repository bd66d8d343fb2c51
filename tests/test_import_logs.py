"""Logs of other programs as results: their numbers are those of the file; damaged files are one line of error."""

from __future__ import annotations

import json
import math
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import fairlane as fl
from conftest import ROOT, cases
from conftest import started as fairlane
from fairlane.formats.manual import written
from fairlane.formats.readers import READERS, reader_of

# --- files ---------------------------------------------------------------------------------------------------

IPERF3 = """{"start":{"connected":[{"socket":5,"local_host":"10.0.0.1","local_port":40000,"remote_host":"10.0.0.2","remote_port":5201}],
"version":"iperf 3.12","tcp_mss_default":1448,"test_start":{"protocol":"TCP","num_streams":1,"duration":2}},
"intervals":[{"streams":[{"socket":5,"start":0,"end":1,"seconds":1,"bytes":12500000,"bits_per_second":1e8,"retransmits":0,
"snd_cwnd":289600,"rtt":20100,"rttvar":500}],"sum":{"bits_per_second":1e8}}],
"end":{"sum_sent":{"bits_per_second":1e8},"sum_received":{"bits_per_second":9.9e7}}}"""
SS = """ESTAB 0 0 10.0.0.1:40000 10.0.0.2:5201
\t cubic wscale:7,7 rto:224 rtt:20.1/0.5 mss:1448 cwnd:200 ssthresh:150 bytes_acked:1000 retrans:0/3
"""
QLOG = """{"qlog_version":"0.3","traces":[{"common_fields":{},"events":[{"time":1,"name":"recovery:metrics_updated",
"data":{"congestion_window":14720,"smoothed_rtt":20.1}}]}]}"""
VEC = """version 3
run General-0
attr configname General
vector 0 Net.client.tcp.conn-3 cwnd:vector ETV
attr title "congestion window, vector"
attr unit B
vector 1 Net.router.queue queueLength:vector ETV
attr unit pk
vector 2 Net.server.app[0] endToEndDelay:vector TV
attr unit ms
vector 3 Net.x rcvdPk:vector ETV
0\t1\t0\t1460
0\t5\t1\t2920
1\t6\t0.5\t0
1\t7\t1\t4
1\t8\t2\t0
2\t1.5\t20
2\t1.7\t40
3\t11\t2\t5
"""
SCA = """version 2
run General-0
scalar Net.server.app[0] packetReceived:count 120
scalar Net.router.queue "queueLength:timeavg" 2.5
statistic Net.server.app[0] endToEndDelay:histogram
field mean 0.03
field max 0.05
scalar Net.y foo 3
"""
TCPTRACE = """1 arg remaining, starting with 'x.dmp'
TCP connection 1:
\thost a:        192.168.1.4:1028
\thost b:        192.168.1.5:80
\telapsed time:  0:00:02.000000
   a->b:\t\t\t      b->a:
     actual data pkts:          0           actual data pkts:         10
     rexmt data pkts:           0           rexmt data pkts:           2
     throughput:                0 Bps       throughput:            11729 Bps
     RTT avg:                24.0 ms        RTT avg:                75.3 ms
"""
TABLE = """conn_#,host_a,host_b,port_a,port_b,first_packet,last_packet,actual_data_pkts_a2b,actual_data_pkts_b2a,\
rexmt_data_pkts_a2b,rexmt_data_pkts_b2a,throughput_a2b,throughput_b2a,RTT_avg_a2b,RTT_avg_b2a

1,192.168.1.4,192.168.1.5,1028,80,10.0,12.0,0,10,0,2,0,11729,24.0,75.3
"""


def ns3(lines: int = 60, seed: int = 1) -> str:
    """Two nodes, a queue of four packets; datagrams of 1024 bytes that come faster than the link sends them."""
    random_ = random.Random(seed)
    out: list[tuple[float, str]] = []
    queue: list[tuple[float, int]] = []
    free = now = 0.0

    def line(kind: str, time: float, device: str, what: str, packet: int) -> None:
        ip = f"ns3::Ipv4Header (tos 0x0 DSCP Default ECN Not-ECT ttl 64 id {packet} protocol 17 offset (bytes) 0 flags [none] length: 1052"
        text = f"{device}{what} {ip} 10.1.1.1 > 10.1.1.2) ns3::UdpHeader (length: 1032 49153 > 9) Payload (size=1024)"
        out.append((time, f"{kind} {time:.6f} {text}"))

    first, second = "/NodeList/0/DeviceList/0/$ns3::PointToPointNetDevice/", "/NodeList/1/DeviceList/0/$ns3::PointToPointNetDevice/"
    for packet in range(lines):
        now += random_.expovariate(1 / 0.006)
        queue = [q for q in queue if q[0] > now]
        if len(queue) >= 4:
            line("d", now, first, "TxQueue/Drop", packet)
            continue
        line("+", now, first, "TxQueue/Enqueue", packet)
        free = max(now, free)
        line("-", free, first, "TxQueue/Dequeue", packet)
        queue.append((free, packet))
        free += 0.01
        line("r", free + 0.002, second, "MacRx", packet)
    return "".join(text + "\n" for _, text in sorted(out, key=lambda x: x[0]))


FILES = {
    "iperf3": IPERF3, "ss": SS, "qlog": QLOG, "omnetpp": VEC, "omnetpp of scalars": SCA, "tcptrace": TCPTRACE,
    "tcptrace of a table": TABLE, "ns3": ns3(),
}  # fmt: skip


def imported(tmp_path: Path, content: str, **options: Any) -> fl.Result:
    (tmp_path / "log").write_text(content)
    return fl.import_file(tmp_path / "log", **options)


def only(result: fl.Result) -> dict[str, Any]:
    return result.flows.row(0, named=True)


def warned(result: fl.Result) -> str:
    return "\n".join(map(str, result.warnings))


# --- every format ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", FILES)
def test_a_log_is_a_result_like_any_other(which: str, tmp_path: Path) -> None:
    found = reader_of(FILES[which].encode())
    assert found is not None and found.name == which.partition(" ")[0]
    result = imported(tmp_path, FILES[which], folder=tmp_path / "r")
    assert result.flows.height and result.description["imported"]["format"] == found.name
    assert fl.load(tmp_path / "r").flows.equals(result.flows)
    assert "<html" in result.page()[:300] and len(str(result)) > 9


def test_a_measurement_and_a_simulation_side_by_side(tmp_path: Path) -> None:
    imported(tmp_path, IPERF3, folder=tmp_path / "measured")
    net = fl.Network(duration="2s", sample="100ms").link("a", "b", rate="100Mbit/s", delay="10ms").flow("f", "a", "b", tcp="cubic")
    net.run().save(tmp_path / "simulated")
    done = fairlane("report", str(tmp_path / "measured"), str(tmp_path / "simulated"), "-o", str(tmp_path / "both.html"))
    assert done.returncode == 0, done.stderr
    assert "10.0.0.1:40000-10.0.0.2:5201" in (tmp_path / "both.html").read_text()


@pytest.mark.parametrize("which", FILES)
def test_damaged_files_are_one_line(which: str, tmp_path: Path) -> None:
    """Cut anywhere, or with other bytes anywhere: a result, or one line; never another exception."""
    random_ = random.Random(which)
    data = FILES[which].encode()
    alphabet = b'0123456789-+eE.,:;{}[]" \n\x00\xff/'
    for i in range(cases(40)):
        if i % 2:
            spoilt = data[: random_.randrange(1, len(data))]
        else:
            spoilt = bytearray(data)
            for _ in range(random_.randint(1, 8)):
                spoilt[random_.randrange(len(spoilt))] = random_.choice(alphabet)
        file = tmp_path / f"f{i}"
        file.write_bytes(spoilt)
        try:
            fl.import_file(file)
        except fl.FairlaneError as e:
            assert "\n" not in str(e) and str(file) in str(e), str(e)


def test_the_page_of_formats_has_every_reader() -> None:
    page = (ROOT / "docs/guides/formats.md").read_text("utf-8")
    assert page == written(page), "run: python -m fairlane.formats.manual docs/guides/formats.md"
    done = fairlane("import", "--list")
    assert done.returncode == 0
    for reader in READERS:
        assert f"| {reader.name} |" in page and reader.name in done.stdout
        assert callable(reader.load())


# --- iperf3 ----------------------------------------------------------------------------------------------------


def test_iperf3_has_the_totals_of_the_receiver(tmp_path: Path) -> None:
    result = imported(tmp_path, IPERF3)
    flow = only(result)
    assert (flow["flow"], flow["from"], flow["to"], flow["transport"]) == ("10.0.0.1:40000-10.0.0.2:5201", "10.0.0.1", "10.0.0.2", "tcp")
    assert (flow["goodput"], flow["retransmits"], flow["srtt"]) == (9.9e7, 0, pytest.approx(0.0201))
    series = result.flow_series.row(0, named=True)
    assert (series["time"], series["goodput"], series["cwnd"], series["srtt"]) == (1.0, 1e8, 289_600, pytest.approx(0.0201))


def streams(udp: bool) -> dict[str, Any]:
    """A bidirectional test: socket 5 sends, socket 7 receives."""
    ends = {"local_host": "10.0.0.1", "remote_host": "::1", "remote_port": 5201}
    start = {
        "connected": [{"socket": s, "local_port": 40_000 + s, **ends} for s in (5, 7)],
        "timestamp": {"timesecs": 1_767_225_600},
        "test_start": {"protocol": "UDP" if udp else "TCP", "omit": 1, "duration": 2, "bidir": 1},
    }

    def interval(end: int, omitted: bool) -> dict[str, Any]:
        rows = [
            {"socket": s, "start": end - 1, "end": end, "seconds": 1.0, "bytes": 1000 * s, "bits_per_second": 8000.0 * s,
             "omitted": omitted, "sender": s == 5, **({"rtt": 30_000, "snd_cwnd": 10_000} if s == 5 and not udp else {})}
            for s in (5, 7)
        ]  # fmt: skip
        return {"streams": rows, "sum": {"end": end, "omitted": omitted, "sender": True}}

    if udp:
        of = {"packets": 200, "lost_packets": 50, "jitter_ms": 0.1, "out_of_order": 3}
        rows = [{"udp": {"socket": s, "bits_per_second": 8000.0, "sender": s == 5, **of}} for s in (5, 7)]
    else:
        rows = [
            {"sender": {"socket": s, "bits_per_second": 8000.0, "retransmits": 4, "mean_rtt": 31_000, "sender": s == 5},
             "receiver": {"socket": s, "bits_per_second": 7900.0}}
            for s in (5, 7)
        ]  # fmt: skip
    return {"start": start, "intervals": [interval(1, True), interval(1, False), interval(2, False)], "end": {"streams": rows}}


@pytest.mark.parametrize("stream", [False, True], ids=["-J", "--json-stream"])
def test_iperf3_in_both_directions(stream: bool, tmp_path: Path) -> None:
    test = streams(udp=False)
    events = [("start", test["start"]), *(("interval", i) for i in test["intervals"]), ("end", test["end"])]
    lines = "".join(json.dumps({"event": e, "data": d}) + "\n" for e, d in events)
    result = imported(tmp_path, lines if stream else json.dumps(test))
    there, back = result.flows.iter_rows(named=True)
    assert (there["from"], there["to"], back["from"], back["to"]) == ("10.0.0.1", "::1", "::1", "10.0.0.1")
    assert there["flow"] == "10.0.0.1:40005-[::1]:5201"
    assert (there["goodput"], there["retransmits"], there["rtt_mean"]) == (7900, 4, pytest.approx(0.031))
    mine = result.flow_series.filter(result.flow_series["flow"] == there["flow"])
    assert mine["time"].to_list() == [1.0, 2.0] and mine["cwnd"].to_list() == [10_000] * 2
    assert result.description["imported"]["began"] == "2026-01-01T00:00:00+00:00" and "-O" in warned(result)
    if stream:
        cut = imported(tmp_path, lines[: len(lines) - 30])
        assert "it has no end" in warned(cut) and only(cut)["goodput"] == pytest.approx(8 * 5000)


def test_iperf3_of_datagrams(tmp_path: Path) -> None:
    result = imported(tmp_path, json.dumps(streams(udp=True)))
    sent, got = result.flows.iter_rows(named=True)
    assert (sent["transport"], sent["packets_sent"], sent["packets_lost"], sent["packets_received"]) == ("udp", 200, 50, 150)
    assert (sent["loss"], sent["reordered"]) == (0.25, 3) and math.isnan(sent["retransmits"])
    # What a sender reports are the datagrams that left.
    assert (sent["goodput"], got["goodput"]) == (6000, 8000) and "jitter" in warned(result)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"start":{"connected":[]},"intervals":[],"end":{},"error":"unable to connect to server"}', "unable to connect to server"),
        ('{"start":{"connected":[],"version":"iperf 3.12"},"intervals":[]}', "the test did not begin"),
        ('{"event":"start","data":{}}\n{"event":"error","data":"busy"}\n', "busy"),
        ('{"event":"start","data":{}}\n{"event":\n{"event":"end","data":{}}\n', "log:2: this line is no JSON"),
    ],
)
def test_iperf3_that_failed(content: str, expected: str, tmp_path: Path) -> None:
    with pytest.raises(fl.FairlaneError, match=expected):
        imported(tmp_path, content)


# --- ss --------------------------------------------------------------------------------------------------------


def snapshots(times: list[str], head: bool = True) -> str:
    out = []
    for i, time in enumerate(times):
        values = f"cubic rtt:{20 + i}.5/0.5 mss:1000 cwnd:{10 + i} bytes_acked:{50_000 * i} bytes_received:9 data_segs_out:{60 * i}"
        out.append(time + ("State Recv-Q Send-Q Local Address:Port Peer Address:Port\n" if head else ""))
        out.append(f"ESTAB 0 0 10.0.0.1:40000 10.0.0.2:5201\n\t {values} retrans:0/{i} unacked:3\n")
    return "".join(out)


@pytest.mark.parametrize(
    ("times", "step"),
    [
        (["1767225600.0\n", "1767225600.5\n", "1767225601.0\n"], None),
        (["2026-01-01T00:00:00Z\n", "2026-01-01T00:00:00.5Z\n", "2026-01-01T00:00:01Z\n"], None),
        (["", "", ""], "500ms"),
    ],
    ids=["epoch", "date", "no times"],
)
def test_ss_with_and_without_times(times: list[str], step: str | None, tmp_path: Path) -> None:
    for head in (True, False):
        result = imported(tmp_path, snapshots(times, head), sample=step)
        flow = only(result)
        assert (flow["goodput"], flow["retransmits"], flow["packets_sent"], flow["srtt"]) == (8e5, 2, 120, 0.0225)
        assert result.flow_series["time"].to_list() == [0, 0.5, 1.0] and result.flow_series["cwnd"].to_list() == [10e3, 11e3, 12e3]
        assert result.flow_series["goodput"].to_list()[1:] == [8e5, 8e5] and result.flow_series["in_flight"].to_list() == [3000.0] * 3
        assert result.description["imported"]["began"] == (None if step else "2026-01-01T00:00:00.000+00:00")


def test_ss_names_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(fl.FairlaneError, match=r"3 snapshots have no times: say the step between them \(--sample 100ms\)"):
        imported(tmp_path, snapshots([""] * 3))
    with pytest.raises(fl.FairlaneError, match="go back"):
        imported(tmp_path, snapshots(["1767225601.0\n", "1767225600.0\n"]))
    once = imported(tmp_path, SS)
    assert once.flow_series["cwnd"].to_list() == [289_600] and once.flow_series["ssthresh"].to_list() == [217_200]
    assert only(once)["retransmits"] == 3 and "one snapshot" in warned(once)


# --- qlog ------------------------------------------------------------------------------------------------------


def quic(version: str) -> tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]:
    """A connection that sends 3 packets of 1000 bytes, of which one is lost, and receives 500 bytes twice."""
    new = version not in ("0.3", "0.4")
    recovery = "quic:recovery_metrics_updated" if new else "recovery:metrics_updated"
    transport = "quic:" if new else "transport:"

    def packet(kind: str, time: float, number: int, frame: dict[str, Any]) -> dict[str, Any]:
        data = {"header": {"packet_type": "1RTT", "packet_number": number}, "frames": [frame]}
        return {"time": time, "name": f"{transport}packet_{kind}", "data": data}

    def stream(offset: int, length: int) -> dict[str, Any]:
        size = {"raw": {"payload_length": length}} if new else {"length": length}
        return {"frame_type": "stream", "stream_id": 0, "offset": offset, **size}

    events = [
        {"time": 0.0, "name": recovery, "data": {"congestion_window": 12_000, "smoothed_rtt": 30.0}},
        *(packet("sent", 10.0 * n, n, stream(1000 * n, 1000)) for n in range(3)),
        packet("received", 50.0, 1, {"frame_type": "ack", "acked_ranges": [[0, 1]]}),
        packet("received", 60.0, 2, stream(0, 500)),
        packet("received", 61.0, 3, stream(0, 500)),
        {"time": 70.0, "name": f"{'quic' if new else 'recovery'}:packet_lost", "data": {"header": {"packet_number": 2}}},
        {
            "time": 100.0,
            "name": recovery,
            "data": {"congestion_window": 6000, "bytes_in_flight": 900, "smoothed_rtt": 40.0, "latest_rtt": 44.0},
        },
    ]
    head = {"file_schema": "urn:ietf:params:qlog:file:contained"} if new else {"qlog_version": version}
    relative = "relative_to_epoch" if new else "relative"
    return head, {"vantage_point": {"type": "client"}, "common_fields": {"time_format": relative, "ODCID": "abcd"}}, events


@pytest.mark.parametrize("version", ["0.3", "0.4", "schema"])
@pytest.mark.parametrize("form", ["JSON", "JSON-SEQ", "NDJSON", "delta", "absolute"])
def test_qlog_in_every_form(version: str, form: str, tmp_path: Path) -> None:
    head, trace, events = quic(version)
    if form in ("delta", "absolute"):
        times = [e["time"] for e in events]
        other = [times[0], *(b - a for a, b in pairwise(times))] if form == "delta" else [1.7e12 + t for t in times]
        events = [e | {"time": t} for e, t in zip(events, other, strict=True)]
        name = "relative_to_previous_event" if version == "schema" and form == "delta" else form
        trace["common_fields"]["time_format"] = name
    if form in ("JSON-SEQ", "NDJSON"):
        mark = "\x1e" if form == "JSON-SEQ" else ""
        content = "".join(f"{mark}{json.dumps(row)}\n" for row in (head | {"trace": trace}, *events))
    else:
        content = json.dumps(head | {"traces": [trace | {"events": events}]})
    result = imported(tmp_path, content, sample="50ms")
    sent, got = result.flows.iter_rows(named=True)
    assert (sent["flow"], sent["from"], sent["to"], sent["transport"]) == ("abcd", "client", "server", "quic")
    assert (sent["packets_sent"], sent["packets_lost"]) == (3, 1)
    assert sent["goodput"] == pytest.approx(8 * 2000 / 0.1) and got["goodput"] == pytest.approx(8 * 500 / 0.1)
    assert (got["flow"], got["from"]) == ("abcd (received)", "server")
    assert sent["srtt"] == pytest.approx(0.04) and sent["rtt_mean"] == pytest.approx(0.044)
    mine = result.flow_series.filter(result.flow_series["flow"] == "abcd")
    assert mine["cwnd"].to_list() == [12_000, 6000] and mine["goodput"].to_list() == pytest.approx([8 * 2000 / 0.05, 0])


def test_qlog_of_our_own_export(tmp_path: Path) -> None:
    net = fl.Network(duration="4s", sample="100ms").link("a", "b", rate="5Mbit/s", delay="20ms", queue={"droptail": {"limit": "20p"}})
    run = net.flow("f", "a", "b", tcp="newreno").run(trace="window,state,timeout,retransmit")
    run.export("qlog", tmp_path / "f.qlog")
    result = fl.import_file(tmp_path / "f.qlog", sample="100ms")
    (theirs,), (mine,) = run.flows.iter_rows(named=True), result.flows.iter_rows(named=True)
    assert mine["transport"] == "tcp" and mine["retransmits"] == theirs["retransmits"] > 0 and mine["timeouts"] == theirs["timeouts"]
    of = result.flow_series.join(run.flow_series, on="time", suffix="_run").filter(result.flow_series["time"].head(1).item() < 4)
    assert of.height >= 39
    held = of.filter(of["srtt"].is_not_nan() & of["srtt_run"].is_not_nan())
    assert held.height > 30 and held["srtt"].to_list() == pytest.approx(held["srtt_run"].to_list(), rel=1e-9)
    assert of["cwnd"].to_list()[5:] == of["cwnd_run"].to_list()[5:]


# --- simulators ------------------------------------------------------------------------------------------------


def test_ns3_has_the_counts_of_its_lines(tmp_path: Path) -> None:
    text = ns3(400)
    rows = [line.split() for line in text.splitlines()]
    counts = {kind: sum(r[0] == kind for r in rows) for kind in "+-dr"}
    result = imported(tmp_path, text)
    flow, link = only(result), result.links.row(0, named=True)
    assert (flow["flow"], flow["from"], flow["to"], flow["transport"]) == ("10.1.1.1:49153-10.1.1.2:9", "n0", "n1", "udp")
    assert (link["link"], link["from"], link["to"]) == ("n0d0", "n0", "n1")
    assert (flow["packets_sent"], flow["packets_received"], flow["packets_lost"]) == (counts["+"] + counts["d"], counts["r"], counts["d"])
    assert counts["d"] > 20 and (link["arrivals"], link["departures"], link["drops"]) == (counts["+"], counts["-"], counts["d"])
    at = {kind: {r[r.index("id") + 1]: float(r[1]) for r in rows if r[0] == kind} for kind in "+-r"}
    waits, delays = ([at[b][i] - t for i, t in at["+"].items()] for b in "-r")
    assert link["sojourn_mean"] == pytest.approx(sum(waits) / len(waits)) and link["sojourn_max"] == pytest.approx(max(waits))
    assert flow["delay_mean"] == pytest.approx(sum(delays) / len(delays))
    assert flow["goodput"] == pytest.approx(1024 * 8 * counts["r"] / float(rows[-1][1]))
    assert link["queue_max"] <= 4


def test_ns3_of_tcp(tmp_path: Path) -> None:
    """A segment, sent again after a drop, and its acknowledgments: round-trip times of segments sent once."""
    device = "/NodeList/{n}/DeviceList/0/$ns3::PointToPointNetDevice/{what} ns3::Ipv4Header (tos 0x0 DSCP Default ECN CE ttl 64 id {id} "
    device += "protocol 6 offset (bytes) 0 flags [none] length: {length} {pair}) ns3::TcpHeader ({ports} [ACK] Seq={seq} Ack={ack} Win=9)"

    def line(kind: str, time: float, n: int, id: int, seq: int, ack: int, size: int, back: bool = False) -> str:
        ends = ("10.1.1.2 > 10.1.1.1", "9 > 5000") if back else ("10.1.1.1 > 10.1.1.2", "5000 > 9")
        what = {"+": "TxQueue/Enqueue", "-": "TxQueue/Dequeue", "d": "TxQueue/Drop", "r": "MacRx"}[kind]
        shown = device.format(n=n, what=what, id=id, length=40 + size, pair=ends[0], ports=ends[1], seq=seq, ack=ack)
        return f"{kind} {time} {shown}" + (f" Payload (size={size})" if size else "") + "\n"

    text = "".join(
        [
            *(line(k, 1.0, 0, 1, 1, 1, 500) for k in "+-"), line("r", 1.1, 1, 1, 1, 1, 500),
            *(line(k, 1.1, 1, 1, 1, 501, 0, True) for k in "+-"), line("r", 1.25, 0, 1, 1, 501, 0, True),
            line("d", 1.3, 0, 2, 501, 1, 500), *(line(k, 2.0, 0, 3, 501, 1, 500) for k in "+-"), line("r", 2.1, 1, 3, 501, 1, 500),
            *(line(k, 2.1, 1, 2, 1, 1001, 0, True) for k in "+-"), line("r", 2.5, 0, 2, 1, 1001, 0, True),
        ]
    )  # fmt: skip
    flow = only(imported(tmp_path, text))
    assert (flow["transport"], flow["packets_sent"], flow["retransmits"], flow["packets_lost"], flow["marked"]) == ("tcp", 3, 1, 1, 2)
    assert flow["rtt_mean"] == pytest.approx(0.25) and flow["goodput"] == pytest.approx(8000 / 2.5)
    with pytest.raises(fl.FairlaneError, match="EnableAsciiAll"):
        imported(tmp_path, "+ 2 ns3::PppHeader (x)\n" * 3)


def test_results_of_omnetpp(tmp_path: Path) -> None:
    result = imported(tmp_path, VEC, sample="500ms")
    flows = {row["flow"]: row for row in result.flows.iter_rows(named=True)}
    assert set(flows) == {"Net.client.tcp.conn-3", "Net.server.app[0]"}
    assert flows["Net.server.app[0]"]["delay_mean"] == pytest.approx(0.03) and flows["Net.server.app[0]"]["delay_max"] == 0.04
    link = result.links.row(0, named=True)
    assert (link["link"], link["queue_max"]) == ("Net.router.queue", 4) and link["queue_mean"] == pytest.approx(4 / 1.5)
    mine = result.flow_series.filter(result.flow_series["flow"] == "Net.client.tcp.conn-3")
    assert mine["cwnd"].to_list() == [1460, 2920, 2920, 2920] and "Net.x rcvdPk:vector" in warned(result)
    scalars = imported(tmp_path, SCA)
    assert (only(scalars)["packets_received"], only(scalars)["delay_mean"], only(scalars)["delay_max"]) == (120, 0.03, 0.05)
    assert scalars.links["queue_mean"].item() == 2.5 and "Net.y foo" in warned(scalars)
    with pytest.raises(fl.FairlaneError, match="gives more than 5000000 samples"):
        imported(tmp_path, VEC.replace("1\t8\t2\t0", "1\t8\t900000\t0"), sample="1ms")
    with pytest.raises(fl.FairlaneError, match="none of its results has a place"):
        imported(tmp_path, "version 3\nrun r\nscalar a b 1\n")


@pytest.mark.parametrize("content", [TCPTRACE, TABLE], ids=["long", "csv"])
def test_totals_of_tcptrace(content: str, tmp_path: Path) -> None:
    result = imported(tmp_path, content)
    (flow,) = result.flows.iter_rows(named=True)
    assert (flow["flow"], flow["from"], flow["to"]) == ("192.168.1.5:80-192.168.1.4:1028", "192.168.1.5", "192.168.1.4")
    assert (flow["goodput"], flow["packets_sent"], flow["retransmits"]) == (8 * 11_729, 10, 2)
    assert flow["rtt_mean"] == pytest.approx(0.0753) and result.description["duration"] == "2s"


# --- lists of flows --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "start,bytes,from,to\n100.5,100000,a,b\n101.25,5000,b,c\n",
        "# ts;te;pr;pair;ibyt\n2026-01-01 00:00:00.5;x;TCP;a>b;100000\n2026-01-01 00:00:01.25;x;6;b>c;5000\n2026-01-01;x;UDP;a>b;7\n",
    ],
    ids=["plain", "nfdump"],
)
def test_a_list_of_flows_is_a_scenario(content: str, tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text(content)
    done = fairlane("import", "flows", "flows.csv", "-o", "flows.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = fl.run(tmp_path / "flows.toml")
    assert result.flows["from"].to_list() == ["a", "b"] and result.flows["to"].to_list() == ["b", "c"]
    expanded = result.scenario["expanded"]["flows"]
    assert [f["start"] for f in expanded] == ["0s", "750ms"] and result.flows["completion_time"].is_not_nan().all()
    assert (result.flows["goodput"] * 11 / 8).to_list() == pytest.approx([100_000, 5000])
    assert ("1 lines are not TCP" in done.stdout) == content.startswith("#")
    again = fairlane("import", "flows", "flows.csv", "-o", "flows.toml", cwd=tmp_path)
    assert again.returncode == 2 and "exists" in again.stderr


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("start,from,to\n1,a,b\n", "flows.csv:1: its first line names no column bytes"),
        ("start,bytes,from,to\n1,x,a,b\n", "flows.csv:2: its bytes 'x' are no whole number"),
        ("start,bytes,from,to\nnoon,1,a,b\n", "flows.csv:2: its start 'noon'"),
        ("start,bytes,from,to\n1,2\n1,2,a,b\n", "flows.csv:2: this line has 2 columns"),
        ("start,bytes,from,to\n", "no flow of TCP"),
    ],
)
def test_mistakes_in_a_list_of_flows(content: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text(content)
    done = fairlane("import", "flows", "flows.csv", "-o", "flows.toml", cwd=tmp_path)
    assert done.returncode == 2 and expected in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert not (tmp_path / "flows.toml").exists()
