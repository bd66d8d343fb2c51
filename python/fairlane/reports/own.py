"""Folders that bring a page of their own, searches and reproductions: it stands as it is, and their documents say what is in it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..base.files import read_input
from ..errors import FolderError, InputError

_DOCUMENTS = {"tune.json": ("search", "fairlane.tune/"), "reproduction.json": ("reproduction", "fairlane.reproduction/")}
"""What such a folder holds, by a file of it."""
_PAGE = "index.html"
_LINK = re.compile(r'(\b(?:href|src)=")(?![a-z][a-z0-9+.-]*:|[/#"])([^"]*")', re.IGNORECASE)
MOST_SENTENCES = 3


class Own:
    """A search or a reproduction as it lies in its folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.kind, schema = _DOCUMENTS[name]
        try:
            said = json.loads(read_input(folder / name))
        except (ValueError, InputError, RecursionError) as e:
            raise FolderError(f"{folder / name} cannot be read: {e}") from e
        if not isinstance(said, dict) or not str(said.get("schema")).startswith(schema):
            raise FolderError(f"{folder / name} is not the document of a {self.kind}")
        self._said: Mapping[str, Any] = said

    @property
    def name(self) -> str:
        """What was looked for, or the title of the study."""
        found = self._said.get("tune") if self.kind == "search" else self._said
        found = found.get("name" if self.kind == "search" else "title") if isinstance(found, dict) else None
        return str(found or self.folder.resolve().name)

    @property
    def seeds(self) -> list[int]:
        """The seeds it saw."""
        of = self._said.get("tune") if self.kind == "search" else self._said
        seeds = of.get("seeds") if isinstance(of, dict) else None
        return [s for s in seeds if isinstance(s, int)] if isinstance(seeds, list) else []

    @property
    def sentences(self) -> list[str]:
        """How the chosen setting did, or what became of the claims."""
        if self.kind == "search":
            return [f"The chosen setting is {v['sentence']}." for v in _dicts(self._said.get("verdicts")) if "sentence" in v][
                :MOST_SENTENCES
            ]
        found: dict[str, int] = {}
        for claim in _dicts(self._said.get("claims")):
            found[str(claim.get("verdict"))] = found.get(str(claim.get("verdict")), 0) + 1
        if not found:
            return []
        return [f"Of {sum(found.values())} claims: {', '.join(f'{n} {verdict}' for verdict, n in found.items())}."]

    @property
    def warnings(self) -> list[str]:
        """What to check before trusting it."""
        told = self._said.get("warnings")
        return [str(w) for w in told] if isinstance(told, list) else []

    def page(self, beside: Path | None = None) -> str:
        """Its page; links to files of the folder lead there from a page in the folder `beside`."""
        page = self.folder / _PAGE
        try:
            text = read_input(page).decode()
        except (InputError, UnicodeDecodeError) as e:
            raise FolderError(f"{self.folder} is the folder of a {self.kind} without its page: {e}") from e
        way = quote(os.path.relpath(self.folder, beside or Path()).replace(os.sep, "/"))
        return _LINK.sub(lambda m: f"{m[1]}{way}/{m[2]}", text)


def _dicts(found: Any) -> list[dict[str, Any]]:
    return [x for x in found if isinstance(x, dict)] if isinstance(found, list) else []


def own(folder: str | os.PathLike[str]) -> Own | None:
    """The search or reproduction in a folder, if there is one."""
    path = Path(folder)
    if (path / "manifest.json").is_file():
        return None
    return next((Own(path, name) for name in _DOCUMENTS if (path / name).is_file()), None)


def kind_of(folder: Path) -> str | None:
    """search or reproduction, if the folder has the document of one, whatever is in it."""
    return next((kind for name, (kind, _) in _DOCUMENTS.items() if (folder / name).is_file()), None)
