"""How one run is cut into parts that several threads carry out."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ..base.format import number, scale

if TYPE_CHECKING:
    from .. import _core

_NAMED = 6
"""Names that a line shows of many, as far as it has room for them."""
_WIDTH = 80


@dataclass(frozen=True)
class Part:
    """One part: its nodes, and the share of all events (0 to 1) that it is expected to have."""

    nodes: tuple[str, ...]
    load: float


@dataclass(frozen=True)
class Partition:
    """Where a network is cut, which depends on the network alone; results depend on it as little as on the number of threads. Fewer threads
    than parts carry out bundles of them, which `Network.partition(threads=N)` tells.

    `links` are the link directions that lead from one part into another. `window`: seconds for which parts run without hearing from each
    other, the shortest delay of these links. `events`: how many are expected in a window, in all parts together; `crossing`: the share
    of all transmissions that lead into another part. `whole`: why the run stays in one piece all the same, or None.
    """

    parts: tuple[Part, ...]
    links: tuple[str, ...]
    window: float | None
    events: float
    crossing: float
    whole: str | None

    def document(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)

    def _repr_html_(self) -> str:
        from ..look.notebook import card, muted
        from ..look.sheet import Sheet

        head, *told = str(self).split("\n")
        if not told:
            return card(head)
        rows = [[str(i), f"{100 * p.load:.0f} %", _some("", "node", p.nodes)] for i, p in enumerate(self.parts, 1)]
        return card(head, Sheet(["part", "events", "nodes"], rows, words=(2,)), *(muted(line.strip()) for line in told[len(rows) :]))

    def __str__(self) -> str:
        if not self.parts or self.window is None:
            return f"one part: {self.whole}"
        factor, unit = scale("s", self.window)
        window = f"{number(self.window * factor)} {unit} with about {number(self.events, 2)} events"
        lines = [f"{len(self.parts)} parts, windows of {window}"]
        lines += [_some(f"  part {i}: {100 * p.load:.0f} % of the events, ", "node", p.nodes) for i, p in enumerate(self.parts, 1)]
        lines.append(_some(f"  cut: {100 * self.crossing:.0f} % of all transmissions, ", "direction", self.links))
        lines.append("runs on several threads" if self.whole is None else f"runs in one piece all the same: {self.whole}")
        return "\n".join(lines)


def partition_of(resolved: _core.Resolved, seed: int | None = None, threads: int | None = None) -> Partition:
    """That of what `checked` returned, in the run with this seed; the parts that so many threads carry out, if given."""
    told = json.loads(resolved.partition(resolved.seed if seed is None else seed, threads))
    parts = tuple(Part(tuple(p["nodes"]), p["load"]) for p in told["parts"])
    return Partition(parts, tuple(told["links"]), told["window_s"], told["events"], told["crossing"], told["whole"])


def _some(line: str, what: str, names: tuple[str, ...]) -> str:
    """A line that ends with how many there are, and the names of the first of them."""
    line += f"{len(names)} {what}{'s' * (len(names) != 1)} ("
    named = list(names[:_NAMED])
    while True:
        text = f"{line}{', '.join(named)}{', ...' * (len(named) < len(names))})"
        if len(text) <= _WIDTH or len(named) <= 1:
            return text
        named.pop()
