"""The page of a tuning: one HTML file without any link to the network."""

from __future__ import annotations

import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING

from ..base.seeds import seed_options, seed_range
from ..base.toml import value as as_toml
from ..look import theme
from ..look.rerun import MOST_SCENARIO, Rerun, code_warning
from ..look.templates import render, saved_link, svg_link
from ..look.web_charts import Charts
from ..stats import MARGIN, margin_text
from .live import charts
from .outcome import goal_words, shown
from .plots import picture
from .recommendation import tc_lines
from .terminal import front_rows, held_out_rows

if TYPE_CHECKING:
    from .outcome import TuneOutcome

RULES = {
    "worst": "Minimises the worst objective. Each objective is scaled from 0 (good) to 1 (bad), times its weight; a twentieth of their sum "
    "breaks ties.",
    "weighted": "Minimises the weighted mean of the objectives, each scaled from 0 (good) to 1 (bad).",
    "knee": "Minimises the distance from the best value of every objective: the root mean square of (x − best) / (worst − best), with the "
    "best and worst values of the Pareto front.",
}
"""Descriptions of the choice rules."""


def page(r: TuneOutcome) -> str:
    """The page as text."""
    from .. import _core

    drawn = charts(r)
    s, tried = r.spec, r.table()
    importance = (["parameter", "share"], [[k if not q else f"{q}: {k}", f"{100 * x:.0f} %"] for q, k, x in r.importance()])
    return render(
        "tuning/page.html.j2", r=r, s=s, live=Charts(drawn), drawn=[c.name for c in drawn], front=front_rows(r), rule=RULES[s.rule],
        held_out=held_out_rows(r), importance=importance, tried=tried, exact_front=tried.filter(tried["front"] | tried["chosen"]),
        saved=svg_link(theme.svg(picture(r)), "front"),
        margin=margin_text(MARGIN), queue=as_toml(r.chosen.queue), tc=tc_lines(r), version=_core.version(),
        scale=[(o, goal_words(o), *(shown(x, o.selector) for x in r.scale[o.label])) for o in s.objectives],
        buys=r.buys, unseen=s.holdout != s.training_scenarios,
        repeat=_again(r),
        words={"better": "holds", "worse": "fails", "equivalent": "inconclusive", "inconclusive": "inconclusive"},
    )  # fmt: skip


def _again(r: TuneOutcome) -> Rerun:
    """Returns the command that repeats the search, with its file."""
    from .. import _core

    s = r.spec
    text, name, _ = s.study.source or (s.study.base, "<tuning>", "toml")
    own = name.startswith("<")
    file = f"tune.{'json' if text.lstrip()[:1] == '{' else 'toml'}" if own else PurePath(name).name
    seeds, held = seed_range(s.seeds), seed_range(s.holdout_seeds)
    holdout = ["--holdout-seeds", f"{held}..{held}" if len(s.holdout_seeds) == 1 else held] if held else []
    changes = [word for path, value in s.sets for word in ("--set", f"{path}={value}")]
    options = ["--trials", str(s.trials), *seed_options(s.seeds), *holdout, *changes]
    hint, saved = ("The tune file:", saved_link(text, file, file, "text/plain")) if len(text) <= MOST_SCENARIO else ("", None)
    base = s.study.base if len(s.study.base) <= MOST_SCENARIO else ""
    facts = [("seeds", seeds), ("held out", held), ("fairlane", _core.version())]
    command = shlex.join(["fairlane", "tune", file, *options])
    return Rerun("", command, hint, base, saved, facts, "The base scenario", code_warning(s.study.plugins))
