"""Runs ns-2 on a generated script and states what it measured in the terms of `measures`."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from validation.sides.judge import Values

from . import tcl, trace
from .case import Case
from .measures import sawtooth, with_shares
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


def run(network: Network, watch: str, seed: int, *, windows: bool = False, origin: float = 0.0) -> trace.Measured:
    """Runs one scenario once. Seed 0 keeps ns-2's built-in seed; `windows` records every change of cwnd; `origin`
    is the clock reading at which the scenario begins."""
    number = tcl.node_numbers(network)
    link = tcl.watched_link(network, watch)
    watched = str(number[link.source]), str(number[link.target])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.tcl"
        path.write_text(tcl.script(network, watch, seed, windows=windows, origin=origin), encoding="ascii")
        # ns-2's DRR reports colliding flows at every packet, more than a pipe holds.
        with (
            tempfile.TemporaryFile("w+") as errors,
            subprocess.Popen(
                [executable(), str(path)], stdout=subprocess.PIPE, stderr=errors, text=True, bufsize=1 << 20, cwd=folder
            ) as process,
        ):
            assert process.stdout is not None
            measured = trace.read(process.stdout, network.duration, watched, origin)
            process.wait()
            errors.seek(0)
            error = errors.read(2000)
    if not measured.complete or process.returncode != 0:
        raise PeerFailed(error.strip() or f"ns stopped with code {process.returncode} before the end of the run")
    return measured


def values(network: Network, watch: str, measured: trace.Measured) -> Values:
    """The measured quantities of one run."""
    link, watched = tcl.watched_link(network, watch), measured.queue
    delivered = []
    for k, flow in enumerate(network.flows):
        sums = measured.flows.get(k, trace.FlowSums())
        # The sender's highest acknowledgment counts packets from the SYN, number 0: just the data packets delivered.
        delivered.append(sums.ack * octets(flow.params["mss"]) if flow.transport == "tcp" else sums.octets)
    goodput = float(sum(delivered))
    flows = measured.flows.values()
    drops = sum(flow.drops for flow in flows)
    out = {
        "utilisation": 100.0 * watched.octets * 8.0 / (link.rate * network.duration),
        "goodput": goodput * 8e-6 / network.duration,
        "queue_mean": watched.mean(),
        "queue_std": watched.std(),
        "drops": float(drops),
        "loss": 100.0 * drops / sum(flow.sent for flow in flows),
        "retransmits": float(sum(flow.retransmits for flow in flows)),
        "timeouts": float(sum(flow.timeouts for flow in flows)),
        "wait": 1e3 * watched.wait / watched.departures,
    }
    if all(flow.transport == "udp" for flow in network.flows):
        del out["retransmits"], out["timeouts"]
    rates = [8.0 * octets / network.duration for octets in delivered]
    return with_shares(out, rates, link.rate, [flow.transport == "tcp" for flow in network.flows])


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


def runs(case: Case, network_of: Callable[[int], Network], threads: int = 1) -> list[Values]:
    """The measured quantities of all runs of a case; `network_of` gives the network of a seed."""

    def one(run_of: tuple[int, float]) -> Values:
        seed, origin = run_of
        network = network_of(seed)
        measured = run(network, case.watch, seed, windows=case.sawtooth, origin=origin)
        out = values(network, case.watch, measured)
        return with_sawtooth(out, measured, network.duration) if case.sawtooth else out

    with ThreadPoolExecutor(max(1, threads)) as pool:
        return list(pool.map(one, case.peer_runs))
