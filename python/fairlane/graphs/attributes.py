"""Rates, delays and weights among the attributes of a graph's edges: the known names, units, and mappings by the user."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .. import _core
from ..errors import FairlaneError, short, suggest

FIBRE = 299_792_458.0 * 2 / 3
"""Speed of light in fibre in m/s, two thirds of that in a vacuum."""

_PREFIX = {"": 0, "k": 3, "m": 6, "g": 9, "t": 12}
_RATES: dict[str, float] = {
    f"{p}{unit}": 10.0**power for p, power in _PREFIX.items() for unit in ("bit/s", "bits/s", "bps", "b/s", "bitpersec")
}
_BYTES: dict[str, float] = {f"{p}{unit}": 8 * 10.0**power for p, power in _PREFIX.items() for unit in ("B/s", "Bps", "byte/s", "bytes/s")}
_TIMES = {"s": 1.0, "sec": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0}
_LENGTHS = {"m": 1.0, "km": 1e3, "mi": 1609.344, "miles": 1609.344}
_RATE_LETTERS = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
"""Units of rates whose bits are not written, as in `10G`."""

RATES = (
    "rate", "rate_bps", "linkspeedraw", "linkspeed", "capacity", "bandwidth", "bw", "speed", "link_speed", "linkcapacity",
    "link_capacity", "pre_installed_capacity", "module_capacity",
)  # fmt: skip
"""Names of rates that need no mapping, without their unit at the end (`bw_mbps`)."""
DELAYS = ("delay", "delay_s", "latency", "propagation_delay", "prop_delay", "dist", "distance", "length", "len")
"""Names of delays, and of lengths, which become delays of light in fibre."""
KNOWN = {"rate": RATES, "delay": DELAYS, "weight": ("weight", "routing_cost"), "demand": ("demand", "demand_value")}
FIXED = {"linkspeedraw": "bit/s", "rate_bps": "bit/s", "delay_s": "s"}
"""Units of names that say no unit, or only in part."""
LIKELY = {"rate": "Mbit/s", "delay": "ms", "length": "km", "demand": "Mbit/s"}
"""Units of examples."""
_VALUE = re.compile(r"\s*([<>~=≤≥]*)\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?)\s*([A-Za-zµ/]{0,12})\s*")


def unit_of(text: str, target: str) -> tuple[str, float] | None:
    """Returns the kind of a unit and its value in bit/s, seconds or metres; None if it is no unit of a rate or of a delay.

    >>> unit_of("Gbit/s", "rate"), unit_of("km", "delay"), unit_of("G", "rate"), unit_of("km", "rate")
    (('rate', 1000000000.0), ('length', 1000.0), ('rate', 1000000000.0), None)
    """
    if target in ("rate", "demand"):
        low = text.lower()
        found = _BYTES.get(text[:1].lower() + text[1:] if text[:1] in "kKmMgGtT" else text, _RATES.get(low, _RATE_LETTERS.get(low)))
        return None if found is None else ("rate", found)
    if text in _TIMES:
        return "time", _TIMES[text]
    return ("length", _LENGTHS[text]) if text in _LENGTHS else None


@dataclass(frozen=True)
class Mapped:
    """An attribute that the user names for a rate, a delay, a weight or a demand."""

    target: str
    name: str
    unit: str


def mapping(text: str | Mapping[str, str | Iterable[str]]) -> list[Mapped]:
    """Reads `rate=capacity:Gbit/s,delay=dist:km`; in Python also a dict. `rate=none` ignores the rates of the graph.

    >>> [m.name for m in mapping("rate=bw:Mbit/s,delay=none")], mapping({"weight": "cost"})[0].unit
    (['bw', ''], '1')
    """
    help_text = "\n  = help: write for instance rate=capacity:Gbit/s,delay=dist:km"
    if isinstance(text, str):
        parts = [p.strip() for p in text.split(",") if p.strip()]
        pairs = [(p.partition("=")[0].strip(), p.partition("=")[2].strip()) for p in parts]
    else:
        pairs = [(k, str(v)) for k, one in text.items() for v in ([one] if isinstance(one, str) else one)]
    out = []
    for target, of in pairs:
        if target not in KNOWN:
            raise FairlaneError(f"cannot map to {short(target)}: expected rate, delay, weight or demand{help_text}")
        name, colon, unit = of.rpartition(":")
        if not colon:
            name, unit = of, "1" if target == "weight" else ""
        name, unit = name.strip(), unit.strip()
        if of == "none":
            out.append(Mapped(target, "", ""))
            continue
        if target == "weight":
            if not re.fullmatch(r"[0-9.]{1,12}", unit) or not name:
                raise FairlaneError(f"cannot map weight to {short(of)}: write weight=NAME, or weight=NAME:FACTOR")
        elif not name or (unit and unit_of(unit, target) is None):
            kinds = "a rate such as Mbit/s" if target != "delay" else "a time such as ms, or a length such as km"
            raise FairlaneError(f"cannot map {target} to {short(of)}: {short(unit)} is not the unit of {kinds}{help_text}")
        out.append(Mapped(target, name, unit))
    return out


def flattened(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yields the attributes with those of nested tables and lists, as `res.bw` and `capacity.0`."""
    stack: list[tuple[str, Any]] = [(str(k), v) for k, v in reversed(list(data.items())) if not str(k).startswith("_")]
    while stack:
        name, value = stack.pop()
        if isinstance(value, Mapping):
            stack += [(f"{name}.{k}", v) for k, v in reversed(list(value.items()))]
        elif isinstance(value, (list, tuple)):
            stack += [(f"{name}.{i}", v) for i, v in reversed(list(enumerate(value)))]
        else:
            yield name, value


