"""Captures and files of flent as results: our counts are tshark's; false files are reported, and nothing is written."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

import fairlane as fl
from conftest import started as fairlane
from fairlane.runs.query import query

CAPTURES = Path(__file__).parent / "captures"
"""Taken with dumpcap from a kernel's loopback: a transfer over IPv4, one over IPv6, datagrams in fragments; cut to 96 and 120 bytes."""


def lossy(tmp_path: Path) -> Path:
    """TCP that loses, on a link with other traffic, seen in the middle of the network."""
    net = fl.Network(duration="8s")
    net.link("a", "b", name="in", rate="50Mbit/s", delay="3ms", loss=0.004)
    net.link("b", "c", name="out", rate="4Mbit/s", delay="15ms", queue={"droptail": {"limit": "15p"}}, loss=0.003)
    net.flow("tcp", "a", "c", count=3, stagger="130ms", tcp="sack")
    net.flow("short", "a", "c", start="2s", amount="90kB", tcp="newreno")
    net.flow("udp", "a", "c", udp={}, source={"cbr": {"rate": "300kbit/s", "size": "500B"}})
    net.run(seed=3, pcap=fl.Pcap({"out": tmp_path / "all.pcapng"}))
    # What a queue dropped stands on an interface of its own.
    mine = ["tshark", "-r", tmp_path / "all.pcapng", "-Y", "frame.interface_id == 0", "-F", "pcap", "-w", tmp_path / "lossy.pcap"]
    subprocess.run(mine, check=True, capture_output=True)
    return tmp_path / "lossy.pcap"


