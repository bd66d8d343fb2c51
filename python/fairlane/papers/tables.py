"""Tidy tables (factors, metric, value, unit): reading, writing, looking up, comparing."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..base.csv_text import inert
from ..base.files import read_input
from ..errors import PaperError
from ..stats import interval

Factors = tuple[tuple[str, str], ...]

NEAR = 0.15
"""Relative difference up to which our value counts as near the printed one; so does one whose interval has it."""
FEWEST_RANKED = 5
"""Pairs from which on an order is compared: of three values, every third order is a perfect one, or its reverse."""


def factors_key(row: Mapping[str, str], names: Sequence[str]) -> Factors:
    """The named factors of a row of a CSV file."""
    return tuple((n, row[n]) for n in names)


class NoData(LookupError):
    """A table, or a row of it, that a check reads does not exist."""


def _number(text: object) -> float | None:
    try:
        return float(str(text))
    except ValueError:
        return None


def _key(cell: object) -> float | str:
    """Equal for cells that are the same factor."""
    number = _number(cell)
    return str(cell) if number is None else number


def same(cell: object, wanted: object) -> bool:
    """Whether a cell equals a wanted factor: as numbers if both are, else as text."""
    return _key(cell) == _key(wanted)


@dataclass(frozen=True)
class Row:
    """One value of a table: factors, metric, unit, the mean and its interval; `samples` are the replications it comes from."""

    factors: Factors
    metric: str
    value: float
    unit: str
    low: float | None = None
    high: float | None = None
    samples: tuple[float, ...] = ()

    def cells(self) -> dict[str, str]:
        """The row as a tidy CSV file has it."""
        return {**dict(self.factors), "metric": self.metric, "value": repr(self.value), "unit": self.unit}


def row_of(factors: Mapping[str, object] | Factors, metric: str, samples: Sequence[float], unit: str) -> Row:
    """A row from replications: mean with its 95 % Student interval (no interval from a single run)."""
    i = interval(samples)
    mean = float("nan") if i.mean is None else i.mean
    return Row(tuple((k, str(x)) for k, x in dict(factors).items()), metric, mean, unit, i.low, i.high, tuple(samples))


class Tables:
    """Named tables as the checks of claims see them. Lookups are remembered, so resampled copies answer quickly."""

    def __init__(self, rows: Mapping[str, list[dict[str, str]]], values: Mapping[str, list[float]] | None = None) -> None:
        self._rows = dict(rows)
        self._values = dict(values) if values is not None else {t: [float(r["value"]) for r in rs] for t, rs in rows.items()}
        self._found: dict[tuple[str, frozenset[tuple[str, object]]], list[int]] = {}
        self._places: dict[tuple[str, str], dict[float | str, set[int]]] = {}

    def with_values(self, values: Mapping[str, list[float]]) -> Tables:
        """The same tables with other values; shares what was looked up."""
        other = Tables(self._rows, values)
        other._found, other._places = self._found, self._places
        return other

    def find(self, table: str, factors: Mapping[str, object]) -> list[int]:
        """Numbers of the matching rows; `NoData` if there are none."""
        key = (table, frozenset(factors.items()))
        found = self._found.get(key)
        if found is None:
            if table not in self._rows:
                raise NoData(table)
            sets = sorted((self._at(table, k).get(_key(w), set()) for k, w in factors.items()), key=len)
            found = sorted(set.intersection(*sets)) if sets else list(range(len(self._rows[table])))
            self._found[key] = found
        if not found:
            raise NoData(f"{table} {dict(factors)}")
        return found

    def _at(self, table: str, factor: str) -> dict[float | str, set[int]]:
        """Where each value of a factor stands in a table."""
        places = self._places.get((table, factor))
        if places is None:
            places = self._places[table, factor] = {}
            for i, r in enumerate(self._rows[table]):
                if factor in r:
                    places.setdefault(_key(r[factor]), set()).add(i)
        return places

    def vs(self, table: str, **factors: object) -> list[float]:
        """All matching values, in the order of the table."""
        values = self._values.get(table, [])
        return [values[i] for i in self.find(table, factors)]

    def v(self, table: str, **factors: object) -> float:
        """The one matching value."""
        values = self.vs(table, **factors)
        if len(values) != 1:
            raise ValueError(f"{table} {factors}: {len(values)} rows, one expected")
        return values[0]

    def series(self, table: str, **factors: object) -> list[tuple[float, float]]:
        """The matching (t, value) pairs in order of time."""
        values, rows = self._values.get(table, []), self._rows.get(table, [])
        return sorted((float(rows[i]["t"]), values[i]) for i in self.find(table, factors))


def read_folder(folder: Path) -> Tables:
    """All tidy CSV tables of a folder, each under its file name."""
    tables = {}
    for path in sorted(folder.glob("*.csv")):
        rows = read_csv(path)
        if rows and all(_number(r.get("value")) is not None for r in rows):
            tables[path.stem] = rows
    return Tables(tables)


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file with a header."""
    try:
        return list(csv.DictReader(io.StringIO(read_input(path).decode("utf-8"), newline="")))
    except UnicodeDecodeError as e:
        raise PaperError(f"{path}: not UTF-8 text: {e.reason}") from e