def known_as(name: str, target: str) -> tuple[bool, str]:
    """Returns whether a name is that of a rate or delay, and the unit that it says: `bw_mbps`, `LinkSpeedRaw`."""
    parts = name.lower().split(".")
    word = next((p for p in reversed(parts) if not p.isdecimal()), "")
    if word in KNOWN[target]:
        return True, FIXED.get(word, "")
    front, _, unit = word.rpartition("_")
    return (True, unit) if front in KNOWN[target] and unit_of(unit, target) else (False, "")


@dataclass
class Attributes:
    """Finds rates and delays, and counts what was taken from where."""

    file: str
    mapped: list[Mapped] = field(default_factory=list)
    units: Mapping[str, str] = field(default_factory=dict)
    """Units that the graph declares for `rate`, `delay`, `demand`."""
    taken: dict[str, Counter[str]] = field(default_factory=dict)
    asked: dict[tuple[str, str], tuple[str, Any]] = field(default_factory=dict)
    """First place and value of each attribute whose unit is unknown, by target and name."""
    odd: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)
    """Number of unreadable values, and the first."""
    seen: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)

    def find(self, target: str, data: Mapping[str, Any], where: str) -> str | None:
        """Returns the rate or the delay of an edge in the notation of a scenario; None if it has none."""
        of = [m for m in self.mapped if m.target == target]
        if any(not m.name for m in of):
            return None
        here = list(flattened(data))
        self.seen.update(n for n, _ in here)
        for m in of:
            for name, value in here:
                if name == m.name or ("." not in m.name and name.rpartition(".")[2] == m.name):
                    found = self._value(target, name, value, m.unit, where, strict=True)
                    if found is not None:
                        self.used.add(m.name)
                        return found
        unknown: list[tuple[str, Any]] = []
        order = {name: i for i, name in enumerate(KNOWN[target])}
        candidates = [(order.get(n.lower(), len(order)), n, v, known_as(n, target)) for n, v in here]
        for _, name, value, (is_one, unit) in sorted((c for c in candidates if c[3][0]), key=lambda c: c[0]):
            if value in (None, ""):
                continue
            if name == "LinkSpeed":
                unit = unit or str(data.get("LinkSpeedUnits", "")).strip()
            unit = unit or self.units.get(target, "")
            found = self._value(target, name, value, unit, where, strict=name in ("rate", "delay"))
            if found is not None:
                return found
            if is_one and not unit and _bare(value):
                unknown.append((name, value))
        for name, value in unknown[:1]:
            self.asked.setdefault((target, re.sub(r"\.\d+$", ".0", name)), (where, value))
        return None

    def _value(self, target: str, name: str, value: Any, unit: str, where: str, *, strict: bool) -> str | None:
        kind = "dur" if target == "delay" else "rate"
        text = str(value).strip()
        m = _VALUE.fullmatch(text) if len(text) <= 100 else None
        if m is None or (m[3] and unit_of(m[3], target) is None):
            if strict:
                return self._written(kind, text, where, name, target)
            if text and not isinstance(value, bool):
                count, first = self.odd.get((target, name), (0, text))
                self.odd[target, name] = count + 1, first
            return None
        own = m[3] or unit
        if not own:
            return None
        if strict and m[3] and not m[1] and name in ("rate", "delay") and _exact(kind, text):
            self._count(target, f"{name}, with its unit")
            return self._written(kind, text, where, name, target)
        number = float(m[2])
        of = unit_of(own, target)
        if of is None or number != number or number in (float("inf"), float("-inf")):
            return None
        if number < 0 or (number == 0 and target != "delay"):
            if strict and target != "demand":
                raise FairlaneError(f"{where}: {name} is {text}: expected more than zero\n  = help: write a positive number")
            return None
        shown = "with its unit" if m[3] else f"in {own}"
        self._count(target, f"{name}, {shown}{' (light in fibre, 199862 km/s)' if of[0] == 'length' else ''}")
        if m[1]:
            count, first = self.odd.get((target, f"{name} "), (0, text))
            self.odd[target, f"{name} "] = count + 1, first
        return _shown(of, number, own)

    def _written(self, kind: str, text: str, where: str, name: str, target: str) -> str:
        example = "10Mbit/s" if kind == "rate" else "5ms"
        if len(text) > 100:
            what = "rate" if kind == "rate" else "delay"
            raise FairlaneError(f"{where}: {short(text)} is not a {what}\n  = help: write for instance {example}")
        try:
            value, _ = _core.quantity(kind, text)
        except ValueError as e:
            raise FairlaneError(f"{where}: {e}\n  = help: write for instance {example}") from None
        if kind == "rate" and value <= 0:
            raise FairlaneError(f"{where}: the rate is zero\n  = help: write for instance 10Mbit/s")
        self._count(target, f"{name}, with its unit")
        return text

    def _count(self, target: str, what: str) -> None:
        self.taken.setdefault(target, Counter())[what] += 1

    def weight(self, data: Mapping[str, Any], where: str) -> int | None:
        """Returns the weight of an edge for routes, if the user maps one."""
        for m in (m for m in self.mapped if m.target == "weight" and m.name):
            for name, value in flattened(data):
                self.seen.add(name)
                if name == m.name or ("." not in m.name and name.rpartition(".")[2] == m.name):
                    number = _number(value)
                    whole = None if number is None else number * float(m.unit)
                    if whole is None or whole != round(whole) or not 1 <= whole <= 65_535:
                        raise FairlaneError(
                            f"{where}: {name} is {str(value)[:40]}, which is no weight"
                            f"\n  = help: a weight is a whole number from 1 to 65535; a factor makes one: weight={m.name}:10"
                        )
                    self.used.add(m.name)
                    self._count("weight", f"{name}{'' if m.unit == '1' else f', times {m.unit}'}")
                    return round(whole)
        return None

    def demand(self, amount: float, where: str) -> str | None:
        """Returns the rate of a demand: in the unit that is mapped, else in that of the links' capacities."""
        of = [m for m in self.mapped if m.target == "demand"]
        if any(not m.name for m in of):
            return None
        self.used.update(m.name for m in of)
        rates = (m.unit for m in self.mapped if m.target == "rate" and m.unit)
        unit = next((m.unit for m in of if m.unit), "") or self.units.get("rate", "") or next(rates, "")
        if not unit:
            self.asked.setdefault(("demand", "demand_value"), (where, amount))
            return None
        return self._value("demand", "demand_value", amount, unit, where, strict=False)

    def settle(self) -> None:
        """Raises `FairlaneError` for units that the graph does not say, and for mapped attributes that it does not have."""
        for m in self.mapped:
            if m.name and m.name not in self.used and not any(name == m.name or name.endswith(f".{m.name}") for name in self.seen):
                raise suggest(m.name, sorted(self.seen), f"attribute of links in {short(self.file)}")
        if self.asked:
            (_, name), (where, value) = next(iter(self.asked.items()))
            lengths = [n.lower().rpartition(".")[2] for n in ("dist", "distance", "length", "len")]
            wanted = ",".join(
                f"{target}={n}:{LIKELY['length' if n.lower().rpartition('.')[2] in lengths else target]}" for target, n in self.asked
            )
            raise FairlaneError(
                f"{where}: {name} has the value {str(value)[:40]} without a unit\n  = help: say the unit: --map {wanted}; "
                f"{next(iter(self.asked))[0]}=none leaves it out"
            )

    def notes(self) -> Iterator[str]:
        """Yields a line for each kind of value: from which attributes it was taken."""
        for target, counts in self.taken.items():
            of = "rate of demands" if target == "demand" else f"{target} of edges"
            yield f"{of} from {'; '.join(f'{what}: {n}' for what, n in counts.items())}"
        mapped = {m.target for m in self.mapped}
        for name in sorted(n for n in self.seen if known_as(n, "weight")[0] and "weight" not in mapped):
            yield f"{name} of edges is not used; for routes by it: --map weight={name}"
        for (target, name), (n, first) in self.odd.items():
            if name.endswith(" "):
                yield f"{name.strip()} of {n} edge{'s' * (n != 1)} is a bound, such as {short(first)}: taken as the value"
            else:
                yield f"{name} of {n} edge{'s' * (n != 1)} is no {target} that can be read, such as {short(first)}"


def _exact(kind: str, text: str) -> bool:
    try:
        _core.quantity(kind, text)
    except ValueError:
        return False
    return True


def _bare(value: Any) -> bool:
    number = _number(value)
    return number is not None and number > 0


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number - number == 0 else None


def _shown(of: tuple[str, float], number: float, unit: str) -> str:
    """Returns a rate or a delay as in a scenario, in its own unit if a scenario has that."""
    kind, factor = of
    if kind == "length":
        return f"{number * factor / FIBRE * 1e6:.3f}us"
    if kind == "time":
        return f"{number * factor * 1e6:.6f}us" if unit in ("s", "sec", "min") else f"{number:.12g}{unit.replace('µ', 'u')}"
    bits = number * factor
    power = max((p for p in (0, 3, 6, 9, 12) if factor >= 10.0**p), default=0)
    name = {0: "", 3: "k", 6: "M", 9: "G", 12: "T"}[power]
    return f"{round(bits)}bit/s" if power == 0 else f"{bits / 10.0**power:.12g}{name}bit/s"
