"""Figure sizes and fonts for papers, with the column widths of their templates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import suggest
from ...look import theme

_POINT = 72.27
"""TeX points per inch."""
SERIF = ("STIXGeneral", "DejaVu Sans")
"""Fonts like Times: the first comes with matplotlib, the second supplies missing glyphs."""


@dataclass(frozen=True)
class Style:
    """Width and font size of a figure."""

    name: str
    width: float
    """Width in inches."""
    font: float
    """Font size in points on paper."""
    source: str
    families: tuple[str, ...] = SERIF
    line: float = 1.0
    titled: bool = False
    """True if the figure has a title; in papers the caption replaces it."""

    @property
    def narrow(self) -> bool:
        """True if the figure is too narrow for labels next to its axes."""
        return self.width < 5

    def rc(self) -> dict[Any, Any]:
        """Returns the Matplotlib settings."""
        small = self.font * 0.875
        return {
            "font.size": self.font, "font.family": list(self.families), "axes.titlesize": self.font, "axes.labelsize": self.font,
            "xtick.labelsize": small, "ytick.labelsize": small, "legend.fontsize": small, "lines.linewidth": self.line,
            "axes.linewidth": 0.6 * self.line, "grid.linewidth": 0.5 * self.line, "xtick.major.width": 0.6 * self.line,
            "ytick.major.width": 0.6 * self.line, "xtick.major.size": 2.5 * self.line, "ytick.major.size": 2.5 * self.line,
            "axes.titleweight": "normal" if self.families == SERIF else "bold", "pdf.fonttype": 42, "ps.fonttype": 42,
            "axes.labelcolor": theme.INK, "xtick.color": theme.INK, "ytick.color": theme.INK, "axes.edgecolor": theme.INK,
        }  # fmt: skip


_SANS = ("DejaVu Sans",)
_ALL = (
    Style("screen", 7.0, 9.0, "a page of fairlane", _SANS, 1.1, True),
    Style("ieee", 3.5, 8.0, "IEEEtran, one column: 21 pc"),
    Style("ieee-wide", 7.16, 8.0, "IEEEtran, both columns: 43 pc"),
    Style("acm", 241.14749 / _POINT, 8.0, "acmart sigconf, one column: 241.14749 pt"),
    Style("acm-wide", 506.295 / _POINT, 8.0, "acmart sigconf, both columns: 506.295 pt"),
    Style("usenix", 241.02039 / _POINT, 8.0, "usenix2019_v3, one column: (7 in - 0.33 in) / 2"),
    Style("usenix-wide", 7.0, 8.0, "usenix2019_v3, both columns: 7 in"),
    Style("lncs", 347.12354 / _POINT, 9.0, "llncs, the text: 12.2 cm"),
    Style("a4", 160 / 25.4, 10.0, "A4 with margins of 25 mm: 160 mm"),
    Style("slides", 250 / 25.4, 18.0, "A4 across with margins: 250 mm", _SANS, 2.2, True),
)
STYLES = {style.name: style for style in _ALL}


def style_of(name: str) -> Style:
    """Returns a style by its name."""
    if name not in STYLES:
        raise suggest(name, list(STYLES), "style")
    return STYLES[name]
