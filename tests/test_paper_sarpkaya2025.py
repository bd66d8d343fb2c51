"""Sarpkaya, Fund and Panwar 2025: against the shares and round trips that Linux kernels had on a test bed."""

from __future__ import annotations

from functools import partial
from statistics import median

import pytest

from fairlane import papers
from fairlane.papers.runner import Job, Runner
from paper_modules import module

PAPER = papers.load("sarpkaya2025")
NAMES = ("competitor", "queue", "buffer_bdp")
net = module("sarpkaya2025", "net")


def key(combination):
    return tuple(combination[n] for n in NAMES)


def published(table, metric):
    return {tuple(p[n] for n in NAMES): float(p["value"]) for p in PAPER.published(table) if p["metric"] == metric}


def measured(combinations, folder):
    with Runner(PAPER, folder) as runner:
        found = runner.run([Job(c, 1) for c in combinations], use=lambda job, run: PAPER.measure(run, job.combination))
    return {key(c): m for c, m in zip(combinations, found, strict=True)}


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """One replication of the cells that claims read."""
    return measured(PAPER.quick_combinations(), tmp_path_factory.mktemp("sarpkaya") / "runs")


def test_shares_are_those_of_the_kernels(quick):
    """One run against the mean of ten trials, which themselves spread by up to 0.1 where chance decides."""
    shares = published("share", "prague_share")
    apart = {k: abs(m["prague_share"] - shares[k]) for k, m in quick.items()}
    assert len(apart) == 21
    assert sum(a <= 0.05 for a in apart.values()) >= 17, apart
    assert median(apart.values()) < 0.03


def test_round_trips_are_those_of_the_kernels(quick):
    trips = published("srtt", "prague_srtt")
    few = {k for k in quick if quick[k]["prague_goodput"] < 2}  # a starved flow is hardly ever measured
    apart = {k: abs(m["prague_srtt"] / trips[k] - 1) for k, m in quick.items() if k not in few}
    assert median(apart.values()) < 0.06, apart
    dual = quick["CUBIC", "DualPI2", "2"]
    assert dual["prague_srtt"] == pytest.approx(10.35, abs=0.2) and dual["competitor_srtt"] == pytest.approx(15.2, abs=1)


def test_both_flows_fill_the_link_as_far_as_frames_allow(quick):
    """On the test bed 95.6 of 100 Mbit/s are payload at most: 1448 of 1514 bytes."""
    for k, m in quick.items():
        assert 90 < m["prague_goodput"] + m["competitor_goodput"] < 100 * 1448 / 1514, k


@pytest.mark.parametrize(("competitor", "queue"), [("CUBIC-ECN", "FIFO"), ("BBRv3-ECN", "CoDel"), ("CUBIC-ECN", "PIE")])
def test_cells_that_one_run_stands_for_are_the_same_packet_for_packet(competitor, queue, tmp_path):
    """A queue that does not mark does not see ECT."""
    prints = []
    base, blocks = PAPER.scenario("network.toml"), PAPER.scenario("combinations.toml")
    base["duration"] = "5s"
    for name in (competitor, net.alike(competitor, queue, "2")[0]):
        key = (name, queue, "2")
        c = papers.Combination(tuple(zip(NAMES, key, strict=True)), partial(net.scenario, base, blocks, key, PAPER.declared_setting))
        with Runner(PAPER, tmp_path / name) as runner:
            prints += runner.run([Job(c, 1)], use=lambda _, run: (run.flows["goodput"], run.flows["retransmits"]))
    assert prints[0] == prints[1]


def test_every_published_cell_has_a_run():
    shares = published("share", "prague_share")
    runs = {key(c) for c in PAPER.combinations()}
    assert len(shares) == 224 and {net.alike(*k) for k in shares} == runs
    assert {key(c) for c in PAPER.setting(PAPER.declared_setting)} < {key(c) for c in PAPER.quick_combinations()} < runs


@pytest.mark.parametrize(("buffer", "packets"), [("0.5", 42), ("1", 84), ("2", 167), ("4", 334), ("8", 667)])
def test_limits_are_those_of_the_notebook(buffer, packets):
    """`int(n * 125000 / 1500) + 1` packets; bfifo holds n * 125000 bytes of frames of 1514."""
    blocks = PAPER.scenario("combinations.toml")
    for queue in ("CoDel", "PIE", "FQ-CoDel", "FQ", "FIFO-ECN"):
        (found,) = net.queue_of_cell(blocks, "CUBIC", queue, buffer).values()
        assert found["limit"] == f"{packets}p"
    frames = net.queue_of_cell(blocks, "CUBIC", "FIFO", buffer)["droptail"]["limit"]
    assert 0 <= float(buffer) * 125_000 - 1514 * int(frames.removesuffix("p")) < 1514
    assert "limit" not in net.queue_of_cell(blocks, "CUBIC", "DualPI2", buffer)["dualpi2"]


def test_a_threshold_for_ect1_alone_spares_the_flow_with_ect0():
    blocks = PAPER.scenario("combinations.toml")
    (found,) = net.queue_of_cell(blocks, "CUBIC-ECN", "FQ-CoDel-L4S", "2").values()
    prague, other = found["classes"]
    assert prague["match"] == "flow:prague" and prague["queue"]["codel"]["ce_threshold"] == "1ms"
    assert other["match"] == "flow:competitor" and "ce_threshold" not in other["queue"]["codel"]


def test_the_versions_of_prague_differ_in_bursts_and_in_rounds():
    """Linux' tcp_prague 0.6: 500 rounds, at least tcp_min_tso_segs = 2 segments; 0.7: 4 rounds, 1 segment."""
    for version, rounds, burst in (("0.6", 500, 2), ("0.7", 4, 1)):
        (c, *_) = PAPER.setting({**PAPER.declared_setting, "Prague version": version})
        tcp = c.tree(1)["flows"]["prague"]["tcp"]
        assert tcp["cc"]["prague"]["transition"] == rounds and tcp["pacing_segments"] == burst
