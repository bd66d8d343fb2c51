"""Changes while the network runs: `[[at]]` and `set` are the same; packets are conserved; what may not change is refused with its place.

From outside: `rates` of a link, which say the same in another way; conservation of packets; the arithmetic of delays.
"""

from __future__ import annotations

import itertools

import pytest

import fairlane as fl

CHANGES = [
    {"links.out.rate": "1Mbit/s"},
    {"links.out.rate": "8Mbit/s"},
    {"links.out.delay": "40ms"},
    {"links.out.delay": "1ms"},
    {"links.out.loss": 0.05},
    {"links.out.loss": {"gilbert_elliott": {"p": 0.01, "r": 0.3}}, "links.out.duplicate": 0.01},
    {"links.out.queue": "codel"},
    {"links.out.queue": "pie"},
    {"links.out.queue": "fq_codel"},
    {"links.out.queue": {"droptail": {"limit": "3p"}}},
    {"links.out.queue": {"tbf": {"rate": "1Mbit/s", "burst": "3000B"}}},
    {"links.out.queue": "drr", "links.out.rate": "3Mbit/s", "links.out.delay": "5ms"},
    {"flows.udp.stop": "6s"},
    {"flows.udp.stop": "5s"},
    {"flows.late.start": "6s"},
]


def network(queue="red", at=(), duration="12s", stop=None, **link) -> fl.Network:
    net = fl.Network(duration=duration, warmup="2s", sample="100ms")
    net.link("a", "b", name="in", rate="100Mbit/s", delay="2ms")
    net.link("b", "c", name="out", **{"rate": "2Mbit/s", "delay": "10ms", "queue": queue, **link})
    net.flow("tcp", "a", "c", count=2, spread="100ms", tcp={"cc": "cubic"}, stop=stop)
    net.flow("udp", "a", "c", udp={}, source={"poisson": {"rate": "300kbit/s", "size": "500B"}}, stop=stop)
    net.flow("late", "a", "c", tcp={}, start="8s", stop=stop)
    return changing(net, at)


def changing(net: fl.Network, at) -> fl.Network:
    for time, change in at:
        net._tree.setdefault("at", []).append({"time": time, "set": change})
    return net


def frames(result: fl.Result) -> dict[str, list]:
    return {t: result.table(t).to_dict(as_series=False) for t in ("flows", "links", "network", "flow_series", "link_series")}


@pytest.mark.parametrize("change", CHANGES, ids=lambda c: ",".join(f"{k.split('.')[-1]}={v}" for k, v in c.items())[:40])
@pytest.mark.parametrize("queue", ["red", "fq_codel", "pie"])
def test_a_change_in_the_file_is_a_change_by_hand(queue, change):
    plain = network(queue, [("5s", change)]).run(seed=3)
    sim = network(queue).start(seed=3)
    sim.advance("5s")
    same = sim.branch()
    sim.set(change)
    sim.advance("3s")
    sim.advance()
    assert sim.fingerprint == plain.fingerprints[0]
    assert repr(frames(sim.result())) == repr(frames(plain))
    # The result has the change, and runs again.
    again = sim.result()
    assert again.scenario["at"][0]["time"] == "5s"
    same.advance()
    assert same.fingerprint == network(queue).run(seed=3).fingerprints[0]
    assert (same.fingerprint != sim.fingerprint) or change == {"links.out.queue": queue}


def test_several_changes_and_those_of_the_file_come_in_their_order():
    file = [("4s", {"links.out.rate": "1Mbit/s"}), ("8s", {"links.out.queue": "codel"})]
    whole = network(at=[*file[:1], ("6s", {"links.out.delay": "30ms"}), *file[1:]]).run(seed=1)
    sim = network(at=file).start(seed=1)
    sim.advance("6s")
    sim.set("links.out.delay", "30ms")
    sim.advance()
    assert sim.fingerprint == whole.fingerprints[0]
    assert sim.scenario["links"]["out"]["delay"] == "30ms" and "codel" in sim.scenario["links"]["out"]["queue"]
    again = fl.Network(duration="1s")
    again._tree = {k: v for k, v in sim.result().description.items()}
    assert again.run(seed=1).fingerprints == whole.fingerprints


