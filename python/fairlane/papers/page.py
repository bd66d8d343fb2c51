"""The page of a reproduction: one HTML file without any link to the network."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..look import templates
from .numbers import difference, mean_and_half, printed, value
from .terminal import so_far

if TYPE_CHECKING:
    from markupsafe import Markup

    from ..claims import Comparison as Seen
    from .claims import Judged
    from .definition import Built, Picture
    from .reproduction import Reproduction
    from .tables import Compared

_SIGNS = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠"}
_WIDEST_BAR = 0.5
"""Relative difference that fills half of a bar."""


def render(r: Reproduction) -> str:
    """The page as text."""
    from .reproduction import RESAMPLES

    filters: dict[str, Callable[..., Any]] = {
        "value": value,
        "halves": mean_and_half,
        "printed": printed,
        "difference": difference,
        "bar": _bar,
        "seen": _seen,
        "unit": _unit,
    }
    shown = {e.id for e, _ in r.experiments}
    sections = [_section(r, e, b) for e, b in r.experiments if e.part_of not in shown]
    if not any(s["setup"] for s in sections):  # a picture before the numbers
        drawn = next((s for s in sections if s["built"].pictures), None)
        sections.sort(key=lambda s: s is not drawn)
    return templates.render(
        "papers/page.html.j2", filters, r=r, resamples=RESAMPLES, paper=r.paper, words=r.paper.words,
        sections=sections,
        counts={v: sum(j.verdict == v for j in r.claims) for v in ("holds", "fails", "undecided")},
        so_far=so_far(j.so_far for j in r.claims), claims=[_claim(j, r) for j in r.claims], columns=r.paper.sensitivity_columns(),
        pictures={p.name: _svgs(p) for _, b in r.experiments for p in b.pictures},
    )  # fmt: skip


def _svgs(picture: Picture) -> list[Markup]:
    """The panels one by one, so that they stack on narrow screens; a single one is the whole figure, which the files need, too."""
    label = f"{picture.title}. {picture.caption}"
    if len(picture.panels) == 1:
        return [templates.placed(picture.svg, f"{picture.name}-0", label)]
    return [templates.drawing(p, f"{picture.name}-{i}", label) for i, p in enumerate(picture.panels)]


def _section(r: Reproduction, e: Any, b: Built) -> dict[str, Any]:
    rows, said = b.comparison.rows, r.paper.words["factors"]
    names = list(dict.fromkeys(k for row in rows for k, _ in row.factors))
    return {
        "id": e.id, "setup": e.id == r.paper.words.get("topology"), "full_id": f"{r.paper.key}/{e.id}",
        "title": e.title, "text": e.text, "built": b, "rho": list(b.comparison.rank_correlations().items()), "apart": _apart(rows),
        **dict(zip(("verdict", "reason"), r.verdict(e, b), strict=True)),
        "table": _table(rows, b.group_by, names, said) if b.show_table and rows else None,
        "csv": f"{e.id}.csv" if b.rows else "",
        "more": _table(b.more, b.group_by, names, said) if b.more else None,
    }  # fmt: skip


def _apart(rows: list[Compared]) -> str:
    """The cell in which we are farthest from the other simulator."""
    both = [(row.ours / row.peer - 1, row) for row in rows if row.ours is not None and row.peer]
    if not both:
        return ""
    apart, row = max(both, key=lambda x: abs(x[0]))
    return f"{100 * apart:+.1f} % ({', '.join(x for _, x in row.factors)})".replace("-", "−", 1)


def _table(rows: list[Compared], group_by: tuple[str, ...], names: list[str], said: Mapping[str, str]) -> dict[str, Any]:
    """Rows under their sub-headings; columns that are empty are left out, those that say the same throughout go into the headings."""
    groups: dict[tuple[str, ...], list[Compared]] = {}
    for row in rows:
        f = {**dict(row.factors), "metric": _metric(row)}
        groups.setdefault(tuple(f.get(g, "") for g in group_by), []).append(row)
    names = [n for n in names if n not in group_by]
    fixed = [] if len(rows) == 1 else [n for n in names if len({dict(row.factors).get(n, "") for row in rows}) == 1]
    always = [_fixed(n, x, said) for n in fixed if (x := dict(rows[0].factors).get(n, ""))]
    titled = []
    for key, members in groups.items():
        shown = [_factor(n, x, said) for n, x in zip(group_by, key, strict=True)]
        titled.append(_group([x for x in shown if x], always, members, "metric" in group_by))
    return {
        "groups": titled,
        "names": [n for n in names if n not in fixed],
        "unit": "" if "metric" in group_by or len({row.unit for row in rows}) > 1 else rows[0].unit,
    }


def _factor(name: str, value: str, said: Mapping[str, str]) -> str:
    """A factor in a heading; bare numbers say what they count, as `[factors]` in paper.toml has it."""
    return said[name].replace("{}", value) if name in said and value.replace(".", "", 1).isdigit() else value.replace("_", " ")


def _fixed(name: str, value: str, said: Mapping[str, str]) -> str:
    """What all rows of a table have in common, in its heading."""
    told = _factor(name, value, said)
    return told if told != value.replace("_", " ") else f"{name}: {value}".replace("_", " ")


def _metric(row: Compared) -> str:
    """A metric in a heading, with its unit unless the name has it."""
    words, unit = row.metric.replace("_", " "), _unit(row.unit)
    return f"{words}, {unit}" if unit and unit not in words.split() else words


def _group(title: list[str], always: list[str], rows: list[Compared], grouped_by_metric: bool) -> dict[str, Any]:
    metrics = {row.metric for row in rows}
    own = title or ([_metric(rows[0])] if len(metrics) == 1 else [])
    return {
        "title": " · ".join([*own, *always]), "unit": bool(title),
        "rows": rows, "metrics": not grouped_by_metric and len(metrics) > 1,
        "published": any(row.published is not None for row in rows), "peer": any(row.peer is not None for row in rows),
        "difference": any(difference(row) for row in rows), "bars": any(abs(row.difference or 0) > 0.0005 for row in rows),
    }  # fmt: skip


def _bar(row: Compared) -> dict[str, float] | None:
    """Where a bar of the difference begins and how wide it is, percent of its field; the middle is no difference."""
    d = row.difference
    if d is None or not math.isfinite(d):
        return None
    width = 50 * min(1.0, abs(d) / _WIDEST_BAR)
    return {"left": 50 - width if d < 0 else 50, "width": max(width, 0.6), "large": abs(d) > 0.1}


def _unit(unit: str) -> str:
    return {"percent": "%", "1": ""}.get(unit, unit)


def _digits(x: float) -> str:
    """A compared number: enough digits to see the difference."""
    return f"{x:.6g}"


def _seen(c: Seen) -> str:
    return f"{_digits(c.left)} {_SIGNS.get(c.sign, c.sign)} {_digits(c.right)}"


def _claim(j: Judged, r: Reproduction) -> dict[str, Any]:
    """A verdict with the comparisons that decide it: those that fail, or else the closest ones."""
    failing = [c for c in j.comparisons if not c.true]

    def distance(c: Seen) -> float:
        return abs(c.left - c.right) / max(abs(c.left), abs(c.right), 1e-12)

    deciding = failing if j.outcome == "fails" else sorted((c for c in j.comparisons if c.true), key=distance)
    otherwise = [f"{s.alternative.name} ({to})" for s in r.shifts for i, _, to in s.changed if i == j.claim.id]
    inside = {e.id: e.part_of for e in r.paper.experiments()}
    ids = [e.removeprefix(f"{r.paper.key}/") for e in j.claim.experiments]
    return {
        "judged": j,
        "rests": [(e, inside.get(e) or e) for e in ids],
        "otherwise": otherwise,
        "tried": sum(j.claim.id not in s.silent for s in r.shifts),
        "deciding": deciding[:1],
        "all": j.comparisons[:80],
        "cut": max(0, len(j.comparisons) - 80),
    }
