"""Figures as files: SVG, PNG or PDF."""

from __future__ import annotations

import io
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ..base.files import save_bytes
from ..base.outputs import folder_of
from ..errors import FairlaneError
from .texts import sanitize

FORMATS = (".svg", ".png", ".pdf")


def check_path(path: str | PathLike[str]) -> Path:
    """Returns the path of a figure; an error for an unknown ending or a missing folder."""
    target = Path(fspath(path))
    if target.suffix.lower() not in FORMATS:
        raise FairlaneError(f"cannot save a figure as {target}: the name must end in {', '.join(FORMATS)}")
    folder_of(target)
    return target


def save_figure(figure: Any, path: str | PathLike[str], *, dpi: int = 160, new: bool = False) -> None:
    """Writes a figure; equal figures give equal bytes. `dpi`: resolution of PNG; `new`: an existing file is an error."""
    import matplotlib as mpl

    from .theme import style

    target = check_path(path)
    form = target.suffix.lower()[1:]
    buffer = io.BytesIO()
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}[form]
    sanitize(figure)
    with mpl.rc_context(style()):
        figure.savefig(buffer, format=form, dpi=dpi, facecolor="white", metadata=metadata)
    save_bytes(target, buffer.getvalue(), new=new)
