"""A reproduction on a terminal: published and our tables, verdicts, and the agreement."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..look.sheet import Sheet, Words
from .layout import Grid, Published, grids, heading, layout_of, published_rows
from .numbers import difference, mean, pm, published, value
from .outcome import results_of
from .score import Scores, scores
from .verdicts import WORDS, closest_text, conditions, elsewhere_text, here_text, label

if TYPE_CHECKING:
    from rich.console import Console

    from .definition import Built, Experiment
    from .outcome import ReproductionOutcome
    from .tables import Compared


def show(r: ReproductionOutcome, console: Console) -> None:
    """Prints the result, the tables that the paper reports, the two results of each claim, and where the page is."""
    console.print(
        Words(f"\n{r.paper.words['title']}  ({r.paper.key}, {len(r.seeds)} replication{'s' if len(r.seeds) > 1 else ''})", "bold")
    )
    if r.answer:
        console.print(Words(r.answer))
    for sheet in sheets(r):
        console.print()
        console.print(sheet)
    console.print()
    console.print(Words("Claims", "bold"))
    for j in r.claims:
        entry = j.to_json()
        begin = f"{j.claim.id:<5}{WORDS[j.verdict].sign} "
        console.print(Words(f"{begin}{label(entry)}: {j.claim.statement}", WORDS[j.verdict].style, len(begin)))
        both = f"In the paper's setup: {here_text(entry)}. In other plausible setups: {elsewhere_text(entry)}."
        console.print(Words(" " * len(begin) + both, "dim", len(begin)))
        holds = f"Holds more often with {'; with '.join(conditions(j.boundaries))}." if j.boundaries else ""
        for more in (holds, j.claim.inconsistent, closest_text(entry), j.cause if j.verdict != "supported" else ""):
            if more:
                console.print(Words(" " * len(begin) + more, "dim", len(begin)))
    console.print(Words(f"\n{r.runs} runs ({r.reused} from an earlier call) in {r.seconds:.1f} s."))
    if r.missing:
        record = "; the shares of settings are those on record" if r.joint else ""
        console.print(Words(f"The paper's setup was run in part ({r.missing}){record}."))
    if near := score_sentence(scores(results_of(r))):
        console.print(Words(near))
    if any(row.impossible for _, b in r.experiments for row in b.comparison.rows):
        console.print(Words("[n]: the published value is inconsistent with another one; the page lists them.", "dim"))
    console.print(f"Page: {r.page}", soft_wrap=True, markup=False)


def score_sentence(s: Scores) -> str:
    """How near the published results are, in a sentence; empty if none are published."""
    if s.every.median is None:
        return ""

    def apart(median: float | None) -> str:
        return "unbounded" if median is None or math.isinf(median) else f"{100 * median:.2g} %"

    text = f"{s.every.near} of {s.every.compared} published values are near, median deviation {apart(s.every.median)}"
    if s.plain.compared < s.every.compared and s.plain.compared:
        text += f"; without inconsistent values {s.plain.near} of {s.plain.compared}, {apart(s.plain.median)}"
    return text + "."


def sheets(r: ReproductionOutcome) -> Iterator[Sheet]:
    """Yields published tables in the paper's layout, other published values line by line, and our own values if requested by --only."""
    shown = {e.id for e, _ in r.experiments}
    known = {e.id: Published(r.paper.published(e.id)) for e in r.paper.experiments()}
    for e, b in r.experiments:
        if e.part_of in shown:
            continue
        rows = b.comparison.rows
        if known[e.id].tidy:
            beside = published_rows(r.paper, e.id, b)
        else:
            laid = "layout" in r.paper.words["experiments"].get(e.id, {})
            beside = [x for x in rows if laid and x.published is not None]
        if beside:
            for i, grid in enumerate(grids(beside, layout_of(r.paper, e.id, beside), r.paper.words["factors"])):
                yield side_by_side(heading(r.paper, e) if not i else "", grid)
        elif b.show_table and rows and (r.partial or _published_alone(e, b, known)) and e.id != r.paper.words["topology"]:
            yield line_by_line(heading(r.paper, e), b)


def _published_alone(e: Experiment, b: Built, known: dict[str, Published]) -> bool:
    """Returns true if an experiment has published values that no table contains, and is neither a figure nor a table of words."""
    of = [x for x in b.comparison.rows if x.published is not None and not any(x in table for table in known.values())]
    return bool(of) and not b.pictures and not known[e.id].rows


def side_by_side(title: str, grid: Grid) -> Sheet:
    """A published table: in each cell the published value, ours and the difference."""
    columns = [_aligned([line.cells[c] for line in grid.lines]) for c in range(len(grid.columns()))]
    body = [[*labels, *(column[i] for column in columns)] for i, (labels, _) in enumerate(grid.labels())]
    heads = [*grid.names, *(f"{x}" for x in grid.columns())]
    title = "  ".join(x for x in (title, f"({grid.title}: published → ours)" if grid.title else "(published → ours)") if x)
    return Sheet(heads, body, title=title, labels=len(grid.names), header="dim")


def _aligned(cells: Sequence[Compared | None]) -> list[str]:
    """The cells of a column, each part at the same place."""
    parts = [("", "", "") if c is None else (_marked(c), mean(c) or "not run", difference(c)) for c in cells]
    first, second, third = (max(len(p[k]) for p in parts) for k in range(3))
    return [f"{p:>{first}} → {o:>{second}} {d:>{third}}" if p else "" for p, o, d in parts]


def _marked(row: Compared) -> str:
    return f"{published(row)} [{row.impossible}]" if row.impossible else published(row)


def line_by_line(title: str, b: Built) -> Sheet:
    """Returns published values and ours, one per line."""
    rows = b.comparison.rows
    peer = any(row.peer is not None for row in rows)
    metrics = len({row.metric for row in rows}) > 1
    names = list(dict.fromkeys(k for row in rows for k, _ in row.factors))
    heads = [*names, *(["what"] if metrics else []), "published", "fairlane", *([b.peer_name] if peer else []), "difference", "unit"]
    body = []
    for row in rows:
        labels = [dict(row.factors).get(n, "") for n in names] + ([row.metric] if metrics else [])
        body.append([*labels, _marked(row), pm(row), *([value(row.peer)] if peer else []), difference(row), row.unit])
    return Sheet(heads, body, title=title, labels=len(names) + metrics, styles={len(heads) - 1: "dim"}, header="dim")
