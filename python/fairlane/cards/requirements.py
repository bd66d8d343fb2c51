"""Items that the RFCs ask for: the question that answers it, or the reason why it is left out."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Any

from ..look.sheet import Sheet


@lru_cache(maxsize=1)
def _documents() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files(__package__).joinpath("requirements.toml").read_text("utf-8"))


def table() -> list[dict[str, Any]]:
    """Returns the items of requirements.toml: document, section, word, item, and `questions` or `left_out`."""
    return [{"document": document, **item} for document, held in _documents().items() for item in held["item"]]


def beyond(section: str) -> str:
    """Returns what is wrong with a section that its document does not have, or "".

    >>> beyond("RFC 7928 sections 8.3 and 99"), beyond("RFC 7928 section 7.2, RFC 9743 section 5.1")
    ('RFC 7928 has no section 99', '')
    """
    for document, held in _documents().items():
        for sections in re.findall(rf"{document} sections? ((?:[\d.]+(?:, | and | to )?)+)", section):
            for number in re.findall(r"\d[\d.]*", sections):
                if not 0 < int(number.split(".")[0]) <= held.get("last", 10**6):
                    return f"{document} has no section {number}"
    return ""


def sheet() -> Sheet:
    """Returns the items as a table for a terminal."""
    rows = [
        [f"{i['document']} {i['section']}", i["word"], i["item"], ", ".join(i.get("questions", [])) or f"left out: {i['left_out']}"]
        for i in table()
    ]
    return Sheet(["section", "word", "item", "answered by"], rows, words=(1, 2, 3))
