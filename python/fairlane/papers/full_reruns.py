"""A study's own tables in other settings, whole.

A setting of the joint sample may have a part of the study only, such as one ratio of nineteen. `python -m fairlane.papers.full_reruns KEY`
runs all that its published tables and its claims need, in the declared setting and in others. It records our values next to the published
ones in `full_reruns.csv`, and what each claim does there in `full_rerun_settings.csv`: each setting when it has run, so that nothing is
lost with the next.
"""

from __future__ import annotations

import copy
import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from ..base.csv_text import inert
from ..base.module_command import run_as_command
from ..base.status import terminal_steps, write_above
from ..errors import PaperError, suggest
from ..multiverse import Setting, base_of, check_setting, design, key_of, text_of
from .attainable import places
from .claims import read_claims
from .definition import Combination, Paper
from .layout import is_tidy
from .records import csv_of, made_of, made_of_this, read_settings, recorded, save_record
from .runner import Runner
from .score import difference, published_tables
from .settings import Kind, Seen, Settings
from .tables import Compared, number_in

if TYPE_CHECKING:
    from .runner import Progress

WHOLE = ("made_of", "table", "of", "metric", "published")
"""Columns of `full_reruns.csv` before those of the settings."""
VALUES, SETTINGS = "full_reruns.csv", "full_rerun_settings.csv"
"""The files of a record: our values, and what each setting is and what the claims do there."""
DECLARED = "declared"
"""How the declared setting is called there; any other by what it has otherwise."""
CHANCE = "declared, another seed"
"""The declared setting with other seeds: its differences are chance alone."""


@dataclass
class Whole:
    """Published values, and what they are in each of some settings."""

    places: Sequence[tuple[str, str, str]]
    """Table, row and metric of each value."""
    published: Sequence[float]
    ours: dict[str, Sequence[float | None]]
    """By setting."""
    seen: list[Seen] = field(default_factory=list)
    """The settings, but for the declared one with another seed, with what each claim does there."""

    def differences(self, setting: str, wanted: Callable[[tuple[str, str, str]], bool] = lambda _: True) -> list[float]:
        """Relative differences from the published values in a setting, without sign, of the values at the places that are wanted."""
        each = zip(self.places, self.published, self.ours[setting], strict=True)
        rows = [Compared((), "", "", p, o) for place, p, o in each if o is not None and wanted(place)]
        return [difference(r) for r in rows]

    def median(self, setting: str, table: str = "") -> float:
        """The median of them, over all values or those of a table."""
        return median(self.differences(setting, lambda place: table in ("", place[0])))

    def within(self, setting: str, least: float, wanted: Callable[[tuple[str, str, str]], bool] = lambda _: True) -> int:
        """How many of them are smaller than this. A median below it takes more than half of all values."""
        return sum(x < least for x in self.differences(setting, wanted))

    def over_settings(self) -> list[list[float | None]]:
        """Returns each published value in the settings, without the repetition of the declared setting with another seed."""
        return [list(xs) for xs in zip(*(xs for name, xs in self.ours.items() if name != CHANCE), strict=True)]

    def chance(self) -> list[float]:
        """Returns the differences between the two runs of the declared setting, which differ in their seeds only."""
        pairs = zip(self.ours[DECLARED], self.ours[CHANCE], strict=True)
        return [difference(Compared((), "", "", a, b)) if a is not None and b is not None else inf for a, b in pairs]


def setting_of(paper: Paper, text: str) -> Setting:
    """The declared setting but for what the text has otherwise: "RED w_q=0.01, start spread=500ms"."""
    opens = {o.name: o for o in paper.opens()}
    setting = paper.declared_setting
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, sign, value = (x.strip() for x in part.partition("="))
        if not sign:
            raise PaperError(
                f'"{part}" is not a value of a setting: write NAME=VALUE, such as '
                f'"{next(iter(opens))}={text_of(next(iter(setting.values())))}"'
            )
        if name not in opens:
            raise suggest(name, list(opens), f"unstated parameter of {paper.called}")
        setting[name] = opens[name].over.read(value)
    return check_setting(paper.opens(), setting)


