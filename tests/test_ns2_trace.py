"""Lines of ns-2's traces: ours are those of ns-2 itself, and the field's awk scripts say the same of both."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

import fairlane as fl
from conftest import started as fairlane
from fairlane.runs.query import query

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

TCL = """
set ns [new Simulator]
set f [open out.tr w]
$ns trace-all $f
foreach n {0 1 2 3} { set n$n [$ns node] }
$ns duplex-link $n0 $n2 10Mb 2ms DropTail
$ns duplex-link $n1 $n2 10Mb 2ms DropTail
$ns duplex-link $n2 $n3 1Mb 10ms DropTail
$ns queue-limit $n2 $n3 11
set tcp [new Agent/TCP/Newreno]
$tcp set fid_ 0; $tcp set window_ 10000; $tcp set packetSize_ 1000
$ns attach-agent $n0 $tcp
set sink [new Agent/TCPSink]; $ns attach-agent $n3 $sink; $ns connect $tcp $sink
set ftp [new Application/FTP]; $ftp attach-agent $tcp
set udp [new Agent/UDP]; $udp set fid_ 1; $ns attach-agent $n1 $udp
set null [new Agent/Null]; $ns attach-agent $n3 $null; $ns connect $udp $null
set cbr [new Application/Traffic/CBR]; $cbr attach-agent $udp
$cbr set packetSize_ 500; $cbr set rate_ 0.3mb; $cbr set random_ false
$ns at 0.1 "$ftp start"
$ns at 1.000137 "$cbr start"
$ns at 20.0 "close $f; exit 0"
$ns run
"""
LINE = re.compile(r"[+\-rd] \d+(\.\d{1,6})? \d+ \d+ (tcp|ack|cbr) \d+ [-CPAEFN]{7} \d+ \d+\.\d+ \d+\.\d+ \d+ \d+")
THROUGHPUT = """
$1 == "r" && $4 == 3 && $5 == "tcp" { bytes += $6; if (!begin) begin = $2; end = $2 }
END { print bytes * 8 / (end - begin) / 1000 }
"""
DELAY = """
$1 == "+" && $3 == 1 && $5 == "cbr" && !($12 in t) { t[$12] = $2 }
$1 == "r" && $4 == 3 && $5 == "cbr" { sum += $2 - t[$12]; n++ }
END { print sum / n * 1000, n }
"""
JITTER = """
$1 == "+" && $3 == 1 { t[$12] = $2 }
$1 == "r" && $4 == 3 && $5 == "cbr" { d = $2 - t[$12]; if (n++) sum += d > last ? d - last : last - d; last = d }
END { print sum / (n - 1) }
"""
DROPS = """$1 == "d" { d[$8]++ } $1 == "+" && $3 == 2 && $4 == 3 { a[$8]++ } END { print d[0], d[1] + 0, d[0] / a[0] }"""


def network(**more: object) -> fl.Network:
    net = fl.Network(duration="20s", nodes=["n0", "n1", "n2", "n3"], **more)
    for start, end, rate, delay, limit in (
        ("n0", "n2", "10Mbit/s", "2ms", "50p"),
        ("n1", "n2", "10Mbit/s", "2ms", "50p"),
        ("n2", "n3", "1Mbit/s", "10ms", "11p"),
    ):
        net.link(start, end, rate=rate, delay=delay, queue={"droptail": {"preset": "ns2", "limit": limit}})
    net.flow("tcp", "n0", "n3", start="100ms", tcp={"preset": "ns2", "cc": "newreno", "window": "10000p"})
    return net.flow("cbr", "n1", "n3", start="1000137us", udp={"header": "0B"}, source={"cbr": {"rate": "300kbit/s", "size": "500B"}})


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The trace of ns-2, and ours of the same network."""
    if shutil.which("ns") is None:
        pytest.skip("ns-2 is not installed (Debian: apt-get install ns2)")
    place = tmp_path_factory.mktemp("ns2")
    (place / "run.tcl").write_text(TCL)
    subprocess.run(["ns", "run.tcl"], cwd=place, check=True, timeout=120)
    network().run(1, trace=fl.Trace(folder=place / "ours", format="ns2"))
    return place / "out.tr", place / "ours" / "seed=1.tr"


def test_every_line_is_that_of_ns2(both: tuple[Path, Path]) -> None:
    """But for the order within one instant, and a flag of ns-2 for a window that was cut without ECN."""
    theirs, ours = (sorted(file.read_text().replace("---A---", "-------").splitlines()) for file in both)
    assert len(theirs) > 20_000 and all(LINE.fullmatch(line) for line in ours)
    assert ours == theirs


