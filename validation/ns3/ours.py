"""Runs a case in fairlane and states what it measured in the terms of `measures`."""

from __future__ import annotations

from typing import Any

from validation.sides.judge import Values

from fairlane.base.metrics import jain

from . import scenario
from .cases import Case


class OursMissing(RuntimeError):
    """The package is not built."""


def core() -> Any:
    """The extension module."""
    try:
        from fairlane import _core
    except ImportError as error:
        raise OursMissing(f"fairlane is not built ({error}); run `make build` and use the project's .venv") from error
    return _core


def runs(case: Case, threads: int = 1) -> list[Values]:
    """The measured quantities of all runs of a case."""
    numbers = list(range(1, case.runs + 1))
    if not case.jitter:
        return [_values(case, run) for run in _run(case, 1, numbers, threads)]
    return [_values(case, _run(case, number, [number], 1)[0]) for number in numbers]


def _run(case: Case, number: int, seeds: list[int], threads: int) -> list[Any]:
    resolved = core().resolve(scenario.ours(case, number), f"{case.title}.toml", "toml", [])
    found: list[Any] = core().run(resolved, seeds, threads, False, None)
    return found


def _values(case: Case, run: Any) -> Values:
    flows, links = run.flows(), run.links()
    row = {name: k for k, name in enumerate(links["name"])}
    queue = row[scenario.BOTTLENECK]
    out: Values = {
        "utilisation": 100.0 * float(links["utilisation"][queue]),
        "queue_mean": float(links["queue_mean"][queue]),
        "queue_std": float(links["queue_std"][queue]),
        "drops": float(links["drops"][queue]),
        "marks": float(links["marks"][queue]),
        "timeouts": 0.0,
        "goodput_tcp": 0.0,
        "goodput_udp": 0.0,
    }
    tcp = []
    for i, host in enumerate(case.flows):
        goodput = float(flows["goodput"][i]) * 1e-6
        out[f"flow.{i}"] = goodput
        out[f"goodput_{host.kind}"] += goodput
        if host.kind == "tcp":
            tcp.append(goodput)
            out["timeouts"] += float(flows["timeouts"][i])
    return out | {"jain": jain(tcp)}
