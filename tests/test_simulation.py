"""Runs in hand: pieces are the whole, looking changes nothing, a branch is its parent until it is changed.

What is known from outside: `fairlane.run` of the same scenario, its series, Student's t of differences.
"""

from __future__ import annotations

import copy
import json
import pickle
import signal
import threading

import pytest

import fairlane as fl
from conftest import ROOT

QUEUES = ["droptail", "red", "codel", "pie", "fq_codel", "drr", "sfq", "fred", "pi2", "cobalt"]


def network(queue="droptail", *, duration="12s", rate="2Mbit/s", loss=0.0, warmup="2s", **link) -> fl.Network:
    net = fl.Network(duration=duration, warmup=warmup, sample="100ms")
    net.link("a", "b", name="in", rate="100Mbit/s", delay="2ms")
    net.link("b", "c", name="out", rate=rate, delay="10ms", queue=queue, loss=loss, **link)
    net.flow("tcp", "a", "c", count=2, spread="100ms", tcp={"cc": "cubic"})
    return net.flow("udp", "a", "c", udp={}, source={"poisson": {"rate": "300kbit/s", "size": "500B"}})


def tables(result: fl.Result) -> dict:
    return {name: result.table(name).to_dict(as_series=False) for name in ("flows", "links", "network", "flow_series", "link_series")}


def same(a: fl.Result, b: fl.Result) -> None:
    assert a.fingerprints == b.fingerprints
    ours, theirs = tables(a), tables(b)
    assert json.dumps(ours) == json.dumps(theirs)
    # Not the events: where a run is looked at, a packet on a short way has one that it would not have had.
    assert [r["packet_hops"] for r in a.info] == [r["packet_hops"] for r in b.info]


def sums(net: fl.Network, sim: fl.Simulation) -> None:
    """Looks at everything."""
    for flow in sim.flows.values():
        assert flow.transport and repr(flow)
        assert flow.delivered >= 0
    for link in sim.links.values():
        queue = link.queue
        assert sum(n for n, _ in queue.flows.values()) == queue.packets
        assert sum(n for _, n in queue.flows.values()) == queue.bytes
        assert repr(queue) and link.in_flight >= 0


@pytest.mark.parametrize("queue", QUEUES)
def test_pieces_that_are_looked_at_are_the_whole(queue):
    net = network(queue, loss=0.002, jitter="2ms")
    whole = net.run(seed=3)
    sim = net.start(seed=3)
    while sim.time < 12:
        sim.advance("137ms" if sim.time < 11.5 else None)
        sums(net, sim)
        if sim.time > 2:
            assert sim.flows["tcp.0"].metrics
    same(sim.result(), whole)


@pytest.mark.parametrize("example", ["wireless_house", "time_slots", "classes", "reordering", "web"])
def test_pieces_of_examples(example):
    net = fl.Network.from_file(ROOT / "examples" / f"{example}.toml").replace("duration", "6s").replace("warmup", "1s")
    whole = net.run(seed=2)
    sim = net.start(seed=2)
    for _ in range(23):
        sim.advance("250ms")
        sums(net, sim)
    sim.advance()
    same(sim.result(), whole)


def test_a_result_before_the_end_is_that_of_a_shorter_scenario():
    sim = network("red").start(seed=5)
    sim.advance("7s")
    assert sim.fingerprint == network("red", duration="7s").run(seed=5).fingerprints[0]
    same(sim.result(), network("red", duration="7s").run(seed=5))
    assert sim.result().scenario["duration"] == "7s"
    sim.advance()
    same(sim.result(), network("red").run(seed=5))


def test_there_is_no_result_within_the_warm_up():
    sim = network().start()
    sim.advance("1s")
    with pytest.raises(fl.RunError, match="nothing has been measured yet: the warm-up lasts 2s"):
        sim.result()
    assert sim.links["out"].queue.packets >= 0


