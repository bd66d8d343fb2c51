"""Intervals cover the truth as often as they say: M/M/1 in the simulator, where the truth is a formula; synthetic values for the rest."""

import numpy as np
import pytest

import fairlane as fl
from fairlane import _core
from fairlane.base.cores import available_threads
from fairlane.base.scenario import checked
from fairlane.stats import bootstrap, interval, paired, verdict, welch

EXPERIMENTS = 1000
SERVICE = 0.8e-3  # 1000 bytes at 10 Mbit/s


def mm1(load, seeds, *, duration, sample=None):
    """Runs of M/M/1: Poisson arrivals of packets with exponential sizes before one link."""
    settings = {"duration": duration, "warmup": "300ms"} | ({"sample": sample} if sample else {})
    net = fl.Network(**settings).link("a", "b", name="link", rate="10Mbit/s", delay="1ms", queue={"droptail": {"limit": "1000000p"}})
    source = {"poisson": {"rate": f"{load * 10:g}Mbit/s", "size": "1000B", "sizes": "exponential"}}
    net.flow("udp", "a", "b", udp={"header": "0B"}, source=source)
    return _core.run(checked(net), list(seeds), available_threads(), False, None)


@pytest.fixture(scope="module")
def waits():
    """1,000 experiments of ten independent runs, each some 2,900 packets: the mean waiting time in each, in mean service times."""
    runs = mm1(0.5, range(1, 10 * EXPERIMENTS + 1), duration="5s")
    return np.array([r.links()["sojourn_mean"][0] for r in runs]).reshape(EXPERIMENTS, 10) / SERVICE


def coverage(intervals, truth):
    return np.mean([truth in iv for iv in intervals])


def test_t_intervals_of_mm1_cover_the_waiting_time(waits):
    # M/M/1 (Kleinrock, Queueing Systems 1, 3.2): the mean wait is load / (1 - load) service times. 300 ms are 375 of them: no bias is left.
    truth = 0.5 / (1 - 0.5)
    assert np.mean(waits) == pytest.approx(truth, rel=0.005)
    assert 0.93 <= coverage([interval(v) for v in waits], truth) <= 0.97
    assert 0.87 <= coverage([interval(v, 0.9) for v in waits], truth) <= 0.93
    # They can fail: a truth 10 % away, or an interval half as wide, is found out.
    assert coverage([interval(v) for v in waits], 1.1 * truth) < 0.75
    halved = [abs(interval(v).mean - truth) <= interval(v).half_width / 2 for v in waits]
    assert np.mean(halved) < 0.8


def test_bootstrap_intervals_of_mm1_are_a_little_narrow(waits):
    # Of ten values the percentile method knows sqrt(0.9) of the sample's spread, and no t: some 90 % are expected; BCa is near it.
    few = waits[:400]
    for method in ("percentile", "bca"):
        assert 0.86 <= coverage([bootstrap(v, resamples=999, method=method) for v in few], 1.0) <= 0.94
    # Of a hundred values it is what it says.
    many = waits.reshape(100, 100)
    assert 0.9 <= coverage([bootstrap(v, resamples=999) for v in many], 1.0) <= 1.0


def test_samples_of_one_run_are_not_replications():
    # The queue of one run every ms, taken for independent values: neighbours are nearly equal, and the interval far too narrow.
    runs = mm1(0.8, range(1, 201), duration="5s", sample="1ms")
    truth = 0.8**2 / (1 - 0.8)
    naive = [interval(np.asarray(r.link_series()["queue"])[np.asarray(r.link_series()["link"]) == "link"][300:]) for r in runs]
    assert np.mean([iv.mean for iv in naive]) == pytest.approx(truth, rel=0.1)
    assert coverage(naive, truth) < 0.3


def test_differences_under_common_random_numbers_cover_the_truth():
    rng = np.random.default_rng(11)
    pairs, singles = [], []
    for _ in range(2000):
        luck = rng.exponential(size=8)
        a, b = luck + rng.normal(1.0, 0.3, size=8), luck + rng.normal(0.6, 0.3, size=8)
        pairs.append(paired(a, b).difference)
        singles.append(welch(a, b).difference)
    assert 0.94 <= coverage(pairs, 0.4) <= 0.96
    # Taken as independent the same values give intervals that are far too wide: they nearly always cover.
    assert coverage(singles, 0.4) > 0.995


def test_fiellers_interval_of_a_change_covers_the_truth():
    rng = np.random.default_rng(13)
    found = []
    for _ in range(2000):
        luck = rng.normal(size=6)
        found.append(paired(11 + luck + 0.5 * rng.normal(size=6), 10 + luck + 0.5 * rng.normal(size=6)).change)
    assert 0.94 <= coverage(found, 10.0) <= 0.96


@pytest.mark.parametrize(("relative", "least", "most"), [(0.1, 0.90, 0.96), (0.03, 0.93, 0.97)])
def test_the_sequential_procedure_covers_nearly_as_often_as_it_says(relative, least, most):
    # Exponential values, one more until the interval is narrow enough, at least ten. Law's table for such procedures shows coverages
    # of 0.9 and above for a nominal 0.95 that come nearer as the precision is sharpened; stopping depends on the values.
    rng = np.random.default_rng(17)
    covered, errors, counts = [], [], []
    for _ in range(300):
        values = list(rng.gamma(4.0, 0.25, size=10))
        while not (v := verdict(values, relative, minimum=10)).enough:
            # As a study does: what is expected to be needed, but no more than twice as many.
            more = min(v.needed or 2 * len(values), 2 * len(values)) - len(values)
            values += list(rng.gamma(4.0, 0.25, size=max(more, 1)))
        covered.append(1.0 in v.interval)
        errors.append(abs(v.interval.mean - 1.0))
        counts.append(len(values))
    assert least <= np.mean(covered) <= most
    # The relative error is below the bound about as often.
    assert np.mean(np.array(errors) <= relative) >= least
    # And no more was run than is needed: variance 1/4, so (1.96 * 0.5 (1 + g) / g)^2 values.
    assert np.mean(counts) == pytest.approx((0.98 * (1 + relative) / relative) ** 2, rel=0.12)
