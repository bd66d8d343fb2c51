"""Factorial studies: which factor matters how much (analysis of variance), and the mean of every level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from itertools import accumulate, combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.linalg import cho_factor, cho_solve

from ..errors import FairlaneError, suggest
from .intervals import CONFIDENCE, check_confidence, interval, t_factor

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESIDUAL = "residual"
_DUST = 1e-20
"""A residual below this share of the total is rounding: the runs of a point are all equal."""
_ROUNDING = 1e-13
"""Values that differ from their mean by less than this share of it are equal."""


_MOST = 25_000_000
"""Entries of the largest design matrix: 200 MB, of which a few copies are made."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of an ANOVA table."""

    term: str
    """A factor, factors with `:` between them for an interaction, the block, or `residual`."""
    df: int
    """Degrees of freedom."""
    sum_sq: float
    mean_sq: float | None
    F: float | None
    """mean_sq over that of the residual; None for the residual, and if that is nothing."""
    p: float | None
    """Probability of such an F, or a larger one, if the term had no effect."""
    eta_sq: float | None
    """Share of the total sum of squares; None if the metric does not vary at all."""


@dataclass(frozen=True)
class Anova:
    """What `anova` returns."""

    metric: str
    rows: tuple[Row, ...]
    """The block first if there is one, then factors, interactions, and the residual."""
    n: int
    """Runs that count."""
    total_sq: float
    """Sum of squares around the mean of all runs. The rows add up to it if the design is balanced."""
    balanced: bool
    """Whether every point has the same number of runs."""
    warnings: tuple[str, ...] = ()
    """What was left out, and why."""

    @property
    def table(self) -> list[dict[str, Any]]:
        """The rows as dicts, as in the JSON documents."""
        return [asdict(r) for r in self.rows]

    def row(self, term: str) -> Row:
        """The line of a term."""
        for r in self.rows:
            if r.term == term:
                return r
        raise suggest(term, [r.term for r in self.rows], "term")

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(w)}</p>" for w in self.warnings)
        return f"<p>What explains <b>{escape(self.metric)}</b> ({self.n} runs)</p>{self.frame()._repr_html_()}{notes}"

    def frame(self) -> pl.DataFrame:
        """The rows as a polars frame."""
        floats = dict.fromkeys(("sum_sq", "mean_sq", "F", "p", "eta_sq"), pl.Float64)
        return pl.DataFrame(self.table, schema={"term": pl.String, "df": pl.Int64, **floats})


