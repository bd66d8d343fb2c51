"""Reads built pages as a browser would, and says what leads nowhere or would need the network."""

from __future__ import annotations

import html.parser
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {
    "img": "src",
    "script": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "object": "data",
}
"""Attributes whose targets a browser loads by itself."""
_KEPT_BACK = {"canonical", "author", "search", "index", "next", "prev", "help", "license"}
"""Kinds of `link` that are only named."""


class Page(html.parser.HTMLParser):
    """The ids of a page, what it links to, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.styles: list[str] = []
        self._style = False
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        found = {k: v or "" for k, v in attrs}
        if "id" in found:
            self.ids.add(found["id"])
        if tag == "a" and "name" in found:
            self.ids.add(found["name"])
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        wanted = FETCHED.get(tag)
        if wanted in found and not (tag == "link" and set(found.get("rel", "").split()) & _KEPT_BACK):
            self.loads.append(found[wanted])
        self._style = tag == "style"
        self.styles.append(found.get("style", ""))

    def handle_endtag(self, tag):
        self._style = False

    def handle_data(self, data):
        if self._style:
            self.styles.append(data)


def network(text: str) -> list[str]:
    """Returns the external resources of a style."""
    return re.findall(r"(?:url\(\s*['\"]?|@import\s+['\"])(https?:[^'\")]+|//[^'\")]+)", text)


def problems(folder: Path) -> list[str]:
    """Broken links, anchors and pictures of all pages below a folder, and what they would load from elsewhere."""
    files = {p.resolve(): Page(p) for p in sorted(folder.rglob("*.html"))}
    found = []
    for path, page in files.items():
        name = path.relative_to(folder.resolve())
        for target in [*page.links, *page.loads]:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loads and parts.scheme != "data":
                    found.append(f"{name}: loads {target}")
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = there / "index.html" if there.is_dir() else there
            if not there.exists():
                found.append(f"{name}: {target} leads nowhere")
            elif parts.fragment and there in files and unquote(parts.fragment) not in files[there].ids:
                found.append(f"{name}: {target} has no such anchor")
        found += [f"{name}: a style loads {url}" for style in page.styles for url in network(style)]
    for style in folder.rglob("*.css"):
        found += [f"{style.relative_to(folder)}: loads {url}" for url in network(style.read_text("utf-8"))]
    return found
