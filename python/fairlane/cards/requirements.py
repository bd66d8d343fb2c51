"""Items that the RFCs ask for: the question that answers it, or the reason why it is left out."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Any

from ..look.sheet import Sheet


@lru_cache(maxsize=1)
def table() -> list[dict[str, Any]]:
    """Returns the items of requirements.toml: document, section, word, item, and `questions` or `left_out`."""
    text = files(__package__).joinpath("requirements.toml").read_text("utf-8")
    return [{"document": document, **item} for document, items in tomllib.loads(text).items() for item in items["item"]]


def sheet() -> Sheet:
    """Returns the items as a table for a terminal."""
    rows = [
        [f"{i['document']} {i['section']}", i["word"], i["item"], ", ".join(i.get("questions", [])) or f"left out: {i['left_out']}"]
        for i in table()
    ]
    return Sheet(["section", "word", "item", "answered by"], rows, words=(1, 2, 3))
