"""A study on a terminal: head line, means with intervals, failures, warnings, files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.format import duration
from ..stats import Interval
from . import words

if TYPE_CHECKING:
    from .result import StudyResult

MAX_ROWS = 24
"""Points shown; the files have all."""
MAX_METRICS = 8
MAX_REASONS = 8
"""Kinds of failures shown."""


def report(result: StudyResult, files: Sequence[Path]) -> list[Any]:
    """What to print when a study is done."""
    from rich.text import Text

    parts: list[Any] = [Text(_head(result))]
    if result._done.height:
        parts += [Text(""), *_table(result)]
    failures = _failures(result)
    if failures:
        parts += [Text(""), *(Text(line) for line in failures)]
    if result.warnings:
        parts += [Text(""), *(Text(f"warning: {w}") for w in result.warnings)]
    if files:
        parts += [Text(""), Text(_files(result, files))]
    return parts


def _files(result: StudyResult, files: Sequence[Path]) -> str:
    """Where everything is; pictures are counted."""
    top = [f.name for f in files if f.parent == result.folder]
    pictures = len(files) - len(top)
    return f"{result.folder}: {', '.join([*top, *([f'plots/ ({pictures})'] if pictures else [])])}"


def _head(result: StudyResult) -> str:
    states = dict(result.index.group_by("status").len().iter_rows())
    done, failed = states.get("done", 0), states.get("failed", 0)
    said = [words.count(done, "cell") + (f" in {duration(result.seconds)}" if result.seconds is not None else "")]
    if result.tally is not None and result.tally.reused:
        said.append(f"{result.tally.reused} of them kept from before")
    if failed:
        said.append(f"{failed} failed")
    seeds = sorted(result.index["seed"].unique().to_list())
    if len(seeds) > 1:
        said.append(f"seeds {words.seeds(seeds)}, means with {100 * result.spec.confidence:g} % intervals")
    else:
        said.append(f"seed {words.seeds(seeds)}")
    return f"{result.spec.name}: {words.count(len(result.points), 'point')}, {', '.join(said)}"


def rows(result: StudyResult, most_metrics: int = MAX_METRICS) -> tuple[list[str], list[list[str]]]:
    """Headings and rows of the means: one row a point with its factors and metrics, and its number of seeds if they differ."""
    shown = result.metrics[:most_metrics]
    short = words.short(result.metrics)
    table: dict[int, dict[str, Interval]] = {}
    for r in result._summary.iter_rows(named=True):
        table.setdefault(r["point"], {})[r["metric"]] = Interval(r["mean"], r["low"], r["high"], r["sd"], r["n"])
    counts = dict(result._cells.group_by("point").len().iter_rows())
    uneven = len(set(counts.values())) > 1
    heads = [*result.factors, *(short[m] for m in shown), *(["seeds"] if uneven else [])]
    out = []
    for point, per in table.items():
        levels = [words.level(f, result.points[point].labels[f.name]) for f in result.spec.factors]
        out.append([*levels, *(words.cell(result, m, per[m]) for m in shown), *([str(counts[point])] if uneven else [])])
    return heads, out


def _table(result: StudyResult) -> list[Any]:
    from rich.table import Table
    from rich.text import Text

    heads, body = rows(result)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, head in enumerate(heads):
        left = i < len(result.factors)
        table.add_column(head, justify="left" if left else "right", no_wrap=left)
    for row in body[:MAX_ROWS]:
        table.add_row(*(Text(x) for x in row))
    rest = []
    if len(body) > MAX_ROWS:
        rest.append(words.count(len(body) - MAX_ROWS, "more point"))
    if len(result.metrics) > MAX_METRICS:
        rest.append(words.count(len(result.metrics) - MAX_METRICS, "more metric"))
    return [table, *([Text(f"and {' and '.join(rest)} (summary.csv has all)", style="dim")] if rest else [])]


def reasons(result: StudyResult) -> list[tuple[str, str, list[str]]]:
    """Failed cells by their reason, the most frequent first: kind, text of one of them, the cells.

    Texts that differ in numbers only are one reason.
    """
    found: dict[tuple[str, str], tuple[str, list[str]]] = {}
    for r in result.failures.iter_rows(named=True):
        at = ", ".join([*(f"{f.name} {words.level(f, r[f.name])}" for f in result.spec.factors), f"seed {r['seed']}"])
        alike = words.alike(r["error"])
        found.setdefault((r["kind"], alike), (r["error"], []))[1].append(at)
    return sorted(((kind, error, where) for (kind, _), (error, where) in found.items()), key=lambda x: -len(x[2]))


def _failures(result: StudyResult) -> list[str]:
    """Failed cells in lines."""
    found = reasons(result)
    if not found:
        return []
    lines = [f"{words.count(sum(len(where) for _, _, where in found), 'cell')} failed:"]
    for kind, error, where in found[:MAX_REASONS]:
        first, *more = error.removeprefix("error: ").rstrip().splitlines() or [""]
        lines.append(f"  {len(where)} x {kind + ': ' if kind else ''}{first}")
        lines += [f"    {line}" for line in more]
        lines.append(f"    at {'; '.join(where[:2])}{f' and {len(where) - 2} more' if len(where) > 2 else ''}")
    if len(found) > MAX_REASONS:
        lines.append(f"  and {words.count(len(found) - MAX_REASONS, 'other reason')} (index.parquet has all)")
    return lines
