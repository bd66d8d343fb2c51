"""`Picture`: a figure that shows itself in a notebook, in fairlane's look."""

from __future__ import annotations

import io
from typing import Any

from matplotlib.figure import Figure

from .theme import style

_DPI = 192
"""Pixels an inch on a screen that is fine; notebooks show them at half their size."""


class Picture(Figure):
    """A matplotlib figure that Jupyter shows as it is; a `Figure` alone needs pyplot or `%matplotlib inline` for that."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=_DPI, facecolor="white", metadata={"Software": None})
        wide, high = self.get_size_inches()
        return buffer.getvalue(), {"width": round(wide * _DPI / 2), "height": round(high * _DPI / 2)}


def on_white() -> dict[Any, Any]:
    """Matplotlib settings of pictures that stand alone."""
    return style() | {"figure.facecolor": "white", "savefig.facecolor": "white"}
