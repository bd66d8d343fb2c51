"""Ramachendra et al. 2014: claims, the quick study from end to end, arithmetic, and ns-2."""

from __future__ import annotations

import json
import math

import pytest

import browser
from fairlane import papers
from fairlane.claims import Tables
from fairlane.multiverse import base_of
from fairlane.papers import Combination, Value, records
from fairlane.papers.claims import read_claims
from fairlane.papers.outcome import results_of
from fairlane.papers.recorded import differing
from fairlane.papers.runner import Job, Runner
from fairlane.papers.tables import read_csv, read_folder
from fairlane.papers.verdicts import VALUES, WORDS
from pages import without_charts
from paper_modules import module

pytestmark = pytest.mark.usefixtures("kept_runs")
net = module("ramachendra2014", "net")
PUBLISHED = papers.shipped() / "ramachendra2014"
EXPERIMENTS = (
    "matrix", "quoted_values", "loss-vs-queue", "loss-64n-75", "modred-25", "modred-50", "modred-75-100", "bursty", "fig2.1", "fig3.1",
    "fig4.1", "fig5.1",
    "fig5.2", "fig5.3", "fig5.5", "modred-unit",
)  # fmt: skip
CLAIMS = [
    "R1", "R1b", "R1c", "R2", "R3", "R4", "R5", "R5b", "R6", "R6b", "R7", "R8", "R8b", "R8c", "R9", "R9b",
    *(f"R{i}" for i in range(10, 15)), "R16", "R17", "R15a", "R15b", "R15c",
]  # fmt: skip


def test_the_claims_come_out_on_the_published_numbers_as_recorded():
    tables = read_folder(PUBLISHED)
    outcomes = {c.id: c.check.outcome(tables) for c in read_claims(PUBLISHED / "claims.toml")}
    assert outcomes == {c.id: c.published for c in read_claims(PUBLISHED / "claims.toml")}
    assert [list(outcomes.values()).count(o) for o in ("holds", "fails", "no-data")] == [2, 0, 24]


@pytest.fixture(scope="module")
def paper():
    return papers.load("ramachendra2014")


def _shortened(monkeypatch):
    """The quick study with 20 s: enough for its form, not for its numbers."""
    Ramachendra2014 = module("ramachendra2014", "study").Ramachendra2014
    monkeypatch.setattr(Ramachendra2014, "declared", {**Ramachendra2014.declared, "simulated time": "20s"})


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """One reproduction for all tests of its form."""
    with pytest.MonkeyPatch.context() as patch:
        _shortened(patch)
        return papers.reproduce("ramachendra2014", quick=True, out=tmp_path_factory.mktemp("ramachendra"), seeds=[1])


def test_the_document_has_every_experiment_and_claim(short):
    document = json.loads(json.dumps(short.to_json(), allow_nan=False))
    found = {e["id"].removeprefix("ramachendra2014/"): e for e in document["experiments"]}
    assert set(found) == {*EXPERIMENTS}
    for name, e in found.items():
        assert e["rows"] and e["verdict"] in {*WORDS, *VALUES}, name
        for row in e["rows"]:
            assert {"factors", "metric", "published", "ours", "low", "high", "unit"} <= set(row)
    for name in ("fig5.3", "fig5.5"):
        assert "no claim and no published value to compare" in found[name]["reason"] and "later" not in found[name]["reason"]
    assert len(found["fig5.1"]["rows"]) == 1 + 5 * 10 and len(found["fig5.5"]["rows"]) == 1  # of the nodes, and what is run
    assert [c["id"] for c in document["claims"]] == CLAIMS
    for c in document["claims"]:
        assert c["verdict"] in WORDS and c["evidence"]


def test_the_tables_are_those_that_claims_read(short):
    tables = read_folder(short.folder)
    for j in short.claims:
        assert j.claim.check.outcome(tables) == j.outcome, j.claim.id
    rows = read_csv(short.folder / "results.csv")
    assert list(rows[0])[:6] == ["network", "load", "queue", "aqm", "metric", "value"]
    combinations = {(r["network"], r["load"], r["queue"], r["aqm"]) for r in rows}
    claimed = {tuple(c[k] for k in ("network", "load", "queue", "aqm")) for c in net.claimed()}
    assert combinations == claimed | {("64", str(x), str(q), a) for x in net.LOADS for q in net.LIMITS for a in net.QUEUES}
    counted = sum(r["metric"].startswith("drop_share") for r in rows) // 2
    assert counted == 6 and len(rows) == (len(combinations)) * 14 + counted * 4
    published, ours = read_csv(PUBLISHED / "quoted_values.csv"), read_csv(short.folder / "quoted_values.csv")
    assert [(p["load_percent"], p["queue_packets"]) for p in published] == [(o["load_percent"], o["queue_packets"]) for o in ours]


