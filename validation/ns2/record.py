"""`python -m validation.ns2.record`: runs ns-2 on the standard cases and stores what it measured (`runs.csv`, `queues.csv`,
`flows.csv`)."""

from __future__ import annotations

import csv
import sys
from functools import partial

from validation.sides.judge import Values

from . import ours, peer
from .case import Case
from .cases import select
from .measures import TABLES
from .reference import RUNS


def fields(bounds: str) -> list[str]:
    """The columns of a table."""
    names = [measure.name for measure in TABLES[bounds] if measure.name != "share"]
    return ["case", "seed", "clock", *names, *(["shares"] if bounds != "tcp" else [])]


def record(case: Case, found: list[Values]) -> None:
    """Appends the runs of a case."""
    path, columns = RUNS[case.bounds], fields(case.bounds)
    new = not path.exists()
    with path.open("a", newline="", encoding="ascii") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n", extrasaction="ignore")
        if new:
            writer.writeheader()
        for (seed, clock), values in zip(case.peer_runs, found, strict=True):
            row = {"case": f"{case.family}/{case.name}", "seed": seed, "clock": f"{clock:g}"} | {k: f"{v:.6g}" for k, v in values.items()}
            row["shares"] = " ".join(f"{v:.4g}" for k, v in values.items() if k.startswith("share."))
            writer.writerow(row)


def main(names: list[str]) -> None:
    """Appends the cases that are not stored yet."""
    stored: set[str] = set()
    for path in RUNS.values():
        if path.exists():
            with path.open(newline="", encoding="ascii") as file:
                stored |= {row["case"] for row in csv.DictReader(file)}
    for case in select(names):
        name = f"{case.family}/{case.name}"
        if name not in stored:
            record(case, peer.runs(case, partial(ours.network_of, case), threads=2))
            print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
