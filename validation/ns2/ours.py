"""Runs the same scenario in fairlane and states what it measured in the terms of `measures`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from validation.sides.judge import Values

from .case import Case
from .measures import sawtooth, with_shares
from .network import Network, read


class OursMissing(RuntimeError):
    """The package is not built."""


def core() -> Any:
    """The extension module."""
    try:
        from fairlane import _core
    except ImportError as error:
        raise OursMissing(f"fairlane is not built ({error}); run `make build` and use the project's .venv") from error
    return _core


def resolve(case: Case) -> tuple[Any, Network]:
    """The resolved scenario, for the simulator and read for ns-2."""
    text = case.path.read_text(encoding="utf-8")
    resolved = core().resolve(text, case.path.name, "toml", list(case.sets))
    return resolved, read(resolved.json())


def network_of(case: Case, seed: int) -> Network:
    """The network of one run of ns-2: with random starts, that of our run with the same seed."""
    sets = (*case.sets, ("seed", str(seed))) if case.random_starts else case.sets
    return resolve(replace(case, sets=sets))[1]


def run(case: Case, resolved: Any, network: Network, threads: int = 1) -> list[Values]:
    """The measured quantities of each seed."""
    runs = core().run(resolved, list(case.seeds), threads, False, None)
    return [_values(case, network, run) for run in runs]


def _values(case: Case, network: Network, run: Any) -> Values:
    flows, links = run.flows(), run.links()
    rows = {name: k for k, name in enumerate(links["name"])}
    watched = rows[case.watch]

    def total(column: str) -> float:
        return float(sum(flows[column]))

    out = {
        "utilisation": 100.0 * float(links["utilisation"][watched]),
        "goodput": total("goodput") * 1e-6,
        "queue_mean": float(links["queue_mean"][watched]),
        "queue_std": float(links["queue_std"][watched]),
        "drops": total("packets_lost"),
        "loss": 100.0 * total("packets_lost") / total("packets_sent"),
        "retransmits": total("retransmits"),
        "timeouts": total("timeouts"),
        "wait": 1e3 * float(links["sojourn_mean"][watched]),
    }
    if all(flow.transport == "udp" for flow in network.flows):
        del out["retransmits"], out["timeouts"]
    if case.sawtooth:
        series = run.flow_series()
        mss = float(network.flows[0].params["mss"].removesuffix("B"))
        found = sawtooth([float(t) for t in series["time"]], [float(w) / mss for w in series["cwnd"]])
        if found is not None:
            out["period"], out["peak"] = found
    rates = [float(rate) for rate in flows["goodput"]]
    capacity = next(link.rate for link in network.links if link.name == case.watch)
    return with_shares(out, rates, capacity, [flow.transport == "tcp" for flow in network.flows])
