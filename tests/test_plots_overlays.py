"""Plots over runs, results and combinations of studies; theory against formulas of other sources and simulated queues."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from validation.formulas import formulas as elsewhere

import fairlane as fl
from fairlane.runs.plots import formulas
from fairlane.runs.plots.figure import draw
from plot_cases import axes_of, lines, network, one_way

# --- over runs, results and studies ---------------------------------------------------------------------------


def test_a_band_is_the_interval_over_the_runs(result):
    axes = axes_of(result, "window", flow="ecn", seed="all")
    (line,), (band,) = lines(axes), [c for c in axes.collections if c.get_gid() == "band"]
    at = 120
    time = line.get_xdata()[at]
    values = result.flow_series.filter((pl.col("flow") == "ecn") & (pl.col("time") == time))["cwnd"].cast(pl.Float64).to_list()
    expected = fl.interval(values, within=(0.0, math.inf))
    assert expected.low > 0
    assert line.get_ydata()[at] == pytest.approx(expected.mean / 1e3)
    ends = {round(y, 6) for x, y in band.get_paths()[0].vertices if x == time}
    assert {round(expected.low / 1e3, 6), round(expected.high / 1e3, 6)} <= ends


def test_a_band_of_a_distribution_is_the_interval_of_its_quantiles(result):
    drawn = draw([("", result)], "delay-cdf", flow="ecn", seed="all").pens[0].drawn
    line, band = (next(d for d in drawn if d["role"] == role) for role in ("line", "band"))
    runs = []
    for seed in (1, 2):
        events = result.trace().filter(pl.col("seed") == seed).collect().to_dicts()
        runs.append(np.sort([1e3 * d for d in one_way(events, "ecn")]))
    at = int(np.argmin(np.abs(line["y"] - 0.5)))
    medians = [r[math.ceil(line["y"][at] * len(r)) - 1] for r in runs]
    expected = fl.interval(medians, within=(0.0, math.inf))
    assert line["x"][at] == pytest.approx(expected.mean) and band["low"][at] == pytest.approx(expected.low)


def test_results_lie_over_one_another_by_their_names(result):
    other = network(duration="4s").replace("topology.dumbbell.bottleneck.queue", "codel").run()
    figure = fl.plot({"red": result, "codel": other}, "jain-time")
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["red", "codel"]
    assert len({(x.get_color(), str(x.get_linestyle())) for x in lines(figure.axes[0])}) == 2
    both = fl.plot([result, other], "queue", link="bottleneck")
    assert len(lines(both.axes[0])) == 2
    # What would cover one another stands side by side.
    side = fl.plot({"red": result, "codel": other}, "queue-events", link="bottleneck")
    assert [a.get_title("left") for a in side.axes] == ["red", "codel"]


def test_a_metric_of_several_results_has_its_intervals(result, files):
    figure = fl.plot({"red": result, "files": files}, "jain")
    found = result.value("jain")
    first = lines(figure.axes[0], "points")[0]
    assert first.get_xdata()[0] == pytest.approx(found.mean)
    (bar, _) = [c.get_segments()[0] for c in figure.axes[0].collections if c.get_gid() == "interval"]
    assert (bar[0][0], bar[1][0]) == pytest.approx((found.low, found.high))


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> fl.StudyResult:
    base = fl.Network(duration="2s", warmup="500ms", sample="20ms").dumbbell(
        pairs=2, access={"rate": "100Mbit/s", "delay": "1ms"}, bottleneck={"rate": "5Mbit/s", "delay": "10ms", "queue": "droptail"}
    )  # fmt: skip
    base.flow("tcp", "s{i}", "d{i}", tcp="newreno", count=2, spread="100ms")
    factors = {"links.bottleneck.queue": ["droptail", "codel"], "links.bottleneck.rate": ["2Mbit/s", "5Mbit/s"]}
    made = fl.Study(base, factors=factors, seeds="1..2", metrics=["network.goodput"])
    return made.run(tmp_path_factory.mktemp("study") / "s")


def test_points_of_a_study_are_results(study):
    """A run of a study: the same scenario by itself has the same tables."""
    found = study.results(queue="codel")
    assert len(found) == 2
    own = next(r for name, r in found.items() if "2" in name)
    net = fl.Network(duration="2s", warmup="500ms", sample="20ms").dumbbell(
        pairs=2, access={"rate": "100Mbit/s", "delay": "1ms"}, bottleneck={"rate": "2Mbit/s", "delay": "10ms", "queue": "codel"}
    )  # fmt: skip
    alone = net.flow("tcp", "s{i}", "d{i}", tcp="newreno", count=2, spread="100ms").run(seeds="1..2")
    assert own.fingerprints == alone.fingerprints and own.seeds == [1, 2]
    assert own.flows["goodput"].to_list() == alone.flows["goodput"].to_list()
    mine, theirs = (r.link_series.sort("seed", "link", "time").select("seed", "link", "time", "queue") for r in (own, alone))
    assert mine.rows() == theirs.rows()


def test_small_multiples_have_the_levels_as_titles_and_one_scale(study):
    figure = study.plot("window", panel="queue", where={"rate": "5Mbit/s"})
    assert [a.get_title("left") for a in figure.axes] == ["droptail", "codel"]
    assert len({a.get_ylim() for a in figure.axes}) == len({a.get_xlim() for a in figure.axes}) == 1
    with pytest.raises(fl.FairlaneError, match="needs recorded events"):
        study.plot("delay-cdf")
    with pytest.raises(fl.FairlaneError, match="theory= goes with kinds"):
        study.plot("network.goodput", theory="bdp")


# --- theory ---------------------------------------------------------------------------------------------------


def test_what_theory_says_of_a_path(result):
    """By hand: 1500 B over 100, 5 and 100 Mbit/s and 1 + 10 + 1 ms there; 40 B and 12 ms back."""
    path = formulas.Routes(result.scenario).path("plain.0")
    there = 0.012 + 12000 * (2 / 100e6 + 1 / 5e6)
    back = 0.012 + 320 * (2 / 100e6 + 1 / 5e6)
    assert (path.delay, path.back) == pytest.approx((there, back)) and path.narrowest == "bottleneck"
    assert path.full - path.rtt == pytest.approx(60 * 12000 / 5e6)
    assert formulas.Routes(result.scenario).over("bottleneck") == 3
    axes = axes_of(result, "window", theory=("bdp", "fair"))
    bdp = 5e6 * (there + back) / 8 / 1e3
    assert sorted(x.get_ydata()[0] for x in lines(axes, "theory")) == pytest.approx([bdp / 3, bdp])


def test_who_never_waits_takes_the_base_delay(result, events):
    assert min(one_way(events, "plain.0")) == pytest.approx(formulas.Routes(result.scenario).path("plain.0").delay, rel=0.02)
    alone = fl.Network(duration="1s").link("a", "b", rate="10Mbit/s", delay="3ms").link("b", "c", rate="1Mbit/s", delay="4ms")
    done = alone.flow("f", "a", "c", tcp={"initial_window": "1p"}).run(trace=True)
    # The first packet waits behind the acknowledgment of the handshake, the one after the next round trip behind nothing.
    rows = done.trace().filter(pl.col("event").is_in(["send", "receive"])).collect().to_dicts()
    assert min(one_way(rows, "f", since=0)) == pytest.approx(formulas.Routes(done.scenario).path("f").delay, rel=1e-9)


def test_theory_refuses_what_it_cannot_know():
    net = fl.Network(duration="1s", sample="10ms")
    for way, delay in (("x", "1ms"), ("y", "5ms")):
        net.link("a", way, rate="10Mbit/s", delay=delay).link(way, "b", rate="10Mbit/s", delay=delay)
    done = net.flow("f", "a", "b", tcp={}).run()
    with pytest.raises(fl.FairlaneError, match="several different paths are equally short"):
        done.plot("window", theory="bdp")
    done.plot("window")


@pytest.mark.parametrize("load", [0.3, 0.7, 0.9, 0.97])
def test_the_waiting_time_of_m_d_1(load):
    """Its mean is Pollaczek and Khinchine's, P(0) = 1 - load, and near zero it is Erlang's own closed form (1909)."""
    t = np.arange(0, 200, 0.1)
    tail = 1 - formulas.md1_cdf(t, load, 1.0)
    assert tail[0] == pytest.approx(load) and (np.diff(tail) <= 1e-12).all() and tail[-1] < 2e-3
    mean = np.trapezoid(tail, t)
    assert mean == pytest.approx(load / (2 * (1 - load)), rel=0.02)
    assert formulas.md1_waiting(load) == pytest.approx(load * mean, rel=0.02)  # Little
    early = t[t < 3]
    erlang = [
        (1 - load) * sum((-load * (x - k)) ** k / math.factorial(k) * math.exp(load * (x - k)) for k in range(int(x) + 1)) for x in early
    ]
    assert 1 - tail[: len(early)] == pytest.approx(erlang, abs=1e-9)


def test_a_simulated_m_d_1_lies_on_its_curve():
    net = fl.Network(duration="100s", warmup="5s", sample="1s")
    net.link("a", "b", name="l", rate="8Mbit/s", delay="1ms", queue={"droptail": {"limit": "10000p"}})
    net.flow("u", "a", "b", udp={"header": "0B"}, source={"poisson": {"rate": "6.4Mbit/s", "size": "1000B"}})
    drawn = draw([("", net.run(trace="send,receive"))], "delay-cdf", theory=("md1", "delay")).pens[0].drawn
    measured, theory = drawn[0], next(d for d in drawn if "M/D/1" in d["name"])
    there = np.interp(theory["x"], measured["x"], measured["y"])
    assert np.abs(there - theory["y"])[2:].max() < 0.03
    assert next(d for d in drawn if "base" in d["name"])["x"] == pytest.approx([2.0])  # 1 ms of wire, 1 ms at the rate


def test_laws_are_those_of_another_source():
    for p in (1e-4, 1e-3, 1e-2, 0.1):
        assert formulas.square_root(0.1, p, 1000, 2) == pytest.approx(8000 * elsewhere.square_root(p, 0.1, 2))
        assert formulas.pftk(0.1, p, 1000, 2, 1.0) == pytest.approx(8000 * elsewhere.pftk(p, 0.1, 2, 1.0))
