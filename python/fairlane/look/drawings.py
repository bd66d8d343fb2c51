"""Drawings: a topology from its scenario, block diagrams, and the drop probability of RED."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .blocks import Arrow, Blocks, Box
from .theme import HUES, INK, TINTS
from .topology import Topology

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
__all__ = ["Arrow", "Blocks", "Box", "RedCurve", "Topology"]


@dataclass(frozen=True)
class RedCurve:
    """Drop probability of RED over its average queue length in bytes (Floyd and Jacobson 1993; gentle mode: Floyd 2000)."""

    name: str
    low: float
    high: float
    max_p: float
    gentle: bool
    limit: float

    size = (3.9, 2.75)
    margins = (0.6, 0.46, 0.1, 0.3)

    def at(self, average: float) -> float:
        """Returns the probability of an early drop, before the correction for the packets since the last drop.

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
        """Draws the curve over its regions."""
        kb, right = 1e3, max(2.3 * self.high, 1.25 * self.limit)
        edges = (0.0, self.low, self.high, right)
        names = ("accept", "early drops", "gentle region" if self.gentle else "drop all")
        for a, b, tint, name in zip(edges, (*edges[1:-1], right), TINTS, names, strict=False):
            ax.axvspan(a / kb, b / kb, color=tint, lw=0)
            narrow = b - a < 0.2 * right
            ax.text((a + b) / 2 / kb, 1.04 if not narrow else 0.55, name, ha="center", va="bottom" if not narrow else "center",
                    rotation=90 if narrow else 0, fontsize=8, color=INK)  # fmt: skip
        xs = [right * i / 400 for i in range(401)] + [self.low, self.high, 2 * self.high]
        xs = sorted(xs)
        ax.plot([x / kb for x in xs], [self.at(x) for x in xs], color=HUES[1], lw=2)
        ax.plot([self.limit / kb] * 2, [0, 1], color=INK, ls="--", lw=1.1)
        where = (self.limit / kb, 0.88 if self.limit < self.low else 0.62)
        ax.annotate(f"buffer\n{self.limit / kb:g} kB", where, (4, 0), textcoords="offset points", fontsize=8, va="center", color=INK)
        ax.set_xlim(0, right / kb)
        ax.set_ylim(0, 1.16)
        ax.set_yticks([*([0] if self.max_p > 0.05 else []), self.max_p, 0.5, 1])
        ax.grid(visible=False)
        ax.set_title(self.name)
        ax.set_xlabel("average queue length (kB)")
        ax.set_ylabel("drop probability")
