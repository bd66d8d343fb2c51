"""Result of a comparison."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from .data import ComparisonData

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Comparison(ComparisonData):
    """Result of `compare`: a `Compared` per setting, in the order given."""

    def plot(self, what: str = "ellipses", *, path: str | PathLike[str] | None = None, style: str = "screen") -> Figure:
        """Draws a figure; `path` saves it as SVG, PNG or PDF.

        `what`: "ellipses", "queue" (over time), "jain", or "points" or "bars" (each metric by flows and setting). `style`: width and fonts
        of a paper, such as "ieee".
        """
        from .plots import picture

        figure = picture(self, what, style)
        if path is not None:
            from ..look.figures import save_figure

            save_figure(figure, path)
        return figure

    def page(self, path: str | PathLike[str] | None = None, *, force: bool = False) -> str:
        """Returns an HTML report that opens offline.

        `path`: also writes it as a file; an existing file is replaced only with `force`.
        """
        from ..base.outputs import kept_text
        from .page import page

        return kept_text(lambda: page(self), path, force=force)

    def latex(self) -> str:
        """Returns the compared measures as a LaTeX table (package booktabs)."""
        from .exports import latex

        return latex(self)

    def markdown(self) -> str:
        """Returns the compared measures and their differences as Markdown."""
        from .exports import markdown

        return markdown(self)

    def document(self) -> dict[str, Any]:
        """Returns the document that `fairlane compare --json` prints."""
        from .document import compare_document

        return compare_document(self)

    def __str__(self) -> str:
        from ..look.sheet import plain
        from .terminal import report

        return plain(*report(self))

    def _repr_html_(self) -> str:
        from .html import comparison_html

        return comparison_html(self)
