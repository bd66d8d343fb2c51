"""Link failures, against shortest paths of networkx, arithmetic and RFC 6298; and per-packet load balancing over equal paths."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import networkx as nx
import polars as pl
import pytest

import fairlane as fl
from fairlane.base.reference import built_in


def chain(*, reroute: str | None, spare: bool, down: object) -> fl.Network:
    """a - r - s - b with 100-byte packets each millisecond, which take 0.08 us on a link; with a spare way of two links between r and s."""
    net = fl.Network(duration="4s", **({"reroute": reroute} if reroute else {}))
    fast = {"rate": "10Gbit/s", "delay": "10us"}
    net.link("a", "r", **fast).link("r", "s", name="middle", down=down, **fast).link("s", "b", **fast)
    if spare:
        net.link("r", "x", **fast).link("x", "s", **fast)
    return net.flow("cbr", "a", "b", udp={"header": "0B"}, source=fl.sources.Cbr(rate="800kbit/s", size="100B"), stop="3s")


def outage(net: fl.Network) -> int:
    """Lost packets, which are as many milliseconds; none is on the link when it fails in the middle between two."""
    row = net.run().flows.to_dicts()[0]
    assert row["packets_sent"] == 3000 == row["packets_received"] + row["packets_lost"]
    assert row["packets_lost"] == row["lost_down"]
    return int(row["lost_down"])


DOWN = [{"at": "500.5ms", "until": "900.5ms"}]


@pytest.mark.parametrize(
    ("reroute", "spare", "lost"),
    [
        (None, False, 400),  # the time that it is down
        (None, True, 400),  # failures are not reported in the other direction
        ("0s", False, 400),
        ("250ms", False, 400 + 250),  # routes come back as late as they went
        ("250ms", True, 250),  # until routes take the spare way
        ("0s", True, 0),
        ("500ms", True, 400),  # over before it was noticed
        ("500ms", False, 400),
    ],
)
def test_a_constant_stream_misses_what_the_times_say(reroute, spare, lost):
    assert outage(chain(reroute=reroute, spare=spare, down=DOWN)) == lost


def test_one_direction_may_fail_alone():
    """Datagrams go one way: a failure of the way back costs them nothing."""
    assert outage(chain(reroute=None, spare=False, down=[]).replace("links.middle.reverse.down", DOWN)) == 0
    assert outage(chain(reroute=None, spare=False, down=DOWN).replace("links.middle.reverse.down", [])) == 400


def test_a_builder_link_fails_by_refinement():
    net = fl.Network(duration="2s").ring(nodes=4).refine("n0-n1", down=[{"at": "500.5ms"}])
    net.flow("f", "n0", "n1", udp={}, source=fl.sources.Cbr(rate="800kbit/s", size="100B"), stop="1s")
    row = net.run().flows.to_dicts()[0]
    # 5 ms of packets were on the wire, and one in transmission or about to be.
    assert row["packets_lost"] == 500 + 5 - 1 + 0 or row["packets_lost"] in range(500, 507)
    assert net.replace("reroute", "0s").run().flows["packets_lost"][0] in range(4, 8)


@pytest.mark.parametrize("routing", ["ecmp", "single", "ecmp_packets"])
@pytest.mark.parametrize(("seed", "share", "cut_off"), [(1, 0.3, False), (2, 0.3, False), (3, 0.7, True)])
def test_routes_after_failures_are_the_shortest_paths_of_networkx(routing, seed, share, cut_off):
    """Probes begin when routes have followed: they cross as many links as the shortest path of the graph without those that failed."""
    draw = random.Random(seed)
    graph = nx.connected_watts_strogatz_graph(14, 4, 0.4, seed=seed)
    left = nx.DiGraph(graph)
    net = fl.Network(duration="2s", routing=routing, reroute="100ms")
    for a, b in graph.edges:
        fails = {way: [{"at": "500ms"}] if draw.random() < share else [] for way in ("there", "back")}
        left.remove_edges_from([e for e, way in (((a, b), "there"), ((b, a), "back")) if fails[way]])
        net.link(f"n{a}", f"n{b}", rate="100Mbit/s", delay="1ms", down=fails["there"], reverse={"down": fails["back"]})
    targets = [t for t in graph if t]
    for t in targets:
        net.flow(f"to{t}", "n0", f"n{t}", udp={}, start=f"{1000 + t / 2}ms", source=fl.sources.Cbr(rate="80kbit/s", size="100B"))
    wanted = nx.single_source_shortest_path_length(left, 0)
    assert (set(wanted) != set(targets) | {0}) == cut_off
    for row in net.run().flows.to_dicts():
        target = int(row["flow"].removeprefix("to"))
        if target in wanted:
            # 128 bytes take 10.24 us on each link.
            assert row["delay_mean"] == pytest.approx(wanted[target] * (1e-3 + 128 * 8 / 1e8), rel=1e-9), target
            assert row["packets_lost"] == 0
        else:
            assert row["packets_received"] == 0 < row["lost_down"] == row["packets_sent"]


def test_tcp_backs_off_and_comes_back():
    """RFC 6298 (5.5): the timer doubles with each expiration while the link is down, and a retransmission gets through after the repair."""
    net = fl.Network(duration="60s")
    net.link("a", "b", rate="10Mbit/s", delay="10ms", queue=fl.queues.Droptail(limit="50p"), down=[{"at": "5s", "until": "25s"}])
    net.flow("f", "a", "b", tcp={"cc": "newreno", "preset": "rfc"})
    result = net.run(1, trace="timeout,retransmit,receive flow=f")
    rows = result.trace().collect()
    times = [Fraction(t) for t in rows.filter(pl.col("event") == "timeout")["time_ps"].to_list()]
    within = [t for t in times if 5 * 10**12 < t < 25 * 10**12]
    gaps = [b - a for a, b in itertools.pairwise(within)]
    assert len(within) >= 4
    assert all(b == 2 * a for a, b in itertools.pairwise(gaps)), [float(g) / 1e12 for g in gaps]
    # The first packet to arrive after the repair is sent by the next expiration.
    again = min(t for t in times if t >= 25 * 10**12)
    assert again == within[-1] + 2 * gaps[-1]
    back = rows.filter((pl.col("event") == "receive") & (pl.col("time_ps") > 6 * 10**12) & ~pl.col("back"))["time_ps"].min()
    assert again < back < again + 12 * 10**9
    assert result.flows["goodput"][0] > 0.4 * 10e6


def test_nothing_is_lost_uncounted_before_queues_of_any_kind():
    """Datagrams stop before the end: each was received, dropped by a queue, or lost with the link, whatever waits before it."""
    for queue in sorted(a["name"] for a in built_in() if a["kind"] == "queue"):
        net = fl.Network(duration="3s", seed=3)
        net.link(
            "a", "b", rate="1Mbit/s", delay="20ms", queue=queue, down=[{"at": "303ms", "until": "611ms"}, {"at": "900ms", "until": "901ms"}]
        )
        net.flow("f", "a", "b", count=3, class_=[0, 10, 46], udp={}, source=fl.sources.Poisson(rate="600kbit/s", size="500B"), stop="1.2s")
        result = net.run()
        assert sum(result.flows["packets_sent"]) == sum(result.flows["packets_received"]) + sum(result.flows["packets_lost"]), queue
        link = result.links.to_dicts()[0]
        assert link["arrivals"] == sum(result.flows["packets_sent"]) and link["lost_cut"] > 0 and link["drops_down"] > 100, queue
        assert sum(result.flows["lost_down"]) == link["lost_cut"] + link["drops_down"], queue
        # At 1 Mbit/s of which 309 ms of 3 s are missing.
        assert 0 < link["utilisation"] <= 1, queue


def test_series_events_and_metrics_have_the_reasons():
    net = fl.Network(duration="2s", sample="100ms")
    net.link("a", "b", rate="1Mbit/s", delay="20ms", queue=fl.queues.Droptail(limit="20p"), down=[{"at": "510ms", "until": "690ms"}])
    net.flow("f", "a", "b", udp={}, source=fl.sources.Cbr(rate="1.5Mbit/s", size="1000B"))
    result = net.run(1, trace="drop")
    reasons = dict(result.trace().collect().group_by("reason").len().iter_rows())
    link = result.links.to_dicts()[0]
    assert {"cut", "down", "overflow"} == set(reasons)
    assert (reasons["cut"], reasons["down"]) == (link["lost_cut"], link["drops_down"])
    series = result.link_series.filter(pl.col("link") == "a-b").sort("time")
    lost = {round(t, 1): n for t, n in zip(series["time"], series["lost_down"], strict=True)}
    assert sum(lost.values()) == reasons["cut"] + reasons["down"]
    assert lost[0.5] == 0 < lost[0.6] and lost[0.7] > 0 and lost[0.8] == 0
    plain = net.replace("links.a-b.down", []).run()
    assert "lost_down" not in plain.link_series.columns


def fan(routing: str, delays: list[str]) -> fl.Network:
    """Paths of equal length between r and s, 10 Mbit/s each."""
    net = fl.Network(duration="5s", routing=routing)
    net.link("a", "r", rate="1Gbit/s", delay="1ms").link("s", "b", rate="1Gbit/s", delay="1ms")
    for i, delay in enumerate(delays):
        net.link("r", f"m{i}", rate="10Mbit/s", delay=delay).link(f"m{i}", "s", rate="1Gbit/s", delay="1ms")
    return net.flow("f", "a", "b", udp={"header": "0B"}, source=fl.sources.Cbr(rate="38Mbit/s", size="1000B"))


def test_one_flow_fills_one_of_equal_paths_or_all():
    """By flow (RFC 2992) it has the rate of one path; packet by packet that of four, in equal parts; late paths reorder."""
    whole = fan("ecmp", ["5ms"] * 4).run()
    assert whole.flows["throughput"][0] == pytest.approx(10e6, rel=0.01)
    even = fan("ecmp_packets", ["5ms"] * 4).run()
    assert even.flows["throughput"][0] == pytest.approx(38e6, rel=0.01)
    parts = even.links.filter(pl.col("link").str.contains(r"^r-m\d$"))["departures"].to_list()
    assert max(parts) - min(parts) <= 1 and sum(parts) == pytest.approx(38e6 * 5 / 8000, abs=200)
    assert whole.flows["reordered"][0] == even.flows["reordered"][0] == 0
    uneven = fan("ecmp_packets", ["5ms", "5ms", "5ms", "9ms"]).run().flows.to_dicts()[0]
    # Each fourth packet comes 4 ms late, behind three and more sent after it.
    assert uneven["reordered"] == pytest.approx(uneven["packets_received"] / 4, rel=0.01)


def test_packets_go_round_failures_and_use_what_is_left():
    net = fan("ecmp_packets", ["5ms"] * 4).replace("reroute", "50ms").replace("links.r-m2.down", [{"at": "1s", "until": "2s"}])
    row = net.run().flows.to_dicts()[0]
    # A quarter of the packets for 50 ms, and what was on the link; three paths then carry 30 of 38 Mbit/s.
    assert row["lost_down"] == pytest.approx(0.05 * 38e6 / 8000 / 4 + 5 + 50, abs=60)
    links = {x["link"]: x for x in net.run().links.to_dicts()}
    assert links["r-m2"]["departures"] < 0.85 * links["r-m1"]["departures"]


def test_tcp_over_packet_by_packet_paths_retransmits_what_is_only_late():
    """Three duplicate acknowledgments (RFC 5681) mistake packets of the slower path for lost ones, though none is."""

    def tcp(routing: str) -> dict[str, float]:
        net = fl.Network(duration="5s", routing=routing)
        net._tree["links"] = fan(routing, ["5ms", "25ms"]).to_dict()["links"]
        return dict(net.flow("f", "a", "b", tcp={"cc": "newreno", "preset": "ns2", "window": "40p"}).run().flows.to_dicts()[0])

    flow, packets = tcp("ecmp"), tcp("ecmp_packets")
    assert flow["packets_lost"] == packets["packets_lost"] == flow["reordered"] == flow["retransmits"] == 0
    assert packets["reordered"] > 0.1 * packets["packets_received"] and packets["fast_recoveries"] > 0 < packets["retransmits"]


@pytest.mark.parametrize(
    ("down", "message"),
    [
        ([{"at": "5s", "until": "5s"}], "repaired at 5s, which is not later"),
        ([{"at": "5s", "until": "7s"}, {"at": "6s"}], "failure 2 at 6s does not come after the previous one, which ends at 7s"),
        ([{"at": "5s"}, {"at": "6s"}], "which never ends"),
        ([{"at": 5}], "5 has no unit"),
        ([{"from": "5s"}], "unknown key `from`"),
    ],
)
def test_mistakes_are_named(down, message):
    with pytest.raises(fl.ScenarioError, match=message.replace("[", r"\[")):
        fl.Network(duration="9s").link("a", "b", rate="1Mbit/s", delay="1ms", down=down).flow("f", "a", "b", tcp={}).resolve()
