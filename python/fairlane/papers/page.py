"""The page of a reproduction: one HTML file without any link to the network."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..look import templates
from ..look.panels import live_of
from ..look.rerun import code_warning
from ..look.web_charts import Charts
from ..runs.summary import limit_section
from ..watch.inset import scripts
from . import unstated
from .attainable import place
from .folders import comes_with_us
from .layout import Published, grids, heading, layout_of, number_of, published_rows
from .numbers import difference, mean, mean_and_interval, published, value
from .outcome import results_of
from .score import Scores, scores, without_constant
from .score import difference as apart
from .tables import NEAR
from .verdicts import WORDS, badge, closest_text, counts, elsewhere_text, here_text, label
from .verdicts import percent as verdicts_percent

if TYPE_CHECKING:
    from ..claims import Comparison as Seen
    from .attainable import Reach
    from .claims import Judged
    from .definition import Built, Experiment, Picture
    from .outcome import ReproductionOutcome
    from .tables import Compared

_SIGNS = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠"}
_WIDEST = 0.5
"""Relative difference at the ends of bars and of the rows of dots."""


def render(r: ReproductionOutcome) -> str:
    """The page as text."""
    pictures = {p.name: _shown(p) for _, b in r.experiments for p in b.pictures}
    filters: dict[str, Callable[..., Any]] = {
        "value": value,
        "halves": mean_and_interval,
        "mean": mean,
        "published": published,
        "difference": difference,
        "bar": _bar,
        "seen": _seen,
        "unit": _unit,
        "badge": badge,
        "percent": percent,
        "share": verdicts_percent,
        "tied": tied,
    }
    shown = {e.id for e, _ in r.experiments}
    known = {e.id: Published(r.paper.published(e.id)) for e in r.paper.experiments()}
    sections = [_section(r, e, b, known) for e, b in r.experiments if e.part_of not in shown]
    main = _main(r, sections)
    results = results_of(r)
    return templates.render(
        "papers/page.html.j2", filters, r=r, paper=r.paper, words=r.paper.words,
        called=shlex.quote(r.paper.called), code=code_warning([] if comes_with_us(r.paper.folder) else [f"{r.paper.called}/study.py"]),
        sections=sections, main=main, near=_near(r), near_is=NEAR, ids={j.claim.id for j in r.claims},
        score=scores(results) if any(x.ours is not None for x in results) else None,
        tally=tally(counts(j.verdict for j in r.claims)), signs={v: w.sign for v, w in WORDS.items()},
        claims=[_claim(j, r) for j in r.claims], columns=r.paper.sensitivity_columns(),
        open=unstated.of_paper(r.joint) if r.joint else None, fewest=unstated.FEWEST,
        searched=len({(x.table, x.of, x.metric) for x in (r.joint.searched if r.joint else ()) if x.table}),
        reach=[x for x in r.reach if x.reached is not None], unreached=[_unreached(r, x) for x in r.reach if x.reached is False],
        whys=[(w.name, told) for w in r.watched if (told := limit_section(w.result)) is not None], whys_seed=r.seeds[0],
        pictures=pictures, live=Charts((c for p in pictures.values() for c in p["live"]), scripts(r.moving)),
    )  # fmt: skip


def tally(n: Mapping[str, int]) -> list[tuple[str, int, str]]:
    """Verdict, number of claims and word, as pages count them."""
    return [(v, k, WORDS[v].name) for v, k in n.items()]


def percent(x: float | None) -> str:
    """A share or a difference in a table.

    >>> percent(0.034), percent(0.34), percent(None)
    ('3.4 %', '34 %', '')
    """
    if x is None or math.isinf(x):
        return "" if x is None else "∞"
    return f"{100 * x:.0f} %" if x >= 0.0995 or x == 0 else f"{100 * x:.1f} %" if x >= 0.00095 else f"{100 * x:.2f} %"


_UNITS = re.compile(r"(?<=\d) (?=%|(?:ms|s|Mbit/s|kbit/s|kbyte|byte|MB|packets)\b)")


def tied(text: str) -> str:
    """A text in which no line ends between a number and its unit."""
    return _UNITS.sub("\u00a0", text)


def _shown(picture: Picture) -> dict[str, Any]:
    """Charts of what has curves, and the other panels one by one, so that they stack on narrow screens."""
    live, others = live_of(picture.panels, picture.name, picture.title)
    label = f"{picture.title}. {picture.caption}"
    still = [svg for p, svg in zip(picture.panels, picture.drawn, strict=True) if any(p is x for x in others)]
    drawn = [templates.inline_drawing(svg, f"{picture.name}-{i}", label) for i, svg in enumerate(still)]
    return {"live": live, "charts": [c.name for c in live], "drawn": drawn}


def _main(r: ReproductionOutcome, sections: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The section whose picture stands at the top: as paper.toml says, else the first with published values and ours."""
    drawn = [s for s in sections if s["built"].pictures and not s["setup"]]
    beside = [s for s in drawn if any(x.published is not None and x.ours is not None for x in s["built"].comparison.rows)]
    said = [s for s in drawn if s["id"] == r.paper.words.get("picture")]
    return next(iter([*said, *beside, *drawn]), None) if not r.partial else None


