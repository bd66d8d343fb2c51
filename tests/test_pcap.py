"""Packet capture, read by tshark: nothing malformed, every checksum right, and its own analysis agrees with our metrics."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fairlane as fl
from conftest import fairlane

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed (Debian: apt-get install tshark)")

CHECK = [f"-o{p}.check_checksum:TRUE" for p in ("ip", "tcp", "udp")]
BAD = "_ws.malformed || _ws.short || tcp.checksum.status == 0 || ip.checksum.status == 0 || udp.checksum.status == 0"
AGAIN = "(tcp.analysis.retransmission || tcp.analysis.out_of_order) && tcp.flags.syn == 0"
"""A sender sees nothing of its own out of order: what tshark takes for that, as it comes within a round trip, was sent again."""
INBOUND, OUTBOUND = "frame.p2p_dir == 1", "frame.p2p_dir == 0"


def tshark(file: Path, *args: str) -> list[str]:
    done = subprocess.run(["tshark", "-n", "-r", str(file), *CHECK, *args], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def fields(file: Path, shown: str, *names: str) -> list[list[str]]:
    wanted = [part for name in names for part in ("-e", name)]
    return [line.split("\t") for line in tshark(file, "-Y", shown, "-T", "fields", *wanted)]


def dumbbell(tcp, *, loss=0.01, queue="droptail", duplicate=0.0, rate="5Mbit/s", duration="15s", **flow) -> fl.Network:
    net = fl.Network(duration=duration)
    bottleneck = {"rate": rate, "delay": "20ms", "queue": queue, "loss": loss, "duplicate": duplicate}
    net.dumbbell(pairs=2, access={"rate": "100Mbit/s", "delay": "2ms"}, bottleneck=bottleneck)
    return net.flow("f", "s{i}", "d{i}", count=2, tcp=tcp, **flow)


CODEL = {"codel": {"ecn": True}}
TRANSPORTS = {
    "newreno": ({"cc": "newreno"}, {}),
    "sack": ({"cc": "sack"}, {}),
    "tahoe": ({"cc": "tahoe"}, {}),
    "fack": ({"cc": "fack"}, {}),
    "ns2": ({"preset": "ns2", "cc": "sack"}, {}),
    "ns2 without handshake": ({"preset": "ns2", "cc": "vegas"}, {}),
    "ns3": ({"preset": "ns3", "cc": "newreno"}, {}),
    "linux": ({"preset": "linux", "cc": "cubic"}, {}),
    "linux with duplicates": ({"preset": "linux", "cc": "cubic"}, {"duplicate": 0.02}),
    "bbr": ({"preset": "linux", "cc": "bbr"}, {}),
    "ecn": ({"cc": "sack", "ecn": "classic"}, {"queue": CODEL}),
    "dctcp": ({"cc": "dctcp"}, {"queue": CODEL}),
    "accecn": ({"preset": "linux", "cc": "cubic", "ecn": "accecn"}, {"queue": CODEL}),
    "prague": ({"preset": "linux", "cc": "prague"}, {"queue": "dualpi2"}),
}


@needs_tshark
@pytest.mark.parametrize(("name", "ip"), [*((name, 4) for name in TRANSPORTS), ("newreno", 6), ("linux", 6), ("accecn", 6)])
def test_retransmissions_are_counted_alike(tmp_path, name, ip):
    tcp, options = TRANSPORTS[name]
    file = tmp_path / "f.pcapng"
    result = dumbbell(tcp, **options).run(pcap=fl.Pcap({"f.0": file}, snaplen=0, ip=ip))
    assert tshark(file, "-Y", BAD) == []
    # All sums were looked at, none skipped.
    sums = fields(file, "tcp", "tcp.checksum.status", "ip.checksum.status", "_ws.expert.severity")
    assert {tuple(row[:2]) for row in sums} == {("1", "1" if ip == 4 else "")}
    ours = result.flows.row(0, named=True)
    assert len(tshark(file, "-Y", AGAIN)) == ours["retransmits"] > 0
    assert len(fields(file, f"{OUTBOUND} && tcp.len > 0", "frame.number")) == ours["packets_sent"]
    # No error, and no warning but on what may happen to packets.
    warned = {e for row in fields(file, "_ws.expert.severity >= 6291456", "_ws.expert.message") for e in row}
    assert all(re.search(r"out-of-order|D-SACK|not captured|Previous", w) for w in warned), warned


@needs_tshark
def test_duplicates_reported_with_dsack_are_counted_alike(tmp_path):
    file = tmp_path / "f.pcapng"
    result = dumbbell({"preset": "linux", "cc": "cubic"}, duplicate=0.02).run(pcap={"f.0": file})
    found = fields(file, f"{INBOUND} && tcp.options.sack.dsack_le", "frame.number")
    assert len(found) == result.flows["dsacks"][0] > 10


@needs_tshark
def test_round_trip_times_agree_to_a_microsecond(tmp_path):
    """tshark: from a segment to the acknowledgment that covers it. Ours: the samples of RFC 6298, one an acknowledgment without losses."""
    file = tmp_path / "f.pcapng"
    net = dumbbell({"cc": "newreno", "ack_every": 1, "window": "20p"}, loss=0.0)
    result = net.run(pcap={"f.0": file})
    theirs = [float(row[0]) for row in fields(file, f"{INBOUND} && tcp.analysis.ack_rtt", "tcp.analysis.ack_rtt")]
    assert len(theirs) > 1000
    assert abs(sum(theirs) / len(theirs) - result.flows["rtt_mean"][0]) < 1e-6
    assert tshark(file, "-Y", "tcp.analysis.flags && !tcp.analysis.duplicate_ack") == []


@needs_tshark
def test_duplicate_acknowledgments_are_those_of_rfc_5681(tmp_path):
    """RFC 5681 section 2: no data, the same acknowledgment number and window, something outstanding."""
    file = tmp_path / "f.pcapng"
    dumbbell({"cc": "newreno"}).run(pcap={"f.0": file})
    last, sent, count = -1, 0, 0
    rows = fields(file, "tcp", "frame.p2p_dir", "tcp.ack", "tcp.len", "tcp.nxtseq", "tcp.flags.syn")
    for direction, ack, length, end, syn in rows:
        if direction == "0":
            sent = max(sent, int(end))
        elif syn in ("0", "False"):
            count += int(ack) == last and length == "0" and sent > int(ack)
            last = int(ack)
    assert len(tshark(file, "-Y", f"{INBOUND} && tcp.analysis.duplicate_ack")) == count > 20


@needs_tshark
def test_conversations_are_what_the_link_carried(tmp_path):
    file = tmp_path / "l.pcapng"
    # With this preset no packet is in transmission at the end, so the capture and the counter hold the same bits.
    result = dumbbell({"preset": "rfc", "cc": "sack"}).run(pcap={"bottleneck": file})
    link = result.links.row(0, named=True)
    rows = fields(file, f"frame.interface_id == 0 && {OUTBOUND}", "frame.len", "frame.time_epoch")
    assert len(rows) == link["departures"]
    # Ethernet adds 14 bytes to what the link counts.
    bits = sum(8 * (int(length) - 14) for length, _ in rows)
    assert bits / 15 == pytest.approx(link["throughput"], rel=1e-12)
    lines = [line for line in tshark(file, "-q", "-z", "conv,tcp,frame.interface_id==0") if "<->" in line]
    assert len(lines) == 2
    back = result.links.filter(result.links["link"] == "bottleneck.reverse").row(0, named=True)
    seen = len(tshark(file, "-Y", INBOUND))
    # Acknowledgments on their way at the end were sent there, and have not arrived here.
    assert 0 <= back["departures"] - back["lost"] - seen < 20


@needs_tshark
def test_drops_are_apart_with_reason_and_queue(tmp_path):
    file = tmp_path / "l.pcapng"
    net = dumbbell({"cc": "newreno"}, queue={"droptail": {"limit": "20p"}}, rate="2Mbit/s")
    net.flow("u", "s0", "d0", udp={}, source={"cbr": {"rate": "500kbit/s", "size": "500B"}})
    result = net.run(pcap={"bottleneck": file})
    link = result.links.row(0, named=True)
    rows = fields(file, "frame.interface_id == 1", "frame.interface_name", "frame.comment")
    assert {row[0] for row in rows} == {"bottleneck (dropped)"}
    full = [row for row in rows if re.match(r"dropped: overflow, queue 20 packets \d+ bytes; \d+ bytes of data", row[1])]
    lost = [row for row in rows if row[1].startswith("dropped: link, queue ")]
    assert (len(full), len(lost)) == (link["drops_overflow"], link["lost"])
    assert len(rows) == len(full) + len(lost) > 50
    assert tshark(file, "-Y", "_ws.malformed") == []
    # An analyser takes none of them for a segment on the wire.
    assert tshark(file, "-Y", "frame.interface_id == 1 && tcp.stream") == []


@needs_tshark
def test_options_of_the_handshake_and_after_it(tmp_path):
    file = tmp_path / "f.pcapng"
    # The whole window at once, not as the buffer grows.
    dumbbell({"preset": "linux", "cc": "cubic", "receive_window": "4MiB", "receive_buffer": "4MiB"}).run(pcap={"f.0": file})
    names = ("tcp.options.mss_val", "tcp.options.wscale.shift", "tcp.options.sack_perm", "tcp.options.timestamp.tsval")
    for row in fields(file, "tcp.flags.syn == 1", *names):
        # 4 MiB need a shift of 7: 2^22 / 2^7 = 2^15. RFC 6691: the MSS counts the bytes that timestamps take.
        assert row[1] == "7" and int(row[0]) >= 1460 and all(row[2:])
    assert {w for (w,) in fields(file, "tcp.flags.syn == 0", "tcp.window_size")} == {str(4 << 20)}
    echoed = fields(file, f"{INBOUND} && tcp.flags.syn == 0", "tcp.options.timestamp.tsecr")
    stamped = {v for (v,) in fields(file, OUTBOUND, "tcp.options.timestamp.tsval")}
    assert {v for (v,) in echoed} <= stamped
    for left, right, ack in fields(
        file, f"{INBOUND} && tcp.options.sack_le && !tcp.options.sack.dsack_le", "tcp.options.sack_le", "tcp.options.sack_re", "tcp.ack"
    ):
        assert all(int(ack) < int(a) < int(b) for a, b in zip(left.split(","), right.split(","), strict=True))


@needs_tshark
def test_marks_and_their_echo(tmp_path):
    net = dumbbell({"preset": "linux", "cc": "cubic", "ecn": "accecn"}, loss=0.0, queue=CODEL)
    result = net.run(pcap=fl.Pcap({"node:d0": tmp_path / "d.pcapng", "f.0": tmp_path / "s.pcapng"}))
    marked = result.flows["marked"][0]
    assert len(tshark(tmp_path / "d.pcapng", "-Y", f"{INBOUND} && ip.dsfield.ecn == 3 && tcp.len > 0")) == marked > 5
    # The SYN asks for AccECN with all three bits (RFC 9768 section 3.1.1), and the third is used later too.
    (syn,) = fields(tmp_path / "s.pcapng", f"{OUTBOUND} && tcp.flags.syn == 1", "tcp.flags")
    assert int(syn[0], 16) == 0x1C2
    assert tshark(tmp_path / "s.pcapng", "-Y", f"{INBOUND} && tcp.flags & 0x100 && tcp.flags.syn == 0")


@needs_tshark
def test_sequence_numbers_wrap(tmp_path):
    """Initial numbers are spread over 32 bits: flow 493 begins 1946067 bytes before the wrap."""
    net = fl.Network(duration="10s").link("a", "b", rate="10Mbit/s", delay="1ms")
    net.flow("later", "a", "b", count=493, tcp="sack", start="9.999s")
    net.flow("f", "a", "b", tcp="sack", source={"file": {"size": "6MB"}})
    file = tmp_path / "f.pcapng"
    net.run(pcap=fl.Pcap({"f": file}))
    raw = [int(row[0]) for row in fields(file, OUTBOUND, "tcp.seq_raw")]
    assert max(raw) > 4.29e9 and min(raw) < 1e7
    assert max(int(row[0]) for row in fields(file, OUTBOUND, "tcp.nxtseq")) >= 6_000_000
    assert tshark(file, "-Y", BAD) == []


@needs_tshark
@pytest.mark.parametrize("header", ["28B", "0B"])
def test_datagrams(tmp_path, header):
    """ns-2 counts no headers for UDP: the frame has them nevertheless."""
    net = fl.Network(duration="2s").link("a", "b", rate="1Mbit/s", delay="1ms")
    net.flow("u", "a", "b", udp={"header": header}, source={"cbr": {"rate": "200kbit/s", "size": "500B"}}, **{"class": 46})
    result = net.run(pcap=fl.Pcap("a-b", folder=tmp_path, snaplen=0))
    rows = fields(tmp_path / "a-b.pcapng", "udp", "frame.len", "udp.length", "udp.checksum.status", "ip.dsfield.dscp", "ip.ttl")
    assert {tuple(row) for row in rows} == {("542", "508", "1", "46", "64")}
    assert len(rows) == result.flows["packets_sent"][0]


@needs_tshark
def test_a_node_sees_each_packet_on_each_of_its_interfaces(tmp_path):
    dumbbell({"cc": "sack"}).run(pcap=fl.Pcap("r1", folder=tmp_path, queue=True))
    file = tmp_path / "r1.pcapng"
    times = [float(row[0]) for row in fields(file, "frame", "frame.time_epoch")]
    assert times == sorted(times)
    seen = {tuple(row) for row in fields(file, "tcp", "frame.interface_name", "frame.p2p_dir", "ip.ttl")}
    inner = {("bottleneck", "0", "63"), ("bottleneck", "1", "63")}
    assert inner <= seen and len({name for name, *_ in seen}) >= 3
    assert fields(file, 'frame.comment matches "queue [0-9]+ packets"', "frame.comment")


@pytest.mark.parametrize("pcap", ["bottleneck", "node:r1", "tcp", "link:s0"])
def test_watching_changes_nothing(tmp_path, dumbbell, pcap):
    plain = fl.run(dumbbell)
    watched = fl.run(dumbbell, pcap=fl.Pcap(pcap, folder=tmp_path))
    assert watched.fingerprints == plain.fingerprints
    assert watched.flows.equals(plain.flows)
    assert [c.is_file() for c in watched.captures] == [True]


def test_files_are_named_after_what_they_hold(tmp_path, dumbbell):
    done = fairlane("run", str(dumbbell), "--pcap", "bottleneck", "--pcap", "flow:tcp=t.pcapng", "--seeds", "1..2", "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix == ".pcapng") == [
        f"{n}.{s}.pcapng" for n in ("bottleneck", "t") for s in (1, 2)
    ]
    again = fairlane("run", str(dumbbell), "--pcap", "bottleneck", "--seeds", "1..2", "-q", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (2, "")
    assert "bottleneck.1.pcapng exists: choose another name, or replace it with --force" in again.stderr
    assert fairlane("run", str(dumbbell), "--pcap", "bottleneck", "--seeds", "1..2", "-q", "--force", cwd=tmp_path).returncode == 0
    # A capture says the same each time.
    first = (tmp_path / "bottleneck.1.pcapng").read_bytes()
    assert fairlane("run", str(dumbbell), "--pcap", "bottleneck=b.pcapng", "--set", "seed=1", "-q", cwd=tmp_path).returncode == 0
    assert (tmp_path / "b.pcapng").read_bytes() == first


def test_a_result_folder_holds_its_captures(tmp_path, dumbbell):
    done = fairlane("run", str(dumbbell), "--pcap", "bottleneck", "--out", "r", "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "r" / "bottleneck.pcapng").is_file()
    assert "bottleneck.pcapng" in json.loads((tmp_path / "r" / "manifest.json").read_text())["files"]
    assert [c.name for c in fl.load(tmp_path / "r").captures] == ["bottleneck.pcapng"]
    assert not [p.name for p in tmp_path.iterdir() if p.name.startswith(".")]
    (tmp_path / "r" / "bottleneck.pcapng").write_bytes(b"other")
    with pytest.raises(fl.FolderError, match=r"bottleneck\.pcapng was changed"):
        fl.load(tmp_path / "r")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--pcap", "botleneck"], "cannot capture `botleneck`: no link, node or flow has this name; did you mean `bottleneck`?"),
        (["--pcap", "node:r9"], "no node has this name; did you mean `r1`?"),
        (["--pcap", "bottleneck=x.svg"], "the name must end in .pcapng"),
        (["--pcap", "bottleneck="], "write NAME or NAME=FILE.pcapng"),
        (["--pcap", "bottleneck=no/x.pcapng"], "the folder no does not exist"),
        (["--pcap", "bottleneck", "--snaplen", "20"], "snaplen 20 is not between 128 and 262144 bytes"),
        (["--pcap", "tcp", "--pcap", "flow:tcp"], "would both be tcp.pcapng"),
        (["--pcap", "bottleneck=a/b.pcapng", "--out", "r"], "with --out the file goes into r"),
        (["--snaplen", "200"], "--snaplen needs --pcap NAME"),
        (["--pcap", "bottleneck", "--pcap-ip", "5"], "'5' is not one of '4', '6'"),
    ],
)
def test_mistakes_get_one_message(tmp_path, dumbbell, args, message):
    before = sorted(p.name for p in tmp_path.iterdir())
    done = fairlane("run", str(dumbbell), *args, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr and done.stderr.count("\n") == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_a_name_of_two_things_needs_its_kind(tmp_path):
    net = fl.Network(duration="1s").link("a", "b", name="f", rate="1Mbit/s", delay="1ms").flow("f", "a", "b", tcp="sack")
    with pytest.raises(fl.UnknownNameError, match="`f` is a link and a flow: write link:f or flow:f"):
        net.run(pcap=fl.Pcap("f", folder=tmp_path))
    net.run(pcap=fl.Pcap({"link:f": "l.pcapng", "flow:f": "f.pcapng"}, folder=tmp_path))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["f.pcapng", "l.pcapng"]


def test_a_full_disk_ends_the_run(tmp_path, dumbbell):
    """Files may not grow beyond 64 KiB: stands for a disk that is full."""
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))"
    code = f"{limited}; from fairlane.cli import main; main(['run', {str(dumbbell)!r}, '--pcap', 'bottleneck', '--set', 'duration=30s'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"error: cannot write \S+bottleneck.pcapng: the file would be larger than allowed\n", done.stderr)
    assert [p for p in tmp_path.iterdir() if "pcapng" in p.name] == []


def test_a_stopped_run_leaves_no_file(tmp_path, dumbbell):
    with pytest.raises(fl.RunError):
        fl.run(dumbbell, sets={"duration": "3000s"}, pcap=fl.Pcap("bottleneck", folder=tmp_path / "."), progress=lambda *_: False)
    assert [p for p in tmp_path.iterdir() if "pcapng" in p.name] == []
