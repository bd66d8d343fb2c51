"""Comparisons within a study: variance explained, differences from a level, the best combination; all with common random numbers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from .. import stats
from ..errors import FairlaneError, suggest
from ..runs.selection import within_of
from . import frames, labels
from .model import Label, Selector
from .settings import SETTING

if TYPE_CHECKING:
    from .tables import StudyTables

_LESS = (
    "delay", "sojourn", "queue", "loss", "lost", "drops", "marks", "retransmits", "timeouts", "rtt", "srtt", "reordered", "completion",
    "transaction_time", "jitter", "mouth_to_ear_delay", "discard_rate", "startup_delay", "rebuffering",
)  # fmt: skip
"""How names of metrics begin of which less is better."""
_MOST_COLUMNS = 300
"""Contrasts of a model that is fitted without being asked for."""
_LEAST = 0.01
"""Share of the variance that is worth a word."""


def varied(result: StudyTables) -> list[str]:
    """The factors with at least two levels; settings are no levels of anything."""
    return [f.name for f in result.spec.factors if len(f.levels) > 1 and f.name != SETTING]


def anova(result: StudyTables, metric: str, order: int) -> stats.Anova:
    """See `StudyResult.anova`. The seeds are blocks, because all combinations share them."""
    return stats.anova(result.runs(), result.metric(metric).label, _varied(result), order, block=_block(result))


def effects(result: StudyTables, metric: str, order: int) -> pl.DataFrame:
    """See `StudyResult.effects`."""
    s = result.metric(metric)
    return stats.effects(
        result.runs(), s.label, _varied(result), result.spec.confidence, order=order, block=_block(result), within=within_of(s)
    )


def _varied(result: StudyTables) -> list[str]:
    names = varied(result)
    if not names:
        raise FairlaneError("nothing to compare: no factor of this study has two levels")
    return names


def _block(result: StudyTables) -> str | None:
    """Returns the column that the combinations share: the setting, or the seeds if there are several."""
    if result.spec.settings is not None:
        return SETTING
    return "seed" if result._done["seed"].n_unique() > 1 else None


def compare(result: StudyTables, metric: str, factor: str, baseline: Label | None, by: Sequence[str]) -> pl.DataFrame:
    """See `StudyResult.compare`."""
    f, label = result.factor(factor), result.metric(metric).label
    for name in by:
        result.factor(name)
    if factor in by:
        raise FairlaneError(f"factor {factor!r} is what is compared: it cannot be in `by`")
    dtype = frames.levels_dtype(f)
    levels = [frames.label_value(x.label, dtype) for x in f.levels]
    base = levels[0] if baseline is None else _level(baseline, levels, factor)
    others = [n for n in result.factors if n != factor]
    runs = result._runs.select(*others, factor, "seed", label)
    places: list[dict[str, Any]] = []
    pairs: list[tuple[list[float], list[float]]] = []
    for key, part in runs.group_by(list(by), maintain_order=True) if by else [((), runs)]:
        at = dict(zip(by, key, strict=True))
        for level in levels:
            if level != base:
                places.append({**at, factor: level})
                pairs.append(_paired(part, factor, level, base, others, label, _pairing(result)))
    contrasts = stats.contrasts(pairs, confidence=result.spec.confidence, within=within_of(result.metric(metric)))
    rows = [{**at, **_row(c)} for at, c in zip(places, contrasts, strict=True)]
    floats = ("mean", "baseline", "difference", "low", "high", "percent", "percent_low", "percent_high")
    tests = {**dict.fromkeys(("p", "p_holm", "p_equivalent"), pl.Float64), "finding": pl.String}
    heads = {**{n: frames.levels_dtype(result.factor(n)) for n in by}, factor: dtype}
    schema: dict[str, Any] = {**heads, **dict.fromkeys(floats, pl.Float64), "n": pl.Int64, **tests}
    return pl.DataFrame(rows, schema=schema)


def _level(wanted: Label, levels: Sequence[Any], factor: str) -> Any:
    for x in levels:
        if x == wanted or str(x) == str(wanted):
            return x
    raise suggest(str(wanted), [str(x) for x in levels], f"level of {factor}")


def _pairing(result: StudyTables) -> str:
    """Returns the column of the pairs: seeds, or settings."""
    return "seed" if result.spec.settings is None else SETTING


def _paired(
    part: pl.DataFrame, factor: str, level: Any, base: Any, others: Sequence[str], label: str, by: str
) -> tuple[list[float], list[float]]:
    """A level and the baseline, seed by seed (or setting by setting); one that lacks a combination on either side does not count."""
    a, b = (part.filter(pl.col(factor) == x).select(*others, "seed", label) for x in (level, base))
    both = a.join(b, on=[*others, "seed"], nulls_equal=True, suffix="_base").drop_nulls([label, f"{label}_base"])
    grouped = both.group_by(by, maintain_order=True)
    per_seed = grouped.agg(pl.col(label).mean(), pl.col(f"{label}_base").mean(), pl.len().alias("_combinations")).sort(by)
    per_seed = per_seed.filter(pl.col("_combinations") == pl.col("_combinations").max())
    return per_seed[label].to_list(), per_seed[f"{label}_base"].to_list()


def _row(c: stats.Contrast) -> dict[str, Any]:
    """Returns the row of `compare` for one level."""
    d = c.difference
    return {
        "mean": d.a.mean, "baseline": d.b.mean, "difference": d.difference.value, "low": d.difference.low, "high": d.difference.high,
        "percent": d.change.value, "percent_low": d.change.low, "percent_high": d.change.high, "n": d.difference.n, "p": d.p,
        "p_holm": c.p, "p_equivalent": c.p_equivalent, "finding": c.finding,
    }  # fmt: skip


def goal_of(s: Selector) -> str:
    """Returns "max" if higher values of a metric are better, else "min"."""
    return "min" if s.metric.startswith(_LESS) and s.aggregate != "jain" else "max"


def best(result: StudyTables, metric: str, goal: str | None) -> pl.DataFrame:
    """See `StudyResult.best`."""
    s = result.metric(metric)
    chosen = goal or goal_of(s)
    if chosen not in ("max", "min"):
        raise suggest(chosen, ["max", "min"], "goal")
    summary = result._summary.filter((pl.col("metric") == s.label) & pl.col("mean").is_not_null())
    if summary.is_empty():
        raise FairlaneError(f"{s.label} has no values")
    ordered = summary.sort("mean", descending=chosen == "max", maintain_order=True)
    first = ordered["combination"][0]
    values: dict[int, dict[int, float | None]] = {}
    for (p,), part in result._runs.group_by(["combination"], maintain_order=True):
        values[p] = dict(zip(part["seed"], part[s.label], strict=True))
    pairs = []
    for p in ordered["combination"][1:]:
        seeds = sorted(values[p].keys() & values[first].keys())
        pairs.append(([values[p][x] for x in seeds], [values[first][x] for x in seeds]))
    contrasts = stats.contrasts(pairs, confidence=result.spec.confidence, within=within_of(result.metric(metric)))
    level = 1 - result.spec.confidence
    return ordered.select(*result.factors, "mean", "low", "high", "n").with_columns(
        pl.Series("difference", [0.0, *(c.difference.difference.value for c in contrasts)], dtype=pl.Float64),
        pl.Series("p_holm", [None, *(c.p for c in contrasts)], dtype=pl.Float64),
        pl.Series("tied", [True, *(c.p is None or c.p >= level for c in contrasts)], dtype=pl.Boolean),
        pl.Series("p_equivalent", [None, *(c.p_equivalent for c in contrasts)], dtype=pl.Float64),
        pl.Series("finding", ["best", *(c.finding for c in contrasts)], dtype=pl.String),
    )


def explained(result: StudyTables, label: str) -> stats.Anova | None:
    """The ANOVA table of a metric for documents and pages; None if there is nothing to analyse.

    Interactions are left out of studies with so many levels that they would take long; `StudyResult.anova` forms them.
    """
    if result.spec.settings is not None:
        return None  # `compare` sets levels against each other setting by setting, `matters` says what the rest depends on
    sizes = [len(f.levels) - 1 for f in result.spec.factors if len(f.levels) > 1]
    if not sizes:
        return None
    pairs = sum(a * b for a, b in itertools.combinations(sizes, 2))
    try:
        return anova(result, label, 2 if sum(sizes) + pairs <= _MOST_COLUMNS else 1)
    except FairlaneError:
        return None


def sentence(result: StudyTables, table: stats.Anova) -> str:
    """Returns a sentence with the terms that explain a metric significantly, by their share of the variance."""
    about = labels.metric(result.metric(table.metric))
    rows = [r for r in table.rows if r.term not in ("residual", "seed")]
    if not any(r.eta_sq for r in table.rows):
        return f"{_first(about)} is the same in all runs: there is nothing to explain."
    level = 1 - result.spec.confidence
    terms = [r for r in rows if (r.eta_sq or 0) >= _LEAST and (r.p is None or r.p < level)]
    terms.sort(key=lambda r: -(r.eta_sq or 0))
    chance = sum(r.eta_sq or 0 for r in table.rows if r not in rows)
    if not terms:
        return f"No factor was shown to explain {about} beyond chance."
    shares = [f"{_term(r.term)} {_share(r.eta_sq)}" for r in terms]
    shares[0] = f"{_term(terms[0].term)} explains {_share(terms[0].eta_sq)} of the variance of {about}"
    rest = "" if len(shares) == 1 else f", {shares[1]}" if len(shares) == 2 else f", {', '.join(shares[1:-1])} and {shares[-1]}"
    order = max(r.term.count(":") + 1 for r in rows)
    more = " or what more factors do together" if order < len(varied(result)) else ""
    uneven = "" if table.balanced else " Combinations have unequal numbers of runs, so the shares do not add up to all."
    return f"{_first(shares[0])}{rest}; {_share(chance)} is chance{more}.{uneven}"


def _first(text: str) -> str:
    """The beginning of a sentence, unless it is a name that has capitals of its own."""
    return text[0].upper() + text[1:]


def _term(term: str) -> str:
    names = term.split(":")
    return names[0] if len(names) == 1 else f"the interaction of {' and '.join(names)}"


def _share(x: float | None) -> str:
    percent = 100 * (x or 0.0)
    return "less than 1 %" if 0 < percent < 0.995 else f"{percent:.0f} %"
