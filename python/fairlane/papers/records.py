"""The records in the folder of a study: the settings that were run, with a checksum and the digest of the study they were made of."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

from ..base.checksums import BLANK, fault_of_text, seal_text
from ..base.csv_text import inert
from ..base.files import read_input, save_bytes
from ..errors import PaperError
from ..multiverse import Setting, text_of
from .attainable import REACH
from .claims import read_claims
from .definition import Paper
from .distance import Distance
from .settings import Kind, Seen
from .tables import number_in
from .tables import rows_of as csv_rows

if TYPE_CHECKING:
    pass

# The record of a sample


_SEAL = b"# seal "
"""Begins the first line of a record, a comment: the sum of its bytes (`base/sealed.py`). It stands in the file itself, so that no kill
between two files can part them."""
_APART = ("fit", "test", "median", "near", "of")


def made_of(paper: Paper) -> str:
    """Returns a digest of all that decides a record: unstated parameters, claims, published tables, scenarios, seeds."""
    opens = [(o.name, text_of(o.base), str(o.over)) for o in paper.opens()]
    claims = [(c.id, c.check.text) for c in read_claims(paper.folder / "claims.toml")]
    published = [(e.id, paper.published(e.id)) for e in paper.experiments()]
    base = {o.name: o.base for o in paper.opens()}
    combinations = [(c.factors, c.tree(paper.setting_seeds[0])) for c in paper.setting(base)]
    text = json.dumps([opens, claims, published, combinations, paper.setting_seeds, paper.single_runs])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def csv_of(seen: Sequence[Seen], paper: Paper) -> bytes:
    """Writes one row per setting: digest, kind, values, distance from the published values, outcome and margin of each claim."""
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
    """Settings in these columns, one per row."""
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


def records_in(paper: Paper, path: Path, by: str = "calibration") -> list[dict[str, str]]:
    """The rows of a record, whatever study they were made of; raises if they are not as they were written."""
    data = read_input(path)
    if fault := fault_of_text(data, _SEAL):
        raise PaperError(
            f"{path} {fault}\n"
            f"  = help: put back the file as it was, or remove it: `python -m fairlane.papers.{by} {paper.called}` makes a new one"
        )
    return csv_rows(path, data.partition(b"\n")[2])


def made_of_this(paper: Paper, path: Path, columns: Sequence[str], by: str = "calibration", more: bool = False) -> list[dict[str, str]]:
    """The rows of a record; raises if they were made of something else than this study, or are not as they were written.

    `by` is the module that makes it; `more`: it has further columns, behind these.
    """
    rows = records_in(paper, path, by)
    names = list(rows[0]) if rows else []
    if (names[: len(columns)] if more else names) != list(columns) or rows[0]["made_of"] != made_of(paper):
        raise PaperError(
            f"{path}: its settings were made of another study than this one\n"
            f"  = help: remove it: `python -m fairlane.papers.{by} {paper.called}` makes a new one"
        )
    return rows


def recorded(paper: Paper) -> list[Seen]:
    """The settings that `settings.csv` in a study's folder records; none without the file. Raises if they were made of something else."""
    return read_settings(paper, paper.folder / "settings.csv")


def read_settings(paper: Paper, path: Path, by: str = "calibration") -> list[Seen]:
    """The settings of a file that `csv_of` made, without our values. `by` is the module that makes it."""
    if not path.exists():
        return []
    return _settings_of(paper, path, made_of_this(paper, path, ["made_of", *columns(paper)], by))


def recorded_settings(paper: Paper) -> list[Seen]:
    """The settings that `settings.csv` records, whatever has changed since about the study; its claims must be those of the record."""
    path = paper.folder / "settings.csv"
    rows = records_in(paper, path)
    if list(rows[0]) != ["made_of", *columns(paper)]:
        raise PaperError(f"{path}: it has other claims or unstated parameters than this study: record all settings again")
    return _settings_of(paper, path, rows)


def _settings_of(paper: Paper, path: Path, rows: Sequence[Mapping[str, str]]) -> list[Seen]:
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

    return [seen(r) for r in rows]


def recorded_values(paper: Paper) -> list[tuple[Kind, Setting]]:
    """Which settings `settings.csv` records, whatever has changed since about the claims, the scenarios or the file's other columns."""
    opens = paper.opens()
    path = paper.folder / "settings.csv"
    data = read_input(path)
    rows = csv_rows(path, data.partition(b"\n")[2] if data.startswith(_SEAL) else data)
    return [(_kind(r["kind"], path), {o.name: o.over.read(r[o.name]) for o in opens}) for r in rows]


def _kind(text: str, path: Path) -> Kind:
    if text not in get_args(Kind):
        raise PaperError(f"{path}: {text!r} is not a kind of setting: expected {' or '.join(get_args(Kind))}")
    return cast("Kind", text)
