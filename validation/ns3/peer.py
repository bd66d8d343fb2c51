"""Compiles the ns-3 program when it is needed, runs it and states what it measured in the terms of `measures`."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from validation.sides.judge import Values

from fairlane.base.metrics import jain

from .cases import Case
from .queues import QUEUES
from .scenario import peer as script

SOURCE = Path(__file__).with_name("peer.cc")
MODULES = ("ns3-applications", "ns3-point-to-point", "ns3-traffic-control", "ns3-internet")


DRAWS = ("Bbr",)
"""Congestion controls that draw random numbers."""


class PeerMissing(RuntimeError):
    """ns-3 or the compiler is not installed."""


class PeerFailed(RuntimeError):
    """The ns-3 program stopped with an error."""


@cache
def executable(source: Path = SOURCE, modules: tuple[str, ...] = MODULES) -> str:
    """Path of a compiled program; it is kept between runs under the user's cache folder."""
    compiler, config = shutil.which("g++"), shutil.which("pkg-config")
    if compiler is None or config is None:
        raise PeerMissing("g++ and pkg-config are needed to build the ns-3 program (Debian: apt-get install g++ pkg-config)")
    asked = subprocess.run([config, "--cflags", "--libs", *modules], capture_output=True, text=True)
    if asked.returncode != 0:
        raise PeerMissing("ns-3 is not installed (Debian: apt-get install libns3-dev)")
    # The Debian package also names libraries that it does not need itself and does not depend on.
    flags = [word for word in asked.stdout.split() if not (word.startswith("/") and not Path(word).exists())]
    text = source.read_bytes()
    name = "ns3-peer-" + hashlib.sha256(text + " ".join(flags).encode()).hexdigest()[:16]
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fairlane-validation"
    program = folder / name
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as work:
            built = Path(work) / "peer"
            done = subprocess.run([compiler, "-O2", "-std=c++17", "-o", str(built), str(source), *flags], capture_output=True, text=True)
            if done.returncode != 0:
                raise PeerFailed("the ns-3 program does not compile: " + done.stderr.strip()[-2000:])
            built.replace(program)
    return str(program)


def read(text: str) -> tuple[Values, dict[str, int]]:
    """Parses the output of the program: the measures, and the drops by ns-3's word for the reason."""
    values: Values = {}
    reasons: dict[str, int] = {}
    tcp: list[float] = []
    sums = {"timeouts": 0.0, "goodput_tcp": 0.0, "goodput_udp": 0.0}
    complete = False
    for line in text.splitlines():
        name, _, rest = line.partition(" ")
        if name == "flow":
            number, kind, goodput, _, timeouts, _ = rest.split()
            rate = float(goodput) * 1e-6
            values[f"flow.{number}"] = rate
            sums[f"goodput_{kind}"] += rate
            sums["timeouts"] += float(timeouts)
            if kind == "tcp":
                tcp.append(rate)
        elif line.startswith("reason."):
            reason, _, count = line[len("reason.") :].rpartition(" ")
            reasons[reason] = int(count)
        elif name == "end":
            complete = True
        else:
            values[name] = float(rest)
    if not complete:
        raise PeerFailed("the ns-3 program stopped before the end of the run")
    values |= sums | {"jain": jain(tcp), "utilisation": 100.0 * values["utilisation"]}
    return values, reasons


def run(case: Case, number: int) -> tuple[Values, dict[str, int]]:
    """One run of ns-3."""
    done = subprocess.run([executable()], input=script(case, number), capture_output=True, text=True)
    if done.returncode != 0:
        raise PeerFailed(done.stderr.strip() or f"the ns-3 program stopped with code {done.returncode}")
    return read(done.stdout)


def runs(case: Case, threads: int = 1) -> list[Values]:
    """All runs of a case; one where each would be the same."""
    count = case.runs if case.jitter or QUEUES[case.queue].chance or case.control in DRAWS else 1
    with ThreadPoolExecutor(max(1, threads)) as pool:
        return [values for values, _ in pool.map(lambda number: run(case, number), range(1, count + 1))]
