"""Tidy tables (factors, metric, value, unit): reading, writing, looking up, comparing."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..base.csv_text import CsvError, inert, rows_in
from ..base.files import read_input
from ..claims import Factors, Row, Tables, as_number, same
from ..errors import PaperError

NEAR = 0.15
"""Relative difference up to which our value counts as near the published one."""
FEWEST_RANKED = 5
"""Pairs from which on an order is compared: of three values, every third order is a perfect one, or its reverse."""


RECORDS = (
    "settings.csv",
    "attainable.csv",
    "boundaries.csv",
    "full_reruns.csv",
    "full_rerun_settings.csv",
    "emulated.csv",
    "search.csv",
    "in_paper_setup.csv",
)
"""CSV files that fairlane writes into the folder of a study; each carries its own checksum."""


def read_folder(folder: Path) -> Tables:
    """All tidy CSV tables of a folder, each under its file name."""
    tables = {}
    for path in sorted(p for p in folder.glob("*.csv") if p.name not in RECORDS):
        rows = read_csv(path)
        if rows and all(as_number(r.get("value")) is not None for r in rows):
            tables[path.stem] = rows
    return Tables(tables)


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file with a header."""
    return rows_of(path, read_input(path))


def rows_of(path: Path, data: bytes) -> list[dict[str, str]]:
    """The rows of its bytes."""
    return [row for _, row in lines_of(path, data)]


def lines_of(path: Path, data: bytes) -> list[tuple[int, dict[str, str]]]:
    """The rows of its bytes with the lines where they begin; `PaperError` with file and line of what is wrong."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = data[: e.start].count(b"\n") + 1
        raise PaperError(f"{path}:{line}: this is not UTF-8, so it is not a text file") from None
    try:
        rows = rows_in(text)
        _, head = next(rows, (1, []))
        twice = next((name for name, n in Counter(head).items() if n > 1), None)
        if twice is not None:
            raise PaperError(f"{path}:1: two columns are called {_short(twice)}")
        out = []
        for line, row in rows:
            if len(row) != len(head):
                raise PaperError(f"{path}:{line}: {len(row)} cells for {len(head)} columns ({_short(', '.join(head))})")
            out.append((line, dict(zip(head, row, strict=True))))
    except CsvError as e:
        raise PaperError(f"{path}:{e.line}: {e}") from None
    return out


def check_table(path: Path) -> None:
    """Raises what is wrong with a CSV file of a study; a table of published values has no infinite number, and none that is none."""
    for line, row in lines_of(path, read_input(path)):
        value = as_number(row.get("value")) if "metric" in row else None
        if value is not None and not math.isfinite(value):
            raise PaperError(
                f"{path}:{line}: the value of {_short(row['metric'])} is {row['value']}; leave the row out where nothing is published"
            )


def _short(text: str) -> str:
    return repr(text) if len(text) <= 80 else f"{text[:60]!r}... ({len(text)} characters)"


def number_in(path: Path, text: str | None) -> float | None:
    """A cell of a file with numbers; None of an empty one."""
    try:
        return float(text) if text else None
    except ValueError:
        raise PaperError(f"{path}: {_short(text or '')} is not a number") from None


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
    """Value from another simulator, where it is known."""
    impossible: int | None = None
    """Number of the contradiction that makes the published value impossible or suspect."""
    published_text: str = ""
    """The published value with its digits."""

    @property
    def difference(self) -> float | None:
        """Relative difference (ours - published) / published."""
        if self.ours is None or self.published is None:
            return None
        if self.published == 0:
            return 0.0 if self.ours == 0 else None
        return (self.ours - self.published) / self.published

    @property
    def close(self) -> bool:
        """True if our value is within `NEAR` of the published one. Chance does not count: fewer runs would bring more values near."""
        return self.difference is not None and abs(self.difference) <= NEAR

    @property
    def by_chance(self) -> bool:
        """True if the published value lies in our interval, so that chance alone explains the difference."""
        return self.published is not None and self.low is not None and self.high is not None and self.low <= self.published <= self.high

    @property
    def near(self) -> bool | None:
        """True if our value is near; None if there is nothing to compare or the published value is suspect."""
        return None if self.ours is None or self.published is None or self.impossible else self.close

    def to_json(self) -> dict[str, Any]:
        """The row of the JSON document."""
        factors = {k: (int(float(x)) if (as_number(x) or 0.5) == int(as_number(x) or 0) else x) for k, x in self.factors}
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
        """Returns the rank correlation of each metric that has one: values of different metrics have no common order."""
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
    """Pairs our rows with the published ones of the same factors and metric, in the order of our table, then published rows we lack."""
    impossible = impossible or {}
    used: set[int] = set()
    out = Comparison()
    for r in ours:
        i = _match(published, r.factors, r.metric)
        j = _match(peer, r.factors, r.metric)
        if i is not None:
            used.add(i)
        text = published[i]["value"] if i is not None else ""
        out.rows.append(
            Compared(
                r.factors,
                r.metric,
                r.unit,
                float(text) if text else None,
                r.value,
                r.low,
                r.high,
                max(1, len(r.samples)),
                float(peer[j]["value"]) if j is not None else None,
                impossible.get(r.factors),
                text,
            )
        )
    for i, p in enumerate(published):
        if i not in used:
            factors = tuple((k, x) for k, x in p.items() if k not in ("metric", "value", "unit", "published", "source"))
            out.rows.append(
                Compared(
                    factors,
                    p["metric"],
                    p["unit"],
                    float(p["value"]),
                    runs=0,
                    impossible=impossible.get(factors),
                    published_text=p["value"],
                )
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