def anova(frame: pl.DataFrame, metric: str, factors: Sequence[str], order: int = 2, block: str | None = None) -> Anova:
    """Analysis of variance of a factorial study: main effects, and interactions of up to `order` factors.

    `frame` has one row a run: a column with the metric, and one for each factor, whose values are levels (numbers count as names). The
    model is linear, metric = mean + effects of the levels + effects of their combinations + error; the errors are independent, normal and
    of equal variance.

    Sums of squares are of type III with sum contrasts (Yates 1934; Searle, Linear Models for Unbalanced Data, 1987): what the fit loses
    without the term's columns. They test means in which every point counts the same, however many runs it has. In a simulation that is
    the right question, because the numbers of runs come from failed cells and from stopping rules and mean nothing. In balanced studies
    types I, II and III agree.

    F = mean_sq(term) / mean_sq(residual), p from the F distribution. eta_sq = sum_sq / total: with many runs everything is significant,
    and this says what matters.

    `block`: a column that says which runs share their random numbers, mostly "seed". Points with common seeds are not independent: a seed
    that makes one of them slow makes all of them slow. With a block the seed's own effect (the same on all points) gets a row and leaves
    the residual, so that effects are judged by how they vary from seed to seed (a randomised complete block design; Montgomery, Design
    and Analysis of Experiments, chapter 4). In balanced studies the sums of squares of the factors stay as they are, the residual and its
    degrees of freedom shrink, F mostly grows. What a seed does to one level and not to others stays in the residual.

    Left out with a word in `warnings`: rows without a value; factors with one level; interactions of levels that never occur together.
    Without replications nothing is left for the residual, and there is no F. Raises `FairlaneError` if nothing is left to analyse or
    effects cannot be told apart.
    """
    _check(frame, metric, factors, block)
    if order < 1:
        raise FairlaneError(f"the order of interactions is 1 (none) or more, not {order}")
    told: list[str] = []
    data = _with_values(frame, metric, told)
    y = data[metric].cast(pl.Float64).to_numpy().copy()
    if not len(y):
        raise FairlaneError(f"nothing to compare: no run has a value of {metric}")
    codes, levels = _levels(data, factors)
    used = []
    for f in factors:
        if len(levels[f]) > 1:
            used.append(f)
        else:
            told.append(f"{f} has one level only, {levels[f][0]!r}: it can have no effect, and is left out")
    if not used:
        raise FairlaneError(f"nothing to compare: no factor of {', '.join(factors)} has two levels with values of {metric}")
    groups = codes_of(data, block) if block is not None else np.zeros(len(y), dtype=np.int64)

    terms: list[tuple[str, ...]] = []
    for size in range(1, min(order, len(used)) + 1):
        for term in combinations(used, size):
            missing = _missing(term, codes, levels) if size > 1 else []
            if missing:
                example = " with ".join(f"{f} {v!r}" for f, v in zip(term, missing[0], strict=True))
                told.append(f"{':'.join(term)} is left out: {len(missing)} of its combinations have no run, such as {example}")
            else:
                terms.append(term)

    x, spans = _design(terms, codes, levels, len(y))
    mean = float(y.mean())
    y -= mean
    spread = float(np.max(np.abs(y)))
    same = spread <= _ROUNDING * abs(mean)
    scale = 1.0 if same else spread  # squares of bit/s are large
    y /= scale
    total = 0.0 if same else float(np.sum((y - y.mean()) ** 2))
    xc, yc = _within(x, groups), _within(y[:, None], groups)[:, 0]
    blocks = int(groups.max()) + 1
    if (factor := _cholesky(xc)) is None:
        raise FairlaneError(_confounded(terms, spans, xc, len(y), x.shape[1] + blocks, block))
    beta = cho_solve(factor, xc.T @ yc)
    covariance = cho_solve(factor, np.eye(x.shape[1]))
    residual_df = len(y) - blocks - x.shape[1]
    residual = float(np.sum((yc - xc @ beta) ** 2)) if residual_df else 0.0
    exact = residual_df > 0 and residual <= _DUST * total
    if same:
        told.append(f"{metric} is the same in all runs: there is nothing to explain")
        residual = 0.0
    elif residual_df == 0:
        more = ", or leave out interactions (order=1)" if any(len(t) > 1 for t in terms) else ""
        told.append(f"no replications: nothing is left to tell effects from chance, so there is no F; run more seeds{more}")
    elif exact:
        told.append(f"{metric} has no chance in it: runs of the same point are equal, so every difference is real and there is no F")
    error = residual / residual_df if residual_df and not exact and total else None

    rows = []
    if block is not None:
        # Without the block only the common mean is left.
        whole, centred = x - x.mean(axis=0), y - y.mean()
        rest = centred - whole @ cho_solve(_cholesky(whole), whole.T @ centred)
        extra = max(float(np.sum(rest**2)) - residual, 0.0) if total else 0.0
        rows.append(_row(block, blocks - 1, extra, error, residual_df, total, scale))
    for term, (a, b) in zip(terms, spans, strict=True):
        part = beta[a:b]
        ss = float(part @ np.linalg.solve(covariance[a:b, a:b], part)) if total else 0.0
        rows.append(_row(":".join(term), b - a, ss, error, residual_df, total, scale))
    mean_sq = residual / residual_df * scale**2 if residual_df else None
    rows.append(Row(RESIDUAL, residual_df, residual * scale**2, mean_sq, None, None, residual / total if total else None))
    return Anova(metric, tuple(rows), len(y), total * scale**2, _is_balanced(data, used), tuple(told))


def _row(term: str, df: int, ss: float, error: float | None, residual_df: int, total: float, scale: float) -> Row:
    from scipy.special import fdtrc

    mean_sq = ss / df if df else None
    f = mean_sq / error if error and mean_sq is not None else None
    p = None if f is None else float(fdtrc(df, residual_df, f))
    return Row(term, df, ss * scale**2, None if mean_sq is None else mean_sq * scale**2, f, p, ss / total if total else None)


