"""`TuneOutcome`: the front, the recommended setting, the held-out test, and which parameters matter."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from .. import stats
from ..base.format import number, quantity, scale
from ..base.literals import quantity as quantity_of
from ..base.toml import value as as_toml
from ..runs.selection import unit_of
from ..stats import Interval, interval
from . import score
from .model import Objective, Trial, TuneSpec

if TYPE_CHECKING:
    from ..study.model import Selector
    from .search import Search


@dataclass(frozen=True)
class Verdict:
    """The chosen setting against one rival, on the held-out scenarios and seeds."""

    rival: Trial
    word: str
    """better, worse, equivalent (shown to cost the same but for `stats.MARGIN` of the rival's cost), or inconclusive: neither was shown."""
    why: str
    """cost, or constraint: one of the two breaks one, or gives no value."""
    difference: Interval
    """Difference of the costs, recommended - rival, paired by seed; negative is better."""
    percent: float | None
    """The mean difference as a share of the rival's cost, percent."""
    p: float | None
    """p-value of the paired t test."""
    p_holm: float | None
    """p-value of the paired t test, adjusted for the number of rivals (Holm 1979)."""
    p_equivalent: float | None
    """p-value of the equivalence test (TOST), adjusted for the number of rivals."""
    sentence: str
    objectives: dict[str, tuple[Interval, float | None]] = field(default_factory=dict)
    """Difference of each objective, and percent of the rival's value."""


class TuneOutcome:
    """The trials of a tuning with what follows from them: the part of `TuneResult` that presents nothing."""

    def __init__(self, spec: TuneSpec, search: Search, folder: Path | None = None) -> None:
        self.spec = spec
        self.folder = folder
        self.trials: list[Trial] = search.trials
        """All settings in the order of the search: those made by hand, the defaults, then what the search asked for."""
        self.front: list[Trial] = score.front(spec, search.trials)
        """The settings that keep the constraints and that none dominates."""
        if search.chosen is None:
            from ..errors import FairlaneError

            why = next((t.error for t in search.trials if t.error), "")
            raise FairlaneError(f"no setting of {spec.name} has a result; the first says: {why}")
        self.chosen: Trial = search.chosen
        self.scale = search.scale
        """Good and bad value of each objective, as the costs measure them."""
        self.held_out: list[Trial] = search.held_out
        """The chosen setting, then its rivals, on the held-out scenarios and seeds."""
        self.tally = search.tally
        self.failures = search.failures
        self.notes = list(search.store.notes)
        """Notes for the user about the contents of the folder, such as damaged files; they do not concern the results."""
        self.verdicts: list[Verdict] = _verdicts(spec, self.held_out)

    @property
    def met(self) -> bool:
        """True if the recommended setting keeps the constraints in the training scenarios."""
        return self.chosen.feasible

    @property
    def chosen_held_out(self) -> Trial:
        """The chosen setting on the held-out scenarios and seeds."""
        return self.held_out[0]

    @property
    def recommended(self) -> str:
        """The recommended setting in words: "red: max 20p", "codel with its defaults"."""
        label = self.chosen.label
        return {"baseline": f"the baseline {label}", "default": f"{label} with its defaults"}.get(self.chosen.kind, label)

    @property
    def warnings(self) -> list[str]:
        """Warnings about the recommendation."""
        out = []
        if not self.met:
            broken = ", ".join(self.broken(self.chosen))
            out.append(f"no setting keeps the constraints; the chosen one breaks them least: {broken}")
        elif self.held_out and not self.chosen_held_out.feasible:
            broken = self.chosen_held_out.error or ", ".join(self.broken(self.chosen_held_out))
            out.append(f"on the held-out scenarios and seeds the recommended setting violates the constraints: {broken}")
        if self.chosen.kind != "search":
            out.append(f"the search found nothing clearly better than {self.recommended}")
        if self.failures:
            n = len(self.failures)
            out.append(f"{n} run{'s' * (n != 1)} failed; the first: {next(iter(self.failures.values())).splitlines()[0]}")
        return out

    @property
    def buys(self) -> str:
        """Sentence on what the best setting of the search gains over the best defaults, on the training scenarios; empty without both."""
        tried = [t for t in self.trials if t.feasible]
        found, plain = (score.best(t for t in tried if t.kind == kind) for kind in ("search", "default"))
        if found is None or plain is None or self.chosen.number not in (found.number, plain.number):
            return ""
        values = ", ".join(
            f"{o.label} {shown(found.values[o.label], o.selector)} instead of {shown(plain.values[o.label], o.selector)}"
            for o in self.spec.objectives
        )
        lead = f"The best setting of the search ({found.label}) compared with {plain.label} and its defaults: {values}"
        (test,) = stats.contrasts([(found.costs, plain.costs)])
        if test.finding == "less":
            return f"{lead}. Its cost is lower, and not by chance ({stats.p_text(test.p)})."
        sure = "one seed cannot show more" if test.p is None else f"within chance, {stats.p_text(test.p)}"
        if self.chosen.number == plain.number:
            return f"{lead}. That gain is small or none ({sure}): the defaults are recommended."
        return f"{lead}. The gain is {sure}: repeat with more seeds before you leave the defaults."

    def broken(self, t: Trial) -> list[str]:
        """The constraints that a trial breaks, with its values."""
        return broken(self.spec, t)

    def table(self) -> pl.DataFrame:
        """One row a trial: its queue (TOML), objectives and constraints with intervals, cost, whether feasible, on the front, chosen."""
        on_front, ranges = {t.number for t in self.front}, self.ranges()
        rows = []
        for t in self.trials:
            row: dict[str, Any] = {"trial": t.number, "label": t.label, "kind": t.kind, "queue": as_toml(t.queue), "error": t.error or None}
            for label in self.labels():
                iv = interval(t.per_seed.get(label, ()), within=ranges[label])
                row |= {label: _number(t.values.get(label)), f"{label}_low": iv.low, f"{label}_high": iv.high}
            row |= {
                "cost": _number(t.cost),
                "feasible": t.feasible,
                "front": t.number in on_front,
                "chosen": t.number == self.chosen.number,
            }
            rows.append(row)
        floats = {f"{x}{end}": pl.Float64 for x in self.labels() for end in ("", "_low", "_high")} | {"cost": pl.Float64}
        return pl.DataFrame(rows, schema_overrides={**floats, "error": pl.String}, infer_schema_length=None)

    def labels(self) -> list[str]:
        """Objectives, then constraints."""
        return [o.label for o in self.spec.objectives] + [c.label for c in self.spec.constraints]

    def ranges(self) -> dict[str, stats.Range]:
        """The possible values of each."""
        from ..runs.selection import within_of

        selectors = [o.selector for o in self.spec.objectives] + [c.selector for c in self.spec.constraints]
        return {s.label: within_of(s) for s in selectors}

    def importance(self) -> list[tuple[str, str, float]]:
        """Returns the parameters that matter for the cost, as (queue or "", parameter, share), among the settings that the search proposed.

        For the choice of the queue, and of what is picked from lists inside it: the share of the variance of the settings' ranks that it
        explains (eta squared; Kruskal and Wallis 1952). For numbers: importance by PED-ANOVA (Watanabe, Bansal and Hutter 2023) among the
        settings of the chosen queue with the same picks that keep the constraints: how far a number's distribution among the best tenth is
        from that among all.
        """
        return importance(self)


def goal_words(o: Objective) -> str:
    """Returns the goal with its metric, and whether a value is of one flow or of all flows of the group together."""
    s = o.selector
    goal = "small" if o.goal == "min" else "large"
    if s.table != "flows":
        return f"{goal} is good"
    what = {
        "mean": "per flow, the mean over the flows",
        "sum": "all flows together",
        "min": "per flow, the smallest",
        "max": "per flow, the largest",
        "jain": "Jain's index among the flows",
    }[s.aggregate]
    return f"{what} of {'all groups' if s.name == '*' else s.name}; {goal} is good"


def shown(x: float, s: Selector) -> str:
    """A value with its unit; a share of losses in percent."""
    if not math.isfinite(x):
        return "-"
    if s.metric == "loss":
        return f"{number(100 * x, 3)} %"
    factor, name = scale(unit_of(s), x)
    return f"{number(x * factor, 3)} {name}".rstrip()


def broken(spec: TuneSpec, t: Trial) -> list[str]:
    """The constraints that a trial breaks, with its values."""
    by_label = {c.label: c for c in spec.constraints}
    where = " in the worst training scenario" if max(len(spec.training_scenarios), len(spec.holdout)) > 1 else ""
    return [f"{k} ({shown(t.values[k], by_label[k].selector)}{where}, allowed {by_label[k].text})" for k, e in t.excess.items() if e > 0]


def _number(x: float | None) -> float | None:
    return x if x is not None and math.isfinite(x) else None


def _verdicts(spec: TuneSpec, held_out: list[Trial]) -> list[Verdict]:
    if not held_out:
        return []
    chosen, *rivals = held_out
    # One that has no value takes no part in the correction for several rivals.
    tests = stats.contrasts([([], []) if chosen.error or r.error else (chosen.costs, r.costs) for r in rivals])
    return [_verdict(spec, chosen, rival, test) for rival, test in zip(rivals, tests, strict=True)]


def _difference(a: list[float], b: list[float]) -> Interval:
    """Interval of a - b."""
    return interval([x - y for x, y in zip(a, b, strict=True)])


def _verdict(spec: TuneSpec, chosen: Trial, rival: Trial, test: stats.Contrast) -> Verdict:
    valued = not (chosen.error or rival.error)
    difference = _difference(chosen.costs, rival.costs) if valued else Interval(None, None, None, None, 0)
    ps = (test.difference.p, test.p, test.p_equivalent)
    who = rival.label if rival.kind == "baseline" else f"{rival.label} with its defaults"
    percent = None
    if difference.mean is not None and rival.cost:
        percent = 100 * difference.mean / abs(rival.cost)
    objectives = {}
    for o in spec.objectives:
        if valued:
            d = _difference(chosen.per_seed[o.label], rival.per_seed[o.label])
            base = rival.values[o.label]
            objectives[o.label] = (d, 100 * d.mean / abs(base) if base and d.mean is not None else None)
    if chosen.feasible != rival.feasible:
        good, bad = (chosen, rival) if chosen.feasible else (rival, chosen)
        violated = "; ".join(broken(spec, bad))
        word = "better" if good is chosen else "worse"
        if bad is rival:
            sentence = f"better than {who}, " + (f"which has no result: {bad.error}" if bad.error else f"which violates {violated}")
        else:
            sentence = f"worse than {who}: " + (bad.error or f"it violates {violated}")
        return Verdict(rival, word, "constraint", difference, percent, *ps, sentence, objectives)
    if difference.mean is None:
        sentence = f"not comparable with {who}: neither has a value"
        return Verdict(rival, "inconclusive", "constraint", difference, percent, *ps, sentence, objectives)
    word = {"more": "worse", "less": "better"}.get(test.finding, test.finding)
    costs = f"cost {chosen.cost:.3g} instead of {rival.cost:.3g}"
    if difference.half_width is not None:
        costs += f", difference {quantity(difference, '')}"
    if difference.n == 1:
        sentence = f"not distinguishable from {who} with one seed: {costs}"
    elif word == "inconclusive":
        sentence = f"neither different from nor equivalent to {who} ({stats.p_text(test.p)}): {costs}"
    elif word == "equivalent" and test.identical:
        sentence = f"identical to {who} with every seed: {costs}"
    elif word == "equivalent":
        sentence = f"equivalent to {who} within {stats.margin_text(test.margin)} (TOST {stats.p_text(test.p_equivalent)}): {costs}"
    else:
        much = f" by {abs(percent):.0f} %" if percent is not None and math.isfinite(percent) else ""
        sentence = f"{word} than {who}{much} ({stats.p_text(test.p)}): {costs}"
    return Verdict(rival, word, "cost", difference, percent, *ps, sentence, objectives)


def importance(r: TuneOutcome) -> list[tuple[str, str, float]]:
    """See `TuneResult.importance`."""
    tried = [t for t in r.trials if t.kind == "search"]
    out: list[tuple[str, str, float]] = []
    if (share := _eta_squared([(t.label, t) for t in tried])) is not None:
        out.append(("", "queue", share))
    own = [t for t in tried if t.label == r.chosen.label]
    for k, v in r.chosen.parameters.items():
        if quantity_of(v) is None:
            if (share := _eta_squared([(str(t.parameters[k]), t) for t in own if k in t.parameters])) is not None:
                out.append((r.chosen.label, k, share))
            own = [t for t in own if t.parameters.get(k) == v]
    out += [(r.chosen.label, k, v) for k, v in _ped_anova([t for t in own if t.feasible]).items()]
    return out


def _eta_squared(pairs: list[tuple[str, Trial]]) -> float | None:
    """Share of the variance of the ranks that the groups explain; None with one group, or without variance.

    Ranks go by cost; what breaks a constraint comes after what keeps it, by how much it breaks it.
    """
    from scipy.stats import rankdata

    order = sorted({(t.violation, 0.0 if t.error else t.cost) for _, t in pairs})
    places = {x: i for i, x in enumerate(order)}
    ranks = rankdata([places[t.violation, 0.0 if t.error else t.cost] for _, t in pairs]) if pairs else []
    groups: dict[str, list[float]] = {}
    for (name, _), rank in zip(pairs, ranks, strict=True):
        groups.setdefault(name, []).append(float(rank))
    everything = [x for g in groups.values() for x in g]
    if len(groups) < 2:
        return None
    mean = math.fsum(everything) / len(everything)
    total = math.fsum((x - mean) ** 2 for x in everything)
    between = math.fsum(len(g) * (math.fsum(g) / len(g) - mean) ** 2 for g in groups.values())
    return between / total if total > 0 else None


LEAST = 10
"""Trials of a queue that its parameters' importance needs."""


def _ped_anova(trials: list[Trial]) -> dict[str, float]:
    """Importance of each number that all these trials have, largest first."""
    import warnings

    import optuna

    if len(trials) < LEAST or len({t.cost for t in trials}) < 2:
        return {}
    columns: dict[str, list[float]] = {}
    for k in trials[0].parameters:
        read = [quantity_of(t.parameters.get(k)) for t in trials]
        values = [q[0] for q in read if q is not None]
        if len(values) == len(trials) and min(values) < max(values):
            columns[k] = values
    if not columns:
        return {}
    distributions: dict[str, Any] = {k: optuna.distributions.FloatDistribution(min(v), max(v), log=min(v) > 0) for k, v in columns.items()}
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = optuna.create_study()
        for i, t in enumerate(trials):
            params = {k: v[i] for k, v in columns.items()}
            study.add_trial(optuna.trial.create_trial(params=params, distributions=distributions, value=t.cost))
        found = optuna.importance.get_param_importances(study, evaluator=optuna.importance.PedAnovaImportanceEvaluator())
    return {k: float(v) for k, v in found.items() if math.isfinite(v)}
