"""The files of a search: the worst paths as scenarios and pictures, the document, the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.sha256sums import listed

if TYPE_CHECKING:
    from .result import WorstResult

FILES = ("worst.json", "index.html")


def write(r: WorstResult, folder: Path) -> None:
    """Writes all files; each is there whole or not at all. Scenarios of an earlier search in the folder are removed."""
    from ..look import theme
    from .plots import picture

    with listed(folder) as put:
        for f in r.findings:
            put(f"{f.number}.toml", f.scenario.encode())
            put(f"{f.number}.svg", theme.svg(picture(r, f)).encode())
        put("worst.json", (json.dumps(r.document(), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())
        put("index.html", r.page().encode())
        for n in range(len(r.findings) + 1, r.spec.paths + 1):
            for end in ("toml", "svg"):
                (folder / f"{n}.{end}").unlink(missing_ok=True)
