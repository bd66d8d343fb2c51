"""Replications until the intervals are narrow enough: how many more a combination gets, from its results alone.

The sequential procedure of Law, Simulation Modeling and Analysis, section 9.4.1, in batches: all replications of a combination are finished
before more are asked for, so the number depends neither on how many run at once nor on which is finished first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from ..runs import selection
from ..stats import verdict
from .model import Combination, Precision, Selector, StudySpec
from .store import Store


def replication_seeds(given: Sequence[int], n: int) -> list[int]:
    """The first `n` seeds of a combination: those given, then the numbers after the largest of them.

    >>> replication_seeds((3, 1), 4)
    [3, 1, 4, 5]
    """
    seeds = list(given[:n])
    following, known = max(given) + 1, set(given)
    while len(seeds) < n:
        if following >= 2**64:
            following = 0
        if following not in known:
            seeds.append(following)
        following += 1
    return seeds


class Stopping:
    """The decision for all combinations of a study."""

    def __init__(self, spec: StudySpec, precision: Precision) -> None:
        self.precision = precision
        self.confidence = spec.confidence
        self.selectors = [s for s in spec.metrics if not precision.metrics or s.label in precision.metrics]
        self.first = min(max(precision.minimum, len(spec.seeds), 2), max(precision.maximum, len(spec.seeds)))
        """Replications of every combination: the minimum, or all seeds that were given if they are more."""
        self._values: dict[int, list[list[float]]] = {}
        """one row per replication, for each combination."""
        self._found: dict[str, dict[tuple[str, str, str], float]] = {}

    def remember(self, keys: Sequence[str], store: Store) -> None:
        """Reads the values of many runs at once."""
        self._found.update(_numbers(store, keys, self.selectors))

    def more(self, combination: Combination, keys: Sequence[str], store: Store) -> tuple[int, int]:
        """How many replications more than these, all of which have results, and how many are expected to follow those.

        None if the combination has enough of them.
        """
        values = self._values.setdefault(combination.index, [])
        new = keys[len(values) :]
        self.remember([k for k in new if k not in self._found], store)
        names = [selection.names(s, combination) for s in self.selectors]
        for key in new:
            found = self._found.pop(key)
            values.append([selection.formed(s, own, found) for s, own in zip(self.selectors, names, strict=True)])
        n, target = len(keys), 0
        for column in zip(*values, strict=True):
            v = verdict(column, self.precision.relative, self.confidence)
            if not v.enough:
                target = max(target, v.needed or 2 * n)
        if not target or n >= self.precision.maximum:
            return 0, 0
        # Few values tell little about their variance: never more than twice as many, and never so few that a combination needs many rounds.
        target = min(max(target, n + math.ceil(n / 10)), self.precision.maximum)
        total = min(target, 2 * n)
        return total - n, target - total


def _numbers(store: Store, keys: Sequence[str], selectors: Sequence[Selector]) -> dict[str, dict[tuple[str, str, str], float]]:
    """Returns the values that the metrics need, by key, then by table, metric and name."""
    out: dict[str, dict[tuple[str, str, str], float]] = {k: {} for k in keys}
    rows = store.scan(keys).filter(pl.col("time").is_null() & pl.col("metric").is_in([m for s in selectors for m in selection.parts(s)]))
    for key, table, metric, name, value in rows.select("key", "table", "metric", "name", "value").collect().iter_rows():
        out[key][table, metric, name] = value
    return out
