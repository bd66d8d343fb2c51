"""Prepared runs give the scenarios, numbers and errors of single runs with `--set`; tables come as one Arrow batch."""

from __future__ import annotations

import itertools
import json
import math
import threading
import tomllib
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fairlane as fl
from conftest import ROOT
from fairlane import _core
from fairlane.base import toml
from fairlane.base.scenario import checked, checked_pairs, source_of
from fairlane.runs.tables import _columns_of, _frame
from fairlane.study import Study
from fairlane.study.diagnosis import prepared_base
from fairlane.study.plan import resolve_combination

EXAMPLES = sorted(ROOT.glob("examples/*.toml"))


def network(**settings: Any) -> fl.Network:
    net = fl.Network(duration="600ms", warmup="100ms", **settings)
    net.link("a", "b", name="line", rate="10Mbit/s", delay="5ms", queue="droptail")
    net.link("b", "c", name="next", rate="20Mbit/s", delay="1ms", queue=fl.queues.Red(min="5p"))
    net.flow("upload", "a", "b", tcp="cubic", count=2, spread="50ms")
    net.flow("call", "a", "c", udp={}, source={"voip": {}})
    return net


def of_kind(kind: str) -> list[str]:
    names = [e["name"] for e in json.loads(_core.registry()) if e["kind"] == kind]
    assert names
    return [n for n in names if n != "plugin"]


def same(net: fl.Network, sets: dict[str, Any], prepared: fl.Prepared | None = None) -> bool:
    """Compares both ways to resolve a scenario with other values; False if both refuse it."""
    prepared = prepared or net.prepare()
    pairs = checked_pairs(sets)
    try:
        wanted = _core.resolve(*source_of(net), pairs).json()
    except fl.ScenarioError as e:
        with pytest.raises(fl.ScenarioError) as found:
            prepared._core.resolve(pairs)
        assert (str(found.value), found.value.diagnostics) == (str(e), e.diagnostics), sets
        return False
    assert prepared._core.resolve(pairs).json() == wanted, sets
    return True


# --- the same scenario -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("queue", "links.line.queue"),
        ("queue", "links.line.reverse.queue"),
        ("queue", "links.next.queue"),
        ("cc", "flows.upload.tcp"),
        ("source", "flows.upload.source"),
        ("source", "flows.call.source"),
        ("control", "control"),
    ],
)
def test_every_algorithm_gives_the_scenario_of_a_set_value(kind, path):
    net = network()
    prepared = net.prepare()
    fits = [same(net, {path: {name: {}} if kind == "control" else name}, prepared) for name in of_kind(kind)]
    assert sum(fits) >= len(fits) / 2 or kind in ("source", "control"), "most of them fit"


SETS: list[dict[str, Any]] = [
    {},
    {"links.line.rate": "8Mbit/s"},
    {"links.line.rate": "8Mbit/s", "links.line.delay": "30ms"},
    {"links.line.queue": "red", "links.line.queue.red.max": "40p"},
    {"links.next.queue.red.min": "7p"},
    {"links.next.queue.red.ecn": True, "flows.upload.tcp.ecn": "classic"},
    {"links.line.loss": 0.01, "links.line.reverse.loss": 0.02},
    {"links.line.reverse.rate": "1Mbit/s"},
    {"links.more": {"from": "c", "to": "d", "rate": "1Mbit/s", "delay": "1ms"}, "links.more.rate": "2Mbit/s"},
    {"links.more.from": "c", "links.more.to": "d", "links.more.rate": "2Mbit/s", "links.more.delay": "1ms"},
    {"flows.upload.count": 5},
    {"flows.upload.count": 1, "flows.upload.start": "200ms"},
    {"flows.upload.tcp": {"preset": "linux", "cc": "bbr"}},
    {"flows.upload.tcp.preset": "ns2"},
    {"flows.upload.tcp.initial_window": "4p"},
    {"flows.call.class": "ef"},
    {"flows.upload.amount": "20kB"},
    {"duration": "1s", "links.line.rate": "9Mbit/s"},
    {"seed": 9},
    {"report": "groups"},
    {"sample": "10ms"},
    {"routing": "single"},
]
WRONG: list[dict[str, Any]] = [
    {"links.lime.rate": "8Mbit/s"},
    {"links.line.rat": "8Mbit/s"},
    {"links.line.rate": "8"},
    {"links.line.rate": "0bit/s"},
    {"links.line.delay": "-1ms"},
    {"links.line.queue": "rad"},
    {"links.line.queue": "red", "links.line.queue.red.mim": "3p"},
    {"links.next.queue.red.max_p": 3},
    {"links.line.rate": "8Mbit/s", "links.line.trace": "nowhere.txt"},
    {"links.line..rate": "8Mbit/s"},
    {"links.line.reverse.queue.codel.target": "5"},
    {'links."line.reverse".rate': "1Mbit/s"},
    {"flows.uplaod.count": 3},
    {"flows.upload.count": 0},
    {"flows.upload.count": 3.5},
    {"flows.upload.tcp": "cubik"},
    {"flows.upload.udp": {}},
    {"flows.upload.to": "z"},
    {"flows.upload.start": "2s"},
    {"flows.call.source": "wab"},
    {"duration": "50ms", "links.line.rate": "0bit/s"},
    {"wat": 3},
    {"links.line.rate": "8Mb", "flows.upload.count": 0, "links.lime.rate": "1Mbit/s"},
]


