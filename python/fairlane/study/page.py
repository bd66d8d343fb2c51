"""The page of a study: one HTML file without any link to the network."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import polars as pl

from .. import _core
from ..base.format import number, quantity
from ..base.seeds import seed_range, seed_words
from ..errors import FairlaneError
from ..graphs import inline_network
from ..look.rerun import MOST_SCENARIO, Rerun, code_warning
from ..look.templates import csv_link, drawing, render, saved_link, svg_link
from ..look.web_charts import Chart as Live
from ..look.web_charts import Charts
from ..runs.summary import limit_section, limits_sheet
from ..stats import MARGIN, Interval, margin_text
from . import claim_views, combinations, contrast, labels, live, plots, replay, terminal
from .diagnosis import resolve_base
from .model import Factor
from .one_run import engine
from .settings import SETTING

if TYPE_CHECKING:
    from ..stats import Anova
    from .analysis import StudyAnalysis

MOST_COMBINATIONS = 200
"""Rows of the table of means."""
MOST_LEVELS = 12
"""Levels of a factor that are compared with its first one."""


def page(result: StudyAnalysis, command: str = "", *, why: bool = False, replays: Sequence[str] = ()) -> str:
    """The page as text; `command` is how to repeat it, `replays` are runs that move in it."""
    spec = result.spec
    states = dict(result.index.group_by("status").len().iter_rows())
    heads, rows = (
        terminal.rows(result, len(result.metrics), MOST_COMBINATIONS) if result._done.height and spec.settings is None else ([], [])
    )
    tables = [(s, contrast.explained(result, s.label)) for s in spec.metrics] if result._done.height else []
    drawn, pictures = _pictures(result)
    moving = replay.insets(result, replays)
    whys, limits, of_all = _limits(result, why=why)
    return render(
        "study/page.html.j2",
        spec=spec, confidence=f"{100 * spec.confidence:g}", version=_core.version(),
        combinations=len(result.combinations), planned=result.index.height, done=states.get("done", 0), failed=states.get("failed", 0),
        left=states.get("open", 0), seeds=seed_words(sorted(result.index["seed"].unique().to_list())), topology=_topology(result),
        claims=claim_views.cards(result) if result._done.height else [], opened=claim_views.asked(spec.settings),
        matters=_matters(result),
        settings=0 if spec.settings is None else len(spec.settings.values),
        factors=[_factor(f) for f in spec.factors if f.name != SETTING],
        metrics=[(s.label, s.text, result.unit(s.label)) for s in spec.metrics],
        sets=[(path, value if isinstance(value, str) else json.dumps(value)) for path, value in spec.sets],
        pictures=pictures, live=Charts(drawn, _scripts(moving)), insets=moving,
        whys=whys, limits=limits, of_all=of_all, repeat=_again(result, command),
        means=(heads, rows[:MOST_COMBINATIONS], max(0, len(rows) - MOST_COMBINATIONS), len(spec.factors)),
        margin=margin_text(MARGIN), explained=[_explained(result, t) for _, t in tables if t is not None], compared=_compared(result),
        summary=result.summary(), runs=result.runs(), failures=terminal.reasons(result), warnings=result.warnings, source=spec.source,
    )  # fmt: skip


def _scripts(moving: Sequence[Any]) -> list[str]:
    """Returns the scripts that the page must allow for runs that move."""
    if not moving:
        return []
    from ..watch.inset import scripts

    return scripts(moving)


def _limits(result: StudyAnalysis, *, why: bool) -> tuple[list[Any], list[Any], bool]:
    """Returns the limits of the flows at each combination, as watched or from counters, and whether those are all combinations."""
    if not result._done.height:
        return [], [], True
    of_all = result.index.filter(pl.col("status") == "done")["combination"].n_unique() <= replay.MOST
    if why:
        found = [(combinations.named(result, p), limit_section(r)) for p, _, r in replay.watched(result)]
        return [(name, limits) for name, limits in found if limits is not None], [], of_all
    if not of_all or result.spec.keep == "selected" or result.spec.settings is not None:
        return [], [], of_all
    sheets = [(combinations.named(result, p), limits_sheet(r)) for p, r in combinations.results(result)]
    return [], [(name, sheet) for name, sheet in sheets if sheet is not None], of_all


def _topology(result: StudyAnalysis) -> Any:
    """The base scenario's network, if it is small enough to be drawn."""
    spec = result.spec
    try:
        tree = resolve_base(spec, (s for f in spec.factors for s in f.levels[0].sets))
        return inline_network(tree, "topology")
    except FairlaneError:
        return None


