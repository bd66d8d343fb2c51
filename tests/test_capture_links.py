"""Captures of every kind of link and tunnel: our counts are tshark's, and written here for where there is no tshark."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fairlane as fl
from capture_cases import CASES, TALK, four, fragments, pcap, pcapng, stations

NO_RETRIES = ("-o", "wlan.retransmitted:FALSE")
"""tshark counts repetitions of the 802.11 MAC as retransmissions of TCP unless this option is given; they are not. With four addresses the
option ends tshark 4.0.17 with a fault, so only the captures with repetitions have it."""
FIELDS = ("tcp.len", "udp.length", "tcp.analysis.retransmission")
SEGMENTS, DATA, AGAIN = len(TALK), sum(s[4] for s in TALK), 1


def ours(file: Path) -> dict[str, int]:
    """Segments, their data, retransmitted data segments."""
    result = fl.import_file(file)
    sent = result.trace().collect().filter(pl.col("event").is_in(["send", "retransmit"]))
    return {"segments": sent.height, "data": sent["payload"].sum(), "again": (sent["event"] == "retransmit").sum()}


def tshark(file: Path, *options: str) -> dict[str, int]:
    command = ["tshark", "-n", "-r", str(file), *options, "-T", "fields", *(x for n in FIELDS for x in ("-e", n))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    segments = [[int(n) for n in row[0].split(",")] for row in rows if row[0]]
    again = sum(bool(row[2]) for row in rows if row[0] and any(int(n) for n in row[0].split(",")))
    # An aggregate of several packets is one frame of tshark, in which it lists the first.
    return {"segments": len(segments), "data": sum(map(sum, segments)), "again": again}


@pytest.mark.parametrize("name", CASES)
def test_every_link_and_tunnel_as_tshark(name: str, tmp_path: Path) -> None:
    file = tmp_path / "f.pcap"
    file.write_bytes(pcap(*CASES[name]))
    found = ours(file)
    assert found == {"segments": SEGMENTS, "data": DATA, "again": AGAIN}
    if shutil.which("tshark"):
        theirs = tshark(file, *NO_RETRIES) if name == "wlan retries" else tshark(file)
        aggregated = 1 if name == "wlan aggregates" else 0
        assert theirs | {"segments": theirs["segments"] + aggregated} == found


@pytest.mark.parametrize("name", ["ppp", "wlan qos"])
@pytest.mark.parametrize("kind", ["big", "nano", "big nano", "cut", "pcapng", "pcapng big"])
def test_every_kind_of_file(name: str, kind: str, tmp_path: Path) -> None:
    link, frames = CASES[name]
    file = tmp_path / "f"
    if "pcapng" in kind:
        # Two interfaces: milliseconds, and powers of two of a second; and one more link type that has no packets.
        stamps = [(1_700_000_000_000 + 10 * i, (1_700_000_000 << 20) + (i << 20) // 100) for i in range(len(frames))]
        rows = [(i % 2, stamps[i][i % 2], f) for i, f in enumerate(frames)]
        file.write_bytes(pcapng(rows, [(link, 3), (link, 0x80 | 20), (195, 6)], big="big" in kind))
    else:
        file.write_bytes(pcap(link, frames, big="big" in kind, nano="nano" in kind, snap=130 if kind == "cut" else 65535))
    assert ours(file) == {"segments": SEGMENTS, "data": DATA, "again": AGAIN}
    if shutil.which("tshark"):
        assert tshark(file) == ours(file)
    times = fl.import_file(file).trace().collect().filter(pl.col("event").is_in(["send", "retransmit"]))["time"].to_list()
    assert times == pytest.approx([0.01 * i for i in range(len(frames))], abs=1e-6)


def test_fragments_of_a_datagram(tmp_path: Path) -> None:
    """Four datagrams of 2992 bytes in twelve fragments; tshark has as many bytes."""
    file = tmp_path / "f.pcap"
    file.write_bytes(pcap(101, fragments()))
    flow = fl.import_file(file).flows.row(0, named=True)
    assert flow["packets_received"] == 12
    sent = fl.import_file(file).trace().collect().filter(pl.col("event") == "send")
    assert sent["payload"].sum() == 4 * 2992
    if shutil.which("tshark"):
        command = ["tshark", "-n", "-r", str(file), "-T", "fields", "-e", "udp.length"]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        assert sum(int(n) - 8 for n in lines) == 4 * 2992


def test_what_is_left_out_is_said_once(tmp_path: Path) -> None:
    cases: list[tuple[bytes, str]] = [
        (pcap(105, stations(flags=0x40)), "11 packets are left out: 802.11 encrypts their contents; decrypt the capture first"),
        (pcap(195, [four(s) for s in TALK]), r"link type 195 \(IEEE 802.15.4\) is not supported: capture at an interface of Ethernet, PPP"),
        (pcapng([(0, None, four(s)) for s in TALK], [(101, 6)]), r"no time in the file \(simple packet blocks\); capture with times"),
    ]
    for data, expected in cases:
        (tmp_path / "f").write_bytes(data)
        with pytest.raises(fl.InputError, match=expected) as error:
            fl.import_file(tmp_path / "f")
        assert "\n" not in str(error.value)
    (tmp_path / "f").write_bytes(pcap(*CASES["wlan retries"]))
    warnings = [str(w) for w in fl.import_file(tmp_path / "f").warnings]
    assert [w for w in warnings if "repetitions of the 802.11 MAC" in w] == warnings and "11 packets are" in warnings[0]


def air(tmp_path: Path) -> Any:
    """Two stations that send to one another over TCP, at a distance at which frames are lost, and a monitor of the channel."""
    net = fl.Network(duration="4s")
    net.wireless("air", nodes={"a": [0, 0], "b": [60, 0], "c": [30, 50]}, rate="24Mbit/s", standard="802.11g")
    net.flow("tcp", "a", "b", tcp="newreno", amount="300kB")
    net.flow("other", "c", "b", tcp="newreno", amount="300kB")
    return net.run(seed=2, pcap=fl.Pcap({"monitor:b-air": tmp_path / "air.pcapng"}))


def test_our_own_captures_of_the_air(tmp_path: Path) -> None:
    """A monitor's capture: each packet once, however often the MAC repeats it."""
    run = air(tmp_path)
    result = fl.import_file(tmp_path / "air.pcapng")
    flows = result.flows
    assert flows.height == 2 and set(flows["transport"]) == {"tcp"}
    sent = result.trace().collect().filter(pl.col("event").is_in(["send", "retransmit"]) & ~pl.col("back") & (pl.col("payload") > 0))
    assert sent.height == run.flows["packets_sent"].sum()
    if shutil.which("tshark"):
        theirs = tshark(tmp_path / "air.pcapng", *NO_RETRIES)
        assert ours(tmp_path / "air.pcapng") == theirs