def test_changes_of_one_instant_come_one_after_the_other():
    """Events that a change causes at its instant happen before the next change, in a file as by hand."""

    def net(at=()) -> fl.Network:
        net = fl.Network(duration="7s", warmup="1s")
        net.link("a", "b", name="line", rate="1Mbit/s", delay="1ms")
        net.flow("more", "a", "b", count=1, room=3, start="150ms", tcp={}, source={"file": {"size": "3kB"}})
        return changing(net, at)

    file = [("5s", {"flows.more.count": 3}), ("5s", {"links.line.delay": "9ms"}), ("5s", {"links.line.queue": "ared"})]
    whole = net(file).run(seed=1)
    for pause in (False, True):
        sim = net().start(seed=1)
        sim.advance("5s")
        for time, change in file:
            sim.set(change)
            if pause:
                sim.advance(to=time)
        sim.advance()
        assert sim.fingerprint == whole.fingerprints[0]
    # All together are another run: the first packets of the new flows have the new delay.
    together = {**file[0][1], **file[1][1], **file[2][1]}
    assert net([("5s", together)]).run(seed=1).fingerprints != whole.fingerprints


def test_a_change_that_those_of_the_file_do_not_fit_is_refused():
    file = [("3s", {"links.in.rate": "9Mbit/s"}), ("8s", {"flows.udp.stop": "9s"})]
    sim = network(at=file).start(seed=1)
    sim.advance("2s")
    before = sim.scenario
    with pytest.raises(fl.ScenarioError, match="the change at 8s does not fit any more: flow `udp` has stopped at 5s"):
        sim.set("flows.udp.stop", "5s")
    assert sim.scenario == before
    # One that leaves them as they are, one of the same link, and one of anything.
    for change in ({"links.out.rate": "1Mbit/s"}, {"links.in.delay": "3ms"}, {"flows.udp.stop": "10s"}):
        sim.set(change)
    sim.advance()
    own = [("2s", {"links.out.rate": "1Mbit/s"}), ("2s", {"links.in.delay": "3ms"}), ("2s", {"flows.udp.stop": "10s"})]
    assert sim.fingerprint == network(at=[*own, *file]).run(seed=1).fingerprints[0]


def test_a_rate_that_changes_is_that_of_rates():
    """Both ways to say it, also with an outage in which a packet is stuck, and with several steps."""
    steps = [("3s", "500kbit/s"), ("4.0003s", "0bit/s"), ("5s", "1Mbit/s"), ("7s", "4Mbit/s")]
    rates = [{"at": t, "rate": r} for t, r in steps]
    by_rates = network("droptail", rates=rates).run(seed=2)
    sim = network("droptail").start(seed=2)
    for t, r in steps:
        sim.advance(to=t)
        if r == "0bit/s":
            continue
        sim.set("links.out.rate", r)
    sim.advance()
    plain = network("droptail", rates=[r for r in rates if r["rate"] != "0bit/s"]).run(seed=2)
    assert sim.fingerprint == plain.fingerprints[0] != by_rates.fingerprints[0]
    mine, theirs = (r.links.filter(r.links["link"] == "out") for r in (sim.result(), plain))
    assert mine["utilisation"].item() == pytest.approx(theirs["utilisation"].item(), rel=1e-12)


def test_a_rate_near_zero_lets_go_again():
    sim = network("droptail").start(seed=2)
    sim.advance("3s")
    sim.set("links.out.rate", "1bit/s")
    sim.advance("2s")
    stuck = sim.flows["udp"].delivered
    sim.set("links.out.rate", "2Mbit/s")
    sim.advance("100ms")
    assert sim.flows["udp"].delivered > stuck, "the packet in transmission continues at the new rate"
    assert sim.links["out"].rate == 2e6


