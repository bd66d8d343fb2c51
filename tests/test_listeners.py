"""Events delivered to listeners during a run: they are the rows of its event table for any listener, and change nothing."""

from __future__ import annotations

import signal

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fairlane as fl
from conftest import ROOT
from fairlane.runs.listeners import Event


def network(queue="red", *, duration="8s", **tcp) -> fl.Network:
    net = fl.Network(duration=duration, warmup="1s")
    net.link("a", "b", name="in", rate="100Mbit/s", delay="2ms")
    net.link("b", "c", name="out", rate="2Mbit/s", delay="10ms", queue=queue, loss=0.005, jitter="1ms")
    net.flow("tcp", "a", "c", count=2, spread="100ms", tcp={"ecn": "classic", **tcp})
    return net.flow("udp", "a", "c", udp={}, source={"poisson": {"rate": "300kbit/s", "size": "500B"}})


def heard(net, *kinds, pieces="8s", since="0s", batch=True, **where):
    """Returns the events that a listener receives of a run in pieces, as one table, and the run."""
    sim, parts = net.start(seed=3), []
    if since != "0s":
        sim.advance(since)
    sim.on(kinds, parts.append, batch=batch, **where)
    while sim.time < sim.duration:
        sim.advance(pieces if sim.time + float(pieces[:-1]) < sim.duration else None)
    if batch:
        return pl.concat(parts), sim
    return pl.DataFrame(parts, schema=Event._fields, orient="row", infer_schema_length=None), sim


EVERY = "enqueue,dequeue,arrive,drop,mark,send,retransmit,receive,timeout,window,state,gauge"


@pytest.mark.parametrize("queue", ["red", "codel", "fq_codel", {"drr": {"limit": "30p"}}])
def test_batches_are_the_event_table(queue):
    net = network(queue)
    table = net.run(seed=3, trace=EVERY).trace().collect().drop("seed")
    rows, sim = heard(net, EVERY, pieces="3s")
    assert {"drop", "send", "receive", "window", "gauge"} <= set(rows["event"])
    assert_frame_equal(rows, table)
    assert sim.fingerprint == net.run(seed=3).fingerprints[0]


def test_events_one_at_a_time_are_the_event_table_too():
    net = network(duration="3s")
    table = net.run(seed=3, trace=EVERY).trace().collect().drop("seed")
    rows, sim = heard(net, EVERY, pieces="1s", batch=False)
    assert_frame_equal(rows, table, check_dtypes=False)
    assert sim.fingerprint == net.run(seed=3).fingerprints[0]


@pytest.mark.parametrize("example", ["wireless_house", "web", "reordering"])
def test_listening_from_the_middle_on(example):
    """The rest of the table: packets are counted from then on, and gauges told once as they are."""
    net = fl.Network.from_file(ROOT / "examples" / f"{example}.toml").replace("duration", "4s").replace("warmup", "1s")
    names = [n for n in EVERY.split(",") if n not in ("gauge", "mark")]
    table = net.run(seed=3, trace=",".join(names)).trace().collect()
    rows, sim = heard(net, *names, since="2s")
    late = table.filter(pl.col("time_ps") > 2 * 10**12).drop("packet", "seed")
    assert late.height > 100
    assert_frame_equal(rows.drop("packet"), late)
    assert sim.fingerprint == net.run(seed=3).fingerprints[0]
    journey = rows.filter(pl.col("packet") == rows["packet"].max())
    assert journey["event"][0] == "send"


def test_filters_are_those_of_traces():
    net = network()
    whole = net.run(seed=3, trace=EVERY).trace().collect().drop("seed")
    for where, keep in [
        ({"link": "out"}, pl.col("link") == "out"),
        ({"flow": ["udp", "tcp.1"]}, pl.col("flow").is_in(["udp", "tcp.1"])),
        ({"flow": "tcp"}, pl.col("flow").is_in(["tcp.0", "tcp.1"])),
        ({"start": "2s", "stop": "3s"}, pl.col("time").is_between(2, 3)),
    ]:
        rows, _ = heard(net, "drop", "dequeue", "receive", **where)
        assert_frame_equal(rows, whole.filter(pl.col("event").is_in(["drop", "dequeue", "receive"]), keep))


def test_several_hear_each_their_own_and_packets_have_one_number():
    net = network()
    sim, drops, all_of_udp, late = net.start(seed=3), [], [], []
    sim.on("drop", drops.append, link="out")
    sim.on((), all_of_udp.append, flow="udp", batch=True)
    sim.advance("4s")
    with sim.on("drop", late.append, link="out") as third:
        assert third.on and len(sim.listeners) == 3
        sim.advance("2s")
    assert not third.on and len(sim.listeners) == 2
    sim.advance()
    table = net.run(seed=3, trace="drop link=out").trace().collect()
    assert [(e.time_ps, e.flow, e.packet) for e in drops] == list(zip(table["time_ps"], table["flow"], table["packet"], strict=True))
    assert late == [e for e in drops if 4 < e.time <= 6] != []
    udp = pl.concat(all_of_udp)
    assert set(udp["flow"]) == {"udp"} and "gauge" not in set(udp["event"])
    ours = {e.packet for e in drops if e.flow == "udp"}
    assert ours and ours == set(udp.filter(pl.col("event") == "drop", pl.col("link") == "out")["packet"])