def test_values_of_all_kinds_give_the_scenario_of_set_values():
    net = network()
    prepared = net.prepare()
    assert all(same(net, sets, prepared) for sets in SETS)
    pairs = itertools.permutations(SETS, 2)
    assert sum(same(net, {**a, **b}, prepared) for a, b in pairs) > 300


def test_wrong_values_give_the_errors_of_set_values():
    net = network()
    prepared = net.prepare()
    assert not any(same(net, sets, prepared) for sets in WRONG)
    for good, wrong in itertools.product(SETS[:8], WRONG):
        same(net, {**good, **wrong}, prepared)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda p: p.stem)
def test_links_and_flows_of_every_example(file):
    tree = tomllib.loads(file.read_text("utf-8"))
    net = fl.Network.from_file(file)
    prepared = net.prepare()
    names = [n for n in (x["name"] for x in net.resolve()["expanded"]["links"]) if not n.endswith(".reverse")][:3]
    links: list[dict[str, Any]] = [
        {f'links."{n}".{k}': v} for n in names for k, v in (("rate", "3Mbit/s"), ("delay", "7ms"), ("queue", "codel"))
    ]
    flows: list[dict[str, Any]] = [
        {f"flows.{n}.{k}": v} for n in list(tree["flows"])[:2] for k, v in (("start", "1ms"), ("tcp", "vegas"), ("count", 2), ("class", 3))
    ]
    assert any([same(net, sets, prepared) for sets in [*links, *flows, {**links[0], **links[1]}, {**links[0], **flows[0]}]])


def test_changes_during_the_run_follow_the_values():
    net = fl.Network.from_file(ROOT / "examples" / "rate_drop.toml")
    link = next(path.split(".")[1] for at in net.to_dict()["at"] for path in at["set"])
    assert same(net, {f"links.{link}.delay": "11ms"})
    assert not same(net, {f"links.{link}.down": [{"at": "1s"}]})


# --- the same numbers --------------------------------------------------------------------------------------------------------


def test_numbers_and_fingerprints_of_a_run(recwarn):
    net = network()
    prepared = net.prepare(vary=["links.line.rate", "links.line.queue"])
    points = [{"links.line.rate": rate, "links.line.queue": queue} for rate in ("2Mbit/s", "9Mbit/s") for queue in ("red", "fq_codel")]
    want = ["flows.upload.goodput", "flows.upload.goodput.sum", "flows.upload.goodput.jain", "flows.upload.1.delay_p99", "flows.*.loss.max"]
    want += [
        "links.line.queue_mean",
        "links.line.reverse.utilisation",
        "links.*.drops.sum",
        "network.goodput",
        "network.drops",
        "network.jain",
    ]
    runs = prepared.run(points, seeds="3..5", want=want)
    whole = prepared.run(points, seeds="3..5")
    assert len(runs) == len(whole) == 4
    expected = [net.replace(point).run(seeds="3..5") for point in points]
    assert [r.fingerprints for r in whole] == [r.fingerprints for r in expected]
    assert runs.fingerprints == [f for r in expected for f in r.fingerprints]
    for point, (ours, result) in enumerate(zip(whole, expected, strict=True)):
        for table in ("flows", "links", "network"):
            assert_frame_equal(ours.table(table), result.table(table), check_exact=True)
        assert ours.scenario == result.scenario
        assert runs.values("flows.upload.1.delay_p99", point=point) == result.flows.filter(flow="upload.1")["delay_p99"].to_list()
        assert runs.values("links.line.queue_mean", point=point) == result.links.filter(link="line")["queue_mean"].to_list()
        assert runs.values("network.drops", point=point) == result.network["drops"].to_list()
        assert runs.value("network.jain", point=point) == result.value("jain")
        for i, seed in enumerate((3, 4, 5)):
            own = result.flows.filter(pl.col("seed") == seed, pl.col("flow").str.starts_with("upload."))["goodput"].to_list()
            assert runs.values("flows.upload.goodput", point=point)[i] == math.fsum(own) / 2
            assert runs.values("flows.upload.goodput.sum", point=point)[i] == math.fsum(own)
            assert math.isclose(runs.values("flows.upload.goodput.jain", point=point)[i], sum(own) ** 2 / 2 / sum(x * x for x in own))
    assert runs.array("network.goodput").shape == (4, 3)
    frame = runs.frame()
    assert frame.height == 12 and frame["seed"].to_list() == [3, 4, 5] * 4 and frame["links.line.queue"][3] == "fq_codel"


