"""A new study: a folder with everything that a study has, ready to run."""

from __future__ import annotations

import re
import shutil
from importlib.resources import as_file, files
from os import PathLike
from pathlib import Path

from ..base.files import replacing
from ..errors import FairlaneError, FolderError
from .folders import keys

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def new_paper(key: str, into: str | PathLike[str] = ".") -> Path:
    """Writes the folder `key`, an example that runs as it is, and returns it. What exists is never replaced."""
    if not _KEY.fullmatch(key):
        raise FairlaneError(
            f"{key!r} is not a valid key: it names a folder and begins with a letter; letters, digits, - and _ may follow: mine1999"
        )
    if key == "all" or key in keys():
        raise FairlaneError(f"{key!r} is taken: `fairlane reproduce {key}` runs {'every study' if key == 'all' else 'a study of ours'}")
    folder = Path(into) / key
    if folder.exists():
        raise FolderError(f"{folder} exists: choose another key, or remove it")
    with as_file(files(__package__) / "skeleton") as skeleton, replacing(folder) as place:
        for file in sorted(skeleton.iterdir()):
            if file.is_file():
                shutil.copyfile(file, place / file.name)
    return folder