def _matters(result: StudyAnalysis) -> Any:
    """Returns the varied parameters and their effect; None without settings."""
    sheet = claim_views.matters_sheet(result) if result._done.height else None
    if sheet is None:
        return None
    return {"heads": sheet.heads, "rows": sheet.rows, "note": sheet.note, "saved": csv_link(result.settings(), "settings")}


def _factor(f: Factor) -> dict[str, Any]:
    """A factor with its levels, and what they change."""
    paths = list(dict.fromkeys(path for level in f.levels for path, _ in level.sets))
    return {"name": f.name, "paths": paths, "levels": [labels.level(f, level.label) for level in f.levels]}


def _again(result: StudyAnalysis, command: str) -> Rerun:
    """Returns the command that reproduces the study, with the study file of the folder if there is one."""
    spec, hint, saved = result.spec, "", None
    if spec.source is not None:
        text, name, _ = spec.source
        file = PurePath(name).name if not name.startswith("<") else "study.toml"
        named = file if name.startswith("<") else name
        command = command or shlex.join(["fairlane", "study", named, "--out", str(result.folder)])
        if len(text) <= MOST_SCENARIO:
            hint, saved = "The study file:", saved_link(text, file, file, "application/toml")
    seeds = seed_range(sorted(result.index["seed"].unique().to_list()))
    base = spec.base if len(spec.base) <= MOST_SCENARIO else ""
    facts = [("seeds", seeds), ("engine", engine()), ("fairlane", _core.version())]
    return Rerun("", command, hint, base, saved, facts, "The base scenario", code_warning(spec.plugins))


def _pictures(result: StudyAnalysis) -> tuple[list[Live], list[dict[str, Any]]]:
    """Returns the charts of the page, and each figure's title, caption, panels, and the link that saves it."""
    out: list[dict[str, Any]] = []
    charts: list[Live] = []
    if not result._done.height:
        return charts, out
    for plot in plots.specs(result):
        caption = _caption(result, plots.checked(result, plot))
        saved = svg_link(plots.drawn(result, plot), plot.name)
        picture = {"title": plot.title, "caption": caption, "saved": saved, "drawn": [], "charts": []}
        if plot.kind in live.KINDS:
            own = live.charts(result, plot, "")
            charts += own
            picture["charts"] = [c.name for c in own]
        else:
            picture["drawn"] = [drawing(p, f"{plot.name}-{i}", caption) for i, p in enumerate(plots.panels(result, plot))]
        out.append(picture)
    return charts, out


def _caption(result: StudyAnalysis, plot: Any) -> str:
    """Returns the caption of a figure, with the meaning of its marks."""
    y = labels.metric(result.metric(plot.y))
    share = f"{100 * result.spec.confidence:g} % intervals"
    used = {plot.x, plot.by, plot.panel}
    rest = [f for f in contrast.varied(result) if f not in used]
    averaged = f" Averaged over {' and '.join(rest)} within each seed." if rest and plot.kind in ("line", "bar", "heatmap") else ""
    colours = f", one colour for each {plot.by}" if plot.by else ""
    text = {
        "line": f"Mean {y} over {plot.x}{colours}, with {share}.",
        "bar": f"Mean {y} for each {plot.x}{colours}, with {share}.",
        "scatter": f"One mark a combination of the study{colours}: means with {share}; faint dots are single runs.",
        "heatmap": f"Mean {y} for each {plot.x} and {plot.by}.",
        "box": f"All runs by {plot.x}{colours}: median, quartiles, and the farthest run within 1.5 interquartile ranges.",
        "ecdf": f"Share of the runs whose {y} is at most so much{colours}.",
    }[plot.kind]
    return text + averaged


