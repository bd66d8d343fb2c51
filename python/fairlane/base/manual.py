"""Tables of reference pages, generated from a JSON Schema."""

from __future__ import annotations

import json
from typing import Any

_TYPES = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "array": "list", "object": "table"}
_MANY = {"string": "texts", "integer": "whole numbers", "object": "tables"}


def key_table(root: dict[str, Any], spec: dict[str, Any]) -> str:
    """Returns a table of keys with their types, defaults and meanings."""
    needed = spec.get("required", ())
    rows = []
    for key, p in spec.get("properties", {}).items():
        default = "required" if key in needed else f"`{json.dumps(p['default'])}`" if p.get("default") not in (None, "", {}, []) else ""
        rows.append(f"| `{key}` | {_kind(root, p)} | {default} | {p.get('description', '').replace('|', chr(92) + '|')} |")
    return "\n".join(["| key | type | default | meaning |", "|---|---|---|---|", *rows]) if rows else ""


def _kind(root: dict[str, Any], p: dict[str, Any]) -> str:
    """Returns the type of a value in words, with its range."""
    if "$ref" in p:
        return "table"
    if "anyOf" in p:
        return " or ".join(dict.fromkeys(_kind(root, x) for x in p["anyOf"]))
    if "enum" in p:
        return ", ".join(f"`{v}`" for v in p["enum"])
    items = p.get("items")
    if p.get("type") == "array" and items:
        if "enum" in items:
            return f"list of {_kind(root, items)}"
        return f"list of {_MANY.get(items.get('type', 'object'), 'values')}"
    word = _TYPES.get(p.get("type", ""), "any")
    low, high = p.get("minimum", p.get("exclusiveMinimum")), p.get("maximum", p.get("exclusiveMaximum"))
    if low is not None:
        above = "above" if "exclusiveMinimum" in p else "from"
        below = "below" if "exclusiveMaximum" in p else "to"
        word += f" {above} {low}" + (f" {below} {high}" if high is not None else "")
    return word
