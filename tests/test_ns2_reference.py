"""fairlane against ns-2 2.35: the stored results of the reference cases, and, where ns-2 is installed, ns-2 itself."""

from __future__ import annotations

import math
import shutil
import sys
from pathlib import Path

import pytest

from fairlane.base.reference import scenario_schema

sys.path.insert(0, str(Path(__file__).parents[1]))

from validation.ns2 import cases, compare, measures, ours, peer, reference, tcl, trace
from validation.ns2.network import Unsupported, read
from validation.sides.judge import judge as judge_with

from fairlane.base.metrics import jain

QUICK = cases.select([], quick=True)


@pytest.mark.parametrize("case", QUICK, ids=lambda case: f"{case.family}/{case.name}")
def test_within_the_bounds_of_the_stored_results(case: cases.Case) -> None:
    recorded = reference.recorded(case)
    assert recorded is not None
    resolved, network = ours.resolve(case)
    rows = compare.from_runs(case, recorded, ours.run(case, resolved, network))
    wrong = [f"{row.measure.name}: ns-2 {row.peer}, fairlane {row.ours}" for row in rows if row.failed]
    assert not wrong, "; ".join(wrong)


@pytest.mark.skipif(shutil.which("ns") is None, reason="ns-2 is not installed")
@pytest.mark.parametrize("name", ["C1/Newreno", "C1/Sack1-ss60"])
def test_the_generated_script_gives_the_stored_numbers(name: str) -> None:
    """This ns-2 on the script made from our scenario: every digit of the stored table."""
    case = next(case for case in cases.catalogue() if f"{case.family}/{case.name}" == name)
    stored = reference.stored(case)
    assert stored is not None
    _, network = ours.resolve(case)
    measured = peer.run(network, case.watch, 0, windows=True)
    found = peer.with_sawtooth(peer.values(network, case.watch, measured), measured, network.duration)
    for measure, (value, _, _) in stored.items():
        assert found[measure] == pytest.approx(value, rel=1e-5), measure


@pytest.mark.skipif(shutil.which("ns") is None, reason="ns-2 is not installed")
@pytest.mark.parametrize("case", [case for case in QUICK if case.family == "Q1"], ids=lambda case: case.name)
def test_the_generated_script_gives_the_recorded_run(case: cases.Case) -> None:
    """The translated parameters of each queue give the recorded values: the first of its ten runs, every digit."""
    recorded = reference.recorded(case)
    assert recorded is not None
    network, seed = ours.network_of(case, case.peer_runs[0][0]), case.peer_runs[0][0]
    found = peer.values(network, case.watch, peer.run(network, case.watch, seed))
    for measure, value in recorded[0].items():
        assert found[measure] == pytest.approx(value, rel=1e-3 if measure.startswith("share.") else 1e-5), measure


def test_a_scenario_without_counterpart_is_refused_by_path() -> None:
    case = cases.select(["C1/Reno"])[0]
    changed = cases.Case(**{**case.__dict__, "sets": (*case.sets, ("flows.tcp.tcp.timestamps", "true"))})
    _, network = ours.resolve(changed)
    with pytest.raises(Unsupported, match=r"flows\.tcp\.tcp\.timestamps"):
        tcl.script(network, case.watch, 0)


def test_a_link_that_does_more_than_carry_is_refused() -> None:
    """Each parameter of a link is translated to ns-2 or rejected by name."""
    link = {"name": "x", "from": "a", "to": "b", "rate": "1Mbit/s", "delay": "1ms", "queue": "droptail"}
    tree = {"duration": "1s", "flows": {}, "expanded": {"nodes": ["a", "b"], "links": [link], "flows": []}}
    assert len(read(tree).links) == 1
    for key in scenario_schema()["$defs"]["Direction"]["properties"].keys() - link.keys():
        tree["expanded"]["links"] = [{**link, key: 0.5}]
        with pytest.raises(Unsupported, match=rf"links\.x\.{key}: not mapped"):
            read(tree)


TRACE = """\
+ 0 2 0 tcp 1000 ------- 0 2.0 3.0 0 10
- 0 2 0 tcp 1000 ------- 0 2.0 3.0 0 10
+ 0 2 0 tcp 1000 ------- 0 2.0 3.0 1 11
+ 1 2 0 tcp 1000 ------- 0 2.0 3.0 2 12
d 1 2 0 tcp 1000 ------- 0 2.0 3.0 2 12
- 2 2 0 tcp 1000 ------- 0 2.0 3.0 1 11
r 3 1 3 tcp 1000 ------- 0 2.0 3.0 0 10
0.50000  2  0  3  0  cwnd_ 4.000
F 0 1 3 0 0
END
"""


