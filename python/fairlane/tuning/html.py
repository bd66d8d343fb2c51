"""A tuning in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..look.notebook import card, drawings, muted, notices
from ..look.sheet import Sheet
from .plots import panels
from .terminal import chosen, front_rows, head, held_out_rows

if TYPE_CHECKING:
    from .model import TuneSpec
    from .outcome import TuneOutcome


def tune_html(r: TuneOutcome) -> str:
    """Returns the recommended setting, the Pareto front as figure and table, the held-out test, and warnings."""
    front = Sheet(*front_rows(r), title="Pareto front (* recommended)")
    tested = Sheet(*held_out_rows(r), title="Held-out test") if r.held_out else None
    verdicts = [f"The recommended setting is {v.sentence}." for v in r.verdicts]
    hint = muted("All settings: .table(); for Linux: .tc(); the scenario with the recommended queue: .scenario(); one page: .page().")
    return card(head(r), chosen(r), drawings(panels(r), "Trade-offs"), front, tested, *verdicts, notices(r.warnings), hint)


def planned_html(spec: TuneSpec) -> str:
    """Returns the plan of a search: the link, the objectives, the candidates."""
    goals = Sheet(
        ["objective", ""], [[o.label, "higher is better" if o.goal == "max" else "lower is better"] for o in spec.objectives], labels=2
    )
    scenarios, seeds = len(spec.training_scenarios), len(spec.seeds)
    of = f"{scenarios} scenario{'s' * (scenarios != 1)} and {seeds} seed{'s' * (seeds != 1)}"
    summary = f"{spec.trials} settings of the queue at {spec.link}, each on {of}."
    among = "Among: " + ", ".join(e.label for e in spec.entries) + "."
    hint = muted("run() searches; run(out=FOLDER) keeps the runs and resumes a search that was stopped.")
    return card(spec.name, goals, summary, among, hint)
