"""Published tables as the paper reports them: in its own rows and columns, each value once, ours in the same cell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..claims import as_number
from ..errors import PaperError
from .definition import Built, Experiment, Paper
from .tables import Compared

_BESIDE = ("metric", "value", "unit", "published", "source", "note")
"""Columns of a published table that are no factors."""
_NUMBERED = {"table": "Table", "fig": "Fig.", "sec": "Sec.", "eq": "Eq."}
WIDEST = 8
"""Columns of a table whose paper.toml does not say what they are."""

Key = tuple[str, ...]
_Cells = dict[tuple[Key, Key], Compared]


def number_of(paper: Paper, id: str) -> str:
    """How the paper calls a table or figure: as `number` in paper.toml has it, else what the id tells; empty if neither does.

    The ids ``table1``, ``fig5.3`` and ``sec5.6-slots`` are Table 1, Fig. 5.3 and Sec. 5.6.
    """
    said = paper.words["experiments"].get(id, {}).get("number")
    if said is not None:
        return str(said)
    found = re.fullmatch(r"(table|fig|sec|eq)(\d[\d.]*)(-.*)?", id)
    return f"{_NUMBERED[found[1]]} {found[2]}" if found else ""


def heading(paper: Paper, e: Experiment) -> str:
    """The heading of an experiment, with the paper's own number."""
    return f"{number}. {e.title}" if (number := number_of(paper, e.id)) else e.title


@dataclass(frozen=True)
class Head:
    """A heading of rows or columns, and over how many of them it stands."""

    text: str
    span: int = 1


@dataclass(frozen=True)
class Line:
    """A row of a grid: headings that begin in it, by their level, and a cell for each column."""

    heads: Sequence[Head | None]
    cells: Sequence[Compared | None]


@dataclass(frozen=True)
class Grid:
    """A published table, or a part of one."""

    title: str
    names: Sequence[str]
    """Names of the headings of rows, one per level."""
    heads: Sequence[Sequence[Head]]
    """Headings of columns, the outermost level first."""
    lines: Sequence[Line]

    @property
    def groups(self) -> set[int]:
        """The columns with which a group of them begins, where they stand in groups."""
        outer = self.heads[0] if len(self.heads) > 1 else ()
        return {sum(h.span for h in outer[:k]) for k in range(1, len(outer))}

    def labels(self) -> Iterator[tuple[list[str], Line]]:
        """Each row with all of its headings, those that began further up, too."""
        last = [""] * len(self.names)
        for line in self.lines:
            for level, head in enumerate(line.heads):
                if head is not None:
                    last[level] = head.text
            yield list(last), line

    def columns(self) -> list[str]:
        """The headings of each column in one text."""
        levels = [[h.text for h in level for _ in range(h.span)] for level in self.heads]
        return [" ".join(x for x in texts if x) for texts in zip(*levels, strict=True)]


@dataclass(frozen=True)
class Layout:
    """Factors, `metric` or `unit` that vary by row, by column and by table; the outermost first."""

    rows: Key
    columns: Key
    tables: Key = ()

    @property
    def names(self) -> Key:
        """All of them."""
        return (*self.tables, *self.rows, *self.columns)


def _same(factors: Any) -> frozenset[tuple[str, float | str]]:
    """Equal for factors that are the same: as numbers if they are, else as texts."""
    return frozenset((k, x if (number := as_number(x)) is None else number) for k, x in dict(factors).items())


def is_tidy(rows: Sequence[Mapping[str, str]]) -> bool:
    """Returns true if a published table has one number per row, with its metric; other tables are shown as they are published."""
    return bool(rows) and all("metric" in row and as_number(row.get("value")) is not None for row in rows)


class Published:
    """A published table of results: whether the published value of a row stands in it."""

    def __init__(self, rows: Sequence[Mapping[str, str]]) -> None:
        self.rows = rows
        self.tidy = is_tidy(rows)
        self._entries: dict[tuple[str, float], list[frozenset[tuple[str, float | str]]]] = {}
        for p in rows if self.tidy else ():
            factors = _same({k: x for k, x in p.items() if k not in _BESIDE})
            self._entries.setdefault((p["metric"], float(p["value"])), []).append(factors)

    def __contains__(self, row: Compared) -> bool:
        if row.published is None:
            return False
        at = _same(row.factors)
        return any(at <= entry for entry in self._entries.get((row.metric, row.published), ()))


