"""Results of a study: tables against the long files as DuckDB reads them, intervals and tests against scipy, arrays, warnings."""

from __future__ import annotations

import math
from dataclasses import replace

import duckdb
import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

import fairlane as fl
from conftest import DUMBBELL
from fairlane.base.format import number
from fairlane.runs import selection
from fairlane.study import Factor, Level, Selector, Study, StudyResult, StudySpec, load_study, selector
from fairlane.study.model import Precision

QUEUES = {"droptail": {"droptail": {"limit": "20p"}}, "red": {"red": {"min": "5p", "max": "15p"}}}
METRICS = (
    "links.bottleneck.utilisation", "flows.tcp.goodput.sum", "flows.tcp.goodput.jain", "flows.tcp.delay_mean", "flows.*.goodput.min",
    "flows.*.goodput.max", "network.jain", "links.bottleneck.drops",
)  # fmt: skip


def queue_factor(queues=QUEUES) -> Factor:
    return Factor("queue", tuple(Level(name, (("links.bottleneck.queue", value),)) for name, value in queues.items()))


def rate_factor(*rates: float) -> Factor:
    return Factor("rate", tuple(Level(r, (("links.bottleneck.rate", f"{r:.0f}bit/s"),)) for r in rates), "bit/s")


def flows_factor(*counts: int) -> Factor:
    return Factor("flows", tuple(Level(n, (("flows.tcp.count", n),)) for n in counts))


def make_spec(*factors: Factor, seeds=(1, 2, 3), metrics=METRICS, base=DUMBBELL, **options) -> StudySpec:
    options = {"sets": (("duration", "3s"), ("sample", "500ms")), **options}
    return StudySpec("small", base, "dumbbell.toml", "toml", factors, tuple(seeds), tuple(selector(m) for m in metrics), **options)


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> StudyResult:
    spec = make_spec(queue_factor(), rate_factor(2e6, 5e6), flows_factor(1, 2))
    return Study(spec).run(tmp_path_factory.mktemp("study"))


def long(result: StudyResult) -> duckdb.DuckDBPyConnection:
    """The files of a study and its index, as anybody else would read them."""
    db = duckdb.connect()
    db.sql(f"create view runs as select * from read_parquet('{result.folder}/runs/*.parquet')")
    db.sql(f"create view index as select * from read_parquet('{result.folder}/index.parquet')")
    return db


def test_runs_come_in_the_order_of_combinations_and_seeds(done):
    runs = done.runs()
    assert runs.columns == ["queue", "rate", "flows", "seed", *METRICS]
    expected = [(q, r, n, s) for q in ("droptail", "red") for r in (2e6, 5e6) for n in (1, 2) for s in (1, 2, 3)]
    assert runs.select("queue", "rate", "flows", "seed").rows() == expected


def test_runs_have_the_values_of_the_files(done):
    db = long(done)
    rows = db.sql(
        "select i.combination, i.seed, c.value from index i join runs c using (key) "
        "where c.table = 'links' and c.name = 'bottleneck' and c.metric = 'utilisation' order by i.combination, i.seed"
    ).fetchall()
    assert done.runs()["links.bottleneck.utilisation"].to_list() == [v for _, _, v in rows]
    sums = db.sql(
        "select sum(c.value), sum(c.value)^2 / (count(*) * sum(c.value * c.value)) from index i join runs c using (key) "
        "where c.table = 'flows' and c.name like 'tcp%' and c.metric = 'goodput' "
        "group by i.combination, i.seed order by i.combination, i.seed"
    ).fetchall()
    assert done.runs()["flows.tcp.goodput.sum"].to_list() == pytest.approx([s for s, _ in sums], rel=1e-12)
    assert done.runs()["flows.tcp.goodput.jain"].to_list() == pytest.approx([j for _, j in sums], rel=1e-12)


def test_aggregates_are_those_of_the_selector(done):
    flows = done.flows().filter(pl.col("queue") == "red", pl.col("rate") == 5e6, pl.col("flows") == 2, pl.col("seed") == 2)
    (row,) = done.runs().filter(pl.col("queue") == "red", pl.col("rate") == 5e6, pl.col("flows") == 2, pl.col("seed") == 2).to_dicts()
    assert flows["flow"].to_list() == ["tcp.0", "tcp.1", "udp"]
    for how, label in (("min", "flows.*.goodput.min"), ("max", "flows.*.goodput.max")):
        assert row[label] == selection.aggregate(how, flows["goodput"])
    assert row["flows.tcp.delay_mean"] == pytest.approx(selection.aggregate("mean", flows["delay_mean"][:2]))


