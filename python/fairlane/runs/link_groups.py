"""Groups of links whose names differ in numbers only: the document of a result of groups has a few rows for thousands of access links."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .tables import columns, metrics_of

if TYPE_CHECKING:
    from .data import ResultData

FEW = 8
"""Most links of one name pattern with a row each."""
HOW = ("mean", "min", "max")
"""Aggregates of larger groups, a row each."""
_NUMBER = re.compile(r"[0-9]+")

Row = tuple[dict[str, Any], dict[str, list[Any]]]


def name_pattern(name: str) -> str:
    """Returns the name with each number replaced, so that links of a group have the same pattern.

    >>> name_pattern("s17.reverse"), name_pattern("n3-n4"), name_pattern("bottleneck")
    ('s{i}.reverse', 'n{i}-n{i}', 'bottleneck')
    """
    return _NUMBER.sub("{i}", name)


def rows(result: ResultData) -> Iterator[Row]:
    """Yields labels and the values of each metric in all runs; a group of more than `FEW` links has a row per aggregate in `HOW`."""
    runs = _runs(result)
    if not runs:
        return
    names, begins, ends = ([*runs[0][c]] for c in ("link", "from", "to"))
    metrics = metrics_of(result, "links")
    places: dict[tuple[str, str, str], list[int]] = {}
    for i, way in enumerate(zip(names, begins, ends, strict=True)):
        places.setdefault((name_pattern(way[0]), name_pattern(way[1]), name_pattern(way[2])), []).append(i)
    # A group is listed at the position of its first link.
    parts = [[i] for own in places.values() if len(own) <= FEW for i in own] + [own for own in places.values() if len(own) > FEW]
    for own in sorted(parts):
        if len(own) == 1:
            (i,) = own
            yield {"link": names[i], "from": begins[i], "to": ends[i]}, {m: [run[m][i] for run in runs] for m in metrics}
            continue
        found = {m: [_formed(run[m], own) for run in runs] for m in metrics}
        labels = {"link": name_pattern(names[own[0]]), "from": _together(begins, own), "to": _together(ends, own), "links": len(own)}
        for k, how in enumerate(HOW):
            yield labels | {"aggregate": how}, {m: [values[k] for values in per] for m, per in found.items()}


def _runs(result: ResultData) -> list[dict[str, Sequence[Any]]]:
    """Returns the columns run by run; a folder has all runs in one column. Every run has the same links."""
    tables = [c for c in columns(result, "links") if c]
    if len(tables) == len(result.seeds):
        return [dict(table) for table in tables]
    size = len(tables[0]["link"]) // len(result.seeds) if tables else 0
    return [{c: v[k * size : (k + 1) * size] for c, v in table.items()} for table in tables for k in range(len(result.seeds))]


def _together(names: Sequence[str], own: Sequence[int]) -> str:
    first = names[own[0]]
    return first if all(names[i] == first for i in own) else name_pattern(first)


def _formed(values: Sequence[Any], own: Sequence[int]) -> tuple[float, float, float]:
    kept = [x for i in own if (x := values[i]) is not None and math.isfinite(x)]
    return (math.fsum(kept) / len(kept), min(kept), max(kept)) if kept else (math.nan, math.nan, math.nan)
