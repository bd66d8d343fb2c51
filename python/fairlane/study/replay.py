"""Single runs of a study seen closer: what limited their flows, and a picture that moves. Such a run is made again, and is the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import _core
from ..base.cores import available_threads
from ..errors import FairlaneError, suggest
from ..runs.result import Result
from ..watch.inset import Inset, inset
from ..watch.inset import parse_replays as asked
from .combinations import chosen, meant, named
from .model import Point
from .one_run import load_plugins, planned
from .plan import resolve_point

if TYPE_CHECKING:
    from .model import StudySpec
    from .result import StudyResult

MOST = 12
"""Points of which the page says what limited flows."""


def check(spec: StudySpec, replays: Sequence[str]) -> None:
    """Raises what is wrong with the runs that are to move, before anything runs."""
    for where in asked(replays):
        for name, level in where.items():
            factor = next((f for f in spec.factors if f.name == name), None)
            if factor is None:
                raise suggest(name, [f.name for f in spec.factors], "factor")
            known = [x.label for x in factor.levels]
            if len(meant(known, level)) != 1:
                raise suggest(level, [str(x) for x in known], f"level of {name}")


def insets(study: StudyResult, replays: Sequence[str]) -> list[Inset]:
    """The runs that are to move: of each the first point with these levels of which a cell is done, and its first seed."""
    out = []
    for where in asked(replays):
        point, seed, fingerprint = _first(study, where)
        found = inset(_scenario(study, point), seed, named(study, point))
        _same(study, point, fingerprint, found.fingerprint)
        out.append(found)
    return out


def watched(study: StudyResult, where: Mapping[str, Any] | None = None, most: int = MOST) -> list[tuple[Point, int, Result]]:
    """The first finished run of each point, made again with what limits flows watched."""
    from concurrent.futures import ThreadPoolExecutor

    firsts = [f for p in chosen(study, where or {}) if (f := _cell(study, p)) is not None]
    if not firsts:
        raise FairlaneError(f"no cell of these points of {study.spec.name} is done: run the study, or choose others")

    def again(first: tuple[Point, int, str]) -> tuple[Point, int, Result]:
        point, seed, fingerprint = first
        if point.index not in study._watched:
            resolved = _scenario(study, point)
            (run,) = _core.run(resolved, [seed], 1, why=True)
            _same(study, point, fingerprint, str(run.fingerprint))
            study._watched[point.index] = Result.from_runs(resolved, [run])
        return point, seed, study._watched[point.index]

    with ThreadPoolExecutor(available_threads(), "why") as crew:
        return list(crew.map(again, firsts[:most]))


def _first(study: StudyResult, where: Mapping[str, Any]) -> tuple[Point, int, str]:
    first = next((f for p in chosen(study, where) if (f := _cell(study, p)) is not None), None)
    if first is None:
        named = " ".join(f"{k}={v}" for k, v in where.items())
        raise FairlaneError(f"no cell of {study.spec.name} with {named} is done: there is nothing to replay")
    return first


def _cell(study: StudyResult, point: Point) -> tuple[Point, int, str] | None:
    import polars as pl

    done = study.index.filter(pl.col("point") == point.index, pl.col("status") == "done").sort("seed")
    return (point, done["seed"][0], done["fingerprint"][0] or "") if done.height else None


def _scenario(study: StudyResult, point: Point) -> _core.Resolved:
    load_plugins([planned(p) for p in study.spec.plugins])
    if not point.parts:
        # Of a folder that was read: its points know their levels alone.
        levels = [next(x for x in f.levels if str(x.label) == str(point.labels[f.name])) for f in study.spec.factors]
        point = resolve_point(study.spec, point.index, tuple(levels))
    return _core.Resolved(point.resolved)


def _same(study: StudyResult, point: Point, kept: str, again: str) -> None:
    if kept and kept != again:
        raise FairlaneError(
            f"the run of {study.spec.name} at {named(study, point)} came out otherwise than the one that is kept: run the study again"
        )
