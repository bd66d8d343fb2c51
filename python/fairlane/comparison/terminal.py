"""Output of `fairlane compare` on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base.escapes import one_line
from ..base.seeds import seed_words
from ..look.sheet import Sheet, Words
from .differences import about, sentence_rows
from .tables import group_table, link_table, measure_table

if TYPE_CHECKING:
    from .data import ComparisonData


def head(c: ComparisonData) -> str:
    """Returns the scenario, its duration and the number of runs."""
    scenario = c.settings[0].result.scenario
    runs = (
        f"{len(c.seeds)} runs each (seeds {seed_words(c.seeds)}), means with 95 % intervals" if len(c.seeds) > 1 else f"seed {c.seeds[0]}"
    )
    return f"{one_line(scenario.get('name') or 'comparison')}: {scenario['duration']}, {runs}"


def sheets(c: ComparisonData) -> list[Sheet]:
    """Returns the tables of the link and of each group of flows."""
    out = [Sheet(*link_table(c), title=f"link {c.link}")]
    for group in c.groups():
        count = c.settings[0].flows(group)["flow"].n_unique()
        title = f"{group}: {count} flows, total goodput, means of other metrics" if count > 1 else group
        out.append(Sheet(*group_table(c, group), title=title))
    return out


def report(c: ComparisonData) -> list[Any]:
    """Returns the output: differences, tables of the link and of each group of flows, limits, warnings."""
    parts: list[Any] = [Words(head(c)), ""]
    if found := c.sentences():
        parts += [Sheet(*sentence_rows(found), title="differences", words=(1,))]
        parts += [*([Words(about(c), "dim")] if about(c) else []), ""]
    shown = [Sheet(*measure_table(c), title="metrics")] if c.metrics else sheets(c)
    parts += [part for sheet in shown for part in (sheet, "")]
    for q in c.settings:
        if all(q.result._why):
            parts += [Words(f"limits with {q.label}", "bold"), *(Words(x) for x in q.result.why().sentences()), ""]
    return parts + [Words(f"warning: {w}") for w in c.warnings]
