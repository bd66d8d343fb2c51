"""Replications until the intervals are narrow enough, and the time that is left: both from the runs themselves."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import pairwise

import polars as pl
import pytest
from scipy import stats as scipy_stats

from fairlane.study import Factor, Level, Study, one_run, selector
from fairlane.study.executors import Processes, Threads
from fairlane.study.model import Precision
from fairlane.study.progress import Tally
from fairlane.study.stopping import replication_seeds
from test_study_store import RATE, Failing, spec_of

GOODPUT = "flows.tcp.goodput.sum"


def precise(relative=0.02, **more):
    """Combinations of which one needs few replications and one needs many."""
    levels = tuple(Level(r, ((RATE, f"{r}Mbit/s"), ("duration", "3s"))) for r in (2, 8))
    metrics = (selector("links.bottleneck.utilisation"), selector(GOODPUT))
    return spec_of(
        factors=(Factor("rate", levels),), metrics=metrics, precision=Precision(relative, **{"minimum": 5, "maximum": 200, **more})
    )


def relative_error(values: list[float], confidence: float = 0.95) -> float:
    """Half of the t interval over the mean, by scipy."""
    n, sd = len(values), pl.Series(values).std()
    low, high = scipy_stats.t.interval(confidence, n - 1, loc=0, scale=sd / math.sqrt(n))
    return (high - low) / 2 / abs(sum(values) / n)


def test_every_combination_gets_as_many_replications_as_its_precision_needs(tmp_path):
    result = Study(precise()).run(tmp_path)
    counts = {}
    for (rate,), runs in result.runs().group_by("rate"):
        counts[rate] = runs.height
        # Law, section 9.4.1: the relative error of the estimate is g if half the interval over the mean is at most g / (1 + g).
        errors = [relative_error(runs[m].to_list()) for m in result.metrics]
        assert all(e <= 0.02 / 1.02 for e in errors), (rate, errors)
        # And it was needed: half as many, or a few more than that, were not enough.
        before = [max(relative_error(runs[m].to_list()[:n]) for m in result.metrics) for n in range(runs.height // 2, runs.height)]
        assert runs.height == 5 or max(before) > 0.02 / 1.02
    assert min(counts.values()) >= 5 and len(set(counts.values())) == 2 and max(counts.values()) < 200
    assert result.tally.runs == sum(counts.values()) and result.tally.expected == 0


@pytest.mark.parametrize("pool", [lambda: Threads(1), lambda: Threads(3), lambda: Processes(2)], ids=["1 thread", "3 threads", "processes"])
def test_the_number_of_replications_does_not_depend_on_who_runs_them(tmp_path, pool):
    one = Study(precise()).run(tmp_path / "one", pool=Threads(2))
    other = Study(precise()).run(tmp_path / "other", pool=pool())
    assert other.index.drop("cpu_s", "file").equals(one.index.drop("cpu_s", "file")) and other.runs().equals(one.runs())


def test_a_study_that_was_broken_off_comes_to_the_same_number(tmp_path):
    whole = Study(precise()).run(tmp_path / "whole")
    chance = random.Random(5)
    for path in sorted((tmp_path / "whole" / "runs").iterdir()):
        if chance.random() < 0.5:
            path.unlink()
    again = Study(precise()).run(tmp_path / "whole")
    assert 0 < again.tally.reused < again.tally.runs and again.runs().equals(whole.runs())


def test_seeds_continue_after_those_given(tmp_path):
    assert replication_seeds((7, 3), 5) == [7, 3, 8, 9, 10]
    assert replication_seeds((2**64 - 1, 0, 1), 5) == [2**64 - 1, 0, 1, 2, 3]
    result = Study(replace(precise(), seeds=(40, 10))).run(tmp_path)
    seeds = result.index.filter(pl.col("combination") == 0)["seed"].to_list()
    assert seeds[:5] == [40, 10, 41, 42, 43] and len(set(seeds)) == len(seeds)
    # All seeds that were asked for are run, however narrow the intervals are before.
    assert Study(replace(precise(0.9), seeds=tuple(range(1, 9)))).run().tally.runs == 16


def test_a_combination_is_given_up_at_the_maximum(tmp_path):
    result = Study(precise(0.0001, maximum=12)).run(tmp_path)
    assert result.index.group_by("combination").len()["len"].to_list() == [12, 12] and result.tally.done == 24


def test_only_the_metrics_that_were_named_count(tmp_path):
    loose = Study(precise(0.02, metrics=("links.bottleneck.utilisation",))).run(tmp_path)
    assert loose.tally.runs < Study(precise()).run(tmp_path).tally.runs


def test_a_combination_with_failed_runs_gets_no_more_until_they_are_run(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(one_run, "_core", Failing())
        broken = Study(precise()).run(tmp_path)
    assert (broken.tally.runs, broken.tally.failed) == (10, 2)
    assert Study(precise()).run(tmp_path).runs().equals(Study(precise()).run().runs())


def test_the_time_left_weighs_each_combination_by_its_own_runs():
    now = [0.0]
    tally = Tally(clock=lambda: now[0])
    tally.begin()
    tally.runs = 30
    for combination in range(3):
        tally.add(combination, 10)
    assert tally.eta is None
    for combination, cost in ((0, 1.0), (1, 100.0)):
        now[0] += cost / 2  # two cores
        tally.ran(combination, cost)
        tally.done += 1
    # 9 of 1 s, 9 of 100 s, and 10 of unknown length: 50.5 s, as the two known ones on average; on two cores.
    assert tally.eta == pytest.approx((9 * 1.0 + 9 * 100.0 + 10 * 50.5) / 2)
    assert tally.rate == pytest.approx(2 / 50.5) and tally.fraction == 2 / 30
    tally.ran(1, 0.0)  # a failed run is no longer left, and says nothing about the others
    assert tally.eta == pytest.approx((9 * 1.0 + 8 * 100.0 + 10 * 50.5) / 2)
    tally.add(0, 5)
    tally.expected = 4
    assert tally.eta == pytest.approx((14 * 1.0 + 8 * 100.0 + 14 * 50.5) / 2)
    for combination, left, cost in ((0, 14, 1.0), (1, 8, 100.0), (2, 10, 3.0)):
        for _ in range(left):
            tally.ran(combination, cost)
    tally.expected = 0
    assert tally.eta == pytest.approx(0.0, abs=1e-9)


def test_progress_hears_of_a_growing_total_and_ends_with_everything(tmp_path):
    seen = []
    result = Study(precise()).run(tmp_path, progress=lambda t: seen.append((t.done, t.runs, t.fraction)))
    assert seen[0] == (0, 10, 0.0) and seen[-1] == (result.tally.runs, result.tally.runs, 1.0) and result.tally.runs > 10
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(seen))
