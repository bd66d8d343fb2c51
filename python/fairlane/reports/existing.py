"""Folders of searches and reproductions, which contain their own pages: the page with its linked files embedded, and its document."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Mapping
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ..base.files import read_input
from ..errors import FolderError, InputError

_DOCUMENTS = {"tune.json": ("search", "fairlane.tune/"), "reproduction.json": ("reproduction", "fairlane.reproduction/")}
"""Kind of folder by the name of its document."""
_PAGE = "index.html"
_LINK = re.compile(r'<a\b[^>]*?\bhref="(?![a-z][a-z0-9+.-]*:|[/#"])([^"]*)"[^>]*>(.*?)</a>', re.IGNORECASE | re.DOTALL)
"""Link to a local file: its address and its text."""
_KINDS = {".csv": "text/csv", ".svg": "image/svg+xml", ".png": "image/png"}
"""Files that are embedded into a page, the smallest kind first."""
MOST_BYTES = 2_900_000
"""Most bytes of a page; files beyond it lose their links."""
MOST_SENTENCES = 3


class ExistingReport:
    """Search or reproduction in its folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.kind, schema = _DOCUMENTS[name]
        try:
            document = json.loads(read_input(folder / name))
        except (ValueError, InputError, RecursionError) as e:
            raise FolderError(f"{folder / name} cannot be read: {e}") from None
        if not isinstance(document, dict) or not str(document.get("schema")).startswith(schema):
            raise FolderError(f"{folder / name} is not the document of a {self.kind}")
        self._document: Mapping[str, Any] = document

    @property
    def name(self) -> str:
        """Name of the search, or title of the paper."""
        found = self._document.get("tune") if self.kind == "search" else self._document
        found = found.get("name" if self.kind == "search" else "title") if isinstance(found, dict) else None
        return str(found or self.folder.resolve().name)

    @property
    def seeds(self) -> list[int]:
        """Seeds of its runs."""
        of = self._document.get("tune") if self.kind == "search" else self._document
        seeds = of.get("seeds") if isinstance(of, dict) else None
        return [s for s in seeds if isinstance(s, int)] if isinstance(seeds, list) else []

    @property
    def sentences(self) -> list[str]:
        """Results of the recommended setting, or the number of claims by verdict."""
        if self.kind == "search":
            return [f"The recommended setting is {v['sentence']}." for v in _dicts(self._document.get("verdicts")) if "sentence" in v][
                :MOST_SENTENCES
            ]
        found: dict[str, int] = {}
        for claim in _dicts(self._document.get("claims")):
            found[str(claim.get("verdict"))] = found.get(str(claim.get("verdict")), 0) + 1
        if not found:
            return []
        return [f"Of {sum(found.values())} claims: {', '.join(f'{n} {verdict}' for verdict, n in found.items())}."]

    @property
    def warnings(self) -> list[str]:
        """Warnings of the document."""
        found = self._document.get("warnings")
        return [str(w) for w in found] if isinstance(found, list) else []

    def page(self) -> str:
        """Returns the page as one file, with the tables and figures of the folder embedded."""
        page = self.folder / _PAGE
        try:
            text = read_input(page).decode()
        except (InputError, UnicodeDecodeError) as e:
            raise FolderError(f"{self.folder} (folder of a {self.kind}) has no page: {e}") from None
        names = dict.fromkeys(unescape(m[1]) for m in _LINK.finditer(text))
        left, taken = MOST_BYTES - len(text.encode()), {}
        for name in sorted(names, key=lambda n: list(_KINDS).index(_ending(n)) if _ending(n) in _KINDS else len(_KINDS)):
            data = self._saved(name)
            if data is not None and len(data) <= left:
                taken[name] = data
                left -= len(data)

        def link(found: re.Match[str]) -> str:
            name = unescape(found[1])
            if name in taken:
                return f'<a class="get" download="{escape(unquote(name).rsplit("/", 1)[-1])}" href="{taken[name]}">{found[2]}</a>'
            return "" if _ending(name) in _KINDS else found[2]

        return _LINK.sub(link, text)

    def _saved(self, link: str) -> str | None:
        """Returns a file of the folder as a data URL; None for other files."""
        kind = _KINDS.get(_ending(link))
        file = self.folder / unquote(link)
        if kind is None or not file.resolve().is_relative_to(self.folder.resolve()):
            return None
        try:
            return f"data:{kind};base64,{base64.b64encode(read_input(file)).decode()}"
        except InputError:
            return None


def _ending(name: str) -> str:
    return Path(unquote(name)).suffix.lower()


def _dicts(found: Any) -> list[dict[str, Any]]:
    return [x for x in found if isinstance(x, dict)] if isinstance(found, list) else []


def find_existing(folder: str | os.PathLike[str]) -> ExistingReport | None:
    """Returns the search or reproduction in a folder, if there is one."""
    path = Path(folder)
    if (path / "manifest.json").is_file():
        return None
    return next((ExistingReport(path, name) for name in _DOCUMENTS if (path / name).is_file()), None)


def kind_of(folder: Path) -> str | None:
    """Returns "search" or "reproduction" by the document in the folder, which is not read."""
    return next((kind for name, (kind, _) in _DOCUMENTS.items() if (folder / name).is_file()), None)
