"""A new question: a folder with `card.toml`, ready to be asked."""

from __future__ import annotations

import re
from importlib.resources import files
from os import PathLike
from pathlib import Path

from ..base.files import replacing
from ..errors import FairlaneError, FolderError
from .folders import shipped
from .question import FILE
from .subject import KINDS

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def new_question(key: str, into: str | PathLike[str] = ".") -> Path:
    """Writes the folder `key`, a question that runs as it is, and returns it. What exists is never replaced."""
    if not _KEY.fullmatch(key):
        raise FairlaneError(f"{key!r} is not a valid key: it names a folder and begins with a letter; letters, digits, - and _ may follow")
    if any((shipped(kind) / key).exists() for kind in KINDS):
        raise FairlaneError(f"{key!r} is taken: it is a question of ours; choose another key")
    folder = Path(into) / key
    if folder.exists():
        raise FolderError(f"{folder} exists: choose another key, or remove it")
    with replacing(folder) as place:
        (place / FILE).write_text(files(__package__).joinpath("skeleton", FILE).read_text("utf-8"), "utf-8")
    return folder
