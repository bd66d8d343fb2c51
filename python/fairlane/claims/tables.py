"""Tidy tables (factors, metric, value, unit) as checks see them: rows, looking up, drawing replications again."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from ..stats import interval

Factors = tuple[tuple[str, str], ...]


def factors_key(row: Mapping[str, str], names: Sequence[str]) -> Factors:
    """The named factors of a row of a CSV file."""
    return tuple((n, row[n]) for n in names)


class NoData(LookupError):
    """A table, or a row of it, that a check reads does not exist."""


def as_number(text: object) -> float | None:
    """A cell that reads as a number, as one."""
    try:
        return float(str(text))
    except ValueError:
        return None


def _key(cell: object) -> float | str:
    """Equal for cells that are the same factor."""
    number = as_number(cell)
    return str(cell) if number is None else number


def same(cell: object, wanted: object) -> bool:
    """Returns true if a cell equals a wanted factor: as numbers if both are, else as text."""
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
    """A row from replications: mean with its 95 % Student interval (no interval from a single run).

    The interval of a quantity that is never negative ends at zero.
    """
    i = interval(samples)
    mean = float("nan") if i.mean is None else i.mean
    low = i.low if i.low is None or min(samples) < 0 else max(0.0, i.low)
    return Row(tuple((k, str(x)) for k, x in dict(factors).items()), metric, mean, unit, low, i.high, tuple(samples))


class Tables:
    """Named tables as the checks of claims see them. Lookups are remembered, so resampled copies answer quickly.

    `spelt`: other spellings of factors, ("rate", "4Mbit/s") for what stands in the rows as "4000000.0".
    """

    def __init__(
        self,
        rows: Mapping[str, list[dict[str, str]]],
        values: Mapping[str, list[float]] | None = None,
        spelt: Mapping[tuple[str, str], str] | None = None,
    ) -> None:
        self._rows = dict(rows)
        self._spelt = spelt or {}
        self._values = dict(values) if values is not None else {t: [float(r["value"]) for r in rs] for t, rs in rows.items()}
        self._found: dict[tuple[str, frozenset[tuple[str, object]]], list[int]] = {}
        self._places: dict[tuple[str, str], dict[float | str, set[int]]] = {}

    def with_values(self, values: Mapping[str, list[float]]) -> Self:
        """Returns the tables with other values; shares the lookups."""
        other = type(self)(self._rows, values, self._spelt)
        other._found, other._places = self._found, self._places
        return other

    def find(self, table: str, factors: Mapping[str, object]) -> list[int]:
        """Numbers of the matching rows; `NoData` if there are none."""
        key = (table, frozenset(factors.items()))
        found = self._found.get(key)
        if found is None:
            if table not in self._rows:
                raise NoData(table)
            sets = sorted((self._at(table, k).get(_key(self._spelt.get((k, str(w)), w)), set()) for k, w in factors.items()), key=len)
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

    def unit(self, table: str, factors: Mapping[str, object]) -> str:
        """The unit of the matching rows; empty if they differ, or have none."""
        rows = self._rows.get(table, [])
        units = {rows[i].get("unit", "") for i in self.find(table, factors)}
        return units.pop() if len(units) == 1 else ""

    def series(self, table: str, **factors: object) -> list[tuple[float, float]]:
        """The matching (t, value) pairs in order of time."""
        values, rows = self._values.get(table, []), self._rows.get(table, [])
        return sorted((float(rows[i]["t"]), values[i]) for i in self.find(table, factors))


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