def _section(r: ReproductionOutcome, e: Experiment, b: Built, known: Mapping[str, Published]) -> dict[str, Any]:
    """An experiment: the published table in its own layout, what else there is in tables by groups, and what is folded."""
    said, table = r.paper.words["factors"], known[e.id]
    tidy, rows, setup = table.tidy, b.comparison.rows, e.id == r.paper.words.get("topology")
    laid = tidy or "layout" in r.paper.words["experiments"].get(e.id, {})
    beside = published_rows(r.paper, e.id, b) if tidy else [x for x in rows if laid and x.published is not None]
    elsewhere = {id: t for id, t in known.items() if id != e.id}
    left = [x for x in rows if not (x in table if tidy else laid and x.published is not None)]
    left = [_bare(x) if _published_in(elsewhere, x) else x for x in left]
    plain = table.rows if not tidy else []
    names = list(dict.fromkeys(k for row in [*rows, *b.more] for k, _ in row.factors))
    folded = []
    if beside:
        ours = [_bare(x) for x in beside if x.ours is not None]
        also = [x for x in left if x.published is None]
        left = [x for x in left if x.published is not None]
        also += [] if ours else left
        if ours or also:
            folded.append(
                ("With intervals" + (f", and what {b.peer_name} gives" if any(x.peer is not None for x in ours) else ""), [*ours, *also])
            )
    elif b.show_table and left and ((b.pictures and not setup) or plain):
        folded.append(("The numbers" if b.pictures else "What is run here", left))
        left = []
    if more := [x for x in b.more if x not in table]:
        folded.append((b.more_title, more))
    return {
        "id": e.id, "setup": setup, "full_id": f"{r.paper.key}/{e.id}", "number": number_of(r.paper, e.id), "heading": heading(r.paper, e),
        "title": e.title, "text": e.text, "built": b, "rho": list(b.comparison.rank_correlations().items()) if b.show_table else [],
        "apart": _apart(rows), "claims": _claims_on(r, e), "grids": grids(beside, layout_of(r.paper, e.id, beside), said) if beside else [],
        "plain": plain, "table": _table(left, b.group_by, names, said) if b.show_table and left else None,
        "csv": f"{e.id}.csv" if b.rows else "", "values": r.of_values(e),
        "folded": [(title, _table(xs, b.group_by, names, said)) for title, xs in folded if xs],
        "numbers": [(x, number_of(r.paper, x) or x) for x in dict.fromkeys(_published_in(elsewhere, row) for row in rows) if x],
    }  # fmt: skip


def _bare(row: Compared) -> Compared:
    """A row without its published value, which stands in a table already."""
    return replace(row, published=None, published_text="", impossible=None)


def _published_in(tables: Mapping[str, Published], row: Compared) -> str:
    """The experiment in whose published table the value of a row stands."""
    return next((id for id, table in tables.items() if row in table), "")


def _claims_on(r: ReproductionOutcome, e: Experiment) -> list[dict[str, Any]]:
    """The claims that rest on an experiment or a part of it."""
    return [{"judged": j, "label": label(j.to_json())} for j in r.resting(e)]


def _unreached(r: ReproductionOutcome, x: Reach) -> dict[str, Any]:
    """A published value that no setting comes near: where it stands, what it is of, and its range over the settings."""
    said = r.paper.words["factors"]
    of = [_factor(n, v, said) for n, v in x.row.factors if v]
    return {
        "id": x.table if any(e.id == x.table for e, _ in r.experiments) else "", "number": number_of(r.paper, x.table) or _spaced(x.table),
        "of": " · ".join(of), "metric": _metric(x.row), "row": x.row, "low": x.low, "high": x.high, "searched": _searched(r, x),
    }  # fmt: skip


def _searched(r: ReproductionOutcome, x: Reach) -> str:
    """The result of the directed search for a published value; empty if there was none."""
    found = [f for f in (r.joint.searched if r.joint else ()) if (f.table, f.of, f.metric) == (x.table, place(x.row), x.row.metric)]
    if not found:
        return ""
    best = max(found, key=lambda f: f.margin)
    return f"{best.nearness}: {percent(-best.margin)} away, with {best.setting} ({best.evaluated} settings)"


