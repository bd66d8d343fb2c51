"""Stored results of ns-2 2.35, for machines without ns-2 (`validation/data/ns2`)."""

from __future__ import annotations

import csv
import math
from functools import cache
from pathlib import Path

from validation.sides.judge import Values

from fairlane.stats import interval

from .case import Case
from .measures import BY_NAME, sawtooth

DATA = Path(__file__).parents[1] / "data" / "ns2"

RUNS = {"tcp": DATA / "runs.csv", "queue": DATA / "queues.csv", "flows": DATA / "flows.csv"}
"""One row a run of ns-2 on the standard cases, written by `python -m validation.ns2.record`, by `Case.bounds`."""

Stored = dict[str, tuple[float, float | None, int]]
"""Mean, standard deviation (None for one run) and number of runs of each measure."""

_DUMBBELL = {
    "utilisation": ("utilisation", 100.0),
    "goodput": ("tcp_goodput_mbps", 1.0),
    "queue_mean": ("q_mean_pkts", 1.0),
    "queue_std": ("q_std_pkts", 1.0),
    "drops": ("drops", 1.0),
    "retransmits": ("rexmit_pkts", 1.0),
    "timeouts": ("timeouts", 1.0),
}
_QUEUES = {
    "utilisation": ("utilisation", 100.0),
    "queue_mean": ("q_mean_pkts", 1.0),
    "queue_std": ("q_std_pkts", 1.0),
    "drops": ("drops", 1.0),
    "jain": ("jain_tcp", 1.0),
    "retransmits": ("rexmit_pkts", 1.0),
    "timeouts": ("timeouts", 1.0),
}
_STAR = {
    "utilisation": ("utilisation", 100.0),
    "queue_mean": ("q_mean_pkts", 1.0),
    "loss": ("loss_pct", 1.0),
    "timeouts": ("timeouts", 1.0),
}


@cache
def _rows(name: str) -> dict[str, dict[str, str]]:
    with (DATA / name).open(newline="", encoding="ascii") as file:
        return {row["case"]: row for row in csv.DictReader(file)}


@cache
def _goodputs(family: str) -> dict[str, dict[str, list[float]]]:
    """Goodput in Mbit/s by case and flow, one entry a run."""
    out: dict[str, dict[str, list[float]]] = {}
    with (DATA / f"{family}_flows.csv").open(newline="", encoding="ascii") as file:
        for row in csv.DictReader(file):
            out.setdefault(row["case"], {}).setdefault(row["fid"], []).append(float(row["goodput_mbps"]))
    return out


@cache
def _windows() -> dict[str, tuple[list[float], list[float]]]:
    out: dict[str, tuple[list[float], list[float]]] = {}
    with (DATA / "C1_cwnd.csv").open(newline="", encoding="ascii") as file:
        for row in csv.DictReader(file):
            times, windows = out.setdefault(row["case"], ([], []))
            times.append(float(row["time_s"]))
            windows.append(float(row["cwnd_pkts"]))
    return out


def _number(text: str | None) -> float | None:
    return float(text) if text not in (None, "") else None


@cache
def _recorded() -> dict[str, list[Values]]:
    out: dict[str, list[Values]] = {}
    for path in filter(Path.exists, RUNS.values()):
        with path.open(newline="", encoding="ascii") as file:
            for row in csv.DictReader(file):
                found = {name: float(row[name]) for name in BY_NAME if row.get(name)}
                shares = (row.get("shares") or "").split()
                out.setdefault(row["case"], []).append(found | {f"share.{k}": float(share) for k, share in enumerate(shares)})
    return out


def recorded(case: Case) -> list[Values] | None:
    """The runs of ns-2 on one of the standard cases; None for another."""
    return _recorded().get(f"{case.family}/{case.name}")


def stored(case: Case) -> Stored | None:
    """Returns the recorded values of ns-2; None if the case is not in the tables."""
    if not (DATA / f"{case.family}_summary.csv").exists():
        return None
    row = _rows(f"{case.family}_summary.csv").get(case.name)
    if row is None:
        return None
    runs = int(row["runs"])
    out: Stored = {}
    for name, (column, scale) in (_STAR if case.family == "C5" else _QUEUES if case.bounds == "queue" else _DUMBBELL).items():
        mean = _number(row[column])
        if mean is not None:
            sd = _number(row.get(f"{column}_sd"))
            out[name] = mean * scale, None if sd is None or runs < 2 else sd * scale, runs
    if case.family == "C5":
        clients = float(row["n"]) * 1e-3
        sd = _number(row.get("goodput_kbps_per_client_sd"))
        mean = _number(row["goodput_kbps_per_client"]) or math.nan
        out["goodput"] = mean * clients, None if sd is None or runs < 2 else sd * clients, runs
        out["wait"] = _number(row["wait_bottleneck_ms"]) or 0.0, None, runs
    if case.bounds == "queue":
        capacity = {"C3": 10.0, "C8": 20.0}[case.family]
        for flow, rates in _goodputs(case.family)[case.name].items():
            shares = interval([100.0 * rate / capacity for rate in rates])
            out[f"share.{flow}"] = shares.mean or 0.0, shares.sd, shares.n
    if case.sawtooth and case.name in _windows():
        found = sawtooth(*_windows()[case.name])
        if found is not None:
            out["period"], out["peak"] = (found[0], None, 1), (found[1], None, 1)
    return out
