"""Drawing of a scenario's network: nodes in columns if links connect adjacent columns, else laid out by distances."""

from __future__ import annotations

import json
import math
import textwrap
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Any

from ..base.scenario import ways
from .layout import stress_layout
from .theme import FACE, HUES, INK, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 5
"""Most nodes of a column; the others become dots."""
_MOST_PLACED = 48
"""Most nodes of a graph that is laid out by distances."""
_INCH = 0.95
"""Length of a link in such a drawing in inches."""


@dataclass(frozen=True)
class Topology:
    """Network of a scenario: nodes in columns by their distance from the sources, one label for equal links."""

    tree: dict[str, Any]
    margins = (0.1, 0.1, 0.1, 0.1)

    @cached_property
    def _free(self) -> dict[str, tuple[float, float]]:
        """Returns positions of the nodes if columns cannot show all links; else an empty dict."""
        resolved, columns = self._network
        column = {n: i for i, nodes in enumerate(columns) for n in nodes}
        links = [(x["from"], x["to"]) for x in resolved["links"] if x["from"] in column and x["to"] in column]
        if len(column) > _MOST_PLACED or all(abs(column[a] - column[b]) == 1 for a, b in links):
            return {}
        known = resolved.get("positions", {})
        if links and all(n in known for n in column):
            at = {n: tuple(known[n]) for n in column}
            one = median(math.dist(at[a], at[b]) for a, b in links) or 1.0
            return {n: (x / one, y / one) for n, (x, y) in at.items()}
        return stress_layout(list(column), links, {f["from"] for f in resolved["flows"]})

    @cached_property
    def _network(self) -> tuple[dict[str, Any], list[list[str]]]:
        """Returns the network, and the drawn nodes by column."""
        from fairlane import _core

        resolved = json.loads(_core.resolve(json.dumps({**self.tree}), "topology.json", "json", []).json())["expanded"]
        resolved["links"] = ways(resolved)
        idle = _idle(resolved)
        return resolved, [kept for c in _columns(resolved) if (kept := [n for n in c if n not in idle])]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches: about one inch per link for its labels."""
        if self._free:
            wide, high = (max(p[k] for p in self._free.values()) - min(p[k] for p in self._free.values()) for k in (0, 1))
            return max(3.9, 1.9 + _INCH * wide), max(2.2, 1.3 + _INCH * high)
        columns = self._network[1]
        return max(3.9, 0.3 + 1.02 * len(columns) + 2 * self._label_width), 2.95 if max(map(len, columns), default=1) > 1 else 1.5

    @cached_property
    def _label_width(self) -> float:
        """Additional width in inches for long names of hosts."""
        ends = [e for f in self._network[0]["flows"] for e in (f["from"], f["to"])]
        return 0.075 * max(0, max((len(line) for e in ends for line in _lines(e).splitlines()), default=0) - 6)

    def draw(self, figure: Figure, ax: Axes) -> None:
        """Draws the network."""
        resolved, columns = self._network
        ax.axis("off")
        if self._free:
            return _drawn(figure, ax, resolved, self._free)
        place: dict[str, tuple[float, float]] = {}
        for at, nodes in enumerate(columns):
            shown = nodes if len(nodes) <= _MOST else [*nodes[: _MOST - 2], None, nodes[-1]]
            for k, node in enumerate(shown):
                y = 0.0 if len(shown) == 1 else 1.0 - 2.0 * k / (len(shown) - 1)
                if node is None:
                    ax.text(at, y, "⋮", ha="center", va="center", fontsize=15, color=MUTED)
                else:
                    place[node] = (at, y)
        seen: dict[tuple[float, float, str], tuple[float, float]] = {}
        for link in resolved["links"]:
            a, b = link["from"], link["to"]
            if a in place and b in place and place[a][0] < place[b][0]:
                (x0, y0), (x1, y1) = place[a], place[b]
                near = [x for x in resolved["links"] if place.get(x["from"], (9, 9))[0] == x0 and place.get(x["to"], (9, 9))[0] == x1]
                lone = sum(x["to"] == b for x in near) == 1 and sum(x["from"] == a for x in near) == 1
                ax.plot([x0, x1], [y0, y1], color=HUES[0] if lone else MUTED, lw=3.2 if lone else 1.2, solid_capstyle="round", zorder=1)
                text = _label(link)
                seen[(x0, x1, text)] = max(seen.get((x0, x1, text), (-9.0, 0.0)), ((y0 + y1) / 2, y1 - y0))
        for (x0, x1, text), (y, rise) in seen.items():
            beside_line = "center" if not rise else "right" if rise > 0 else "left"
            ax.text((x0 + x1) / 2 + 0.04, y + 0.1, text, ha=beside_line, va="bottom", fontsize=9, color=INK, linespacing=1.3)
        senders = {f["from"] for f in resolved["flows"]}
        receivers = {f["to"] for f in resolved["flows"]}
        crowded = {n for nodes in columns if len(nodes) > 3 for n in nodes}
        for node, (x, y) in place.items():
            router = node not in senders and node not in receivers
            ax.plot([x], [y], marker="o" if router else "s", ms=21 if router else 17, mfc=FACE, mec=INK, mew=1.4, zorder=2)
            if router and node in crowded:
                ax.text(x, y, node, fontsize=6.5, color=INK, ha="center", va="center")
            elif router:
                ax.text(x, y - 0.34, "router" if node == "r" else node, fontsize=9.5, color=INK, ha="center", va="center")
            else:  # next to the square, away from the links
                side = -1 if node in senders else 1
                ha = "right" if side < 0 else "left"
                ax.annotate(_lines(node), (x, y), (12 * side, 0), textcoords="offset points", ha=ha, va="center", fontsize=9.5, color=INK)
        margin = self._label_width / 1.02
        ax.set_xlim(-0.5 - margin, len(columns) - 0.5 + margin)
        ax.set_ylim(*((-1.45, 1.5) if max(map(len, columns), default=1) > 1 else (-0.7, 0.8)))


def _drawn(figure: Figure, ax: Axes, resolved: dict[str, Any], place: dict[str, tuple[float, float]]) -> None:
    """Draws a graph with given positions; each kind of link has one label."""
    wide, high = (ax.bbox.width / figure.dpi / _INCH, ax.bbox.height / figure.dpi / _INCH)
    (left, right), (low, top) = ((min(p[k] for p in place.values()), max(p[k] for p in place.values())) for k in (0, 1))
    ax.set_xlim((left + right - wide) / 2, (left + right + wide) / 2)
    ax.set_ylim((low + top - high) / 2, (low + top + high) / 2)
    ends = {f[k] for f in resolved["flows"] for k in ("from", "to")}
    kinds: dict[str, list[tuple[str, str]]] = {}
    for x in resolved["links"]:
        if x["from"] in place and x["to"] in place and (x["to"], x["from"]) not in [p for pairs in kinds.values() for p in pairs]:
            kinds.setdefault(_label(x), []).append((x["from"], x["to"]))
    lines = [(place[a], place[b]) for pairs in kinds.values() for a, b in pairs]
    points = [((1 - t / 12) * p[0] + t / 12 * q[0], (1 - t / 12) * p[1] + t / 12 * q[1]) for p, q in lines for t in range(13)]
    taken = [(x - 0.16, y - 0.16, x + 0.16, y + 0.16) for x, y in place.values()]
    for node, (x, y) in place.items():
        ax.plot([x], [y], marker="s" if node in ends else "o", ms=13, mfc=FACE, mec=INK, mew=1.3, zorder=2)
        name = _lines(node)
        wide, high = 0.085 * max(map(len, name.splitlines())), 0.17 * len(name.splitlines())
        near = ((0.0, -0.18 - high / 2), (0.0, 0.18 + high / 2), (0.2 + wide / 2, 0.0), (-0.2 - wide / 2, 0.0))
        boxes = [(x + dx - wide / 2, y + dy - high / 2, x + dx + wide / 2, y + dy + high / 2) for dx, dy in near]
        box = min(boxes, key=lambda b: _covered(b, points) + 100 * sum(_touch(b, t) for t in taken))
        ax.text((box[0] + box[2]) / 2, (box[1] + box[3]) / 2, name, fontsize=8.5, color=INK, ha="center", va="center", zorder=3)
        taken.append(box)
    for number, (text, pairs) in enumerate(kinds.items()):
        colour = HUES[number % len(HUES)] if len(kinds) > 1 else MUTED
        for a, b in pairs:
            ax.plot(*zip(place[a], place[b], strict=True), color=colour, lw=1.8, solid_capstyle="round", zorder=1)
        half = 0.048 * max(map(len, text.splitlines()))
        middles = [
            ((1 - t) * place[a][0] + t * place[b][0], (1 - t) * place[a][1] + t * place[b][1]) for a, b in pairs for t in (0.5, 0.4, 0.6)
        ]
        around = ((0.0, 0.32), (0.0, -0.32), (half + 0.1, 0.0), (-half - 0.1, 0.0), (half, 0.2), (-half, 0.2), (half, -0.2), (-half, -0.2))
        boxes = [(x + dx - half, y + dy - 0.15, x + dx + half, y + dy + 0.15) for x, y in middles for dx, dy in around]
        free = [b for b in boxes if not any(_touch(b, t) for t in taken)]
        if free:  # the scenario is also below the figure
            box = min(free, key=lambda b: _covered(b, points))
            ink = colour if len(kinds) > 1 else INK
            x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
            ax.text(x, y, text, fontsize=8, color=ink, ha="center", va="center", linespacing=1.15)
            taken.append(box)


_Box = tuple[float, float, float, float]


def _touch(a: _Box, b: _Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _covered(box: _Box, points: Sequence[tuple[float, float]]) -> int:
    """Returns the number of points that a box covers."""
    return sum(box[0] < x < box[2] and box[1] < y < box[3] for x, y in points)


def _idle(expanded: dict[str, Any]) -> set[str]:
    """Returns hosts without a flow through them."""
    used = {f[end] for f in expanded["flows"] for end in ("from", "to")}
    names = [n["name"] if isinstance(n, dict) else n for n in expanded["nodes"]]
    near = {
        n: {x["to"] for x in expanded["links"] if x["from"] == n} | {x["from"] for x in expanded["links"] if x["to"] == n} for n in names
    }
    return {n for n in names if n not in used and len(near[n]) < 2}


def _lines(name: str) -> str:
    """Wraps a long name."""
    return "\n".join(textwrap.wrap(name, 18)) or name


def _label(link: dict[str, Any]) -> str:
    """Returns rate and delay of a link, or rate and channel of a Wi-Fi hop."""
    return f"{_spaced(link['rate'])}\n{link['on_air'] if 'on_air' in link else _spaced(link['delay'])}"


def _spaced(quantity: str) -> str:
    """Inserts a space before the unit of "10Mbit/s"."""
    digits = len(quantity) - len(quantity.lstrip("0123456789."))
    return f"{quantity[:digits]} {quantity[digits:]}"


def _columns(expanded: dict[str, Any]) -> list[list[str]]:
    """Returns nodes by their hops from the nearest source; destinations are at the right."""
    near = defaultdict(list)
    for link in expanded["links"]:
        near[link["from"]].append(link["to"])
    names = [n["name"] if isinstance(n, dict) else n for n in expanded["nodes"]]
    depth = dict.fromkeys((f["from"] for f in expanded["flows"]), 0)
    wave = list(depth)
    while wave:
        following = []
        for node in wave:
            for other in near[node]:
                if other not in depth:
                    depth[other] = depth[node] + 1
                    following.append(other)
        wave = following
    columns: list[list[str]] = [[] for _ in range(max(depth.values(), default=0) + 1)]
    for name in names:
        columns[depth.get(name, 0)].append(name)
    return [c for c in columns if c]