METRICS = ("throughput", "utilization", "loss_rate", "mean_queue", "mean_time_in_queue", "one_way_delay", "jitter", "received", "enqueued",
           "dequeued", "dropped")  # fmt: skip


def test_every_metric_is_in_the_document_and_drawn_against_the_load(short):
    document = short.to_json()
    (matrix,) = (e for e in document["experiments"] if e["id"] == "ramachendra2014/matrix")
    for m in METRICS:
        at = {tuple(r["factors"][k] for k in ("load", "queue", "aqm")) for r in matrix["rows"] if r["metric"] == m}
        assert len(at) == 4 * 3 * 5, m
    page = short.page.read_text("utf-8")
    titles = ("throughput", "link utilization", "drop rate", "packets dropped", "mean queue", "time in queue", "one-way delay", "jitter",
              "packets received", "packets enqueued")  # fmt: skip
    for words in titles:  # the packets dequeued have the curve of those enqueued, as the caption says
        assert page.count(f">64 nodes: {words}<") == 1, words
    for name in ("use", "loss", "queue", "delay", "packets"):
        assert f"figures/matrix-64-{name}.svg" in matrix["figures"]
        assert (short.folder / "figures" / f"matrix-64-{name}.png").stat().st_size > 10_000
    of = {r["metric"]: r["ours"] for r in matrix["rows"] if r["factors"] == {"network": 64, "load": 100, "queue": 25, "aqm": "RED"}}
    assert of["received"] == of["enqueued"] + of["dropped"] and of["loss_rate"] == pytest.approx(100 * of["dropped"] / of["received"])


def test_the_whole_matrix_is_180_combinations(paper):
    combinations = [c for c in paper.combinations() if c["traffic"] == "bulk"]
    assert len({c.factors for c in combinations}) == len(combinations) == 3 * 4 * 3 * 5
    assert {c.factors for c in paper.quick_combinations()} < {c.factors for c in paper.combinations()}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_asks_for_the_combinations_it_reads(short, name):
    """The runs of `--only` are enough to build it."""
    (e,) = (e for e in short.paper.experiments() if e.id == name)
    r = short.results
    needed = [c for c in r.combinations if e.needs(c)]
    alone = type(r)(needed, {c.factors: r._samples[c.factors] for c in needed}, r._curves)
    built = e.build(alone)
    assert built.comparison.rows
    assert built.notes == e.build(r).notes


def test_the_page_says_what_is_missing(short):
    page = short.page.read_text("utf-8")
    for name in (*EXPERIMENTS, *CLAIMS, *(f"contradiction-{i}" for i in range(1, 6))):
        assert page.count(f'id="{name}"') == 1, name
    assert page.count("802.11") >= 5
    outside = without_charts(page).replace("http://www.w3.org/", "")
    assert not [w for w in ("http:", "https:", "<script", "@import", "<link", "src=") if w in outside]


@browser.needed
@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_shows_the_page_without_sideways_scrolling(short, width):
    browser.fits(short.page, width)


QUALNET = {"segment": "512B", "window": "16384B", "least timeout": "1s", "TCP": "reno"}
"""TCP's own values of the runs of ns-2, and of the arithmetic."""


def _combinations(paper, combinations, **values: Value):
    """Combinations of 100 s in the base setting, with other values where they are given."""
    return paper._with(combinations, {**base_of(paper.opens()), **QUALNET, "simulated time": "100s", **values})


def _measured(paper, folder, combinations, change=lambda t: None, **values: Value):
    made = [
        Combination(c.factors, lambda seed, c=c: (t := c.tree(seed), change(t))[0]) for c in _combinations(paper, combinations, **values)
    ]
    with Runner(paper, folder) as runner:
        runs = runner.run([Job(c, 1) for c in made])
    return [paper.measure(r, c) for r, c in zip(runs, made, strict=True)]


def _of_queue(t):
    return next(iter(t["links"]["bottleneck"]["queue"]["srtcm"]["queue"]["rr"]["queue"].values()))


PACKET = 552
"""Bytes of a segment of 512 on the wire."""


