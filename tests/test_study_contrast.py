"""Effects of factors in a study: comparisons, ANOVA and the best combination against scipy and statsmodels; pictures and the page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import polars as pl
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy import stats as scipy_stats

import fairlane as fl
from fairlane.look.theme import svg
from fairlane.stats import holm
from fairlane.study import Study, StudyResult, contrast
from fairlane.study.model import PlotSpec
from fairlane.study.plots import picture, specs
from test_study_result import QUEUES, flows_factor, make_spec, queue_factor, rate_factor

METRICS = ("links.bottleneck.utilisation", "links.bottleneck.sojourn_mean", "flows.tcp.goodput.sum", "network.jain")


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> StudyResult:
    queues = queue_factor({**QUEUES, "codel": {"codel": {}}})
    spec = make_spec(queues, rate_factor(1e6, 3e6, 9e6), flows_factor(1, 2), metrics=METRICS, seeds=range(1, 7), sets=(("duration", "3s"),))
    return Study(spec).run(tmp_path_factory.mktemp("study"))


def test_comparisons_at_one_combination_are_paired_t_tests(done):
    runs = done.runs()
    table = done.compare("sojourn_mean", "queue", by=["rate", "flows"])
    assert table.height == 2 * 6
    (row,) = table.filter(queue="codel", rate=3e6, flows=2).to_dicts()
    a, b = (runs.filter(queue=q, rate=3e6, flows=2)[METRICS[1]].to_numpy() for q in ("codel", "droptail"))
    test = scipy_stats.ttest_rel(a, b)
    assert (row["difference"], row["p"]) == pytest.approx(((a - b).mean(), test.pvalue))
    low, high = test.confidence_interval(0.95)
    assert (row["low"], row["high"], row["n"]) == pytest.approx((low, high, 6))
    assert row["percent"] == pytest.approx(100 * (a.mean() / b.mean() - 1))
    assert table["p_holm"].to_list() == holm(table["p"].to_list())


def test_other_factors_are_averaged_within_each_seed(done):
    frame = done.runs().to_pandas().groupby(["queue", "seed"])[METRICS[2]].mean().unstack("queue")
    table = done.compare("goodput.sum", "queue", baseline="red")
    assert table["queue"].to_list() == ["droptail", "codel"]
    for row in table.to_dicts():
        test = scipy_stats.ttest_rel(frame[row["queue"]], frame["red"])
        assert (row["p"], row["difference"]) == pytest.approx((test.pvalue, (frame[row["queue"]] - frame["red"]).mean()))


def test_a_seed_that_lacks_a_combination_does_not_count_in_averages(done):
    gone = (pl.col("combination") == 8) & (pl.col("seed") == 2)
    index = done.index.with_columns(pl.when(gone).then(pl.lit("failed")).otherwise("status").alias("status"))
    part = StudyResult(done.spec, done.combinations, done._store, index)
    assert part.compare("jain", "queue").select("queue", "n").rows() == [("red", 5), ("codel", 6)]
    with pytest.raises(fl.UnknownNameError, match="level of queue"):
        part.compare("jain", "queue", baseline="redd")
    with pytest.raises(fl.FairlaneError, match="by"):
        part.compare("jain", "queue", by="queue")


@pytest.mark.parametrize("metric", METRICS)
def test_the_anova_table_is_that_of_statsmodels_and_adds_up(done, metric):
    table = done.anova(metric)
    frame = done.runs().rename({metric: "y"}).to_pandas()
    model = "y ~ C(seed, Sum) + (C(queue, Sum) + C(rate, Sum) + C(flows, Sum)) ** 2"
    theirs = sm.stats.anova_lm(smf.ols(model, frame).fit(), typ=3)
    names = {"queue": "C(queue, Sum)", "queue:rate": "C(queue, Sum):C(rate, Sum)", "flows": "C(flows, Sum)", "seed": "C(seed, Sum)"}
    for term, name in names.items():
        row = table.row(term)
        assert row.sum_sq == pytest.approx(theirs["sum_sq"][name], rel=1e-6, abs=1e-9 * table.total_sq)
        assert row.p == pytest.approx(theirs["PR(>F)"][name], rel=1e-5, abs=1e-12)
    assert sum(r.eta_sq for r in table.rows) == pytest.approx(1.0)


def test_the_sentence_says_what_matters_most(done):
    for metric in METRICS:
        table = done.anova(metric)
        found = contrast.sentence(done, table)
        largest = max((r for r in table.rows if r.term not in ("seed", "residual")), key=lambda r: r.eta_sq)
        term = largest.term.capitalize() if ":" not in largest.term else "The interaction of"
        assert found.startswith(f"{term} explains {100 * largest.eta_sq:.0f} % of the variance"), found
    assert "interaction" in contrast.sentence(done, done.anova("sojourn_mean"))


def test_the_sentence_says_when_shares_do_not_add_up(done):
    part = StudyResult(done.spec, done.combinations, done._store, done.index.filter((pl.col("combination") != 8) | (pl.col("seed") < 4)))
    table = part.anova("utilisation")
    assert sum(r.eta_sq for r in table.rows) != pytest.approx(1.0, abs=1e-6)
    assert "do not add up" in contrast.sentence(part, table) and "do not add up" not in contrast.sentence(done, done.anova("utilisation"))


def test_effects_are_means_of_means(done):
    effects = done.effects("jain").filter(term="queue")
    means = done.runs().group_by("queue", maintain_order=True).agg(pl.col("network.jain").mean())
    assert dict(zip(effects["queue"], effects["mean"], strict=True)) == pytest.approx(dict(means.iter_rows()))
    assert effects["effect"].sum() == pytest.approx(0, abs=1e-12)


def test_the_best_combination_and_those_that_may_be_as_good(done):
    best = done.best("sojourn_mean")
    summary = done.summary().filter(metric=METRICS[1])
    assert best["mean"][0] == summary["mean"].min() and best.height == 18
    assert best["mean"].is_sorted()
    assert done.best("goodput.sum")["mean"][0] == done.summary().filter(metric=METRICS[2])["mean"].max()
    assert done.best("sojourn_mean", "max")["mean"].to_list() == best["mean"].to_list()[::-1]
    runs = done.runs()
    a, b = (
        runs.filter(**{k: best[k][i] for k in ("queue", "rate", "flows")})[METRICS[1]].to_numpy() for i in (0, best.height - 1)
    )  # fmt: skip
    ps = [1.0] * 16 + [scipy_stats.ttest_rel(b, a).pvalue]
    assert best["difference"][-1] == pytest.approx((b - a).mean())
    assert best["p_holm"][-1] >= ps[-1] and not best["tied"][-1] and best["tied"][0]


def test_studies_with_nothing_to_compare(tmp_path):
    result = Study(make_spec(metrics=("network.jain",), seeds=(1,))).run(tmp_path / "s")
    with pytest.raises(fl.FairlaneError, match="no factor"):
        result.anova("jain")
    assert result.document()["anova"] == {}
    assert "Factor effects" not in result.page()


KINDS = {
    "line": {"x": "rate", "by": "queue", "panel": "flows"},
    "bar": {"x": "queue", "by": "flows"},
    "scatter": {"x": "sojourn_mean", "by": "queue"},
    "heatmap": {"x": "rate", "by": "queue"},
    "box": {"x": "queue"},
    "ecdf": {"by": "queue"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_picture_shows_its_data_and_is_the_same_twice(done, kind):
    plot = PlotSpec(kind, "goodput.sum", **KINDS[kind])
    text = svg(picture(done, plot))
    assert ET.fromstring(text).tag.endswith("svg")
    assert "tcp goodput, sum (Mbit/s)" in text
    assert all(name in text for name in ("droptail", "red", "codel"))
    assert svg(picture(done, plot)) == text
    fewer = StudyResult(done.spec, done.combinations, done._store, done.index.filter(pl.col("seed") < 5))
    assert svg(picture(fewer, plot)) != text


def test_a_line_goes_through_the_means_with_their_intervals(done):
    figure = picture(done, PlotSpec("line", METRICS[1], x="rate", by="queue", panel="flows"))
    assert len(figure.axes) == 2 and [ax.get_title(loc="left") for ax in figure.axes] == ["flows 1", "flows 2"]
    ax = figure.axes[1]
    summary = done.summary().filter(metric=METRICS[1], queue="red", flows=2)
    line = next(x for x in ax.lines if len(x.get_ydata()) == 3 and x.get_ydata()[0] == pytest.approx(1e3 * summary["mean"][0]))
    assert line.get_xdata() == pytest.approx([1, 3, 9])
    assert line.get_ydata() == pytest.approx((1e3 * summary["mean"]).to_list())
    ends = [seg for c in ax.collections for seg in c.get_segments() if seg[0][0] == pytest.approx(3)]
    assert any(
        (seg[0][1], seg[1][1]) == pytest.approx((1e3 * summary["low"][1], 1e3 * summary["high"][1])) for seg in ends
    )  # fmt: skip
    assert ax.get_xscale() == "log" and ax.get_xlabel() == "rate (Mbit/s)" and ax.get_ylabel() == "bottleneck sojourn mean (ms)"


def test_a_heatmap_tells_its_numbers_or_what_its_colours_mean(done):
    few = picture(done, PlotSpec("heatmap", "jain", x="rate", by="queue"))
    means = done.table("jain", rows="queue", columns="rate")
    found = [t.get_text() for t in few.axes[0].texts]
    assert found == [f"{v:.3g}" for row in means.drop("queue").rows() for v in row]
    rates = rate_factor(*(1e6 * (i + 1) for i in range(60)))
    spec = replace(done.spec, factors=(done.spec.factors[0], rates))
    combinations = [replace(done.combinations[0], index=i, labels={"queue": q, "rate": r.label}) for i, (q, r) in enumerate(
        (q, r) for q in ("droptail", "red", "codel") for r in rates.levels)]  # fmt: skip
    many = StudyResult(spec, combinations, done._store, done.index)
    bars = [ax for ax in picture(many, PlotSpec("heatmap", "jain", x="rate", by="queue")).axes[0].child_axes]
    assert len(bars) == 1 and not picture(many, PlotSpec("heatmap", "jain", x="rate", by="queue")).axes[0].texts


def test_pictures_that_cannot_be_drawn_say_why(done):
    for plot, expected in (
        (PlotSpec("pie", "jain"), "did you mean|known are"),
        (PlotSpec("line", "jain", x="rte"), "did you mean 'rate'"),
        (PlotSpec("line", "jian", x="rate"), "metric"),
        (PlotSpec("line", "jain", x="rate", by="rate"), "two places"),
        (PlotSpec("scatter", "jain"), "on each axis"),
        (PlotSpec("scatter", "jain", x="queue"), "box"),
        (PlotSpec("ecdf", "jain", x="rate"), "leave out x"),
    ):
        with pytest.raises(fl.FairlaneError, match=expected):
            picture(done, plot)


def test_a_picture_that_cannot_be_drawn_is_told_before_the_study_runs(done):
    from fairlane.study.plots import check

    check(replace(done.spec, plots=(PlotSpec("scatter", "jain", x="rate", by="queue", name="fine"),)))
    with pytest.raises(fl.FairlaneError, match="plot 'odd': a scatter over 'queue'"):
        check(replace(done.spec, plots=(PlotSpec("scatter", "jain", x="queue", name="odd"),)))
    many = replace(done.spec, factors=(rate_factor(*(1e6 + i for i in range(11))),), plots=(PlotSpec("ecdf", "jain", by="rate"),))
    with pytest.raises(fl.FairlaneError, match=r"10 colours.*11 levels"):
        check(many)


def test_pictures_of_one_name_get_names_of_their_own(done):
    spec = replace(done.spec, plots=(PlotSpec("bar", "jain", x="queue"), PlotSpec("bar", "jain", x="queue", by="flows")))
    assert [p.name for p in specs(StudyResult(spec, done.combinations, done._store, done.index))] == ["bar-jain-queue", "bar-jain-queue-2"]
    default = specs(done)
    assert [p.y for p in default] == list(METRICS)
    assert {(p.kind, p.x, p.by, p.panel) for p in default} == {("line", "rate", "queue", "flows")}


def test_the_page_is_whole_and_opens_offline(done):
    done.command = "fairlane study small.toml"
    page = done.page()
    outside = {a for a in re.findall(r'(?:src|href|action)\s*=\s*"([^"#]+)', page) if not a.startswith("data:")}
    assert outside == set() and "@import" not in page and page.count("<script>") == 1
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    for text in re.findall(r"<svg.*?</svg>", page, re.S):
        ET.fromstring(text.replace("xlink:href", "href"))
    assert page.count("<svg") == 1 and page.count('data-chart="') == 2 * len(METRICS)  # lines over numbers
    for metric in METRICS:
        assert contrast.sentence(done, done.anova(metric)) in page
    (row,) = done.compare("sojourn_mean", "queue").filter(queue="codel").to_dicts()
    assert f"{row['percent']:+.1f} %".replace("-", "−") in page
    assert "fairlane study small.toml" in page and done.page() == page


def test_failures_and_warnings_are_on_the_page(done):
    index = done.index.with_columns(
        pl.when(pl.col("combination") == 3).then(pl.lit("failed")).otherwise("status").alias("status"),
        pl.when(pl.col("combination") == 3).then(pl.lit("the <queue> broke at 12ms, seed " + "1")).otherwise("error").alias("error"),
    )
    part = StudyResult(done.spec, done.combinations, done._store, index, notes=["a note & more"])
    page = part.page()
    assert "6 × failed" in page and "the &lt;queue&gt; broke" in page and "a note &amp; more" in page
    assert "codel" in page and page.count("<h2") == 6
