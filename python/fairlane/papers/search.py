"""Directed search over the unstated parameters: for a setting in which a claim holds, or in which a published value is met.

`python -m fairlane.papers.search KEY` searches for each claim that holds in less than 5 % of the recorded settings, and for each published
value that no recorded setting comes near. It records the best setting of each in the study's folder, as `search.csv`. "Not reproduced" is
the result of such a search, never of a sample.

It begins with each value alone at the ends of its range. A round then proposes settings in two ways: around the best ones so far (an
evolution strategy), and where an emulator of the margin expects most (its mean and one standard deviation; Jones, Schonlau and Welch,
Journal of Global Optimization 13, 1998). A claim is searched for whatever becomes of the other published values first. Where that finds a
setting, a second search keeps the other values as near as in the best-fitting settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import isclose
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from ..base.module_command import run_as_command
from ..base.status import terminal_steps, write_above
from ..errors import suggest
from ..multiverse import Setting, design, key_of, near
from .attainable import places
from .claims import read_claims
from .emulator import Emulator
from .found import Found
from .full_reruns import called, setting_of
from .joint_sample import Joint, of_record
from .runner import Runner
from .score import published_results
from .search_record import record_search, recorded_search
from .search_targets import Target, in_full_reruns, needed, read_alone, targets, with_factors
from .settings import BATCH, WIDTHS, Seen, Settings, corners

if TYPE_CHECKING:
    from .definition import Paper
    from .runner import Progress

BUDGET = 192
"""Settings that are run for a target, at most."""
SEEDS = (1, 2, 3, 4, 5)
"""Replications that confirm a setting."""
AROUND = 4
"""Number of best settings around which a round draws new ones."""
CONFIRMED = 3
"""Settings that are confirmed at the end of a search that reached nothing."""
WHOLE = 8
"""Settings of the sample that one setting is worth that has to be run whole."""
_KNOWN = 240
"""Settings from which the emulator is made, at most: the best ones, and others evenly."""
_DRAWN = 512
"""Candidates among which the emulator chooses."""


class Search:
    """The search for one target."""

    def __init__(
        self,
        paper: Paper,
        runner: Runner,
        joint: Joint,
        target: Target,
        budget: int = BUDGET,
        progress: Progress | None = None,
        earlier: Sequence[Seen] = (),
        begin: Sequence[Setting] = (),
    ) -> None:
        """`budget`: settings that are run, at most; one that has to be run whole counts as `WHOLE`.

        `earlier`: settings of other searches; `begin`: those to run first.
        """
        self.paper, self.runner, self.joint, self.target, self.progress = paper, runner, joint, target, progress
        self.opens = paper.opens()
        self.begin = begin
        self.budget, self.evaluated = budget, 0
        self.new: list[Seen] = []
        """Settings that this search ran."""
        self.whole = bool(target.claim) and joint.only_entire(target.claim)
        self._runs = needed(paper, target, joint.claims, self.whole)
        if not self.whole and self._declared() is None:
            self._runs = paper.setting
            if target.place in (joint.whole.places if joint.whole else ()):
                self.whole, self._runs = True, needed(paper, target, joint.claims, True)
        if self.whole:
            self.budget = max(2, budget // WHOLE)
        if (self.whole and target.most is None) or not target.claim:
            self._narrow()
        recorded = joint.entire if self.whole else joint.seen
        known = (*recorded, *earlier) if target.claim else in_full_reruns(joint, target) if self.whole else ()
        self.seen = [s for s in known if target.worth(s) is not None]
        if not target.claim and not self.whole:  # what a value is in them is not on record
            self._add([s.values for s in joint.seen])
            self.budget += self.evaluated

    def _declared(self) -> float | None:
        """Returns the worth of the declared setting; None if these runs cannot tell."""
        return self.target.worth(self._see([self.joint.declared], SEEDS[:1])[0])

    def _narrow(self) -> None:
        """Leaves out the runs that the target does not read, if the declared setting has the same worth without them."""
        every, target = self._runs, self.target
        before = None if self.whole else self._declared()
        if target.claim:
            self._runs = read_alone(next(c for c in self.joint.claims if c.id == target.claim), every)
        else:
            self._runs = with_factors([dict(published_results(self.paper, {})[target.at].factors)], every)
        record = self.joint.entire if target.claim else in_full_reruns(self.joint, target)
        wanted = [target.worth(s) for s in record if s.kind == "declared"] if self.whole else [before]
        worth = self._declared()
        if worth is None or not any(w is not None and isclose(worth, w, rel_tol=1e-4, abs_tol=1e-6) for w in wanted):
            self._runs = every

    def _see(self, settings: Sequence[Setting], seeds: Sequence[int], whole: bool = False) -> list[Seen]:
        combinations = self.paper.setting if whole else self._runs
        run = Settings(self.paper, self.runner, self.joint.claims, combinations, seeds, incomplete=not self.target.claim)
        return run.see(settings, "near", self._progress, (0.0, 1.0))

    def _progress(self, _: float, label: str) -> object:
        """Reports the part of the budget that is spent."""
        return self.progress(min(1.0, self.evaluated / self.budget), label) if self.progress is not None else None

    def run(self) -> Found | None:
        """Searches; returns the best setting, confirmed with several seeds. None if no setting can tell."""
        confirmed, budget = 1 if self.whole else CONFIRMED, self.budget
        if not self.seen:
            self._add(design(self.opens, 4 * BATCH))
        known = {key_of(s.values) for s in self.seen}
        self._add([w for w in self.begin if key_of(w) not in known])
        known |= {key_of(w) for w in self.begin}
        alone = {key_of(w): w for w in corners(self.opens, self.joint.declared)}
        if not any(map(self.target.there, self.new)):
            self._add([w for key, w in alone.items() if key not in known][: budget // 2])
        rejected: set[tuple[str, ...]] = set()
        round_ = 0
        while True:
            there = [s for s in self._ranked() if self.target.there(s) and key_of(s.values) not in rejected]
            for s in there[:confirmed]:
                if self._confirmed(s).holds:
                    return self._with_distance(self._simplified(s))
                rejected.add(key_of(s.values))
            if self.evaluated >= budget or not self.seen:
                break
            proposed = list(self._proposed(round_))[: budget - self.evaluated] if self.whole else list(self._proposed(round_))
            if not proposed:
                break
            self._add(proposed)
            round_ += 1
        best = [(self._confirmed(s), s) for s in self._ranked()[:confirmed]]
        if not best:
            return None
        return self._with_distance(max(best, key=lambda f: (f[0].reached, f[0].margin))[1])

    def _add(self, settings: Sequence[Setting]) -> None:
        seen = self._see(settings, SEEDS[:1])
        self.new += seen
        self.seen += [s for s in seen if self.target.worth(s) is not None]
        self.evaluated += len(settings)

    def _ranked(self) -> list[Seen]:
        return sorted(self.seen, key=lambda s: -(self.target.worth(s) or 0.0))

    def _proposed(self, round_: int) -> Iterator[Setting]:
        """Yields the settings of a round: half of them around the best ones, half where the emulator expects most."""
        ranked, known = self._ranked(), [s.values for s in self.seen]
        best = [s.values for s in ranked[:AROUND]]
        around = near(self.opens, best, BATCH // 2, WIDTHS[round_ % len(WIDTHS)], 1000 + round_, None if round_ % 2 else 4, known)
        taken = {key_of(w) for w in (*known, *around)}
        yield from around
        drawn = [*design(self.opens, _DRAWN // 2, 2000 + round_), *near(self.opens, best, _DRAWN // 2, 0.5, 3000 + round_)]
        drawn = [w for w in drawn if key_of(w) not in taken]
        few = ranked if len(ranked) <= _KNOWN else [*ranked[: _KNOWN // 2], *ranked[_KNOWN // 2 :: 1 + len(ranked) * 2 // _KNOWN]]
        worths = [self.target.worth(s) or 0.0 for s in few]
        if len(few) < 10 or not drawn or max(worths) == min(worths):
            yield from drawn[: BATCH // 2]
            return
        mean, deviation = Emulator(self.opens, [s.values for s in few], worths).said(drawn)
        order = np.argsort(-(mean + deviation), kind="stable")[: BATCH // 2]
        yield from (drawn[int(i)] for i in order)

    def _simplified(self, s: Seen) -> Seen:
        """Returns a setting at the target with few values other than the declared ones: puts all back, or else each half in turn."""
        groups = [[name for name, value in self.joint.declared.items() if s.values[name] != value]]
        while groups:
            names = groups.pop(0)
            if not names:
                continue
            (back,) = self._see([{**s.values, **{n: self.joint.declared[n] for n in names}}], SEEDS[:1])
            self.evaluated += 1
            if self.target.there(back) and self._confirmed(back).holds:
                s = back
            elif len(names) > 1:
                groups += [names[: len(names) // 2], names[len(names) // 2 :]]
        return s

    def _with_distance(self, s: Seen) -> Found:
        """Runs a setting whole, so that the distance of the other published values is known."""
        (whole,) = self._see([s.values], SEEDS[:1], True)
        return replace(self._confirmed(s), median=whole.distance.median)

    def _confirmed(self, s: Seen) -> Found:
        """Runs a setting with several seeds."""
        each = [self._see([s.values], (seed,))[0] for seed in SEEDS]
        reached = [self.target.there(x) for x in each if self.target.worth(x) is not None]
        margins = [m for m in map(self.target.margin, each) if m is not None]
        return Found(
            self.target.claim, *self.target.place, self.target.most is not None, self.evaluated, len(SEEDS),
            fmean(reached) if reached else 0.0, fmean(margins) if margins else -1.0, None, called(self.paper, s.values),
        )  # fmt: skip


def search(
    paper: Paper,
    folder: Path,
    budget: int = BUDGET,
    only: Sequence[str] = (),
    progress: Progress | None = None,
    then: Callable[[Sequence[Found]], object] = lambda _: None,
    again: bool = False,
    begin: Sequence[Setting] = (),
) -> list[Found]:
    """Searches for all targets of a study; `folder` keeps the runs, `then` gets the results so far after each.

    `only`: these claims and values (see `targets`). What is searched for on record already is left out, unless it is in `only` or `again`
    is true. `begin`: settings that each search runs first.
    """
    joint = of_record(paper)
    if joint is None:
        return []
    out: list[Found] = (
        [] if again and not only else [f for f in recorded_search(paper) if not {f.claim, f"{f.table}/{f.of}/{f.metric}"} & {*only}]
    )
    on_record = {(f.claim, f.table, f.of, f.metric, f.constrained) for f in out}
    todo = [t for t in targets(paper, joint, only) if (t.claim, *t.place, t.most is not None) not in on_record]
    earlier: list[Seen] = []
    with Runner(paper, folder) as runner:
        for i, target in enumerate(todo):
            # What is reached nowhere is not reached near the published values, either.
            if target.most is not None and not any(f.holds and f.claim == target.claim and not f.constrained for f in out):
                continue
            name = target.claim or ", ".join(target.place)

            def within(fraction: float, label: str, i: int = i, name: str = name) -> object:
                return progress((i + fraction) / len(todo), f"{name}, {i + 1} of {len(todo)}: {label}") if progress is not None else None

            one = Search(paper, runner, joint, target, budget if target.most is None else budget // 2, within, earlier, begin)
            found = one.run()
            # A setting near the published values was run whole, and one for a published value with a part of a table.
            earlier += one.new if target.claim and target.most is None else []
            if found is not None:
                out.append(found)
                then(out)
    return out


def main(arguments: Sequence[str] | None = None) -> None:
    """Searches for the claims and the published values of a study that no recorded setting reproduces, and records the best settings."""
    import argparse
    import sys

    from .folders import load

    parser = argparse.ArgumentParser(prog="python -m fairlane.papers.search", description=main.__doc__)
    parser.add_argument("key", help="a study that comes with fairlane, or the folder of one")
    parser.add_argument("--claim", action="append", default=[], help="search for this claim alone; may be repeated")
    parser.add_argument("--budget", type=int, default=BUDGET, help=f"settings for each search, at most (default: {BUDGET})")
    parser.add_argument("--value", action="append", default=[], metavar="TABLE/ROW/METRIC", help="search for this published value alone")
    parser.add_argument(
        "--with",
        dest="others",
        action="append",
        default=[],
        help='a setting to begin with, by what it has otherwise than the declared one: "NAME=VALUE, NAME=VALUE"; may be given again',
    )
    parser.add_argument("--again", action="store_true", help="search again for what is on record")
    parser.add_argument("--out", default=None, help="the folder of the runs (default: results/KEY-search)")
    given = parser.parse_args(arguments)
    paper = load(given.key)
    for chosen, known, what in (
        (given.claim, [c.id for c in read_claims(paper.folder / "claims.toml")], "claim"),
        (given.value, ["/".join(p) for p in places(paper)], "published value"),
    ):
        for x in chosen:
            if x not in known:
                parser.error(str(suggest(x, known, f"{what} of {paper.called}")))
    begin = [setting_of(paper, text) for text in given.others]
    folder = Path(given.out) if given.out else Path("results") / f"{paper.key}-search"

    def then(found: Sequence[Found]) -> None:
        record_search(found, paper)
        f = found[-1]
        what = f.claim or f"{f.table} {f.of} {f.metric}"
        word = "reached" if f.holds else "not reached"
        kept = " with the other values" if f.constrained else ""
        write_above(f"{what}{kept}: {word}, margin {f.margin:.3g}, at {f.setting}", sys.stderr)

    with terminal_steps(given.key) as progress:
        done = search(paper, folder, given.budget, [*given.claim, *given.value], progress, then, given.again, begin)
    record_search(done, paper)
    print(paper.folder / "search.csv")


if __name__ == "__main__":
    run_as_command(main)
