"""Sarma 2013 in the declared setting: against the published values, and against ns-2 with the same parameters."""

from __future__ import annotations

from statistics import median

import pytest

import fairlane
from fairlane import papers
from fairlane.base import toml
from fairlane.multiverse import base_of, check_setting
from fairlane.papers.runner import Job, Runner

QUANTITY = {"table2": "mean_end_to_end_delay", "table3": "throughput_per_client", "table4": "packet_loss_rate"}
PAPER = papers.load("sarma2013")
NAMES = ("clients", "queue", "traffic")


def means(folder, combinations):
    """The means of two replications of every combination, by clients, queue and traffic."""
    with Runner(PAPER, folder / "runs") as runner:
        measured = runner.run([Job(c, s) for c in combinations for s in (1, 2)], use=lambda job, run: PAPER.measure(run, job.combination))
    pairs = zip(combinations, measured[::2], measured[1::2], strict=True)
    return {tuple(c[n] for n in NAMES): {q: (a[q] + b[q]) / 2 for q in a} for c, a, b in pairs}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("sarma")


@pytest.fixture(scope="module")
def ours(folder):
    return means(folder, PAPER.combinations())


def against(ours, table):
    """Published and our values of a table, by combination."""
    return {key: (float(p["value"]), ours[key][QUANTITY[table]]) for p in PAPER.published(table) for key in [tuple(p[n] for n in NAMES)]}


def test_one_setting_is_near_the_published_results(ours):
    """A queue limit for each kind of run; it is a joint change of parameters that a study of one at a time misses."""
    pairs = [(x, y) for table in QUANTITY for x, y in against(ours, table).values()]
    assert len(pairs) == 74
    apart = [abs(y / x - 1) if x else float(y != 0) for x, y in pairs]
    assert median(apart) < 0.03
    assert median(d for d, (x, _) in zip(apart, pairs, strict=True) if x) < 0.03
    delays = against(ours, "table2").values()
    assert all(abs(y / x - 1) < 0.15 for x, y in delays)
    assert median(abs(y / x - 1) for x, y in delays) < 0.01
    waits = [((x - 13.24), (y - 13.24)) for x, y in delays if x > 13.24]
    assert len(waits) == 25
    assert median(abs(y / x - 1) for x, y in waits) < 0.10
    red = [against(ours, "table2")[n, "RED", "TCP"] for n in ("8", "10", "25", "35", "50")]
    assert all(y == pytest.approx(x, rel=0.003) for x, y in red)
    rates = [(x, y) for key, (x, y) in against(ours, "table3").items() if key != ("8", "DropTail", "TCP")]
    assert len(rates) == 21 and all(y == pytest.approx(x, rel=0.1) for x, y in rates)


def test_ns2_gives_the_same_with_the_limit_of_the_tcp_runs_in_all(folder):
    """Two runs of ns-2.35 (ns2.tcl). What chance decides (who meets whom at the router) differs between runs of either."""
    ours = means(folder, PAPER.setting({**PAPER.declared_setting, "limits": "one for all", "TCP share": 0.5}))
    ns2 = {(*(p[n] for n in NAMES), p["metric"]): float(p["value"]) for p in PAPER.published("ns2_declared")}
    assert len(ns2) == 3 * len(ours)
    for key, values in ours.items():
        udp, few = key[2] == "UDP", key[0] in ("3", "5") and key[1:] == ("DropTail", "TCP")
        near = {"throughput_per_client": 2e-4 if udp or few else 0.03, "mean_end_to_end_delay": 0.012}
        for metric, rel in near.items():
            assert values[metric] == pytest.approx(ns2[*key, metric], rel=rel), (key, metric)
        if udp or few:
            assert values["packet_loss_rate"] == pytest.approx(ns2[*key, "packet_loss_rate"], abs=0.005 if udp else 0.01), key


@pytest.mark.parametrize(("queue", "traffic"), [("DropTail", "TCP"), ("RED", "TCP"), ("RED", "UDP"), ("DropTail", "TCP-UDP")])
def test_the_delay_from_the_router_on_is_that_of_each_packet_followed(queue, traffic, tmp_path):
    """The study takes it from the wait at the shared link. The hop probe follows each packet; packets in flight at the end are excluded."""
    combination = next(c for c in PAPER.combinations() if c.factors == (("clients", "10"), ("queue", queue), ("traffic", traffic)))
    file = tmp_path / "combination.toml"
    file.write_text(toml.dumps(combination.tree(1)))
    flows = fairlane.run(file, seeds=[1], hop_probe=True).flows
    packets = flows["packets_received"].to_list()
    followed = 1e3 * sum(d * n for d, n in zip(flows["router_path_delay_mean"].to_list(), packets, strict=True) if n) / sum(packets)
    with Runner(PAPER, tmp_path / "runs") as runner:
        (ours,) = runner.run([Job(combination, 1)], use=lambda job, run: PAPER.measure(run, job.combination)["mean_end_to_end_delay"])
    assert ours == pytest.approx(followed, abs=2e-4)


def test_the_base_and_the_declared_setting_differ_in_what_is_declared():
    opens = PAPER.opens()
    declared = check_setting(opens, PAPER.declared_setting)
    base = base_of(opens)
    assert {n for n in declared if declared[n] != base[n]} == set(PAPER.declared)
    assert [c.factors for c in PAPER.setting(base)] == [c.factors for c in PAPER.combinations()]


@pytest.mark.parametrize("share", [0.2, 0.8])
def test_the_shared_network_has_clients_of_both_kinds_in_every_setting(share):
    combinations = PAPER.setting({**base_of(PAPER.opens()), "TCP share": share})
    for combination in combinations:
        flows = combination.tree(1)["flows"]
        assert sum(f["count"] for f in flows.values()) == int(combination["clients"])
        assert set(flows) == {"TCP": {"tcp"}, "UDP": {"udp"}, "TCP-UDP": {"tcp", "udp"}}[combination["traffic"]]
