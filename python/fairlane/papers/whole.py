"""A study's own tables in other worlds, whole.

A world of the joint sample may have a part of the study only, such as one ratio of nineteen. `python -m fairlane.papers.whole KEY` runs all
that its printed tables need, in the declared world and in others, and records our values beside the printed ones in `whole.csv`.
"""

from __future__ import annotations

import copy
import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from ..base.csv_text import inert
from ..base.files import save_bytes
from ..errors import PaperError, suggest
from ..worlds import World, base_of, check_world, key_of, text_of
from .definition import Cell, Paper, Results
from .joint import made_of, recorded
from .layout import is_tidy
from .runner import Job, Runner
from .score import difference, printed_tables
from .tables import Compared, read_csv

if TYPE_CHECKING:
    from .runner import Progress

WHOLE = ("made_of", "table", "of", "metric", "printed")
"""Columns of `whole.csv` before those of the worlds."""
DECLARED = "declared"
"""How the declared world is called there; any other by what it has otherwise."""
CHANCE = "declared, another seed"
"""The declared world once more: what differs from it there is chance alone."""


@dataclass(frozen=True)
class Whole:
    """Printed values, and what they are in each of some worlds."""

    places: Sequence[tuple[str, str, str]]
    """Of each value its table, where it stands there, and its metric."""
    printed: Sequence[float]
    ours: Mapping[str, Sequence[float | None]]
    """By world."""

    def differences(self, world: str, wanted: Callable[[tuple[str, str, str]], bool] = lambda _: True) -> list[float]:
        """Relative differences from print in a world, without sign, of the values at the places that are wanted."""
        each = zip(self.places, self.printed, self.ours[world], strict=True)
        rows = [Compared((), "", "", p, o) for place, p, o in each if o is not None and wanted(place)]
        return [difference(r) for r in rows]

    def median(self, world: str, table: str = "") -> float:
        """The median of them, over all values or those of a table."""
        return median(self.differences(world, lambda place: table in ("", place[0])))

    def within(self, world: str, least: float, wanted: Callable[[tuple[str, str, str]], bool] = lambda _: True) -> int:
        """How many of them are smaller than this. A median below it takes more than half of all values."""
        return sum(x < least for x in self.differences(world, wanted))

    def chance(self) -> list[float]:
        """The same between the two runs of the declared world that differ in their seeds alone."""
        pairs = zip(self.ours[DECLARED], self.ours[CHANCE], strict=True)
        return [difference(Compared((), "", "", a, b)) if a is not None and b is not None else inf for a, b in pairs]


def world_of(paper: Paper, text: str) -> World:
    """The declared world but for what the text has otherwise: "RED w_q=0.01, start spread=500ms"."""
    opens = {o.name: o for o in paper.opens()}
    world = paper.declared_world
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, sign, value = (x.strip() for x in part.partition("="))
        if not sign:
            raise PaperError(
                f'"{part}" is no value of a world: write NAME=VALUE, such as "{next(iter(opens))}={text_of(next(iter(world.values())))}"'
            )
        if name not in opens:
            raise suggest(name, list(opens), f"thing that {paper.called} leaves open")
        world[name] = opens[name].over.read(value)
    return check_world(paper.opens(), world)


def called(paper: Paper, world: World) -> str:
    """What a world has otherwise than the declared one, as `world_of` reads it."""
    other = [f"{k}={text_of(x)}" for k, x in world.items() if text_of(x) != text_of(paper.declared_world[k])]
    return ", ".join(other) or DECLARED


def nearest(paper: Paper, n: int) -> list[World]:
    """The recorded worlds with the least median difference from print, but for the declared one."""
    rows = [r for r in recorded(paper) if r.distance["median"] is not None and key_of(r.values) != key_of(paper.declared_world)]
    return [dict(r.values) for r in sorted(rows, key=lambda r: r.distance["median"] or 0.0)[:n]]


def cells_of(paper: Paper, world: World) -> tuple[Paper, list[Cell]]:
    """The study with this world as its declared one, and the cells that its printed tables need."""
    there = copy.copy(paper)
    there.declared = {k: x for k, x in world.items() if x != base_of(paper.opens())[k]}
    printed = [e for e in there.experiments() if is_tidy(paper.published(e.id))]
    return there, [c for c in there.cells() if any((e.least or e.needs)(c) for e in printed)]


