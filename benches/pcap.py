#!/usr/bin/env python3
"""What packet capture costs: P1 with its bottleneck captured, both directions, over P1 without.

usage: benches/pcap.py [--repeat N] [NAME]

Runs both alternately in this process and compares the least CPU times of the thread that simulates, which fairlane reports, and of the whole process, whose other
thread writes the file. Fails (exit 1) if the first is above the budget.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import fairlane as fl

P1 = Path(__file__).resolve().parent / "scenarios" / "P1.toml"
BUDGET = 1.5


def measure(pcap: fl.Pcap | None) -> tuple[float, float, float]:
    """CPU of the simulation, CPU of the process, and time of one run."""
    process, wall = time.process_time(), time.perf_counter()
    result = fl.run(P1, threads=1, pcap=pcap)
    return result.info[0]["cpu_s"], time.process_time() - process, time.perf_counter() - wall


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", default="bottleneck")
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pcap = fl.Pcap(arguments.name, folder=folder, force=True)
        both = [[measure(kind) for kind in (None, pcap)] for _ in range(arguments.repeat)]
        size = sum(f.stat().st_size for f in Path(folder).iterdir())
    plain, captured = (tuple(map(min, zip(*(pair[i] for pair in both), strict=True))) for i in (0, 1))
    for what, a, b in zip(("simulation, CPU", "process, CPU", "process, time"), plain, captured, strict=True):
        print(f"{what:<16}{a:8.3f} s{b:8.3f} s{b / a:7.2f}")
    print(f"{size / 1e6:.0f} MB written")
    return int(captured[0] > BUDGET * plain[0])


if __name__ == "__main__":
    sys.exit(main())
