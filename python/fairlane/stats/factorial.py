"""Factorial studies: analysis of variance, and the mean of every level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from itertools import accumulate, combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ..errors import FairlaneError, suggest
from .intervals import ANY, CONFIDENCE, Range, bounded, check_confidence, interval, t_factor
from .student import f_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESIDUAL = "residual"
_DUST = 1e-20
"""Share of the total below which a residual is rounding: all runs of a combination are equal."""
_ROUNDING = 1e-13
"""Relative deviation from the mean below which values are equal."""


_MOST = 25_000_000
"""Entries of the largest design matrix: 200 MB, copied a few times."""


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
    """mean_sq divided by that of the residual; None for the residual, and if the residual is zero."""
    p: float | None
    """Probability of such an F, or a larger one, if the term had no effect."""
    eta_sq: float | None
    """Share of the total sum of squares; None if the metric does not vary at all."""


@dataclass(frozen=True)
class Anova:
    """Result of `anova`."""

    metric: str
    rows: tuple[Row, ...]
    """Lines: the block if there is one, factors, interactions, residual."""
    n: int
    """Number of runs with a value."""
    total_sq: float
    """Sum of squares around the mean of all runs. The rows add up to it if the design is balanced."""
    balanced: bool
    """True if every combination has the same number of runs."""
    warnings: tuple[str, ...] = ()
    """Omitted terms and runs, with the reason."""

    @property
    def table(self) -> list[dict[str, Any]]:
        """Returns the rows as dicts, as in the JSON documents."""
        return [asdict(r) for r in self.rows]

    def row(self, term: str) -> Row:
        """Returns the line of a term."""
        for r in self.rows:
            if r.term == term:
                return r
        raise suggest(term, [r.term for r in self.rows], "term")

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(w)}</p>" for w in self.warnings)
        return f"<p>Effects on <b>{escape(self.metric)}</b> ({self.n} runs)</p>{self.frame()._repr_html_()}{notes}"

    def frame(self) -> pl.DataFrame:
        """Returns the rows as a polars frame."""
        floats = dict.fromkeys(("sum_sq", "mean_sq", "F", "p", "eta_sq"), pl.Float64)
        return pl.DataFrame(self.table, schema={"term": pl.String, "df": pl.Int64, **floats})


def anova(frame: pl.DataFrame, metric: str, factors: Sequence[str], order: int = 2, block: str | None = None) -> Anova:
    """Analysis of variance of a factorial study: main effects, and interactions of up to `order` factors.

    `frame` has one row per run, with a column for the metric and one per factor, whose values are levels (numbers count as names). The
    model is linear, metric = mean + effects of the levels + effects of their combinations + error; the errors are independent, normal and
    of equal variance.

    Sums of squares are of type III with sum contrasts (Yates 1934; Searle, Linear Models for Unbalanced Data, 1987): what the fit loses
    without the columns of the term. They test means in which every combination has the same weight, whatever its number of runs. That is
    right for simulations, where numbers of runs come from failures and stopping rules. In balanced studies
    types I, II and III agree.

    F = mean_sq(term) / mean_sq(residual), p from the F distribution. eta_sq = sum_sq / total: the size of
    an effect, since with many runs every effect is significant.

    `block` is a column for runs with common random numbers, mostly "seed". Combinations with common seeds are not independent: a slow seed
    is slow in all of them. With a block the effect of the seed (equal in all combinations) gets a row and leaves the residual, so that
    effects are judged by their variation from seed to seed (a randomised complete block design; Montgomery, Design
    and Analysis of Experiments, chapter 4). In balanced studies the sums of squares of the factors stay as they are, the residual and its
    degrees of freedom shrink, F mostly grows. An effect of a seed on one level only stays in the residual.

    Omitted, with an entry in `warnings`: rows without a value; factors with one level; interactions of levels that never occur together.
    Without replications there is no residual and no F. Raises `FairlaneError` if nothing is left to analyse or effects cannot be separated.
    """
    _check(frame, metric, factors, block)
    if order < 1:
        raise FairlaneError(f"the order of interactions is 1 (none) or more, not {order}")
    notes: list[str] = []
    data = _with_values(frame, metric, notes)
    y = data[metric].cast(pl.Float64).to_numpy().copy()
    if not len(y):
        raise FairlaneError(f"nothing to compare: no run has a value of {metric}")
    codes, levels = _levels(data, factors)
    used = []
    for f in factors:
        if len(levels[f]) > 1:
            used.append(f)
        else:
            notes.append(f"{f} has one level only, {levels[f][0]!r}: it is omitted")
    if not used:
        raise FairlaneError(f"nothing to compare: no factor of {', '.join(factors)} has two levels with values of {metric}")
    groups = codes_of(data, block) if block is not None else np.zeros(len(y), dtype=np.int64)

    terms: list[tuple[str, ...]] = []
    for size in range(1, min(order, len(used)) + 1):
        for term in combinations(used, size):
            missing = _missing(term, codes, levels) if size > 1 else []
            if missing:
                example = " with ".join(f"{f} {v!r}" for f, v in zip(term, missing[0], strict=True))
                notes.append(f"{':'.join(term)} is omitted: {len(missing)} of its combinations have no run, such as {example}")
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
    beta = _solve(factor, xc.T @ yc)
    covariance = _solve(factor, np.eye(x.shape[1]))
    residual_df = len(y) - blocks - x.shape[1]
    residual = float(np.sum((yc - xc @ beta) ** 2)) if residual_df else 0.0
    exact = residual_df > 0 and residual <= _DUST * total
    if same:
        notes.append(f"{metric} is the same in all runs: no effect to analyse")
        residual = 0.0
    elif residual_df == 0:
        more = ", or leave out interactions (order=1)" if any(len(t) > 1 for t in terms) else ""
        notes.append(f"no replications: no residual, so no F; run more seeds{more}")
    elif exact:
        notes.append(f"{metric} is deterministic: runs of the same combination are equal, so every difference is real and there is no F")
    error = residual / residual_df if residual_df and not exact and total else None

    rows = []
    if block is not None:
        # Without a block only the common mean remains.
        whole, centred = x - x.mean(axis=0), y - y.mean()
        root = _cholesky(whole)
        assert root is not None  # columns that are independent within the blocks are so without them
        rest = centred - whole @ _solve(root, whole.T @ centred)
        extra = max(float(np.sum(rest**2)) - residual, 0.0) if total else 0.0
        rows.append(_row(block, blocks - 1, extra, error, residual_df, total, scale))
    for term, (a, b) in zip(terms, spans, strict=True):
        part = beta[a:b]
        ss = float(part @ np.linalg.solve(covariance[a:b, a:b], part)) if total else 0.0
        rows.append(_row(":".join(term), b - a, ss, error, residual_df, total, scale))
    mean_sq = residual / residual_df * scale**2 if residual_df else None
    rows.append(Row(RESIDUAL, residual_df, residual * scale**2, mean_sq, None, None, residual / total if total else None))
    return Anova(metric, tuple(rows), len(y), total * scale**2, _is_balanced(data, used), tuple(notes))


def _row(term: str, df: int, ss: float, error: float | None, residual_df: int, total: float, scale: float) -> Row:
    mean_sq = ss / df if df else None
    f = mean_sq / error if error and mean_sq is not None else None
    p = None if f is None else f_above(f, df, residual_df)
    return Row(term, df, ss * scale**2, None if mean_sq is None else mean_sq * scale**2, f, p, ss / total if total else None)


def effects(
    frame: pl.DataFrame,
    metric: str,
    factors: Sequence[str],
    confidence: float = CONFIDENCE,
    *,
    order: int = 2,
    block: str | None = None,
    within: Range = ANY,
) -> pl.DataFrame:
    """Returns the mean of every level of every factor, and of every pair of levels, with intervals.

    Columns: `term` (as in `anova`), one column per factor (null if not in the term), `mean`, `low`, `high`, `sd`, `n`, and `effect`: the
    mean minus the mean of all combinations. Rows are in the order of the frame. Each combination of levels has the same weight, whatever
    its number of runs. Combinations without a run are missing in the means of their levels.

    With `block` (mostly "seed") each seed is first averaged over the combinations of the level. These averages are independent, and the
    interval is Student's t: `sd` is their deviation, `n` the number of seeds. Seeds that lack one of the combinations are ignored. Use it
    for combinations with common seeds; it assumes nothing about their variances.

    Without `block` the runs are independent and of equal variance: the standard error of a mean of c combinations is sqrt(s^2 * sum(1 /
    n_i)) / c, where s^2 is the pooled variance within combinations; `sd` is s, `n` the number of runs, and the degrees of freedom are runs
    minus combinations. Without replications there are no intervals.

    `within` is the range of the metric, which the intervals do not leave; see `interval`.
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
                    iv = interval(seeds.filter(pl.col("_points") == mine.height)["_mean"].to_list(), confidence, within)
                    numbers: dict[str, Any] = iv.as_dict()
                    if iv.mean is None:
                        numbers["mean"] = float(mine["_mean"].mean())  # type: ignore[arg-type]
                else:
                    numbers = _pooled(mine, pooled, free, confidence, within)
                rows.append({"term": ":".join(term), **dict.fromkeys(factors), **label, **numbers, "effect": numbers["mean"] - grand})
    floats = dict.fromkeys(("mean", "low", "high", "sd"), pl.Float64)
    schema: dict[str, Any] = {"term": pl.String, **{f: data.schema[f] for f in factors}, **floats, "n": pl.Int64, "effect": pl.Float64}
    return pl.DataFrame(rows, schema=schema)