def effects(
    frame: pl.DataFrame,
    metric: str,
    factors: Sequence[str],
    confidence: float = CONFIDENCE,
    *,
    order: int = 2,
    block: str | None = None,
) -> pl.DataFrame:
    """The mean of every level of every factor, and of every pair of levels, with intervals.

    Columns: `term` (as in `anova`), one column a factor (null where the term has none), `mean`, `low`, `high`, `sd`, `n`, and `effect`:
    the mean minus the mean of all points. Rows come in the order of the frame. In a mean every point (combination of levels) counts the
    same, however many runs it has. Combinations without any run are missing in the mean of their levels.

    With `block` (mostly "seed") every seed is averaged over the points of the level first; these averages are independent, and the
    interval is Student's t of them: `sd` is theirs, `n` the number of seeds. Seeds that lack one of the points do not count there,
    because their average would be of something else. This is the right one for points with common seeds, and assumes nothing of their
    variances.

    Without `block` the runs are taken as independent and of equal variance: the standard error of a mean of c points is sqrt(s^2 * sum(1
    / n_i)) / c, where s^2 is the variance within points, pooled; `sd` is s, `n` the number of runs, and the degrees of freedom are runs
    minus points. Without replications there are no intervals.
    """
    _check(frame, metric, factors, block)
    check_confidence(confidence)
    data = _with_values(frame, metric, []).with_columns(pl.col(metric).cast(pl.Float64))
    if data.is_empty():
        raise FairlaneError(f"{metric} has no values")
    points = data.group_by(list(factors), maintain_order=True).agg(
        pl.col(metric).mean().alias("_mean"), pl.col(metric).var().alias("_var"), pl.len().alias("_n")
    )
    free = data.height - points.height
    pooled = math.sqrt(float((points["_var"].fill_null(0.0) * (points["_n"] - 1)).sum()) / free) if free > 0 else None
    grand = float(points["_mean"].mean())  # type: ignore[arg-type]
    cells = None
    if block is not None:
        cells = data.group_by([*factors, block], maintain_order=True).agg(pl.col(metric).mean().alias("_mean"))
    rows: list[dict[str, Any]] = []
    for size in range(1, min(order, len(factors)) + 1):
        for term in combinations(factors, size):
            for key, mine in points.group_by(list(term), maintain_order=True):
                label = dict(zip(term, key, strict=True))
                if cells is not None:
                    here = cells.filter([pl.col(f).eq_missing(v) for f, v in label.items()])
                    seeds = here.group_by(block, maintain_order=True).agg(pl.col("_mean").mean(), pl.len().alias("_points"))
                    iv = interval(seeds.filter(pl.col("_points") == mine.height)["_mean"].to_list(), confidence)
                    numbers: dict[str, Any] = iv.as_dict()
                    if iv.mean is None:
                        numbers["mean"] = float(mine["_mean"].mean())  # type: ignore[arg-type]
                else:
                    numbers = _pooled(mine, pooled, free, confidence)
                rows.append({"term": ":".join(term), **dict.fromkeys(factors), **label, **numbers, "effect": numbers["mean"] - grand})
    floats = dict.fromkeys(("mean", "low", "high", "sd"), pl.Float64)
    schema: dict[str, Any] = {"term": pl.String, **{f: data.schema[f] for f in factors}, **floats, "n": pl.Int64, "effect": pl.Float64}
    return pl.DataFrame(rows, schema=schema)


def _pooled(points: pl.DataFrame, sd: float | None, df: int, confidence: float) -> dict[str, Any]:
    mean, runs = float(points["_mean"].mean()), int(points["_n"].sum())  # type: ignore[arg-type]
    if sd is None:
        return {"mean": mean, "low": None, "high": None, "sd": None, "n": runs}
    half = t_factor(confidence, df) * sd * math.sqrt(float((1.0 / points["_n"]).sum())) / points.height
    return {"mean": mean, "low": mean - half, "high": mean + half, "sd": sd, "n": runs}


def _check(frame: pl.DataFrame, metric: str, factors: Sequence[str], block: str | None) -> None:
    if isinstance(factors, str) or not factors:
        raise FairlaneError(f'factors are a list of columns, such as ["queue", "rate"], not {factors!r}')
    if len(set(factors)) < len(factors) or metric in factors or block in (*factors, metric):
        raise FairlaneError("the metric, the factors and the block must be different columns")
    for column in (metric, *factors, *([] if block is None else [block])):
        if column not in frame.columns:
            raise suggest(column, frame.columns, "column")
    if not frame.schema[metric].is_numeric() and frame.schema[metric] not in (pl.Boolean, pl.Null):
        raise FairlaneError(f"the column {metric!r} holds no numbers but {frame.schema[metric]}")


def _with_values(frame: pl.DataFrame, metric: str, told: list[str]) -> pl.DataFrame:
    data = frame.filter(pl.col(metric).cast(pl.Float64).is_finite().fill_null(False))
    if data.height < frame.height:
        gone = frame.height - data.height
        told.append(f"{gone} of {frame.height} runs have no value of {metric} and do not count")
    return data


