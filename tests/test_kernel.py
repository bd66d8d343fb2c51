"""The kernel's own TCP through our queue: the stored results, and, where namespaces are allowed, a short live run."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from validation.kernel import __main__ as command
from validation.kernel import cases, machine
from validation.kernel.cases import Case
from validation.kernel.measures import of_kernel, of_simulation
from validation.kernel.report import Row

from fairlane import _core

SHORT = Case("reno/short", "reno", 10, 5, cases.FIFO, seconds=2.0, warmup=1.0)


def why_not() -> str:
    """Why the kernel's side cannot run here; empty if it can."""
    try:
        machine.check()
        host = machine.Host("a")
    except machine.KernelMissing as missing:
        return str(missing)
    host.close()
    return ""


@pytest.mark.parametrize("case", [c for c in cases.CASES if command.stored(c)], ids=lambda c: c.name)
def test_within_the_bounds_of_the_stored_results(case: Case) -> None:
    row = Row(case, command.stored(case), [of_simulation(case, seed) for seed in (1, 2, 3)])
    assert not row.failed, {name: row.pair(name) for name in row.failed}


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
        machine.run(Case("x", "vegas2", 10, 5, cases.FIFO))


def test_unknown_cases_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["nothing"]) == 2
    assert "cubic/10mbit" in capsys.readouterr().err


def test_the_live_link_keeps_time_and_order() -> None:
    """1500 bytes at 10 Mbit/s take 1.2 ms, the way 20 ms (RFC 791 headers, so that the queue can tell flows)."""
    link = _core.LiveLink(_core.resolve(cases.CASES[1].scenario(), "case.toml", "toml", []), "bottleneck")
    packets = [struct.pack("!BBHHHBBH8s", 0x45, 0, 1500, i, 0, 64, 6, 0, bytes(8)) + bytes(1480) for i in range(3)]
    for packet in packets:
        link.offer(0, packet)
    assert link.next() == 1_200_000_000
    assert link.take(21_199_999_999) == []
    assert link.take(22_400_000_000) == packets[:2]
    assert link.take(10**12) == packets[2:]
    assert link.counters() == {"arrivals": 3, "departures": 3, "bytes": 4500, "drops": 0, "marks": 0, "lost": 0, "duplicates": 0}
    with pytest.raises(ValueError, match="no link"):
        _core.LiveLink(_core.resolve(cases.CASES[1].scenario(), "case.toml", "toml", []), "elsewhere")