@pytest.mark.parametrize("script", [THROUGHPUT, DELAY, JITTER, DROPS], ids=["throughput", "delay", "jitter", "drops"])
def test_awk_scripts_of_the_field_say_the_same(both: tuple[Path, Path], script: str) -> None:
    if shutil.which("awk") is None:
        pytest.skip("awk is not installed")
    output = [subprocess.run(["awk", script, file], capture_output=True, text=True, check=True).stdout.split() for file in both]
    assert output[0] == output[1] and output[0]


def test_awk_and_metrics_agree(both: tuple[Path, Path]) -> None:
    flows = network().run(1).flows
    lines = [line.split() for line in both[1].read_text().splitlines()]
    for fid, name in enumerate(("tcp", "cbr")):
        lost = sum(line[0] == "d" and int(line[7]) == fid for line in lines)
        assert lost == flows.filter(flows["flow"] == name)["packets_lost"].item()


def test_ecn_flags(tmp_path: Path) -> None:
    net = fl.Network(duration="20s")
    net.link("a", "b", name="l", rate="1Mbit/s", delay="20ms", queue={"red": {"min": "3p", "max": "9p", "limit": "30p", "ecn": True}})
    net.flow("f", "a", "b", tcp={"cc": "newreno", "ecn": "classic"})
    result = net.run(1, trace=fl.Trace(folder=tmp_path / "t", format="ns2"))
    lines = [line.split() for line in (tmp_path / "t" / "seed=1.tr").read_text().splitlines()]
    seen = sum(line[0] == "-" and line[6][4] == "E" for line in lines)
    marks = result.links.filter(result.links["link"] == "l")["marks"].item()
    assert marks > 20 and 0 <= marks - seen <= 9, "those that wait in the end were not sent"
    assert any(line[4] == "ack" and line[6][0] == "C" for line in lines), "the echo"
    assert any(line[4] == "tcp" and line[6][3] == "A" for line in lines), "the window was cut"
    with pytest.raises(fl.FairlaneError, match="no table"):
        result.trace()


def test_the_command_writes_lines(tmp_path: Path) -> None:
    network().save(tmp_path / "s.toml")
    run = ["run", str(tmp_path / "s.toml"), "--set", "duration=2s", "-q", "--trace-format", "ns2"]
    done = fairlane(*run, "--trace", "link=n2-n3 drop,enqueue", "-o", str(tmp_path / "r"), "--seeds", "1..2")
    assert done.returncode == 0, done.stderr
    assert {line[0] for line in (tmp_path / "r" / "trace" / "seed=2.tr").read_text().splitlines()} == {"+", "d"}
    fl.load(tmp_path / "r")
    assert "no lines for `timeout`" in fairlane(*run, "--trace", "timeout", "-o", str(tmp_path / "x")).stderr
    assert "--trace-format needs --trace" in fairlane(*run, "-o", str(tmp_path / "x")).stderr


def test_a_trace_of_ns2_is_read_to_the_digit(both: tuple[Path, Path], tmp_path: Path) -> None:
    done = fairlane("import", str(both[0]), "-o", str(tmp_path / "r"))
    assert done.returncode == 0, done.stderr
    ask = "select sum(length) * 8 / ((max(time_ps) - min(time_ps)) / 1e12) / 1000 from trace "
    ask += "where event = 'receive' and flow = '0' and not back"
    ((kbit,),) = query(tmp_path / "r", ask)[1]
    awk = subprocess.run(["awk", THROUGHPUT, both[0]], capture_output=True, text=True, check=True).stdout
    assert f"{kbit:.6g}" == awk.strip()
    drops = {row[0]: row[1] for row in query(tmp_path / "r", "select flow, count(*) from trace where event = 'drop' group by flow")[1]}
    awk = subprocess.run(["awk", DROPS, both[0]], capture_output=True, text=True, check=True).stdout.split()
    assert [drops.get(flow, 0) for flow in "01"] == [int(n) for n in awk[:2]]
    assert query(tmp_path / "r", "path-delay")[1] and query(tmp_path / "r", "queueing-delay")[1]
    again = fairlane("import", str(both[0]), "-o", str(tmp_path / "r"))
    assert again.returncode == 2 and "exists" in again.stderr


METRICS = """
$1 == "r" && $4 == 3 && $5 != "ack" && $6 > 40 { bytes[$8] += $6; got[$8]++; d = $2 - t[$12]; sum[$8] += d
  if (n[$8]++) jit[$8] += d > last[$8] ? d - last[$8] : last[$8] - d; last[$8] = d }
$1 == "+" && $3 == int($9) && $5 != "ack" && $6 > 40 && !($12 in t) { t[$12] = $2; sent[$8]++ }
$1 == "d" { lost[$8]++ }
{ end = $2 }
END { for (f = 0; f < 2; f++) print bytes[f] * 8 / end, sum[f] / n[f], jit[f] / (n[f] - 1), sent[f], got[f], lost[f] + 0 }
"""


