"""Free space for labels in a drawing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_CELL = 48.0
_FINE = 7.0


@dataclass(frozen=True)
class Box:
    """Rectangle by its centre."""

    x: float
    y: float
    wide: float
    high: float

    def touches(self, other: Box) -> bool:
        """Returns True if the boxes overlap."""
        return 2 * abs(self.x - other.x) < self.wide + other.wide and 2 * abs(self.y - other.y) < self.high + other.high

    def cells(self, size: float) -> Iterator[tuple[int, int]]:
        """Yields the grid cells that it covers."""
        x0, x1 = int((self.x - self.wide / 2) // size), int((self.x + self.wide / 2) // size)
        y0, y1 = int((self.y - self.high / 2) // size), int((self.y + self.high / 2) // size)
        return ((x, y) for x in range(x0, x1 + 1) for y in range(y0, y1 + 1))


class FreeSpace:
    """Occupied space: boxes, which labels must not cover, and lines, which they should avoid."""

    def __init__(self) -> None:
        self.boxes: list[Box] = []
        self._near: dict[tuple[int, int], list[Box]] = {}
        self._lines: Counter[tuple[int, int]] = Counter()

    def take(self, box: Box) -> None:
        """Reserves a box."""
        self.boxes.append(box)
        for cell in box.cells(_CELL):
            self._near.setdefault(cell, []).append(box)

    def cross(self, points: Iterable[tuple[float, float]]) -> None:
        """Adds a line by closely spaced points."""
        self._lines.update((int(x // _FINE), int(y // _FINE)) for x, y in points)

    def free(self, box: Box) -> bool:
        """Returns True if a box overlaps no other."""
        return not any(box.touches(other) for cell in box.cells(_CELL) for other in self._near.get(cell, ()))

    def crossed(self, box: Box) -> float:
        """Returns the cost of the boxes and lines that a box would cover."""
        over = sum(box.touches(other) for cell in box.cells(_CELL) for other in self._near.get(cell, ()))
        return 100.0 * over + sum(self._lines[cell] for cell in box.cells(_FINE))
