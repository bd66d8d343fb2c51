"""`[[claims]]` of a study file: sentences with checks, looked through before anything runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from ..base.escapes import names_folder
from ..claims import BadCheck, Check, NoData, Tables
from . import frames
from .diagnostics import Place, Troubles, near
from .model import Claim, Factor, Label, Selector, Settings
from .settings import SETTING

_CALLS = ("v", "vs")
_TRIED = (1.7, 0.3)
"""Two sets of made-up values decide whether a check can be evaluated: each value is one of these to the power of its number."""


def level_key(factor: Factor, label: Label) -> str:
    """A level as it stands in the tables of checks."""
    return str(frames.label_value(label, frames.levels_dtype(factor)))


def spellings(factors: Sequence[Factor]) -> dict[tuple[str, str], str]:
    """Other ways to write the levels of factors in a check: as the study file has them ("4Mbit/s" for 4e6), and as Python has them."""
    out: dict[tuple[str, str], str] = {}
    for f in factors:
        for level in f.levels:
            key = level_key(f, level.label)
            for spelt in (level.text, str(level.label), str(level.label).lower() if isinstance(level.label, bool) else ""):
                if spelt and spelt != key:
                    out[f.name, spelt] = key
    return out


def numeric(settings: Settings | None) -> list[str]:
    """Returns the varied parameters with numbers, which a check can read."""
    return [] if settings is None else [o.name for o in settings.opens if not o.choices]


def layout(metrics: Sequence[str], factors: Sequence[Factor], settings: Settings | None) -> dict[str, list[dict[str, str]]]:
    """The rows of the tables of checks: one per metric with a row for each combination of levels, and one per numeric varied parameter."""
    axes = [[(f.name, level_key(f, x.label)) for x in f.levels] for f in factors]
    rows = [dict(combination) for combination in product(*axes)]
    return {**{m: rows for m in metrics}, **{name: [{}] for name in numeric(settings)}}


def read_claims(
    written: Sequence[Mapping[str, Any]],
    metrics: Sequence[Selector],
    factors: Sequence[Factor],
    settings: Settings | None,
    troubles: Troubles,
) -> tuple[Claim, ...]:
    """The tables `[[claims]]`; `factors` are all but the settings."""
    out: list[Claim] = []
    labels = [m.label for m in metrics]
    taken = [SETTING, *(o.name for o in settings.opens)] if settings is not None else []
    sound = not troubles.found  # an error elsewhere would be reported again as an unknown name
    for i, table in enumerate(written):
        place: Place = ("claims", str(i))
        id = str(table.get("id", f"C{i + 1}"))
        if not (names_folder(id) and id.strip(".")):
            troubles.add((*place, "id"), f'"{id}" cannot name a claim: it names files, too', "write letters, digits, - or _")
        if id in taken:
            reserved = f"a claim cannot be called `{id}`: the table of settings has that column"
            troubles.add((*place, "id"), reserved, "give it another id")
        if any(c.id == id for c in out):
            troubles.add((*place, "id") if "id" in table else place, f'two claims are called "{id}"', "give one of them another id")
        if not str(table["statement"]).strip():
            troubles.add((*place, "statement"), "a claim says something", "write the sentence that the check decides")
        if sound:
            for message, help in faults(str(table["check"]), labels, factors, settings):
                troubles.add((*place, "check"), message, help)
        out.append(Claim(id, str(table["statement"]).strip(), str(table["check"]), (*place, "check")))
    return tuple(out)


_WORDS = "a check compares values such as v('METRIC', FACTOR='LEVEL'): see docs/reference/studies.md"


def faults(text: str, metrics: list[str], factors: Sequence[Factor], settings: Settings | None) -> list[tuple[str, str]]:
    """Returns the faults of a check over these metrics, each with a suggestion."""
    try:
        check = Check(text)
    except BadCheck as e:
        return [(str(e), _WORDS)]
    found = list(_named(text, metrics, factors, settings))
    if found:
        return found
    rows = layout(metrics, factors, settings)
    for base in _TRIED:
        values = {t: [base ** (1 + (7 * k + 3 * i) % 11) for k in range(len(rows[t]))] for i, t in enumerate(rows)}
        try:
            check.comparisons(Tables(rows, values, spellings(factors)))
            check.outcome(Tables(rows, values, spellings(factors)))
        except BadCheck as e:
            if isinstance(e.__context__, ArithmeticError) or "math domain" in str(e):
                continue  # that may be so of made-up values alone
            return [(_several(e, factors), _WORDS)]
    return []


def _several(e: BadCheck, factors: Sequence[Factor]) -> str:
    names = [f.name for f in factors]
    more = f"; say which level of {', '.join(f'`{n}`' for n in names)}, or use vs(...)" if "one expected" in str(e) and names else ""
    return f"{e}{more}"


def _named(text: str, metrics: list[str], factors: Sequence[Factor], settings: Settings | None) -> Iterator[tuple[str, str]]:
    """Tables, factors and levels that a check names in so many words, and that there are not."""
    tables = [*metrics, *numeric(settings)]
    of = {f.name: f for f in factors}
    for node in ast.walk(ast.parse(text.strip(), mode="eval")):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id == "series":
            yield "a study has no table of a series: a check reads one value a run", "name a metric such as queue_p99 under `metrics`"
            continue
        if node.func.id not in _CALLS:
            continue
        if not node.args:
            yield f"`{node.func.id}` names no metric", f"write {node.func.id}({metrics[0] if metrics else 'METRIC'!r})"
            continue
        table = node.args[0]
        if isinstance(table, ast.Constant) and table.value not in tables:
            choices = settings is not None and any(o.name == table.value for o in settings.opens)
            name = str(table.value)
            message = f"`{name}` is a choice, which has no number" if choices else f"there is no metric `{name}` in this study"
            yield message, near(name, tables, "a check reads")
        reads_open = isinstance(table, ast.Constant) and table.value in numeric(settings)
        for word in node.keywords:
            if word.arg is None:
                yield "`**` is not allowed in a check", _WORDS
            elif word.arg == SETTING or reads_open:
                yield f"`{word.arg}` cannot be said here: a check is made in each setting by itself", "leave it out"
            elif word.arg not in of:
                help = near(word.arg, list(of)) if of else "this study has no factors: leave it out"
                yield f"there is no factor `{word.arg}` in this study", help
            elif isinstance(word.value, ast.Constant) and isinstance(word.value.value, (str, int, float)):
                yield from _level(of[word.arg], word.value.value)


def _level(factor: Factor, value: Any) -> Iterator[tuple[str, str]]:
    """A level that a check names and the factor does not have."""
    spelt = spellings([factor])
    rows = {"levels": [{factor.name: level_key(factor, x.label)} for x in factor.levels]}
    try:
        Tables(rows, {"levels": [0.0] * len(factor.levels)}, spelt).find("levels", {factor.name: value})
    except NoData:
        yield (
            f"the factor `{factor.name}` has no level `{value}`",
            near(str(value), [x.text or str(x.label) for x in factor.levels], "its levels are"),
        )
