"""Changed settings between scenarios, with topology builders and defaults resolved."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..look.sheet import Sheet

MOST = 60
"""Most settings that a page lists."""
_APART = {"name", "description", "seed", "topology", "links", "expanded", "warnings", "positions"}
"""Names of a scenario, and keys whose resolved values are in `expanded`."""
_KINDS = ("queue", "cc", "source")
"""Tables whose only key is the name of an algorithm."""
_ABSENT = "-"


def changed_settings(scenarios: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> Sheet | None:
    """Returns the settings in which resolved scenarios differ, a column per scenario; None without differences."""
    flat = [dict(_settings(s)) for s in scenarios]
    paths = list(dict.fromkeys(p for f in flat for p in f))
    found: dict[tuple[str, ...], list[str]] = {}
    order: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    for path in paths:
        values = tuple(f.get(path, _ABSENT) for f in flat)
        if len(set(values)) == 1 or _belongs(path, flat):
            continue
        end = path[2:] if path[0] == "links" else path
        key = ("links" if path[0] == "links" else "", *end, *values)
        if key not in found:
            order.append((path, key))
        found.setdefault(key, []).append(path[1] if path[0] == "links" and len(path) > 1 else "")
    rows = [[_path_text(path, found[key]), *key[-len(flat) :]] for path, key in order]
    if not rows:
        return None
    more = f"{len(rows) - MOST} more settings not shown." if len(rows) > MOST else ""
    return Sheet(["setting", *labels], rows[:MOST], note=more, words=tuple(range(1, len(labels) + 1)))


def _path_text(path: tuple[str, ...], links: Sequence[str]) -> str:
    """Returns a path; for several links with equal values their number."""
    if path[0] != "links" or len(links) == 1:
        return ".".join(path)
    forward = {x for x in links if not x.endswith(".reverse")}
    both = ", both directions" if forward and forward == {x.removesuffix(".reverse") for x in links if x.endswith(".reverse")} else ""
    names = forward if both else set(links)
    return f"{f'{len(names)} links, such as ' if len(names) > 1 else ''}{'.'.join(path)}{both}"


def _settings(scenario: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yields every value with its path; links as resolved."""
    yield from _flat({k: v for k, v in scenario.items() if k not in _APART}, ())
    for link in (scenario.get("expanded") or {}).get("links") or ():
        yield ("links", link["name"]), "there"
        yield from _flat({k: v for k, v in link.items() if k != "name"}, ("links", link["name"]))


def _flat(tree: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    for key, value in tree.items():
        at = (*path, key)
        if isinstance(value, Mapping) and value:
            if key in _KINDS and len(value) == 1:
                yield at, str(next(iter(value)))
            elif len(at) == 2 and at[0] == "flows":
                yield at, "there"
            yield from _flat(value, at)
        else:
            yield at, value if isinstance(value, str) else "{}" if isinstance(value, Mapping) else json.dumps(value)


def _belongs(path: tuple[str, ...], flat: Sequence[Mapping[tuple[str, ...], str]]) -> bool:
    """Returns True if a parent that differs, or is missing, implies the difference."""
    return any(len({f.get(path[:n], _ABSENT) for f in flat}) > 1 for n in range(1, len(path)))