def test_what_a_flow_and_a_queue_show():
    net = network({"droptail": {"limit": "50p"}})
    sim = net.start(seed=1)
    assert sim.advance_until(lambda s: s.links["out"].queue.packets > 40, limit="10s")
    assert sim.links["out"].queue.packets > 40
    tcp = sim.flows["tcp.0"].tcp
    assert tcp.connection == "ESTABLISHED" and tcp.state in ("open", "disorder", "cwr", "recovery", "loss")
    assert tcp.segments_out * tcp.mss >= tcp.in_flight > 0
    assert tcp.in_flight <= tcp.cwnd + tcp.mss
    assert tcp.srtt > 0.024 and tcp.rto >= tcp.srtt and "w_max" in tcp.gauges and tcp.w_max == tcp["w_max"]
    assert sim.flows["udp"].transport.packets > 0
    with pytest.raises(fl.FairlaneError, match="'udp' does not use TCP"):
        _ = sim.flows["udp"].tcp
    assert sim.links["out"].rate == 2e6 and sim.links["out"].delay == 0.01
    series = net.run(seed=1).flow_series
    sim.advance(to="5s")
    row = series.filter((series["flow"] == "tcp.0") & (series["time"] == 5.0))
    assert row["cwnd"].item() == sim.flows["tcp.0"].tcp.cwnd
    with pytest.raises(fl.UnknownNameError, match="did you mean 'out'"):
        _ = sim.links["oot"]


def test_classes_of_a_scheduler_are_told():
    sim = fl.start(ROOT / "examples" / "classes.toml")
    assert sim.advance_until(lambda s: any(link.queue.classes for link in s.links.values()), step="100ms")


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda s: s.advance("0.5"), "0.5"),
        (lambda s: s.advance(2), "duration 2 has no unit"),
        (lambda s: s.advance("1h"), "the run ends at 12 s"),
        (lambda s: s.advance(to="1s"), "the time is 3 s already"),
        (lambda s: s.advance("1s", to="5s"), "not both"),
        (lambda s: s.advance_until(lambda _: False, step="0s"), "longer than 0"),
        (lambda s: s.branches(0), "at least one branch"),
        (lambda s: s.set("links.out.rate"), "'links.out.rate' has no value"),
        (lambda s: s.set("links.out.queue", "red", waiting="lose"), "waiting='move' or waiting='drop'"),
        (lambda s: network().start(seed=-1), "invalid seed"),
    ],
)
def test_mistakes_are_one_message(wrong, text):
    sim = network().start()
    sim.advance("3s")
    before = sim.fingerprint
    with pytest.raises(fl.FairlaneError) as e:
        wrong(sim)
    assert text in str(e.value)
    assert (sim.time, sim.fingerprint) == (3.0, before)


def test_a_branch_is_its_parent_until_it_is_changed():
    sim = network("red", loss=0.01).start(seed=2)
    sim.advance("5s")
    twin, other = sim.branch(), sim.branch()
    other.set("links.out.rate", "1Mbit/s")
    for s in (sim, twin, other):
        s.advance()
    assert sim.fingerprint == twin.fingerprint != other.fingerprint
    same(sim.result(), network("red", loss=0.01).run(seed=2))


def test_branches_have_futures_of_their_own_and_repeat():
    sim = network("red", loss=0.01).start(seed=2)
    sim.advance("5s")
    many = sim.branches(6)
    many.advance("4s", threads=2)
    again = sim.branches(6)
    again.advance("4s", threads=1)
    assert many.result().fingerprints == again.result().fingerprints
    assert len(set(many.result().fingerprints)) == 6
    assert many.result().seeds == [1, 2, 3, 4, 5, 6]
    assert many.result().value("utilisation", link="out").n == 6
    part = sim.branches(2, first=3)
    part.advance("4s")
    assert part.result().fingerprints == many.result().fingerprints[2:4]