@pytest.mark.parametrize("waiting", ["move", "drop"])
@pytest.mark.parametrize("change", CHANGES[:12], ids=lambda c: ",".join(f"{k.split('.')[-1]}={v}" for k, v in c.items())[:40])
def test_packets_and_bytes_are_conserved(change, waiting):
    """Everything stops long before the end: what was sent has arrived, or was dropped, each packet once."""
    net = network({"droptail": {"limit": "40p"}}, duration="40s", stop="12s").replace("warmup", "0s")
    sim = net.start(seed=4)
    sim.advance_until(lambda s: s.time > 4 and s.links["out"].queue.packets > 10)
    queue = sim.links["out"].queue
    before, held = queue.packets, queue.flows
    sim.set(change, waiting=waiting)
    after = sim.links["out"].queue
    dropped = sim.links["out"].metrics["drops"]
    sim.advance()
    flows = sim.result().flows
    sent, received, lost = (flows[column].sum() for column in ("packets_sent", "packets_received", "packets_lost"))
    if "duplicate" not in str(change):
        assert sent == received + lost
    assert sim.links["out"].queue.packets == 0 and sim.links["out"].in_flight == 0
    replaced = any("queue" in k for k in change)
    if replaced and waiting == "drop":
        assert after.packets == 0 and dropped >= before
    elif "3p" not in str(change):
        assert after.packets <= before and set(after.flows) <= set(held)
        if not replaced:
            assert after.packets == before


def test_no_packet_overtakes_where_the_delay_becomes_shorter():
    """A link without reordering stays one: sequence numbers of a UDP stream arrive in order across the change."""
    pytest.importorskip("pyarrow")
    net = fl.Network(duration="4s").link("a", "b", name="out", rate="8Mbit/s", delay="500ms")
    net.flow("udp", "a", "b", udp={}, source={"cbr": {"rate": "400kbit/s", "size": "500B"}})
    net._tree["at"] = [{"time": "2s", "set": {"links.out.delay": "10ms"}}]
    arrivals = net.run(trace="event=receive").trace().collect()
    assert arrivals["packet"].to_list() == sorted(arrivals["packet"].to_list())
    gaps = arrivals["time"].to_list()
    # Sent every 10 ms up to 2 s with 500 ms: the last arrives at 2.5 s; then those of 490 ms at once, and after that each with 10 ms.
    assert sum(1 for t in gaps if 2.495 < t < 2.505) > 40
    late = [t for t in gaps if t > 2.6]
    assert all(abs(b - a - 0.01) < 1e-9 for a, b in itertools.pairwise(late))


def test_a_new_timer_runs_and_the_old_one_is_gone():
    """PIE's probability moves only through its timer (RFC 8033 section 4.2); DropTail has none."""
    net = network("droptail", at=[("3s", {"links.out.queue": {"pie": {"target": "5ms"}}}), ("8s", {"links.out.queue": "droptail"})])
    series = net.run(seed=1).link_series.filter(fl_link("out"))
    p = series.filter((series["time"] > 4) & (series["time"] < 8))["drop_prob"].to_list()
    assert len(set(p)) > 5 and max(p) > 0
    assert all(x != x for x in series.filter(series["time"] > 8.05)["drop_prob"].to_list())


def fl_link(name):
    import polars as pl

    return pl.col("link") == name


FILE = """
duration = "12s"
[links.out]
from = "a"
to = "b"
rate = "2Mbit/s"
delay = "10ms"
[flows.web]
from = "a"
to = "b"
tcp = "cubic"
stop = "9s"
[[at]]
time = "{time}"
set = {set}
"""


