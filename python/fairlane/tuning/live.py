"""The settings that a search tried, as marks that say which they are."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..look.web_charts import Chart as Live
from ..look.web_charts import Line
from ..runs.selection import within_of
from ..stats import interval
from .model import Objective, Trial
from .plots import MOST_PANELS, WIDE, Front

if TYPE_CHECKING:
    from .outcome import TuneOutcome


def charts(r: TuneOutcome) -> list[Live]:
    """One chart for each pair of objectives, as `plots.panels` has them; of one objective against the number of the trial."""
    objectives = r.spec.objectives
    pairs: list[tuple[Objective | None, Objective]] = list(itertools.combinations(objectives, 2))
    if len(objectives) == 1:
        pairs = [(None, objectives[0])]
    elif len(pairs) > MOST_PANELS:
        pairs = [(objectives[0], o) for o in objectives[1 : MOST_PANELS + 1]]
    return [_chart(r, x, y, i) for i, (x, y) in enumerate(pairs)]


def _chart(r: TuneOutcome, x: Objective | None, y: Objective, number: int) -> Live:
    on_front = {t.number for t in r.front}
    tried = [t for t in r.trials if not t.error]
    plain = [t for t in tried if t.kind != "baseline" and t.number not in on_front]
    hand = [t for t in tried if t.kind == "baseline"]
    sets = [
        ("tried", [t for t in plain if t.feasible], None, "dot", 2.6),
        ("breaks a constraint", [t for t in tried if not t.feasible], None, "cross", 3.0),
        ("baseline", [t for t in hand if t.feasible], 1, "square", 4.0),
        ("front", [t for t in r.front if t.kind != "baseline"], 0, "dot", 4.0),
        ("chosen", [r.chosen], 2, "star", 5.0),
    ]
    panel = Front(r, x, y)
    fx, fy = panel.factor(x), panel.factor(y)
    lines = []
    for name, trials, hue, mark, size in sets:
        if not trials:
            continue
        low, high = _ends(y, trials, fy[0]) if hue is not None else ([], [])
        across, up = panel.values(x, trials, fx), panel.values(y, trials, fy)
        names = [t.label or f"trial {t.number}" for t in trials]
        lines.append(Line(name, across, up, low, high, hue, mark=mark, size=size, labels=names))
    seen = [t for t in tried if t.feasible or t.kind == "baseline"] or tried
    label_x = "trial" if x is None else _label(x, fx[1], "←", "→")
    title = f"{y.label} against {'the trial' if x is None else x.label}"
    return Live(
        f"front-{number}", title, label_x, _label(y, fy[1], "↓", "↑"), lines, kind="dots",
        ends=("low", "high"), from_zero=False, log_x=x is not None and _wide(x, seen), log_y=_wide(y, seen),
    )  # fmt: skip


def _ends(o: Objective, trials: Sequence[Trial], factor: float) -> tuple[list[float | None], list[float | None]]:
    ivs = [interval(t.per_seed[o.label], within=within_of(o.selector)).times(factor) for t in trials]
    return [iv.low for iv in ivs], [iv.high for iv in ivs]


def _label(o: Objective, unit: str, less: str, more: str) -> str:
    return f"{o.label}{f' ({unit})' if unit else ''}, better {more if o.goal == 'max' else less}"


def _wide(o: Objective, trials: Sequence[Trial]) -> bool:
    values = [t.values[o.label] for t in trials]
    return min(values) > 0 and max(values) > WIDE * min(values)