def _near(r: ReproductionOutcome) -> list[dict[str, Any]]:
    """The score of each published table, and its differences as dots."""
    out = []
    for name in dict.fromkeys([*(e.id for e, _ in r.experiments), *r.paper.tables]):
        rows = [x for x in results_of(r, [name]) if x.ours is not None]
        if rows:
            found: Scores = scores(rows)
            dots = sorted(((_at(x), x.impossible is not None, apart(x)) for x in rows), key=lambda d: d[2])
            placed = any(e.id == name for e, _ in r.experiments)
            out.append(
                {
                    "id": name,
                    "placed": placed,
                    "number": number_of(r.paper, name) or _spaced(name),
                    "score": found,
                    "chance": sum(x.by_chance and not x.close for x in rows),
                    "rest": without_constant(r.paper, name, rows),
                    "dots": [d[:2] for d in dots],
                }
            )
    return out


def _at(row: Compared) -> float:
    """Where a difference stands on its row of dots, percent: the middle is none."""
    d = row.difference
    d = math.inf if d is None else d
    return 50 + 50 * min(1.0, max(-1.0, d / _WIDEST))


def _apart(rows: Sequence[Compared]) -> str:
    """The row in which we are farthest from the other simulator."""
    both = [(row.ours / row.peer - 1, row) for row in rows if row.ours is not None and row.peer]
    if not both:
        return ""
    most, row = max(both, key=lambda x: abs(x[0]))
    return f"{100 * most:+.1f} % ({', '.join(x for _, x in row.factors)})".replace("-", "−", 1)


def _table(rows: Sequence[Compared], group_by: tuple[str, ...], names: Sequence[str], said: Mapping[str, str]) -> dict[str, Any]:
    """Rows under their sub-headings; columns that are empty are left out, those that say the same throughout go into the headings."""
    groups: dict[tuple[str, ...], list[Compared]] = {}
    for row in rows:
        f = {**dict(row.factors), "metric": _metric(row)}
        groups.setdefault(tuple(f.get(g, "") for g in group_by), []).append(row)
    names = [n for n in names if n not in group_by and any(dict(row.factors).get(n) for row in rows)]
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


def _spaced(text: str) -> str:
    return text.replace("_", " ")


def _factor(name: str, value: str, said: Mapping[str, str]) -> str:
    """A factor in a heading; bare numbers say what they count, as `[factors]` in paper.toml has it."""
    return said[name].replace("{}", value) if name in said and value.replace(".", "", 1).isdigit() else _spaced(value)


def _fixed(name: str, value: str, said: Mapping[str, str]) -> str:
    """Returns the constant factors of a table for its heading."""
    told = _factor(name, value, said)
    return told if told != _spaced(value) else _spaced(f"{name}: {value}")


def _metric(row: Compared) -> str:
    """A metric in a heading, with its unit unless the name has it."""
    words, unit = _spaced(row.metric), _unit(row.unit)
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
    width = 50 * min(1.0, abs(d) / _WIDEST)
    return {"left": 50 - width if d < 0 else 50, "width": max(width, 0.6), "large": abs(d) > 0.1}


def _unit(unit: str) -> str:
    return {"percent": "%", "1": ""}.get(unit, unit)


def _digits(x: float) -> str:
    """A compared number: enough digits to see the difference."""
    return f"{x:.5g}"


def _seen(c: Seen) -> str:
    """A comparison with its unit: "22.8 against 24.1 packets" where one number should be less than the other, and is not."""
    unit = f" {_unit(c.unit)}" if _unit(c.unit) else ""
    sign = _SIGNS.get(c.sign, c.sign) if c.true else "against"
    return f"{_digits(c.left)} {sign} {_digits(c.right)}{unit}"


def _claim(j: Judged, r: ReproductionOutcome) -> dict[str, Any]:
    """A verdict with the comparisons that decide it: those that fail, or else the closest ones."""
    failing = [c for c in j.comparisons if not c.true]

    def distance(c: Seen) -> float:
        return abs(c.left - c.right) / max(abs(c.left), abs(c.right), 1e-12)

    deciding = failing if j.outcome == "fails" else sorted((c for c in j.comparisons if c.true), key=distance)
    otherwise = [f"{s.alternative.name} ({to})" for s in r.shifts for i, _, to in s.changed if i == j.claim.id]
    inside = {e.id: e.part_of for e in r.paper.experiments()}
    ids = [e.removeprefix(f"{r.paper.key}/") for e in j.claim.experiments]
    entry = j.to_json()
    return {
        "judged": j,
        "label": label(entry),
        "here": here_text(entry),
        "elsewhere": elsewhere_text(entry),
        "closest": closest_text(entry),
        "settings": unstated.of_claim(j, r.joint) if r.joint else None,
        "rests": [(number_of(r.paper, e) or e, inside.get(e) or e) for e in ids],
        "otherwise": otherwise,
        "tried": sum(j.claim.id not in s.silent for s in r.shifts),
        "deciding": deciding[:1],
        "all": j.comparisons[:80],
        "cut": max(0, len(j.comparisons) - 80),
    }
