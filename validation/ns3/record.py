"""`python -m validation.ns3.record [CASE ...]`: runs ns-3 on the cases of the own families and stores what it measured."""

from __future__ import annotations

import csv
import sys

from . import peer
from .cases import Case, catalogue, select
from .measures import MEASURES
from .queues import MARKING
from .reference import FIELDS, RUNS


def _row(case: Case, number: int) -> dict[str, str]:
    values, reasons = peer.run(case, number)
    flows = ";".join(f"{values[f'flow.{i}']:.5g}" for i in range(len(case.flows)))
    why = ";".join(f"{reason}:{count}" for reason, count in reasons.items())
    measured = {m.name: f"{values[m.name]:.6g}" for m in MEASURES if m.name != "marks" or case.queue in MARKING}
    return {"case": case.title, "run": str(number), "flows": flows, "reasons": why} | measured


def main(names: list[str]) -> None:
    """Appends the cases of the own families that are not stored yet."""
    stored: set[str] = set()
    if RUNS.exists():
        with RUNS.open(newline="", encoding="ascii") as file:
            stored = {row["case"] for row in csv.DictReader(file)}
    for case in select(names, everything=True):
        if case.title in stored or not (case.jitter or case.recorded):
            continue
        rows = [_row(case, number) for number in range(1, case.runs + 1)]
        new = not RUNS.exists()
        with RUNS.open("a", newline="", encoding="ascii") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerows(rows)
        print(case.title, flush=True)
    _sort()


def _sort() -> None:
    """Puts the rows in the order of the catalogue; cases that are no longer in it go."""
    order = {case.title: k for k, case in enumerate(catalogue())}
    with RUNS.open(newline="", encoding="ascii") as file:
        rows = [row for row in csv.DictReader(file) if row["case"] in order]
    rows.sort(key=lambda row: (order[row["case"]], int(row["run"])))
    with RUNS.open("w", newline="", encoding="ascii") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main(sys.argv[1:])
