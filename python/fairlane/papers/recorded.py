"""The settings that a study records, of which a reproduction runs some again: the record counts as long as those come out as recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import FairlaneError, PaperError
from ..multiverse import Setting, design, key_of, setting_text
from .claims import read_claims
from .definition import Paper
from .records import columns, recorded, recorded_reach, rows_of
from .runner import Progress, Runner
from .settings import SAMPLED, Kind, Seen, Settings, nearest, refine, sample

SAMPLE, NEAREST = 16, 8
"""Numbers of settings that are run again: the first of the sample, and those nearest to the published values."""


def to_repeat(rows: Sequence[Seen]) -> list[Seen]:
    """Returns the recorded settings to rerun, in the record's order: first of the sample, declared, nearest to the published values."""
    of = [*[s for s in rows if s.kind in SAMPLED][:SAMPLE], *(s for s in rows if s.kind == "declared"), *nearest(rows, NEAREST)]
    keys = {key_of(s.values) for s in of}
    return [s for s in rows if key_of(s.values) in keys]


@dataclass(frozen=True)
class Which:
    """Which settings a reproduction has. Without a wish: those that the study records, some of them run again, else a sample."""

    sample: int | None = None
    """Number of settings of the sample, those on record among them; None takes those on record, or as many as settle every share."""
    refine: int | None = None
    """So many around those nearest to the published values (default: a quarter of the sample) of the sample."""
    on: bool = False
    """True to continue from the recorded settings, which are not run again."""
    these: Sequence[tuple[Kind, Setting]] = ()
    """These and no others, each of its kind."""
    record: bool = True
    """True to use recorded settings as the sample if no sample is requested."""

    def check(self) -> None:
        """Raises if no setting is asked for."""
        if self.sample is not None and self.sample < 1:
            raise FairlaneError(f"{self.sample} settings cannot be run: ask for one or more")


@dataclass
class Plan:
    """The settings of a reproduction: how many will be run, and then their results."""

    paper: Paper
    which: Which
    rows: Sequence[Seen] = ()
    earlier: Sequence[Mapping[str, str]] = ()
    """Rows of the recorded `attainable.csv`."""
    notes: list[str] = field(default_factory=list)
    again: int = 0
    """Recorded settings that came out again as recorded."""

    def __post_init__(self) -> None:
        w = self.which
        if w.on:
            self.rows, self.earlier = recorded(self.paper), recorded_reach(self.paper)
        elif w.record and not (w.refine or w.these):
            try:
                self.rows, self.earlier = recorded(self.paper), recorded_reach(self.paper)
            except PaperError as e:  # the sample is run instead
                self.notes.append(str(e))

    @property
    def runs(self) -> int:
        """Settings that will be run, about."""
        new = max(0, (self.which.sample or 0) - sum(s.kind in SAMPLED for s in self.rows))
        return (len(to_repeat(self.rows)) + new) or self.paper.most_settings

    @property
    def asked(self) -> int:
        """Settings of the sample that the study allows, that were asked for, or that are recorded."""
        recorded = sum(s.kind in SAMPLED for s in self.rows) if self.again else 0
        return max(recorded, self.which.sample or 0) or self.paper.most_settings

    def run(self, settings: Settings, progress: Progress | None, span: tuple[float, float]) -> list[Seen]:
        """Runs them; recorded ones of which one comes out otherwise do not count, and a sample takes their place."""
        w = self.which
        if w.on:
            return refine(settings, self.rows, w.refine or 0, progress, span)
        if w.these:
            return settings.these(w.these, progress, span)
        if self.rows:
            now, other = again(settings, to_repeat(self.rows), progress, span)
            if not other:
                by, self.again = {key_of(s.values): s for s in now}, len(now)
                return [*(by.get(key_of(s.values), s) for s in self.rows), *self._more(settings, progress, span)]
            self.notes.append(f"recorded settings come out otherwise here, so none of them counts: {other[0]}")
            self.earlier = ()
        return sample(settings, w.sample, progress, span, w.refine)

    def _more(self, settings: Settings, progress: Progress | None, span: tuple[float, float]) -> list[Seen]:
        """Runs the settings of the sample that were asked for and are not on record."""
        recorded = {key_of(s.values) for s in self.rows}
        wanted = design(settings.opens, self.which.sample or 0)
        return settings.see([w for w in wanted if key_of(w) not in recorded], "sample", progress, span)


def again(settings: Settings, rows: Sequence[Seen], progress: Progress | None, span: tuple[float, float]) -> tuple[list[Seen], list[str]]:
    """Runs these recorded settings, and says what comes out otherwise than recorded; our values, which no row has, are left out."""
    seen, other = [], []
    for then, now in zip(rows, settings.these([(s.kind, s.values) for s in rows], progress, span), strict=True):
        now = replace(now, ours=())
        seen.append(now)
        before, after = rows_of([then, now], settings.paper)
        apart = [f"{n} {x or None}, recorded {y or None}" for n, x, y in zip(columns(settings.paper), after, before, strict=True) if x != y]
        other += [f"setting {setting_text(now.values)}: {', '.join(apart)}"] if apart else []
    return seen, other


def differing(paper: Paper, rows: Sequence[Seen], folder: Path) -> list[str]:
    """Runs recorded settings again, in a folder for their runs, and says what comes out otherwise than recorded."""
    with Runner(paper, folder) as runner:
        return again(Settings(paper, runner, read_claims(paper.folder / "claims.toml")), rows, None, (0.0, 1.0))[1]