def test_recorded_runs_agree_with_the_reference_tables() -> None:
    """The runs recorded from our own scripts hold the results of the independent reference runs."""
    seen = 0
    for case in QUICK:
        recorded, stored = reference.recorded(case), reference.stored(case)
        assert recorded is not None
        assert stored is not None or case.family.startswith(("Q", "T")) or case.name.startswith("Vegas")
        if stored is None or case.peer_runs[0] != (0, 0.0):
            continue
        for measure, (value, _, runs) in stored.items():
            if runs == 1 and measure in recorded[0] and measure != "wait":
                # Trace times are rounded to a microsecond: it shows in queues that are nearly always empty. Shares have four digits.
                rel = 5e-4 if measure.startswith("share.") else 1e-4
                assert recorded[0][measure] == pytest.approx(value, rel=rel, abs=2e-3), (case.name, measure)
                seen += 1
    assert seen > 50


def test_trace_sums() -> None:
    """One packet waits from 0 s to 2 s, another is dropped at 1 s; the run lasts 4 s."""
    out = trace.read(TRACE.splitlines(), 4.0, ("2", "0"))
    queue, flow = out.queue, out.flows[0]
    assert out.complete
    assert queue.mean() == pytest.approx(0.5)
    assert queue.std() == pytest.approx(0.5)
    assert (queue.arrivals, queue.departures, queue.octets, queue.wait) == (3, 2, 2000, 2.0)
    assert (flow.received, flow.drops, flow.ack, flow.sent) == (1, 1, 1, 3)
    assert out.windows == [(0.5, 4.0)]


def test_sawtooth_of_a_known_wave() -> None:
    times = [k * 0.1 for k in range(1000)]
    wave = [50.0 + 10.0 * math.fmod(t, 5.0) for t in times]
    found = measures.sawtooth(times, wave)
    assert found == (pytest.approx(5.0), pytest.approx(99.0))
    assert measures.sawtooth(times, [50.0] * 1000) is None


def test_jain_and_shares() -> None:
    """One of four flows with all of it: 1/4; of 10 Mbit/s, 2 are 20 %."""
    assert jain([3.0, 3.0, 3.0]) == pytest.approx(1.0)
    assert jain([8.0, 0.0, 0.0, 0.0]) == pytest.approx(0.25)
    out = measures.with_shares({}, [2.0, 2.0, 5.0], 10.0, [True, True, False])
    assert out == {"jain": pytest.approx(1.0), "share.0": 20.0, "share.1": 20.0, "share.2": 50.0}


def test_the_share_row_shows_the_flow_that_differs_most() -> None:
    case = cases.select(["C3/cbr5/DRR"])[0]
    peer_runs = [{"share.0": 20.0, "share.1": 30.0}] * 2
    rows = compare.from_runs(case, peer_runs, [{"share.0": 21.0, "share.1": 36.0}])
    assert [(row.measure.name, row.difference, row.verdict) for row in rows] == [("share", pytest.approx(6.0), "DIFFERS")]


def test_random_starts_are_those_of_the_seed() -> None:
    """ns-2 gets the start times of our run with the same seed; each member within its 100 ms."""
    case = cases.select(["Q1/RED"])[0]
    starts = [[flow.start for flow in ours.network_of(case, seed).flows] for seed in (1, 2, 1)]
    assert starts[0] == starts[2] != starts[1]
    assert all(0.1 * k <= start < 0.1 * (k + 1) for run in starts for k, start in enumerate(run))


QUEUES = sorted({case.name.rsplit("/", 1)[-1] for case in cases.select(["C3", "Q1"])})


@pytest.mark.parametrize("queue", QUEUES)
def test_the_script_of_a_queue_names_its_class(queue: str) -> None:
    kinds = {"AVQ": "Vq", "ARED": "RED", "RIO": "RED/RIO", "WRED": "dsRED/edge", "RIO-C": "dsRED/edge", "RIO-D": "dsRED/edge"}
    case = next(case for case in cases.select(["C3", "Q1"]) if case.name.rsplit("/", 1)[-1] == queue)
    script = tcl.script(ours.network_of(case, 1), case.watch, 1)
    assert f"$ns simplex-link $n(0) $n(1) 10000000.0 0.02 {kinds.get(queue, queue)}\n" in script


def test_verdicts() -> None:
    measure = measures.BY_NAME["goodput"]
    interval = compare.interval
    judge = lambda peer, mine: judge_with(measures.NS2, "x", measure, interval(peer), interval(mine)).verdict  # noqa: E731
    assert judge([9.5], [9.59]) == "ok"
    assert judge([9.5], [9.7]) == "DIFFERS"
    assert judge([9.0, 9.5, 10.0], [9.7]) == "ok (interval)"
    assert judge([9.5], [9.4, 9.9, 9.8, 9.7]) == "ok (spread)"
    assert judge([9.5], [9.80, 9.81, 9.80, 9.81]) == "DIFFERS"
