"""Captures of the air, read by tshark: nothing malformed, check sequences right, as many frames of each kind as our counters say."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

import fairlane as fl
from conftest import ROOT

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed (Debian: apt-get install tshark)")

DATA, RTS, CTS, ACK = "0x0020", "0x001b", "0x001c", "0x001d"


def frames(file: Path, *fields: str, only: str = "") -> list[list[str]]:
    """The fields of all frames; every check that tshark has is on."""
    checks = [
        "-o",
        "wlan.check_checksum:TRUE",
        "-o",
        "ip.check_checksum:TRUE",
        "-o",
        "tcp.check_checksum:TRUE",
        "-o",
        "udp.check_checksum:TRUE",
    ]
    wanted = [x for f in fields for x in ("-e", f)]
    command = ["tshark", "-n", "-r", str(file), *checks, *(["-Y", only] if only else []), "-T", "fields", "-E", "separator=;", *wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "cut short" not in done.stderr and "isn't" not in done.stderr, done.stderr
    return [line.split(";") for line in done.stdout.splitlines()]


def capture(
    tmp_path: Path, what: str, example: str = "hidden_terminals", snaplen: int | None = None, **sets: str
) -> tuple[Path, fl.Result]:
    pcap = fl.Pcap({what: str(tmp_path / "air.pcapng")}, snaplen=snaplen)
    result = fl.run(ROOT / "examples" / f"{example}.toml", sets={"duration": "3s", "warmup": "0s", **sets}, pcap=pcap)
    return tmp_path / "air.pcapng", result


def total(result: fl.Result, column: str) -> int:
    return int(result.links[column].fill_nan(0).sum())


def nothing_wrong(file: Path) -> None:
    sums = " || ".join(f"{p}.status == 0" for p in ("wlan.fcs", "ip.checksum", "udp.checksum", "tcp.checksum"))
    bad = f"_ws.malformed || _ws.expert.severity >= 0x800000 || {sums}"
    assert frames(file, "frame.number", "_ws.expert.message", only=bad) == []


@pytest.mark.parametrize("rts", ["none", "500B"])
@pytest.mark.parametrize("snaplen", [None, 0])
def test_frames_are_as_many_as_our_counters_say(tmp_path, rts, snaplen):
    file, result = capture(tmp_path, "air", snaplen=snaplen, **{"wireless.air.rts_threshold": rts})
    nothing_wrong(file)
    got = frames(file, "wlan.fc.type_subtype", "wlan.fc.retry", "frame.len", "radiotap.length")
    kinds = Counter(row[0] for row in got)
    assert kinds[DATA] == total(result, "attempts") > 500
    assert kinds[RTS] == total(result, "rts_sent") and (kinds[RTS] > 500) == (rts != "none")
    again = sum(row[0] == DATA and row[1] in ("1", "True") for row in got)
    assert 0 < again <= total(result, "retries")
    assert rts != "none" or again == total(result, "retries")
    assert kinds[ACK] >= total(result, "acknowledged") - 2 and kinds[CTS] <= kinds[RTS]
    assert {int(r[2]) - int(r[3]) for r in got if r[0] == DATA} == {1000 + 28 + 36}
    assert {int(r[2]) - int(r[3]) for r in got if r[0] in (ACK, CTS)} == {14}


def test_durations_and_rates_are_those_of_the_standard(tmp_path):
    """802.11b at 11 Mbit/s, long preamble: an answer of 14 bytes at 1 or 2 Mbit/s takes 304 or 248 us, data of 1064 bytes 966 us."""
    file, _ = capture(tmp_path, "air", **{"wireless.air.rts_threshold": "500B"})
    got = frames(file, "wlan.fc.type_subtype", "wlan.duration", "radiotap.datarate", "radiotap.channel.freq", "radiotap.flags.fcs")
    sifs, cts, ack, data = 10, 304, 248, 966
    assert {tuple(r) for r in got} == {
        (RTS, str(3 * sifs + cts + data + ack), "1", "2412", got[0][4]),
        (CTS, str(2 * sifs + data + ack), "1", "2412", got[0][4]),
        (DATA, str(sifs + ack), "11", "2412", got[0][4]),
        (ACK, "0", "2", "2412", got[0][4]),
    }
    assert got[0][4] in ("1", "True")


def test_sequence_numbers_count_packets_and_repetitions_keep_theirs(tmp_path):
    file, _ = capture(tmp_path, "air")
    got = frames(file, "wlan.ta", "wlan.seq", "wlan.fc.retry", only=f"wlan.fc.type_subtype == {DATA}")
    for station in {r[0] for r in got}:
        numbers = [(int(r[1]), r[2] in ("1", "True")) for r in got if r[0] == station]
        assert numbers[0] == (0, False)
        for (before, _), (now, again) in pairwise(numbers):
            assert now == (before if again else (before + 1) % 4096)
        assert len(numbers) > 200


def test_a_station_hears_what_reaches_it(tmp_path):
    """The receiver between two hidden senders: its data are what it has received, twice if an acknowledgment was lost."""
    file, result = capture(tmp_path, "monitor:middle-air")
    nothing_wrong(file)
    got = frames(file, "wlan.fc.type_subtype", "frame.p2p_dir", "radiotap.dbm_antsignal", "wlan.da")
    heard = [r for r in got if r[0] == DATA]
    assert all(r[1] == "1" and r[2] != "" for r in heard)
    assert {r[2] for r in heard} == {"15"}, "a fixed range takes nothing from 15 dBm"
    sent = [r for r in got if r[0] == ACK]
    assert all(r[1] == "0" and r[2] == "" for r in sent) and 0 <= len(heard) - len(sent) <= 2
    assert len(heard) >= total(result, "acknowledged")


def test_a_house_names_its_access_point(tmp_path):
    file, _ = capture(tmp_path, "home", example="wireless_house")
    nothing_wrong(file)
    got = frames(file, "wlan.fc.tods", "wlan.fc.fromds", "wlan.bssid", "wlan.sa", "wlan.da", only=f"wlan.fc.type_subtype == {DATA}")
    yes = ("1", "True")
    up, down = [r for r in got if r[0] in yes], [r for r in got if r[1] in yes]
    assert len(up) + len(down) == len(got) and up and down
    (point,) = {r[2] for r in got}
    assert {r[4] for r in up} == {point} == {r[3] for r in down}


def test_routes_that_change_leave_packets_readable(tmp_path):
    file, result = capture(tmp_path, "hall", example="wireless_walk", snaplen=0, duration="40s")
    nothing_wrong(file)
    call = frames(file, "wlan.ta", "ip.ttl", only=f"ip.dst == {_address(result, 'telephone')} && udp && wlan.fc.retry == 0")
    assert len({r[0] for r in call}) >= 2, "both access points carry the call in turn"
    assert {r[1] for r in call} == {"63"}


def _address(result: fl.Result, node: str) -> str:
    return f"10.0.0.{result.scenario['expanded']['nodes'].index(node) + 1}"


def test_what_cannot_be_heard_is_said(tmp_path):
    for what, expected in [("monitor:x", "no monitor has this name"), ("monitor:left", "left-air"), ("ai", "did you mean `air`")]:
        with pytest.raises(fl.FairlaneError, match=expected):
            capture(tmp_path, what)
