"""The joint sample of a paper as a whole: which settings match the published values, what each claim does in them, and the record of it.

`python -m fairlane.papers.calibration KEY` runs the joint sample of a study and records it in the study's folder, as `settings.csv`.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from ..base.csv_text import inert
from ..base.files import read_input, save_bytes
from ..base.sealed import BLANK, fault_of_text, seal_text
from ..claims import Outcome
from ..errors import PaperError
from ..multiverse import Judgement, Open, Setting, changes_at, judge, key_of, matters, settled, share, text_of
from .attainable import REACH, Reach, csv_of_reach
from .claims import Claim, read_claims
from .definition import Paper
from .distance import Distance
from .settings import Kind, Seen, nearest
from .tables import NEAR, number_in
from .tables import rows_of as csv_rows

if TYPE_CHECKING:
    from .emulator import Emulated
    from .full_reruns import Whole

SAMPLED = ("base", "sample")
"""Kinds of settings that stand for all plausible ones."""
MATCHING = 0.02
"""A setting matches the published values if its mean difference is no more than this above that of the nearest one."""


@dataclass
class Joint:
    """The settings of a paper that were run, with what came of them."""

    opens: Sequence[Open]
    claims: Sequence[Claim]
    seen: Sequence[Seen]
    declared: Setting
    asked: int
    """Settings of the sample that the study allows, or that were asked for."""
    earlier: Sequence[Mapping[str, str]] = ()
    """Rows of `attainable.csv` for those of the settings that were recorded, if it goes on from a record."""
    again: int = 0
    """Settings of a record that were run again and came out as recorded; none if all were run here."""
    whole: Whole | None = None
    """Settings that were run whole, where those of the sample have a part of the study: claims and published values that no setting of the
    sample has are judged in these."""
    emulated: Emulated | None = None
    """What those run whole say of others."""

    @cached_property
    def sample(self) -> list[Seen]:
        """The settings that stand for all plausible ones: the base and the designed sample, without those chosen because they match."""
        return [s for s in self.seen if s.kind in SAMPLED]

    @cached_property
    def best(self) -> list[Seen]:
        """All settings that can be compared with the published values, the nearest first."""
        return nearest(self.seen, len(self.seen))

    @cached_property
    def matching(self) -> list[Seen]:
        """The settings that match the published values, the nearest first; none if even the nearest is farther from half of the values than `NEAR`."""
        if not self.best or (self.best[0].distance.median or 0.0) > NEAR:
            return []
        most = (self.best[0].distance.fit or 0.0) + MATCHING
        return [s for s in self.best if (s.distance.fit or 0.0) <= most]

    @property
    def entire(self) -> list[Seen]:
        """The settings that were run whole."""
        return self.whole.seen if self.whole else []

    def judging(self, claim: str) -> list[Seen]:
        """The settings in which a claim is judged, all made alike: those of the sample, or if none of them has what it reads, those of the
        sample that were run whole."""
        return [s for s in self.entire if s.kind in SAMPLED] if self.only_entire(claim) else self.sample

    def only_entire(self, claim: str) -> bool:
        """Whether settings speak of a claim only if they are run whole."""
        return bool(self.entire) and all(s.outcomes[claim] is None for s in self.sample)

    def matching_of(self, claim: str) -> list[Seen]:
        """The settings that match the published values and have what a claim reads; of those run whole, the ones whose part does."""
        if not self.only_entire(claim):
            return self.matching
        known = {key_of(s.values) for s in self.matching}
        return [s for s in self.entire if key_of(s.values) in known]

    def outcomes(self, claim: str) -> list[float | None]:
        """What a claim does in each setting in which it is judged."""
        return [s.outcomes[claim] for s in self.judging(claim)]

    def judged(self, claim: Claim, here: Outcome) -> Judgement:
        """The word for a claim; `here` is what it does in the study's own tables."""
        outcomes = self.outcomes(claim.id)
        found = share(outcomes)
        published: Literal["holds", "fails", ""] = claim.published if claim.published != "no-data" else ""
        reached = here == published or any(_says(s.outcomes[claim.id], published) for s in (*self.seen, *self.entire))
        if found is None or found.clear:
            return judge(outcomes, published=published, reached=reached)
        boundaries = changes_at(self.opens, [s.values for s in self.judging(claim.id)], outcomes)
        return judge(outcomes, boundaries.boundaries, boundaries.explained, published, reached)

    def share_matching(self, claim: str) -> float | None:
        """In what share of the settings that match the published values a claim holds."""
        found = share([s.outcomes[claim] for s in self.matching_of(claim)])
        return found.share if found else None

    @cached_property
    def matters(self) -> dict[str, float]:
        """How much each thing left open moves the distance from the published values alone."""
        return matters(self.opens, [s.values for s in self.sample], [s.distance.fit for s in self.sample])

    @property
    def settled(self) -> bool:
        """Whether more settings would move no share across a bound."""
        return all(settled(self.outcomes(c.id)) for c in self.claims)

    def to_json(self) -> dict[str, Any]:
        """As in the document of a reproduction."""
        return {
            "sample": len(self.sample), "refined": len(self.seen) - len(self.sample), "again": self.again or None,
            "asked": self.asked, "settled": self.settled,
            "declared": self.declared, "whole": sum(s.kind in SAMPLED for s in self.entire),
            "opens": [
                {"name": o.name, "base": o.base, "values": str(o.over), "why": o.why, "matters": round(self.matters[o.name], 4)}
                for o in self.opens
            ],
            "matching": len(self.matching),
            "best": [
                {"values": s.values, "fit": s.distance.fit, "test": s.distance.test, "median_difference": _finite(s.distance.median)}
                for s in self.best[:5]
            ],
        }  # fmt: skip