def fields(file: Path, what: str, *names: str) -> list[list[str]]:
    command = ["tshark", "-n", "-r", file, "-Y", what, "-T", "fields", *(x for n in names for x in ("-e", n))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def name_of(row: list[str], back: bool = False) -> str:
    """A flow's name from four addresses and two ports, of which one pair is empty."""
    ends = [f"{v4}:{port}" if v4 else f"[{v6}]:{port}" for v4, v6, port in ((row[0], row[1], row[4]), (row[2], row[3], row[5]))]
    return "-".join(reversed(ends) if back else ends)


WHERE = ("ip.src", "ipv6.src", "ip.dst", "ipv6.dst", "tcp.srcport", "tcp.dstport")


@pytest.mark.parametrize("which", ["lossy", "cooked.pcapng", "loopback.pcap"])
def test_what_tshark_counts(which: str, tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    file = lossy(tmp_path) if which == "lossy" else CAPTURES / which
    result = fl.import_file(file)
    flows = {row["flow"]: row for row in result.flows.iter_rows(named=True)}
    rows = result.trace().collect()
    tcp = {name: row for name, row in flows.items() if row["transport"] == "tcp"}
    assert len(tcp) == (4 if which == "lossy" else 2)
    sent: dict[str, list[float]] = {}
    for row in fields(file, "tcp", *WHERE, "frame.len", "tcp.len", "frame.time_relative"):
        for back in (False, True):
            if (name := name_of(row, back)) in tcp:
                found = sent.setdefault(name, [0, 0, 0, 0, 0])
                found[back] += 1
                found[2 + back] += int(row[6])
                found[4] += 0 if back else int(row[7]) > 0
    again = [name_of(r) for r in fields(file, "tcp.analysis.retransmission && tcp.len > 0", *WHERE)]
    trips: dict[str, list[float]] = {}
    for row in fields(file, "tcp.analysis.ack_rtt", *WHERE, "tcp.analysis.ack_rtt"):
        trips.setdefault(name_of(row, back=True), []).append(float(row[6]))
    for name, row in tcp.items():
        of = rows.filter((pl.col("flow") == name) & pl.col("event").is_in(["send", "retransmit"]))
        seen = [of.filter(pl.col("back") == back).height for back in (False, True)]
        length = [of.filter(pl.col("back") == back)["length"].sum() for back in (False, True)]
        assert [*seen, *length] == sent[name][:4], name
        assert row["packets_received"] == sent[name][4]
        assert row["retransmits"] == again.count(name), name
        mine = rows.filter((pl.col("flow") == name) & (pl.col("gauge") == "rtt"))["value"].to_list()
        if row["retransmits"] == 0:
            assert mine == pytest.approx(trips[name], abs=2e-9)
        # tshark also measures what was sent twice; each of ours is one of its.
        theirs = {round(t * 1e9) for t in trips[name]}
        assert all(
            any(round(m * 1e9) + d in theirs for d in (-1, 0, 1, *(range(-999, 1000) if which == "loopback.pcap" else ()))) for m in mine
        )
        span = float(result.description["duration"].removesuffix("ns").removesuffix("us")) * (
            1e-9 if "ns" in result.description["duration"] else 1e-6
        )
        data = of.filter(~pl.col("back") & (pl.col("payload") > 0))
        assert row["throughput"] == pytest.approx(data["length"].sum() * 8 / span)


def test_conversations_of_tshark(tmp_path: Path) -> None:
    """`-z conv,tcp` and `-z conv,udp`: frames, bytes and duration of each pair of ends."""
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    file = lossy(tmp_path)
    result = fl.import_file(file, tmp_path / "r")
    done = subprocess.run(
        ["tshark", "-n", "-r", file, "-q", "-z", "conv,tcp", "-z", "conv,udp"], capture_output=True, text=True, check=True
    )
    lines = [line.split() for line in done.stdout.splitlines() if "<->" in line]
    assert len(lines) == 5 == result.flows.height
    pairs = query(tmp_path / "r", "pairs")
    heads = pairs[0]
    found = {tuple(sorted(r[heads.index("flow")].split("-"))): dict(zip(heads, r, strict=True)) for r in pairs[1]}
    for line in lines:
        ends = tuple(sorted((line[0], line[2])))
        of = found[ends]
        # Frames of both directions stand before the last of three byte counts.
        numbers = [w for w in line[3:] if w.replace(".", "").isdigit()]
        assert of["packets"] == int(numbers[4])
        assert of["lasted_s"] == pytest.approx(float(line[-1]), abs=1e-4)
        assert of["mbit_s"] == pytest.approx(of["bytes"] * 8 / of["lasted_s"] / 1e6)


def test_an_imported_capture_is_a_result_like_any_other(tmp_path: Path) -> None:
    done = fairlane("import", str(CAPTURES / "cooked.pcapng"), "-o", str(tmp_path / "r"), "--sample", "10ms")
    assert done.returncode == 0, done.stderr
    assert "127.0.0.1:8080-127.0.0.1:39068" in done.stdout and "neither TCP nor UDP" in done.stdout
    assert fairlane("verify", str(tmp_path / "r")).returncode == 0
    kept = fl.load(tmp_path / "r")
    assert kept.description["imported"]["began"].startswith("2026-") and kept.description["sample"] == "10ms"
    assert kept.flow_series["time"].unique().len() == 32
    assert kept.value("goodput", flow="[::1]:8081-[::1]:40420").mean > 0
    kept.plot("throughput", path=tmp_path / "p.svg")
    kept.plot("goodput", path=tmp_path / "b.svg")
    assert (
        json.loads(fairlane("import", str(CAPTURES / "loopback.pcap"), "-o", str(tmp_path / "j"), "--json").stdout)["schema"]
        == "fairlane.run/1"
    )
    again = fairlane("import", str(CAPTURES / "cooked.pcapng"), "-o", str(tmp_path / "r"))
    assert again.returncode == 2 and "exists" in again.stderr
    copy = fl.load(kept.save(tmp_path / "copy"))
    assert copy.trace().collect().equals(kept.trace().collect())


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "it is empty"),
        (b"\xd4\xc3\xb2\xa1", "ends within the header"),
        (b"\xd4\xc3\xb2\xa1\x09\x00\x04\x00" + bytes(16), "version 9 of pcap"),
        (b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00" + bytes(16), "no packets"),
        (
            b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00" + bytes(8) + b"\xff\xff\0\0\x01\0\0\0" + bytes(8) + b"\xff\xff\xff\xff\xff\xff\xff\xff",
            "claims to have 4294967295 bytes",
        ),
        (b"\x0a\x0d\x0d\x0a" + bytes(40), "first pcapng block is incomplete"),
        (b"\x7fELF" + bytes(100), "unknown format"),
        (gzip.compress(b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00" + bytes(16), mtime=0), "no TCP or UDP packets"),
        (gzip.compress(b'{"version": 4}', mtime=0)[:-9], "truncated"),
        (gzip.compress(b'{"version": 4}', mtime=0)[:14], "truncated"),
        (gzip.compress(b'{"version": 4}', mtime=0), "not a flent data file"),
        (b'{"version": 9, "x_values": [1], "results": {}, "metadata": {}}', "version 9"),
        (b'{"version": 4, "x_values": [2, 1], "results": {}, "metadata": {}}', "not increasing"),
        (b'{"version": 4, "x_values": [1, 2], "results": {"a": [1]}, "metadata": {}}', "none of its series"),
        (b'{"version": 4', "damaged"),
        (b"[" * 100_000, "unknown format"),
    ],
)
def test_files_that_cannot_be_read_are_told(content: bytes, expected: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(fl.FairlaneError, match=expected) as error:
        fl.import_file(tmp_path / "f", tmp_path / "r")
    assert "\n" not in str(error.value)
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_mistakes_of_the_command(tmp_path: Path) -> None:
    file = str(CAPTURES / "loopback.pcap")
    for more, expected in (
        ([file, "-o", "r", "--sample", "3"], "write a time, such as 10ms"),
        ([file, "-o", "r", "--sample", "1ns"], "too short"),
        (["none.pcap", "-o", "r"], "no such file"),
        ([str(tmp_path), "-o", "r"], "a folder, not a file"),
    ):
        done = fairlane("import", *more, cwd=tmp_path)
        assert done.returncode == 2 and expected in done.stderr and "Traceback" not in done.stderr, done.stderr
        assert not (tmp_path / "r").exists()


def test_a_capture_that_is_cut_keeps_what_is_whole(tmp_path: Path) -> None:
    whole = fl.import_file(CAPTURES / "cooked.pcapng")
    data = (CAPTURES / "cooked.pcapng").read_bytes()
    (tmp_path / "f").write_bytes(data[: len(data) // 2])
    half = fl.import_file(tmp_path / "f")
    assert any("damaged" in str(w) for w in half.warnings)
    mine, theirs = (r.trace().filter(pl.col("event") == "receive").collect().drop("flow", "back", "seq", "ack") for r in (half, whole))
    assert 10 < mine.height < theirs.height and mine.drop("time").equals(theirs.head(mine.height).drop("time"))


def test_flent_reads_what_it_wrote_and_we_read_it_too(tmp_path: Path) -> None:
    """A data file that flent's own library writes."""
    resultset = pytest.importorskip("flent.resultset")
    meta = {"TCP upload": {"UNITS": "Mbits/s"}, "Ping (ms) ICMP": {"UNITS": "ms"}, "TCP upload sum": {"UNITS": "Mbits/s"}}
    meta["odd"] = {"UNITS": "furlongs"}
    made = resultset.ResultSet(
        NAME="tcp_upload", HOST="server", LOCAL_HOST="me", TITLE="t", TIME=None, LENGTH=2, TOTAL_LENGTH=2.0, STEP_SIZE=0.5,
        DATA_FILENAME="x.flent.gz", SERIES_META=meta, BATCH_TIME=None, T0=None,
    )  # fmt: skip
    made.x_values = [0.0, 0.5, 1.0, 1.5]
    made.add_result("TCP upload", [None, 8.0, 10.0, 12.0])
    made.add_result("Ping (ms) ICMP", [20.0, 30.0, None, 40.0])
    made.add_result("TCP upload sum", [None, 8.0, 10.0, 12.0])
    made.add_result("odd", [1.0, 2.0, 3.0, 4.0])
    made.raw_values = {"TCP upload": [], "Ping (ms) ICMP": [{"t": 1.0, "val": 25.0}, {"t": 2.0, "val": 35.0}]}
    made.dump_file(str(tmp_path / "x.flent.gz"))
    result = fl.import_file(tmp_path / "x.flent.gz", tmp_path / "r")
    assert set(result.flows["flow"]) == {"TCP upload", "Ping (ms) ICMP"}
    assert result.value("goodput", flow="TCP upload").mean == 10e6
    assert result.value("rtt_mean", flow="Ping (ms) ICMP").mean == pytest.approx(0.03)
    series = result.flow_series.filter(pl.col("flow") == "TCP upload")
    assert series["time"].to_list() == [0.0, 0.5, 1.0, 1.5] and series["goodput"].to_list()[1:] == [8e6, 10e6, 12e6]
    assert "furlongs" in str(result.warnings[0]) and len(result.warnings) == 1
    result.plot("goodput", path=tmp_path / "g.svg")


@pytest.mark.parametrize("which", ["cooked.pcapng", "loopback.pcap"])
def test_a_compressed_capture_is_the_same_result(which: str, tmp_path: Path) -> None:
    packed = tmp_path / f"{which}.gz"
    packed.write_bytes(gzip.compress((CAPTURES / which).read_bytes()))
    plain, unpacked = fl.import_file(CAPTURES / which), fl.import_file(packed, tmp_path / "r")
    for table in ("flows", "network", "flow_series"):
        assert unpacked.table(table).equals(plain.table(table)), table
    assert unpacked.trace().collect().equals(plain.trace().collect())
    assert not list((tmp_path / "r").rglob("*unpacked*")) and unpacked.scenario["imported"]["file"] == packed.name


def test_a_compressed_capture_that_is_cut_short_is_read_up_to_there(tmp_path: Path) -> None:
    data = gzip.compress((CAPTURES / "loopback.pcap").read_bytes())
    (tmp_path / "cut.pcap.gz").write_bytes(data[: len(data) * 2 // 3])
    cut, whole = fl.import_file(tmp_path / "cut.pcap.gz"), fl.import_file(CAPTURES / "loopback.pcap")
    assert any("truncated or damaged; only the readable part was imported" in str(w) for w in cut.warnings)
    assert 0 < cut.scenario["imported"]["packets"] < whole.scenario["imported"]["packets"]
    (tmp_path / "no.gz").write_bytes(data[:12])
    with pytest.raises(fl.FairlaneError, match="truncated or damaged"):
        fl.import_file(tmp_path / "no.gz")
