"""Values drawn from the JSON Schema of scenarios: every key, every algorithm, and values at the ends of their ranges.

The same seed draws the same values on any machine: only `random.Random.random` is asked, whose sequence Python promises to keep.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from fairlane import _core

SCHEMA = json.loads((Path(__file__).resolve().parents[2] / "docs" / "reference" / "schema.json").read_text("utf-8"))
DEFS: dict[str, Any] = SCHEMA["$defs"]
T = TypeVar("T")

USUAL = {
    "fl-dur": ("1ms", "5ms", "10ms", "20ms", "50ms", "100ms", "200ms", "500ms"),
    "fl-bytes": ("40B", "100B", "500B", "1000B", "1460B", "1500B", "5kB", "20kB", "64KiB"),
    "fl-len": ("2p", "5p", "10p", "20p", "50p", "1000p", "3000B", "15kB"),
    "fl-rate": ("64kbit/s", "500kbit/s", "1Mbit/s", "2Mbit/s", "3.3Mbit/s", "10Mbit/s", "33.3Mbit/s"),
}
"""Quantities of networks that people simulate, by their format in the schema."""
ODD = {
    "fl-dur": ("0s", "1ps", "1ns", "1us", "33.333us", "100us", "1ms", "333333333ns", "1s", "3s", "10s", "1h"),
    "fl-bytes": ("0B", "1B", "2B", "3B", "39B", "41B", "64B", "255B", "1514B", "9000B", "65507B", "1MB", "1GB"),
    "fl-len": ("0p", "1p", "1B", "1p", "3p", "39B", "1500B", "1514B", "65535p", "1GB"),
    "fl-rate": ("1bit/s", "300bit/s", "9.6kbit/s", "777777bit/s", "100Mbit/s", "1Gbit/s", "100Gbit/s", "10Tbit/s"),
}
"""Unusual values by format."""
KINDS = {form: form[3:] for form in USUAL}
LARGEST = {
    "access_points": 2, "bins": 500, "buckets": 5000, "clients": 4, "columns": 3, "count": 4, "depth": 2, "fanout": 3, "flows": 3000,
    "hops": 3, "hosts": 2, "k": 4, "leaves": 3, "links": 3, "nodes": 7, "objects_most": 20, "outstanding": 4, "pairs": 3, "room": 6,
    "rows": 3, "shadow": 5000, "spines": 2,
}  # fmt: skip
"""Numbers that would make networks, or tables of queues, too large for a short run."""
WORDS = {
    "match": ("tcp", "udp", "any", "dscp:ef", "dscp:af11", "dscp:cs1", "ecn:ect1", "ecn:ect0"),
    "in_profile": ("tcp", "udp", "any", "dscp:af11", "ecn:ect1"),
    "gop": ("I", "IP", "IBBP", "IBBPBBPBBPBB"),
}
"""Words for keys that the schema does not enumerate."""
OFTEN = ("queue", "propagation")
"""Keys whose algorithms would be met too seldom otherwise."""
NEVER = {"plugin", "name", "description", "file", "trace", "positions", "association", "seed"}
"""Keys that name files, code, or what is drawn elsewhere."""


@cache
def value_of(kind: str, text: str) -> float:
    """Returns a quantity in the base unit of its kind."""
    return _core.quantity(kind, text)[0]


def tidy(key: str, value: Any) -> Any:
    """A list of times or numbers that has to rise, so that it rises."""
    if key == "list":
        return sorted({max(1, n) for n in value})
    if key in ("rates", "down") and isinstance(value, list) and all(isinstance(v, dict) for v in value):
        times = {value_of("dur", v["at"]): v for v in value}
        value = [times[t] for t in sorted(times)]
        for own, after in zip(value, [*value[1:], None], strict=True):
            if "until" in own or after:
                own["until" if key == "down" else "at"] = own["at"] if key == "rates" else after["at"] if after else "1h"
    return value


class Draw:
    """A source of values."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random
        self._deep = 0
        self._odd = self.pick((0.1, 0.3, 0.3, 0.7))

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        return min(int(self._random() * n), n - 1)

    def chance(self, p: float) -> bool:
        """True with this probability."""
        return self._random() < p

    def pick(self, of: Sequence[T]) -> T:
        """One of them."""
        return of[self.below(len(of))]

    def some(self, of: Sequence[T], n: int) -> list[T]:
        """Some of them, in their order; n at the most."""
        left = list(range(len(of)))
        chosen = sorted(left.pop(self.below(len(left))) for _ in range(min(n, len(of))))
        return [of[i] for i in chosen]

    def few(self, mean: float) -> int:
        """A small number, geometrically distributed."""
        return int(math.log(max(self._random(), 1e-9)) / math.log(mean / (1 + mean))) if mean > 0 else 0

    def of(self, name: str, **fixed: Any) -> Any:
        """A value of a definition; what is fixed is not drawn."""
        return self.value({"$ref": f"#/$defs/{name}"}, name.lower(), fixed)

    def value(self, schema: Mapping[str, Any], key: str, fixed: Mapping[str, Any] | None = None) -> Any:
        """A value that fits the schema; `key` is where it stands."""
        while "$ref" in schema:
            schema = DEFS[schema["$ref"].rsplit("/", 1)[1]]
        if "x-registry" in schema:
            return self._algorithm(schema)
        if "enum" in schema:
            return self.pick(schema["enum"])
        for choice in ("oneOf", "anyOf"):
            if choice in schema:
                ways = [s for s in schema[choice] if s.get("type") != "null"]
                if all("const" in w for w in ways):
                    return self.pick(ways)["const"]
                # The shorthand of a table is drawn less often than the table.
                return self.value(ways[-1] if self.chance(0.6) else self.pick(ways), key, fixed)
        kinds = schema.get("type", "object")
        kind = kinds if isinstance(kinds, str) else next(k for k in kinds if k != "null")
        if kind == "object":
            return self._table(schema, fixed or {})
        if kind == "array":
            return [self.value(schema["items"], key) for _ in range(max(1, schema.get("minItems", 0), self.few(1.2)))]
        if kind == "boolean":
            return self.chance(0.5)
        if kind == "integer":
            return self._whole(schema, key)
        if kind == "number":
            return self._number(schema)
        return self._text(schema, key)

    def _algorithm(self, schema: Mapping[str, Any]) -> Any:
        names, tables = (schema["anyOf"][0]["enum"], schema["anyOf"][1]["properties"])
        if self.chance(0.25) and (plain := [n for n in names if n != "replay" and n != "plugin"]):
            return self.pick(plain)
        name = self.pick([n for n in tables if n not in ("plugin", "replay")])
        if self._deep > 2:
            return name
        self._deep += 1
        table = self.value(tables[name], name)
        self._deep -= 1
        return {name: table}

    def _table(self, schema: Mapping[str, Any], fixed: Mapping[str, Any]) -> dict[str, Any]:
        properties: dict[str, Any] = schema.get("properties", {})
        needed = set(schema.get("required", ()))
        free = [k for k, s in properties.items() if k not in fixed and k not in needed and k not in NEVER and s.get("format") != "fl-file"]
        chosen = set(self.some(free, self.few(2.5)))
        chosen |= {k for k in OFTEN if k in free and self.chance(0.4)}
        table = {}
        for key, own in properties.items():
            if key in fixed:
                if fixed[key] is not None:
                    table[key] = fixed[key]
            elif key in chosen or key in needed:
                table[key] = tidy(key, self.value(own, key))
        return table

    def _whole(self, schema: Mapping[str, Any], key: str) -> int:
        low, high = schema.get("minimum", 0), min(schema.get("maximum", 2**32 - 1), LARGEST.get(key, 2**32 - 1))
        default = schema.get("default")
        roll = self.below(6)
        if roll == 0:
            found = low
        elif roll == 1:
            found = high
        elif roll == 2 and isinstance(default, int):
            found = default + self.below(3) - 1
        else:
            found = low + self.few(4)
        return max(low, min(high, found))

    def _number(self, schema: Mapping[str, Any]) -> float:
        low = schema.get("minimum", schema.get("exclusiveMinimum", -10.0))
        high = schema.get("maximum", schema.get("exclusiveMaximum", 10.0))
        default = schema.get("default")
        roll = self.below(8)
        if roll == 0:
            found = low
        elif roll == 1:
            found = high
        elif roll == 2:
            found = low + (high - low) * 1e-9
        elif roll < 5 and isinstance(default, int | float):
            found = default * self.pick((0.5, 0.9, 1.1, 2.0))
        else:
            found = low + (min(high, low + 100) - low) * self._random()
        if found <= low and "exclusiveMinimum" in schema:
            found = low + (high - low) * 1e-3
        if found >= high and "exclusiveMaximum" in schema:
            found = high - (high - low) * 1e-3
        return max(low, min(high, found))

    def _text(self, schema: Mapping[str, Any], key: str) -> str:
        form = schema.get("format")
        if form in KINDS:
            return self.quantity(form, schema.get("x-min"), schema.get("x-max"))
        return self.pick(WORDS[key]) if key in WORDS else "x"

    def quantity(self, form: str, least: str | None = None, most: str | None = None, odd: float | None = None) -> str:
        """A quantity of this format, between these."""
        kind = KINDS[form]
        pool = ODD[form] if self.chance(self._odd if odd is None else odd) else USUAL[form]
        if form == "fl-len":
            # Packets and bytes do not compare.
            return self.pick([t for t in pool if least is None or not t.startswith("0")])
        fits = [
            t
            for t in pool
            if not ((least and value_of(kind, t) < value_of(kind, least)) or (most and value_of(kind, t) > value_of(kind, most)))
        ]
        return self.pick(fits) if fits else (least or most or pool[0])
