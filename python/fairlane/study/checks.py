"""Warnings to read before trusting the numbers of a study: those of its runs, and those that only all runs together show."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from ..base.format import number
from . import labels

if TYPE_CHECKING:
    from .tables import StudyTables

_MOST = 4
"""Combinations named in a warning; the others are counted."""


def warnings(result: StudyTables) -> list[str]:
    """See `StudyResult.warnings`."""
    return [*_of_settings(result), *_of_runs(result), *_without_chance(result), *_too_wide(result), *_without_values(result)]


def _of_settings(result: StudyTables) -> list[str]:
    settings = result.spec.settings
    if settings is None or len(settings.values) >= settings.n:
        return []
    return [f"there are only {len(settings.values)} different settings, {settings.n} were asked for: all of them were taken"]


def _at(result: StudyTables, numbers: Sequence[int]) -> str:
    """Where a warning holds: nothing if everywhere, the levels of one factor if they tell, else some of the combinations."""
    chosen = set(numbers)
    if len(chosen) == len(result.combinations):
        return ""
    for f in result.spec.factors:
        levels = [x.label for x in f.levels if any(result.combinations[p].labels[f.name] == x.label for p in chosen)]
        if len(levels) <= _MOST and chosen == {p.index for p in result.combinations if p.labels[f.name] in levels}:
            return f" (where {f.name} is {' or '.join(labels.level(f, x) for x in levels)})"
    named = "; ".join(labels.combination(result.spec, result.combinations[p]) for p in numbers[:_MOST])
    more = f" and {len(chosen) - _MOST} more" if len(chosen) > _MOST else ""
    return f" ({len(chosen)} of {len(result.combinations)} combinations: {named}{more})"


def _of_runs(result: StudyTables) -> list[str]:
    done = result._done
    if done.is_empty():
        return []
    messages = (
        result._store.scan(done["key"].unique(maintain_order=True).to_list())
        .filter((pl.col("table") == "run") & (pl.col("metric") == "warning"))
        .select("key", "text")
        .collect()
        .join(done.select("row", "combination", "key"), on="key")
        .sort("row", maintain_order=True)
    )
    groups: dict[str, tuple[list[str], set[int]]] = {}
    for text, combination in messages.select("text", "combination").iter_rows():
        texts, combinations = groups.setdefault(labels.alike(re.sub(r"^\d+ more flows", "flow `#`", text)), ([], set()))
        if text not in texts:
            texts.append(text)
        combinations.add(combination)
    whose = {flow: group for p in result.combinations for group, members in p.groups.items() for flow in members}
    return [_together(texts, whose) + _at(result, sorted(combinations)) for texts, combinations in groups.values()]


def _together(texts: Sequence[str], whose: Mapping[str, str]) -> str:
    """One sentence for warnings that differ in the flow and in numbers only: "a flow of tcp or udp delivered nothing"."""
    if len(texts) == 1:
        return texts[0]
    named = [m[1] for t in texts if (m := re.search(r"flow `([^`]*)`", t))]
    groups = list(dict.fromkeys(whose.get(n, n) for n in named))
    some = " or ".join([", ".join(groups[:-1]), groups[-1]]) if len(groups) > 1 else "".join(groups)
    first = next((t for t in texts if "flow `" in t), texts[0])
    message = re.sub(r"flow `[^`]*`", f"a flow of {some}", first, count=1) if named else first
    # Only numbers remain besides the names.
    others = len({re.sub(r"`[^`]*`", "", t) for t in texts if not re.match(r"\d+ more flows", t)}) - 1
    return f"{message}; elsewhere with other numbers" if others > 0 else message


def _without_chance(result: StudyTables) -> list[str]:
    """Combinations with several seeds and one result."""
    if "fingerprint" not in result.index.columns:
        return []
    done = (
        result.index.filter(pl.col("status") == "done")
        .group_by("combination")
        .agg(pl.len().alias("n"), pl.col("fingerprint").n_unique().alias("u"))
    )
    same = done.filter((pl.col("n") > 1) & (pl.col("u") == 1))["combination"].sort().to_list()
    if not same:
        return []
    return [
        "all seeds gave the same result"
        + (_at(result, same) or (" at every combination" if result.factors else ""))
        + ": nothing is left to chance there, so the intervals say nothing"
    ]


def _too_wide(result: StudyTables) -> list[str]:
    """Combinations that did not reach the precision asked for."""
    from ..stats import verdict

    asked = result.spec.precision
    if asked is None:
        return []
    labels = [result.metric(m).label for m in asked.metrics] or result.metrics
    wide: dict[str, list[tuple[int, float | None, int]]] = {}
    for (combination,), part in result._runs.group_by(["combination"], maintain_order=True):
        for label in labels:
            v = verdict(part[label].to_list(), asked.relative, result.spec.confidence)
            if not v.enough:
                wide.setdefault(label, []).append((int(combination), v.relative_error, part.height))
    out = []
    for label, rows in wide.items():
        worst = max((error for _, error, _ in rows if error is not None), default=None)
        so_far = "" if worst is None else f", the widest is ± {number(100 * worst, 2)} %"
        out.append(
            f"{label}: the precision of {number(100 * asked.relative, 3)} % was not reached with {max(n for _, _, n in rows)} replications"
            f"{so_far}{_at(result, [p for p, _, _ in rows])}"
        )
    return out


def _without_values(result: StudyTables) -> list[str]:
    runs = result._runs
    if runs.is_empty():
        return []
    return [f"{s.label}: no run has a value of {s.text}" for s in result.spec.metrics if runs[s.label].null_count() == runs.height]
