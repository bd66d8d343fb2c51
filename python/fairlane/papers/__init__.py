"""Reproductions of published studies: run every table and figure again and compare it with the published numbers.

What a study is made of (`Paper`, `Combination`, `Experiment`...) and what draws its figures (`charts`, `drawings`, `series`, `theme`) is
all that the code of a study uses of fairlane, besides `fairlane`, `fairlane.stats` and `fairlane.tuning`: see docs/reference/papers.md.

>>> from fairlane.papers import keys
>>> "sarma2013" in keys()
True
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

from ..base.extras import loaded, need

if TYPE_CHECKING:
    from ..claims import Factors, Row, Tables, factors_key, row_of, tables_of
    from ..look import charts, drawings, series, theme
    from ..look.theme import Panel
    from ..multiverse import Levels, Open, Span, Value
    from .all_papers import Reproductions
    from .definition import (
        Alternative,
        Built,
        Change,
        Combination,
        Curve,
        Experiment,
        Paper,
        Picture,
        Results,
        RunTables,
        SensitivityColumn,
        Tree,
        all_of,
        copy_tree,
        factors_of,
    )
    from .folders import keys, load, shipped
    from .reproduction import Reproduction
    from .runner import Progress
    from .tables import Compared, Comparison, compare
    from .values import jain, quantity, queue_of

__all__ = [
    "Alternative",
    "Built",
    "Combination",
    "Change",
    "Compared",
    "Comparison",
    "Curve",
    "Experiment",
    "Factors",
    "Levels",
    "Open",
    "Panel",
    "Paper",
    "Picture",
    "Results",
    "Row",
    "RunTables",
    "SensitivityColumn",
    "Span",
    "Tables",
    "Tree",
    "Value",
    "all_of",
    "charts",
    "compare",
    "copy_tree",
    "drawings",
    "factors_key",
    "factors_of",
    "jain",
    "keys",
    "load",
    "quantity",
    "queue_of",
    "reproduce",
    "reproduce_all",
    "row_of",
    "series",
    "shipped",
    "tables_of",
    "theme",
]

# Imported on first use: `fairlane --help` stays quick.
_WHERE = {
    **dict.fromkeys(("Compared", "Comparison", "compare"), "tables"),
    **dict.fromkeys(("keys", "load", "shipped"), "folders"),
    **dict.fromkeys(("jain", "quantity", "queue_of"), "values"),
}
_CLAIMS = ("Factors", "Row", "Tables", "factors_key", "row_of", "tables_of")
_SETTINGS = ("Levels", "Open", "Span", "Value")
_DRAWING = ("charts", "drawings", "series", "theme")


def __getattr__(name: str) -> Any:
    if name in __all__:
        return loaded(name, "study", lambda: _load(name))
    raise AttributeError(f"module 'fairlane.papers' has no attribute {name!r}")


def _load(name: str) -> Any:
    if name in _DRAWING:
        return import_module(f"..look.{name}", __name__)
    if name in _CLAIMS:
        return getattr(import_module("..claims", __name__), name)
    if name in _SETTINGS:
        return getattr(import_module("..multiverse", __name__), name)
    return getattr(import_module(f".{_WHERE.get(name, 'definition')}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)


def reproduce(
    key: str | PathLike[str],
    only: str | Iterable[str] | None = None,
    quick: bool = False,
    out: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    seeds: int | str | Iterable[int] | None = None,
    settings: int | None = None,
    replays: Sequence[str] = (),
    why: bool = False,
    seed: int | None = None,
) -> Reproduction:
    """Runs a study and writes its tables, figures, verdicts and page.

    `key`: a study that comes with fairlane ("sarma2013"), or the folder of one of your own ("./mine1999"). `only`: one id ("table3"),
    several, or a comma list; the id of a claim ("S7") stands for the experiments it rests on; by default everything. `quick`: few
    replications and no study of the open parameters. `out`: the folder to write, `results/KEY` by default; finished runs are kept in it, so
    a second call resumes where the first one stopped. `progress(fraction, label)` is called about ten times a second and stops the
    reproduction by returning False. `seeds`: the replications, how many, like 10, or which, like "3..7" or [1, 2]; `seed`: a single one.
    `settings`: how many settings are sampled from the unstated parameters, those on record among them; by default those on record, of which
    some are run again, or as many as settle the grade of each claim. `replays`: up to four runs that move
    in the page, with what limited their flows, named by their factors ("queue=RED flows=10"). `why`: what limited the flows of each
    scenario, from its first run made again; of more than twelve scenarios, of those few that have every level of each factor between them.
    """
    need("study")
    from ..base.seeds import either
    from .folders import load
    from .recorded import Which
    from .reproduction import run_reproduction

    return run_reproduction(
        load(key),
        only=only,
        quick=quick,
        out=out,
        progress=progress,
        seeds=either(seeds, seed),
        which=Which(settings),
        replays=replays,
        why=why,
    )


def reproduce_all(quick: bool = False, out: str | PathLike[str] | None = None, progress: Progress | None = None) -> Reproductions:
    """Runs all studies that come with fairlane, each into a folder of its own in `out` (`results` by default).

    Then one page over them, `index.html`. The other parameters are those of `reproduce`. Only what the page over all needs of a study is
    kept when the next one begins: the result is a sequence of outlines with `key`, `claims`, `findings`, `page` and the whole `document`.
    """
    need("study")
    from .all_papers import reproduce_papers
    from .folders import keys, load

    return reproduce_papers([load(key) for key in keys()], quick=quick, out=out, progress=progress)
