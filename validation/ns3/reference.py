"""Stored results of ns-3.37, for machines without ns-3 (`validation/data/ns3`)."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

from validation.sides.judge import Values

from .cases import PS, Case
from .measures import MEASURES
from .scenario import DURATION

DATA = Path(__file__).parents[1] / "data" / "ns3"

RUNS = DATA / "runs.csv"
"""One row a run, written by `python -m validation.ns3.record`."""

FIELDS = ("case", "run", *(measure.name for measure in MEASURES), "flows", "reasons")
"""Columns of `RUNS`: goodputs of the flows in Mbit/s and numbers of drops by reason are lists with semicolons."""


@cache
def _recorded() -> dict[str, list[Values]]:
    out: dict[str, list[Values]] = {}
    if not RUNS.exists():
        return out
    with RUNS.open(newline="", encoding="ascii") as file:
        for row in csv.DictReader(file):
            values = {measure.name: float(row[measure.name]) for measure in MEASURES if row.get(measure.name)}
            values |= {f"flow.{i}": float(text) for i, text in enumerate(row["flows"].split(";"))}
            out.setdefault(row["case"], []).append(values)
    return out


@cache
def _reference() -> dict[str, list[Values]]:
    out: dict[tuple[str, str], Values] = {}
    with (DATA / "reference_runs.csv").open(newline="", encoding="ascii") as file:
        for row in csv.DictReader(file):
            out[row["scenario"], row["run"]] = {
                "utilisation": 100.0 * float(row["utilisation"]),
                "queue_mean": float(row["queue_mean_pkts"]),
                "queue_std": float(row["queue_std_pkts"]),
                "drops": float(row["drops"]),
                "jain": float(row["jain"]),
                "timeouts": float(row["timeouts"]),
            }
    with (DATA / "reference_flows.csv").open(newline="", encoding="ascii") as file:
        for row in csv.DictReader(file):
            # Their goodputs are over the time since the flow's start.
            share = 1.0 - float(row["start_s"]) / DURATION
            values, goodput = out[row["scenario"], row["run"]], float(row["goodput_mbps"]) * share
            values[f"flow.{row['flow']}"] = goodput
            name = f"goodput_{row['kind']}"
            values[name] = values.get(name, 0.0) + goodput
    grouped: dict[str, list[Values]] = {}
    for (name, _), values in out.items():
        grouped.setdefault(name, []).append({"goodput_udp": 0.0} | values)
    return grouped


def _reference_name(case: Case) -> str | None:
    if case.jitter or case.recorded or any(host.start % (PS // 10) for host in case.flows):
        return None
    if case.family == "N1":
        return f"N1-{case.name}"
    if case.family == "N2":
        return f"N2-{case.control}-{case.queue}-{case.recovery}"
    return f"N3-udp5-{case.queue}" if case.family == "N3" else None


def stored(case: Case) -> list[Values] | None:
    """The runs of ns-3 on a case: recorded by this package, or from the independent reference runs; None if neither has it."""
    return _recorded().get(case.title) or _reference().get(_reference_name(case) or "")