def test_senders_without_a_queue_carry_a_window_a_round_trip(paper, tmp_path):
    """4 and 8 windows of 32 segments fit into the path: throughput is arithmetic, and no discipline matters."""
    combinations = [net.combination(16, 25, 100, "DropTail"), *(net.combination(16, 50, 25, a) for a in ("DropTail", "RED", "ModRED"))]
    for c, m in zip(combinations, _measured(paper, tmp_path, combinations), strict=True):
        trip = 0.150 + 3 * 8 * PACKET / 10e6 + 3 * 8 * 40 / 10e6  # two packets are acknowledged together: the second is one packet later
        window = 32 * PACKET * 8 / (trip + 8 * PACKET / 10e6)
        assert m["throughput"] == pytest.approx(16 * int(c["load"]) / 100 * window / 1e3, rel=0.01)
        assert m["loss_rate"] == 0


def test_cut_windows_carry_a_segment_a_round_trip(paper, tmp_path):
    """Windows cut for good (thresholds around the queue), no delayed acknowledgments: n segments a round trip."""

    def always(t):
        _of_queue(t).update(min="1p", out_max="500p", in_max="500p", limit="1000p", w_q=1e-9)

    values = {"acknowledged": "every packet", "window": "512B"}
    (m,) = _measured(paper, tmp_path, [net.combination(64, 100, 100, "ModRED")], always, **values)
    assert m["throughput"] == pytest.approx(64 * 8 * PACKET / (0.150 + 3 * 8 * 592 / 10e6) / 1e3, rel=0.02)
    assert m["throughput"] < 1.1 * 64 * 8 * 512 / 0.15 / 1e3


def test_a_window_of_one_segment_waits_for_the_delayed_acknowledgment(paper, tmp_path):
    """Windows cut for good, 64 senders: with delayed acknowledgments each segment takes the receiver's timer more, 200 ms."""

    def always(t):
        _of_queue(t).update(min="1p", out_max="500p", in_max="500p", limit="1000p", w_q=1e-9)

    (m,) = _measured(paper, tmp_path, [net.combination(64, 100, 100, "ModRED")], always, **{"window": "512B"})
    assert m["throughput"] == pytest.approx(64 * 8 * PACKET / (0.350 + 3 * 8 * 592 / 10e6) / 1e3, rel=0.03)


def test_the_runs_without_delayed_acknowledgments_differ_in_nothing_else(paper):
    known = {(c["traffic"], c["aqm"]): c for c in paper.combinations() if (c["network"], c["load"], c["queue"]) == ("64", "100", "100")}
    for aqm in ("RED", "ModRED"):
        acked, plain = (known[traffic, aqm].tree(1) for traffic in (net.ACKED, "bulk"))
        tcp = acked["flows"]["ftp"]["tcp"], plain["flows"]["ftp"]["tcp"]
        assert [t.pop("ack_every") for t in tcp] == [1, 2]
        assert {**acked, "name": ""} == {**plain, "name": ""}


def test_avq_that_takes_itself_for_the_link_is_droptail(paper, tmp_path):
    combinations = [net.combination(64, 75, 100, a) for a in ("AVQ", "DropTail")]
    avq, droptail = _measured(paper, tmp_path, combinations, **{"AVQ's capacity": "the whole link"})
    assert avq == droptail


def test_drops_by_colour_are_all_drops(paper, tmp_path):
    combinations = _combinations(paper, [net.combination(64, 75, 100, a, "counted") for a in ("WRED", "ModRED")])
    with Runner(paper, tmp_path) as runner:
        runs = runner.run([Job(c, 1) for c in combinations])
    for c, run in zip(combinations, runs, strict=True):
        m = paper.measure(run, c)
        assert m["drops_in"] + m["drops_out"] == run.link("bottleneck", "drops"), c.factors
        assert 0 <= m["drops_in"] <= m["drops_out"]


def test_the_unit_tables_are_what_the_rules_say(short):
    t = read_folder(short.folder)
    assert t.v("rr_unit", metric="max_service_difference_backlogged") == 1
    assert t.v("rr_unit", metric="rounds in order of precedence") == 100
    assert t.v("modred_unit", case="between", metric="window_bytes") == 512
    assert t.v("modred_unit", case="between", metric="rewritten") == t.v("modred_unit", case="between", metric="acknowledgments") > 10
    assert t.v("modred_unit", case="below_min", metric="window_bytes") == 16384


