"""The best setting of a directed search."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Found:
    """The best setting of a directed search."""

    claim: str
    """The claim; empty for a published value."""
    table: str
    of: str
    metric: str
    """The place of the published value; empty for a claim."""
    constrained: bool
    """True if the other published values had to stay as near as in the best-fitting settings."""
    evaluated: int
    """Settings that were run for it."""
    seeds: int
    """Replications of the best setting."""
    reached: float
    """Share of these replications in which the claim holds, or the value is near."""
    margin: float
    """Mean margin of the claim there, or minus the relative difference of the value."""
    median: float | None
    """Median difference of all published values there; None if its runs lack them."""
    setting: str
    """Its values other than those of the declared setting: "window=64p, rate=2Mbit/s"."""

    @property
    def holds(self) -> bool:
        """True if the claim holds, or the value is near, in most replications of the best setting."""
        return self.reached > 0.5

    @property
    def nearness(self) -> str:
        """Says in how many replications the best setting is near a published value: "near in 4 of 5 runs; in the mean"; or "closest"."""
        return f"near in {round(self.reached * self.seeds)} of {self.seeds} runs; in the mean" if self.holds else "closest"

    def to_json(self) -> dict[str, Any]:
        """Returns the entry of the JSON document."""
        return {
            "reached": round(self.reached, 4), "margin": round(self.margin, 6) + 0.0, "setting": self.setting, "seeds": self.seeds,
            "evaluated": self.evaluated, "constrained": self.constrained, "median_difference": self.median,
        }  # fmt: skip


def best_of(found: Iterable[Found]) -> dict[str, Found]:
    """Returns the result by claim: the one that keeps the other published values if that reaches the claim, else the other."""
    out: dict[str, Found] = {}
    for x in found:
        if x.claim not in out or _rank(x) > _rank(out[x.claim]):
            out[x.claim] = x
    return out


def _rank(x: Found) -> tuple[bool, bool, float]:
    return x.holds, x.constrained == x.holds, x.margin