def called(paper: Paper, setting: Setting) -> str:
    """Returns the differences of a setting from the declared one, as `setting_of` reads them."""
    other = [f"{k}={text_of(x)}" for k, x in setting.items() if text_of(x) != text_of(paper.declared_setting[k])]
    return ", ".join(other) or DECLARED


def nearest(paper: Paper, n: int) -> list[Setting]:
    """The recorded settings with the least median difference from the published values, but for the declared one."""
    known = [s for s in recorded(paper) if s.distance.median is not None and key_of(s.values) != key_of(paper.declared_setting)]
    return [dict(s.values) for s in sorted(known, key=lambda s: s.distance.median or 0.0)[:n]]


def first(paper: Paper, n: int) -> list[Setting]:
    """Returns the first settings of the joint sample, drawn without regard to the published values."""
    return design(paper.opens(), n)


def kinds_of(paper: Paper, settings: Sequence[Setting], drawn: int) -> list[Kind]:
    """Returns the kind of each setting: one of the first `drawn` of the sample, the declared one, or another near the published values."""
    sample = [key_of(w) for w in first(paper, drawn)]
    of: dict[tuple[str, ...], Kind] = {key_of(paper.declared_setting): "declared"}
    of |= dict.fromkeys(sample, "sample") | dict.fromkeys(sample[:1], "base")  # type: ignore[arg-type]
    return [of.get(key_of(w), "near") for w in settings]


def combinations_of(paper: Paper, setting: Setting) -> list[Combination]:
    """The combinations that the published tables need in a setting, and those that its claims read in addition."""
    there = copy.copy(paper)
    there.declared = {k: x for k, x in setting.items() if x != base_of(paper.opens())[k]}
    published = [e for e in there.experiments() if is_tidy(paper.published(e.id))]
    whole = [c for c in there.combinations() if any((e.least or e.needs)(c) for e in published)]
    return list({c.factors: c for c in (*whole, *paper.setting(setting))}.values())


def run_whole(
    paper: Paper,
    settings: Sequence[Setting],
    folder: Path,
    before: Whole | None = None,
    drawn: int = 0,
    progress: Progress | None = None,
    then: Callable[[Whole], object] = lambda _: None,
) -> Whole:
    """Runs the published tables and the claims whole in the declared setting, there with another seed, and in these.

    `folder` keeps the runs. Settings in `before` are not run again, and `then` is called after each of the others. `drawn`: how many of
    the sample are known as such, if not those that the study allows.
    """
    seeds = tuple(paper.setting_seeds)
    others = list({key_of(w): w for w in settings if key_of(w) != key_of(paper.declared_setting)}.values())
    kinds = kinds_of(paper, [paper.declared_setting, *others], max(drawn, paper.most_settings))
    every: list[tuple[str, Kind, Setting, tuple[int, ...]]] = [
        (DECLARED, kinds[0], paper.declared_setting, seeds),
        (CHANCE, "declared", paper.declared_setting, tuple(max(seeds) + i + 1 for i in range(len(seeds)))),
        *((called(paper, w), kind, w, seeds) for kind, w in zip(kinds[1:], others, strict=True)),
    ]
    at = [i for i, p in enumerate(_published(paper)) if p is not None]
    out = Whole([places(paper)[i] for i in at], [p for p in _published(paper) if p is not None], {})
    if before is not None:
        out.ours.update(before.ours)
        out.seen += before.seen
    known = {key_of(s.values) for s in out.seen}
    claims = read_claims(paper.folder / "claims.toml")
    with Runner(paper, folder) as runner:  # one for all: settings share many of their scenarios
        for i, (name, kind, setting, of) in enumerate(every):
            if name in out.ours and (name == CHANCE or key_of(setting) in known):
                continue
            run = Settings(paper, runner, claims, lambda w: combinations_of(paper, w), of)
            (seen,) = run.see([setting], kind, progress, (i / len(every), (i + 1) / len(every)))
            out.ours[name] = [seen.ours[k] for k in at]
            if name != CHANCE:
                out.seen.append(seen)
                known.add(key_of(setting))
            then(out)
    return out


