"""The kernel's TCP through our queue: the stored results, and, where namespaces are allowed, a short live run."""

from __future__ import annotations

import signal
import socket
import struct
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from validation.kernel import __main__ as command
from validation.kernel import cases, machine, replay, runs
from validation.kernel.cases import Case
from validation.kernel.measures import of_kernel, of_simulation
from validation.kernel.report import Row

from fairlane import _core

SHORT = replace(cases.select(["reno/5mbit"], False)[0], name="reno/short", rtt_ms=10, seconds=2.0, warmup=1.0)


def why_not() -> str:
    """Why the kernel's side cannot run here; empty if it can."""
    try:
        machine.check()
        host = machine.Host("a")
    except machine.KernelMissing as missing:
        return str(missing)
    host.close()
    return ""


#: Values outside their bounds (docs/validation/kernel.md has the causes). Everything else is checked.
OUTSIDE = {"two/cubic-codel": {"flow 1", "flow 2"}}
#: Flows that compete need many runs.
HELD = [pytest.param(c, id=c.name, marks=pytest.mark.long if c.rate_mbps > 20 or c.flows > 1 else ()) for c in cases.CASES]


@pytest.mark.parametrize("case", HELD)
def test_within_the_bounds_of_the_stored_results(case: Case) -> None:
    row = Row(case, runs.stored(case), [of_simulation(case, run) for run in range(1, 9 if case.chaotic else 4)])
    assert set(row.failed) <= OUTSIDE.get(case.name, set()), {c.name: c.means for c in row.compared if c.failed}


def test_the_relay_was_in_time_in_all_that_is_stored() -> None:
    late = {
        c.name: f.late_p99_us
        for c in cases.CASES
        for f in runs.stored(c)
        if not 0 < f.late_p99_us <= runs.LATE_US or f.late_max_us > runs.MOST_LATE_US
    }
    assert not late


RECORDS = sorted(replay.RECORDS.glob("*.xz"))


@pytest.mark.parametrize("path", [p for p in RECORDS if "sender" in p.stem], ids=lambda p: p.stem)
def test_the_sender_decides_as_the_kernel_did(path: Path) -> None:
    """Linux 6.18's own decisions, segment by segment: what goes out, and what again, after which acknowledgment."""
    record = replay.Record.load(path)
    theirs, ours = replay.replay(record)
    assert len(theirs) > 3000
    assert replay.first_difference(theirs, ours, replay.SLACK, replay.LEAD) is None, replay.report(record)[0]
    assert len(replay.split(theirs)[1]) == len(replay.split(ours)[1]) > 0


def test_the_receiver_acknowledges_as_the_kernel_did() -> None:
    """All but the acknowledgments that a compressing timer or the reading application moved by one arrival."""
    (path,) = (p for p in RECORDS if "receiver" in p.stem)
    theirs, ours = replay.replay(replay.Record.load(path))
    different = replay.differing_arrivals(theirs, ours)
    assert len(theirs) > 2000
    assert len(different) <= 0.02 * ours[-1].after, different[:10]
    assert abs(len(theirs) - len(ours)) <= 0.005 * len(theirs)


@pytest.mark.parametrize("other", [{"growth_unit": "fraction"}, {"rack_echo": True}, {"prr_base": "pipe"}], ids=lambda o: next(iter(o)))
def test_a_replay_finds_what_is_not_as_in_linux(other: dict[str, object]) -> None:
    """Each mechanism that was found missing this way, taken away again."""
    records = [replay.Record.load(p) for p in RECORDS if "sender" in p.stem]
    assert any(replay.first_difference(*replay.replay(r, other), replay.SLACK, replay.LEAD) for r in records)


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    record = replay.Record.load(RECORDS[0]).first(0.5)
    record.save(tmp_path / "again.xz")
    assert replay.Record.load(tmp_path / "again.xz") == record
    assert record.packets[-1].ns - record.packets[0].ns < 500_000_000


def test_replay_tells_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert replay.main(["nothing"]) == 2
    assert "no case begins with 'nothing'" in capsys.readouterr().err


WHY_NOT = why_not()


@pytest.mark.skipif(bool(WHY_NOT), reason=f"the kernel's side cannot run: {WHY_NOT}")
def test_packets_of_the_kernel_go_through_our_queue() -> None:
    """No claim about time, which another process may disturb: what arrives is what was sent, less what our queue dropped."""
    run = machine.run(SHORT)
    queue = run["queue"]
    assert queue["arrivals"] > 100
    assert queue["departures"] + queue["drops"] + 51 >= queue["arrivals"] >= queue["departures"] + queue["drops"]
    assert 0 < of_kernel(SHORT, run).goodput < 10
    acked = run["rows"][-1][4]
    assert acked <= run["received"] + 1 <= queue["bytes"]