def test_a_study_gives_what_its_runs_give_alone(done):
    scenario = fl.Network.from_toml(DUMBBELL).replace("duration", "3s").replace("sample", "500ms").replace("flows.tcp.count", 2)
    scenario = scenario.replace("topology.dumbbell.bottleneck.queue", QUEUES["red"]).replace("topology.dumbbell.bottleneck.rate", "5Mbit/s")
    alone = scenario.run(seeds="1..3")
    own = pl.col("queue") == "red", pl.col("rate") == 5e6, pl.col("flows") == 2
    assert done.runs().filter(*own)["network.jain"].to_list() == alone.network["jain"].to_list()
    links = done.links().filter(*own)
    assert links["link"].to_list() == alone.links["link"].to_list()
    assert links["queue_mean"].to_list() == alone.links["queue_mean"].to_list()
    series = done.series().filter(*own, pl.col("link") == "bottleneck", pl.col("seed") == 3)
    expected = alone.link_series.filter(pl.col("link") == "bottleneck", pl.col("seed") == 3)
    assert series["time"].to_list() == expected["time"].to_list()
    assert series["link_queue"].to_list() == expected["queue"].to_list()
    assert done.series("flows").filter(*own, pl.col("flow") == "tcp.1")["cwnd"].len() == alone.flow_series.filter(flow="tcp.1").height


def within(low: float, high: float, share: bool) -> list[float]:
    """The ends of Wilson's interval with the half width of Student's: the roots of (x - mean)^2 = k x, or = k x (1 - x) for a share."""
    mean, half = (low + high) / 2, (high - low) / 2
    k = half**2 / (mean * (1 - mean) if share else mean)
    return sorted(np.roots([1 + k if share else 1, -2 * mean - k, mean**2]))


def test_summary_has_the_interval_of_wilson_with_the_t_factor_of_scipy(done):
    runs, summary = done.runs(), done.summary()
    assert summary.columns == ["queue", "rate", "flows", "metric", "mean", "low", "high", "sd", "n", "unit"]
    assert summary.height == 8 * len(METRICS)
    own = pl.col("queue") == "red", pl.col("rate") == 2e6, pl.col("flows") == 2
    for metric, unit in (("links.bottleneck.drops", "packets"), ("flows.tcp.goodput.sum", "bit/s"), ("network.jain", "1")):
        values = runs.filter(*own)[metric].to_numpy()
        (row,) = summary.filter(*own, pl.col("metric") == metric).to_dicts()
        low, high = scipy_stats.t.interval(0.95, 2, values.mean(), scipy_stats.sem(values))
        ends = within(low, high, share=metric == "network.jain")
        assert (row["mean"], row["low"], row["high"]) == pytest.approx((values.mean(), *ends))
        assert (row["n"], row["unit"]) == (3, unit)
        assert row["sd"] == pytest.approx(values.std(ddof=1))


def test_the_confidence_of_the_study_is_that_of_its_intervals(tmp_path):
    spec = make_spec(rate_factor(2e6), metrics=("links.bottleneck.drops",), confidence=0.8)
    result = Study(spec).run(tmp_path / "s")
    values = result.runs()["links.bottleneck.drops"].to_numpy()
    low, high = scipy_stats.t.interval(0.8, 2, values.mean(), scipy_stats.sem(values))
    (row,) = result.summary().to_dicts()
    assert [row["low"], row["high"]] == pytest.approx(within(low, high, share=False))


def test_a_table_has_a_row_and_a_column_for_each_level(done):
    runs = done.runs()
    table = done.table("network.jain")
    assert table.columns == ["queue", "rate", "1", "2"]
    assert table.select("queue", "rate").rows() == [("droptail", 2e6), ("droptail", 5e6), ("red", 2e6), ("red", 5e6)]
    mean = runs.filter(queue="red", rate=2e6, flows=2)["network.jain"].mean()
    assert table.filter(queue="red", rate=2e6)["2"].item() == pytest.approx(mean)
    small = done.table("network.jain", rows="flows", columns="queue")
    assert small.columns == ["flows", "droptail", "red"]
    assert small.filter(flows=1)["red"].item() == pytest.approx(runs.filter(queue="red", flows=1)["network.jain"].mean())
    with pytest.raises(fl.UnknownNameError, match=r"did you mean 'network\.jain'"):
        done.table("network.jian")
    with pytest.raises(fl.UnknownNameError, match="factor"):
        done.table("network.jain", rows="que")
    with pytest.raises(fl.FairlaneError, match="both"):
        done.table("network.jain", rows="queue", columns="queue")


