"""Texts of others in figures: names and titles with what no font or picture can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..base.printable import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def sanitize(figure: Figure) -> None:
    """Writes out control characters, which would make an SVG that is no XML, and takes what is no formula literally: `$5 and $6`."""
    from matplotlib.mathtext import MathTextParser
    from matplotlib.text import Text

    parser = MathTextParser("path")
    for text in figure.findobj(Text):
        told: str = text.get_text()
        if (safe := printable(told)) != told:
            text.set_text(safe)
        if safe.count("$") > 1:
            try:
                parser.parse(safe)
            except ValueError:
                text.set_parse_math(False)