def _pooled(points: pl.DataFrame, sd: float | None, df: int, confidence: float, within: Range) -> dict[str, Any]:
    mean, runs = float(points["_mean"].mean()), int(points["_n"].sum())  # type: ignore[arg-type]
    if sd is None:
        return {"mean": mean, "low": None, "high": None, "sd": None, "n": runs}
    half = t_factor(confidence, df) * sd * math.sqrt(float((1.0 / points["_n"]).sum())) / points.height
    low, high = bounded(mean, half, within)
    return {"mean": mean, "low": low, "high": high, "sd": sd, "n": runs}


def _check(frame: pl.DataFrame, metric: str, factors: Sequence[str], block: str | None) -> None:
    if isinstance(factors, str) or not factors:
        raise FairlaneError(f'factors are a list of columns, such as ["queue", "rate"], not {factors!r}')
    if len(set(factors)) < len(factors) or metric in factors or block in (*factors, metric):
        raise FairlaneError("the metric, the factors and the block must be different columns")
    for column in (metric, *factors, *([] if block is None else [block])):
        if column not in frame.columns:
            raise suggest(column, frame.columns, "column")
    if not frame.schema[metric].is_numeric() and frame.schema[metric] not in (pl.Boolean, pl.Null):
        raise FairlaneError(f"the column {metric!r} contains {frame.schema[metric]}, not numbers")


