"""Comparison of two branches of one simulation, or of two equal sets of branches, pair by pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .. import stats
from ..base.extras import need
from ..base.format import number, scale
from ..base.metrics import unit, within
from ..errors import suggest
from .tables import values

if TYPE_CHECKING:
    import polars as pl

    from .result import Result

_TABLES = {"flows": "flow", "links": "link", "network": "network"}
_MOST_ROWS = 20


@dataclass(frozen=True)
class BranchDifference:
    """Difference of one metric between two branches: means over the pairs, and second minus first."""

    table: str
    of: str
    """Name of the flow or link; "" for the network."""
    metric: str
    first: stats.Interval
    second: stats.Interval
    difference: stats.Interval
    """Difference over the pairs with a Student t interval; a single pair has no interval."""

    @property
    def unit(self) -> str:
        """Unit of the metric."""
        return unit(self.metric)


class BranchComparison:
    """Comparison of two branches of one state, pair by pair.

    Both branches of a pair have equal pasts and random numbers, so that a difference results from the change, as far as both use the random
    numbers alike. A single pair has no interval; several branches have one.
    """

    def __init__(self, first: Result, second: Result) -> None:
        self.first, self.second = first, second
        self.rows = list(_rows(first, second))

    def value(self, metric: str, *, flow: str | None = None, link: str | None = None) -> BranchDifference:
        """Returns one metric of a flow, of a link or of the whole network."""
        table, of = ("flows", flow) if flow is not None else ("links", link) if link is not None else ("network", "")
        of = of or ""
        named = [r for r in self.rows if r.table == table and r.of == of]
        if not named:
            raise suggest(of, list(dict.fromkeys(r.of for r in self.rows if r.table == table)), _TABLES[table])
        for row in named:
            if row.metric == metric:
                return row
        raise suggest(metric, [r.metric for r in named], f"metric of {table}")

    @property
    def differences(self) -> list[BranchDifference]:
        """Metrics that differ."""
        return [r for r in self.rows if r.difference.mean not in (None, 0.0) or (r.difference.sd or 0.0) > 0.0]

    def frame(self) -> pl.DataFrame:
        """Returns all metrics as a polars frame, a row each (the extra `tables`)."""
        need("tables")
        import polars as pl

        rows = [
            {
                "table": r.table,
                "of": r.of,
                "metric": r.metric,
                "unit": r.unit,
                "first": r.first.mean,
                "second": r.second.mean,
                **{f"difference_{k}" if k != "n" else k: v for k, v in r.difference.as_dict().items()},
            }
            for r in self.rows
        ]
        floats = ("first", "second", "difference_mean", "difference_low", "difference_high", "difference_sd")
        return pl.DataFrame(rows, schema_overrides=dict.fromkeys(floats, pl.Float64), infer_schema_length=None)

    def document(self) -> dict[str, Any]:
        """Returns the comparison as JSON data."""
        return {
            "first": self.first.fingerprints,
            "second": self.second.fingerprints,
            "differences": [
                {
                    "table": r.table,
                    "of": r.of,
                    "metric": r.metric,
                    "unit": r.unit,
                    "first": r.first.as_dict(),
                    "second": r.second.as_dict(),
                    "difference": r.difference.as_dict(),
                }
                for r in self.rows
            ],
        }

    def __repr__(self) -> str:
        n, apart = len(self.first.info), self.differences
        if not apart:
            return f"BranchComparison({n} pair{'s' * (n != 1)}, no differences)"
        # Intervals that exclude zero first, then by size.
        shown = sorted(apart, key=lambda r: (not _clear(r), r.table != "links", -_share(r)))[:_MOST_ROWS]
        lines = [f"BranchComparison({n} pair{'s' * (n != 1)}, {len(apart)} of {len(self.rows)} metrics differ)"]
        lines += [f"  {r.of or 'network'}: {r.metric} {_difference(r)}" for r in shown]
        return "\n".join([*lines, f"  {len(apart) - len(shown)} more metrics differ: see .frame()"] if len(apart) > len(shown) else lines)


def _rows(first: Result, second: Result) -> Iterator[BranchDifference]:
    for table, key in _TABLES.items():
        for (labels, ours), (_, theirs) in zip(values(first, table), values(second, table), strict=True):
            for metric, xs in ours.items():
                ys = theirs.get(metric)
                if ys is not None:
                    yield BranchDifference(
                        table,
                        labels.get(key, ""),
                        metric,
                        stats.interval(xs, within=within(metric), unit=unit(metric)),
                        stats.interval(ys, within=within(metric), unit=unit(metric)),
                        _interval(_differences(xs, ys), metric),
                    )


def _differences(xs: Sequence[float | None], ys: Sequence[float | None]) -> list[float | None]:
    return [None if x is None or y is None else y - x for x, y in zip(xs, ys, strict=True)]


def _interval(differences: list[float | None], metric: str) -> stats.Interval:
    """Returns the interval of a difference; that of shares ends at -1 and 1."""
    iv = stats.interval(differences, unit=unit(metric))
    least, most = within(metric)
    if iv.low is None or iv.high is None:
        return iv
    return replace(iv, low=max(iv.low, least - most), high=min(iv.high, most - least))


def _clear(r: BranchDifference) -> bool:
    low, high = r.difference.low, r.difference.high
    return low is not None and high is not None and (low > 0.0 or high < 0.0)


def _share(r: BranchDifference) -> float:
    return abs(r.difference.mean or 0.0) / (abs(r.first.mean or 0.0) or 1.0)


def _difference(r: BranchDifference) -> str:
    factor, name = scale(r.unit, max(abs(r.first.mean or 0.0), abs(r.second.mean or 0.0)))
    d = r.difference.times(factor)
    half = "" if d.half_width is None else f" ± {number(d.half_width, 2)}"
    a, b = (number(None if i.mean is None else factor * i.mean) for i in (r.first, r.second))
    sign = "+" if (d.mean or 0.0) >= 0 else ""
    return f"{a} -> {b} {name} ({sign}{number(d.mean, 3)}{half})".replace("  ", " ")