def _published(paper: Paper) -> list[float | None]:
    return [r.published for rows in published_tables(paper, {}).values() for r in rows]


def csv_of_whole(whole: Whole, made: str) -> bytes:
    """The published values, one per row, and what they are in each setting, a column each."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*WHOLE, *map(inert, whole.ours)])
    for i, (place, p) in enumerate(zip(whole.places, whole.published, strict=True)):
        ours = [xs[i] for xs in whole.ours.values()]
        writer.writerow([made, *map(inert, place), f"{p:.10g}", *("" if x is None else f"{x:.6g}" for x in ours)])
    return out.getvalue().encode()


def recorded_whole(paper: Paper) -> Whole | None:
    """Reads `full_reruns.csv` and `full_rerun_settings.csv` of a folder; None without the first. Raises if they are of another study."""
    path = paper.folder / VALUES
    if not path.exists():
        return None
    rows, number = made_of_this(paper, path, WHOLE, "full_reruns", more=True), partial(number_in, path)
    names = list(rows[0])[len(WHOLE) :]
    ours: dict[str, Sequence[float | None]] = {n: [number(r[n]) for r in rows] for n in names}
    published = [number(r["published"]) for r in rows]
    seen = read_settings(paper, paper.folder / SETTINGS, "full_reruns")
    return Whole([(r["table"], r["of"], r["metric"]) for r in rows], [p for p in published if p is not None], ours, seen)


def record(whole: Whole, paper: Paper) -> None:
    """Writes both files into the study's folder."""
    save_record(paper.folder / VALUES, csv_of_whole(whole, made_of(paper)))
    save_record(paper.folder / SETTINGS, csv_of(whole.seen, paper))


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the published tables and the claims of a study in its declared setting and in others, whole, and records them in its folder.

    Settings that it records already are kept, and not run again.
    """
    import argparse
    import sys

    from .folders import load

    parser = argparse.ArgumentParser(prog="python -m fairlane.papers.full_reruns", description=main.__doc__)
    parser.add_argument("key", help="a study that comes with fairlane, or the folder of one")
    parser.add_argument("--first", type=int, default=0, help="number of settings from the start of the sample")
    parser.add_argument("--nearest", type=int, default=0, help="number of recorded settings, nearest to the published values first")
    parser.add_argument(
        "--with",
        dest="others",
        action="append",
        default=[],
        help='a setting by what it has otherwise than the declared one: "NAME=VALUE, NAME=VALUE"; may be given again',
    )
    parser.add_argument("--again", action="store_true", help="runs the recorded settings again")
    parser.add_argument("--out", default=None, help="the folder that keeps the runs (default: results/KEY-whole)")
    given = parser.parse_args(arguments)
    paper = load(given.key)
    if not paper.opens():
        parser.error(f"{given.key} has no unstated parameters, and so no settings")
    before = recorded_whole(paper)
    known = [setting_of(paper, n) for n in before.ours if n not in (DECLARED, CHANCE)] if before else []
    settings = [*known, *first(paper, given.first), *nearest(paper, given.nearest), *(setting_of(paper, t) for t in given.others)]

    def then(w: Whole) -> None:
        record(w, paper)
        name = list(w.ours)[-1]
        write_above(f"{100 * w.median(name):.2f} % {name}", sys.stdout)

    folder = Path(given.out or f"results/{paper.key}-whole") / "runs"
    with terminal_steps(given.key) as progress:
        whole = run_whole(paper, settings, folder, None if given.again else before, given.first, progress, then)
    record(whole, paper)
    print(paper.folder / VALUES)


if __name__ == "__main__":
    run_as_command(main)
