"""`Picture`: a Matplotlib figure that notebooks display, in the style of fairlane."""

from __future__ import annotations

import io
from typing import Any

from matplotlib.figure import Figure

from .theme import style

_DPI = 192
"""Pixels per inch for high-resolution screens; notebooks show half of them."""


class Picture(Figure):
    """Matplotlib figure that Jupyter displays; a plain `Figure` would need pyplot or `%matplotlib inline`."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=_DPI, facecolor="white", metadata={"Software": None})
        wide, high = self.get_size_inches()
        return buffer.getvalue(), {"width": round(wide * _DPI / 2), "height": round(high * _DPI / 2)}


def on_white() -> dict[Any, Any]:
    """Returns the Matplotlib settings of stand-alone figures."""
    return style() | {"figure.facecolor": "white", "savefig.facecolor": "white"}