def test_a_missing_algorithm_is_said() -> None:
    with pytest.raises(machine.KernelMissing, match="vegas2"):
        machine.run(Case("x", ("vegas2",), 10, 5, cases.fifo(50)))


def test_unknown_cases_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["nothing"]) == 2
    assert "cubic/10mbit-44ms-fifo50" in capsys.readouterr().err


def _packets(count: int) -> list[bytes]:
    return [struct.pack("!BBHHHBBH8s", 0x45, 0, 1500, i, 0, 64, 6, 0, bytes(8)) + bytes(1480) for i in range(count)]


def _ways() -> tuple[list[socket.socket], list[tuple[_core.LiveLink, int, int]]]:
    """Two ends of a path, and what the relay carries between the other ends of their sockets, which stand for devices."""
    resolved = _core.resolve(cases.select(["reno/10mbit-40ms-codel"], False)[0].scenario(), "case.toml", "toml", [])
    a, b = (socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in "ab")
    for s in (*a, *b):
        s.setblocking(False)
    there, back = _core.LiveLink(resolved, "bottleneck"), _core.LiveLink(resolved, "bottleneck.reverse")
    return [*a, *b], [(there, a[1].fileno(), b[1].fileno()), (back, b[1].fileno(), a[1].fileno())]


def test_the_relay_carries_between_devices_and_tells_how_late() -> None:
    """10 Mbit/s and 20 ms; the last packet is there after 23.6 ms. What passes each end is in its capture (draft-ietf-opsawg-pcap)."""
    ends, ways = _ways()
    packets = _packets(3)
    for packet in packets:
        ends[0].send(packet)
    ends[2].send(packets[0])
    since = time.monotonic()
    carried = _core.relay(ways, since, since + 0.2, capture=True)
    assert time.monotonic() >= since + 0.2
    assert [ends[2].recv(2000) for _ in packets] == packets
    assert ends[0].recv(2000) == packets[0]
    assert carried["packets"] == 4 and carried["refused"] == 0
    assert 0 <= carried["late_p50_us"] <= carried["late_p99_us"] <= carried["late_max_us"]
    for file in carried["captures"]:
        assert struct.unpack_from("<IHHIIII", file) == (0xA1B23C4D, 2, 4, 0, 0, 120, 101)
        assert (len(file) - 24) == 4 * (16 + 120)
    sent, arrived = (struct.unpack_from("<II", file, 24) for file in carried["captures"])
    assert sent[0] == arrived[0] == 0 and sent[1] < arrived[1]
    assert struct.unpack_from("<II", carried["captures"][1], 24 + 136) > (0, 21_200_000), "the first of those that came"


def test_a_relay_stops_at_ctrl_c_and_at_what_is_no_device() -> None:
    _, ways = _ways()
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            _core.relay(ways, time.monotonic(), time.monotonic() + 600)
    finally:
        signal.signal(signal.SIGALRM, before)
    link = ways[0][0]
    with pytest.raises(ValueError, match="open devices"):
        _core.relay([(link, -1, 0)], 0.0, 1.0)
    with Path(__file__).open("rb") as file, pytest.raises(OSError, match="cannot write to the device"):
        link.offer(0, _packets(1)[0])
        _core.relay([(link, file.fileno(), file.fileno())], 0.0, time.monotonic() + 600)


def test_the_live_link_keeps_time_and_order() -> None:
    """1500 bytes at 10 Mbit/s take 1.2 ms, the way 20 ms (RFC 791 headers, so that the queue can tell flows)."""
    link = _core.LiveLink(
        _core.resolve(cases.select(["reno/10mbit-40ms-codel"], False)[0].scenario(), "case.toml", "toml", []), "bottleneck"
    )
    packets = _packets(3)
    for packet in packets:
        link.offer(0, packet)
    assert link.next() == 21_200_000_000
    assert link.take(21_199_999_999) == []
    assert link.take(22_400_000_000) == packets[:2]
    assert link.take(10**12) == packets[2:]
    assert link.counters() == {"arrivals": 3, "departures": 3, "bytes": 4500, "drops": 0, "marks": 0, "lost": 0, "duplicates": 0}
    with pytest.raises(ValueError, match="no link"):
        _core.LiveLink(_core.resolve(cases.select(["reno/10mbit-40ms-codel"], False)[0].scenario(), "case.toml", "toml", []), "elsewhere")