def test_one_queue_agrees_with_ns2(paper, tmp_path):
    """ns-2.35 with the same numbers and one queue (it has no round robin): means of two runs each."""
    rows = read_csv(PUBLISHED / "ns2_check.csv")
    ns2 = Tables({"ns2": rows})
    combinations = [
        net.combination(int(r["network"]), int(r["load"]), int(r["queue"]), r["aqm"]) for r in rows if r["metric"] == "loss_rate"
    ]

    def habits(t):
        if "red" in t["links"]["bottleneck"]["queue"]["srtcm"]["queue"]["rr"]["queue"]:
            _of_queue(t).update(grace=True, spare=1)  # ns-2 spares the first arrival above the threshold

    one = {"priority queues": 1, "simulated time": "200s"}
    for c, m in zip(combinations, _measured(paper, tmp_path, combinations, habits, **one), strict=True):
        at = {k: c[k] for k in ("network", "load", "queue", "aqm")}
        assert m["loss_rate"] == pytest.approx(ns2.v("ns2", metric="loss_rate", **at), rel=0.10), at
        assert m["utilization"] == pytest.approx(ns2.v("ns2", metric="utilization", **at), rel=0.025), at


def test_the_scenario_file_is_the_combination_it_says(paper):
    from fairlane import _core

    alone = json.loads(_core.resolve((paper.folder / "net.toml").read_text("utf-8"), "net.toml", "toml", []).json())
    combination = json.loads(
        _core.resolve(
            json.dumps(_combinations(paper, [net.combination(64, 75, 100, "ModRED")], **{"simulated time": "200s"})[0].tree(1)),
            "combination.json",
            "json",
            [],
        ).json()
    )
    for tree in (alone, combination):
        tree.pop("name", None)
    assert alone == combination


def test_the_four_published_losses_come_out_in_the_declared_setting(paper, tmp_path):
    """Within a quarter, each; a published zero is met."""
    r = papers.reproduce("ramachendra2014", only="quoted_values", seeds=[1, 2], out=tmp_path)
    found = results_of(r)
    assert [row.published for row in found] == [0.36, 0.0, 3.58, 1.6]
    for row in found:
        assert row.difference is not None and abs(row.difference) < 0.25, row


def test_the_declared_setting_has_the_stated_numbers(paper):
    """Rates and the 150 ms are the paper's in the setting of the tables."""
    assert "round trip" not in paper.declared
    d = paper.setting(paper.declared_setting)[0].tree(1)["topology"]["dumbbell"]
    assert d["access"]["rate"] == d["bottleneck"]["rate"] == "10Mbit/s"
    way = [float(x.removesuffix("ms")) for x in (d["access"]["delay"], d["bottleneck"]["delay"])]
    ways = [sum(way) + float(x.removesuffix("ms")) for x in d["delays"]]
    assert 2 * sum(ways) / len(ways) == pytest.approx(150, abs=0.1)
    assert min(ways) == pytest.approx(50, abs=2) and max(ways) == pytest.approx(100, abs=2)


def test_recorded_settings_come_out_as_recorded(paper, tmp_path):
    """One of the sample, with short runs."""
    rows = [r for r in records.recorded(paper) if r.kind == "sample"]
    assert len(rows) >= 71
    few = min(rows, key=lambda r: float(str(r.values["simulated time"]).removesuffix("s")))
    assert differing(paper, [few], tmp_path) == []


def _on_air(paper, *wanted):
    """The combinations on the air with these factors, in the order asked for."""
    known = {tuple(x for _, x in c.factors): c for c in paper.combinations()}
    return [known[tuple(map(str, w))] for w in wanted]


def test_combinations_on_the_air(paper):
    """Four networks, five disciplines; with one limit at four loads, with two more at one; and choices. Four are part of each setting."""
    air = [c for c in paper.combinations() if c["traffic"].startswith("air")]
    assert len({c.factors for c in air}) == len(air) == 4 * 5 * (4 + 2) + 2 * 7
    of_setting = [c for c in paper.setting(paper.declared_setting) if c["traffic"].startswith("air")]
    assert [(c["network"], c["load"], c["queue"], c["aqm"]) for c in of_setting] == [
        (n, "75", "100", a) for n in ("16", "32") for a in ("RED", "ModRED")
    ]
    other = {c.factors: c.tree(1) for c in paper.setting({**paper.declared_setting, "segment": "512B"})}
    for c in of_setting:  # what is open of TCP changes them, too
        assert c.tree(1)["flows"]["ftp"]["tcp"]["mss"] == "1460B" and other[c.factors]["flows"]["ftp"]["tcp"]["mss"] == "512B"
    assert {c["network"] for c in paper.quick_combinations() if c["traffic"] == "air"} == {"16", "32"}
    (one,) = _on_air(paper, (128, 75, 25, "WRED", "air"))
    tree, wired = one.tree(2), paper._with([net.combination(16, 75, 25, "WRED")])[0].tree(2)
    channel = tree["wireless"]["air"]
    assert (channel["scatter"]["count"], tree["flows"]["ftp"]["count"], tree["seed"]) == (128, 128, 2)
    assert tree["flows"]["ftp"]["tcp"] == wired["flows"]["ftp"]["tcp"]
    assert channel["queue"]["srtcm"]["cir"] == f"{round(2e6 / 128)}bit/s"
    there = channel["queue"]["srtcm"]["queue"]["rr"]["queue"]["wred"]
    assert there == {**wired["links"]["bottleneck"]["queue"]["srtcm"]["queue"]["rr"]["queue"]["wred"], "mean_packet": "2500B"}


