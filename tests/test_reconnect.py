"""Flows that stop and reconnect: a new connection each time, through files and `set` alike.

From outside: a flow that begins for the first time at that instant; conservation of packets; sizes of files; tshark on a capture.
"""

from __future__ import annotations

import random

import pytest

import fairlane as fl
from test_pcap import BAD, fields, needs_tshark, tshark

SOURCES = {
    "bulk": {"tcp": {"cc": "cubic"}},
    "ns2": {"tcp": {"preset": "ns2", "cc": "vegas"}},
    "linux": {"tcp": {"preset": "linux", "cc": "bbr"}},
    "cookie": {"tcp": {"fast_open": "cookie"}},
    "web": {"tcp": {}, "source": "web"},
    "udp": {"udp": {}, "source": {"poisson": {"rate": "800kbit/s", "size": "500B"}}},
    "answers": {"udp": {}, "source": "request_response"},
    "asks": {"tcp": {}, "source": {"request_response": {"response": "40kB", "think": "20ms", "outstanding": 3}}},
    "tfrc": {"udp": {}, "source": {"tfrc": {}}},
}


def network(flow, at=(), *, duration="30s", limit="30p", rate="2Mbit/s", other=True, **options) -> fl.Network:
    net = fl.Network(duration=duration, warmup=options.pop("warmup", "0s"))
    net.link("a", "b", name="in", rate="100Mbit/s", delay="2ms")
    net.link("b", "c", name="out", rate=rate, delay="10ms", queue={"droptail": {"limit": limit}})
    net.flow("web", "a", "c", **{**flow, **options})
    if other:
        net.flow("other", "a", "c", tcp={}, start="1s")
    net._tree["at"] = [{"time": t, "set": s} for t, s in at]
    return net


@pytest.mark.parametrize("flow", SOURCES.values(), ids=list(SOURCES))
def test_on_and_off_in_a_file_is_on_and_off_by_hand(flow):
    """Any number of times, at once or with a later start, in pieces and in branches; the result runs again."""
    at = [
        ("5s", {"flows.web.stop": "5s"}),
        ("8s", {"flows.web.start": "9s"}),
        ("12s", {"flows.web.stop": "13s"}),
        ("13s", {"flows.web.start": "13s"}),
        ("20s", {"flows.web.stop": "20s"}),
        ("22s", {"flows.web.start": "24s", "flows.web.stop": "26s"}),
    ]
    whole = network(flow, at).run(seed=2)
    sim = network(flow).start(seed=2)
    for time, change in at:
        while sim.time < float(time[:-1]):
            sim.advance(to=f"{min(round(sim.time + 0.7, 6), float(time[:-1]))}s")
        sim = sim.branch()
        sim.set(change)
    sim.advance()
    assert sim.fingerprint == whole.fingerprints[0]
    result = sim.result()
    assert repr(result.flows.to_dict(as_series=False)) == repr(whole.flows.to_dict(as_series=False))
    again = fl.Network(duration="1s")
    again._tree = dict(result.description.items())
    assert again.run(seed=2).fingerprints == whole.fingerprints
    assert whole.fingerprints != network(flow).run(seed=2).fingerprints


@pytest.mark.parametrize("flow", SOURCES.values(), ids=list(SOURCES))
def test_a_stop_by_a_change_is_that_of_the_flow_itself(flow):
    """At both ends, if both write: data written until then is delivered, and nothing after it."""
    changed = network(flow, [("5.0137s", {"flows.web.stop": "5.0137s"})]).run(seed=3)
    own = network(flow, stop="5.0137s").run(seed=3)
    assert changed.fingerprints == own.fingerprints != network(flow).run(seed=3).fingerprints
    assert changed.flows.equals(own.flows, null_equal=True)


@pytest.mark.parametrize("flow", [SOURCES[k] for k in ("bulk", "ns2", "linux", "tfrc")], ids=["bulk", "ns2", "linux", "tfrc"])
def test_a_flow_that_begins_again_is_as_good_as_new(flow):
    """Nothing of the first connection is left: what comes is that of a flow which begins at that time for the first time, to the byte."""
    sim = network(flow, [("6s", {"flows.web.stop": "6s"}), ("7s", {"flows.web.start": "12s"})], other=False).start(seed=5)
    new = network(flow, start="12s", other=False).start(seed=5)
    sim.advance(to="11s")
    before = sim.flows["web"].delivered
    assert before > 1e5
    for time in ("12.5s", "14s", "20s", "30s"):
        sim.advance(to=time)
        new.advance(to=time)
        assert sim.flows["web"].delivered - before == new.flows["web"].delivered > 0
        assert sim.flows["web"].started == 12.0 == new.flows["web"].started
        if "tcp" in flow:
            assert sim.flows["web"].tcp.cwnd == new.flows["web"].tcp.cwnd
    # Counters continue.
    assert sim.flows["web"].metrics["packets_sent"] > new.flows["web"].metrics["packets_sent"]


