"""Factors of a study file: lists, ranges, named ones, tables of levels and zips become `Factor`s with labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from .. import _core
from ..base import toml
from ..base.paths import join, split
from ..errors import FairlaneError
from .diagnostics import Place, Troubles
from .model import Factor, Label, Level
from .paths import Kind, beside, kind_of
from .ranges import RangeError, amount, spread

UNITS = {"rate": "bit/s", "dur": "s", "bytes": "byte", "packets": "packets"}
_LONGEST = 60
_KEYS = {"path", "values", "levels", "from", "to", "count", "step", "scale"}
RESERVED = (
    "combination", "replication", "seed", "key", "status", "kind", "error", "file", "fingerprint", "events", "cpu_s",
    "name", "table", "time", "metric", "value", "text", "mean", "low", "high", "sd", "n", "unit",
)  # fmt: skip
"""Columns of the tables of every study, which no factor can be called."""
_SEED = "the seeds of a study stand in `seeds`"


def is_table_of_factor(value: Any, name: str = "") -> bool:
    """Returns true if a table below `[factors]` describes a factor; else it is a part of a bare path. `name`: its key, if at the top."""
    if not isinstance(value, dict) or not value:
        return False
    if name and not kind_of((name,)).known and _KEYS & value.keys():
        return True
    if any(not isinstance(v, (dict, list)) for v in value.values()):
        return True
    levels = value.get("levels")
    return isinstance(value.get("values"), list) or (isinstance(levels, dict) and all(isinstance(v, dict) for v in levels.values()))


def entries(table: dict[str, Any], top: Place) -> Iterator[tuple[tuple[str, ...], Any, Place]]:
    """Yields the entries of `[factors]`, with bare dotted keys joined: keys of the path, value, place."""
    for key, value in table.items():
        if is_table_of_factor(value, key):
            yield (key,), value, (*top, key)
        else:
            yield from _below((key,), value, (*top, key))


def _below(keys: tuple[str, ...], value: Any, place: Place) -> Iterator[tuple[tuple[str, ...], Any, Place]]:
    if isinstance(value, dict) and value and not is_table_of_factor(value):
        for key, inner in value.items():
            yield from _below((*keys, key), inner, (*place, key))
    else:
        yield keys, value, place


def path_of(keys: tuple[str, ...]) -> tuple[str, ...] | None:
    """The keys of a path: the first key may hold a whole path, in quotes; bare ones below it are names.

    >>> path_of(("links.a",)), path_of(("links", "a.b", "rate"))
    (('links', 'a'), ('links', 'a.b', 'rate'))
    """
    first = split(keys[0])
    if first is None or not all(keys):
        return None
    return (*first, *keys[1:])


def sets_of(table: dict[str, Any], top: Place) -> Iterator[tuple[tuple[str, ...], Any, Place]]:
    """The changes of `[set]` or of a level, one for each value: keys, value, place."""
    for key, value in table.items():
        yield from _set_below((key,), value, (*top, key))


def _set_below(keys: tuple[str, ...], value: Any, place: Place) -> Iterator[tuple[tuple[str, ...], Any, Place]]:
    path = path_of(keys)
    # A table is the same as its values one by one; but one that names an algorithm replaces another as a whole.
    if isinstance(value, dict) and value and path is not None and not kind_of(path).registry:
        for key, inner in value.items():
            yield from _set_below((*keys, key), inner, (*place, key))
    else:
        yield keys, value, place


@dataclass
class Reader:
    """Reads factors; what is wrong goes to `troubles`."""

    troubles: Troubles
    folder: str
    """Files that values name are relative to it."""

    def factors(self, table: dict[str, Any]) -> list[Factor]:
        """All of `[factors]`."""
        out = []
        for keys, value, place in entries(table, ("factors",)):
            factor = self.factor(keys, value, place)
            if factor is not None:
                out.append(factor)
        return out

    def factor(self, keys: tuple[str, ...], value: Any, place: Place) -> Factor | None:
        """One entry of `[factors]`."""
        if not isinstance(value, dict):
            return self._listed(keys, value, place, place, place)
        if "levels" in value:
            for other in ("path", "values", "from", "to", "count", "step", "scale"):
                if other in value:
                    self.troubles.add(
                        (*place, other), f"a factor with `levels` has no `{other}`", "each level says itself what it changes", key=True
                    )
            return self._levels(keys, value["levels"], place)
        if "path" in value:
            if not isinstance(value["path"], str):
                return None
            path, name = value["path"], ".".join(keys)
        elif "values" in value or "from" in value or "to" in value:
            path, name = None, ""
        else:
            self.troubles.add(
                place,
                "this factor has no levels",
                'write a list, a range such as { from = "1Mbit/s", to = "9Mbit/s", count = 3 }, or { levels = { ... } }',
            )
            return None
        if "values" in value:
            for other in ("from", "to", "count", "step", "scale"):
                if other in value:
                    self.troubles.add((*place, other), f"a factor with `values` has no `{other}`", "leave one of them out", key=True)
            listed, inner = value["values"], (*place, "values")
        else:
            listed, inner = value, place
        at = (*place, "path") if path is not None else place
        chain = (path,) if path is not None else keys
        return self._listed(chain, listed, inner, at, place, name)

    def path(self, keys: tuple[str, ...], place: Place, *, key: bool = True) -> tuple[str, ...] | None:
        """The keys of a path, checked as far as can be without the scenario."""
        path = path_of(keys)
        shown = ".".join(keys)
        if path is None:
            self.troubles.add(place, f"`{shown}` is not a path", 'write for instance "links.bottleneck.queue.red.min"', key=key)
        elif path[0] == "seed":
            self.troubles.add(place, "the seed cannot be varied or set here", _SEED, key=key)
            return None
        return path

    def _listed(self, keys: tuple[str, ...], values: Any, place: Place, at: Place, entry: Place, name: str = "") -> Factor | None:
        """A factor with one path; `place` is where its values stand, `at` the path, `entry` the whole factor."""
        path = self.path(keys, at, key=at == entry)
        if path is None:
            return None
        rows = self.values(path, values, place)
        if not rows:
            return None
        text = join(path)
        levels = [
            Level(label, ((text, value),), where, written, ((at, where),)) for label, value, where, written in self.labels(path, rows)
        ]
        unit = self._unit
        factor = Factor(name, tuple(levels), unit, (text,), entry)
        return self._different(factor)

    def values(self, path: tuple[str, ...], values: Any, place: Place) -> list[tuple[str | None, Any, Place]]:
        """Names (if any), values and places of the levels of one path."""
        rows: list[tuple[str | None, Any, Place]]
        if isinstance(values, dict) and place[-1:] != ("values",):
            try:
                written = spread(values, kind_of(path))
            except RangeError as e:
                self.troubles.add((*place, e.key) if e.key else place, e.message, e.help)
                return []
            except KeyError as e:
                self.troubles.add(place, f"this range has no `{e.args[0]}`", 'write { from = "1Mbit/s", to = "9Mbit/s", count = 3 }')
                return []
            rows = [(None, v, place) for v in written]
        elif isinstance(values, dict):
            rows = [(k, v, (*place, k)) for k, v in values.items()]
        elif isinstance(values, list):
            rows = [(None, v, (*place, str(i))) for i, v in enumerate(values)]
        else:
            advice = f"write a list, [{toml.value(values)}, ...], or a value for all combinations in [set]"
            self.troubles.add(place, f"a factor needs several levels, found {_short(values)}", advice)
            return []
        if not rows:
            self.troubles.add(place, "this factor has no levels: the list is empty", "write at least one level, or leave the factor out")
        return rows

    def labels(self, path: tuple[str, ...], rows: list[tuple[str | None, Any, Place]]) -> list[tuple[Label, Any, Place, str]]:
        """Labels, values, places and texts of levels; `_unit` is then the unit of the labels."""
        kind = kind_of(path)
        self._unit = ""
        read = [self.value(path, kind, value, where) for _, value, where in rows]
        texts = [name if name is not None else text for (name, _, _), (_, text) in zip(rows, read, strict=True)]
        if len(set(texts)) < len(texts):
            # Cut short, long tables may look the same.
            shown = zip(rows, texts, strict=True)
            texts = [t if name is not None or isinstance(v, str) else shorthand(v, kind.registry, cut=False) for (name, v, _), t in shown]
        labels: list[Label] = list(texts)
        named = any(name is not None for name, _, _ in rows)
        plain = [value for _, value, _ in rows]
        if not named and all(isinstance(v, bool) for v in plain):
            labels = list(plain)
        elif not named and not kind.text:
            sizes = [amount(v) for v in plain]
            kinds = {s.kind for s in sizes if s is not None}
            if all(s is not None for s in sizes) and len(kinds) == 1:
                (one,) = kinds
                numbers = [n for v in plain if (n := v if one == "number" else _number(v)) is not None]
                if len(numbers) == len(plain):
                    whole = all(isinstance(n, int) for n in numbers)
                    labels, self._unit = [n if whole else float(n) for n in numbers], UNITS.get(one, "")
        return [(label, value, where, text) for label, (value, _), (_, _, where), text in zip(labels, read, rows, texts, strict=True)]

    def value(self, path: tuple[str, ...], kind: Kind, value: Any, place: Place) -> tuple[Any, str]:
        """A value as the scenario takes it, and how it is shown."""
        if kind.registry == "queue" and isinstance(value, str):
            return self._queue(value, place), " ".join(value.split())
        if kind.file and isinstance(value, str):
            return beside(self.folder, value), value
        return value, shorthand(value, kind.registry)

    def _queue(self, text: str, place: Place) -> Any:
        from ..base.choices import choices

        try:
            found = choices(text)
        except FairlaneError as e:
            message, _, help = str(e).partition(": ")
            near = help if help.startswith(("did you mean", "known are")) else ""
            self.troubles.add(
                place, message if near else str(e), near.replace("'", "`") or 'write for instance "red", "red:ns2" or "codel{target=10ms}"'
            )
            return text
        if len(found) > 1:
            self.troubles.add(
                place,
                f"one queue is wanted, found {len(found)}",
                "write each as a level of its own: " + ", ".join(f'"{c.label}"' for c in found),
            )
        return found[0].value

    def _levels(self, keys: tuple[str, ...], table: Any, place: Place) -> Factor | None:
        """A factor whose levels change several values."""
        if not isinstance(table, dict):
            return None
        if not table:
            self.troubles.add(
                (*place, "levels"), "this factor has no levels: the table is empty", "write at least one level, or leave the factor out"
            )
            return None
        levels = []
        for name, changes in table.items():
            here = (*place, "levels", name)
            sets, places = self.changes(changes, here)
            levels.append(Level(name, tuple(sets), here, name, tuple(places)))
        paths = dict.fromkeys(p for level in levels for p, _ in level.sets)
        return self._different(Factor(".".join(keys), tuple(levels), "", tuple(paths), place))

    def changes(self, table: Any, top: Place) -> tuple[list[tuple[str, Any]], list[tuple[Place, Place]]]:
        """The changes of `[set]` or of a level, and where their paths and values stand."""
        sets: list[tuple[str, Any]] = []
        places: list[tuple[Place, Place]] = []
        for keys, value, place in sets_of(table if isinstance(table, dict) else {}, top):
            path = self.path(keys, place)
            if path is None:
                continue
            read, _ = self.value(path, kind_of(path), value, place)
            text = join(path)
            if any(text == known for known, _ in sets):
                self.troubles.add(place, f"`{text}` is set twice", "write each path once", key=True)
            sets.append((text, read))
            places.append((place, place))
        return sets, places

    def zips(self, tables: list[dict[str, Any]]) -> list[Factor]:
        """All of `[[zip]]`."""
        out = []
        for i, table in enumerate(tables):
            factor = self._zip(table, ("zip", str(i)))
            if factor is not None:
                out.append(factor)
        return out

    def _zip(self, table: dict[str, Any], top: Place) -> Factor | None:
        members: list[tuple[tuple[str, ...], str, list[tuple[Label, Any, Place, str]], Place]] = []
        bad = False
        for keys, value, place in entries(table, top):
            path = self.path(keys, place)
            rows = self.values(path, value, place) if path is not None else []
            if path is None or not rows:
                bad = True
                continue
            members.append((path, "", self.labels(path, rows), place))
            members[-1] = (path, self._unit, *members[-1][2:])
        if bad or not members:
            if not members and not bad:
                self.troubles.add(
                    top, "this zip has no paths", 'write lists of one length: "links.a.rate" = [...], "links.a.delay" = [...]'
                )
            return None
        first = members[0]
        unequal = [m for m in members[1:] if len(m[2]) != len(first[2])]
        for m in unequal:
            message = (
                f"a zip takes lists of one length: `{join(first[0])}` has {_levels(len(first[2]))}, `{join(m[0])}` {_levels(len(m[2]))}"
            )
            self.troubles.add(
                m[3], message, "write a level of each for a level of the other, or put them under [factors] for all combinations"
            )
        if unequal:
            return None
        leading = next((m for m in members if len({row[0] for row in m[2]}) == len(m[2])), None)
        paths = tuple(join(m[0]) for m in members)
        levels = []
        for k in range(len(first[2])):
            rows_k = [m[2][k] for m in members]
            text = ", ".join(r[3] for r in rows_k)
            label = leading[2][k][0] if leading is not None else text
            sets = tuple((p, r[1]) for p, r in zip(paths, rows_k, strict=True))
            levels.append(Level(label, sets, rows_k[0][2], text, tuple((m[3], r[2]) for m, r in zip(members, rows_k, strict=True))))
        order = paths if leading is None else (join(leading[0]), *(p for p in paths if p != join(leading[0])))
        return self._different(Factor("", tuple(levels), leading[1] if leading is not None else "", order, top))

    def _different(self, factor: Factor) -> Factor | None:
        """The factor, unless two of its levels are the same."""
        seen: dict[Any, Level] = {}
        good = True
        for level in factor.levels:
            other = seen.setdefault(level.label, level)
            if other is level:
                continue
            good = False
            same = f"the level {_shown(level)} is there twice"
            if level.text != other.text:
                same = f"the levels {_shown(other)} and {_shown(level)} are the same"
            self.troubles.add(level.place, same, "write each level once")
        return factor if good else None


def name_all(factors: list[Factor], taken: set[str], troubles: Troubles) -> list[Factor]:
    """Gives each factor without a name the shortest end of its path that no other has."""
    own = {f.name for f in factors if f.name}
    tails: dict[str, int] = {}
    for f in factors:
        if not f.name:
            for tail in _tails(f.paths[0]):
                tails[tail] = tails.get(tail, 0) + 1
    out: list[Factor] = []
    used: dict[str, Factor] = {}
    for f in factors:
        name = f.name
        if not name:
            free = (t for t in _tails(f.paths[0]) if tails[t] == 1 and t not in RESERVED and t not in taken and t not in own)
            name = next(free, f.paths[0])
        elif name in RESERVED:
            troubles.add(
                f.place, f"a factor cannot be called `{name}`: the tables of every study have that column", "give it another name", key=True
            )
        elif name in taken:
            troubles.add(f.place, f"a factor cannot be called `{name}`: a metric has that name", "give it another name", key=True)
        if name in used:
            troubles.add(f.place, f"two factors are called `{name}`", "give one of them another name", key=True)
        used[name] = f
        out.append(replace(f, name=name))
    return out


def _tails(path: str) -> list[str]:
    """The ends of a path, shortest first; a bare number says nothing.

    >>> _tails("links.a.queue.prio.classes.0")
    ['classes.0', 'prio.classes.0', 'queue.prio.classes.0', 'a.queue.prio.classes.0', 'links.a.queue.prio.classes.0']
    """
    keys = split(path) or (path,)
    ends = [join(keys[i:]) for i in range(len(keys) - 1, -1, -1)]
    return [t for t in ends if not re.fullmatch(r"\d+", t)]


def _number(text: str) -> int | float | None:
    """A quantity as a number in its SI unit; None if it is larger than any ("1e400bit/s"): the scenario refuses it in its own words."""
    kind = _core.quantity_kind(text)
    return None if kind is None else _core.quantity(kind, text)[0]


def shorthand(value: Any, registry: str = "", *, cut: bool = True) -> str:
    """Returns a value in few words, at most 60 letters unless `cut` is false.

    >>> shorthand({"codel": {"target": "10ms", "ecn": True}}, "queue")
    'codel{target=10ms, ecn=true}'
    """
    text = _short(value)
    if registry and isinstance(value, dict) and len(value) == 1:
        (name, inner), *_ = value.items()
        text = f"{name}{_short(inner)}" if inner and isinstance(inner, dict) else str(name)
    return text if len(text) <= _LONGEST or not cut else text[: _LONGEST - 1] + "…"


def _short(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}={_short(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_short(v) for v in value) + "]"
    return toml.value(value)


def _levels(n: int) -> str:
    return f"{n} level{'s' * (n != 1)}"


def _shown(level: Level) -> str:
    return f'"{level.text}"'
