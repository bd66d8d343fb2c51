"""Groups of flows: which flows the scenario's tables under `flows` stand for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..errors import suggest

if TYPE_CHECKING:
    from .result import Result


def members(result: Result) -> dict[str, list[str]]:
    """The flows of each group, in the order of the scenario; an error where nothing is known of single flows."""
    result._having("flows")
    out: dict[str, list[str]] = {}
    for f in result.scenario["expanded"]["flows"]:
        out.setdefault(f["group"], []).append(f["name"])
    return out


def flows_of(result: Result, names: str | Iterable[str]) -> list[str]:
    """Names of flows in place of names of flows and groups."""
    groups = members(result)
    known = {f for own in groups.values() for f in own}
    out: list[str] = []
    for name in [names] if isinstance(names, str) else names:
        if name in known:
            out.append(name)
        elif name in groups:
            out += groups[name]
        else:
            raise suggest(name, [*known, *groups], "flow or group of flows")
    return list(dict.fromkeys(out))