def test_the_air_scenario_file_runs_alone(paper):
    """It is the combination that its name says, in the base setting."""
    from fairlane import _core

    air, base = module("ramachendra2014", "air"), base_of(paper.opens())
    wired = (paper.scenario("net.toml"), paper.scenario("combinations.toml"))
    (combination,) = air.with_trees(paper.scenario("air.toml"), wired, [net.combination(64, 75, 100, "ModRED", air.AIR)], base, base)
    file = (paper.folder / "air.toml").read_text("utf-8")
    alone = json.loads(_core.resolve(file, "air.toml", "toml", []).json())
    made = json.loads(_core.resolve(json.dumps(combination.tree(1)), "combination.json", "json", []).json())
    for tree in (alone, made):
        tree.pop("name", None)
    assert alone == made


def test_no_station_is_an_island_and_hops_are_as_long_as_physics_has_them(paper):
    """networkx on the same places: two-ray ground over 1.5 m at 2.4 GHz, 15 dBm, 10 dB above the noise of 22 MHz and a factor of 10."""
    networkx = pytest.importorskip("networkx")
    air = module("ramachendra2014", "air")
    noise = -174 + 10 * math.log10(22e6) + 10
    reach = 10 ** ((15 - (noise + 10) + 20 * math.log10(1.5**2)) / 40)
    for n in air.NETWORKS:
        there = air.stations(paper.folder / "air.toml", n)
        near = [(a, b) for a in there.at for b in there.at if a != b and math.dist(there.at[a], there.at[b]) < reach]
        apart = set(near) ^ set(there.hops)
        assert all(abs(math.dist(there.at[a], there.at[b]) / reach - 1) < 0.01 for a, b in apart)
        graph = networkx.Graph(list(there.hops))
        assert len(graph) == n and networkx.is_connected(graph)
        assert there.lengths() == [networkx.shortest_path_length(graph, a, b) for a, b in there.pairs]


def test_what_is_measured_on_the_air_is_whole(paper, tmp_path):
    """Packets are conserved, one hop's throughput is bounded by what 802.11b carries, and a run is the same run again."""
    combinations = _on_air(paper, *((n, 75, q, a, "air") for n in (16, 32) for q in (25, 100) for a in ("DropTail", "ModRED")))
    runs = []
    for folder in ("once", "again"):
        with Runner(paper, tmp_path / folder) as runner:
            runs.append(runner.run([Job(c, 1) for c in combinations]))
    measured = [paper.measure(r, c) for r, c in zip(runs[0], combinations, strict=True)]
    assert measured == [paper.measure(r, c) for r, c in zip(runs[1], combinations, strict=True)]
    assert [r.fingerprint for r in runs[0]] == [r.fingerprint for r in runs[1]]
    # DIFS, half a least window, preambles, data at 2 Mbit/s, SIFS and the acknowledgment: what one pair carries alone
    alone = 1500 / (50e-6 + 15.5 * 20e-6 + 192e-6 + 8 * 1536 / 2e6 + 10e-6 + 192e-6 + 8 * 14 / 2e6)
    for m, r in zip(measured, runs[0], strict=True):
        assert m["received"] == m["enqueued"] + m["dropped"] and m["received"] >= m["sent"] / 2
        assert abs(m["enqueued"] - m["dequeued"]) <= sum(r.links["queue_max"])
        assert 0 < m["given_up"] < m["dequeued"] and 0 < m["retried"] < 100 and 0 < m["medium_busy"] <= 100
        sending = sum(1 for k in r.links["departures"] if k)
        assert 0 < m["throughput"] < 8e-3 * alone * sending / 2  # of two stations that have a hop one sends at a time
    droptail = {(c["network"], c["queue"]): m for c, m in zip(combinations, measured, strict=True) if c["aqm"] == "DropTail"}
    for n in ("16", "32"):
        assert droptail[n, "25"]["mean_time_in_queue"] < droptail[n, "100"]["mean_time_in_queue"]
        assert droptail[n, "25"]["dropped"] >= droptail[n, "100"]["dropped"]
