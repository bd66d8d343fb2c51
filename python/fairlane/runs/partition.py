"""Partition of one run into parts for several threads."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ..base.format import number, scale

if TYPE_CHECKING:
    from .. import _core

_NAMED = 6
"""Most names that a line shows."""
_WIDTH = 80


@dataclass(frozen=True)
class Part:
    """Part of a network: its nodes, and its expected share of all events (0 to 1)."""

    nodes: tuple[str, ...]
    load: float


@dataclass(frozen=True)
class Partition:
    """Partition of a network. It depends on the network only; results depend neither on it nor on the number of threads. Fewer threads than
    parts run bundles of parts, which `Network.partition(threads=N)` shows.

    `links`: the link directions between parts. `window`: seconds that parts run without synchronisation, the shortest delay of these links.
    `events`: expected events per window in all parts. `crossing`: share of all transmissions that lead into another part. `whole`: the
    reason if the run is not partitioned, else None.
    """

    parts: tuple[Part, ...]
    links: tuple[str, ...]
    window: float | None
    events: float
    crossing: float
    whole: str | None

    def document(self) -> dict[str, Any]:
        """Returns the partition as JSON data."""
        return asdict(self)

    def _repr_html_(self) -> str:
        from ..look.notebook import card, muted
        from ..look.sheet import Sheet

        head, *lines = str(self).split("\n")
        if not lines:
            return card(head)
        rows = [[str(i), f"{100 * p.load:.0f} %", _some("", "node", p.nodes)] for i, p in enumerate(self.parts, 1)]
        return card(head, Sheet(["part", "events", "nodes"], rows, words=(2,)), *(muted(line.strip()) for line in lines[len(rows) :]))

    def __str__(self) -> str:
        if not self.parts or self.window is None:
            return f"not parallel: {self.whole}"
        factor, unit = scale("s", self.window)
        window = f"{number(self.window * factor)} {unit} with about {number(self.events, 2)} events"
        lines = [f"{len(self.parts)} parts, windows of {window}"]
        lines += [_some(f"  part {i}: {100 * p.load:.0f} % of the events, ", "node", p.nodes) for i, p in enumerate(self.parts, 1)]
        lines.append(_some(f"  cut: {100 * self.crossing:.0f} % of all transmissions, ", "link direction", self.links))
        lines.append("runs on several threads" if self.whole is None else f"not parallel: {self.whole}")
        return "\n".join(lines)


def partition_of(resolved: _core.Resolved, seed: int | None = None, threads: int | None = None) -> Partition:
    """Returns the partition of a resolved scenario in the run with this seed; with `threads` the bundles that they run."""
    data = json.loads(resolved.partition(resolved.seed if seed is None else seed, threads))
    parts = tuple(Part(tuple(p["nodes"]), p["load"]) for p in data["parts"])
    return Partition(parts, tuple(data["links"]), data["window_s"], data["events"], data["crossing"], data["whole"])


def _some(line: str, what: str, names: tuple[str, ...]) -> str:
    """Appends the number of names and the first of them to a line."""
    line += f"{len(names)} {what}{'s' * (len(names) != 1)} ("
    named = list(names[:_NAMED])
    while True:
        text = f"{line}{', '.join(named)}{', ...' * (len(named) < len(names))})"
        if len(text) <= _WIDTH or len(named) <= 1:
            return text
        named.pop()
