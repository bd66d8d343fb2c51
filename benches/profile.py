#!/usr/bin/env python3
"""Counts what the engine does mostly, so that the compiler may lay it out for that: the profile with which `make` builds.

usage: benches/profile.py        (make profile)

Builds the developer tool with counters, runs the benchmark set, all examples, and a dumbbell with each queue and with each
congestion control, and writes benches/profile/VERSION-HOST.profdata. It belongs to one version of the compiler on one kind of
machine; another builds without it, and functions that were changed since are built without it, too. Results do not depend on it.
The tool that adds up the counts comes with `rustup component add llvm-tools`.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from fairlane import cc, queues

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "python" / "fairlane" / "scenarios"
#: How long each of the benchmark set runs: as many packets as the others together, at most a few million.
LENGTHS = {"P1": "20s", "P2": "5s", "P3": "8s", "P4": "14s", "P5": "2ms", "P5s": "2ms", "P6": "500us"}
#: A block of a function that was entered less often in all runs together is of no use: nine tenths of the profile.
OFTEN = 100_000
#: Five TCP flows and one of UDP behind one bottleneck.
DUMBBELL = """duration = "5s"
[topology.dumbbell]
pairs = 6
access = {{ rate = "100Mbit/s", delay = "1ms" }}
bottleneck = {{ rate = "10Mbit/s", delay = "10ms", queue.{queue} = {{}} }}
[flows.tcp]
from = "s{{i}}"
to = "d{{i}}"
count = 5
tcp = "{cc}"
[flows.udp]
from = "s5"
to = "d5"
udp = {{}}
source.cbr.rate = "1Mbit/s"
"""


def training(folder: Path) -> list[list[str]]:
    """Returns the training runs: arguments of `perf`."""
    runs = [[str(SCENARIOS / f"{name}.toml"), f"duration={length}"] for name, length in LENGTHS.items()]
    runs += [[str(file)] for place in (ROOT / "benches" / "air", ROOT / "examples") for file in sorted(place.glob("*.toml"))]
    queues, controls = ([getattr(kinds, name)._name for name in kinds.__all__] for kinds in (queues, cc))
    for queue, cc in [(q, "newreno") for q in queues] + [("droptail", c) for c in controls]:
        file = folder / f"{queue}-{cc}.toml"
        file.write_text(DUMBBELL.format(queue=queue, cc=cc))
        runs.append([str(file)])
    watched = [str(SCENARIOS / "P1.toml"), "duration=4s"]
    return [*runs, [*watched, f"pcap=bottleneck:{folder / 'x.pcapng'}"], [*watched, f"trace={folder / 'trace'}"]]


def is_hot(record: str) -> bool:
    """True if a function's record in a profile counts often enough to matter, or is the first, which has facts about all functions."""
    head, _, counts = record.partition("# Counter Values:")
    return head.startswith("# IR") or max((int(n) for n in counts.split() if n.isdigit()), default=0) >= OFTEN


def binary(flags: list[str]) -> Path:
    """The developer tool, built with these flags of the compiler in a folder of its own."""
    env = {**os.environ, "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags), "CARGO_TARGET_DIR": str(ROOT / "target" / "profile")}
    # Together with the extension: alone it would have other features of dependencies, hence other names of functions.
    packages = ["--package", "fairlane-dev", "--package", "fairlane-py"]
    subprocess.run(["cargo", "build", "--release", *packages], cwd=ROOT, env=env, check=True)
    return ROOT / "target" / "profile" / "release" / "fairlane-dev"


def main() -> int:
    version = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    facts = dict(line.split(": ", 1) for line in version.splitlines() if ": " in line)
    root = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True).stdout.strip()
    tool = Path(root) / "lib" / "rustlib" / facts["host"] / "bin" / "llvm-profdata"
    if not tool.exists():
        sys.exit("profile.py: there is no llvm-profdata next to the compiler; write: rustup component add llvm-tools")
    target = ROOT / "benches" / "profile" / f"{facts['release']}-{facts['host']}.profdata"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program, counts = binary([f"-Cprofile-generate={folder / 'counts'}"]), folder / "counts"
        runs = training(folder)
        for done, arguments in enumerate(runs, 1):
            run = subprocess.run([program, "perf", *arguments], capture_output=True, text=True)
            print(f"{done} of {len(runs)}: {Path(arguments[0]).stem}", file=sys.stderr)
            if run.returncode:
                print(f"left out: {run.stderr.strip()}", file=sys.stderr)
        text, trimmed = folder / "whole.txt", folder / "trimmed.txt"
        subprocess.run([tool, "merge", "--sparse", "--text", "-o", text, *counts.glob("*.profraw")], check=True)
        trimmed.write_text("\n\n".join(record for record in text.read_text().split("\n\n") if is_hot(record)) + "\n")
        for old in target.parent.glob(f"*-{facts['host']}.profdata"):
            old.unlink()
        subprocess.run([tool, "merge", "--sparse", "-o", target, trimmed], check=True)
    print(f"{target.relative_to(ROOT)}: {target.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
