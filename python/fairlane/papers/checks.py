"""The folder of a study, looked through before anything runs: what is wrong is reported with file and line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import _core
from ..base.document import json_schema
from ..base.files import read_input
from ..base.scenario import read_scenario
from ..claims import BadCheck, Check, as_number
from ..errors import PaperError, suggest
from .definition import Combination, Experiment, Paper
from .layout import wrong_layout
from .tables import RECORDS, check_table, lines_of, read_folder

_Remark = tuple[list[str], bool, str, str]
"""Keys that lead to a value, whether the key itself is meant, what is wrong, what to write instead."""
_VOCABULARY = "a check knows v, vs, series and a few helpers: see docs/reference/papers.md"
_COLUMNS = ("parameter", "value", "status", "basis")


def check_files(paper: Paper) -> None:
    """Raises what is wrong with paper.toml, claims.toml and the tables as files, before the code reads them."""
    _document(paper.folder / "paper.toml", "paper-file")
    _document(paper.folder / "claims.toml", "claims-file")
    for table in sorted(paper.folder.glob("*.csv")):
        if table.name not in RECORDS:
            check_table(table)
    path = paper.folder / "parameters.csv"
    if path.exists():
        for line, row in _rows(path):
            for column in (c for c in _COLUMNS if row.get(c) is None):
                raise PaperError(f"{path}:{line}: no {column!r}; the columns are {', '.join(_COLUMNS)}")


def check_study(paper: Paper, experiments: Sequence[Experiment], combinations: Sequence[Combination]) -> None:
    """Raises where words, claims, published tables and code do not fit one another."""
    known = [e.id for e in experiments]
    _tell(paper.folder / "paper.toml", _about_words(paper, known))
    _tell(paper.folder / "claims.toml", _about_claims(paper, known))
    twice = next((factors for factors, n in Counter(c.factors for c in combinations).items() if n > 1), None)
    if twice is not None:
        raise PaperError(f"{paper.folder}: two combinations have the factors {', '.join(f'{k}={x}' for k, x in twice)}")


def bad_check(paper: Paper, id: str, message: str) -> Exception:
    """Returns the error of a claim's check, with its place in claims.toml."""
    path = paper.folder / "claims.toml"
    claims = _document(path, "claims-file")["claim"]
    (place,) = (str(i) for i, c in enumerate(claims) if c["id"] == id)
    return _core.remarks(read_scenario(path)[0], str(path), "toml", [(["claim", place, "check"], False, "remark", message, _VOCABULARY)])


def _document(path: Path, schema: str) -> Any:
    """A TOML file that fits its schema."""
    if not path.is_file():
        raise PaperError(f"{path.parent} is not a study: it lacks {path.name}")
    text, name, form = read_scenario(path)
    return json.loads(_core.read_document(text, name, form, json.dumps(json_schema(schema))))


def _tell(path: Path, found: list[_Remark]) -> None:
    if found:
        text, name, form = read_scenario(path)
        raise _core.remarks(text, name, form, [(keys, key, "remark", wrong, help) for keys, key, wrong, help in found])


def _about_words(paper: Paper, known: Sequence[str]) -> list[_Remark]:
    """Words for experiments that the study does not make."""
    words = paper.words["experiments"]
    found = [(["experiments", x], True, *_unknown(x, known, "experiment")) for x in words if x not in known]
    for x in (x for x in words if x in known):
        if wrong := wrong_layout(paper, x):
            part, message, help = wrong
            found.append((["experiments", x, "layout", part], False, message, help))
    if paper.words.get("picture", "") not in ("", *known):
        found.append((["picture"], False, *_unknown(paper.words["picture"], known, "experiment")))
    if paper.words["topology"] not in ("", *known):
        found.append((["topology"], False, *_unknown(paper.words["topology"], known, "experiment")))
    return found


def _about_claims(paper: Paper, known: Sequence[str]) -> list[_Remark]:
    """Checks that cannot be read, and names of experiments and tables that are none."""
    claims = _document(paper.folder / "claims.toml", "claims-file")["claim"]
    tables, published, found, seen = [*known, *paper.tables], read_folder(paper.folder), [], set()
    for i, claim in enumerate(claims):
        place = ["claim", str(i)]
        if claim["id"] in seen:
            found.append(([*place, "id"], False, f"`{claim['id']}` is there twice", "give each claim an id of its own"))
        seen.add(claim["id"])
        found += [
            ([*place, "experiments", str(k)], False, *_unknown(x, known, "experiment"))
            for k, x in enumerate(claim["experiments"])
            if x not in known
        ]
        try:
            check = Check(claim["check"])
            outcome = check.outcome(published)
        except BadCheck as e:
            found.append(([*place, "check"], False, str(e), _VOCABULARY))
            continue
        strange = [x for x in check.tables() if x not in tables]
        found += [([*place, "check"], False, *_unknown(x, tables, "table")) for x in strange]
        for name in (x for x in check.tables() if x not in strange):
            _numbers(paper.folder / f"{name}.csv")
        if outcome != claim["published"] and not strange:
            found.append(([*place, "published"], False, f"on the published tables the check says {outcome}", "correct one of the two"))
    return found


def _numbers(path: Path) -> None:
    """A published table that a claim reads has numbers alone."""
    for line, row in _rows(path) if path.exists() else ():
        if as_number(row.get("value")) is None:
            value = row.get("value") or ""
            shown = repr(value) if len(value) <= 80 else f"{value[:60]!r}... ({len(value)} characters)"
            raise PaperError(f"{path}:{line}: {shown} is not a number; each row of a table has one in the column `value`")


def _unknown(name: str, known: Sequence[str], what: str) -> tuple[str, str]:
    """Returns message and help for an unknown name, with similar ones."""
    message, _, near = str(suggest(name, known, what)).partition(": ")
    return message, near if what == "experiment" else f"{near}; `tables` in study.py names those that are no experiments"


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    """The rows of a CSV file with their lines."""
    return lines_of(path, read_input(path))
