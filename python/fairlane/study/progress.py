"""How far a study is, how fast, and how long it will take."""

from __future__ import annotations

import time
from collections.abc import Callable


class Tally:
    """Cells of a study by what became of them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.cells = 0
        """Cells known to be needed; may grow while replications are added."""
        self.done = 0
        """Cells with a result, those kept from before included."""
        self.reused = 0
        """Cells kept from before."""
        self.failed = 0
        """Cells without a result."""
        self.expected = 0
        """Cells that may still be added for the precision, by what is known of the points so far."""
        self._clock = clock
        self._began = clock()
        self._left: dict[int, int] = {}
        self._cost: dict[int, tuple[float, int]] = {}
        self._known_left = 0.0
        self._spent, self._counted, self._unknown = 0.0, 0, 0
        self._ran = 0

    def begin(self) -> None:
        """The first cell is about to run."""
        self._began = self._clock()

    def add(self, point: int, cells: int = 1) -> None:
        """Cells of a point have to be run."""
        self._left[point] = self._left.get(point, 0) + cells
        if point in self._cost:
            self._known_left += cells * self._mean(point)
        else:
            self._unknown += cells

    def ran(self, point: int, cost: float) -> None:
        """A cell of a point was run, for `cost` CPU seconds; 0 if it failed and tells nothing about the others."""
        self._ran += 1
        left = self._left[point]
        if point in self._cost:
            self._known_left -= left * self._mean(point)
        else:
            self._unknown -= left
        self._left[point] = left = left - 1
        if cost > 0:
            total, n = self._cost.get(point, (0.0, 0))
            self._cost[point] = (total + cost, n + 1)
            self._spent += cost
            self._counted += 1
        if point in self._cost:
            self._known_left += left * self._mean(point)
        else:
            self._unknown += left

    def _mean(self, point: int) -> float:
        total, n = self._cost[point]
        return total / n

    @property
    def elapsed(self) -> float:
        """Seconds since the first cell of this run began."""
        return max(0.0, self._clock() - self._began)

    @property
    def rate(self) -> float:
        """Cells a second that this run finished, failed ones included; cells kept from before do not count."""
        return self._ran / self.elapsed if self.elapsed > 0 else 0.0

    @property
    def fraction(self) -> float:
        """Share of the cells that are finished, of those that are needed by what is known now."""
        total = self.cells + self.expected
        return min(1.0, (self.done + self.failed) / total) if total else 1.0

    @property
    def eta(self) -> float | None:
        """Seconds left: what is left costs what cells of the same point cost so far, or the mean of all; None before the first is done.

        Cells of different points differ in what they cost, often by orders of magnitude, and a study runs its points in order: cells a
        second would tell little.
        """
        if not self._counted or self.elapsed <= 0:
            return None
        left = max(0.0, self._known_left) + (self._unknown + self.expected) * self._spent / self._counted
        return left * self.elapsed / self._spent