@pytest.mark.parametrize("flow", SOURCES.values(), ids=list(SOURCES))
def test_packets_of_the_old_connection_are_carried_and_not_delivered(flow):
    """The flow reconnects while its queue is full of old packets: each is counted once, and no byte of them is delivered."""
    sim = network(flow, limit="60p", rate="500kbit/s").start(seed=3)
    sim.advance(to="10s")
    for _ in range(3):
        sim.set("flows.web.stop", f"{sim.time}s")
        sim.set("flows.web.start", f"{sim.time}s")
        sim.advance("2s")
    for name in ("web", "other"):
        sim.set(f"flows.{name}.stop", f"{sim.time}s")
    sim.advance()
    flows = sim.result().flows
    assert flows["packets_sent"].sum() == flows["packets_received"].sum() + flows["packets_lost"].sum()
    assert sim.links["out"].queue.packets == 0 == sim.links["out"].in_flight


def test_a_file_is_sent_again_whole_also_when_it_was_cut_short():
    file = {"tcp": {}, "source": {"file": {"size": "1MB"}}}
    first = network(file, other=False).run().flows["completion_time"][0]
    sim = network(file, other=False).start(seed=1)
    sim.advance(to="10s")
    assert sim.flows["web"].delivered == 1_000_000 and sim.flows["web"].completed == pytest.approx(first)
    sim.set("flows.web.stop", "10s")
    sim.set("flows.web.start", "10s")
    sim.advance("2s")
    cut = sim.flows["web"].delivered
    assert 1_100_000 < cut < 1_900_000 and sim.flows["web"].completed is None
    sim.set("flows.web.stop", "12s")
    sim.set("flows.web.start", "12s")
    assert sim.flows["web"].started is None
    sim.advance("1ms")
    assert sim.flows["web"].started == 12.0
    sim.advance()
    # No byte of the interrupted file replaces one of the next.
    assert sim.flows["web"].delivered == cut + 1_000_000
    row = sim.result().flows.row(0, named=True)
    assert first < row["completion_time"] < 1.5 * first, "the second waits behind what is left of the one before it"


def test_an_amount_is_asked_for_again():
    sim = network({"tcp": {}, "amount": "500kB"}, other=False).start()
    sim.advance(to="10s")
    done = sim.flows["web"].delivered
    assert sim.flows["web"].completed is not None and 500_000 <= done < 600_000
    sim.set("flows.web.stop", "10s")
    sim.set("flows.web.start", "12s")
    sim.advance(to="20s")
    assert sim.flows["web"].completed > 12 and 500_000 <= sim.flows["web"].delivered - done < 600_000


def test_members_go_and_come_back():
    """Members of a group stop and start, each in its turn, and by the number of flows."""
    net = fl.Network(duration="30s").dumbbell(pairs=4, bottleneck={"rate": "8Mbit/s", "delay": "10ms"})
    net.flow("web", "s{i}", "d{i}", count=4, tcp={}, stagger="500ms")
    sim = net.start(seed=1)
    sim.advance(to="5s")
    sim.set("flows.web.stop", "5s")
    sim.advance(to="7s")
    done = {f: sim.flows[f].delivered for f in ("web.0", "web.3")}
    sim.set("flows.web.start", "8s")
    sim.advance(to="9.2s")
    assert [sim.flows[f"web.{i}"].started for i in range(3)] == [8.0, 8.5, 9.0]
    sim.advance(to="12s")
    assert all(sim.flows[f].delivered > n for f, n in done.items())
    sim.set("flows.web.count", 1)
    sim.advance("2s")
    gone = sim.flows["web.3"].delivered
    sim.set("flows.web.count", 4)
    sim.advance("2s")
    assert sim.flows["web.3"].started == 14.0 and sim.flows["web.3"].delivered > gone
    assert sim.result().flows.height == 4