def test_metrics_that_are_computed_alone_are_those_of_the_tables():
    """Each metric without the others: none depends on one that is left out."""
    net = network()
    net.wireless("air", nodes={"b": [0, 0], "w": [10, 0]}, rate="11Mbit/s", standard="802.11b")
    net.flow("radio", "b", "w", tcp="newreno")
    prepared, result = net.prepare(), net.run(seeds=[2])
    for table, row, name in (("flows", "upload.0", "flow"), ("links", "line", "link"), ("links", "b-air", "link"), ("network", "", "")):
        frame = result.table(table)
        frame = frame.filter(pl.col(name) == row) if name else frame
        for metric in (c for c in frame.columns if frame[c].dtype == pl.Float64):
            (found,) = prepared.run(seeds=[2], want=".".join(p for p in (table, row, metric) if p)).values()
            wanted = frame[metric][0]
            assert found == wanted or (not math.isfinite(wanted) and math.isnan(found)), (table, row, metric)


def test_a_number_of_flows_that_varies():
    prepared = network().prepare("flows.upload.count")
    runs = prepared.run(
        [{"flows.upload.count": n} for n in (1, 2, 7)], seeds=2, want=["flows.upload.packets_sent.sum", "network.packets_sent"]
    )
    assert runs.array().shape == (3, 2) and len(set(runs.array().ravel())) == 6
    with pytest.raises(fl.UnknownNameError, match=r"flows\.upload\.4"):
        prepared.run([{"flows.upload.count": n} for n in (7, 2)], want="flows.upload.4.goodput")


def test_results_do_not_depend_on_threads_or_on_the_number_of_points():
    prepared = network().prepare()
    points = [{"links.line.rate": f"{n}Mbit/s"} for n in range(1, 7)]
    alone = [prepared.run(point, seeds=2, want="network.goodput") for point in points]
    for threads in (1, 2, 5):
        runs = prepared.run(points, seeds=2, want="network.goodput", threads=threads)
        assert runs.fingerprints == [f for one in alone for f in one.fingerprints]
        assert [runs.values(point=i) for i in range(6)] == [one.values() for one in alone]


def test_more_points_than_are_kept():
    """The room for resolved scenarios is 32,768 nodes, links and flows."""
    net = fl.Network(duration="2ms").dumbbell(pairs=2000, bottleneck={"rate": "10Mbit/s", "delay": "1ms"})
    net.flow("f", "s0", "d0", tcp="newreno")
    points = [{"links.bottleneck.delay": f"{n}ms"} for n in (2, 3, 4, 5)]
    runs = net.prepare().run(points, seeds=[1], want="network.packets_sent")
    assert runs.fingerprints == [f for p in points for f in net.replace(p).run(seeds=[1]).fingerprints]


def test_without_seeds_a_point_has_its_own():
    net = network()
    prepared = net.prepare()
    runs = prepared.run([{"seed": 4}, {}], want="network.goodput")
    assert runs.seeds is None and runs.fingerprints == net.run(seeds=[4]).fingerprints + net.run().fingerprints
    assert prepared.run({"seed": 4}).seeds == [4]


