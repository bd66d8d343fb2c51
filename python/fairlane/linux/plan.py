"""The plan of tc commands for a queue: commands, notes, free handles."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ..errors import FairlaneError
from . import quantities as q


@dataclass(frozen=True)
class Link:
    """Link that the queue feeds."""

    rate: Fraction
    """bit/s"""
    delay: Fraction
    """s"""


ETHERNET_HEADER = 14
"""Bytes that Linux counts in addition to the IP packet on Ethernet."""
FULL_PACKET = 1500
"""Bytes of a full IP packet on Ethernet: what Linux counts for it below `IP_SIZES`."""
IP_SIZES = f"stab overhead -{ETHERNET_HEADER} linklayer ethernet"
"""Size table that takes the header off (tc-stab(8)); without `linklayer` tc refuses an overhead of 0."""
_DEVICE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}")
"""Device names of Linux (IFNAMSIZ in netdevice(7)) without shell characters."""


def named(spec: dict[str, Any] | str) -> tuple[str, dict[str, Any]]:
    """Returns name and parameters of a resolved queue; for a plug-in its registered name."""
    if isinstance(spec, str):
        return spec, {}
    name, values = next(iter(spec.items()))
    return (values["name"], values["params"]) if name == "plugin" else (name, values)


def check_device(dev: str) -> None:
    """Raises `FairlaneError` if a name is not valid for a network device in a command."""
    if not isinstance(dev, str) or not _DEVICE.fullmatch(dev):
        raise FairlaneError(f"{dev!r} is not a network device name: use up to 15 letters, digits, dots, dashes or underscores")


@dataclass
class Plan:
    """Commands for one link in order."""

    dev: str
    link: Link
    commands: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    manual: list[str] = field(default_factory=list)
    """Manual pages that the commands follow."""
    missing: list[str] = field(default_factory=list)
    """Disciplines that Linux does not have."""
    write: Callable[[Plan, str, str, dict[str, Any] | str], None] | None = None
    """Function that adds the commands of a queue below a parent."""
    _handles: Iterator[int] = field(default_factory=lambda: iter(range(0x10, 0xFFF0, 0x10)))

    def __post_init__(self) -> None:
        check_device(self.dev)

    def handle(self) -> str:
        """Returns a free major number in the notation of tc."""
        return f"{next(self._handles):x}:"

    def tc(self, *words: object) -> None:
        """Adds a command without empty words."""
        self.commands.append(" ".join(["tc", *(str(w) for w in words if w not in ("", None))]))

    def qdisc(self, parent: str, handle: str, *words: object) -> None:
        """Adds a queue discipline. One at the root counts IP packets: it takes the link layer's header off."""
        own = parent == "root" and words[0] == "cake"  # cake takes the header off itself
        sizes = IP_SIZES if parent == "root" and not own else ""
        self.tc("qdisc add dev", self.dev, parent, "handle", handle, sizes, *words)

    def queue(self, parent: str, spec: dict[str, Any] | str, handle: str = "") -> None:
        """Adds a queue with all that is inside it; it gets a free handle unless one is given."""
        if self.write is not None:
            self.write(self, parent, handle or self.handle(), spec)

    def note(self, text: str) -> None:
        """Adds a note, once."""
        if text not in self.notes:
            self.notes.append(text)

    def page(self, *names: str) -> None:
        """Names manual pages."""
        self.manual += [f"tc-{n}(8)" for n in names if f"tc-{n}(8)" not in self.manual]


class Table:
    """The parameters of one discipline. Those not taken become notes: tc has no option for them."""

    def __init__(self, name: str, values: dict[str, Any]) -> None:
        self.name = name
        self.values = values
        self._taken: set[str] = {"preset"}

    def __getitem__(self, key: str) -> Any:
        self._taken.add(key)
        return self.values[key]

    def get(self, key: str) -> Any:
        """Takes an optional parameter."""
        self._taken.add(key)
        return self.values.get(key)

    def settled(self, *keys: str) -> None:
        """Marks parameters that another note or command covers."""
        self._taken.update(keys)

    def left(self, kernel: dict[str, Any]) -> Iterator[str]:
        """Yields a note for each parameter that was not taken and differs from the kernel.

        `kernel` has values of the kernel that precede the preset `linux` of the discipline, and the default.
        """
        fixed = {**_defaults(self.name), **_linux(self.name), **kernel}
        for key, value in self.values.items():
            if key not in self._taken and key in fixed and not _same(value, fixed[key]):
                yield f"{self.name}.{key} is {_shown(value)} here, {_shown(fixed[key])} in the kernel"
        for key, value in kernel.items():
            if key not in self.values:
                yield f"{key} is {_shown(value)} in the kernel"


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, str) and isinstance(b, str):
        for kind in ("byte", "s", "bit/s"):
            try:
                return q.number(a, kind) == q.number(b, kind)
            except ValueError:
                pass
    return bool(a == b)


def _shown(value: Any) -> str:
    return "unset" if value is None else value if isinstance(value, str) else json.dumps(value)


@lru_cache(maxsize=128)
def _defaults(name: str) -> dict[str, Any]:
    from ..base.reference import registry

    schema = next((e.get("schema") or {} for e in registry() if e["kind"] == "queue" and e["name"] == name), {})
    return {k: p["default"] for k, p in schema.get("properties", {}).items() if "default" in p}


@lru_cache(maxsize=128)
def _linux(name: str) -> dict[str, Any]:
    from ..base.reference import presets

    return next((p["values"] for p in presets() if p["algorithm"] == name and p["name"] == "linux"), {})


def in_packets(plan: Plan, table: Table, key: str = "limit", packet: int = 1500) -> int:
    """Returns the limit for a discipline that counts packets, with `admit = "under"`; adds a note if it was in bytes."""
    text = table[key]
    n = q.packets(text)
    if n is None:
        n = q.count(text, packet)
        plan.note(f"{table.name} counts packets in the kernel: {text} are taken as {n} packets of {packet} bytes")
    return n - int(table.get("admit") == "under")