@pytest.mark.parametrize(
    ("time", "change", "text"),
    [
        ("5s", '{ "duration" = "20s" }', "`duration` cannot change while the network runs"),
        ("5s", '{ "flows.web.tcp" = "reno" }', "`flows.web.tcp` cannot change"),
        ("5s", '{ "flows.web.count" = 3 }', "`web` has room for 1 flow, not for 3"),
        ("5s", '{ "links.out.jitter" = "1ms" }', "`links.out.jitter` cannot change"),
        ("5s", '{ "links.out.rate" = "2 parsecs" }', "parsecs"),
        ("5s", '{ "links.out.queue" = "rde" }', "red"),
        ("5s", '{ "links.oot.rate" = "1Mbit/s" }', "oot"),
        ("20s", '{ "links.out.rate" = "1Mbit/s" }', "the run ends at 12s"),
        ("5s", '{ "flows.web.start" = "7s" }', "has started"),
        ("5s", '{ "flows.web.stop" = "2s" }', "cannot stop at 2s: the time is 5s"),
        ("5s", '{ "flows.web.stop" = "11s" }', "earlier, not later"),
        ("10s", '{ "flows.web.stop" = "11s" }', "has stopped at 9s"),
        ("5s", '{ "links.out.queue" = "modred" }', "rewrites receive windows"),
    ],
)
def test_what_may_not_change_is_refused_with_its_place(tmp_path, time, change, text):
    path = tmp_path / "x.toml"
    path.write_text(FILE.format(time=time, set=change))
    with pytest.raises(fl.ScenarioError) as e:
        fl.start(path)
    first = e.value.diagnostics[0]
    assert text in e.value.rendered, e.value.rendered
    assert first["file"].endswith("x.toml") and first["line"] >= 14, e.value.rendered
    if "the run ends at" in text or "set" not in change:
        return
    sim = fl.start(path, sets=[("at", "[]")])
    sim.advance(to=time if time != "20s" else "5s")
    before = sim.fingerprint
    key, _, value = change.strip("{} ").partition(" = ")
    if time != "20s":
        with pytest.raises(fl.ScenarioError) as e:
            sim.set(key.strip('"'), value.strip('"'))
        assert text in e.value.rendered
    assert sim.fingerprint == before


def test_a_refusal_lists_what_may_change():
    sim = network().start()
    sim.advance("1s")
    with pytest.raises(fl.ScenarioError, match=r"rate, delay, loss, duplicate and queue .* start and stop of flows"):
        sim.set("flows.tcp.tcp", "reno")


