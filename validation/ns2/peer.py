"""Runs ns-2 on a generated script and states what it measured in the terms of `measures`."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from . import tcl, trace
from .measures import Values, sawtooth
from .network import Network
from .units import octets


class PeerMissing(RuntimeError):
    """ns-2 is not installed."""


class PeerFailed(RuntimeError):
    """ns-2 stopped with an error."""


def executable() -> str:
    """Path of ns-2."""
    found = shutil.which("ns")
    if found is None:
        raise PeerMissing("ns-2 is not installed (Debian: apt-get install ns2)")
    return found


def run(network: Network, watch: str, seed: int, windows: bool = False) -> trace.Measured:
    """Runs one scenario once. Seed 0 keeps ns-2's built-in seed; `windows` records every change of cwnd."""
    number = tcl.node_numbers(network)
    link = tcl.watched_link(network, watch)
    queues = {(number[link.source], number[link.target])}
    queues |= {(number[f.source], number[network.out_link(f.source).target]) for f in network.flows}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.tcl"
        path.write_text(tcl.script(network, watch, seed, windows), encoding="ascii")
        with subprocess.Popen(
            [executable(), str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1 << 20, cwd=folder
        ) as process:
            assert process.stdout is not None and process.stderr is not None
            measured = trace.read(process.stdout, network.duration, {(str(a), str(b)) for a, b in queues})
            error = process.stderr.read()
    if not measured.complete or process.returncode != 0:
        raise PeerFailed(error.strip() or f"ns stopped with code {process.returncode} before the end of the run")
    return measured


def values(network: Network, watch: str, measured: trace.Measured) -> Values:
    """The measured quantities of one run."""
    number = {name: str(k) for name, k in tcl.node_numbers(network).items()}
    link = tcl.watched_link(network, watch)
    watched = measured.queues[number[link.source], number[link.target]]
    first = [measured.queues[number[host], number[network.out_link(host).target]] for host in {f.source for f in network.flows}]
    goodput = 0.0
    for k, flow in enumerate(network.flows):
        sums = measured.flows.get(k, trace.FlowSums())
        # The sender's highest acknowledgment counts packets from the SYN, number 0: just the data packets delivered.
        goodput += sums.ack * octets(flow.params["mss"]) if flow.transport == "tcp" else sums.octets
    flows = measured.flows.values()
    drops = sum(flow.drops for flow in flows)
    out = {
        "utilisation": 100.0 * watched.octets * 8.0 / (link.rate * network.duration),
        "goodput": goodput * 8e-6 / network.duration,
        "queue_mean": watched.mean(),
        "queue_std": watched.std(),
        "drops": float(drops),
        "loss": 100.0 * drops / sum(queue.arrivals for queue in first),
        "retransmits": float(sum(flow.retransmits for flow in flows)),
        "timeouts": float(sum(flow.timeouts for flow in flows)),
        "wait": 1e3 * (sum(q.wait for q in first) / sum(q.departures for q in first) + watched.wait / watched.departures),
    }
    if all(flow.transport == "udp" for flow in network.flows):
        del out["retransmits"], out["timeouts"]
    return out


def window_samples(measured: trace.Measured, duration: float, step: float) -> tuple[list[float], list[float]]:
    """The window of the first flow at multiples of `step`."""
    times = [k * step for k in range(int(duration / step) + 1)]
    samples, value, changes = [], 1.0, iter(measured.windows)
    change = next(changes, None)
    for time in times:
        while change is not None and change[0] <= time:
            value, change = change[1], next(changes, None)
        samples.append(value)
    return times, samples


def with_sawtooth(out: Values, measured: trace.Measured, duration: float) -> Values:
    """Adds period and peak of the window."""
    found = sawtooth(*window_samples(measured, duration, 0.1))
    if found is not None:
        out["period"], out["peak"] = found
    return out
