"""Comparison with other simulators: `fairlane bench --against ns2` alternates runs of both and prints the cost of a packet-hop in each.

The workload is a benchmark scenario with long TCP flows on a dumbbell (P1, P2), with equal links, buffers, start times and length. Each
simulator uses its own TCP with SACK, the initial window of RFC 6928 and an acknowledgment per packet; nothing is recorded. The TCPs and
their packets differ, so the CPU time per packet-hop is compared.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import Any

from ..errors import FairlaneError, RunError
from . import benchmarks

AGAINST_SCHEMA = "fairlane.bench-against/1"
PAIRS = 5
"""Default number of alternating measurements."""
SCENARIOS = ("P1", "P2")
"""Scenarios that other simulators can run."""
_NS3 = ("core", "network", "internet", "applications", "point-to-point", "traffic-control")


@dataclass(frozen=True)
class Peer:
    """Another simulator."""

    name: str
    called: str
    needs: str
    """Requirements, and how to install them."""
    part: int
    """Divisor of the simulated time, for both: the peer is about as many times slower."""
    make: Callable[[Path], list[str]]
    """Builds the program in a folder and returns the command that runs a dumbbell."""
    rate: Callable[[str], str]
    """Format of a rate."""


@dataclass(frozen=True)
class Dumbbell:
    """Parameters of a dumbbell for a peer."""

    pairs: int
    access_rate: str
    access_delay: str
    rate: str
    delay: str
    limit: int
    mss: int
    stagger_s: float
    duration_s: float

    def arguments(self, rate: Callable[[str], str], duration_s: float) -> list[str]:
        """Returns the arguments for the programs of both peers."""
        links = [rate(self.access_rate), self.access_delay, rate(self.rate), self.delay]
        return [str(self.pairs), *links, str(self.limit), str(self.mss), f"{self.stagger_s:g}", f"{duration_s:g}"]


def dumbbell(path: Path) -> Dumbbell:
    """Reads a benchmark scenario as parameters for the peers."""
    import tomllib

    from ..base.format import seconds

    d = tomllib.loads(path.read_text("utf-8"))
    net, flow = d["topology"]["dumbbell"], d["flows"]["tcp"]
    whole: Callable[[str, str], int] = lambda text, unit: int(text.removesuffix(unit))  # noqa: E731
    return Dumbbell(
        net["pairs"], net["access"]["rate"], net["access"]["delay"], net["bottleneck"]["rate"], net["bottleneck"]["delay"],
        whole(net["bottleneck"]["queue"]["droptail"]["limit"], "p"), whole(flow["tcp"]["mss"], "B"), seconds(flow["stagger"]),
        seconds(d["duration"]),
    )  # fmt: skip


def _program(name: str) -> Path:
    return Path(str(files("fairlane").joinpath("bench", "peers", name)))


def _ns2(folder: Path) -> list[str]:
    found = shutil.which("ns")
    if found is None:
        raise FairlaneError(_missing(PEERS["ns2"]))
    return [found, str(_program("dumbbell.tcl"))]


def _ns3(folder: Path) -> list[str]:
    compiler = shutil.which("c++") or shutil.which("g++")
    out = folder / "dumbbell"
    command = [str(compiler), "-O2", "-o", str(out), str(_program("dumbbell.cc")), *(f"-lns3-{m}" for m in _NS3)]
    made = compiler and subprocess.run(command, capture_output=True, text=True, check=False)
    if not made or made.returncode:
        reason = made.stderr.strip().splitlines()[:1] if made else ["no C++ compiler"]
        raise FairlaneError(f"{_missing(PEERS['ns3'])}\n  = note: {''.join(reason)}")
    return [str(out)]


def _missing(peer: Peer) -> str:
    return f"{peer.called} cannot be run here\n  = help: {peer.needs}"


PEERS = {
    "ns2": Peer(
        "ns2", "ns-2", "Debian has it as `ns2`: apt-get install ns2", 1, _ns2, lambda r: r.removesuffix("it/s").replace("bit/s", "")
    ),
    "ns3": Peer("ns3", "ns-3", "Debian has its libraries: apt-get install libns3-dev g++", 6, _ns3, lambda r: r.replace("bit/s", "bps")),
}


def choose(name: str) -> Peer:
    """Returns the peer with this name; raises `FairlaneError` for one without a package."""
    if name == "htsim":
        raise FairlaneError(
            "htsim comes as sources without an installed program or library to ask\n"
            "  = help: --against ns2 or --against ns3 run what Debian packages; docs/background/performance.md has csg-htsim's own figures"
        )
    return PEERS[name]


def scenarios(names: Iterable[str]) -> dict[str, Path]:
    """Returns the scenarios with these names that a peer can run; P1 without names."""
    chosen = benchmarks.choose(tuple(names) or SCENARIOS[:1])
    for name in chosen:
        if name not in SCENARIOS:
            raise FairlaneError(
                f"{name} cannot run in other simulators\n  = help: use {' or '.join(SCENARIOS)}: dumbbells with long TCP flows"
            )
    return chosen


def run_against(
    peer: Peer, names: Iterable[str] = (), *, pairs: int = PAIRS, report: Callable[[dict[str, Any]], None] | None = None
) -> dict[str, Any]:
    """Returns the document of `fairlane bench --against PEER --json`: one row per scenario, from `pairs` alternating runs."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        paths = scenarios(names)
        command = peer.make(Path(folder))
        for name, path in paths.items():
            row = _row(peer, command, name, path, pairs)
            rows.append(row)
            if report is not None:
                report(row)
    from .. import _core

    return {"schema": AGAINST_SCHEMA, "fairlane": _core.version(), "peer": peer.name, "results": rows}


def _row(peer: Peer, command: Sequence[str], name: str, path: Path, pairs: int) -> dict[str, Any]:
    net = dumbbell(path)
    length = net.duration_s / peer.part
    start, _ = _measured([*command, *net.arguments(peer.rate, 0)], peer)
    measured = []
    for _ in range(pairs):
        ours = benchmarks.one(name, path, sets={"duration": f"{length:g}s"})
        cpu, hops = _measured([*command, *net.arguments(peer.rate, length)], peer)
        if not 0.5 < hops / ours["packet_hops"] < 2:
            raise RunError(f"{peer.called} transmitted {hops} packet-hops, fairlane {ours['packet_hops']}: the workloads differ")
        own, other = (ours["cpu_s"] + ours["setup_s"]) * 1e9 / ours["packet_hops"], (cpu - start) * 1e9 / hops
        measured.append({"ours_ns": own, "peer_ns": other, "ratio": other / own})
    ratios = [m["ratio"] for m in measured]
    return {
        "scenario": name,
        "simulated_s": length,
        "packet_hops": ours["packet_hops"],
        "peer_packet_hops": hops,
        "ours_ns": median(m["ours_ns"] for m in measured),
        "peer_ns": median(m["peer_ns"] for m in measured),
        "ratio": median(ratios),
        "ratio_low": min(ratios),
        "ratio_high": max(ratios),
        "pairs": measured,
    }


def _measured(command: Sequence[str], peer: Peer) -> tuple[float, int]:
    """Returns the CPU seconds of a run, and its packet-hops."""
    try:
        import resource
    except ImportError:  # Windows
        raise FairlaneError("this system does not report the CPU time of other programs: --against needs Linux or macOS") from None

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = spent()
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    try:
        (hops,) = (int(x) for x in done.stdout.split())
    except ValueError:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise RunError(f"{peer.called} failed: {last[0]}") from None
    return spent() - before, hops