def test_pandas_and_arrow_have_the_same_runs(done):
    frame = done.to_pandas()
    assert list(frame.columns) == done.runs().columns and frame.shape == (24, 4 + len(METRICS))
    assert frame["flows.tcp.goodput.sum"].to_list() == done.runs()["flows.tcp.goodput.sum"].to_list()
    by_pandas = frame.groupby(["queue", "rate", "flows"])["network.jain"].mean()
    summary = done.summary().filter(metric="network.jain").sort("queue", "rate", "flows")
    assert by_pandas.to_list() == pytest.approx(summary["mean"].to_list())
    assert done.to_arrow("links").num_rows == done.links().height
    with pytest.raises(fl.UnknownNameError, match="table"):
        done.to_pandas("run")


def test_xarray_has_a_dimension_for_each_factor(done):
    data = done.to_xarray()
    assert dict(data.sizes) == {"queue": 2, "rate": 2, "flows": 2, "seed": 3}
    runs = done.runs()
    for row in runs.iter_rows(named=True):
        at = {k: row[k] for k in ("queue", "rate", "flows", "seed")}
        assert float(data["network.jain"].sel(at)) == row["network.jain"]
    assert (data.rate.attrs["units"], data["flows.tcp.goodput.sum"].attrs["units"]) == ("bit/s", "bit/s")
    assert data["network.jain"].mean("seed").sel(queue="red", rate=2e6, flows=2) == pytest.approx(
        runs.filter(queue="red", rate=2e6, flows=2)["network.jain"].mean()
    )


def test_missing_runs_are_nan_in_xarray_and_absent_elsewhere(done):
    index = done.index.with_columns(
        pl.when((pl.col("combination") == 3) & (pl.col("seed") == 2)).then(pl.lit("failed")).otherwise("status").alias("status"),
        pl.when((pl.col("combination") == 3) & (pl.col("seed") == 2)).then(pl.lit("no route")).otherwise("error").alias("error"),
    )
    part = StudyResult(done.spec, done.combinations, done._store, index)
    assert part.runs().height == 23
    data = part.to_xarray()["network.jain"]
    assert int(np.isnan(data).sum()) == 1
    assert math.isnan(data.sel(queue="droptail", rate=5e6, flows=2, seed=2))
    assert part.failures.select("queue", "rate", "flows", "seed", "error").rows() == [("droptail", 5e6, 2, 2, "no route")]
    assert part.summary().filter(queue="droptail", rate=5e6, flows=2, metric="network.jain")["n"].item() == 2


def test_the_folder_alone_gives_the_same_result(done):
    again = load_study(done.folder)
    assert again.spec == done.spec
    for name in ("runs", "summary", "flows", "links", "network", "link_series"):
        assert again.frame(name).equals(done.frame(name)), name
    assert again.warnings == done.warnings
    paths = again.save_tables()
    assert pl.read_csv(paths[0])["network.jain"].to_list() == done.runs()["network.jain"].to_list()
    assert pl.read_csv(paths[1]).height == done.summary().height


def test_a_folder_that_is_no_study_is_refused(tmp_path):
    with pytest.raises(fl.FolderError, match=r"has no study\.json"):
        load_study(tmp_path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "study.json").write_text("{}")
    with pytest.raises(fl.FolderError, match="format"):
        load_study(tmp_path)


def test_warnings_of_runs_name_the_levels_they_come_from(tmp_path):
    base = DUMBBELL.replace('duration = "5s"', 'duration = "1300ms"')
    long = Factor("duration", tuple(Level(x, (("duration", x),)) for x in ("1300ms", "20s")))
    result = Study(make_spec(long, flows_factor(1, 2), metrics=("network.jain",), base=base, sets=())).run(tmp_path / "s")
    (warnings,) = [w for w in result.warnings if "round-trip times" in w]
    assert warnings.endswith("(where duration is 1300ms)")
    runs = result._store.scan(result.index["key"].to_list()).filter(pl.col("metric") == "warning").collect()["text"].unique().to_list()
    kinds = [w for w in runs if "round-trip times" in w]
    assert len(kinds) > 1 and warnings.startswith("a flow of tcp or udp is measured for 300ms, less than 50 round-trip times")


