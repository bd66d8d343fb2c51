"""`python -m validation.ns2.record`: runs ns-2 on the standard cases and stores what it measured (`runs.csv`)."""

from __future__ import annotations

import csv
import sys

from . import ours, peer
from .cases import select
from .measures import MEASURES
from .reference import RUNS

FIELDS = ["case", "seed", "clock", *(measure.name for measure in MEASURES)]


def main(names: list[str]) -> None:
    """Appends the cases that are not stored yet."""
    stored: set[str] = set()
    if RUNS.exists():
        with RUNS.open(newline="", encoding="ascii") as file:
            stored = {row["case"] for row in csv.DictReader(file)}
    for case in select(names):
        name = f"{case.family}/{case.name}"
        if name in stored:
            continue
        _, network = ours.resolve(case)
        found = peer.runs(case, network, threads=2)
        new = not RUNS.exists()
        with RUNS.open("a", newline="", encoding="ascii") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            if new:
                writer.writeheader()
            for (seed, clock), values in zip(case.peer_runs, found, strict=True):
                writer.writerow({"case": name, "seed": seed, "clock": f"{clock:g}"} | {k: f"{v:.6g}" for k, v in values.items()})
        print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