def _levels(data: pl.DataFrame, factors: Sequence[str]) -> tuple[dict[str, NDArray[np.int64]], dict[str, list[Any]]]:
    """Each factor as numbers of its levels, and the levels."""
    levels = {f: data[f].unique(maintain_order=True).to_list() for f in factors}
    return {f: codes_of(data, f) for f in factors}, levels


def codes_of(data: pl.DataFrame, column: str) -> NDArray[np.int64]:
    """A column as numbers from 0, in order of first appearance."""
    number = {v: i for i, v in enumerate(data[column].unique(maintain_order=True).to_list())}
    return np.array([number[v] for v in data[column].to_list()], dtype=np.int64)


def _missing(term: Sequence[str], codes: dict[str, NDArray[np.int64]], levels: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    """Combinations of levels that no run has."""
    seen = np.zeros([len(levels[f]) for f in term], dtype=bool)
    seen[tuple(codes[f] for f in term)] = True
    return [tuple(levels[f][i] for f, i in zip(term, at, strict=True)) for at in np.argwhere(~seen)]


def _sum_contrasts(code: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """k - 1 columns: 1 at the own level, -1 at the last one; so the effects of all levels add up to zero."""
    return np.vstack([np.eye(k - 1), -np.ones(k - 1)])[code]


def _design(
    terms: list[tuple[str, ...]], codes: dict[str, NDArray[np.int64]], levels: dict[str, list[Any]], runs: int
) -> tuple[NDArray[np.float64], list[tuple[int, int]]]:
    """The columns of all terms, and which belong to each."""
    widths = [math.prod(len(levels[f]) - 1 for f in term) for term in terms]
    if runs * sum(widths) > _MOST:
        raise FairlaneError(
            f"{sum(widths)} effects in {runs} runs are too many to analyse: leave out interactions (order=1), or factors with many levels"
        )
    ends = list(accumulate(widths))
    x = np.empty((runs, sum(widths)))
    for term, width, end in zip(terms, widths, ends, strict=True):
        part = np.ones((runs, 1))
        for f in term:
            part = (part[:, :, None] * _sum_contrasts(codes[f], len(levels[f]))[:, None, :]).reshape(runs, -1)
        x[:, end - width : end] = part
    return x, [(end - width, end) for width, end in zip(widths, ends, strict=True)]


def _within(x: NDArray[np.float64], groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """Deviations from the means of the groups: what a fit with an intercept for each group sees (Frisch and Waugh 1933; Lovell 1963)."""
    count = np.bincount(groups)
    starts = np.concatenate([[0], np.cumsum(count)[:-1]])
    sums = np.add.reduceat(x[np.argsort(groups, kind="stable")], starts, axis=0)
    return x - (sums / count[:, None])[groups]


def _cholesky(x: NDArray[np.float64]) -> tuple[NDArray[np.float64], bool] | None:
    """The factor of x'x, or None if a column depends on those before it. Contrasts are well-conditioned, so squaring does no harm."""
    gram = x.T @ x
    try:
        factor, lower = cho_factor(gram, lower=True)
    except np.linalg.LinAlgError:
        return None
    return None if (np.diag(factor) ** 2 <= 1e-9 * np.diag(gram)).any() else (factor, lower)


def _rank(x: NDArray[np.float64]) -> int:
    """Rank of a matrix of contrasts, by its much smaller Gram matrix: its entries are of the order of one."""
    return int(np.linalg.matrix_rank(x.T @ x, hermitian=True)) if x.size else 0


def _confounded(
    terms: list[tuple[str, ...]], spans: list[tuple[int, int]], x: NDArray[np.float64], runs: int, needed: int, block: str | None
) -> str:
    """Says which effects cannot be told apart."""
    if runs < needed:
        return f"{runs} runs are too few for {needed} means: run more seeds, or leave out interactions (order=1)"
    rank, mixed = _rank(x), []
    for term, (a, b) in zip(terms, spans, strict=True):
        if _rank(np.delete(x, np.s_[a:b], axis=1)) + (b - a) > rank:
            mixed.append(":".join(term))
    other = f", or from that of {block}" if block is not None else ""
    return f"the effects of {', '.join(mixed)} cannot be told apart{other}: they always change together in these runs"


def _is_balanced(data: pl.DataFrame, factors: Sequence[str]) -> bool:
    counts = data.group_by(list(factors)).len()["len"]
    points = math.prod(data[f].n_unique() for f in factors)
    return len(counts) == points and counts.n_unique() == 1
