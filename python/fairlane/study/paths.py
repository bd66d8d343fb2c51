"""The schema of scenarios by path."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.reference import branches_of, member_of, registry, scenario_schema


@dataclass(frozen=True)
class Kind:
    """The kind of value that a path takes."""

    known: bool = True
    """True if the schema has the path; it does not contain the parameters of plug-ins."""
    quantity: str = ""
    """rate, dur, bytes or len: text with a unit."""
    whole: bool = False
    """Whole numbers only."""
    number: bool = False
    file: bool = False
    """The path of a file."""
    registry: str = ""
    """queue, cc, source or topology: a name, or a table under a name."""
    text: bool = False


def beside(folder: str, path: str) -> str:
    """The path of a file that a study in `folder` names."""
    return path if not folder or Path(path).is_absolute() else str(Path(folder) / path)


@functools.cache
def kind_of(keys: tuple[str, ...]) -> Kind:
    """Returns the schema's entry for a path."""
    root = scenario_schema()
    nodes: list[Any] = [root]
    for part in keys:
        nodes = [below for node in nodes for below in member_of(root, node, part)]
        if not nodes:
            return Kind(known=False)
    branches = [b for n in nodes for b in branches_of(root, n)]
    formats = {b.get("format", "") for b in branches}
    types = {t for b in branches for t in (b["type"] if isinstance(b.get("type"), list) else [b.get("type")])}
    quantity = next((f[3:] for f in ("fl-rate", "fl-dur", "fl-len", "fl-bytes") if f in formats), "")
    named = next((b["x-registry"] for b in branches if "x-registry" in b), "")
    return Kind(
        True,
        quantity,
        whole="integer" in types and "number" not in types,
        number=bool(types & {"integer", "number"}),
        file="fl-file" in formats,
        registry=named,
        text="string" in types and not quantity and not named,
    )


@functools.cache
def _spellings(kind: str, _own: int) -> dict[str, str]:
    entries = [e for e in registry() if e["kind"] == kind]
    spelt = {alias.lower(): e["name"] for e in entries for alias in e.get("aliases", ())}
    return spelt | {e["name"].lower(): e["name"] for e in entries}


def registered(kind: str, name: str) -> str:
    """The registered name of an algorithm, `name` itself if there is none."""
    return _spellings(kind, len(registry())).get(name.lower(), name)


def leaves(keys: tuple[str, ...], value: Any) -> list[tuple[tuple[str, ...], str]]:
    """The single values that `value` at `keys` sets: the keys of each, and the algorithm that it names ("" if it names none).

    >>> leaves(("links", "x", "queue"), {"red": {"min": "5p"}})
    [(('links', 'x', 'queue'), 'red'), (('links', 'x', 'queue', 'red', 'min'), '')]
    """
    out: list[tuple[tuple[str, ...], str]] = []
    # On the way to the value a path may itself name algorithms.
    for i in range(1, len(keys)):
        if named := kind_of(keys[:i]).registry:
            out.append((keys[:i], registered(named, keys[i])))
    _leaves(keys, value, out)
    return out


def _leaves(keys: tuple[str, ...], value: Any, out: list[tuple[tuple[str, ...], str]]) -> None:
    named = kind_of(keys).registry
    if named and isinstance(value, str):
        out.append((keys, registered(named, value)))
    elif named and isinstance(value, dict) and len(value) == 1:
        (name, inner), *_ = value.items()
        own = registered(named, name)
        out.append((keys, own))
        if isinstance(inner, dict):
            for k, v in inner.items():
                _leaves((*keys, own, k), v, out)
    elif isinstance(value, dict) and value:
        for k, v in value.items():
            _leaves((*keys, k), v, out)
    else:
        out.append((keys, ""))
