"""`runs.json`: the runs that a search or a reproduction is made of, so that one that is gone is missed; a study has its index for that."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from ..base.checksums import dump_json, fault_of_text
from ..base.files import open_file

NAME = "runs.json"
SCHEMA = "fairlane.runs/1"


def document(keys: Iterable[str]) -> bytes:
    """The file of these keys."""
    return dump_json({"schema": SCHEMA, "runs": sorted(keys)})


def read(folder: Path) -> tuple[list[str], str]:
    """The keys that a folder should have, and what is wrong with the list; raises `FileNotFoundError` if there is none."""
    with open_file(folder / NAME) as f:
        data = f.read()
    if fault := fault_of_text(data):
        return [], fault
    return list(json.loads(data)["runs"]), ""


def is_one(folder: Path) -> bool:
    """True if the file of this name is ours: other programs have such files, too."""
    try:
        with open_file(folder / NAME) as f:
            return SCHEMA.encode() in f.read(256)
    except OSError:
        return False