def layout_of(paper: Paper, id: str, published: Sequence[Compared]) -> Layout:
    """The layout that paper.toml declares, else a sensible one: metrics, or else the last factor that varies, become columns."""
    said = paper.words["experiments"].get(id, {}).get("layout")
    if said is not None:
        return Layout(tuple(said["rows"]), tuple(said["columns"]), tuple(said.get("tables", ())))
    names = list(dict.fromkeys(k for row in published for k, _ in row.factors))
    vary = [n for n in names if len({_value(row, n) for row in published}) > 1]
    if len({row.metric for row in published}) > 1:
        return Layout(tuple(vary or names[:1]), ("metric",))
    if len(vary) > 1 and len({_value(row, vary[-1]) for row in published}) <= WIDEST:
        return Layout(tuple(vary[:-1]), (vary[-1],))
    return Layout(tuple(vary or names[:1] or ["metric"]), ("metric",))


def wrong_layout(paper: Paper, id: str) -> tuple[str, str, str] | None:
    """Returns the fault of the declared layout of a published table: the key, message and help; None if there is none."""
    said = paper.words["experiments"].get(id, {}).get("layout")
    rows = paper.published(id)
    if said is None or not is_tidy(rows):
        return None
    factors = [k for k in rows[0] if k not in _BESIDE]
    for part in ("tables", "rows", "columns"):
        for name in said.get(part, ()):
            if name not in (*factors, "metric", "unit"):
                return part, f"{id}.csv has no factor `{name}`", f"its factors are {', '.join(factors)}; metric and unit are there, too"
    names = [n for part in ("tables", "rows", "columns") for n in said.get(part, ())]
    cells: dict[Key, dict[str, str]] = {}
    for row in rows:
        other = cells.setdefault(tuple(row[n] for n in names), row)
        if other is not row:
            differ = next((k for k in ("metric", *factors) if row[k] != other[k]), "")
            wrong = (
                f"two values of {id}.csv would stand in one cell: they differ in `{differ}`" if differ else f"{id}.csv has a value twice"
            )
            return "rows", wrong, f"add `{differ}` to the rows or columns" if differ else "leave one of them out"
    return None


def published_rows(paper: Paper, id: str, built: Built) -> list[Compared]:
    """The values of a published table in its order, each with ours if there is one."""
    ours: dict[Any, Compared] = {}
    known: dict[Key, None] = {}
    for row in [*built.comparison.rows, *built.more]:
        if row.published is not None:
            known[tuple(sorted(k for k, _ in row.factors))] = None
            ours.setdefault((row.metric, row.published, _same(row.factors)), row)
    out = []
    for p in paper.published(id):
        found = None
        for names in known:
            if all(n in p for n in names):
                found = found or ours.get((p["metric"], float(p["value"]), _same({n: p[n] for n in names})))
        factors = tuple((k, x) for k, x in p.items() if k not in _BESIDE)
        if found is None:
            out.append(Compared(factors, p["metric"], p.get("unit", ""), float(p["value"]), runs=0, published_text=p["value"]))
        else:
            out.append(Compared(factors, found.metric, found.unit, found.published, found.ours, found.low, found.high, found.runs,
                                found.peer, found.impossible, p["value"]))  # fmt: skip
    return out


def grids(rows: Sequence[Compared], layout: Layout, said: Mapping[str, str]) -> list[Grid]:
    """Arranges the rows as tables of that layout; `said` is `[factors]` of paper.toml."""
    for name in layout.names:
        if name not in ("metric", "unit") and not any(name == k for row in rows for k, _ in row.factors):
            raise PaperError(f"the layout names `{name}`, which no row of the table has")
    orders = {n: _order(rows, n) for n in layout.names}
    parts: dict[Key, list[Compared]] = {}
    for row in rows:
        parts.setdefault(_place(row, layout.tables), []).append(row)
    return [_grid(key, parts[key], layout, orders, said) for key in sorted(parts, key=lambda k: _rank(k, layout.tables, orders))]


