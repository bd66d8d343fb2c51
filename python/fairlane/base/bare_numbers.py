"""Numbers without a unit in a scenario built in Python: an error where they are written, in the words that a file gets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from .. import _core
from . import toml

Schema = Mapping[str, Any]

_PLACES = {
    "queue": "QueueSpec",
    "source": "SourceSpec",
    "topology": "TopologySpec",
    "control": "ControlTables",
    "propagation": "PropagationSpec",
}
"""Definitions of the schema by kind of algorithm."""


@cache
def _schema() -> dict[str, Any]:
    tree: dict[str, Any] = json.loads(_core.schema())
    return tree


def check_scenario(tree: Mapping[str, Any], name: str) -> None:
    """Raises `ScenarioError` for the numbers of a scenario that need a unit."""
    _check(tree, _schema(), name)


def check_algorithm(kind: str, name: str, table: Mapping[str, Any], shown: str) -> None:
    """Raises `ScenarioError` for the parameters of an algorithm that need a unit."""
    if not any(_numeric(v) for v in table.values()):
        return
    definitions = _schema()["$defs"]
    if kind == "transport":
        place: Schema = definitions[f"{name.capitalize()}Params"]
    elif kind == "cc":
        place = next(f for f in _forms(definitions["TcpParams"]["properties"]["cc"]) if "properties" in f)["properties"][name]
    else:
        place = next(f for f in _forms(definitions[_PLACES[kind]]) if "properties" in f)["properties"].get(name, {})
    _check(table, place, shown)


def _check(tree: Mapping[str, Any], schema: Schema, name: str) -> None:
    found = _bare(tree, schema)
    if found is not None:
        numbers, forms = found
        _core.read_document(toml.dumps(numbers), name, "toml", json.dumps(forms))


def _numeric(value: Any) -> bool:
    """True if a value is, or contains, a number."""
    if isinstance(value, Mapping):
        return any(_numeric(v) for v in value.values())
    if isinstance(value, list):
        return any(_numeric(v) for v in value)
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _forms(schema: Schema) -> list[Schema]:
    """Returns the alternatives of a schema, with references followed."""
    if "$ref" in schema:
        return _forms(_schema()["$defs"][schema["$ref"].removeprefix("#/$defs/")])
    if "anyOf" in schema:
        return [f for s in schema["anyOf"] for f in _forms(s)]
    return [schema]


def _types(form: Schema) -> set[str]:
    kinds = form.get("type", ())
    return {kinds} if isinstance(kinds, str) else set(kinds)


def _bare(value: Any, schema: Schema) -> tuple[Any, dict[str, Any]] | None:
    """Returns the part of a value that is numbers without a unit, and its schema; None if there is none."""
    if not _numeric(value):
        return None
    forms = _forms(schema)
    if isinstance(value, Mapping):
        known = {k: p for f in forms for k, p in f.get("properties", {}).items()}
        rest = next((f["additionalProperties"] for f in forms if isinstance(f.get("additionalProperties"), Mapping)), None)
        inner = {k: _bare(v, p) for k, v in value.items() if (p := known.get(k, rest)) is not None}
        parts = {k: part for k, part in inner.items() if part is not None}
        if not parts:
            return None
        return {k: v for k, (v, _) in parts.items()}, {"type": "object", "properties": {k: s for k, (_, s) in parts.items()}}
    if isinstance(value, list):
        items = next((f["items"] for f in forms if "items" in f), None)
        first = next((part for v in value if items is not None and (part := _bare(v, items)) is not None), None)
        return None if first is None else ([first[0]], {"type": "array", "items": first[1]})
    quantity = next((f for f in forms if str(f.get("format", "")).startswith("fl-") and f["format"] != "fl-file"), None)
    if quantity is None or any(_types(f) & {"number", "integer"} for f in forms):
        return None
    return value, dict(quantity)
