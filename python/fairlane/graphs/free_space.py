"""Where on a drawing there is room for a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_CELL = 48.0
_FINE = 7.0


@dataclass(frozen=True)
class Box:
    """A rectangle by its middle."""

    x: float
    y: float
    wide: float
    high: float

    def touches(self, other: Box) -> bool:
        """Whether they have a point in common."""
        return 2 * abs(self.x - other.x) < self.wide + other.wide and 2 * abs(self.y - other.y) < self.high + other.high

    def cells(self, size: float) -> Iterator[tuple[int, int]]:
        """The cells of a lattice that it lies in."""
        x0, x1 = int((self.x - self.wide / 2) // size), int((self.x + self.wide / 2) // size)
        y0, y1 = int((self.y - self.high / 2) // size), int((self.y + self.high / 2) // size)
        return ((x, y) for x in range(x0, x1 + 1) for y in range(y0, y1 + 1))


class FreeSpace:
    """What is taken: boxes, which nothing may cover, and lines, which had better not be covered."""

    def __init__(self) -> None:
        self.boxes: list[Box] = []
        self._near: dict[tuple[int, int], list[Box]] = {}
        self._lines: Counter[tuple[int, int]] = Counter()

    def take(self, box: Box) -> None:
        """Nothing else goes there."""
        self.boxes.append(box)
        for cell in box.cells(_CELL):
            self._near.setdefault(cell, []).append(box)

    def cross(self, points: Iterable[tuple[float, float]]) -> None:
        """A line goes there, given by points that lie close together."""
        self._lines.update((int(x // _FINE), int(y // _FINE)) for x, y in points)

    def free(self, box: Box) -> bool:
        """Whether a box would cover no other."""
        return not any(box.touches(other) for cell in box.cells(_CELL) for other in self._near.get(cell, ()))

    def crossed(self, box: Box) -> float:
        """How much of lines and boxes it would cover."""
        over = sum(box.touches(other) for cell in box.cells(_CELL) for other in self._near.get(cell, ()))
        return 100.0 * over + sum(self._lines[cell] for cell in box.cells(_FINE))
