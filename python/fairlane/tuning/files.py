"""The files of a tuning: tables, the chosen scenario, its tc lines, the picture, the page."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base import toml
from ..base.csv_text import csv_of
from ..base.printable import one_line
from ..base.sums import listed
from ..study import run_list
from ..study.diagnosis import resolve_base

if TYPE_CHECKING:
    from .result import TuneResult

_NOT_WRITTEN = ("expanded", "warnings")


def resolved(r: TuneResult) -> dict[str, Any]:
    """The scenario with the chosen queue, resolved."""
    return resolve_base(r.spec.study, (*r.spec.training_scenarios[0].sets, (r.spec.path, r.chosen.queue)))


def chosen_scenario(r: TuneResult) -> str:
    """See `TuneResult.scenario`."""
    tree = {k: v for k, v in resolved(r).items() if k not in _NOT_WRITTEN}
    scenario = f", scenario {r.spec.training_scenarios[0].name!r}" if len(r.spec.training_scenarios) > 1 else ""
    said = (f"Chosen by `fairlane tune`: {r.spec.name}{scenario}.", f"links.{r.spec.link}.queue = {toml.value(r.chosen.queue)}")
    head = "".join(f"# {one_line(line)}\n" for line in said) + "\n"
    return head + toml.dumps(tree)


def tc_lines(r: TuneResult, dev: str = "eth0") -> str:
    """See `TuneResult.tc`."""
    from ..linux import commands_for

    x = next(x for x in resolved(r)["expanded"]["links"] if x["name"] == r.spec.link)
    return commands_for(x, dev).text()


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
        put("tc.sh", ("#!/bin/sh\n" + tc_lines(r) + "\n").encode())
        put("tune.json", (json.dumps(r.document(), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())
        put("front.svg", theme.svg(picture(r)).encode())
        put("index.html", r.page().encode())
