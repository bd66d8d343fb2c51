"""Figures as files: SVG, PNG or PDF, without a display."""

from __future__ import annotations

import io
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ..base.files import save_bytes
from ..errors import FairlaneError

FORMATS = (".svg", ".png", ".pdf")
STYLE: dict[Any, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9,
    "grid.alpha": 0.3,
    "svg.fonttype": "none",
    "svg.hashsalt": "fairlane",
}
"""Matplotlib settings of figures that stand alone; those in pages have `theme.style`."""


def check_path(path: str | PathLike[str]) -> Path:
    """The path of a figure, if its ending says a format and its folder exists."""
    target = Path(fspath(path))
    if target.suffix.lower() not in FORMATS:
        raise FairlaneError(f"cannot save a figure as {target}: the name must end in {', '.join(FORMATS)}")
    if not target.absolute().parent.is_dir():
        raise FairlaneError(f"cannot write {target}: the folder {target.parent} does not exist")
    return target


def save_figure(figure: Any, path: str | PathLike[str]) -> None:
    """Writes a figure, whole or not at all; the same figure gives the same bytes."""
    import matplotlib as mpl

    target = check_path(path)
    form = target.suffix.lower()[1:]
    buffer = io.BytesIO()
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}[form]
    with mpl.rc_context(STYLE):
        figure.savefig(buffer, format=form, dpi=160, metadata=metadata)
    save_bytes(target, buffer.getvalue())
