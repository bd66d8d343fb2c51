"""Intervals stay within what a metric can be: against Wilson's of scipy, by their coverage, and in everything that shows a result."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

import fairlane as fl
from fairlane.base.format import quantity
from fairlane.base.metrics import jain, metrics, series, within
from fairlane.runs.curves import mean_and_interval
from fairlane.stats import bounded, effects, from_moments, interval, paired, welch
from fairlane.stats.intervals import t_factor

SHARE, POSITIVE = (0.0, 1.0), (0.0, math.inf)


@pytest.mark.parametrize(("successes", "n"), [(1, 8), (3, 50), (200, 1000), (49, 50)])
def test_counts_have_the_interval_of_wilson(successes, n):
    scipy = pytest.importorskip("scipy.stats")
    mean = successes / n
    half = scipy.norm.ppf(0.975) * math.sqrt(mean * (1 - mean) / n)
    theirs = scipy.binomtest(successes, n).proportion_ci(method="wilson")
    assert bounded(mean, half, SHARE) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


def test_the_ends_solve_the_equations_and_a_mirrored_range_mirrors_them():
    for mean, half in ((0.04, 0.11), (0.5, 0.02), (0.97, 0.3)):
        low, high = bounded(mean, half, SHARE)
        k = half**2 / (mean * (1 - mean))
        assert all((x - mean) ** 2 == pytest.approx(k * x * (1 - x)) for x in (low, high)) and 0 < low < mean < high < 1
        assert bounded(1 - mean, half, SHARE) == pytest.approx((1 - high, 1 - low))
        assert bounded(8 * mean + 2, 8 * half, (2.0, 10.0)) == pytest.approx((8 * low + 2, 8 * high + 2))
    low, high = bounded(3.0, 5.0, POSITIVE)
    assert all((x - 3.0) ** 2 == pytest.approx(25 / 3 * x) for x in (low, high))
    assert bounded(-3.0, 5.0, (-math.inf, 0.0)) == pytest.approx((-high, -low))


def test_a_narrow_interval_is_that_of_student():
    plain, kept = from_moments(9.6e6, 1e5, 10), from_moments(9.6e6, 1e5, 10, within=POSITIVE)
    assert (kept.low, kept.high) == pytest.approx((plain.low, plain.high), rel=1e-4)
    assert quantity(kept, "bit/s") == quantity(plain, "bit/s") == "9.600 ± 0.072 Mbit/s"
    assert interval([0.2, 0.2], within=SHARE) == interval([0.2, 0.2])
    assert interval([0.0, 0.0], within=SHARE).high == 0.0 and interval([1.0, 1.0], within=SHARE).low == 1.0


def test_no_interval_leaves_its_range():
    rng = np.random.default_rng(5)
    for n in (2, 3, 5, 20):
        for values in (rng.beta(0.3, 5, (200, n)), rng.integers(0, 2, (200, n)).astype(float), 1 - rng.beta(0.2, 9, (200, n))):
            for row in values:
                iv = interval(row, within=SHARE)
                assert 0 <= iv.low <= iv.mean <= iv.high <= 1
        for row in rng.poisson(0.6, (200, n)):
            iv = interval(row, within=POSITIVE)
            assert 0 <= iv.low <= iv.mean <= iv.high < math.inf


def test_it_covers_more_than_student_where_values_crowd_at_a_bound():
    rng, n = np.random.default_rng(1), 5
    draws = {
        "exponential": (rng.exponential(1, (4000, n)), 1.0, POSITIVE, 0.92),
        "beta": (rng.beta(2, 40, (4000, n)), 2 / 42, SHARE, 0.93),
        "near one": (1 - rng.beta(1, 30, (4000, n)), 30 / 31, SHARE, 0.92),
        "normal": (rng.normal(0.5, 0.1, (4000, n)), 0.5, SHARE, 0.94),
    }
    for name, (x, truth, of, least) in draws.items():
        mean, half = x.mean(axis=1), t_factor(0.95, n - 1) * x.std(axis=1, ddof=1) / math.sqrt(n)
        student = np.mean(np.abs(mean - truth) <= half)
        ends = np.array([bounded(m, h, of) for m, h in zip(mean, half, strict=True)])
        ours = np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
        assert ours >= least and ours >= student - 0.002, (name, student, ours)


def test_a_lopsided_interval_shows_both_ends():
    iv = interval([0.01, 0.02, 0.09], within=SHARE)
    assert not iv.even and f"{iv:.2g}" == "0.04 (0.0042 to 0.29)"
    assert quantity(iv.times(100), "%") == "4 (0.42 to 29) %"
    assert iv.errors == pytest.approx((iv.mean - iv.low, iv.high - iv.mean))
    assert interval([3.0]).errors == (0.0, 0.0) and interval([3.0]).even


def test_every_metric_and_series_has_a_range():
    assert within("r_factor") == (0.0, 100.0) and within("mos") == (1.0, 4.5)
    assert all(m.least == 0.0 and m.most in (1.0, math.inf) for m in (*metrics(), *series()) if m.name not in ("r_factor", "mos"))
    shares = {m.name for m in metrics() if m.most == 1.0}
    assert shares == {
        "loss", "utilisation", "loss_synchronisation", "airtime", "medium_busy", "jain", "jain_tcp", "worst_share",
        "discard_rate", "rebuffering_ratio",
    }  # fmt: skip
    assert all(m.unit == "1" for m in metrics() if m.name in shares)
    assert within("goodput", "jain") == SHARE and within("loss", "sum") == POSITIVE and within("my own gauge") == (-math.inf, math.inf)


def test_bands_over_time_stay_within_their_range():
    rows = np.array([[0.0, 0.0, 9.0], [1.0, 1.0, 1.0], [np.nan, 2.0, np.nan], [np.nan, np.nan, np.nan]])
    mean, low, high = mean_and_interval(rows, POSITIVE)
    iv = interval([0.0, 0.0, 9.0], within=POSITIVE)
    assert (low[0], high[0]) == pytest.approx((iv.low, iv.high)) and low[1] == high[1] == 1.0 and low[2] == high[2] == mean[2] == 2.0
    assert np.isnan(mean[3])


@pytest.fixture(scope="module")
def lossy():
    """A file of a few packets over a link that loses some: most runs lose nothing."""
    net = fl.Network(duration="2s", sample="100ms")
    net.link("a", "b", name="l", rate="10Mbit/s", delay="10ms", loss=0.01)
    net.flow("udp", "a", "b", udp={}, source={"cbr": {"rate": "200kbit/s", "size": "972B"}})
    return net.run(seeds="1..4")


def test_what_is_shown_of_a_loss_is_possible(lossy):
    every = lossy.flows["loss"].to_list()
    plain = interval(every)
    assert plain.low < 0 < plain.mean
    iv = lossy.value("loss", flow="udp")
    assert 0 < iv.low < iv.mean < iv.high < 1 and iv == interval(every, within=SHARE, unit="1")
    document = json.loads(lossy.to_json())["flows"][0]["loss"]
    assert (document["low"], document["mean"], document["high"]) == (iv.low, iv.mean, iv.high)
    row = lossy.mean("flows").row(0, named=True)
    assert (row["loss_low"], row["loss_high"]) == (iv.low, iv.high)
    for table in ("flows", "links", "network"):
        found = lossy.summary(table)
        assert (found["low"].drop_nulls() >= 0).all(), table


@pytest.mark.parametrize("compare", [paired, welch])
def test_differences_and_changes_stay_possible(compare):
    ours, theirs = [0.0, 0.02, 0.9], [0.9, 0.95, 0.1]
    plain, kept = compare(ours, theirs), compare(ours, theirs, within=SHARE)
    assert plain.difference.low < -1 and kept.difference.low == -1 and kept.difference.high == min(1.0, plain.difference.high)
    assert (kept.p, kept.difference.value, kept.change.value) == (plain.p, plain.difference.value, plain.change.value)
    assert kept.a.low > 0 and kept.b.high < 1 and plain.a.low < 0
    few = compare([0.0, 0.1, 4.0], [20.0, 21.0, 22.0])
    cut = compare([0.0, 0.1, 4.0], [20.0, 21.0, 22.0], within=POSITIVE)
    assert few.change.low < -100 == cut.change.low and cut.change.high == few.change.high < 0
    # A difference of amounts has no bound of its own.
    assert (cut.difference.low, cut.difference.high) == (few.difference.low, few.difference.high)


def test_means_of_levels_stay_possible():
    pl = pytest.importorskip("polars")
    rows = [{"queue": q, "seed": s, "loss": x} for q, xs in (("a", (0.0, 0.0, 0.2)), ("b", (0.1, 0.3, 0.2))) for s, x in enumerate(xs)]
    for block in ("seed", None):
        plain, kept = (effects(pl.DataFrame(rows), "loss", ["queue"], block=block, within=of) for of in ((-math.inf, math.inf), SHARE))
        assert plain["low"][0] < 0 <= kept["low"].min() and kept["high"].max() <= 1
        assert kept["mean"].to_list() == plain["mean"].to_list()


def test_papers_show_both_ends_of_a_lopsided_interval():
    from fairlane.papers.numbers import mean_and_interval, pm

    row = SimpleNamespace(ours=4.0, low=0.0, high=15.0)
    assert pm(row) == "4.0 (0.0 to 15.0)" and mean_and_interval(SimpleNamespace(ours=4.0, low=3.0, high=5.0)) == ("4.0", "± 1.0")


def test_flows_of_different_bottlenecks_are_not_compared():
    assert jain([1.0, 1.0, 9.0, 9.0], [1.0, 1.0, 9.0, 9.0]) == 1.0
    assert jain([1.0, 3.0, 9.0, 0.0], [2.0, 2.0, 4.5, 4.5]) == pytest.approx(4 / (2 / 0.8 + 2 / 0.5))
    assert jain([1.0, 3.0], [math.nan, math.nan]) == jain([1.0, 3.0])


def test_two_bottlenecks_of_different_rates_are_fair_everywhere(tmp_path):
    net = fl.Network(duration="3s", warmup="1s", sample="100ms")
    for name, rate in (("slow", "2Mbit/s"), ("fast", "20Mbit/s")):
        net.link(f"{name}-a", f"{name}-b", name=name, rate=rate, delay="5ms")
        net.flow(name, f"{name}-a", f"{name}-b", count=2, udp={}, source={"cbr": {"rate": "900kbit/s" if name == "slow" else "9Mbit/s"}})
    result = net.run(seeds="1..2")
    assert result.value("jain").mean > 0.999 and result.value("worst_share").mean > 0.98
    assert result.value("jain", link="slow").mean > 0.999 and result.value("bottleneck_flows", link="fast").mean == 2
    goodputs = result.flows.filter(result.flows["seed"] == 1)["goodput"].to_list()
    assert jain(goodputs) < 0.7
    from fairlane.runs.sheets import Groups

    assert Groups(result).value(result.flows["flow"].unique().to_list(), "goodput", "jain").mean > 0.999
    study = fl.Study(
        net, factors={"links.slow.delay": ["5ms", "6ms"]}, metrics={"all": "flows.*.goodput.jain", "one": "network.jain"}, seeds="1..2"
    )
    done = study.run(tmp_path / "s")
    assert all(x > 0.999 for x in done.runs()["all"].to_list() + done.runs()["one"].to_list())