def test_branches_of_a_scenario_without_chance_are_all_the_same():
    net = fl.Network(duration="9s").link("a", "b", rate="1Mbit/s", delay="5ms").flow("f", "a", "b", tcp={})
    sim = net.start()
    sim.advance("1s")
    many = sim.branches(3)
    many.advance()
    assert "same-runs" in [w.code for w in many.result().warnings]


def test_futures_are_compared_pair_by_pair():
    sim = network("red", loss=0.005, duration="20s").start(seed=1)
    sim.advance("5s")
    base = sim.branches(5)
    changed = base.branch()
    changed.set("links.out.rate", "4Mbit/s")
    base.advance()
    changed.advance()
    apart = base.compare(changed)
    row = apart.value("throughput", link="out")
    ours, theirs = (r.links.filter(r.links["link"] == "out")["throughput"].to_list() for r in (base.result(), changed.result()))
    from fairlane.stats import paired

    expected = paired(theirs, ours).difference
    assert row.difference.mean == pytest.approx(expected.value) and row.difference.low == pytest.approx(expected.low)
    assert row.difference.low > 1e6 and "BranchComparison(5 pairs" in repr(apart)
    assert apart.frame().height == len(apart.document()["differences"]) == len(apart.rows)
    one = base[0].compare(changed[0])
    assert one.value("throughput", link="out").difference.n == 1 and one.value("throughput", link="out").difference.low is None
    assert "no differences" in repr(base[0].compare(base[0].branch()))
    with pytest.raises(fl.FairlaneError, match="different random numbers"):
        base[0].compare(base[1])
    with pytest.raises(fl.FairlaneError, match="advance both"):
        sim.compare(sim_at(sim))
    with pytest.raises(fl.FairlaneError, match="equal set of branches"):
        base.compare("red")


def sim_at(sim: fl.Simulation) -> fl.Simulation:
    ahead = sim.branch()
    ahead.advance("1s")
    return ahead


def test_another_thread_runs_meanwhile_and_has_the_simulation_to_itself():
    sim = network(duration="600s", rate="50Mbit/s").start()
    thread = threading.Thread(target=sim.advance)
    thread.start()
    seen = []
    while thread.is_alive():
        try:
            seen.append(sim.time)
        except fl.RunError as e:
            seen.append(str(e))
    thread.join()
    assert any("another thread" in str(s) for s in seen) or len(seen) < 3
    assert sim.time == 600.0


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no alarm here")
def test_ctrl_c_stops_between_events_and_the_run_goes_on():
    net = network(duration="1000h", rate="50Mbit/s").replace("sample", "1h")

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        sim = net.start()
        with pytest.raises(KeyboardInterrupt):
            sim.advance()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    at = int(sim.time) + 1
    sim.advance(to=f"{at}s")
    fresh = net.start()
    fresh.advance(to=f"{at}s")
    assert fresh.fingerprint == sim.fingerprint


def test_the_clock_of_a_simulation_costs_no_more_than_the_run():
    """Not in seconds: no event for looking, and few for stopping, where packets that cross two links with one event are taken apart."""
    net = network("codel")
    sim, blind = net.start(seed=1), net.start(seed=1)
    for _ in range(120):
        sim.advance("100ms")
        blind.advance("100ms")
        assert sim.links["out"].queue.flows is not None
    assert sim.events == blind.events
    whole = net.run(seed=1).info[0]["events"]
    assert whole <= sim.events < whole + 120 * 8


def test_a_run_in_hand_is_copied_by_a_branch_and_says_why_it_is_not_pickled():
    sim = network().start(seed=1)
    sim.advance("2s")
    for twin in (copy.copy(sim), copy.deepcopy({"sim": sim})["sim"]):
        twin.advance("1s")
        assert (sim.time, twin.time) == (2.0, 3.0)
    for thing in (sim, [sim], sim.branches(2)):
        with pytest.raises(fl.FairlaneError, match=r"cannot be pickled.*\n.*branch\(\)"):
            pickle.dumps(thing)
    sim.advance("1s")
    assert sim.fingerprint == twin.fingerprint