def tables_of(rows: Mapping[str, Sequence[Row]]) -> Tables:
    """Tables whose values are the means of the rows."""
    return Tables({t: [r.cells() for r in rs] for t, rs in rows.items()}, {t: [r.value for r in rs] for t, rs in rows.items()})


def resampled(rows: Mapping[str, Sequence[Row]], times: int, seed: int = 1) -> list[Tables]:
    """Bootstrap: in each copy every cell is the mean of its replications drawn again with replacement.

    All metrics and tables of one cell (equal factors) use the same draw, because they come from the same runs.
    """
    if not any(len(r.samples) > 1 for rs in rows.values() for r in rs):
        return []
    base, rng, copies = tables_of(rows), random.Random(seed), []
    keys: dict[tuple[frozenset[tuple[str, str]], int], int] = {}
    groups: dict[tuple[str, int], tuple[list[int], list[int], list[tuple[float, ...]]]] = {}
    for table, rs in rows.items():
        for i, r in enumerate(rs):
            if (n := len(r.samples)) > 1:
                places, cells, samples = groups.setdefault((table, n), ([], [], []))
                places.append(i)
                cells.append(keys.setdefault((frozenset(r.factors), n), len(keys)))
                samples.append(r.samples)
    stacks = [(t, np.array(p), np.array(c), np.array(s), n) for (t, n), (p, c, s) in groups.items()]
    means = {table: np.array([r.value for r in rs]) for table, rs in rows.items()}
    for _ in range(times):
        draws = [[rng.randrange(n) for _ in range(n)] for _, n in keys]
        values = {table: x.copy() for table, x in means.items()}
        for table, at, of, xs, n in stacks:
            chosen = np.array([draws[k] for k in of])
            values[table][at] = np.take_along_axis(xs, chosen, axis=1).sum(axis=1) / n
        copies.append(base.with_values({table: x.tolist() for table, x in values.items()}))
    return copies


def csv_of_rows(rows: Sequence[Row]) -> bytes:
    """A tidy table: factors..., metric, value, unit, low, high, runs."""
    names = list(dict.fromkeys(k for r in rows for k, _ in r.factors))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*map(inert, names), "metric", "value", "unit", "low", "high", "runs"])
    for r in rows:
        cells = dict(r.factors)
        bounds = ["" if x is None else f"{x:.10g}" for x in (r.low, r.high)]
        texts = [inert(x) for x in (*(cells.get(k, "") for k in names), r.metric)]
        writer.writerow([*texts, f"{r.value:.10g}", inert(r.unit), *bounds, max(1, len(r.samples))])
    return out.getvalue().encode()


@dataclass(frozen=True)
class Compared:
    """One line of a side-by-side table."""

    factors: Factors
    metric: str
    unit: str
    published: float | None = None
    ours: float | None = None
    low: float | None = None
    high: float | None = None
    runs: int = 1
    peer: float | None = None
    """The same quantity from another simulator, where it is known."""
    impossible: int | None = None
    """Number of the contradiction that makes the printed value impossible or suspect."""
    printed: str = ""
    """The value as printed, with its digits."""

    @property
    def difference(self) -> float | None:
        """Relative difference (ours - published) / published."""
        if self.ours is None or self.published is None:
            return None
        if self.published == 0:
            return 0.0 if self.ours == 0 else None
        return (self.ours - self.published) / self.published

    @property
    def near(self) -> bool | None:
        """Whether our value is near the printed one; None if there is nothing to compare or the printed value is suspect."""
        if self.ours is None or self.published is None or self.impossible:
            return None
        inside = self.low is not None and self.high is not None and self.low <= self.published <= self.high
        return inside or (self.difference is not None and abs(self.difference) <= NEAR)

    def to_json(self) -> dict[str, Any]:
        """The row of the JSON document."""
        factors = {k: (int(float(x)) if (_number(x) or 0.5) == int(_number(x) or 0) else x) for k, x in self.factors}
        return {
            "factors": factors, "metric": self.metric, "unit": self.unit, "published": self.published, "ours": self.ours, "low": self.low,
            "high": self.high, "runs": self.runs, "difference": self.difference, "ns2": self.peer, "contradiction": self.impossible,
        }  # fmt: skip