def run_whole(paper: Paper, worlds: Sequence[World], folder: Path, progress: Progress | None = None) -> Whole:
    """Runs the printed tables in the declared world, there with another seed, and in these; `folder` keeps the runs."""
    first = paper.world_seeds
    another = [max(first) + i + 1 for i in range(len(first))]
    each = {DECLARED: (paper.declared_world, first), CHANCE: (paper.declared_world, another)}
    each |= {called(paper, w): (w, first) for w in worlds}
    places: list[tuple[str, str, str]] = []
    printed: list[float] = []
    ours: dict[str, list[float | None]] = {}
    with Runner(paper, folder) as runner:  # one for all: worlds share most of their scenarios
        for i, (name, (world, seeds)) in enumerate(each.items()):
            there, cells = cells_of(paper, world)
            jobs = [Job(c, s, f" in the world {name}") for c in cells for s in seeds]
            use = lambda job, run, p=there: p.measure(run, job.cell)  # noqa: E731
            measured = runner.run(jobs, progress, (i / len(each), (i + 1) / len(each)), use)
            samples: dict[Any, dict[str, list[float]]] = {c.factors: {} for c in cells}
            for job, quantities in zip(jobs, measured, strict=True):
                for q, x in quantities.items():
                    samples[job.cell.factors].setdefault(q, []).append(x)
            results = Results(cells, samples, {c.factors: [] for c in cells})
            built = {e.id: e.build(results) for e in there.experiments() if is_tidy(paper.published(e.id))}
            rows = [(t, r) for t, found in printed_tables(there, built).items() for r in found if r.published is not None]
            if not places:
                places = [(t, ", ".join(f"{k} {v}" for k, v in r.factors if v), r.metric) for t, r in rows]
                printed = [r.published for _, r in rows if r.published is not None]
            ours[name] = [r.ours for _, r in rows]
    return Whole(places, printed, ours)


def csv_of_whole(whole: Whole, made: str) -> bytes:
    """The printed values, one a row, and what they are in each world, a column each."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*WHOLE, *map(inert, whole.ours)])
    for i, (place, p) in enumerate(zip(whole.places, whole.printed, strict=True)):
        ours = [xs[i] for xs in whole.ours.values()]
        writer.writerow([made, *map(inert, place), f"{p:.10g}", *("" if x is None else f"{x:.6g}" for x in ours)])
    return out.getvalue().encode()


def recorded_whole(paper: Paper) -> Whole | None:
    """What `whole.csv` in a study's folder records; None without the file. Raises if it was made of something else."""
    path = paper.folder / "whole.csv"
    if not path.exists():
        return None
    rows = read_csv(path)
    if not rows or tuple(rows[0])[: len(WHOLE)] != WHOLE or rows[0]["made_of"] != made_of(paper):
        raise PaperError(
            f"{path}: its worlds were made of another study than this one\n"
            f"  = help: `python -m fairlane.papers.whole {paper.called}` makes them anew"
        )
    names = list(rows[0])[len(WHOLE) :]
    ours = {n: [float(r[n]) if r[n] else None for r in rows] for n in names}
    return Whole([(r["table"], r["of"], r["metric"]) for r in rows], [float(r["printed"]) for r in rows], ours)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the printed tables of a study in its declared world and in others, whole, and records them in its folder."""
    import argparse

    from .folders import load

    parser = argparse.ArgumentParser(prog="python -m fairlane.papers.whole", description=main.__doc__)
    parser.add_argument("key", help="a study that comes with fairlane, or the folder of one")
    parser.add_argument("--nearest", type=int, default=0, help="so many of the recorded worlds that are nearest to print")
    parser.add_argument(
        "--with",
        dest="others",
        action="append",
        default=[],
        help='a world by what it has otherwise than the declared one: "NAME=VALUE, NAME=VALUE"; may be given again',
    )
    parser.add_argument("--again", action="store_true", help="the worlds that the study records, too")
    parser.add_argument("--out", default=None, help="the folder that keeps the runs (default: results/KEY-whole)")
    given = parser.parse_args(arguments)
    paper = load(given.key)
    before = recorded_whole(paper) if given.again else None
    known = [world_of(paper, n) for n in before.ours if n not in (DECLARED, CHANCE)] if before else []
    worlds = [*known, *nearest(paper, given.nearest), *(world_of(paper, t) for t in given.others)]
    found = run_whole(paper, worlds, Path(given.out or f"results/{paper.key}-whole") / "runs")
    path = paper.folder / "whole.csv"
    save_bytes(path, csv_of_whole(found, made_of(paper)))
    for name in found.ours:
        print(f"{100 * found.median(name):.2f} % {name}")
    print(path)


if __name__ == "__main__":
    main()
