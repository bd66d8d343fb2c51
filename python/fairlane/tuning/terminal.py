"""A tuning on a terminal: what was chosen, the front, the test on what the search never saw."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..base.format import number, quantity
from ..base.toml import value as as_toml
from ..look.sheet import Sheet, Words
from ..runs.selection import unit_of, within_of
from ..stats import interval
from .outcome import goal_words

if TYPE_CHECKING:
    from ..study.model import Selector
    from .model import Trial
    from .outcome import TuneOutcome

MOST = 12
"""Rows of the front that a terminal shows."""


def cell(t: Trial, label: str, s: Selector) -> str:
    """A value with its interval over the seeds."""
    if label not in t.values or not math.isfinite(t.values[label]):
        return "-"
    iv = interval(t.per_seed[label], within=within_of(s))
    if s.metric == "loss":
        return quantity(iv.times(100), "%")
    return quantity(iv, unit_of(s))


def setting(t: Trial) -> str:
    """A setting in few words: its label and what was chosen."""
    if t.kind == "baseline":
        return t.label
    words = [f"{path.split('.')[-1]} {v}" for path, v in t.parameters.items()]
    return t.label + (": " + ", ".join(words) if words else " (defaults)")


def front_rows(r: TuneOutcome) -> tuple[list[str], list[list[str]]]:
    """The front by cost, baselines and defaults marked by their kind."""
    heads = ["setting", "kind", *r.labels(), "cost"]
    selectors = {s.label: s for s in r.spec.study.metrics}
    rows = []
    for t in sorted(r.front, key=lambda t: (t.cost, t.number)):
        mark = "* " if t.number == r.chosen.number else ""
        rows.append([mark + setting(t), t.kind, *(cell(t, k, selectors[k]) for k in r.labels()), number(t.cost, 3)])
    return heads, rows


def held_out_rows(r: TuneOutcome) -> tuple[list[str], list[list[str]]]:
    """The chosen setting and its rivals on what the search never saw."""
    heads = ["setting", *r.labels(), "cost", "difference", "p (Holm)", "verdict"]
    selectors = {s.label: s for s in r.spec.study.metrics}
    rows = []
    for i, t in enumerate(r.held_out):
        v = r.verdicts[i - 1] if i else None
        name = "recommended" if v is None else setting(t)
        difference = "" if v is None or v.difference.mean is None else quantity(v.difference, "")
        p = "" if v is None or v.p_holm is None else f"{v.p_holm:.2g}"
        rows.append(
            [
                name,
                *(cell(t, k, selectors[k]) for k in r.labels()),
                number(t.cost if t.costs else None, 3),
                difference,
                p,
                "" if v is None else v.word,
            ]
        )
    return heads, rows


def head(r: TuneOutcome) -> str:
    """How much was tried."""
    s = r.spec
    scenarios = f"{len(s.training_scenarios)} scenarios, " if len(s.training_scenarios) > 1 else ""
    return f"{s.name}: {len(r.trials)} settings on {scenarios}{len(s.seeds)} seed{'s' * (len(s.seeds) != 1)}; rule: {s.rule}"


def chosen(r: TuneOutcome) -> str:
    """The queue as the scenario file has it."""
    return f"links.{r.spec.link}.queue = {as_toml(r.chosen.queue)}"


def report(r: TuneOutcome) -> list[Any]:
    """Returns the output for a finished search."""
    from rich.text import Text

    s = r.spec
    heads, rows = front_rows(r)
    cut = f" (the best {MOST} of {len(rows)})" if len(rows) > MOST else ""
    parts: list[Any] = [
        Words(head(r)),
        "",
        Text("recommended  ", style="bold").append(chosen(r)),
        *([Words(r.buys)] if r.buys else []),
        *(Words(f"{o.label}: {goal_words(o)}", "dim") for o in s.objectives),
        "",
    ]
    if rows:
        parts += [Sheet(heads, rows[:MOST], title=f"Pareto front{cut} (* recommended)"), ""]
    if r.held_out:
        what = "scenarios and seeds" if s.holdout != s.training_scenarios else "seeds"
        parts += [Sheet(*held_out_rows(r), title=f"Held-out test ({what})"), ""]
        parts += [Words(f"The recommended setting is {v.sentence}.") for v in r.verdicts]
        parts.append("")
    weights = r.importance()
    if weights:
        lines = [[k if not q else f"{q}: {k}", f"{100 * x:.0f} %"] for q, k, x in weights]
        parts += [Sheet(["parameter", "share"], lines, title="Which parameters matter"), ""]
    parts += [Words(f"warning: {w}") for w in r.warnings]
    return parts