def test_shares_of_what_limits_it_add_up_to_one():
    at = [
        ("4s", {"flows.web.stop": "4s"}),
        ("6s", {"flows.web.start": "6s"}),
        ("9s", {"flows.web.stop": "9s"}),
        ("9s", {"flows.web.start": "15s"}),
    ]
    sim = network(SOURCES["bulk"], at, limit="4p").start(seed=1, why=True)
    sim.advance()
    result = sim.result()
    found = result.why().flows["web"]
    assert sum(share.mean for share in found.shares.values()) == pytest.approx(1, abs=1e-12)
    # It ran from 0 to 4 s, from 6 to 9 s and from 15 to 30 s, and each time a little longer, until what was sent had arrived.
    assert 22 <= found.seconds.mean < 24.5
    assert found.timeouts.mean == result.flows["timeouts"][0] > 0
    assert sum(1 for row in found.picoseconds if row["handshake"]) == 1 and found.picoseconds[0]["handshake"] >= 3 * 24e9


@pytest.mark.parametrize("flow", SOURCES.values(), ids=list(SOURCES))
def test_what_limits_it_adds_up_in_both_futures(flow):
    """A flow reconnects twice, with a branch in its first pause that differs: times add up to the picosecond in each."""
    at = [
        ("4s", {"flows.web.stop": "4s"}),
        ("6s", {"flows.web.start": "8s"}),
        ("9s", {"flows.web.stop": "9s"}),
        ("9s", {"flows.web.start": "15s"}),
    ]
    sim = network(flow, at).start(seed=2, why=True)
    sim.advance(to="7s")
    branch = sim.branch()
    branch.set("links.out.rate", "1Mbit/s")
    for future in (sim, branch):
        future.advance()
        found = future.result().why().flows["web"]
        assert sum(share.mean for share in found.shares.values()) == pytest.approx(1, abs=1e-12)
        assert sum(found.picoseconds[0].values()) == round(found.seconds.mean * 1e12)
        assert all(t >= 0 for t in found.picoseconds[0].values())
        # Connections of 4, 1 and 15 s, and what was still to be repaired in between; over UDP the pauses are its application's.
        assert 20 <= found.seconds.mean < 27 if "tcp" in flow else 29.9 < found.seconds.mean <= 30
    assert sim.fingerprint == network(flow, at).run(seed=2).fingerprints[0] != branch.fingerprint


@needs_tshark
def test_a_capture_has_a_connection_each_time(tmp_path):
    """The flow reconnects with old packets in flight: other ports, so tshark confuses no connections."""
    file = tmp_path / "c.pcapng"
    at = [
        ("5s", {"flows.web.stop": "5s"}),
        ("5s", {"flows.web.start": "5s"}),
        ("9s", {"flows.web.stop": "9s"}),
        ("12s", {"flows.web.start": "12s"}),
    ]
    result = network({"tcp": {"cc": "newreno"}}, at, duration="15s", other=False).run(pcap=fl.Pcap({"web": file}, snaplen=0))
    assert tshark(file, "-Y", BAD) == []
    opened = fields(file, "tcp.flags.syn == 1 && tcp.flags.ack == 0", "frame.time_relative", "tcp.stream", "tcp.seq_raw", "tcp.dstport")
    assert [(round(float(t)), s) for t, s, _, _ in opened] == [(0, "0"), (5, "1"), (12, "2")]
    assert len({n for _, _, n, _ in opened}) == 3 == len({p for *_, p in opened})
    assert tshark(file, "-Y", "tcp.analysis.reused_ports || tcp.analysis.ack_lost_segment") == []
    again = tshark(file, "-Y", "(tcp.analysis.retransmission || tcp.analysis.out_of_order) && tcp.flags.syn == 0")
    assert len(again) == result.flows["retransmits"][0]
    assert len(fields(file, "frame.p2p_dir == 0 && tcp.len > 0", "frame.number")) == result.flows["packets_sent"][0]


@needs_tshark
@pytest.mark.parametrize("source", [SOURCES["asks"], SOURCES["web"]], ids=["asks", "web"])
def test_both_ends_of_a_dialogue_stop_and_begin_afresh(source, tmp_path):
    """Both say that they close, connections begin with a request, no byte is acknowledged that was not sent, and packets are conserved."""
    file = tmp_path / "c.pcapng"
    at = [("5s", {"flows.web.stop": "5s"}), ("8s", {"flows.web.start": "9s"}), ("13s", {"flows.web.stop": "13s"})]
    result = network(source, at, duration="20s", other=False).run(pcap=fl.Pcap({"web": file}, snaplen=0))
    assert tshark(file, "-Y", BAD) == []
    ends = fields(file, "tcp.flags.fin == 1", "tcp.stream", "frame.p2p_dir", "frame.time_relative")
    assert {(stream, way) for stream, way, _ in ends} == {(s, w) for s in "01" for w in ("0", "1")}
    # Times are from the first packet on, which comes 12 ms after the beginning.
    assert all(4.98 < float(t) < 8 if stream == "0" else float(t) > 12.98 for stream, _, t in ends), ends
    data = fields(file, "tcp.len > 0", "tcp.stream", "frame.time_relative", "frame.p2p_dir")
    # A flow's sender answers: the first data of each connection comes in.
    assert [next(way for stream, _, way in data if stream == s) for s in "01"] == ["1", "1"]
    assert 8.98 < min(float(t) for stream, t, _ in data if stream == "1") < 9.2
    assert tshark(file, "-Y", "tcp.analysis.ack_lost_segment || tcp.analysis.reused_ports") == []
    assert result.flows["transactions"][0] > 0
    assert result.flows["packets_sent"].sum() == result.flows["packets_received"].sum() + result.flows["packets_lost"].sum()


