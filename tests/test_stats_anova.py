"""Analysis of variance against statsmodels and a textbook; means of levels against statsmodels; designs that cannot be analysed."""

import math

import numpy as np
import polars as pl
import pytest
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.anova import anova_lm

from conftest import cases
from fairlane.errors import FairlaneError
from fairlane.stats import anova, effects, interval

QUEUES, RATES = ("droptail", "red", "codel"), (1e6, 1e7)


def study(seeds=5, *, missing=0.0, noise=1.0, seed=1, shared=0.0):
    """Runs of 3 x 2 x 2 points: effects of each factor, an interaction, a seed's own effect, and noise; a share of the runs missing."""
    rng = np.random.default_rng(seed)
    luck = rng.normal(size=seeds)
    rows = []
    for i, q in enumerate(QUEUES):
        for j, r in enumerate(RATES):
            for k, cc in enumerate(("reno", "cubic")):
                for s in range(seeds):
                    if rng.random() >= missing:
                        y = 10 + 2 * i - 3 * j + 0.5 * k + 1.5 * i * j + shared * luck[s] + noise * rng.normal()
                        rows.append({"queue": q, "rate": r, "cc": cc, "seed": s + 1, "delay": y})
    return pl.DataFrame(rows)


def by_statsmodels(frame, factors, order, block, metric="delay"):
    names = {f: f"C({f}, Sum)" for f in factors}
    formula = f"{metric} ~ ({' + '.join(names.values())}) ** {order}" + (f" + C({block}, Sum)" if block else "")
    table = anova_lm(smf.ols(formula, frame.to_pandas()).fit(), typ=3).drop("Intercept")
    plain = {":".join(x[2 : x.index(",")] if "(" in x else "residual" for x in name.split(":")): row for name, row in table.iterrows()}
    return plain


def same(ours, theirs):
    assert {r.term for r in ours.rows} == set(theirs)
    for r in ours.rows:
        other = theirs[r.term]
        assert r.df == other["df"]
        assert r.sum_sq == pytest.approx(other["sum_sq"], rel=1e-8)
        if r.term != "residual":
            assert pytest.approx(other["F"], rel=1e-8) == r.F
            assert r.p == pytest.approx(other["PR(>F)"], rel=1e-6, abs=1e-300)


@pytest.mark.parametrize("block", [None, "seed"])
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_table_is_that_of_statsmodels(missing, order, block):
    frame = study(seeds=6, missing=missing, seed=order, shared=2.0)
    factors = ["queue", "rate", "cc"]
    ours = anova(frame, "delay", factors, order, block)
    assert ours.balanced == (missing == 0.0)
    assert not ours.warnings
    same(ours, by_statsmodels(frame, factors, order, block))


@settings(max_examples=cases(25))
@given(st.lists(st.integers(1, 4), min_size=6, max_size=6), st.integers(0, 10**6))
def test_any_numbers_of_replications(counts, seed):
    rng = np.random.default_rng(seed)
    points = [(q, r) for q in QUEUES for r in RATES]
    rows = [{"queue": q, "rate": r, "delay": rng.gamma(2.0)} for (q, r), n in zip(points, counts, strict=True) for _ in range(n)]
    if len(rows) > 6:
        frame = pl.DataFrame(rows)
        same(anova(frame, "delay", ["queue", "rate"]), by_statsmodels(frame, ["queue", "rate"], 2, None))


def test_a_textbook_example():
    # Montgomery, Design and Analysis of Experiments, section 5.3.1: life of a battery by material and temperature, with its ANOVA table.
    life = {
        (1, 15): (130, 155, 74, 180), (1, 70): (34, 40, 80, 75), (1, 125): (20, 70, 82, 58),
        (2, 15): (150, 188, 159, 126), (2, 70): (136, 122, 106, 115), (2, 125): (25, 70, 58, 45),
        (3, 15): (138, 110, 168, 160), (3, 70): (174, 120, 150, 139), (3, 125): (96, 104, 82, 60),
    }  # fmt: skip
    frame = pl.DataFrame([{"material": m, "temperature": t, "life": x} for (m, t), values in life.items() for x in values])
    table = anova(frame, "life", ["material", "temperature"])
    printed = {
        "material": (2, 10683.72, 7.91),
        "temperature": (2, 39118.72, 28.97),
        "material:temperature": (4, 9613.78, 3.56),
        "residual": (27, 18230.75, None),
    }
    for term, (df, ss, f) in printed.items():
        row = table.row(term)
        assert (row.df, round(row.sum_sq, 2)) == (df, ss)
        assert (None if row.F is None else round(row.F, 2)) == f
    assert round(table.total_sq, 2) == 77646.97
    assert sum(r.eta_sq for r in table.rows) == pytest.approx(1.0)
    assert round(table.row("material:temperature").p, 4) == 0.0186


