#!/usr/bin/env python3
"""Cost of packet capture: P1 with its bottleneck captured, both directions, over P1 without.

usage: benches/pcap.py [--repeat N] [NAME]

Runs both alternately in this process and compares CPU times: of the thread that simulates, which fairlane reports, and of the whole
process, whose other thread writes the file. Each capture is a new file: one that replaces another has the file system write it out at
once. Fails (exit 1) if the median of the ratios of the simulation is above the budget.
"""

import argparse
import statistics
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
    """Measures, prints, and says whether it is within the budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", default="bottleneck")
    parser.add_argument("--repeat", type=int, default=9)
    arguments = parser.parse_args()
    measure(None)
    both, size = [], 0
    for _ in range(arguments.repeat):
        plain = measure(None)
        with tempfile.TemporaryDirectory() as folder:
            both.append((plain, measure(fl.Pcap(arguments.name, folder=folder))))
            size = sum(f.stat().st_size for f in Path(folder).iterdir())
    ratios = []
    for i, what in enumerate(("simulation, CPU", "process, CPU", "process, time")):
        plain, captured = ([pair[k][i] for pair in both] for k in (0, 1))
        ratios.append(statistics.median(b / a for a, b in zip(plain, captured, strict=True)))
        print(f"{what:<16}{statistics.median(plain):8.3f} s{statistics.median(captured):8.3f} s{ratios[i]:7.2f}")
    print(f"{size / 1e6:.0f} MB written")
    return int(ratios[0] > BUDGET)


if __name__ == "__main__":
    sys.exit(main())