def _says(outcome: float | None, word: str) -> bool:
    return outcome is not None and bool(word) and (outcome > 0 if word == "holds" else outcome < 1)


def _finite(x: float | None) -> float | None:
    return None if x is None or x in (float("inf"), float("-inf")) else x


# The record of a sample


_SEAL = b"# seal "
"""Begins the first line of a record, a comment: the sum of its bytes (`base/sealed.py`). It stands in the file itself, so that no kill
between two files can part them."""
_APART = ("fit", "test", "median", "near", "of")


def made_of(paper: Paper) -> str:
    """Changes when something changes that settings are made of: what is open, the claims, the published tables, the scenarios, their seeds."""
    opens = [(o.name, text_of(o.base), str(o.over)) for o in paper.opens()]
    claims = [(c.id, c.check.text) for c in read_claims(paper.folder / "claims.toml")]
    published = [(e.id, paper.published(e.id)) for e in paper.experiments()]
    base = {o.name: o.base for o in paper.opens()}
    combinations = [(c.factors, c.tree(paper.setting_seeds[0])) for c in paper.setting(base)]
    text = json.dumps([opens, claims, published, combinations, paper.setting_seeds, paper.single_runs])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def csv_of(seen: Sequence[Seen], paper: Paper) -> bytes:
    """Settings, one a row: what it was made of, its kind, its values, its distance from the published values, what each claim does in it, by how much."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    made = made_of(paper)
    writer.writerow(["made_of", *map(inert, columns(paper))])
    writer.writerows([made, *row] for row in rows_of(seen, paper))
    return out.getvalue().encode()


def columns(paper: Paper) -> list[str]:
    """The columns of a record, but for what it was made of."""
    ids = _ids(paper)
    return ["kind", *(o.name for o in paper.opens()), *_APART, *ids, *map(_margin, ids)]


def rows_of(seen: Sequence[Seen], paper: Paper) -> list[list[str]]:
    """Settings in these columns, one a row."""
    names, ids = [o.name for o in paper.opens()], _ids(paper)

    def row(s: Seen) -> list[str]:
        d = s.distance
        apart = [_number(d.fit), _number(d.test), _number(d.median), str(d.near), str(d.n)]
        outcomes, margins = ([_number(of.get(i)) for i in ids] for of in (s.outcomes, s.margins))
        return [s.kind, *(text_of(s.values[n]) for n in names), *apart, *outcomes, *margins]

    return [row(s) for s in seen]


def _ids(paper: Paper) -> list[str]:
    return [c.id for c in read_claims(paper.folder / "claims.toml")]


def _margin(claim: str) -> str:
    """The column of a claim's margin."""
    return f"margin of {claim}"


def _number(x: float | None) -> str:
    return "" if x is None else f"{x:.6g}"


def recorded_reach(paper: Paper) -> list[dict[str, str]]:
    """The rows that `attainable.csv` in a study's folder records; none without the file. Raises if they were made of something else."""
    path = paper.folder / "attainable.csv"
    return made_of_this(paper, path, REACH) if path.exists() else []


def save_record(path: Path, data: bytes) -> None:
    """Writes a record into a study's folder, whole or not at all, with the sum that `made_of_this` checks."""
    save_bytes(path, seal_text(_SEAL + BLANK.encode() + b"\n" + data, _SEAL))