def test_changes_out_of_order_and_unknown_keys_are_errors(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(FILE.format(time="5s", set='{ "links.out.rate" = "1Mbit/s" }') + '[[at]]\ntime = "4s"\nset = {}\n')
    with pytest.raises(fl.ScenarioError, match="in order of time"):
        fl.start(path)
    path.write_text(FILE.format(time="5s", set='{ "links.out.rate" = "1Mbit/s" }') + 'wating = "drop"\n')
    with pytest.raises(fl.ScenarioError, match="waiting"):
        fl.start(path)


def test_plain_scenarios_do_not_know_of_changes():
    assert "at" not in network().resolve()


PATHS = [
    ("flows.nope.start", "5s", "unknown-flow", "unknown flow `nope`", "flows: tcp, udp, late"),
    ("flows.lat.start", "5s", "unknown-flow", "unknown flow `lat`", "did you mean `late`?"),
    ("flows.nope.from", "a", "unknown-flow", "unknown flow `nope`", "flows: "),
    ("flows.nope", "{ stop = '5s' }", "unknown-flow", "unknown flow `nope`", "flows: "),
    ("flows.tcp.0.stop", "5s", "unknown-flow", "the flows of `tcp` can only change together", "write flows.tcp"),
    ('flows."tcp.0".stop', "5s", "unknown-flow", "the flows of `tcp` can only change together", "write flows.tcp"),
    ("flows.tcp[0].stop", "5s", "unknown-flow", "the flows of `tcp` can only change together", "write flows.tcp"),
    ("flows.tcp.nope", "5s", "unknown-key", "unknown key `nope`", "known keys: from"),
    ("flows.tcp.stop", "5Mbit", "bad-quantity", 'unknown unit "Mbit"', "units are "),
    ("flow.tcp.stop", "5s", "unknown-key", "unknown key `flow`", "did you mean `flows`?"),
    ("links.nope.rate", "1Mbit/s", "unknown-link", "unknown link `nope`", "links: in, out"),
    ("links.ouT.rate", "1Mbit/s", "unknown-link", "unknown link `ouT`", "did you mean `out`?"),
    ('links."out.reverse".rate', "1Mbit/s", "unknown-link", "unknown link `out.reverse`", "write links.out.reverse,"),
    ("links.0.rate", "1Mbit/s", "unknown-link", "unknown link `0`", "links: "),
    ("links[1].rate", "1Mbit/s", "unknown-key", "unknown key `links[1]`", "did you mean `links`?"),
    ("links.out.nope", "1", "unknown-key", "unknown key `nope`", "known keys: "),
    ("links.out.rate", "5ms", "bad-quantity", 'unknown unit "ms"', "write a rate with its unit"),
    ("links.out.rate", "5", "bad-quantity", "5 has no unit", "5Mbit/s"),
    ("links.out.rate", "1e400bit/s", "bad-quantity", "too large", ""),
    ("links.out.queue.red.min.deeper.still", "5p", "bad-quantity", "expected packets or bytes, found a table", ""),
    ("links.out.queue.red.nope", "5p", "unknown-key", "unknown key `nope`", "known keys: "),
    ("links.out.loss", "1.5", "out-of-range", "1.5 is out of range", "0 to 1"),
    ("nodes.a", "x", "change-unfit", "`nodes` cannot change", "these may change: "),
    ("wireless.air.standard", "dot11g", "change-unfit", "`wireless` cannot change", "these may change: "),
    ("control", "{}", "change-unfit", "`control` cannot change", "these may change: "),
    ("at", "[]", "change-unfit", "`at` cannot change", "these may change: "),
    ("links..rate", "1Mbit/s", "bad-path", "`links..rate` is not a valid path", ""),
]


@pytest.mark.parametrize(("path", "value", "code", "message", "words"), PATHS, ids=[f"{p[0]}={p[1]}" for p in PATHS])
def test_a_wrong_path_is_one_clear_error_by_hand_and_in_a_file(tmp_path, path, value, code, message, words):
    """The error names the nearest name; the caret is at the wrong path, also after other changes."""
    plain = value[0] in "{[" or value.replace(".", "").isdigit()
    key, text = path.replace('"', '\\"'), value if plain else f'"{value}"'
    file = tmp_path / "x.toml"
    file.write_text(network().to_toml() + f'\n[[at]]\ntime = "3s"\n[at.set]\n"links.in.delay" = "3ms"\n"{key}" = {text}\n')
    with pytest.raises(fl.ScenarioError) as in_file:
        fl.start(file)
    sim = network().start(seed=1)
    sim.advance("3s")
    before = sim.fingerprint
    with pytest.raises(fl.ScenarioError) as by_hand:
        sim.set({"links.in.delay": "3ms", path: value})
    assert sim.fingerprint == before
    for wrong in (in_file.value, by_hand.value):
        (found,) = wrong.diagnostics
        assert found["code"] == code and message in found["message"] and words in found["help"], wrong.rendered
    (found,) = in_file.value.diagnostics
    lines = file.read_text().splitlines()
    assert found["line"] == len(lines)
    at_key = "nope" in path or code.startswith(("unknown", "change", "bad-path")) or "deeper" in path
    assert found["column"] == 1 if at_key else found["column"] == len(key) + 6, in_file.value.rendered


def test_a_change_in_a_table_of_tables_has_its_caret_at_the_name(tmp_path):
    file = tmp_path / "x.toml"
    file.write_text(network().to_toml() + '\n[[at]]\ntime = "3s"\n[at.set.flows]\ntcp.stop = "5s"\nlat.start = "4s"\n')
    with pytest.raises(fl.ScenarioError, match="did you mean `late`") as e:
        fl.start(file)
    (found,) = e.value.diagnostics
    assert (found["line"], found["column"]) == (len(file.read_text().splitlines()), 1)
