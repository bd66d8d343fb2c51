"""The reference page of study files, made from their schema: `python -m fairlane.study.manual > docs/reference/studies.md`."""

from __future__ import annotations

import json
from typing import Any

from .factors import RESERVED
from .read import MOST_CELLS, schema

_TYPES = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "array": "list", "object": "table"}

_MANY = {"string": "texts", "integer": "whole numbers", "object": "tables"}


def page() -> str:
    """docs/reference/studies.md."""
    root = schema()
    reserved = ", ".join(f"`{w}`" for w in RESERVED)
    parts = [
        "# Study files",
        "<!-- Made by `python -m fairlane.study.manual` from python/fairlane/schemas/study-file.json: change that. -->",
        f"{root['description']} TOML, or JSON if the name ends in `.json`; `fairlane schema study-file` prints the JSON Schema. "
        "`fairlane.Study` takes the same under the same names.",
        _block(root["x-example"]),
        "## Keys",
        _table(root, root),
        "Whatever is wrong with a study is told before anything runs: with file, line and column, all of it at once.",
        "## Factors",
        'A path is any that `--set` takes, in quotes or bare: `"links.bottleneck.rate"` or `links.bottleneck.rate`. '
        "A factor's column in tables is the shortest end of its path that no other factor has (`rate`), or the name that it is given. "
        "Levels that are quantities are numbers there, in SI units (bit/s, s, byte, packets). "
        "Two factors cannot change the same value, nor one what the other chooses: "
        "a queue and the parameters of another queue belong into one factor with `levels`.",
    ]
    for name in ("Levels", "Range", "Factor"):
        parts += _section(root, name, "###")
    parts += [
        "### A zip",
        f"{root['properties']['zip']['description']} Its column is that of the first path whose levels all differ.",
    ]
    for name in ("Precision", "Plot"):
        parts += _section(root, name, "##")
    parts += [
        "## Limits",
        f"A study has at most {MOST_CELLS:,} cells (points times seeds). Columns cannot be called {reserved}.",
    ]
    return "\n\n".join(parts) + "\n"


def _section(root: dict[str, Any], name: str, mark: str) -> list[str]:
    spec = root["$defs"][name]
    table = _table(root, spec)
    return [f"{mark} {spec['title']}", spec["description"], *([table] if table else [])]


def _block(lines: list[str]) -> str:
    return "\n".join(["```text", *lines, "```"])


def _table(root: dict[str, Any], spec: dict[str, Any]) -> str:
    needed = spec.get("required", ())
    rows = []
    for key, p in spec.get("properties", {}).items():
        default = "required" if key in needed else f"`{json.dumps(p['default'])}`" if p.get("default") not in (None, "", {}, []) else ""
        rows.append(f"| `{key}` | {_kind(root, p)} | {default} | {p.get('description', '').replace('|', chr(92) + '|')} |")
    return "\n".join(["| key | type | default | meaning |", "|---|---|---|---|", *rows]) if rows else ""


def _kind(root: dict[str, Any], p: dict[str, Any]) -> str:
    """The type of a value in words, with its range."""
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


if __name__ == "__main__":
    import sys

    sys.stdout.write(page())
