"""Single runs of a study seen closer: what limited their flows, and a picture that moves. Such a run is made again, and is the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import _core
from ..base.cores import available_threads
from ..errors import FairlaneError, suggest
from .combinations import chosen, meant, named
from .model import Combination
from .one_run import load_plugins, planned
from .plan import resolve_combination

if TYPE_CHECKING:
    from ..runs.result import Result
    from ..watch.inset import Inset
    from .model import StudySpec
    from .tables import StudyTables

MOST = 12
"""Combinations of which the page says what limited flows."""


def check(spec: StudySpec, replays: Sequence[str]) -> None:
    """Raises what is wrong with the runs that are to move, before anything runs."""
    if not replays:
        return
    from ..watch.inset import parse_replays

    for where in parse_replays(replays):
        for name, level in where.items():
            factor = next((f for f in spec.factors if f.name == name), None)
            if factor is None:
                raise suggest(name, [f.name for f in spec.factors], "factor")
            known = [x.label for x in factor.levels]
            if len(meant(known, level)) != 1:
                raise suggest(level, [str(x) for x in known], f"level of {name}")


def insets(study: StudyTables, replays: Sequence[str]) -> list[Inset]:
    """The runs that are to move: of each the first combination with these levels of which a run is done, and its first seed."""
    if not replays:
        return []
    from ..watch.inset import inset, parse_replays

    out = []
    for where in parse_replays(replays):
        combination, seed, fingerprint = _first(study, where)
        found = inset(_scenario(study, combination), seed, named(study, combination))
        _same(study, combination, fingerprint, found.fingerprint)
        out.append(found)
    return out


def watched(study: StudyTables, where: Mapping[str, Any] | None = None, most: int = MOST) -> list[tuple[Combination, int, Result]]:
    """The first finished run of each combination, made again with what limits flows watched."""
    from concurrent.futures import ThreadPoolExecutor

    from ..runs.result import Result

    firsts = [f for p in chosen(study, where or {}) if (f := _run(study, p)) is not None]
    if not firsts:
        raise FairlaneError(f"no run of these combinations of {study.spec.name} is done: run the study, or choose others")

    def again(first: tuple[Combination, int, str]) -> tuple[Combination, int, Result]:
        combination, seed, fingerprint = first
        if combination.index not in study._watched:
            resolved = _scenario(study, combination)
            (run,) = _core.run(resolved, [seed], 1, why=True)
            _same(study, combination, fingerprint, str(run.fingerprint))
            study._watched[combination.index] = Result.from_runs(resolved, [run])
        return combination, seed, study._watched[combination.index]

    with ThreadPoolExecutor(available_threads(), "why") as pool:
        return list(pool.map(again, firsts[:most]))


def _first(study: StudyTables, where: Mapping[str, Any]) -> tuple[Combination, int, str]:
    first = next((f for p in chosen(study, where) if (f := _run(study, p)) is not None), None)
    if first is None:
        named = " ".join(f"{k}={v}" for k, v in where.items())
        raise FairlaneError(f"no run of {study.spec.name} with {named} is done: there is nothing to replay")
    return first


def _run(study: StudyTables, combination: Combination) -> tuple[Combination, int, str] | None:
    import polars as pl

    done = study.index.filter(pl.col("combination") == combination.index, pl.col("status") == "done").sort("seed")
    return (combination, done["seed"][0], done["fingerprint"][0] or "") if done.height else None


def _scenario(study: StudyTables, combination: Combination) -> _core.Resolved:
    load_plugins([planned(p) for p in study.spec.plugins])
    if not combination.parts:
        # Combinations of a folder that was read contain their levels only.
        levels = [next(x for x in f.levels if str(x.label) == str(combination.labels[f.name])) for f in study.spec.factors]
        combination = resolve_combination(study.spec, combination.index, tuple(levels))
    return _core.Resolved(combination.resolved)


def _same(study: StudyTables, combination: Combination, kept: str, again: str) -> None:
    if kept and kept != again:
        raise FairlaneError(
            f"the run of {study.spec.name} at {named(study, combination)} came out otherwise than the one that is kept: run the study again"
        )
