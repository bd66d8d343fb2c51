"""The number of flows while the network runs: those that come are as if they had been written to begin then."""

from __future__ import annotations

import pytest

import fairlane as fl


def network(count=2, room=None, *, at=(), duration="20s", extra=None, queue="red", **flow) -> fl.Network:
    net = fl.Network(duration=duration, warmup="2s", sample="500ms")
    net.topology("dumbbell", pairs=6, access={"rate": "100Mbit/s", "delay": "2ms"},
                 bottleneck={"rate": "5Mbit/s", "delay": "10ms", "queue": queue})  # fmt: skip
    net.flow("web", "s{i}", "d{i}", count=count, tcp={"cc": "cubic"}, **flow, **({} if room is None else {"room": room}))
    net.flow("udp", "s0", "d0", udp={}, source={"poisson": {"rate": "300kbit/s", "size": "500B"}})
    for time, change in at:
        net._tree.setdefault("at", []).append({"time": time, "set": change})
    return net


def frames(result: fl.Result) -> dict[str, list]:
    return {t: result.table(t).to_dict(as_series=False) for t in ("flows", "links", "network", "flow_series", "link_series")}


CHANGES = [[("5s", 5)], [("5s", 1)], [("4s", 4), ("8s", 6), ("12s", 3)], [("2s", 3)], [("6s", 2)]]


@pytest.mark.parametrize("changes", CHANGES, ids=str)
@pytest.mark.parametrize("queue", ["red", "fq_codel"])
def test_by_hand_and_in_the_file(changes, queue):
    plain = network(room=6, at=[(t, {"flows.web.count": n}) for t, n in changes], queue=queue).run(seed=3)
    sim = network(room=6, queue=queue).start(seed=3)
    for t, n in changes:
        sim.advance(to=t)
        sim.set("flows.web.count", n)
    sim.advance()
    assert sim.fingerprint == plain.fingerprints[0]
    assert repr(frames(sim.result())) == repr(frames(plain))
    again = fl.Network(duration="1s")
    again._tree = dict(sim.result().description)
    assert again.run(seed=3).fingerprints == plain.fingerprints
    there = {f"web.{i}" for i in range(max([2, *(n for _, n in changes)]))}
    assert set(plain.flows["flow"]) == {*there, "udp"} == set(plain.flow_series["flow"])


def test_room_alone_is_no_flow():
    """Rows and means are those of the running flows: Jain's index and shares are those of two flows and UDP."""
    with_room, without = network(room=6).run(seed=1), network().run(seed=1)
    assert with_room.flows["flow"].to_list() == without.flows["flow"].to_list() == ["web.0", "web.1", "udp"]
    share = with_room.flows["share"].sum()
    assert share == pytest.approx(3.0)
    assert not [w for w in with_room.warnings if "delivered no data" in str(w)]
    assert [f.flow for f in network(room=6).run(why=True).why().flows.values()] == ["web.0", "web.1", "udp"]


def test_those_that_come_are_those_that_were_to_begin_then():
    """A group of its own with this start, in a network laid out alike, has the same future."""
    came = network(1, 2, at=[("6s", {"flows.web.count": 2})]).run(seed=2)
    found = network(2, stagger="6s").run(seed=2)
    assert came.fingerprints == found.fingerprints


def test_fewer_stop_and_more_begin_at_the_instant():
    sim = network(2, 4).start(seed=1)
    sim.advance("5s")
    assert sim.flows["web.3"].started is None
    with pytest.raises(fl.FairlaneError, match="does not exist yet"):
        _ = sim.flows["web.3"].metrics
    sim.set("flows.web.count", 4)
    sim.advance("1ms")
    assert sim.flows["web.3"].started == 5.0 == sim.flows["web.2"].started
    sim.advance("5s")
    sim.set("flows.web.count", 1)
    sim.advance("2s")
    done = {f: sim.flows[f].delivered for f in ("web.0", "web.1", "web.3")}
    sim.advance("4s")
    later = {f: sim.flows[f].delivered for f in done}
    assert later["web.0"] > done["web.0"] and later["web.1"] == done["web.1"] > 0 and later["web.3"] == done["web.3"] > 0


@pytest.mark.parametrize(
    ("sets", "text"),
    [
        ([5], "`web` has room for 4 flows, not for 5"),
        ([0], "0"),
    ],
)
def test_what_cannot_be(sets, text):
    sim = network(2, 4).start(seed=1)
    for n in sets[:-1]:
        sim.advance("2s")
        sim.set("flows.web.count", n)
    sim.advance("2s")
    before = sim.fingerprint
    with pytest.raises(fl.ScenarioError) as e:
        sim.set("flows.web.count", sets[-1])
    assert text in e.value.rendered and sim.fingerprint == before
    sim.advance()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"count": 3, "room": 2}, "`web` has room for 2 flows, not for 3"),
        ({"count": 2, "room": 9}, "unknown node `s6`"),
        ({"count": 2, "room": 4, "stop": "5s", "at": True}, "cannot start at 8s: the flows of its group stop at 5s"),
    ],
)
def test_mistakes_in_a_file(change, text):
    at = [("8s", {"flows.web.count": 3})] if change.pop("at", False) else []
    with pytest.raises(fl.ScenarioError) as e:
        network(change.pop("count"), change.pop("room"), at=at, **change).run()
    assert text in e.value.rendered


def test_a_lone_flow_without_room_keeps_its_name():
    assert network(1).run().flows["flow"].to_list()[0] == "web"
    sim = network(3).start(seed=1)
    sim.advance("3s")
    sim.set("flows.web.count", 1)
    sim.advance()
    assert sim.result().flows["flow"].to_list() == ["web.0", "web.1", "web.2", "udp"]