@dataclass
class Comparison:
    """A side-by-side table and the agreement of its order."""

    rows: list[Compared] = field(default_factory=list)

    def rank_correlation(self) -> float | None:
        """Spearman's rank correlation of published and our values; `None` with too few pairs (`FEWEST_RANKED`) or several metrics."""
        return next(iter(self.rank_correlations().values()), None) if len({r.metric for r in self.rows}) == 1 else None

    def rank_correlations(self) -> dict[str, float]:
        """That of each metric that has one: values of different metrics have no common order."""
        pairs: dict[str, list[tuple[float, float]]] = {}
        for r in self.rows:
            if r.published is not None and r.ours is not None:
                pairs.setdefault(r.metric, []).append((r.published, r.ours))
        many = {m: ps for m, ps in pairs.items() if len(ps) >= FEWEST_RANKED}
        found = {m: spearman([a for a, _ in ps], [b for _, b in ps]) for m, ps in many.items()}
        return {m: rho for m, rho in found.items() if rho is not None}


def compare(
    ours: Sequence[Row],
    published: Sequence[Mapping[str, str]],
    peer: Sequence[Mapping[str, str]] = (),
    impossible: Mapping[Factors, int] | None = None,
) -> Comparison:
    """Puts our rows beside the printed ones with the same factors and metric, in the order of our table, then printed rows we lack."""
    impossible = impossible or {}
    used: set[int] = set()
    out = Comparison()
    for r in ours:
        i = _match(published, r.factors, r.metric)
        j = _match(peer, r.factors, r.metric)
        if i is not None:
            used.add(i)
        printed = published[i]["value"] if i is not None else ""
        out.rows.append(
            Compared(
                r.factors,
                r.metric,
                r.unit,
                float(printed) if printed else None,
                r.value,
                r.low,
                r.high,
                max(1, len(r.samples)),
                float(peer[j]["value"]) if j is not None else None,
                impossible.get(r.factors),
                printed,
            )
        )
    for i, p in enumerate(published):
        if i not in used:
            factors = tuple((k, x) for k, x in p.items() if k not in ("metric", "value", "unit", "printed", "source"))
            out.rows.append(
                Compared(factors, p["metric"], p["unit"], float(p["value"]), runs=0, impossible=impossible.get(factors), printed=p["value"])
            )
    return out


def _match(rows: Sequence[Mapping[str, str]], factors: Factors, metric: str) -> int | None:
    for i, r in enumerate(rows):
        if r.get("metric") == metric and all(k in r and same(r[k], x) for k, x in factors):
            return i
    return None


def _ranks(xs: Sequence[float]) -> list[float]:
    """Ranks from 1, ties share their mean."""
    order = sorted(range(len(xs)), key=xs.__getitem__)
    ranks = [0.0] * len(xs)
    i = 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and xs[order[j + 1]] == xs[order[i]]:
            j += 1
        for k in order[i : j + 1]:
            ranks[k] = (i + j) / 2 + 1
        i = j + 1
    return ranks


def spearman(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Rank correlation with mean ranks for ties; `None` for fewer than three pairs or a constant side."""
    if len(xs) < 3:
        return None
    a, b = _ranks(xs), _ranks(ys)
    m = (len(a) + 1) / 2
    saa, sbb = sum((x - m) ** 2 for x in a), sum((y - m) ** 2 for y in b)
    if saa == 0 or sbb == 0:
        return None
    return float(sum((x - m) * (y - m) for x, y in zip(a, b, strict=True)) / (saa * sbb) ** 0.5)
