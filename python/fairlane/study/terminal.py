"""A study on a terminal: head line, means with intervals, failures, warnings, files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.format import duration
from ..base.seeds import seed_words
from ..look.sheet import Sheet, Words
from ..stats import Interval
from . import claim_views, labels

if TYPE_CHECKING:
    from .analysis import StudyAnalysis

MAX_ROWS = 24
"""Combinations shown; the files have all."""
MAX_METRICS = 8
MAX_REASONS = 8
"""Kinds of failures shown."""


def report(result: StudyAnalysis, files: Sequence[Path]) -> list[Any]:
    """Returns the output for a finished study."""
    parts: list[Any] = [Words(head(result))]
    if result._done.height:
        parts += claim_views.report(result)
        parts += ["", sheet(result)] if result.spec.settings is None else []
    failures = _failures(result)
    if failures:
        parts += ["", *(Words(line) for line in failures)]
    if result.warnings:
        parts += ["", *(Words(f"warning: {w}") for w in result.warnings)]
    if files:
        parts += ["", Words(_files(result, files))]
    return parts


def _files(result: StudyAnalysis, files: Sequence[Path]) -> str:
    """Where everything is; pictures are counted."""
    top = [f.name for f in files if f.parent == result.folder]
    pictures = len(files) - len(top)
    return f"{result.folder}: {', '.join([*top, *([f'plots/ ({pictures})'] if pictures else [])])}"


def head(result: StudyAnalysis) -> str:
    """Returns the number of combinations and runs, and the seeds."""
    states = dict(result.index.group_by("status").len().iter_rows())
    done, failed = states.get("done", 0), states.get("failed", 0)
    parts = [labels.count(done, "run") + " finished" + (f" in {duration(result.seconds)}" if result.seconds is not None else "")]
    if result.tally is not None and result.tally.reused:
        parts.append(f"{result.tally.reused} of them from an earlier call")
    if failed:
        parts.append(f"{failed} failed")
    seeds = sorted(result.index["seed"].unique().to_list())
    if len(seeds) > 1:
        parts.append(f"seeds {seed_words(seeds)}, means with {100 * result.spec.confidence:g} % intervals")
    else:
        parts.append(f"seed {seed_words(seeds)}")
    settings = "" if result.spec.settings is None else f"{labels.count(len(result.spec.settings.values), 'setting')}, "
    return f"{result.spec.name}: {settings}{labels.count(len(result.combinations), 'combination')}, {', '.join(parts)}"


def rows(result: StudyAnalysis, most_metrics: int = MAX_METRICS, most: int | None = None) -> tuple[list[str], list[list[str]]]:
    """Headings and rows of the means: one row per combination with its factors and metrics, and its number of seeds if they differ.

    The rows of combinations beyond the first `most` are empty: they are not shown, and the files have all.
    """
    shown = result.metrics[:most_metrics]
    short = labels.short(result.metrics)
    table: dict[int, dict[str, Interval]] = {}
    for r in result._summary.iter_rows(named=True):
        table.setdefault(r["combination"], {})[r["metric"]] = Interval(r["mean"], r["low"], r["high"], r["sd"], r["n"])
    counts = dict(result._runs.group_by("combination").len().iter_rows())
    uneven = len(set(counts.values())) > 1
    heads = [*result.factors, *(short[m] for m in shown), *(["seeds"] if uneven else [])]
    out: list[list[str]] = []
    for combination, per in table.items():
        if most is not None and len(out) >= most:
            out += [[]] * (len(table) - len(out))
            break
        levels = [labels.level(f, result.combinations[combination].labels[f.name]) for f in result.spec.factors]
        out.append([*levels, *(labels.cell(result, m, per[m]) for m in shown), *([str(counts[combination])] if uneven else [])])
    return heads, out


def sheet(result: StudyAnalysis) -> Sheet:
    """The means of the first combinations and metrics, and what else there is."""
    heads, body = rows(result, most=MAX_ROWS)
    rest = []
    if len(body) > MAX_ROWS:
        rest.append(labels.count(len(body) - MAX_ROWS, "more combination"))
    if len(result.metrics) > MAX_METRICS:
        rest.append(labels.count(len(result.metrics) - MAX_METRICS, "more metric"))
    note = f"and {' and '.join(rest)} (summary.csv has all)" if rest else ""
    return Sheet(heads, body[:MAX_ROWS], note=note, labels=len(result.factors))


def reasons(result: StudyAnalysis) -> list[tuple[str, str, list[str]]]:
    """Failed runs by their reason, the most frequent first: kind, text of one of them, the runs.

    Texts that differ in numbers only are one reason.
    """
    found: dict[tuple[str, str], tuple[str, list[str]]] = {}
    for r in result.failures.iter_rows(named=True):
        at = ", ".join([*(f"{f.name} {labels.level(f, r[f.name])}" for f in result.spec.factors), f"seed {r['seed']}"])
        alike = labels.alike(r["error"])
        found.setdefault((r["kind"], alike), (r["error"], []))[1].append(at)
    return sorted(((kind, error, where) for (kind, _), (error, where) in found.items()), key=lambda x: -len(x[2]))


def _failures(result: StudyAnalysis) -> list[str]:
    """Failed runs in lines."""
    found = reasons(result)
    if not found:
        return []
    lines = [f"{labels.count(sum(len(where) for _, _, where in found), 'run')} failed:"]
    for kind, error, where in found[:MAX_REASONS]:
        first, *more = error.removeprefix("error: ").rstrip().splitlines() or [""]
        lines.append(f"  {len(where)} x {kind + ': ' if kind else ''}{first}")
        lines += [f"    {line}" for line in more]
        lines.append(f"    at {'; '.join(where[:2])}{f' and {len(where) - 2} more' if len(where) > 2 else ''}")
    if len(found) > MAX_REASONS:
        lines.append(f"  and {labels.count(len(found) - MAX_REASONS, 'other reason')} (index.parquet has all)")
    return lines
