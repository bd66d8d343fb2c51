"""`WorstResult`: the worst paths of a search with their document, page and files."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from .outcome import WorstOutcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class WorstResult(WorstOutcome):
    """The worst paths that a search found: shrunk, confirmed on fresh seeds, explained."""

    def document(self) -> dict[str, Any]:
        """The document that `fairlane worst --json` prints."""
        from .document import worst_document

        return worst_document(self)

    def plot(self, number: int = 1) -> Figure:
        """Returns the windows of subject and reference over one another on a path, above the rate of its link."""
        from .plots import picture

        if not 1 <= number <= len(self.findings):
            raise ArgumentError(f"there is no path {number}: there are {len(self.findings)}, counted from 1")
        return picture(self, self.findings[number - 1])

    def page(self, path: str | PathLike[str] | None = None, *, force: bool = False) -> str:
        """Returns an HTML report that opens offline.

        `path`: also writes it as a file; an existing file is replaced only with `force`.
        """
        from ..base.outputs import kept_text
        from .page import page

        return kept_text(lambda: page(self), path, force=force)

    def _repr_html_(self) -> str:
        from ..look.notebook import card, muted
        from .terminal import head, sheet

        hint = muted("Scenarios: .findings[0].scenario; one page: .page().")
        return card(head(self), *([sheet(self)] if self.found else []), hint)

    def __str__(self) -> str:
        from ..look.sheet import plain
        from .terminal import report

        return plain(*report(self))

    def __repr__(self) -> str:
        return f"WorstResult({self.spec.name}: {len(self.findings)} paths found, {self.evaluations} tried)"
