"""Levels of a flow as a whole: words such as `quinn:cubic`, `tcp:bbr3` or `str0m`, its transport and the control of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..base.choices import choices, known
from ..base.reference import registry
from ..errors import FairlaneError, suggest


def of_word(word: str, flow: Mapping[str, Any]) -> tuple[str, Any]:
    """Returns the key of the transport that a word names, and its value; other parameters of the same transport in `flow` stay.

    Raises `UnknownNameError` for a name that does not exist.

    >>> of_word("quinn:newreno", {"tcp": {}})
    ('stack', {'quinn': {'cc': 'newreno'}})
    >>> of_word("tcp:cubic", {"tcp": {"mss": "1000B"}})
    ('tcp', {'mss': '1000B', 'cc': 'cubic'})
    """
    name, colon, control = (part.strip() for part in word.partition(":"))
    stacks = {e["name"]: e["schema"]["properties"] for e in registry() if e["kind"] == "stack"}
    if name not in ("tcp", *stacks):
        raise suggest(name, ["tcp", *stacks], "transport")
    if colon and not control:
        raise FairlaneError(f"{word!r} names no congestion control")
    if name == "tcp":
        return "tcp", {**(flow.get("tcp") or {}), **_tcp(control)}
    own = dict((flow.get("stack") or {}).get(name, {}))
    if control:
        controls = _values(stacks[name].get("cc", {}))
        if not controls:
            raise FairlaneError(f"{name} has one congestion control: write {name} alone")
        if control not in controls:
            raise suggest(control, controls, f"congestion control of {name}")
        own["cc"] = control
    return "stack", {name: own}


def _tcp(control: str) -> dict[str, Any]:
    """Returns the parameters of TCP that a congestion control sets; the preset is a parameter of TCP."""
    if not control:
        return {}
    found = choices(control, "cc")[0]
    if found.name.lower() not in known("cc"):
        raise suggest(found.name, list(known("cc").values()), "congestion control")
    own = dict(found.value[found.name])
    preset = {"preset": own.pop("preset")} if "preset" in own else {}
    return {**preset, "cc": {found.name: own} if own else found.name}


def _values(schema: Mapping[str, Any]) -> list[str]:
    """Returns the values of a parameter that has a list of them."""
    return [v["const"] for v in schema.get("oneOf", ()) if "const" in v]


def changed(word: str, flow: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the flow with the transport that a word names.

    Raises `FairlaneError` if the word names none.
    """
    key, value = of_word(word, flow)
    return {**{k: v for k, v in flow.items() if k not in ("tcp", "udp", "stack")}, key: value}
