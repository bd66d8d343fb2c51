"""Other simulators on the same work: `fairlane bench --against ns2` runs one and ours in turn, and says what a packet-hop costs in each.

The work is a benchmark scenario that is a dumbbell of long TCP flows (P1, P2): the same links, buffers, starts and length for both; each
simulator's own TCP with SACK, the initial window of RFC 6928 and an acknowledgment for each packet; nothing recorded. TCPs differ, so
packets do: what is compared is processor time per packet transmitted over a link.
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
"""Measurements of each, in turn, if no number is asked for."""
SCENARIOS = ("P1", "P2")
"""Scenarios that a peer can be asked."""
_NS3 = ("core", "network", "internet", "applications", "point-to-point", "traffic-control")


@dataclass(frozen=True)
class Peer:
    """Another simulator."""

    name: str
    called: str
    needs: str
    """What is missing, and how it is had."""
    part: int
    """One in so many seconds of a scenario is simulated, by both: how much slower it is."""
    make: Callable[[Path], list[str]]
    """The command that runs a dumbbell, its program made in a folder."""
    rate: Callable[[str], str]
    """How it writes a rate."""


@dataclass(frozen=True)
class Dumbbell:
    """What a peer is told of a scenario."""

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
        """As both peers' programs read them."""
        links = [rate(self.access_rate), self.access_delay, rate(self.rate), self.delay]
        return [str(self.pairs), *links, str(self.limit), str(self.mss), f"{self.stagger_s:g}", f"{duration_s:g}"]


def dumbbell(path: Path) -> Dumbbell:
    """A scenario file of the benchmark set as its peers are told it."""
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
    """The peer of this name. Raises for one that is not installed anywhere by name."""
    if name == "htsim":
        raise FairlaneError(
            "htsim comes as sources without an installed program or library to ask\n"
            "  = help: --against ns2 or --against ns3 run what Debian packages; docs/background/performance.md has csg-htsim's own figures"
        )
    return PEERS[name]


def scenarios(names: Iterable[str]) -> dict[str, Path]:
    """The scenarios of these names that a peer can be asked; P1 without names."""
    chosen = benchmarks.choose(tuple(names) or SCENARIOS[:1])
    for name in chosen:
        if name not in SCENARIOS:
            raise FairlaneError(
                f"{name} is not told to other simulators\n  = help: {' and '.join(SCENARIOS)} are: dumbbells of long TCP flows"
            )
    return chosen


def run_against(
    peer: Peer, names: Iterable[str] = (), *, pairs: int = PAIRS, report: Callable[[dict[str, Any]], None] | None = None
) -> dict[str, Any]:
    """The document of `fairlane bench --against PEER --json`: a row a scenario, both measured in turn `pairs` times."""
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
            raise RunError(f"{peer.called} put {hops} packets over a link where ours puts {ours['packet_hops']}: that is other work")
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
    """CPU seconds of a run, and its packet-hops."""
    try:
        import resource
    except ImportError:  # Windows
        raise FairlaneError("the processor time of other programs is not told on this system: --against works on Linux and macOS") from None

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
