"""Drawings that are no charts: a topology from its scenario, and the states of RED from its equation."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .theme import FACE, HUES, INK, MUTED, TINTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 5
"""Nodes drawn of one column; the others become dots."""


@dataclass(frozen=True)
class RedCurve:
    """RED's drop probability against its average queue (Floyd and Jacobson 1993; the gentle slope of Floyd 2000), bytes."""

    name: str
    low: float
    high: float
    max_p: float
    gentle: bool
    limit: float

    size = (3.9, 2.75)
    margins = (0.6, 0.46, 0.1, 0.3)

    def at(self, average: float) -> float:
        """The probability of an early drop, before the spreading over the packets since the last one.

        >>> red = RedCurve("", 10, 30, 0.1, True, 100)
        >>> [round(red.at(q), 3) for q in (5, 20, 30, 45, 60)]
        [0.0, 0.05, 0.1, 0.55, 1.0]
        """
        if average < self.low:
            return 0.0
        if average < self.high:
            return self.max_p * (average - self.low) / (self.high - self.low)
        if self.gentle and average < 2 * self.high:
            return self.max_p + (1 - self.max_p) * (average - self.high) / self.high
        return 1.0

    def draw(self, figure: Figure, ax: Axes) -> None:
        """Draws the curve over the states."""
        kb, right = 1e3, max(2.3 * self.high, 1.25 * self.limit)
        edges = (0.0, self.low, self.high, right)
        names = ("accept", "early drops", "drops grow to all" if self.gentle else "drop all")
        for a, b, tint, name in zip(edges, (*edges[1:-1], right), TINTS, names, strict=False):
            ax.axvspan(a / kb, b / kb, color=tint, lw=0)
            narrow = b - a < 0.2 * right
            ax.text((a + b) / 2 / kb, 1.04 if not narrow else 0.55, name, ha="center", va="bottom" if not narrow else "center",
                    rotation=90 if narrow else 0, fontsize=8, color=INK)  # fmt: skip
        xs = [right * i / 400 for i in range(401)] + [self.low, self.high, 2 * self.high]
        xs = sorted(xs)
        ax.plot([x / kb for x in xs], [self.at(x) for x in xs], color=HUES[1], lw=2)
        ax.plot([self.limit / kb] * 2, [0, 1], color=INK, ls="--", lw=1.1)
        where = (self.limit / kb, 0.62)
        ax.annotate(f"buffer\n{self.limit / kb:g} kbyte", where, (4, 0), textcoords="offset points", fontsize=8, va="center", color=INK)
        ax.set_xlim(0, right / kb)
        ax.set_ylim(0, 1.16)
        ax.set_yticks([*([0] if self.max_p > 0.05 else []), self.max_p, 0.5, 1])
        ax.grid(visible=False)
        ax.set_title(self.name)
        ax.set_xlabel("average queue, kbyte")
        ax.set_ylabel("drop probability")


@dataclass(frozen=True)
class Topology:
    """A scenario's network: nodes in columns by their distance from the sources, one label for links that are alike."""

    tree: dict[str, Any]
    margins = (0.1, 0.1, 0.1, 0.1)

    @cached_property
    def _network(self) -> tuple[dict[str, Any], list[list[str]]]:
        """The network with all its nodes, and those that are drawn, column by column."""
        from fairlane import _core

        resolved = json.loads(_core.resolve(json.dumps({**self.tree}), "topology.json", "json", []).json())["expanded"]
        idle = _idle(resolved)
        return resolved, [kept for c in _columns(resolved) if (kept := [n for n in c if n not in idle])]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height, inches: an inch from node to node has room for the labels of a link."""
        return max(3.9, 0.3 + 1.02 * len(self._network[1])), 2.7

    def draw(self, figure: Figure, ax: Axes) -> None:
        """Draws the network."""
        resolved, columns = self._network
        ax.axis("off")
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
                beside = [x for x in resolved["links"] if place.get(x["from"], (9, 9))[0] == x0 and place.get(x["to"], (9, 9))[0] == x1]
                lone = sum(x["to"] == b for x in beside) == 1 and sum(x["from"] == a for x in beside) == 1
                ax.plot([x0, x1], [y0, y1], color=HUES[0] if lone else MUTED, lw=3.2 if lone else 1.2, solid_capstyle="round", zorder=1)
                text = f"{_spaced(link['rate'])}\n{_spaced(link['delay'])}"
                seen[(x0, x1, text)] = max(seen.get((x0, x1, text), (-9.0, 0.0)), ((y0 + y1) / 2, y1 - y0))
        for (x0, x1, text), (y, rise) in seen.items():
            beside_line = "center" if not rise else "right" if rise > 0 else "left"
            ax.text((x0 + x1) / 2 + 0.04, y + 0.1, text, ha=beside_line, va="bottom", fontsize=9, color=INK, linespacing=1.3)
        senders = {f["from"] for f in resolved["flows"]}
        receivers = {f["to"] for f in resolved["flows"]}
        for node, (x, y) in place.items():
            router = node not in senders and node not in receivers
            ax.plot([x], [y], marker="o" if router else "s", ms=21 if router else 17, mfc=FACE, mec=INK, mew=1.4, zorder=2)
            if router:
                ax.text(x, y - 0.34, "router" if node == "r" else node, fontsize=9.5, color=INK, ha="center", va="center")
            else:  # beside the square, away from the links
                side = -1 if node in senders else 1
                ha = "right" if side < 0 else "left"
                ax.annotate(node, (x, y), (12 * side, 0), textcoords="offset points", ha=ha, va="center", fontsize=9.5, color=INK)
        ax.set_xlim(-0.5, len(columns) - 0.5)
        ax.set_ylim(-1.25, 1.3)


def _idle(expanded: dict[str, Any]) -> set[str]:
    """Hosts without a flow: nothing passes through them."""
    used = {f[end] for f in expanded["flows"] for end in ("from", "to")}
    names = [n["name"] if isinstance(n, dict) else n for n in expanded["nodes"]]
    beside = {
        n: {x["to"] for x in expanded["links"] if x["from"] == n} | {x["from"] for x in expanded["links"] if x["to"] == n} for n in names
    }
    return {n for n in names if n not in used and len(beside[n]) < 2}


def _spaced(quantity: str) -> str:
    """ "10Mbit/s" with a space before its unit."""
    digits = len(quantity) - len(quantity.lstrip("0123456789."))
    return f"{quantity[:digits]} {quantity[digits:]}"


def _columns(expanded: dict[str, Any]) -> list[list[str]]:
    """Nodes by hops from the nearest source; destinations that are no source at the far right."""
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