def _explained(result: StudyAnalysis, table: Anova) -> dict[str, Any]:
    rows = [
        {
            "term": r.term.replace(":", " × "), "df": r.df, "F": "" if r.F is None else number(r.F, 3), "p": _p(r.p),
            "share": "" if r.eta_sq is None else f"{100 * r.eta_sq:.1f} %", "bar": 100 * (r.eta_sq or 0),
            "quiet": r.term in ("seed", "residual"),
        }
        for r in table.rows
    ]  # fmt: skip
    return {
        "metric": labels.metric(result.metric(table.metric)),
        "sentence": contrast.sentence(result, table),
        "rows": rows,
        "notes": table.warnings,
        "saved": csv_link(
            (["term", "df", "F", "p", "eta_sq"], [[r.term, r.df, r.F, r.p, r.eta_sq] for r in table.rows]), f"anova-{table.metric}"
        ),
    }


def _p(p: float | None) -> str:
    return "" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def _compared(result: StudyAnalysis) -> list[dict[str, Any]]:
    """For each factor every level against the first one, all metrics."""
    out: list[dict[str, Any]] = []
    if (result.index["seed"].n_unique() < 2 and result.spec.settings is None) or not result._done.height:
        return out
    for f in result.spec.factors:
        if f.name == SETTING or not 2 <= len(f.levels) <= MOST_LEVELS:
            continue
        frames = [(s, result.compare(s.label, f.name)) for s in result.spec.metrics]
        tables = [(s, frame.to_dicts()) for s, frame in frames]
        rows = [
            [labels.level(f, level[f.name]), *(_difference(result, s.label, t[i]) for s, t in tables)]
            for i, level in enumerate(tables[0][1])
        ]
        short = labels.short(result.metrics)
        others = [n for n in contrast.varied(result) if n != f.name]
        # Columns of a metric without values have no type.
        whole = pl.concat([frame.with_columns(pl.lit(s.label).alias("metric of the study")) for s, frame in frames], how="vertical_relaxed")
        out.append({"factor": f.name, "base": labels.level(f, f.levels[0].label), "heads": [short[m] for m in result.metrics], "rows": rows,
                    "others": " and ".join(others), "saved": csv_link(whole, f"differences-{f.name}")})  # fmt: skip
    return out


def _difference(result: StudyAnalysis, metric: str, row: dict[str, Any]) -> dict[str, Any]:
    """A difference with its interval, in the metric's unit and in percent, and whether it is more than chance."""
    if row["difference"] is None:
        return {"text": "-", "percent": "", "sure": False, "p": ""}
    iv = Interval(row["difference"], row["low"], row["high"], None, row["n"])
    s = result.metric(metric)
    if s.metric in labels.PERCENT and s.aggregate != "sum":
        iv = iv.times(100)
        text = quantity(iv, "") + " points"
    else:
        text = quantity(iv, result.unit(s.label))
    sign = "+" if row["difference"] > 0 else ""
    percent = "" if row["percent"] is None else f"{row['percent']:+.1f} %".replace("-", "−")
    sure = row["p_holm"] is not None and row["p_holm"] < 1 - result.spec.confidence
    if row["finding"] == "equivalent":
        percent = f"{percent} (equivalent)".strip()
    return {"text": (sign + text).replace("-", "−", 1), "percent": percent, "sure": sure, "p": _p(row["p_holm"])}