def _with_values(frame: pl.DataFrame, metric: str, notes: list[str]) -> pl.DataFrame:
    data = frame.filter(pl.col(metric).cast(pl.Float64).is_finite().fill_null(False))
    if data.height < frame.height:
        gone = frame.height - data.height
        notes.append(f"{gone} of {frame.height} runs have no value of {metric} and are ignored")
    return data


def _levels(data: pl.DataFrame, factors: Sequence[str]) -> tuple[dict[str, NDArray[np.int64]], dict[str, list[Any]]]:
    """Returns each factor as indices of its levels, and the levels."""
    levels = {f: data[f].unique(maintain_order=True).to_list() for f in factors}
    return {f: codes_of(data, f) for f in factors}, levels


def codes_of(data: pl.DataFrame, column: str) -> NDArray[np.int64]:
    """Returns a column as indices from 0, in order of first appearance."""
    number = {v: i for i, v in enumerate(data[column].unique(maintain_order=True).to_list())}
    return np.array([number[v] for v in data[column].to_list()], dtype=np.int64)


def _missing(term: Sequence[str], codes: dict[str, NDArray[np.int64]], levels: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    """Returns combinations of levels without a run."""
    seen = np.zeros([len(levels[f]) for f in term], dtype=bool)
    seen[tuple(codes[f] for f in term)] = True
    return [tuple(levels[f][i] for f, i in zip(term, at, strict=True)) for at in np.argwhere(~seen)]


def _sum_contrasts(code: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """Returns k - 1 columns: 1 at the level, -1 at the last level, so that the effects of all levels add up to zero."""
    return np.vstack([np.eye(k - 1), -np.ones(k - 1)])[code]


def _design(
    terms: list[tuple[str, ...]], codes: dict[str, NDArray[np.int64]], levels: dict[str, list[Any]], runs: int
) -> tuple[NDArray[np.float64], list[tuple[int, int]]]:
    """Returns the columns of all terms, and the range of each term."""
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
    """Returns deviations from the group means, as in a fit with an intercept per group (Frisch and Waugh 1933; Lovell 1963)."""
    count = np.bincount(groups)
    starts = np.concatenate([[0], np.cumsum(count)[:-1]])
    sums = np.add.reduceat(x[np.argsort(groups, kind="stable")], starts, axis=0)
    return x - (sums / count[:, None])[groups]


def _solve(lower: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Solves x'x b = right by the Cholesky factor of x'x."""
    return np.linalg.solve(lower.T, np.linalg.solve(lower, right))


def _cholesky(x: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Returns the Cholesky factor of x'x; None if columns are dependent. Contrasts are well-conditioned, so squaring is safe."""
    gram = x.T @ x
    try:
        factor: NDArray[np.float64] = np.linalg.cholesky(gram).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        return None
    return None if (np.diag(factor) ** 2 <= 1e-9 * np.diag(gram)).any() else factor


def _rank(x: NDArray[np.float64]) -> int:
    """Returns the rank of a matrix of contrasts from its much smaller Gram matrix, whose entries are of the order of one."""
    return int(np.linalg.matrix_rank(x.T @ x, hermitian=True)) if x.size else 0


def _confounded(
    terms: list[tuple[str, ...]], spans: list[tuple[int, int]], x: NDArray[np.float64], runs: int, needed: int, block: str | None
) -> str:
    """Returns a message that names the effects that cannot be separated."""
    if runs < needed:
        return f"{runs} runs are too few for {needed} means: run more seeds, or leave out interactions (order=1)"
    rank, mixed = _rank(x), []
    for term, (a, b) in zip(terms, spans, strict=True):
        if _rank(np.delete(x, np.s_[a:b], axis=1)) + (b - a) > rank:
            mixed.append(":".join(term))
    other = f", or from that of {block}" if block is not None else ""
    return f"the effects of {', '.join(mixed)} cannot be separated{other}: they always change together in these runs"


def _is_balanced(data: pl.DataFrame, factors: Sequence[str]) -> bool:
    counts = data.group_by(list(factors)).len()["len"]
    points = math.prod(data[f].n_unique() for f in factors)
    return len(counts) == points and counts.n_unique() == 1
