"""Basics of the JSON documents; `schemas/` defines each, docs/reference/json.md describes them."""

from __future__ import annotations

import json
import math
from importlib.resources import files
from typing import Any, overload


@overload
def finite(value: dict[str, Any]) -> dict[str, Any]: ...
@overload
def finite(value: Any) -> Any: ...
def finite(value: Any) -> Any:
    """Returns `value` with None for NaN and infinity."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {k: finite(v) for k, v in value.items()}
    if isinstance(value, list):
        return [finite(v) for v in value]
    return value


def json_schema(which: str) -> dict[str, Any]:
    """Returns the JSON Schema of a document such as "run" or "bench", or of scenario files ("scenario")."""
    if which == "scenario":
        from .. import _core

        text = _core.schema()
    else:
        text = files("fairlane").joinpath("schemas", f"{which}.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
