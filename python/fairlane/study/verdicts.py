"""Verdicts on the claims of a study: the share of settings in which each holds, where it changes, and on which parameters it depends.

In a setting, a check is made once, on the means over the replications of that setting. A study without settings makes it on the means over
its seeds, and on sets of seeds drawn again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ..claims import BadCheck, Check, NoData, Tables
from ..multiverse import Boundary, Share, changes_at, judge, matters
from ..multiverse.verdicts import Word
from . import frames, labels
from .model import Claim, Factor
from .sentences import layout, spellings
from .settings import SETTING, as_settings, opens_of

if TYPE_CHECKING:
    from .tables import StudyTables

RESAMPLES = 400
"""Sets of seeds drawn again."""
SURE = 0.95
"""Share of these in which a claim without settings is to hold, or to fail."""
FEWEST_SEEDS = 6
"""Seeds below which such a claim has no verdict: five fair coins fall alike in one case of sixteen, six in one of 32."""
_Matrix = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class StudyClaim:
    """The verdict on a claim."""

    claim: Claim
    verdict: Word
    """holds, fails, depends or inconclusive; a study says nothing of the published values, so nothing is not reproduced."""
    so_far: Word | None
    """Verdict of the finished runs alone while others are missing; None if all are finished."""
    reason: str
    share: Share | None
    """In what share of the settings it holds, with the 95 % interval; None without settings."""
    support: float | None = None
    """Without settings: the share of sets of seeds drawn again in which it holds."""
    boundaries: tuple[Boundary, ...] = ()
    """Where it changes, the boundary that separates most first."""
    explained: float = 0.0
    """How much of the variation between settings the boundaries explain, from 0 to 1."""
    matters: Mapping[str, float] = field(default_factory=dict)
    """For each varied parameter, the share of the variance of the margin that it accounts for alone."""
    outcomes: tuple[bool | None, ...] = ()
    """Outcome in each setting; None where it is unknown."""
    margins: tuple[float | None, ...] = ()
    """By how much, from -1 to 1; see `fairlane.claims.margin`."""

    @property
    def id(self) -> str:
        """Its short name."""
        return self.claim.id

    @property
    def statement(self) -> str:
        """The sentence."""
        return self.claim.statement

    def to_json(self) -> dict[str, Any]:
        """The entry of the JSON document."""
        s = self.share
        return {
            "id": self.id, "statement": self.statement, "check": self.claim.check, "verdict": self.verdict, "so_far": self.so_far,
            "reason": self.reason, "share": None if s is None else s.share, "share_low": None if s is None else s.low,
            "share_high": None if s is None else s.high, "settings": None if s is None else s.n, "support": self.support,
            "changes_at": [t.to_json() for t in self.boundaries] or None, "explained": self.explained, "matters": dict(self.matters),
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"StudyClaim({self.id}: {self.verdict}, {self.reason})"


def of_result(result: StudyTables) -> list[StudyClaim]:
    """See `StudyResult.claims`."""
    if not result.spec.claims:
        return []
    unfinished = _unfinished(result)
    if result.spec.settings is None:
        values = _per_seed(result)
        return [_after(_of_seeds(c, result, values), unfinished) for c in result.spec.claims]
    means = _means(result)
    return [_after(_of_settings(c, result, means), unfinished) for c in result.spec.claims]


def of_metric(result: StudyTables, metric: str) -> dict[str, float]:
    """See `StudyResult.matters`."""
    settings = result.spec.settings
    if settings is None:
        return {}
    column = result.metrics.index(result.metric(metric).label)
    values = _means(result)[:, column].reshape(len(settings.values), -1)
    known = [float(v) if np.isfinite(v) else None for v in values.mean(axis=1)]
    return matters(opens_of(settings), as_settings(settings), known)


def _unfinished(result: StudyTables) -> str:
    """Which runs are not run, in words; "" if all are."""
    open_ = result.index.filter(pl.col("status") == "open").height
    return f"{labels.count(open_, 'run')} of {result.index.height} not run yet" if open_ else ""


def _after(claim: StudyClaim, unfinished: str) -> StudyClaim:
    """A part of the runs never has another verdict than all of them, nor a surer one."""
    if not unfinished or claim.verdict == "inconclusive":
        return claim
    reason = f"preliminary ({unfinished}): {claim.reason}"
    return StudyClaim(**{**claim.__dict__, "verdict": "inconclusive", "so_far": claim.verdict, "reason": reason})


def _factors(result: StudyTables) -> list[Factor]:
    return [f for f in result.spec.factors if f.name != SETTING]


def _means(result: StudyTables) -> _Matrix:
    """The mean of each metric (column) over the replications of each combination (row); NaN where a run that was planned is missing."""
    counts = result.index.group_by(pl.col("combination").cast(pl.Int64)).len("planned")
    means = result._runs.group_by("combination").agg(pl.len().alias("done"), *(pl.col(m).mean() for m in result.metrics))
    whole = counts.join(means, on="combination", how="left").filter(pl.col("done") == pl.col("planned"))
    out = np.full((len(result.combinations), len(result.metrics)), np.nan)
    out[whole["combination"].to_numpy()] = whole.select(result.metrics).fill_null(float("nan")).to_numpy()
    return out


class _Known(Tables):
    """Tables in which a value that is not a number is no data."""

    def vs(self, table: str, **factors: object) -> list[float]:
        values = super().vs(table, **factors)
        if not np.isfinite(values).all():
            raise NoData(f"{table} {factors}")
        return values


def _of_settings(claim: Claim, result: StudyTables, means: _Matrix) -> StudyClaim:
    """A claim in each setting, and in how many of them it holds."""
    settings = result.spec.settings
    assert settings is not None
    factors = _factors(result)
    opens, values = opens_of(settings), as_settings(settings)
    check, base = Check(claim.check), _Known(layout(result.metrics, factors, settings), {}, spellings(factors))
    numbers = {o.name: o for o in opens if o.ordered}
    outcomes: list[bool | None] = []
    margins: list[float | None] = []
    wrong = ""
    for setting, block in zip(values, means.reshape(len(values), -1, len(result.metrics)), strict=True):
        columns = {m: block[:, k].tolist() for k, m in enumerate(result.metrics)}
        tables = base.with_values({**columns, **{name: [o.number(setting[name])] for name, o in numbers.items()}})
        try:
            outcome = check.outcome(tables)
            outcomes.append(None if outcome == "no-data" else outcome == "holds")
            margins.append(check.margin(tables))
        except BadCheck as e:
            wrong = wrong or str(e)
            outcomes.append(None)
            margins.append(None)
    boundaries = changes_at(opens, values, outcomes)
    judged = judge(outcomes, boundaries.boundaries, boundaries.explained)
    reason = f"{judged.reason}; in some, {wrong}" if wrong else judged.reason
    return StudyClaim(
        claim, judged.word, None, reason, judged.share, None, judged.boundaries, judged.explained, matters(opens, values, margins),
        tuple(outcomes), tuple(margins),
    )  # fmt: skip


def _per_seed(result: StudyTables) -> list[_Matrix]:
    """For each combination the metrics (columns) of its finished replications (rows)."""
    parts = {int(p): part.select(result.metrics) for (p,), part in result._runs.group_by(["combination"], maintain_order=True)}
    empty = np.full((0, len(result.metrics)), np.nan)
    return [parts[i].fill_null(float("nan")).to_numpy() if i in parts else empty for i in range(len(result.combinations))]


def _of_seeds(claim: Claim, result: StudyTables, values: Sequence[_Matrix]) -> StudyClaim:
    """A claim on the means over the seeds, and on those of seeds drawn again: the same ones for all combinations, which share them."""
    factors = result.spec.factors
    check, base = Check(claim.check), _Known(layout(result.metrics, factors, None), {}, spellings(factors))
    fewest = min((len(v) for v in values), default=0)

    def tables(draw: _Matrix | None) -> Tables:
        """`draw`: numbers from 0 to 1 that say which replications are taken."""
        means = np.array([_mean(v if draw is None else v[(draw[: len(v)] * len(v)).astype(int)]) for v in values])
        return base.with_values({m: means[:, k].tolist() for k, m in enumerate(result.metrics)})

    try:
        outcome = check.outcome(tables(None))
        if outcome == "no-data" or not fewest:
            return StudyClaim(claim, "inconclusive", None, "a value that the check reads is missing", None)
        rng, most = np.random.default_rng(1), max(len(v) for v in values)
        draws = (rng.random(most) for _ in range(RESAMPLES))
        held = sum(check.outcome(tables(d)) == "holds" for d in draws) if fewest > 1 else RESAMPLES * (outcome == "holds")
    except BadCheck as e:
        return StudyClaim(claim, "inconclusive", None, str(e), None)
    support = held / RESAMPLES
    reason = f"{outcome} on the means; holds in {100 * support:.0f} % of {RESAMPLES} resampled sets of seeds"
    if fewest < FEWEST_SEEDS:
        runs = labels.count(fewest, "replication")
        return StudyClaim(
            claim, "inconclusive", None, f"{reason}, but {runs} may agree by chance: {FEWEST_SEEDS} are needed", None, support
        )
    sure = support >= SURE if outcome == "holds" else support <= 1 - SURE
    return StudyClaim(claim, outcome if sure else "inconclusive", None, reason, None, support)


def _mean(values: _Matrix) -> _Matrix:
    """The mean of each column over what is there."""
    there = np.isfinite(values)
    counts = there.sum(axis=0)
    sums = np.where(there, values, 0.0).sum(axis=0)
    out = np.full(values.shape[1], np.nan)
    np.divide(sums, counts, out=out, where=counts > 0)
    return out


def frame(result: StudyTables, claims: Sequence[StudyClaim]) -> pl.DataFrame:
    """See `StudyResult.settings`."""
    settings = result.spec.settings
    if settings is None:
        return pl.DataFrame()
    columns: dict[str, Any] = {SETTING: pl.Series(range(len(settings.values)), dtype=pl.Int64)}
    columns |= frames.of_settings(settings.values, opens_of(settings))
    for c in claims:
        columns[c.id] = pl.Series(c.outcomes, dtype=pl.Boolean)
        columns[f"{c.id} margin"] = pl.Series(c.margins, dtype=pl.Float64)
    return pl.DataFrame(columns)
