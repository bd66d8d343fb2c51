"""Sanitising of user texts in figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..base.escapes import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def sanitize(figure: Figure) -> None:
    """Escapes control characters, which are invalid in SVG, and disables math mode for texts that are no formula, such as `$5 and $6`."""
    from matplotlib.mathtext import MathTextParser
    from matplotlib.text import Text

    parser = MathTextParser("path")
    for text in figure.findobj(Text):
        original: str = text.get_text()
        if (safe := printable(original)) != original:
            text.set_text(safe)
        if safe.count("$") > 1:
            try:
                parser.parse(safe)
            except ValueError:
                text.set_parse_math(False)
