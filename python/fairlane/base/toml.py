"""Writer for the subset of TOML that scenario files use (the standard library only reads TOML)."""

from __future__ import annotations

import json
import math
import re
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
# Tables below these keys get a header; deeper ones are written inline.
_SECTIONS = ("topology", "links", "wireless", "flows", "control")


def key(name: str) -> str:
    """Returns a key, quoted if necessary.

    >>> key("limit"), key("bottleneck.reverse")
    ('limit', '"bottleneck.reverse"')
    """
    return name if _BARE.fullmatch(name) else quoted(name)


def quoted(text: str) -> str:
    """Returns a basic string with the escapes of JSON, and DEL escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def value(v: Any) -> str:
    """Returns a value on one line.

    >>> value({"rate": "10Mbit/s", "loss": 0.01, "list": [1, True]})
    '{ rate = "10Mbit/s", loss = 0.01, list = [1, true] }'
    """
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, str):
        return quoted(v)
    if isinstance(v, int):
        return str(v)
    if isinstance(v, float):
        if math.isfinite(v):
            return repr(v)
        return "nan" if math.isnan(v) else ("inf" if v > 0 else "-inf")
    if isinstance(v, dict):
        inner = ", ".join(f"{key(k)} = {value(x)}" for k, x in v.items() if x is not None)
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(v, (list, tuple)):
        return "[" + ", ".join(value(x) for x in v if x is not None) + "]"
    raise TypeError(f"a scenario holds text, numbers, true/false, lists and tables, not {type(v).__name__}")


def dumps(tree: dict[str, Any]) -> str:
    """Returns a scenario tree as TOML: scalars first, then one header per builder, link and flow."""
    top = [f"{key(k)} = {value(v)}" for k, v in tree.items() if v is not None and k not in _SECTIONS]
    lines = ["\n".join(top)] if top else []
    for section in _SECTIONS:
        for name, table in (tree.get(section) or {}).items():
            if table is None:
                continue
            tables = table if isinstance(table, list) and table and all(isinstance(t, dict) for t in table) else [table]
            if isinstance(tables[0], dict):
                head = f"[{section}.{key(name)}]"
                for t in tables:
                    body = [f"{key(k)} = {value(v)}" for k, v in t.items() if v is not None]
                    lines.append("\n".join([head if t is table else f"[{head}]", *body]))
            else:
                lines.append(f"[{section}]\n{key(name)} = {value(table)}")
    return "\n\n".join(lines) + "\n"