def test_several_python_threads_share_a_prepared_network():
    prepared = network().prepare()
    points = [{"links.line.rate": f"{n}Mbit/s"} for n in range(2, 8)]
    expected = [prepared.run(p, seeds=2, want="network.goodput").values() for p in points]
    found: dict[int, list[float]] = {}

    def work(i: int) -> None:
        for _ in range(5):
            found[i] = prepared.run(points[i], seeds=2, want="network.goodput").values()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert [found[i] for i in range(6)] == expected


# --- refused -----------------------------------------------------------------------------------------------------------------


def test_a_wrong_point_is_found_before_anything_runs():
    prepared = network(description="long").prepare()
    ran: list[int] = []
    points = [{"duration": "600s"}, {"links.line.rate": "8"}]
    with pytest.raises(fl.ScenarioError, match="has no unit"):
        prepared.run(points, want="network.goodput", progress=lambda _f, _d, events: ran.append(events))
    assert sum(ran) == 0


@pytest.mark.parametrize(
    ("want", "message"),
    [
        ("flow.upload.goodput", "unknown table"),
        ("flows.uplaod.goodput", "upload"),
        ("flows.upload.godput", "goodput"),
        ("links.lime.drops", "line"),
        ("links.line.drops_foo", "metric of links"),
        ("network.a.goodput", r"network\.METRIC"),
        ("groups.upload.goodput", "report"),
        ("", "unknown table"),
        ([], "nothing is wanted"),
    ],
)
def test_wanted_metrics_that_do_not_exist(want, message):
    with pytest.raises(fl.FairlaneError, match=message):
        network().prepare().run(want=want)


def test_groups_are_wanted_of_a_scenario_that_reports_them():
    prepared = network(report="groups").prepare()
    result = prepared.run()
    assert prepared.run(want="groups.upload.goodput").values() == result.groups.filter(group="upload")["goodput"].to_list()
    with pytest.raises(fl.FairlaneError, match=r"groups\.upload\.goodput"):
        prepared.run(want="flows.upload.goodput")


def test_paths_that_do_not_vary_and_other_arguments():
    prepared = network().prepare(vary=["links.line.rate"])
    assert repr(prepared) == "Prepared(links.line.rate)"
    with pytest.raises(fl.UnknownNameError, match=r"links\.line\.rate"):
        prepared.run({"links.line.rats": "1Mbit/s"}, want="network.goodput")
    with pytest.raises(fl.ArgumentError, match="not a path"):
        network().prepare(vary="links..rate")
    with pytest.raises(fl.ArgumentError, match="a point is a dict"):
        prepared.run(["links.line.rate"], want="network.goodput")  # type: ignore[list-item]
    with pytest.raises(fl.ArgumentError, match="threads"):
        prepared.run(threads=-1)
    with pytest.raises(fl.ScenarioError, match="has no `rate`"):
        fl.Network(duration="1s").flow("f", "a", "b", tcp={}).link("a", "b").prepare()
    assert len(prepared.run([], want="network.goodput")) == 0 and prepared.run([]) == []
    runs = prepared.run(want="network.goodput")
    with pytest.raises(fl.ArgumentError, match="no point 1"):
        runs.values(point=1)
    with pytest.raises(fl.UnknownNameError, match="goodput"):
        runs.value("network.gooodput")


def test_progress_stops_the_runs():
    prepared = network().prepare()
    with pytest.raises(fl.RunError, match="stopped"):
        prepared.run([{"duration": "1000s"}] * 3, want="network.goodput", progress=lambda *_: False)
    with pytest.raises(ZeroDivisionError):
        prepared.run({"duration": "1000s"}, want="network.goodput", progress=lambda *_: bool(1 / 0))


@pytest.mark.parametrize("threads", [1, 2])
def test_interrupt(threads):
    import signal

    prepared = network().prepare()
    # A shell starts its background jobs without this handler.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            prepared.run([{"duration": "1000h"}] * 2, want="network.goodput", threads=threads)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


def test_warnings_are_issued_once():
    prepared = network().prepare()
    with pytest.warns(fl.ScenarioWarning) as seen:
        prepared.run({"duration": "150ms"}, want="network.goodput")
        first = len(seen)
        prepared.run({"duration": "150ms"}, want="network.goodput")
    assert first == len(seen) > 0


