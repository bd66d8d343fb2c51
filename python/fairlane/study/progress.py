"""How far a study is, how fast, and how long it will take."""

from __future__ import annotations

import time
from collections.abc import Callable


class Tally:
    """Runs of a study by what became of them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.runs = 0
        """Runs known to be needed; may grow while replications are added."""
        self.done = 0
        """Runs with a result, those kept from before included."""
        self.reused = 0
        """Runs kept from before."""
        self.failed = 0
        """Runs without a result."""
        self.expected = 0
        """Runs that may still be added for the precision, by what is known of the combinations so far."""
        self._clock = clock
        self._began = clock()
        self._left: dict[int, int] = {}
        self._cost: dict[int, tuple[float, int]] = {}
        self._known_left = 0.0
        self._spent, self._counted, self._unknown = 0.0, 0, 0
        self._ran = 0

    def begin(self) -> None:
        """The first run is about to run."""
        self._began = self._clock()

    def add(self, combination: int, runs: int = 1) -> None:
        """Runs of a combination have to be run."""
        self._left[combination] = self._left.get(combination, 0) + runs
        if combination in self._cost:
            self._known_left += runs * self._mean(combination)
        else:
            self._unknown += runs

    def ran(self, combination: int, cost: float) -> None:
        """A run of a combination was run, for `cost` CPU seconds; 0 if it failed and tells nothing about the others."""
        self._ran += 1
        left = self._left[combination]
        if combination in self._cost:
            self._known_left -= left * self._mean(combination)
        else:
            self._unknown -= left
        self._left[combination] = left = left - 1
        if cost > 0:
            total, n = self._cost.get(combination, (0.0, 0))
            self._cost[combination] = (total + cost, n + 1)
            self._spent += cost
            self._counted += 1
        if combination in self._cost:
            self._known_left += left * self._mean(combination)
        else:
            self._unknown += left

    def _mean(self, combination: int) -> float:
        total, n = self._cost[combination]
        return total / n

    @property
    def elapsed(self) -> float:
        """Seconds since the first run of this run began."""
        return max(0.0, self._clock() - self._began)

    @property
    def rate(self) -> float:
        """Runs a second that this run finished, failed ones included; runs kept from before do not count."""
        return self._ran / self.elapsed if self.elapsed > 0 else 0.0

    @property
    def fraction(self) -> float:
        """Share of the runs that are finished, of those that are needed by what is known now."""
        total = self.runs + self.expected
        return min(1.0, (self.done + self.failed) / total) if total else 1.0

    @property
    def eta(self) -> float | None:
        """Seconds left: what is left costs what runs of the same combination cost so far, or the mean of all; None before the first is
        done.

        Runs of different combinations differ in what they cost, often by orders of magnitude, and a study runs its combinations in order:
        runs a second would tell little.
        """
        if not self._counted or self.elapsed <= 0:
            return None
        left = max(0.0, self._known_left) + (self._unknown + self.expected) * self._spent / self._counted
        return left * self.elapsed / self._spent
