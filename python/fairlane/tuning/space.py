"""The space of a search: queues with ranges in the place of values, and how a setting is drawn from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from ..base.literals import SI, kind, quantity, written
from .model import Entry, Pick, Range

Path = tuple[str, ...]
Remark = tuple[list[str], bool, str, str, str]
"""Keys, whether the key itself is meant, its code, what is wrong, what to write instead: as `_core.remarks` takes them."""

_RANGE_KEYS = {"from", "to", "scale", "of"}


class Parser:
    """Reads templates; what is wrong is collected in `found`."""

    def __init__(self) -> None:
        self.found: list[Remark] = []

    def parse(self, node: Any, keys: Path) -> Any:
        """A value of a tune file with `Range` and `Pick` in the place of tables of ranges."""
        if isinstance(node, dict):
            if "choices" in node:
                return self._pick(node, keys)
            if "from" in node or "to" in node:
                return self._range(node, keys)
            return {k: self.parse(v, (*keys, k)) for k, v in node.items()}
        if isinstance(node, list):
            return [self.parse(v, (*keys, str(i))) for i, v in enumerate(node)]
        return node

    def fail(self, keys: Path, message: str, help: str = "", at_key: bool = False) -> None:
        """Notes something wrong."""
        self.found.append((list(keys), at_key, "remark", message, help))

    def _pick(self, node: dict[str, Any], keys: Path) -> Any:
        others = [k for k in node if k != "choices"]
        if others:
            self.fail((*keys, others[0]), f"unknown key `{others[0]}` next to `choices`", "a list of choices stands alone", True)
            return None
        options = node["choices"]
        if not isinstance(options, list) or not options:
            self.fail((*keys, "choices"), "expected a list of at least one value", 'write choices = ["head", "tail"]')
            return None
        return Pick(tuple(self.parse(v, (*keys, "choices", str(i))) for i, v in enumerate(options)))

    def _range(self, node: dict[str, Any], keys: Path) -> Any:
        for k in node:
            if k not in _RANGE_KEYS:
                self.fail((*keys, k), f"unknown key `{k}` in a range", "a range has from, to, scale and of", True)
                return None
        for k in ("from", "to"):
            if k not in node:
                self.fail(keys, f"`{k}` is missing", 'write { from = "5p", to = "200p" }')
                return None
        ends = []
        for k in ("from", "to"):
            q = quantity(node[k])
            if q is None:
                self.fail((*keys, k), f"expected a number or a quantity, found {node[k]!r}", 'write for instance "5p", "20ms" or 0.1')
                return None
            ends.append(q)
        (low, unit), (high, other) = ends
        if kind(unit) != kind(other):
            self.fail((*keys, "to"), f"{node['to']} and {node['from']} are of different kinds", "give both ends the same unit")
            return None
        high *= SI[other] / SI[unit]
        high = round(high, 9)
        if unit == "%":
            low, high, unit = low / 100, high / 100, ""
        scale = node.get("scale", "linear")
        if scale not in ("linear", "log"):
            self.fail((*keys, "scale"), f"unknown scale {scale!r}", 'write "linear" or "log"')
            return None
        if not low < high:
            self.fail(
                (*keys, "to"), f"the range ends at {node['to']}, where it begins ({node['from']}) or before", "to is larger than from"
            )
            return None
        if scale == "log" and low <= 0:
            self.fail((*keys, "from"), "a logarithmic range begins above zero", 'write a larger number, or scale = "linear"')
            return None
        of = node.get("of", "")
        if not isinstance(of, str):
            self.fail((*keys, "of"), f"expected a parameter's name, found {of!r}", 'write of = "min"')
            return None
        if of and (unit or low <= 0):
            self.fail((*keys, "from"), f"a multiple of `{of}` is a plain number above zero", "write for instance from = 1.5, to = 5.0")
            return None
        whole = unit in ("p", "B") or (not unit and all(isinstance(node[k], int) for k in ("from", "to")))
        if whole and (low != int(low) or high != int(high)):
            self.fail(keys, f"there are no parts of {'a packet' if unit == 'p' else 'a byte'}", "use whole numbers")
            return None
        return Range(low, high, unit, scale == "log", whole and not of, of)

    def siblings(self, node: Any, keys: Path) -> None:
        """Checks that `of` names another parameter, which is a number."""
        if isinstance(node, dict):
            for k, v in node.items():
                if isinstance(v, Range) and v.of:
                    base = node.get(v.of)
                    if isinstance(base, Range) and not base.of:
                        continue
                    if v.of == k or isinstance(base, (Range, Pick)) or quantity(base) is None:
                        self.fail(
                            (*keys, k, "of"), f"`{v.of}` is not a number or range next to `{k}`", "name a parameter of the same table"
                        )
                else:
                    self.siblings(v, (*keys, k))
        elif isinstance(node, list):
            for i, v in enumerate(node):
                self.siblings(v, (*keys, str(i)))
        elif isinstance(node, Pick):
            for i, v in enumerate(node.options):
                self.siblings(v, (*keys, "choices", str(i)))


class Source(Protocol):
    """Where the values of a setting come from."""

    def number(self, name: str, r: Range) -> float:
        """A number for a range."""

    def index(self, name: str, p: Pick) -> int:
        """Which option."""


class Drawn:
    """Values from an Optuna trial."""

    def __init__(self, trial: Any) -> None:
        self.trial = trial

    def number(self, name: str, r: Range) -> float:
        """Asks the sampler."""
        if r.whole:
            return int(self.trial.suggest_int(name, int(r.low), int(r.high), log=r.log))
        return float(self.trial.suggest_float(name, r.low, r.high, log=r.log))

    def index(self, name: str, p: Pick) -> int:
        """Asks the sampler."""
        return int(self.trial.suggest_categorical(name, list(range(len(p.options)))))


class Corner:
    """One end of every range, and one option of every list: to see whether the space is valid."""

    def __init__(self, high: bool, option: int) -> None:
        self.high, self.option = high, option

    def number(self, _name: str, r: Range) -> float:
        """The end."""
        return r.high if self.high else r.low

    def index(self, _name: str, p: Pick) -> int:
        """The option."""
        return min(self.option, len(p.options) - 1)


class Setting:
    """A queue made from a template: the queue, what was chosen by path, and where each part is in the file."""

    def __init__(self, entry: Entry, source: Source) -> None:
        self._entry, self._source = entry, source
        self.chosen: dict[str, Any] = {}
        self.places: dict[Path, Path] = {}
        self.queue: dict[str, Any] = self._make(entry.template, (), ())

    def _name(self, path: Path) -> str:
        return f"{self._entry.label}/{'.'.join(path)}"

    def _make(self, node: Any, path: Path, at: Path) -> Any:
        self.places[path] = at
        if isinstance(node, Pick):
            i = self._source.index(self._name(at), node)
            option = node.options[i]
            value = self._make(option, path, (*at, "choices", str(i)))
            self.chosen[".".join(path)] = next(iter(option)) if isinstance(option, dict) and option else value
            return value
        if isinstance(node, Range):
            value = written(self._source.number(self._name(at), node), node.unit, node.whole)
            self.chosen[".".join(path)] = value
            return value
        if isinstance(node, dict):
            out = {k: None if isinstance(v, Range) and v.of else self._make(v, (*path, k), (*at, k)) for k, v in node.items()}
            for k, v in node.items():
                if isinstance(v, Range) and v.of:
                    self.places[*path, k] = (*at, k)
                    factor = self._source.number(self._name((*at, k)), v)
                    base, unit = quantity(out[v.of])  # type: ignore[misc]
                    whole = unit in ("p", "B")
                    out[k] = written(math.ceil(base * factor) if whole else base * factor, unit, whole)
                    self.chosen[".".join((*path, k))] = out[k]
            return out
        if isinstance(node, list):
            return [self._make(v, (*path, str(i)), (*at, str(i))) for i, v in enumerate(node)]
        return node


def corners(entry: Entry) -> Iterator[Setting]:
    """Settings at the ends of all ranges, so that each option of each list is there."""
    most = max((len(p.options) for p in picks(entry.template)), default=1)
    for option in range(most):
        yield Setting(entry, Corner(False, option))
        yield Setting(entry, Corner(True, option))


def picks(node: Any) -> Iterator[Pick]:
    """All lists of choices in a template."""
    if isinstance(node, Pick):
        yield node
    for v in (
        node.options if isinstance(node, Pick) else node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    ):
        yield from picks(v)


def searched(node: Any) -> bool:
    """Returns true if a template contains a choice."""
    if isinstance(node, (Range, Pick)):
        return True
    return any(map(searched, node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()))


def bare(node: Any) -> Any:
    """A template with its ranges left out, and the first of each list: what the defaults of the queue make of it."""
    if isinstance(node, Pick):
        return bare(node.options[0])
    if isinstance(node, dict):
        return {k: bare(v) for k, v in node.items() if not isinstance(v, Range)}
    if isinstance(node, list):
        return [bare(v) for v in node if not isinstance(v, Range)]
    return node


def match(entry: Entry, queue: Mapping[str, Any]) -> dict[str, Any] | None:
    """The parameters of the space with which a template gives this queue; None if it does not."""
    out: dict[str, Any] = {}
    return out if _match(entry.template, queue, (), lambda at: f"{entry.label}/{'.'.join(at)}", out) else None


def _match(node: Any, value: Any, at: Path, name: Callable[[Path], str], out: dict[str, Any]) -> bool:
    if isinstance(node, Pick):
        for i, option in enumerate(node.options):
            inner: dict[str, Any] = {}
            if _match(option, value, (*at, "choices", str(i)), name, inner):
                out.update(inner)
                out[name(at)] = i
                return True
        return False
    if isinstance(node, Range):
        q = quantity(value)
        if q is None or kind(q[1]) != kind(node.unit):
            return False
        x = q[0] * SI[q[1]] / SI[node.unit]
        out[name(at)] = round(x) if node.whole else x
        return node.low <= x <= node.high
    if isinstance(node, dict):
        if not isinstance(value, Mapping) or set(value) != set(node):
            return False
        for k, v in node.items():
            if isinstance(v, Range) and v.of:
                a, b = quantity(value[k]), quantity(value[v.of])
                if a is None or b is None or a[1] != b[1] or not b[0]:
                    return False
                out[name((*at, k))] = x = a[0] / b[0]
                if not v.low <= x <= v.high:
                    return False
            elif not _match(v, value[k], (*at, k), name, out):
                return False
        return True
    if isinstance(node, list):
        return isinstance(value, list) and len(value) == len(node) and all(
            _match(v, x, (*at, str(i)), name, out) for i, (v, x) in enumerate(zip(node, value, strict=True))
        )  # fmt: skip
    return bool(node == value)