def test_a_plug_in_queue_and_its_next_version():
    def announce(limit: int) -> None:
        class PreparedFifo(fl.Qdisc):
            """Keeps packets in order."""

            def start(self) -> None:
                self.waiting: list[Any] = []

            def enqueue(self, packet: Any) -> None:
                self.waiting.append(packet)
                if len(self.waiting) > limit:
                    self.drop(self.waiting.pop())

            def dequeue(self) -> Any:
                return self.waiting.pop(0) if self.waiting else None

    announce(5)
    net = network()
    prepared = net.prepare()
    point = {"links.line.queue": "PreparedFifo", "links.line.rate": "2Mbit/s"}
    runs = [prepared.run([point, {}], seeds=2, want="links.line.drops", threads=n) for n in (1, 2)]
    assert runs[0].fingerprints == runs[1].fingerprints == net.replace(point).run(seeds=2).fingerprints + net.run(seeds=2).fingerprints
    announce(50)
    again = prepared.run(point, seeds=2, want="links.line.drops")
    assert again.fingerprints == net.replace(point).run(seeds=2).fingerprints != runs[0].fingerprints[:2]


# --- studies -----------------------------------------------------------------------------------------------------------------


def test_combinations_of_a_study_have_the_keys_of_single_resolutions():
    study = Study(
        network(),
        factors={
            "links.line.queue": ["red", "codel", fl.queues.Droptail(limit="30p")],
            "flows.upload.count": [1, 3],
            "duration": ["1s", "2s"],
        },
        seeds=2,
        metrics=["network.goodput"],
        set={"links.line.delay": "9ms", "warmup": "200ms"},
    )
    plan = study.plan()
    for c, levels in zip(plan.combinations, itertools.product(*(f.levels for f in study.spec.factors)), strict=True):
        alone = resolve_combination(study.spec, c.index, levels)
        assert (c.essence, c.resolved, c.groups, c.links) == (alone.essence, alone.resolved, alone.groups, alone.links)
        assert checked(network(), [*study.spec.sets, *(s for level in levels for s in level.sets)]).json(False)
    assert prepared_base(study.spec) is not None


# --- tables ------------------------------------------------------------------------------------------------------------------


def test_tables_from_arrow_have_the_columns_of_the_core():
    net = network()
    runs = _core.run(checked(net), [5, 2**63, 7], 1)
    for table in ("flows", "links", "network"):
        key = {"flows": "flow", "links": "link"}.get(table, "name")
        frame = pl.read_ipc_stream(_core.arrow(runs, [5, 2**63, 7], table, key))
        assert_frame_equal(frame, _frame([5, 2**63, 7], [_columns_of(r, table) for r in runs]), check_exact=True)
    with pytest.raises(KeyError):
        _core.arrow(runs, [1, 2, 3], "flow_series", "flow")


# --- live changes ------------------------------------------------------------------------------------------------------------


def test_many_changes_of_links_are_those_of_a_file():
    """A change of a link takes a shorter way than one of a file; states and trajectories are the same."""
    sets: list[dict[str, Any]] = [
        {"links.line.rate": "6Mbit/s"},
        {"links.line.queue": "red"},
        {"links.line.queue.red.min": "8p", "links.next.rate": "4Mbit/s"},
        {"flows.upload.count": 1},
        {"links.line.loss": 0.01, "links.line.delay": "3ms"},
        {"links.line.queue": "fq_codel"},
        {"links.line.reverse.delay": "8ms"},
    ]
    net = network()
    sim = net.start(seed=3)
    for i, values in enumerate(sets):
        sim.advance(to=f"{150 + 50 * i}ms")
        sim.set(values)
        for wrong in (
            {"links.line.rate": "4"},
            {"links.lime.rate": "4Mbit/s"},
            {"links.line.weight": 4},
            {"links.line.down": [{"at": "1s"}]},
        ):
            with pytest.raises(fl.ScenarioError):
                sim.set(wrong)
    sim.advance(to="600ms")
    tree = net.to_dict()
    tree["at"] = [{"time": f"{150 + 50 * i}ms", "set": values} for i, values in enumerate(sets)]
    assert sim.fingerprint == fl.Network.from_toml(toml.dumps(tree)).run(seeds=[3]).fingerprints[0]
    link = sim.scenario["links"]["line"]
    assert (link["rate"], link["delay"], list(link["queue"])) == ("6Mbit/s", "3ms", ["fq_codel"])
