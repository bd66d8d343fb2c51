"""From the runs of a setting to its values: per seed over the scenarios, then over the seeds; costs, constraints, the Pareto front."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import polars as pl

from ..runs import selection
from ..study.model import Combination, Selector
from .model import Objective, Over, Trial, TuneSpec

Runs = dict[tuple[int, int], str]
"""Key of the run of each scenario (by its place) and seed."""


def run_values(long: pl.DataFrame, selectors: Sequence[Selector], combinations: dict[str, Combination]) -> dict[tuple[str, str], float]:
    """Value of each selector in each run, by (key, label); `combinations` says which flows and links a run has."""
    wanted = {m for s in selectors for m in selection.parts(s)}
    table: dict[str, dict[tuple[str, str, str], float]] = {}
    rows = long.filter(pl.col("metric").is_in(sorted(wanted)) & pl.col("time").is_null()).select("key", "table", "metric", "name", "value")
    for key, name, metric, own, value in rows.iter_rows():
        table.setdefault(key, {})[name, metric, own] = value
    out = {}
    for key, combination in combinations.items():
        for s in selectors:
            out[key, s.label] = selection.formed(s, selection.names(s, combination), table.get(key, {}))
    return out


def score(spec: TuneSpec, trial: Trial, values: dict[tuple[int, int, str], float], scenarios: int, seeds: Sequence[int]) -> None:
    """Fills in a trial's values; `values` by (scenario, seed, label)."""
    for o in spec.objectives:
        per_seed = [over_scenarios(o, spec.over, [values[m, s, o.label] for m in range(scenarios)]) for s in seeds]
        trial.per_seed[o.label] = per_seed
        trial.values[o.label] = _mean(per_seed)
        if not math.isfinite(trial.values[o.label]) and not trial.error:
            trial.error = f"{o.label} has no value: nothing arrived"
    for c in spec.constraints:
        means = [_mean([values[m, s, c.label] for s in seeds]) for m in range(scenarios)]
        broken = [c.excess(x) for x in means]
        trial.excess[c.label] = max(broken)
        trial.values[c.label] = means[broken.index(max(broken))]
        trial.per_seed[c.label] = [_mean([values[m, s, c.label] for m in range(scenarios)]) for s in seeds]


def over_scenarios(o: Objective, over: Over, values: Sequence[float]) -> float:
    """The mean over the scenarios, or the worst of them; NaN if one has no value."""
    if any(not math.isfinite(v) for v in values):
        return math.nan
    if over == "mean":
        return math.fsum(values) / len(values)
    return max(values) if o.goal == "min" else min(values)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values and all(math.isfinite(v) for v in values) else math.nan


Scale = dict[str, tuple[float, float]]
"""Good and bad value of each objective."""


def scales(spec: TuneSpec, trials: Iterable[Trial]) -> Scale:
    """Returns the scales of the costs: `good` and `bad` as declared; for the knee, the best and the worst value on the front.

    Where the front is a single value, the worst of all that keep the constraints; where all are the same, the value itself is the unit.
    """
    out = {}
    kept = [t for t in trials if t.feasible]
    members = front(spec, kept)
    for o in spec.objectives:
        if spec.rule != "knee" and o.good is not None and o.bad is not None:
            out[o.label] = (o.good, o.bad)
            continue
        good, bad = 0.0, 0.0
        for among in (members, kept):
            seen = [t.values[o.label] * o.sign for t in among]
            if seen and bad <= good:
                good, bad = min(seen), max(seen)
        out[o.label] = (o.sign * good, o.sign * (bad if bad > good else good + (abs(good) or 1.0)))
    return out


AUGMENTED = 0.05
"""Part of the sum of the costs in the rule `worst`."""


def cost_of(spec: TuneSpec, scale: Scale, values: dict[str, float]) -> float:
    """One number of the objectives' values; small is good.

    With c = (x - good) / (bad - good) for each objective x and its weight w:
    worst: max(w c) + 0.05 sum(w c), the augmented Chebyshev norm of Steuer and Choo (1983): the largest cost counts, and the small second
    term settles it where the largest is the same; weighted: sum(w c) / sum(w);
    knee: sqrt(sum(w c^2) / sum(w)), the distance from the best of everything.
    """
    parts = []
    for o in spec.objectives:
        good, bad = scale[o.label]
        x = values[o.label]
        if not math.isfinite(x):
            return math.nan
        parts.append((o.weight, (x - good) / (bad - good)))
    total = math.fsum(w for w, _ in parts)
    if spec.rule == "worst":
        return max(w * c for w, c in parts) + AUGMENTED * math.fsum(w * c for w, c in parts)
    if spec.rule == "weighted":
        return math.fsum(w * c for w, c in parts) / total
    return math.sqrt(math.fsum(w * c * c for w, c in parts) / total)


def price(spec: TuneSpec, scale: Scale, trial: Trial, paired: bool = False) -> None:
    """Fills in the costs of a trial: that of its values, and one for each seed; with `paired` the first is the mean of the others.

    The cost of the means never rises from a setting to one that dominates it, so the least one lies on the front; costs of seeds can be
    paired.
    """
    if trial.error:
        return
    n = len(next(iter(trial.per_seed.values())))
    trial.costs = [cost_of(spec, scale, {o.label: trial.per_seed[o.label][i] for o in spec.objectives}) for i in range(n)]
    trial.cost = _mean(trial.costs) if paired else cost_of(spec, scale, trial.values)


def dominates(spec: TuneSpec, a: Trial, b: Trial) -> bool:
    """Returns true if `a` is nowhere worse than `b` and somewhere better."""
    x = [a.values[o.label] * o.sign for o in spec.objectives]
    y = [b.values[o.label] * o.sign for o in spec.objectives]
    return all(p <= q for p, q in zip(x, y, strict=True)) and any(p < q for p, q in zip(x, y, strict=True))


def front(spec: TuneSpec, trials: Iterable[Trial]) -> list[Trial]:
    """The trials that keep the constraints and that no other such trial dominates; of equal ones the first."""
    kept = [t for t in trials if t.feasible]
    out = []
    seen: set[tuple[float, ...]] = set()
    for t in kept:
        values = tuple(t.values[o.label] for o in spec.objectives)
        if values not in seen and not any(dominates(spec, u, t) for u in kept):
            seen.add(values)
            out.append(t)
    return out


def best(candidates: Iterable[Trial]) -> Trial | None:
    """The least cost; of equal ones the first."""
    return min((t for t in candidates if not t.error), key=lambda t: (t.cost, t.number), default=None)


SMALL = 0.05
"""Share of the cost of the defaults below which a gain has to be significant."""


def preferred(candidates: Iterable[Trial]) -> Trial | None:
    """The least cost; but defaults of a queue where a searched setting gains less than `SMALL` and the gain is within chance.

    Chance: the paired t test over the seeds has p of 0.05 or more, or there is one seed.
    """
    from .. import stats

    kept = list(candidates)
    first = best(kept)
    plain = best(t for t in kept if t.kind == "default")
    if first is None or plain is None or first.kind != "search" or plain.cost - first.cost >= SMALL * abs(plain.cost):
        return first
    (test,) = stats.contrasts([(first.costs, plain.costs)])
    return first if test.finding in ("more", "less") else plain


def nearest(trials: Iterable[Trial]) -> Trial | None:
    """Where no trial keeps the constraints: the one that breaks them least."""
    return min((t for t in trials if not t.error), key=lambda t: (t.violation, t.number), default=None)
