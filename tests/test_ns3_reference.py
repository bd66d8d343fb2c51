"""fairlane against ns-3.37: the stored results, and, where ns-3 is installed, ns-3 itself."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from validation.ns3 import cases, compare, measures, ours, peer, reference, scenario
from validation.sides.judge import judge as judge_with

from fairlane.base.metrics import jain

QUICK = cases.select([], quick=True)


def case_of(title: str) -> cases.Case:
    return next(case for case in cases.catalogue() if case.title == title)


def ns3_is_missing() -> bool:
    try:
        peer.executable()
    except peer.PeerMissing:
        return True
    return False


@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.title)
def test_within_the_bounds_of_the_stored_results(case: cases.Case) -> None:
    stored = reference.stored(case)
    assert stored is not None
    rows = compare.rows(case, stored, ours.runs(case))
    wrong = [f"{row.measure.name}: ns-3 {row.peer}, fairlane {row.ours}" for row in rows if row.failed]
    assert not wrong, "; ".join(wrong)


@pytest.mark.parametrize("case", cases.select(["short"], quick=False), ids=lambda case: case.title)
def test_short_fifos_drop_to_the_packet_what_ns3_drops(case: cases.Case) -> None:
    """A few bytes of window decide if a full cycle loses one packet or two, so increments must be whole bytes or segments."""
    stored = reference.stored(case)
    assert stored is not None
    mine = ours.runs(case)[0]
    assert mine["drops"] == stored[0]["drops"]
    assert mine["queue_mean"] == pytest.approx(stored[0]["queue_mean"], rel=1e-3)


def test_drop_tail_follows_ns3_closely() -> None:
    """Without randomness in the queue the whole run can be compared with ns-3: losses and queue to 3 %."""
    case = case_of("N2/fifo-classic")
    stored = reference.stored(case)
    assert stored is not None
    mine = ours.runs(case)[0]
    assert mine["drops"] == pytest.approx(stored[0]["drops"], rel=0.03)
    assert mine["queue_mean"] == pytest.approx(stored[0]["queue_mean"], rel=0.03)


@pytest.mark.skipif(ns3_is_missing(), reason="ns-3 or a compiler is not installed")
def test_the_program_gives_the_reference_numbers() -> None:
    """Our ns-3 program and the independent one that made the reference tables agree in every digit where nothing is drawn."""
    case = case_of("N2/fifo-prr")
    stored = reference.stored(case)
    assert stored is not None
    found, reasons = peer.run(case, 1)
    for measure, value in stored[0].items():
        # The reference counts Jain's index over the time since each flow's start.
        if measure != "jain":
            assert found[measure] == pytest.approx(value, rel=1e-6), measure
    assert sum(reasons.values()) == found["drops"]


def test_every_stored_case_is_complete() -> None:
    for case in cases.catalogue():
        runs = reference.stored(case)
        if runs is None:
            assert case.family in ("N2", "N3"), case.title
            continue
        if case.jitter:
            assert len(runs) == case.runs, case.title
        for values in runs:
            # The reference tables have no marks: nothing marks there.
            assert all(measure.name in values for measure in measures.MEASURES if measure.name != "marks"), case.title
            rates = [values[f"flow.{i}"] for i in range(len(case.flows))]
            assert sum(rates) == pytest.approx(values["goodput_tcp"] + values["goodput_udp"], rel=1e-3)
            # Payload and headers together fit through the bottleneck.
            assert sum(rates) * 1e6 < case.rate and 0.0 < values["utilisation"] <= 100.01


def test_both_sides_draw_the_same_network() -> None:
    case = case_of("rtts/red")
    hosts = case.hosts(3)
    assert hosts == case.hosts(3) and hosts != case.hosts(4)
    text, script = scenario.ours(case, 3), scenario.peer(case, 3)
    for host, line in zip(hosts, [line for line in script.splitlines() if line.startswith("flow")], strict=True):
        _, kind, delay, start = line.split()
        assert (kind, round(float(delay) * 1e12), round(float(start) * 1e12)) == ("tcp", host.delay, host.start)
        assert f'delay = "{host.delay}ps"' in text and f'start = "{host.start}ps"' in text


OUTPUT = """\
utilisation 0.5
queue_mean 2.5
reason.Unforced drop 3
reason.(Dropped by child queue disc) Overlimit drop 4
drops 7
flow 0 tcp 2000000 5 1 2
flow 1 udp 1000000 2 0 0
flow 2 tcp 1000000 0 2 0
end
"""


def test_output_is_read() -> None:
    values, reasons = peer.read(OUTPUT)
    assert reasons == {"Unforced drop": 3, "(Dropped by child queue disc) Overlimit drop": 4}
    assert (values["utilisation"], values["drops"], values["timeouts"]) == (50.0, 7.0, 3.0)
    assert (values["goodput_tcp"], values["goodput_udp"], values["flow.1"]) == (3.0, 1.0, 1.0)
    assert values["jain"] == pytest.approx(0.9)
    with pytest.raises(peer.PeerFailed):
        peer.read(OUTPUT.removesuffix("end\n"))


def test_verdicts() -> None:
    measure = measures.MEASURES[1]

    def judge(theirs: list[float], mine: list[float], allowance: float = 1.0) -> str:
        return judge_with(measures.NS3, "x", measure, compare.interval(theirs), compare.interval(mine), allowance).verdict

    assert measure.name == "queue_mean"
    assert judge([10.0], [10.9]) == "ok"
    assert judge([10.0], [11.1]) == "DIFFERS"
    assert judge([10.0], [11.1], 2.0) == "explained"
    assert judge([10.0], [12.1], 2.0) == "DIFFERS"
    assert judge([8.0, 10.0, 12.0], [12.2]) == "ok (interval)"
    assert judge([10.0], [11.0, 12.0, 11.5, 11.2]) == "ok (spread)"
    assert jain([1.0, 0.0]) == 0.5 and math.isclose(jain([3.0, 3.0]), 1.0)
