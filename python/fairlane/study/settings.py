"""Settings of a study: `[open]` and `settings` become a factor whose levels are settings.

A setting is one value for each varied parameter, drawn from all of them together (`fairlane.multiverse`). To everything that plans, runs
and keeps runs it is a level like any other, so a study over settings stops, resumes and runs on clusters as every study does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..base.paths import join
from .diagnostics import Place, Troubles
from .factors import UNITS, Reader, entries, shorthand
from .model import Factor, Label, Level, Settings, VariedParameter
from .paths import kind_of
from .ranges import KINDS, amount

if TYPE_CHECKING:
    from ..multiverse import Open

SETTING = "setting"
"""The factor, and the column, that numbers the settings."""
MOST_SETTINGS = 100_000
_OWN = ("base", "why")
"""Keys of varied parameters that factors do not have."""
_RANGE = 'write { from = "1Mbit/s", to = "100Mbit/s", scale = "log" }, or a list of choices'


@dataclass(frozen=True)
class Opened:
    """An entry of `[open]` as it was read."""

    spec: VariedParameter
    factor: Factor
    """Its choices, or the two ends of its range; a factor for naming, for clashes, and for what is tried before a run."""


def open_of(spec: VariedParameter) -> Open:
    """Converts a varied parameter for `fairlane.multiverse`."""
    from ..multiverse import Levels, Open, Span

    over = Levels(spec.choices) if spec.choices else Span(spec.low, spec.high, "log" if spec.scale == "log" else "linear", spec.step)
    return Open(spec.name, spec.base, over, spec.why)


def opens_of(settings: Settings) -> list[Open]:
    """Varied parameters of a study."""
    return [open_of(o) for o in settings.opens]


def as_settings(settings: Settings) -> list[dict[str, Label]]:
    """The settings of a study, each as values by name."""
    names = [o.name for o in settings.opens]
    return [dict(zip(names, values, strict=True)) for values in settings.values]


def read_open(tree: Mapping[str, Any], reader: Reader) -> list[Opened]:
    """The table `[open]`."""
    out = []
    for keys, value, place in entries(tree.get("open", {}), ("open",)):
        found = _opened(keys, value, place, reader)
        if found is not None:
            out.append(found)
    return out


def _opened(keys: tuple[str, ...], value: Any, place: Place, reader: Reader) -> Opened | None:
    troubles = reader.troubles
    why, base = "", None
    if isinstance(value, dict):
        why, base = str(value.get("why", "")), value.get("base")
        value = {k: v for k, v in value.items() if k not in _OWN}
        if ("from" in value or "to" in value) and not value.keys() & {"values", "levels"}:
            return _ranged(keys, value, place, reader, base, why)
    factor = reader.factor(keys, value, place)
    if factor is None:
        return None
    if len(factor.levels) < 2:
        message = "a parameter with one value is not varied"
        troubles.add(place, message, "write another value, or move it to [set]")
        return None
    # A list without names is called by what it says, so that numbers keep their units.
    texts = tuple(level.text or str(level.label) for level in factor.levels)
    chosen = texts[0] if base is None else base if isinstance(base, str) and base in texts else shorthand(base)
    if chosen not in texts:
        troubles.add((*place, "base"), f"the base {chosen} is not among the choices", f"write one of {', '.join(texts)}")
        return None
    return Opened(VariedParameter(factor.name, chosen, choices=texts, why=why, paths=factor.paths), factor)


def _ranged(keys: tuple[str, ...], table: dict[str, Any], place: Place, reader: Reader, base: Any, why: str) -> Opened | None:
    """A range that values are drawn from."""
    from ..multiverse import OpenError, Span

    troubles = reader.troubles
    for key in ("from", "to"):
        if key not in table:
            troubles.add(place, f"this range has no `{key}`", _RANGE)
            return None
    named = isinstance(table.get("path"), str)
    at = (*place, "path") if named else place
    path = reader.path((table["path"],) if named else keys, at, key=not named)
    if path is None:
        return None
    ends = [(key, table[key], amount(table[key])) for key in ("from", "to")]
    for key, written, found in ends:
        if found is None:
            message = f"{_shown(written)} is neither a number nor a quantity"
            troubles.add((*place, key), message, 'write for instance 0.5, or "10Mbit/s"; what is neither goes into a list of choices')
            return None
    (_, low, least), (_, high, most) = ends
    assert least is not None and most is not None
    if least.kind != most.kind:
        message = f"the ends have different units: {_shown(low)} is {KINDS[least.kind]}, {_shown(high)} {KINDS[most.kind]}"
        troubles.add((*place, "to"), message, "write both ends in units of one kind")
        return None
    if least.size >= most.size:
        message = f"the range ends at {_shown(high)}, where it begins ({_shown(low)}), or before"
        troubles.add((*place, "to"), message, "write the lower end as `from`, the higher one as `to`")
        return None
    scale = str(table.get("scale", "linear")).lower()
    if scale == "log" and least.size <= 0:
        message = f"a range with a logarithmic scale cannot begin at {_shown(low)}"
        troubles.add((*place, "from"), message, 'write a `from` above zero, or scale = "linear"')
        return None
    if kind_of(path).number and not kind_of(path).whole and isinstance(low, int) and isinstance(high, int):
        low, high = float(low), float(high)  # 0 to 1 of a share is all that lies between them
    try:
        span = Span(low, high, "log" if scale == "log" else "linear", table.get("step"))
    except OpenError as e:
        key = "step" if "step" in table else "to"
        troubles.add((*place, key), str(e), "leave `step` out, or write it in the unit of the ends" if key == "step" else _RANGE)
        return None
    if base is not None and not span.has(base):
        troubles.add((*place, "base"), f"the base {_shown(base)} does not lie in the range", f"write a value from {low} to {high}")
        return None
    text = join(path)
    levels = tuple(
        Level(str(written), ((text, written),), (*place, key), str(written), ((at, (*place, key)),))
        for key, written in (("from", low), ("to", high))
    )
    unit = UNITS.get(least.kind, "")
    factor = Factor(".".join(keys) if named else "", levels, unit, (text,), place)
    middle = span.at(0.5) if base is None else base
    return Opened(VariedParameter(factor.name, middle, low, high, scale, table.get("step"), unit=unit, why=why, paths=(text,)), factor)


def draw(written: Any, opened: Sequence[Opened], named: Sequence[Factor], troubles: Troubles) -> tuple[Settings, Factor] | None:
    """The settings of `settings = ...` over the varied parameters, with the names that their factors got."""
    from ..multiverse import OpenError, design

    if written is None:
        if opened:
            troubles.add(("open",), "[open] needs settings", "write settings = { n = 500 } above the tables", key=True)
        return None
    if not opened:
        if not troubles.found:
            troubles.add(("settings",), "there is one setting only: no parameter varies", f"[open] says what is; there, {_RANGE}", key=True)
        return None
    table = written if isinstance(written, dict) else {"n": written}
    opens = [replace(o.spec, name=f.name) for o, f in zip(opened, named, strict=True)]
    n, seed = int(table["n"]), int(table.get("seed", 1))
    for o, f in zip(opens, named, strict=True):
        try:
            open_of(o)
        except OpenError as e:
            troubles.add(f.place, str(e), "write a word or two, or choices that differ", key=True)
    if troubles.found:
        return None
    drawn = design([open_of(o) for o in opens], n, seed)
    settings = Settings(n, seed, tuple(opens), tuple(tuple(w[o.name] for o in opens) for w in drawn))
    levels = tuple(_setting(i, values, opened, settings) for i, values in enumerate(settings.values))
    return settings, Factor(SETTING, levels, "", tuple(p for o in opens for p in o.paths), ("open",))


def _setting(number: int, values: Sequence[Label], opened: Sequence[Opened], settings: Settings) -> Level:
    """A setting as a level: its changes, with their places in the file."""
    sets: list[tuple[str, Any]] = []
    keys: list[tuple[Place, Place]] = []
    for value, o in zip(values, opened, strict=True):
        if o.spec.choices:
            level = o.factor.levels[o.spec.choices.index(str(value))]
            sets += level.sets
            keys += level.keys
        else:
            ((at, _),) = o.factor.levels[0].keys
            sets.append((o.factor.paths[0], value))
            keys.append((at, o.factor.place))
    text = ", ".join(f"{o.name} {v}" for o, v in zip(settings.opens, values, strict=True))
    return Level(number, tuple(sets), ("open",), text, tuple(keys))


def _shown(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