def test_flows_that_delivered_nothing_are_told_in_one_sentence(tmp_path):
    base = DUMBBELL.replace("pairs = 3", "pairs = 9").replace('to = "d2"', 'to = "d2"\nstart = "1495ms"').replace('"5s"', '"1500ms"')
    base = base.replace('stagger = "100ms"', "")
    many = Factor("n", tuple(Level(n, (("flows.tcp.start", "1495ms"), ("flows.tcp.count", n))) for n in (1, 2, 8)))
    result = Study(make_spec(many, metrics=("network.goodput",), base=base, seeds=(1,), sets=())).run(tmp_path / "s")
    (warnings,) = [w for w in result.warnings if "delivered no data" in w]
    assert warnings == "a flow of tcp or udp delivered no data after the warm-up"


def test_a_metric_without_values_is_told(tmp_path):
    odd = Selector("links.bottleneck.drops_nothing", "odd", "links", "bottleneck", "drops_nothing")
    spec = make_spec(rate_factor(2e6), seeds=(1, 2))
    result = Study(replace(spec, metrics=(odd,))).run(tmp_path / "s")
    assert result.runs()["odd"].to_list() == [None, None]
    assert "odd: no run has a value of links.bottleneck.drops_nothing" in result.warnings
    assert result.summary()["n"].to_list() == [0]


def test_combinations_that_miss_the_precision_are_told(done):
    spec = replace(done.spec, precision=Precision(0.02, ("network.jain",), 3, 3))
    result = StudyResult(spec, done.combinations, done._store, done.index)
    (warnings,) = [w for w in result.warnings if "precision" in w]
    # The precision is that of Student's interval (Law).
    s = done.summary().filter(metric="network.jain")
    error = (scipy_stats.t.ppf(0.975, 2) / math.sqrt(3) * s["sd"] / s["mean"]).to_list()
    missed = sum(e > 0.02 for e in error)
    assert warnings.startswith("network.jain: the precision of 2 % was not reached with 3 replications")
    assert 0 < missed < 8 and f"({missed} of 8 combinations" in warnings
    assert f"the widest is ± {number(100 * max(error), 2)} %" in warnings


def test_without_factors_there_is_one_combination(tmp_path):
    result = Study(make_spec(metrics=("network.jain",), seeds=(4, 2))).run(tmp_path / "s")
    assert result.runs()["seed"].to_list() == [2, 4]
    assert dict(result.to_xarray().sizes) == {"seed": 2}
    assert result.table("network.jain").item() == pytest.approx(result.runs()["network.jain"].mean())


def test_two_combinations_with_the_same_scenario_both_have_rows(tmp_path):
    queues = {"20": {"droptail": {"limit": "20p"}}, "20p": {"droptail": {"limit": "20p"}}}
    result = Study(make_spec(queue_factor(queues), metrics=("network.jain",))).run(tmp_path / "s")
    runs = result.runs()
    assert runs["queue"].to_list() == ["20"] * 3 + ["20p"] * 3
    assert runs["network.jain"].to_list()[:3] == runs["network.jain"].to_list()[3:]


def test_runs_without_chance_are_told(tmp_path):
    base = DUMBBELL.replace(", jitter = 0.5", "")
    count = Factor("jitter", tuple(Level(x, (("flows.udp.source.cbr.jitter", x),)) for x in (0.0, 0.5)))
    sets = (("duration", "2s"), ("flows.tcp.count", 1), ("links.bottleneck.queue", {"droptail": {"limit": "500p"}}))
    result = Study(make_spec(count, metrics=("network.jain",), base=base, sets=sets)).run(tmp_path / "s")
    warnings = [w for w in result.warnings if "same result" in w]
    fingerprints = {p: set() for p in (0, 1)}
    for p, key in result.index.select("combination", "key").iter_rows():
        fingerprints[p].add(result._store.scan([key]).filter(pl.col("metric") == "fingerprint").collect()["text"].item())
    assert [len(fingerprints[p]) for p in (0, 1)] == [1, 3]
    assert warnings == ["all seeds gave the same result (where jitter is 0): nothing is left to chance there, so the intervals say nothing"]