def test_a_block_takes_the_seeds_luck_out_of_the_residual():
    frame = study(seeds=8, shared=5.0)
    plain, blocked = (anova(frame, "delay", ["queue", "rate", "cc"], block=b) for b in (None, "seed"))
    for term in ("queue", "rate", "cc", "queue:rate"):
        assert blocked.row(term).sum_sq == pytest.approx(plain.row(term).sum_sq)
        assert blocked.row(term).F > 5 * plain.row(term).F
    assert blocked.row("residual").df == plain.row("residual").df - 7
    assert blocked.row("seed").sum_sq + blocked.row("residual").sum_sq == pytest.approx(plain.row("residual").sum_sq)
    assert blocked.rows[0].term == "seed"


def test_units_do_not_matter():
    frame = study()
    large = frame.with_columns(pl.col("delay") * 1e12)
    a, b = (anova(f, "delay", ["queue", "rate"]) for f in (frame, large))
    assert [r.F for r in a.rows] == pytest.approx([r.F for r in b.rows], nan_ok=True)
    assert b.row("queue").sum_sq == pytest.approx(a.row("queue").sum_sq * 1e24)


def test_what_cannot_be_analysed_is_left_out_with_a_word():
    frame = study().with_columns(pl.lit("one").alias("preset"))
    table = anova(frame, "delay", ["queue", "preset", "rate"])
    assert [r.term for r in table.rows] == ["queue", "rate", "queue:rate", "residual"]
    assert table.warnings == ("preset has one level only, 'one': it is omitted",)

    holes = frame.filter(~((pl.col("queue") == "red") & (pl.col("rate") == 1e7)))
    table = anova(holes, "delay", ["queue", "rate"])
    assert [r.term for r in table.rows] == ["queue", "rate", "residual"]
    assert "1 of its combinations have no run, such as queue 'red' with rate 10000000.0" in table.warnings[0]
    same(table, by_statsmodels(holes, ["queue", "rate"], 1, None))

    gaps = frame.with_columns(
        pl.when(pl.col("seed") == 2).then(None).when(pl.col("seed") == 3).then(math.nan).otherwise("delay").alias("delay")
    )
    table = anova(gaps, "delay", ["queue", "rate"])
    assert (table.n, table.warnings) == (36, ("24 of 60 runs have no value of delay and are ignored",))
    same(table, by_statsmodels(gaps.filter(pl.col("seed").is_in([1, 4, 5])), ["queue", "rate"], 2, None))


def test_without_replications_there_is_no_F_but_shares_remain():
    frame = study(seeds=1)
    table = anova(frame, "delay", ["queue", "rate", "cc"], order=3)
    assert table.row("residual").df == 0
    assert all(r.F is None and r.p is None for r in table.rows)
    assert sum(r.eta_sq for r in table.rows) == pytest.approx(1.0)
    assert "no replications" in table.warnings[0]
    # Left-out interactions take the place of the residual.
    assert anova(frame, "delay", ["queue", "rate", "cc"], order=1).row("queue").F > 1


def test_metrics_without_chance():
    frame = study(noise=0.0)
    table = anova(frame, "delay", ["queue", "rate"])
    assert table.row("queue").F is not None  # cc is not among the factors: its effect is in the residual
    table = anova(frame, "delay", ["queue", "rate", "cc"])
    assert all(r.F is None for r in table.rows)
    assert "is deterministic" in table.warnings[0]
    table = anova(frame.with_columns(pl.lit(3.0).alias("delay")), "delay", ["queue", "rate"])
    assert [(r.sum_sq, r.F, r.eta_sq) for r in table.rows] == [(0.0, None, None)] * 4
    assert "the same in all runs" in table.warnings[0]


def test_small_variation_around_a_large_mean_is_variation():
    frame = study()
    shifted = frame.with_columns(1e6 + pl.col("delay") * 1e-3)
    a, b = (anova(f, "delay", ["queue", "rate"], block="seed") for f in (frame, shifted))
    assert [r.F for r in b.rows[:-1]] == pytest.approx([r.F for r in a.rows[:-1]], rel=1e-4)


