"""Comparison with other simulators: `fairlane bench --against ns2` alternates runs of both and prints the cost of a packet-hop in each.

The workload is a benchmark scenario with TCP flows on a dumbbell (P1, P2; ns-2 and ns-3) or a fat-tree (P5, P6, P7; csg-htsim), with equal
links, buffers, start times and length. Each simulator uses its own TCP, with SACK where it has it, an initial window of ten segments and an
acknowledgment per packet; nothing is recorded. The TCPs and their packets differ, so the CPU time per packet-hop is compared.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import Any

from ..base.format import seconds
from ..errors import FairlaneError, RunError
from . import benchmarks

AGAINST_SCHEMA = "fairlane.bench-against/1"
PAIRS = 5
"""Default number of alternating measurements."""
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
    """Builds the program in a folder and returns its command."""
    arguments: Callable[[dict[str, Any], float], list[str]]
    """Arguments that make it run a benchmark scenario for so many seconds."""
    scenarios: tuple[str, ...]
    """Scenarios that it can run."""


def _whole(text: str, unit: str) -> int:
    return int(text.removesuffix(unit))


def _dumbbell(rate: Callable[[str], str]) -> Callable[[dict[str, Any], float], list[str]]:
    """Returns the arguments of a dumbbell for a peer that writes rates like this."""

    def arguments(d: dict[str, Any], duration_s: float) -> list[str]:
        net, flow = d["topology"]["dumbbell"], d["flows"]["tcp"]
        access, shared = net["access"], net["bottleneck"]
        numbers = [_whole(shared["queue"]["droptail"]["limit"], "p"), _whole(flow["tcp"]["mss"], "B")]
        links = [rate(access["rate"]), access["delay"], rate(shared["rate"]), shared["delay"]]
        return [str(net["pairs"]), *links, *map(str, numbers), f"{seconds(flow['stagger']):g}", f"{duration_s:g}"]

    return arguments


_HEADER = 40
"""Bytes of the headers of a segment."""


def _fat_tree(d: dict[str, Any], duration_s: float) -> list[str]:
    net, flow = d["topology"]["fat_tree"], d["flows"]["tcp"]
    size = flow.get("source", {}).get("file", {}).get("size", "0MiB")
    numbers = [
        net["k"], _whole(net["rate"], "Gbit/s") * 10**9, _whole(net["delay"], "us") * 10**6, _whole(net["queue"]["droptail"]["limit"], "p"),
        _whole(flow["tcp"]["mss"], "B") + _HEADER, _whole(size, "MiB") << 20,
    ]  # fmt: skip
    return [*map(str, numbers), f"{duration_s:g}"]


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


def _htsim_home() -> Path:
    """Returns the folder of csg-htsim's library and sources."""
    home = Path(os.environ.get(HTSIM, ""))
    if not (home / "libhtsim.a").is_file():
        needs = PEERS["htsim"].needs
        raise FairlaneError(f"htsim comes as sources, and {HTSIM} does not name the folder with its library\n  = help: {needs}")
    return home


def _htsim(folder: Path) -> list[str]:
    compiler, home, out = shutil.which("c++") or shutil.which("g++"), _htsim_home(), folder / "fat_tree"
    command = [
        str(compiler),
        "-O3",
        "-std=c++14",
        "-w",
        "-o",
        str(out),
        f"-I{home}",
        str(_program("fat_tree.cc")),
        str(home / "libhtsim.a"),
    ]
    made = compiler and subprocess.run(command, capture_output=True, text=True, check=False)
    if not made or made.returncode:
        reason = made.stderr.strip().splitlines()[:1] if made else ["no C++ compiler"]
        raise FairlaneError(f"{_missing(PEERS['htsim'])}\n  = note: {''.join(reason)}")
    return [str(out)]


def _missing(peer: Peer) -> str:
    return f"{peer.called} cannot be run here\n  = help: {peer.needs}"


HTSIM = "FAIRLANE_HTSIM"
"""Variable with the folder of csg-htsim's library and sources."""
_DUMBBELLS, _FAT_TREES = ("P1", "P2"), ("P5", "P6", "P7")
_NS2_RATE: Callable[[str], str] = lambda r: r.removesuffix("it/s").replace("bit/s", "")  # noqa: E731
_NS3_RATE: Callable[[str], str] = lambda r: r.replace("bit/s", "bps")  # noqa: E731
PEERS = {
    "ns2": Peer("ns2", "ns-2", "Debian has it as `ns2`: apt-get install ns2", 1, _ns2, _dumbbell(_NS2_RATE), _DUMBBELLS),
    "ns3": Peer("ns3", "ns-3", "Debian has its libraries: apt-get install libns3-dev g++", 6, _ns3, _dumbbell(_NS3_RATE), _DUMBBELLS),
    "htsim": Peer(
        "htsim",
        "csg-htsim",
        f"git clone https://github.com/Broadcom/csg-htsim; make -C csg-htsim/sim libhtsim.a; export {HTSIM}=$PWD/csg-htsim/sim",
        1,
        _htsim,
        _fat_tree,
        _FAT_TREES,
    ),
}


def choose(name: str) -> Peer:
    """Returns the peer with this name; raises `FairlaneError` if its sources are missing."""
    if name == "htsim":
        _htsim_home()
    return PEERS[name]


def scenarios(peer: Peer, names: Iterable[str]) -> dict[str, Path]:
    """Returns the scenarios with these names that the peer can run; its first one without names."""
    chosen = benchmarks.choose(tuple(names) or peer.scenarios[:1])
    for name in chosen:
        if name not in peer.scenarios:
            raise FairlaneError(f"{name} cannot run in {peer.called}\n  = help: use {' or '.join(peer.scenarios)}")
    return chosen


def run_against(
    peer: Peer, names: Iterable[str] = (), *, pairs: int = PAIRS, report: Callable[[dict[str, Any]], None] | None = None
) -> dict[str, Any]:
    """Returns the document of `fairlane bench --against PEER --json`: one row per scenario, from `pairs` alternating runs."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        paths = scenarios(peer, names)
        command = peer.make(Path(folder))
        for name, path in paths.items():
            row = _row(peer, command, name, path, pairs)
            rows.append(row)
            if report is not None:
                report(row)
    from .. import _core

    return {"schema": AGAINST_SCHEMA, "fairlane": _core.version(), "peer": peer.name, "results": rows}


def _row(peer: Peer, command: Sequence[str], name: str, path: Path, pairs: int) -> dict[str, Any]:
    import tomllib

    scenario = tomllib.loads(path.read_text("utf-8"))
    length = seconds(scenario["duration"]) / peer.part
    start, _ = _measured([*command, *peer.arguments(scenario, 0)], peer)
    measured = []
    for _ in range(pairs):
        ours = benchmarks.one(name, path, sets={"duration": f"{length:g}s"})
        cpu, hops = _measured([*command, *peer.arguments(scenario, length)], peer)
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