def made_of_this(paper: Paper, path: Path, columns: Sequence[str], by: str = "joint", more: bool = False) -> list[dict[str, str]]:
    """The rows of a record; raises if they were made of something else than this study, or are not as they were written.

    `by` is the module that makes it; `more`: it has further columns, behind these.
    """
    data = read_input(path)
    if fault := fault_of_text(data, _SEAL):
        raise PaperError(
            f"{path} {fault}\n"
            f"  = help: put back the file as it was, or remove it: `python -m fairlane.papers.{by} {paper.called}` then makes it anew"
        )
    rows = csv_rows(path, data.partition(b"\n")[2])
    names = list(rows[0]) if rows else []
    if (names[: len(columns)] if more else names) != list(columns) or rows[0]["made_of"] != made_of(paper):
        raise PaperError(
            f"{path}: its settings were made of another study than this one\n"
            f"  = help: remove it: `python -m fairlane.papers.{by} {paper.called}` then makes it anew"
        )
    return rows


def recorded(paper: Paper) -> list[Seen]:
    """The settings that `settings.csv` in a study's folder records; none without the file. Raises if they were made of something else."""
    return read_settings(paper, paper.folder / "settings.csv")


def read_settings(paper: Paper, path: Path, by: str = "joint") -> list[Seen]:
    """The settings of a file that `csv_of` made, without our values beside the published ones. `by` is the module that makes it."""
    if not path.exists():
        return []
    opens, ids, number = paper.opens(), _ids(paper), partial(number_in, path)

    def seen(r: Mapping[str, str]) -> Seen:
        fit, test, median, near, of = (number(r[k]) for k in _APART)
        return Seen(
            {o.name: o.over.read(r[o.name]) for o in opens},
            _kind(r["kind"], path),
            {i: number(r[i]) for i in ids},
            {i: number(r[_margin(i)]) for i in ids},
            Distance(fit, test, median, int(near or 0), int(of or 0)),
        )

    return [seen(r) for r in made_of_this(paper, path, ["made_of", *columns(paper)], by)]


def recorded_values(paper: Paper) -> list[tuple[Kind, Setting]]:
    """Which settings `settings.csv` records, whatever has changed since about the claims, the scenarios or the file's other columns."""
    opens = paper.opens()
    path = paper.folder / "settings.csv"
    data = read_input(path)
    rows = csv_rows(path, data.partition(b"\n")[2] if data.startswith(_SEAL) else data)
    return [(_kind(r["kind"], path), {o.name: o.over.read(r[o.name]) for o in opens}) for r in rows]


def _kind(text: str, path: Path) -> Kind:
    if text not in get_args(Kind):
        raise PaperError(f"{path}: {text!r} is no kind of setting: expected {' or '.join(get_args(Kind))}")
    return cast("Kind", text)


def of_record(paper: Paper) -> Joint | None:
    """The settings that a study's folder records, as those of a reproduction; None without a record."""
    from .full_reruns import recorded_whole

    seen = recorded(paper)
    if not seen:
        return None
    claims, asked = read_claims(paper.folder / "claims.toml"), sum(s.kind in SAMPLED for s in seen)
    return Joint(paper.opens(), claims, seen, paper.declared_setting, asked, recorded_reach(paper), whole=recorded_whole(paper))


def record(joint: Joint, paper: Paper, reached: Sequence[Reach]) -> Path:
    """Writes `settings.csv` and `attainable.csv` into a study's folder."""
    path = paper.folder / "settings.csv"
    save_record(path, csv_of(joint.seen, paper))
    save_record(paper.folder / "attainable.csv", csv_of_reach(reached, made_of(paper)))
    return path


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the settings of a study and records them in its folder; what is said of them in its documents is in that file."""
    import argparse

    from .folders import load
    from .recorded import Which
    from .reproduction import run_reproduction

    parser = argparse.ArgumentParser(prog="python -m fairlane.papers.calibration", description=main.__doc__)
    parser.add_argument("key", help="a study that comes with fairlane, or the folder of one")
    parser.add_argument("--settings", type=int, default=None, help="how many, in place of as many as settle every share")
    parser.add_argument(
        "--refine", type=int, default=None, help="how many around those nearest to the published values, in place of one for four"
    )
    parser.add_argument(
        "--on",
        action="store_true",
        help="goes on from the recorded settings, in place of a sample: adds those around the published values alone",
    )
    parser.add_argument(
        "--again", action="store_true", help="runs the recorded settings once more, whatever has changed since, and no others"
    )
    parser.add_argument("--out", default=None, help="the folder of the results, with the runs (default: results/KEY)")
    given = parser.parse_args(arguments)
    paper = load(given.key)
    these = recorded_values(paper) if given.again else ()
    done = run_reproduction(paper, out=given.out, which=Which(given.settings, given.refine, given.on, these, record=False))
    if done.joint is None:
        parser.error(f"{given.key} leaves nothing open: it has no settings")
    print(record(done.joint, paper, done.reach_of_sample))


if __name__ == "__main__":
    main()
