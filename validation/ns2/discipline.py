"""A queue in the terms of ns-2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .network import Link, Unsupported
from .units import queue_length

Settings = list[tuple[str, str]]


@dataclass(frozen=True)
class Discipline:
    """A queue of ns-2."""

    kind: str
    """class, without `Queue/`"""
    settings: Settings
    """variables of the class, set before the link exists: RED derives its automatic parameters when the queue meets its link"""
    commands: tuple[str, ...] = ()
    """commands to the queue, `$q`"""
    late: tuple[tuple[str, str, str], ...] = ()
    """class, variable and value, set after all links exist: what the queue makes during the run"""


def only(link: Link, wanted: dict[str, Any]) -> None:
    """Refuses what ns-2 cannot do."""
    for name, value in wanted.items():
        if name in link.params and link.params[name] != value:
            raise Unsupported(f"links.{link.name}.queue.{link.queue}.{name} = {link.params[name]!r}: ns-2 has only {value!r}")


def flag(value: bool) -> str:
    """A truth value in Tcl."""
    return "true" if value else "false"


def count(text: str, unit: str, link: Link, field: str = "limit") -> int:
    """A queue length that must be in packets or in bytes."""
    number, found = queue_length(text)
    if found != unit or number != int(number):
        raise Unsupported(f"links.{link.name}.queue.{link.queue}.{field} = {text!r}: ns-2 counts it in whole {unit}")
    return int(number)