def test_designs_that_cannot_be_told_apart_are_errors():
    twins = study().with_columns((pl.col("queue") + "!").alias("twin"))
    with pytest.raises(FairlaneError, match="the effects of queue, twin cannot be separated: they always change together"):
        anova(twins, "delay", ["queue", "twin", "rate"], order=1)
    own_seeds = study().with_columns(pl.int_range(pl.len()).alias("seed"))
    with pytest.raises(FairlaneError, match="60 runs are too few"):
        anova(own_seeds, "delay", ["queue", "rate"], block="seed")
    tied = study().with_columns(pl.col("seed") + 10 * (pl.col("rate") == 1e6).cast(pl.Int64))
    with pytest.raises(FairlaneError, match="rate cannot be separated, or from that of seed"):
        anova(tied, "delay", ["rate"], block="seed")
    with pytest.raises(FairlaneError, match="nothing to compare"):
        anova(study().filter(pl.col("queue") == "red"), "delay", ["queue"])
    with pytest.raises(FairlaneError, match="nothing to compare"):
        anova(study().with_columns(pl.lit(None, dtype=pl.Float64).alias("delay")), "delay", ["queue"])


def test_what_is_too_large_is_said_to_be_so():
    many = pl.DataFrame(
        {"a": [i % 1000 for i in range(30_000)], "b": [i // 1000 for i in range(30_000)], "y": [float(i % 7) for i in range(30_000)]}
    )
    with pytest.raises(FairlaneError, match="leave out interactions"):
        anova(many, "y", ["a", "b"])


def test_wrong_columns_are_named():
    frame = study()
    with pytest.raises(FairlaneError, match="did you mean 'queue'"):
        anova(frame, "delay", ["queues"])
    with pytest.raises(FairlaneError, match="not numbers"):
        anova(frame, "queue", ["rate"])
    with pytest.raises(FairlaneError, match="must be different"):
        anova(frame, "delay", ["queue"], block="queue")
    with pytest.raises(FairlaneError, match="a list of columns"):
        effects(frame, "delay", "queue")


def test_effects_of_independent_runs_are_the_marginal_means_of_the_linear_model():
    frame = study(seeds=6, missing=0.3)
    fit = smf.ols("delay ~ C(queue, Sum) * C(rate, Sum)", frame.to_pandas()).fit()
    table = effects(frame, "delay", ["queue", "rate"])
    grid = [{"queue": q, "rate": r} for q in QUEUES for r in RATES]
    where = [frame.select("queue", "rate").rows(named=True).index(g) for g in grid]
    x = fit.model.exog[where]
    for row in table.iter_rows(named=True):
        mine = [
            g["queue"] in (row["queue"], row["queue"] or g["queue"]) and g["rate"] in (row["rate"], row["rate"] or g["rate"]) for g in grid
        ]
        contrast = x[np.array(mine)].mean(axis=0)
        test = fit.t_test(contrast)
        assert row["mean"] == pytest.approx(float(test.effect.item()))
        low, high = test.conf_int()[0]
        assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high))
        assert row["effect"] == pytest.approx(row["mean"] - (x.mean(axis=0) @ fit.params))
    assert table.height == 3 + 2 + 6
    assert table.schema["rate"] == pl.Float64


def test_effects_over_common_seeds_are_intervals_of_the_seeds_averages():
    frame = study(seeds=6, shared=3.0)
    table = effects(frame, "delay", ["queue", "rate", "cc"], block="seed")
    red = table.filter((pl.col("term") == "queue") & (pl.col("queue") == "red")).row(0, named=True)
    want = interval(frame.filter(pl.col("queue") == "red").group_by("seed").agg(pl.col("delay").mean())["delay"].to_list())
    assert (red["mean"], red["low"], red["high"], red["n"]) == (
        pytest.approx(want.mean),
        pytest.approx(want.low),
        pytest.approx(want.high),
        6,
    )
    assert (red["rate"], red["cc"]) == (None, None)
    # The seeds' own luck is in every point: runs taken as independent look far too sure.
    naive = (
        effects(frame, "delay", ["queue", "rate", "cc"]).filter((pl.col("term") == "queue") & (pl.col("queue") == "red")).row(0, named=True)
    )
    assert naive["high"] - naive["low"] < (red["high"] - red["low"]) / 1.5
    # A seed without one of the points does not count where that point belongs.
    holed = frame.filter(~((pl.col("seed") == 4) & (pl.col("queue") == "red") & (pl.col("cc") == "reno") & (pl.col("rate") == 1e6)))
    less = effects(holed, "delay", ["queue", "rate", "cc"], block="seed").filter(pl.col("term") == "queue")
    assert dict(less.select("queue", "n").iter_rows()) == {"droptail": 6, "red": 5, "codel": 6}


def test_effects_of_one_run_a_point_have_no_interval():
    table = effects(study(seeds=1), "delay", ["queue", "rate", "cc"])
    assert table["low"].is_null().all() and table["mean"].is_not_null().all()
