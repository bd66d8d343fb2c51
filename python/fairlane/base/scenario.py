"""Scenario files, and resolved scenarios with a value for every parameter."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from .. import _core
from ..errors import FairlaneError, InputError, suggest
from ..units import Quantity
from .escapes import printable
from .files import read_input
from .other_files import check_kind, folder_hint

_FILE_HELP = "\n  = help: give the path of a scenario, a text file in TOML (.toml) or JSON (.json)"


@runtime_checkable
class Built(Protocol):
    """A scenario built in Python, such as `fairlane.Network`."""

    def to_toml(self) -> str:
        """Returns the text of the scenario file."""


def read_scenario(path: str | PathLike[str]) -> tuple[str, str, str]:
    """Reads a scenario file: text, displayed name and format."""
    name = fspath(path)
    try:
        data = read_input(name)
    except InputError as e:
        raise InputError(f"{e}{_near(name) or folder_hint(name)}{_FILE_HELP}") from None
    check_kind(name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = data[: e.start].count(b"\n") + 1
        raise FairlaneError(f"cannot read {name}: line {line} is not UTF-8, so it is not a text file{_FILE_HELP}") from None
    return text, name, "json" if name.lower().endswith(".json") else "toml"


_DERIVED = ("expanded", "warnings")
"""Keys of a resolved scenario that cannot be set."""


def check_text(text: str, name: str) -> None:
    """Raises `InputError` if a text cannot be written as UTF-8, such as one with a surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError as e:
        raise InputError(f"{name}: {text[e.start : e.start + 1]!r} is half a character, so this is not text") from None


def tree_of(text: str, name: str, form: str = "toml") -> dict[str, Any]:
    """Parses a TOML or JSON document without checking its keys; raises `ScenarioError` with the place of a syntax error."""
    check_text(text, name)
    tree: dict[str, Any] = json.loads(_core.read_document(text, name, form, '{"type": "object", "additionalProperties": true}'))
    return {key: value for key, value in tree.items() if key not in _DERIVED} if form == "json" else tree


def _near(name: str) -> str:
    """Returns a hint with files in the same folder whose names are similar to a missing one."""
    from difflib import get_close_matches

    path = Path(name)
    if not path.name or os.path.lexists(name):
        return ""
    try:
        with os.scandir(path.parent) as there:
            files = sorted(f.name for f in there if f.name.lower().endswith((".toml", ".json")) and f.is_file())
    except (OSError, ValueError):
        return ""
    stems: dict[str, list[str]] = {}
    for f in files:
        stems.setdefault(Path(f).stem.lower(), []).append(f)
    near = [f for stem in get_close_matches(path.stem.lower(), stems, n=2, cutoff=0.6) for f in stems[stem]][:3]
    return f"\n  = help: did you mean {' or '.join(printable(str(path.with_name(f))) for f in near)}?" if near else ""


_REGISTRIES = {"queue": "queue", "cc": "cc", "tcp": "cc"}
"""Keys whose value may be written as on the command line of `compare`: `codel{target=10ms}`, `red:ns2`."""
_CHOICE = re.compile(r"\s*[A-Za-z][\w./-]*\s*(:\s*[\w./-]+\s*)?(\{.*\}\s*)?", re.S)


def _set_pair(path: str, value: Any) -> tuple[str, str]:
    from .spec import plain
    from .toml import value as as_toml

    if not isinstance(value, str):
        return path, str(value) if isinstance(value, Quantity) else as_toml(plain(value))
    key = path.rpartition(".")[2]
    if key in _REGISTRIES and not value.startswith("tc:") and re.search("[:{]", value) and _CHOICE.fullmatch(value):
        from .choices import choices

        try:
            (choice,) = choices(value, _REGISTRIES[key])
        except FairlaneError as e:
            raise FairlaneError(f"cannot use {path}={value}: {e}") from None
        return path, as_toml({"cc": choice.value} if key == "tcp" else choice.value)
    return path, value


def checked_pairs(sets: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> list[tuple[str, str]]:
    """Returns values by path as the core takes them; raises `InputError` if one is not text."""
    pairs = [_set_pair(k, v) for k, v in (sets.items() if isinstance(sets, Mapping) else sets)]
    for path, value in pairs:
        check_text(f"{path}={value}", "a value that is set")
    return pairs


def source_of(scenario: str | PathLike[str] | Built) -> tuple[str, str, str]:
    """Returns text, displayed name and format of a scenario file or network."""
    if isinstance(scenario, Built):
        text, name, form = scenario.to_toml(), getattr(scenario, "shown", "<network>"), getattr(scenario, "form", "toml")
    else:
        text, name, form = read_scenario(scenario)
    check_text(text, name)
    return text, name, form


def checked(scenario: str | PathLike[str] | Built, sets: Mapping[str, Any] | Iterable[tuple[str, Any]] = ()) -> _core.Resolved:
    """Checks a scenario file or network and returns it for the core; raises `ScenarioError`."""
    text, name, form = source_of(scenario)
    return _core.resolve(text, name, form, checked_pairs(sets))


def resolve(
    scenario: str | PathLike[str] | Built,
    sets: Mapping[str, Any] | Iterable[tuple[str, Any]] = (),
) -> dict[str, Any]:
    """Returns a scenario file or network with a value for every parameter; raises `ScenarioError`.

    `sets` changes values by dotted path, as `--set` does. The key `expanded` of the result lists all nodes, links and flows.
    """
    resolved: dict[str, Any] = json.loads(checked(scenario, sets).json())
    return resolved


def ways(expanded: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the directions of all links; for wireless channels the possible hops instead of the interfaces of stations.

    A hop is named "a ~ b", the opposite one "a ~ b.reverse". `on_air` names the channel; rate and queue are those of the sending interface.
    """
    channels = expanded.get("channels", ())
    air = {c["name"] for c in channels}
    found = [x for x in expanded["links"] if x["to"] not in air]
    for c in channels:
        own = {x["from"]: x for x in expanded["links"] if x["to"] == c["name"]}
        names, hops = [s["node"] for s in c["stations"]], {(a, b) for a, b in c["hops"]}
        for a, b in sorted(hops):
            if a > b and (b, a) in hops:
                continue
            for start, end, back in ((a, b, ""), (b, a, ".reverse")):
                if (start, end) in hops:
                    hop = {"name": f"{names[a]} ~ {names[b]}{back}", "from": names[start], "to": names[end], "on_air": c["name"]}
                    found.append({**own[names[start]], **hop})
    return found


def chosen_link(resolved: dict[str, Any], link: str | None) -> str:
    """Returns the link whose queue is replaced: the named one, otherwise `bottleneck`, or the only link."""
    names: list[str] = [x["name"] for x in resolved["expanded"]["links"]]
    forward = [n for n in names if not n.endswith(".reverse")]
    if link is not None:
        if link not in names:
            raise suggest(link, names, "link")
        return link
    if "bottleneck" in forward:
        return "bottleneck"
    if len(forward) == 1:
        return forward[0]
    some = ", ".join(forward[:12]) + (", ..." if len(forward) > 12 else "")
    raise FairlaneError(f'name the link whose queue is replaced: no link is called `bottleneck`; links: {some}\n  = help: link="NAME"')
