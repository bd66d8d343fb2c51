"""`TuneResult`: the outcome of a tuning with its document, its page and its files."""

from __future__ import annotations

from os import PathLike
from typing import Any

from ..base.toml import value as as_toml
from .outcome import TuneOutcome


class TuneResult(TuneOutcome):
    """The result of a tuning: the trials, the Pareto front, the recommended setting, and its held-out test."""

    def document(self) -> dict[str, Any]:
        """The document that `fairlane tune --json` prints."""
        from .document import tune_document

        return tune_document(self)

    def tc(self) -> str:
        """The shell script that sets up the chosen queue on Linux, as `fairlane tc` prints it."""
        from .recommendation import tc_lines

        return tc_lines(self)

    def scenario(self) -> str:
        """The scenario with the chosen queue, as a file that `fairlane run` takes."""
        from .recommendation import chosen_scenario

        return chosen_scenario(self)

    def page(self, path: str | PathLike[str] | None = None, *, force: bool = False) -> str:
        """Returns an HTML report that opens offline.

        `path`: also writes it as a file; an existing file is replaced only with `force`.
        """
        from ..base.outputs import kept_text
        from .page import page

        return kept_text(lambda: page(self), path, force=force)

    def _repr_html_(self) -> str:
        from .html import tune_html

        return tune_html(self)

    def __str__(self) -> str:
        from ..look.sheet import plain
        from .terminal import report

        return plain(*report(self))

    def __repr__(self) -> str:
        front = f"{len(self.trials)} settings, {len(self.front)} on the front"
        return f"TuneResult({self.spec.name}: {front}, chosen {as_toml(self.chosen.queue)})"