def test_the_run_stands_still_at_the_instant_of_the_event():
    sim, seen = network({"droptail": {"limit": "20p"}}).start(seed=3), []

    def look(event):
        assert event.time == sim.time and event.event == "drop"
        assert sim.links["out"].queue.packets == event.queue_packets
        seen.append(event)

    sim.on("drop", look, link="out")
    sim.advance()
    assert len(seen) == sim.result().links.filter(pl.col("link") == "out")["drops_overflow"].item() + sum(
        e.time <= 1 or e.reason != "overflow" for e in seen
    )
    assert {"overflow", "link"} == {e.reason for e in seen}
    assert repr(seen[0]).startswith("Event(time=") and "cwnd" not in repr(seen[0])


def test_a_listener_may_change_and_branch_the_run():
    """At the first drop of the queue the rate doubles: as if that had been written for that instant."""
    net = network()
    sim, at, twins = net.start(seed=3), [], []

    def double(event):
        at.append(event.time_ps)
        listener.off()
        twins.append(sim.branch())
        sim.set("links.out.rate", "4Mbit/s")

    listener = sim.on("drop", double, link="out")
    sim.advance()
    assert len(at) == 1
    by_hand = net.start(seed=3)
    by_hand.advance(to=f"{at[0]}ps")
    by_hand.set("links.out.rate", "4Mbit/s")
    by_hand.advance()
    assert by_hand.fingerprint == sim.fingerprint
    twins[0].advance()
    assert twins[0].fingerprint == net.run(seed=3).fingerprints[0] and not twins[0].listeners


def test_what_a_listener_raises_stops_the_run_which_may_go_on():
    net = network()
    sim, seen = net.start(seed=3), []

    def fail_once(event):
        seen.append(event)
        if len(seen) == 3:
            raise KeyError("third")

    sim.on("dequeue", fail_once, link="out")
    with pytest.raises(KeyError, match="third"):
        sim.advance()
    assert sim.time == seen[-1].time < 1
    sim.advance()
    table = net.run(seed=3, trace="dequeue link=out").trace().collect()
    assert [e.time_ps for e in seen] == table["time_ps"].to_list()
    assert sim.fingerprint == net.run(seed=3).fingerprints[0]


def test_batches_that_were_refused_come_no_second_time_and_nothing_else_is_lost():
    net = network()
    sim, seen = net.start(seed=3), []

    def fail_once(rows):
        seen.append(rows)
        if len(seen) == 1:
            raise ValueError

    sim.on("dequeue", fail_once, batch=True)
    with pytest.raises(ValueError):
        sim.advance("2s")
    assert sim.time == 2.0
    sim.advance()
    table = net.run(seed=3, trace="dequeue").trace().collect().drop("seed")
    assert_frame_equal(pl.concat(seen), table)


def test_a_listener_cannot_go_on_with_its_own_run():
    sim = network().start(seed=3)
    sim.on("send", lambda _: sim.advance())
    with pytest.raises(fl.FairlaneError, match="cannot advance its own run"):
        sim.advance()


def test_branches_are_listened_to_each_by_itself():
    sim = network().start(seed=3)
    sim.advance("2s")
    many, seen = sim.branches(3), [[], [], []]
    for own, branch in zip(seen, many, strict=True):
        branch.on("drop", own.append, link="out")
    many.advance("3s", threads=2)
    quiet = sim.branches(3)
    quiet.advance("3s")
    assert quiet.result().fingerprints == many.result().fingerprints
    assert [len(own) > 0 for own in seen] == [True] * 3 and seen[0] != seen[1]


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no alarm here")
def test_ctrl_c_is_heard_while_somebody_listens():
    net = network(duration="1000h")
    sim, rows = net.start(seed=3), []
    sim.on("drop", rows.append, batch=True)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            sim.advance()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    at = f"{int(sim.time) + 1}s"
    sim.advance(to=at)
    fresh = net.start(seed=3)
    fresh.advance(to=at)
    assert fresh.fingerprint == sim.fingerprint
    found = pl.concat(rows)["time_ps"]
    assert found.is_sorted() and found.max() <= sim.time * 1e12


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda s: s.on("dorp", print), "did you mean `drop`"),
        (lambda s: s.on("drop", print, link="oot"), "did you mean `out`"),
        (lambda s: s.on("drop", print, flow="tpc"), "did you mean `tcp`"),
        (lambda s: s.on("drop", print, start="2"), "2"),
        (lambda s: s.on("drop", print, start=2), "the time 2 has no unit"),
        (lambda s: s.on("drop", "print"), "is not callable"),
        (lambda s: s.on([3], print), "3 is not a name"),
        (lambda s: s.off(s.branch().on("drop", print)), "has no listeners"),
    ],
)
def test_mistakes(wrong, text):
    sim = network().start(seed=3)
    with pytest.raises(fl.FairlaneError) as e:
        wrong(sim)
    assert text in str(e.value)
    assert not sim.listeners
