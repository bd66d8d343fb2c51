"""The outcome of a search: the worst paths, and what was tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .confirm import value_text
from .model import Finding, Judged, WorstSpec

if TYPE_CHECKING:
    from .search import Search


class WorstOutcome:
    """The worst paths that a search found: shrunk, confirmed on fresh seeds, explained."""

    def __init__(self, spec: WorstSpec, search: Search, findings: Sequence[Finding], failed: Judged | None) -> None:
        self.spec = spec
        self.findings = tuple(findings)
        """Worst paths, each of another kind."""
        self.failed = failed
        """The worst path that fresh seeds did not confirm."""
        self.evaluations = len(search.tried)
        """Paths that were tried."""
        self.invalid = sum(bool(j.error) for j in search.tried.values())
        """Paths that were no valid scenario."""
        self.stopped_by = search.stopped_by
        """The limit that ended the search: evaluations, time, or all paths."""
        ranked = search.ranked
        self.worst = ranked[0] if ranked else None
        """The worst path that was tried, as it was found."""
        best = None
        self.curve: list[tuple[int, float]] = []
        """Worst effect so far, by the number of paths tried."""
        for i, j in enumerate(search.tried.values(), 1):
            if j.effect is not None and (best is None or j.effect > best):
                best = j.effect
                self.curve.append((i, best))

    @property
    def found(self) -> bool:
        """True if a worst path was found and confirmed."""
        return bool(self.findings)

    @property
    def summary(self) -> str:
        """Sentence on the finding, or, without one, on the worst that was seen."""
        s = self.spec
        budget = f"{self.evaluations} paths, {len(s.seeds)} seed{'s' * (len(s.seeds) != 1)} each"
        if self.found:
            return self.findings[0].sentence
        than = f"with {s.reference} on the same path" if s.reference else "on the unchanged path"
        if self.worst is None:
            return f"Nothing found ({budget}): no path had a value."
        own, other = (value_text(s, _mean(x)) for x in (self.worst.own, self.worst.other))
        seen = f"the worst for {s.subject} is {s.objective.word} {own}, {than} {other}"
        why = "; fresh seeds do not confirm it" if self.failed is not None else ""
        return f"Nothing found ({budget}): {seen}{why}."


def _mean(values: Sequence[float | None]) -> float | None:
    numbers = [x for x in values if x is not None]
    return sum(numbers) / len(numbers) if numbers else None