def test_when_a_flow_pauses_may_be_a_factor_of_a_study(tmp_path):
    """Levels set times of a change, or all changes; each cell is the run of the scenario with these, and a flow that pauses gets less."""
    net = network(SOURCES["bulk"], [("5s", {"flows.web.stop": "5s"}), ("6s", {"flows.web.start": "8s"})], duration="20s")
    pauses = {
        "none": [],
        "twice": [{"time": t, "set": {f"flows.web.{k}": t}} for t, k in (("3s", "stop"), ("7s", "start"), ("9s", "stop"))],
    }
    levels = {"short": {'at.1.set."flows.web.start"': "8s"}, "long": {'at.1.set."flows.web.start"': "12s"}}
    levels |= {name: {"at": at} for name, at in pauses.items()}
    study = fl.Study(net, factors={"pause": {"levels": levels}}, seeds=[3, 4], metrics={"got": "flows.web.goodput"}).run(tmp_path / "s")
    got = {(row["pause"], row["seed"]): row["got"] for row in study.runs().iter_rows(named=True)}
    for name, sets in levels.items():
        alone = network(SOURCES["bulk"], duration="20s")
        if "at" in sets:
            alone._tree["at"] = sets["at"]
        else:
            start = next(iter(sets.values()))
            alone._tree["at"] = [{**net._tree["at"][0]}, {"time": "6s", "set": {"flows.web.start": start}}]
        plain = alone.run(seeds=[3, 4])
        for seed, goodput in zip((3, 4), plain.flows.filter(flow="web")["goodput"], strict=True):
            assert got[name, seed] == goodput
    for seed in (3, 4):
        assert got["none", seed] > got["short", seed] > got["long", seed] > got["twice", seed] > 0


def test_flows_are_switched_off_and_on_again():
    """Also at times that are no whole nanoseconds, where steps by packet end; both futures of a branch have switches of their own."""
    from fairlane.base.scenario import checked
    from fairlane.watch.requests import InvalidRequest, Session
    from fairlane.watch.topology import expanded, network_model

    net = fl.Network(duration="9s").link("a", "b", rate="20Mbit/s", delay="5ms", queue={"droptail": {"limit": "200p"}}, name="l")
    net.flow("f", "a", "b", tcp="newreno", count=2)
    net.flow("late", "a", "b", tcp="newreno", start="8s").flow("udp", "a", "b", udp={}, source="cbr")
    sim = net.start()
    asked = Session(sim, network_model(sim, expanded(checked(net).json()), ""))

    def switch(group, on, future=0):
        asked.do({"op": "flow", "group": group, "on": on, "future": future})

    def runs(future=0):
        return {g for g, on in asked.do({"op": "knobs", "link": "l", "future": future})[1]["flows"].items() if on}

    sim._core.advance(1_000_000_000_123)
    for group, on, words in (("f", True, "run already"), ("late", False, "are not running")):
        with pytest.raises(InvalidRequest, match=words):
            switch(group, on)
    assert runs() == {"f", "udp"}
    switch("f", False)
    switch("udp", False)
    switch("late", True)
    assert runs() == {"late"}
    asked.do({"op": "branch"})
    branch = asked._futures[1]
    for k in range(3):
        for future in asked._futures:
            future.advance(to=f"{2 + k}s")
        before = {f: sim.flows[f].delivered for f in ("f.0", "f.1", "udp")}
        for group in ("f", "udp"):
            switch(group, True)
        assert runs() == {"f", "udp", "late"} and runs(1) == {"late"}
        sim.advance("500ms")
        assert all(sim.flows[f].delivered > n for f, n in before.items())
        for group in ("f", "udp"):
            switch(group, False)
    assert sim.flows["late"].started == pytest.approx(1, abs=1e-9)
    assert branch.flows["f.0"].delivered < sim.flows["f.0"].delivered
    sim.advance()