def test_metrics_of_an_imported_trace_are_those_of_awk(both: tuple[Path, Path]) -> None:
    """Throughput, delay, jitter and counts by flow, as the field's scripts work them out, to the digits that awk prints."""
    result = fl.import_file(both[0])
    output = subprocess.run(["awk", METRICS, both[0]], capture_output=True, text=True, check=True).stdout.splitlines()
    names = ["throughput", "delay_mean", "jitter", "packets_sent", "packets_received", "packets_lost"]
    for line, row in zip(output, result.flows.sort("flow").select(names).iter_rows(), strict=True):
        assert [f"{v:.6g}" for v in row] == line.split()
    ours = network().run(1)
    for name, link in (("2-3", "n2-n3"), ("0-2", "n0-n2")):
        mine, theirs = (r.links.filter(pl.col("link") == of).row(0, named=True) for r, of in ((ours, link), (result, name)))
        for metric in ("arrivals", "departures", "drops", "queue_max"):
            assert theirs[metric] == mine[metric]
        for metric in ("queue_mean", "queue_std", "sojourn_mean", "sojourn_std", "sojourn_max"):
            assert theirs[metric] == pytest.approx(mine[metric], rel=2e-3)
    rtt = result.flows.filter(pl.col("flow") == "0")["rtt_mean"].item()
    # An acknowledgment delayed by a loss counts here; the sender knows better.
    assert rtt == pytest.approx(ours.value("rtt_mean", flow="tcp").mean, rel=0.05)


def test_series_of_an_imported_trace_add_up(both: tuple[Path, Path]) -> None:
    result = fl.import_file(both[0], sample="50ms")
    for flow, rows in result.flow_series.group_by("flow"):
        bits = rows["throughput"].sum() * 0.05
        whole = (
            result.flows.filter(pl.col("flow") == flow[0])["throughput"].item()
            * float(result.description["duration"].removesuffix("us"))
            / 1e6
        )
        assert bits == pytest.approx(whole, rel=1e-9)
    queue = result.link_series.filter(pl.col("link") == "2-3")
    mine = network(sample="50ms").run(1).link_series.filter(pl.col("link") == "n2-n3").filter(pl.col("time") > 0)
    both_ = queue.select(pl.col("time").round(6), theirs="queue").join(mine.select(pl.col("time").round(6), "queue"), on="time")
    assert both_.height > 390 and (both_["theirs"] == both_["queue"]).mean() > 0.98


def test_a_trace_that_is_cut_short_is_read_up_to_there(both: tuple[Path, Path], tmp_path: Path) -> None:
    lines = both[0].read_text().splitlines(keepends=True)[:2000]
    (tmp_path / "x.tr").write_text("".join(lines)[:-9])
    result = fl.import_file(tmp_path / "x.tr")
    assert [str(w) for w in result.warnings] == ["the last line is incomplete and was skipped"]


def test_what_is_written_as_lines_is_read_as_our_own_table(tmp_path: Path) -> None:
    net = network()
    rows = net.run(1, trace="enqueue,dequeue,arrive,drop,send,retransmit,receive").trace().collect()
    net.run(1, trace=fl.Trace(folder=tmp_path / "t", format="ns2"))
    fl.import_file(tmp_path / "t" / "seed=1.tr", tmp_path / "r")
    read = pl.read_parquet(tmp_path / "r" / "trace" / "seed=0" / "000000.parquet").filter(pl.col("event") != "gauge")
    key = ["time_ps", "event", "packet", "length", "back", "payload", "queue_packets"]
    whole = pl.when(pl.col("event").is_in(["send", "retransmit", "receive", "drop"])).then("payload").alias("payload")
    near = (pl.col("time_ps") / 1e6).round().cast(pl.Int64) * 1_000_000
    theirs = read.with_columns(whole).select(key).sort(key)
    # The SYN and acknowledgments are all header.
    ours = rows.with_columns(near.alias("time_ps")).select(key).sort(key)
    assert theirs.equals(ours)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello\n", "unknown format"),
        ("", "it is empty"),
        ("+ 0.1 0 2 tcp 40\n", "has 6 fields, not 12"),
        ("+ x 0 2 tcp 40 ------- 0 0.0 3.0 0 0\n", "has words where numbers belong"),
        ("+ 0.1 0 2 tcp 40 ------- 0 0.0 3.0 0 0 13 14\n", "has 14 fields, not 12"),
        ("s -t 0.1 -Hs 0 -Hd -2 -Ni 0\n", "no line begins with"),
    ],
)
def test_other_files_are_no_traces_of_ns2(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "x.tr").write_text(text)
    done = fairlane("import", str(tmp_path / "x.tr"), "-o", str(tmp_path / "r"))
    assert done.returncode == 2 and expected in done.stderr and not (tmp_path / "r").exists()
