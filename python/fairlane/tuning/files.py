"""The files of a tuning: tables, the chosen scenario, its tc lines, the picture, the page."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.csv_text import csv_of
from ..base.sha256sums import listed
from ..study import run_list
from .recommendation import chosen_scenario, tc_lines

if TYPE_CHECKING:
    from .result import TuneResult

FILES = (run_list.NAME, "trials.csv", "front.csv", "chosen.toml", "tc.sh", "tune.json", "front.svg", "index.html")


def write(r: TuneResult, folder: Path, runs: Iterable[str]) -> None:
    """Writes all files; each is there whole or not at all. `runs`: the keys of the runs in the folder."""
    from ..look import theme
    from .plots import picture

    table = r.table()
    with listed(folder) as put:
        put(run_list.NAME, run_list.document(runs))
        put("trials.csv", csv_of(table))
        put("front.csv", csv_of(table.filter(table["front"] | table["chosen"])))
        put("chosen.toml", chosen_scenario(r).encode())
        put("tc.sh", (tc_lines(r) + "\n").encode())
        put("tune.json", (json.dumps(r.document(), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())
        put("front.svg", theme.svg(picture(r)).encode())
        put("index.html", r.page().encode())
