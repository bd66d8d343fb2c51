"""Which level of a study is at fault when scenarios made from it are wrong: each problem once, at its place in the study file."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import _core
from ..base.paths import split
from ..errors import FairlaneError, ScenarioError
from ..runs import selection
from .diagnostics import MOST, Place, Troubles, near, whole
from .model import Combination, Factor, Level, Selector, StudySpec

Indices = tuple[int, ...]
"""A level of each factor, by number."""
_SHOWN = 5
_ENDS = ("from", "to", "rate", "delay")
"""Keys that a link or a flow made by a path lacks at first."""


@dataclass(frozen=True)
class Problem:
    """A diagnosis of a scenario, the same in all combinations that have it."""

    level: tuple[int, int] | None
    """Factor and level whose value it points at; None for the base scenario and `[set]`."""
    change: int
    """Which of the level's, or of the study's, changes it points at; -1 for the base scenario."""
    key: bool
    """True if it points at the path of the change, not at its value."""
    column: int
    code: str
    message: str
    help: str
    piece: str
    """The name shown in messages."""
    path: str
    file: str
    line: int | None

    @property
    def incomplete(self) -> bool:
        """True if it is about a link or a flow that lacks a required key."""
        return self.code == "link-incomplete" or (self.code == "missing-key" and self.path.rpartition(".")[2] in _ENDS)


def level_text(value: Any) -> str:
    """A value as `--set` takes it: bare where it reads the same."""
    from ..base.toml import value as as_toml

    if isinstance(value, str) and _BARE.fullmatch(value) and value not in ("true", "false", "inf", "nan"):
        return value
    return as_toml(value)


_BARE = re.compile(r"[A-Za-z][\w-]*|(?!0[xob])\d[\d.]*[A-Za-z]+(?:/s)?")


def pairs_of(sets: Iterable[tuple[str, Any]]) -> list[tuple[str, str]]:
    """Changes as `_core.resolve` takes them."""
    return [(path, level_text(value)) for path, value in sets]


def prepared_base(spec: StudySpec) -> _core.Prepared | None:
    """The base scenario of a study with its own changes, read once for all combinations; None if it cannot be read."""
    try:
        return _core.Prepared(spec.base, spec.base_name, spec.base_format, pairs_of(spec.sets))
    except ScenarioError:
        return None


def resolve_base(spec: StudySpec, sets: Iterable[tuple[str, Any]] = (), prepared: _core.Prepared | None = None) -> dict[str, Any]:
    """The base scenario of a study with its own changes and then these, every parameter filled in; raises `ScenarioError`.

    `prepared`: what `prepared_base` returned for the study.
    """
    if prepared is None:
        resolved = _core.resolve(spec.base, spec.base_name, spec.base_format, pairs_of((*spec.sets, *sets)))
    else:
        resolved = prepared.resolve(pairs_of(sets))
    tree: dict[str, Any] = json.loads(resolved.json())
    return tree


def pieces(error: ScenarioError) -> list[str]:
    """The rendering of each diagnosis of an error."""
    found = re.split(r"\n\n(?=error: )", whole(error).rstrip("\n"))
    return [p + "\n" for p in found] if len(found) == len(error.diagnostics) else [error.rendered] * len(error.diagnostics)


class Diagnosis:
    """Collects what is wrong with combinations of levels, and finds what they have in common."""

    def __init__(self, spec: StudySpec) -> None:
        self.spec = spec
        self.tested: list[Indices] = []
        self._failed: dict[Problem, list[int]] = {}

    def add(self, indices: Indices, error: ScenarioError | None) -> None:
        """Adds a combination and its error, if any."""
        at = len(self.tested)
        self.tested.append(indices)
        if error is None:
            return
        sources = self._sources(indices)
        for d, piece in zip(error.diagnostics, pieces(error), strict=True):
            self._failed.setdefault(_problem(d, piece, sources), []).append(at)

    def _sources(self, indices: Indices) -> dict[str, tuple[tuple[int, int] | None, int, str]]:
        """Where each option of a combination comes from, by the name that diagnoses give it."""
        out: dict[str, tuple[tuple[int, int] | None, int, str]] = {}
        for i, (path, text) in enumerate(pairs_of(self.spec.sets)):
            out[f"--set {path}={text}"] = (None, i, path)
        for f, k in enumerate(indices):
            for i, (path, text) in enumerate(pairs_of(self.spec.factors[f].levels[k].sets)):
                out[f"--set {path}={text}"] = ((f, k), i, path)
        return out

    def error(self) -> ScenarioError | None:
        """Everything found, each problem at its place; None if nothing is wrong."""
        if not self._failed:
            return None
        source = self.spec.source
        troubles = Troubles(*source) if source is not None else Troubles("#", "<study>", "toml")
        self._base = _Base(self.spec)
        for problem, where in itertools.islice(self._failed.items(), 2 * MOST):
            self._tell(problem, where, troubles)
        troubles.left = max(0, len(self._failed) - 2 * MOST)
        return troubles.error()

    def _tell(self, p: Problem, where: list[int], troubles: Troubles) -> None:
        failed = [self.tested[i] for i in where]
        causes = [()] if p.level is not None and self._always(p.level, failed) else self.causes(failed)
        if p.level is None and () in causes and not self._base.has(p):
            # It is there whatever the levels are, but not without them: the levels that bring it even alone are at fault.
            causes = self._alone(p) or causes
        for cause in causes[:_SHOWN]:
            rest = [c for c in cause if c != p.level]
            message = p.message + (f" (with {self._words(rest)})" if rest and p.level is not None else "")
            if p.level is not None:
                factor = self.spec.factors[p.level[0]]
                level = factor.levels[p.level[1]]
                self._at_change(p, level.sets, level.keys, factor, level, message, troubles)
            elif cause:
                self._at_level(p, cause, troubles)
            elif p.change >= 0:
                self._at_change(p, self.spec.sets, self.spec.set_places, None, None, message, troubles)
            elif self.spec.inline:
                place = split(p.path) or ()
                troubles.add(("scenario", *place), p.message, p.help, key=p.code == "unknown-key", code=p.code)
            else:
                troubles.others.append(ScenarioError(p.piece, [_row(p)]))
        if len(causes) > _SHOWN and troubles.found:
            keys, key, code, message, help = troubles.found.pop()
            troubles.found.append((keys, key, code, f"{message}; {len(causes) - _SHOWN} more combinations have the same fault", help))

    def _at_change(
        self,
        p: Problem,
        sets: Sequence[tuple[str, Any]],
        places: Sequence[tuple[Place, Place]],
        factor: Factor | None,
        level: Level | None,
        message: str,
        troubles: Troubles,
    ) -> None:
        """A problem with a value of the study file, or with its path."""
        at, where = places[p.change] if p.change < len(places) else ((), ())
        if not at:
            troubles.others.append(ScenarioError(p.piece, [_row(p)]))
            return
        path = split(sets[p.change][0]) or ()
        # Behind `path` it is a value; everywhere else it is the key, or several.
        valued = at != where and at[-1:] == ("path",)
        unknown = self._base.unknown(path, p)
        if unknown is not None:
            message, help = unknown
            troubles.add(at if valued else _part(at, path, 1), message, help, key=not valued, code=p.code)
            return
        if p.key:
            part = next((i for i in range(len(path)) if sum(len(k) + 1 for k in path[: i + 1]) >= p.column), len(path) - 1)
            key = not valued and (at == where or len(at) <= len(where))
            troubles.add(at if valued else _part(at, path, part), message, p.help, key=key, code=p.code)
            return
        if factor is not None and level is not None and sum(x.place == level.place for x in factor.levels) > 1:
            message = f"the level {level.text}: {message}"
        troubles.add(where, message, p.help, code=p.code)

    def _at_level(self, p: Problem, cause: tuple[tuple[int, int], ...], troubles: Troubles) -> None:
        """A problem with the base scenario, or with another change, that these levels bring."""
        f, k = cause[-1]
        factor = self.spec.factors[f]
        level = factor.levels[k]
        where = f" ({p.file}:{p.line})" if p.line is not None and not self.spec.inline else f" ({p.path})" if p.path else ""
        who = f"the level {level.text}" if len(cause) == 1 else f"{self._words(cause[:-1])} and {self._words(cause[-1:])} together"
        troubles.add(level.place, f"{who}: {p.message}{where}", p.help, code=p.code)

    def _words(self, levels: Iterable[tuple[int, int]]) -> str:
        chosen = ((self.spec.factors[f], self.spec.factors[f].levels[k]) for f, k in levels)
        return ", ".join(f"{factor.name} = {level.text}" for factor, level in chosen)

    # --- causes ---------------------------------------------------------------------------------------

    def _always(self, level: tuple[int, int], failed: list[Indices]) -> bool:
        f, k = level
        return sum(c[f] == k for c in failed) == sum(c[f] == k for c in self.tested)

    def causes(self, failed: list[Indices]) -> list[tuple[tuple[int, int], ...]]:
        """The least sets of levels that all fail whatever the others are, and together have all that failed; [()] if everything failed.

        Levels on their own first, then pairs, then whole combinations.
        """
        if len(failed) == len(self.tested):
            return [()]
        out: list[tuple[tuple[int, int], ...]] = []
        left = failed
        for size in (1, 2):
            total: Counter[tuple[tuple[int, int], ...]] = Counter()
            bad: Counter[tuple[tuple[int, int], ...]] = Counter()
            for rows, count in ((self.tested, total), (failed, bad)):
                for c in rows:
                    count.update(itertools.combinations(enumerate(c), size))
            needed = {g for c in left for g in itertools.combinations(enumerate(c), size)}
            guilty = sorted(g for g in needed if bad[g] == total[g] and any(len(self.spec.factors[f].levels) > 1 for f, _ in g))
            kept = [g for g in guilty if all(len(self.spec.factors[f].levels) > 1 for f, _ in g)]
            out += kept
            left = [c for c in left if not any(all(c[f] == k for f, k in g) for g in kept)]
            if not left:
                return out
        return out + [tuple(enumerate(c)) for c in left]

    def _alone(self, p: Problem) -> list[tuple[tuple[int, int], ...]]:
        """The levels that bring a problem when nothing else is varied."""
        out: list[tuple[tuple[int, int], ...]] = []
        for f, factor in enumerate(self.spec.factors):
            for k, level in enumerate(factor.levels):
                error = _resolve(self.spec, level.sets)
                if error is not None and any(d["message"] == p.message and d["path"] == p.path for d in error.diagnostics):
                    out.append(((f, k),))
        return out


class _Base:
    """The base scenario with `[set]` alone."""

    def __init__(self, spec: StudySpec) -> None:
        self.spec = spec
        self.error: ScenarioError | None = None
        self.links: list[str] = []
        try:
            tree = resolve_base(spec)
            self.links = [x["name"] for x in tree["expanded"]["links"] if not x["name"].endswith(".reverse")]
        except ScenarioError as e:
            self.error = e
        try:
            any_table = '{"type": "object", "additionalProperties": true}'
            self.tree: dict[str, Any] = json.loads(_core.read_document(spec.base, spec.base_name, spec.base_format, any_table))
        except ScenarioError:
            self.tree = {}

    def has(self, p: Problem) -> bool:
        """Returns true if a problem exists without any level."""
        return self.error is not None and any(d["message"] == p.message and d["path"] == p.path for d in self.error.diagnostics)

    def unknown(self, path: tuple[str, ...], p: Problem) -> tuple[str, str] | None:
        """Returns message and help if a path leads to an unknown link or flow."""
        if len(path) < 3 or path[0] not in ("links", "flows") or not p.incomplete:
            return None
        section = self.tree.get(path[0])
        known = [*(section if isinstance(section, dict) else ()), *(self.links if path[0] == "links" else ())]
        if path[1] in known or (path[0] == "links" and not self.links and "topology" in self.tree):
            return None
        what = path[0][:-1]
        return f"the scenario has no {what} `{path[1]}`", near(path[1], known, f"its {path[0]} are")


def _resolve(spec: StudySpec, sets: Iterable[tuple[str, Any]]) -> ScenarioError | None:
    try:
        resolve_base(spec, sets)
    except ScenarioError as e:
        return e
    return None


def _part(at: Place, path: tuple[str, ...], part: int) -> Place:
    """The place of one key of a path, if it was written in bare keys."""
    return at[: len(at) - len(path) + part + 1] if len(at) > len(path) else at


def _problem(d: Mapping[str, Any], piece: str, sources: Mapping[str, tuple[tuple[int, int] | None, int, str]]) -> Problem:
    level, change, path = sources.get(d["file"], (None, -1, ""))
    key = change >= 0 and d["column"] <= len(path)
    return Problem(level, change, key, d["column"], d["code"], d["message"], d["help"] or "", piece, d["path"], d["file"], d["line"])


def _row(p: Problem) -> dict[str, Any]:
    return {
        "code": p.code,
        "path": p.path,
        "file": p.file,
        "line": p.line,
        "column": p.column,
        "end_column": p.column + 1,
        "message": p.message,
        "help": p.help,
    }


def check_metrics(spec: StudySpec, combinations: Sequence[Combination], all_indices: Sequence[Indices]) -> ScenarioError | None:
    """Returns the faults of metrics: those that no combination has, or only some have."""
    troubles = Troubles(*spec.source) if spec.source is not None else Troubles("#", "<study>", "toml")
    # Most combinations have the same flows and links: each such network is looked at once.
    shapes: dict[Any, list[int]] = defaultdict(list)
    for i, combination in enumerate(combinations):
        shapes[(tuple(combination.groups.items()), combination.links, combination.reports)].append(i)
    for s in spec.metrics:
        lacking: list[int] = []
        error: FairlaneError | None = None
        for members in shapes.values():
            try:
                selection.names(s, combinations[members[0]])
            except FairlaneError as e:
                error = error or e
                lacking += members
        if error is not None:
            _lacking(spec, s, sorted(lacking), error, combinations, all_indices, troubles)
    return troubles.error()


def _lacking(
    spec: StudySpec,
    s: Selector,
    lacking: list[int],
    error: FairlaneError,
    combinations: Sequence[Combination],
    all_indices: Sequence[Indices],
    troubles: Troubles,
) -> None:
    if len(lacking) == len(combinations):
        troubles.add(s.place, *selection.message_and_help(error))
        return
    diagnosis = Diagnosis(spec)
    diagnosis.tested = list(all_indices)
    causes = diagnosis.causes([all_indices[i] for i in lacking])
    which = "; ".join(diagnosis._words(c) for c in causes[:_SHOWN]) + ("; ..." if len(causes) > _SHOWN else "")
    what = "link" if s.table == "links" else "group" if s.table == "groups" else "flow"
    message = f"only some combinations have the {what} `{s.name}`: {len(lacking)} of {len(combinations)} lack it, those with {which}"
    troubles.add(s.place, message, f"name a {what} that all have" + (", or a group" if what == "flow" else ""))


def same_combinations(spec: StudySpec, combinations: Sequence[Combination], all_indices: Sequence[Indices]) -> list[str]:
    """Warnings about combinations that are the same scenario: their runs are computed once."""
    first: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for i, combination in enumerate(combinations):
        other = first.setdefault(combination.essence, i)
        if other == i:
            continue
        differ = [f for f, (a, b) in enumerate(zip(all_indices[other], all_indices[i], strict=True)) if a != b]
        if len(differ) == 1:
            (f,) = differ
            factor = spec.factors[f]
            a, b = (factor.levels[all_indices[k][f]].text for k in (other, i))
            counts[f"the levels {a} and {b} of {factor.name} give the same scenario"] += 1
        else:
            counts["different combinations of levels give the same scenario"] += 1
    return [f"{text}: {n} combination{'s' * (n != 1)} computed once" for text, n in counts.items()]
