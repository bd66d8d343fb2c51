"""Views of claims and settings: lines on a terminal, figures, cards of the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..base.format import number
from ..look.sheet import Sheet, Words
from ..multiverse.charts import Outcomes, drawn
from . import labels
from .model import Settings, VariedParameter
from .settings import as_settings, opens_of
from .specification import MOST_ROWS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..look.theme import Panel
    from .analysis import StudyAnalysis
    from .verdicts import StudyClaim

MARKS = {"holds": "●", "fails": "○", "depends": "◐", "inconclusive": "?"}
"""Drawn next to the words."""


def range_text(o: VariedParameter) -> str:
    """Returns the values of a varied parameter in words.

    >>> range_text(VariedParameter("rate", "4Mbit/s", "2Mbit/s", "20Mbit/s", "log"))
    '2Mbit/s to 20Mbit/s, logarithmic'
    """
    if o.choices:
        return ", ".join(o.choices)
    step = "" if o.step is None else f" in steps of {o.step}"
    return f"{o.low} to {o.high}{step}" + (", logarithmic" if o.scale == "log" else "")


def verdict_text(claim: StudyClaim) -> str:
    """The verdict with what it rests on."""
    word = f"{claim.verdict} ({claim.so_far} so far)" if claim.so_far else claim.verdict
    # Where it holds, the reason begins with the word.
    return claim.reason if claim.reason.startswith(f"{word} ") else f"{word}: {claim.reason}"


def report(result: StudyAnalysis) -> list[Any]:
    """The claims, and what they and the metrics depend on, for a terminal."""
    parts: list[Any] = []
    for c in result.claims:
        parts += ["", Words(f"{MARKS.get(c.verdict, '?')} {c.id}: {c.statement}"), Words(f"  {verdict_text(c)}")]
    table = matters_sheet(result)
    return [*parts, "", table] if table is not None else parts


def matters_table(result: StudyAnalysis) -> tuple[list[str], list[list[float]]]:
    """Returns the varied parameters (rows) and, for each claim and metric, the share of its variance that each accounts for alone."""
    settings = result.spec.settings
    if settings is None:
        return [], []
    short = labels.short(result.metrics)
    columns = [(f"claim {c.id}", c.matters) for c in result.claims] + [(short[m], result.matters(m)) for m in result.metrics]
    return [name for name, _ in columns], [[m.get(o.name, 0.0) for _, m in columns] for o in settings.opens]


def matters_sheet(result: StudyAnalysis) -> Sheet | None:
    """`matters_table` as it is printed; None without settings."""
    settings = result.spec.settings
    if settings is None:
        return None
    heads, rows = matters_table(result)
    body = [[o.name, *(f"{100 * x:.0f} %" for x in row)] for o, row in zip(settings.opens, rows, strict=True)]
    return Sheet(["varied", *heads], body, note=f"{labels.SHARE_OF_VARIANCE}; rough to ± {_rough(settings)} points")


def _rough(settings: Settings) -> str:
    """How far off such an index may be, in percent: about one over the root of the number of settings."""
    return number(100 / len(settings.values) ** 0.5, 1)


def panels(result: StudyAnalysis, claim: StudyClaim) -> dict[str, Panel]:
    """The pictures of a claim by the end of their names; none if no setting says anything."""
    from .specification import Curve, Map

    of = _outcomes(result, claim)
    return {} if of is None else {"settings": Curve(of), "map": Map(of)}


def _outcomes(result: StudyAnalysis, claim: StudyClaim) -> Outcomes | None:
    """A claim in all settings; None if no setting says anything."""
    settings = result.spec.settings
    if settings is None or all(m is None for m in claim.margins):
        return None
    return Outcomes(opens_of(settings), as_settings(settings), claim.outcomes, claim.margins, claim.matters, claim.boundaries)


def figures(result: StudyAnalysis) -> dict[str, Figure]:
    """All of them on white, by file name."""
    return {f"claim-{c.id}-{name}": _on_white(panel) for c in result.claims for name, panel in panels(result, c).items()}


def file_names(claims: Sequence[Any], settings: Settings | None) -> list[str]:
    """The names of these files, before there are results."""
    return [f"claim-{c.id}-{name}" for c in claims for name in ("settings", "map")] if settings is not None else []


def _on_white(panel: Panel) -> Figure:
    import matplotlib as mpl

    from ..look.picture import Picture, on_white

    with mpl.rc_context(on_white()):
        (wide, high), (left, bottom, right, top) = panel.size, panel.margins
        figure = Picture(figsize=(wide, high))
        panel.draw(figure, figure.add_axes((left / wide, bottom / high, (wide - left - right) / wide, (high - bottom - top) / high)))
    return figure


def drawings(result: StudyAnalysis, claim: StudyClaim) -> list[Any]:
    """Returns the figures of a claim as light SVG that fits a telephone: the curve, and the map if the outcome varies."""
    of = _outcomes(result, claim)
    pictures = drawn(claim.id, of, MOST_ROWS) if of is not None else None
    return [] if pictures is None else [pictures.curve, *([] if pictures.map is None else [pictures.map])]


def cards(result: StudyAnalysis) -> list[dict[str, Any]]:
    """The claims as the page shows them."""
    from ..look.templates import svg_link
    from ..look.theme import svg

    out = []
    for c in result.claims:
        drawn, saved = drawings(result, c), []
        for name, panel in panels(result, c).items():
            saved.append(svg_link(svg(_on_white(panel)), f"claim-{c.id}-{name}"))
        lines = any(not t.where and t.side != "with" for t in c.boundaries)
        card = {"id": c.id, "statement": c.statement, "check": c.claim.check, "verdict": c.verdict, "so_far": c.so_far or ""}
        out.append({**card, "reason": c.reason, "drawn": drawn, "saved": saved, "lines": lines})
    return out


def asked(settings: Settings | None) -> list[dict[str, str]]:
    """Returns the varied parameters as the page lists them."""
    if settings is None:
        return []
    return [
        {"name": o.name, "paths": ", ".join(o.paths), "range": range_text(o), "base": str(o.base), "why": o.why} for o in settings.opens
    ]
