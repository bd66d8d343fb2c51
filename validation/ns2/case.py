"""One scenario that is run on both sides."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SCENARIOS = Path(__file__).parent / "scenarios"


@dataclass(frozen=True)
class Case:
    """One scenario to run on both sides."""

    name: str
    """as in the stored reference tables"""
    family: str
    file: str
    watch: str
    """link whose queue is compared"""
    sets: tuple[tuple[str, str], ...] = ()
    """changes to the file, as `--set path=value`"""
    seeds: tuple[int, ...] = (1,)
    """seeds of our runs"""
    peer_runs: tuple[tuple[int, float], ...] = ((0, 0.0),)
    """seed (0 is the built-in one) and clock reading at the start, of each run of ns-2"""
    explained: tuple[tuple[str, float], ...] = ()
    """measures that exact ties or locked phases decide (docs/validation/ns2.md), and how many bounds they may differ by"""
    quick: bool = False
    """whether it is among the cases of `--quick`"""
    standard: bool = True
    """whether it runs without `--all`"""
    sawtooth: bool = False
    """whether period and peak of the window are compared"""
    bounds: str = "tcp"
    """which table of `measures.TABLES` judges it"""
    random_starts: bool = False
    """whether flows start at random times (`spread`): each run of ns-2 takes those of our run with the same seed"""

    @property
    def path(self) -> Path:
        """The scenario file."""
        return SCENARIOS / self.file