@pytest.mark.parametrize("control", ["time_slots", "congestion_signal"])
def test_a_flow_under_a_control_begins_again(control):
    def net(at=()):
        made = fl.Network(duration="20s").link("a", "b", rate="2Mbit/s", delay="10ms", queue={"droptail": {"limit": "20p"}}, name="out")
        made.flow("web", "a", "b", tcp={}, count=2, class_=[1, 2]).flow(
            "udp", "a", "b", udp={}, class_=3, source={"cbr": {"rate": "300kbit/s", "size": "500B"}}
        )
        made._tree["control"] = {control: {"slot": "200ms", "slots": [1] * 6} if control == "time_slots" else {"clear": "1s"}}
        made._tree["at"] = [{"time": t, "set": s} for t, s in at]
        return made

    at = [("4s", {"flows.web.stop": "4s", "flows.udp.stop": "4s"}), ("7s", {"flows.web.start": "7s", "flows.udp.start": "8s"})]
    whole = net(at).run(seed=1)
    sim = net().start(seed=1)
    for time, change in at:
        sim.advance(to=time)
        sim.set(change)
    before = {f: sim.flows[f].delivered for f in ("web.0", "web.1", "udp")}
    sim.advance()
    assert sim.fingerprint == whole.fingerprints[0]
    assert all(sim.flows[f].delivered > n > 0 for f, n in before.items())


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ([("5s", {"flows.web.start": "7s"})], "stop it first, with flows.web.stop"),
        ([("5s", {"flows.web.stop": "5s"}), ("6s", {"flows.web.stop": "7s"})], 'flows.web.start = "6s", or later'),
        ([("5s", {"flows.web.stop": "5s"}), ("6s", {"flows.web.start": "4s"})], "cannot start at 4s: the time is 6s"),
        ([("5s", {"flows.web.stop": "5s"}), ("6s", {"flows.web.start": "0s"})], "has stopped at 5s"),
        ([("5s", {"flows.web.stop": "5s"}), ("6s", {"flows.web.start": "40s"})], "starts at 40s, the run ends at 30s"),
        ([("5s", {"flows.web.stop": "5s"}), ("6s", {"flows.web.start": "9s", "flows.web.stop": "8s"})], "stops at 8s, but starts at 9s"),
        ([("5s", {"flows.web.stop": "5s"}), ("6s", {"flows.web.start": "9s"}), ("7s", {"flows.web.stop": "6s"})], "starts at 9s"),
    ],
)
def test_what_cannot_be_is_said_with_what_can(changes, text):
    with pytest.raises(fl.ScenarioError) as e:
        network(SOURCES["bulk"], changes).run()
    assert text in e.value.rendered, e.value.rendered
    sim = network(SOURCES["bulk"]).start(seed=1)
    for time, change in changes[:-1]:
        sim.advance(to=time)
        sim.set(change)
    sim.advance(to=changes[-1][0])
    before = sim.fingerprint
    with pytest.raises(fl.ScenarioError) as e:
        sim.set(changes[-1][1])
    assert text in e.value.rendered and sim.fingerprint == before
    sim.advance()


@pytest.mark.parametrize("seed", range(8))
def test_random_changes_in_pieces_are_those_in_one_piece(seed):
    """Flows on and off, and whatever else may change, at random instants; branches that were left behind make no difference."""
    rng = random.Random(seed)
    flow = rng.choice(list(SOURCES.values()))
    at, on, now = [], True, 0.0
    while (now := round(now + rng.expovariate(0.5) + 0.001, 3)) < 28:
        kind = rng.randrange(4)
        if kind == 0:
            at.append((f"{now}s", {"links.out.rate": f"{rng.randrange(300, 5000)}kbit/s"}))
        elif kind == 1:
            at.append((f"{now}s", {"links.out.queue": rng.choice(["codel", "red", "fq_codel", "pie", "droptail"])}))
        elif on:
            at.append((f"{now}s", {"flows.web.stop": f"{now}s"}))
            on = False
        else:
            at.append((f"{now}s", {"flows.web.start": f"{now}s"}))
            on = True
    whole = network(flow, at, warmup="3s").run(seed=seed + 1)
    sim = network(flow, at, warmup="3s").start(seed=seed + 1)
    while sim.time < 30:
        sim.advance(to=f"{min(30, round(sim.time + rng.choice([0.001, 0.013, 0.7, 3]), 3))}s")
        left = sim.branch()
        if rng.random() < 0.2:
            left.advance()
        assert sim.branch().fingerprint == sim.fingerprint
    assert sim.fingerprint == whole.fingerprints[0]
    assert repr(sim.result().flows.to_dict(as_series=False)) == repr(whole.flows.to_dict(as_series=False))