def _grid(part: Key, rows: Sequence[Compared], layout: Layout, orders: Mapping[str, Mapping[str, int]], said: Mapping[str, str]) -> Grid:
    cells: _Cells = {}
    for row in rows:
        at = (_place(row, layout.rows), _place(row, layout.columns))
        if at in cells:
            raise PaperError(f"two values stand in one cell of a table: {' '.join(x for key in at for x in key)}")
        cells[at] = row
    down = sorted({at for at, _ in cells}, key=lambda k: _rank(k, layout.rows, orders))
    across = sorted({at for _, at in cells}, key=lambda k: _rank(k, layout.columns, orders))
    of_column = {c: {row.unit for (_, at), row in cells.items() if at == c} for c in across}
    of_row = {r: {row.unit for (at, _), row in cells.items() if at == r} for r in down}
    units = {row.unit for row in rows}
    one = _unit(rows[0].unit) if len(units) == 1 and "unit" not in layout.names else ""
    by_column = len(units) > 1 and all(len(of) == 1 for of in of_column.values())
    column_units = [_unit(next(iter(of_column[c]))) if by_column else "" for c in across]
    row_units = [_unit(next(iter(of_row[r]))) if len(units) > 1 and not by_column and len(of_row[r]) == 1 else "" for r in down]
    heads = _levels(across, layout.columns, said, column_units)
    begun = _levels(down, layout.rows, said, row_units, plain=True)
    lines = []
    for i, r in enumerate(down):
        starts = [{sum(h.span for h in level[:k]): h for k, h in enumerate(level)}.get(i) for level in begun]
        lines.append(Line(starts, [cells.get((r, c)) for c in across]))
    metrics = {row.metric for row in rows}
    title = [_text(n, x, said) for n, x in zip(layout.tables, part, strict=True)]
    if len(metrics) == 1 and "metric" not in layout.names:
        title.append(_spaced(rows[0].metric))
    fixed = [n for n in dict.fromkeys(k for row in rows for k, _ in row.factors) if n not in layout.names]
    title += [_text(n, x, said) for n in fixed if len({_value(row, n) for row in rows}) == 1 and (x := _value(rows[0], n))]
    return Grid(", ".join(x for x in (" · ".join(title), one) if x), [_spaced(n) for n in layout.rows], heads, lines)


def _levels(
    keys: Sequence[Key], names: Key, said: Mapping[str, str], units: Sequence[str], plain: bool = False
) -> list[list[Head]]:  # fmt: skip
    """Headings level by level: keys that agree up to a level share one. If the name is next to them (`plain`), numbers suffice."""
    levels = []
    for level, name in enumerate(names):
        out: list[Head] = []
        for i, key in enumerate(keys):
            last = level == len(names) - 1
            if i and not last and key[: level + 1] == keys[i - 1][: level + 1]:
                out[-1] = Head(out[-1].text, out[-1].span + 1)
                continue
            text = _spaced(key[level]) if plain else _text(name, key[level], said)
            out.append(Head(f"{text}, {units[i]}" if last and units[i] else text))
        levels.append(out)
    return levels


def _order(rows: Sequence[Compared], name: str) -> dict[str, int]:
    """The values of a factor by their first place in the published table."""
    return {x: i for i, x in enumerate(dict.fromkeys(_value(row, name) for row in rows))}


def _rank(key: Key, names: Key, orders: Mapping[str, Mapping[str, int]]) -> list[int]:
    return [orders[n][x] for n, x in zip(names, key, strict=True)]


def _place(row: Compared, names: Key) -> Key:
    return tuple(_value(row, n) for n in names)


def _value(row: Compared, name: str) -> str:
    return {"metric": row.metric, "unit": row.unit}.get(name) or dict(row.factors).get(name, "")


def _spaced(text: str) -> str:
    return text.replace("_", " ")


def _unit(unit: str) -> str:
    return {"percent": "%", "1": ""}.get(unit, unit)


def _text(name: str, value: str, said: Mapping[str, str]) -> str:
    """A factor in a heading; bare numbers say what they count, as `[factors]` in paper.toml has it."""
    if name == "unit":
        return f"in {_unit(value)}"
    return said[name].replace("{}", value) if name in said and value.replace(".", "", 1).isdigit() else _spaced(value)
