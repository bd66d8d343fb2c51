#!/usr/bin/env python3
"""Overhead of a study: many equal runs in a study, against the CPU time of the runs alone.

usage: benches/study.py [--runs N] [--work SECONDS] [--threads N] [--json]

Two figures, for each run and as a share of the work:
  time   the study's wall time, planning included, less the runs' own CPU time over the number of threads: what a person waits for. On a
         machine that has other things to do it is too high.
  CPU    the CPU time of the whole process less that of the runs: what keeping, planning and feeding cost. It depends little on the rest of
         the machine.

Then the folder is opened again with everything in it. Fails (exit 1) if the CPU share is above the budget. The full size: --runs 10000.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from fairlane.base.cores import available_threads
from fairlane.study import Study
from fairlane.study.executors import Threads

BUDGET = 0.03
SEEDS = 10
SCENARIO = {
    "duration": "1s",
    "topology": {
        "dumbbell": {
            "pairs": 4,
            "access": {"rate": "1Gbit/s", "delay": "1ms"},
            "bottleneck": {"rate": "50Mbit/s", "delay": "10ms", "queue": {"red": {}}},
        }
    },
    "flows": {"tcp": {"from": "s{i}", "to": "d{i}", "count": 4, "spread": "10ms", "tcp": "newreno"}},
}
METRICS = ["links.bottleneck.utilisation", "flows.tcp.goodput.sum", "network.jain"]


def study(combinations: int, seconds: float) -> Study:
    """Combinations that differ in the delay of the bottleneck by a microsecond each: equal work, different runs."""
    delays = [f"{10_000 + i}us" for i in range(combinations)]
    scenario = {**SCENARIO, "duration": f"{max(1, round(seconds * 1e6))}us"}
    return Study(scenario, factors={"topology.dumbbell.bottleneck.delay": delays}, seeds=f"1..{SEEDS}", metrics=METRICS, name="overhead")


def seconds_for(work: float, threads: int) -> float:
    """Simulated seconds that take `work` seconds of CPU."""
    seconds = 4.0
    for _ in range(2):  # the second time from nearby, as slow start is other work than the rest
        index = study(1, seconds).run(pool=Threads(threads)).index
        seconds *= work / (index["cpu_s"].sum() / index.height)
    return seconds


def measure(runs: int, work: float, threads: int) -> dict[str, float]:
    """Runs the study and opens it again; the figures by name, in seconds and shares of the work."""
    seconds = seconds_for(work, threads)
    combinations = -(-runs // SEEDS)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        wall, process = time.perf_counter(), time.process_time()
        made = study(combinations, seconds)
        result = made.run(out, pool=Threads(threads))
        wall, process = time.perf_counter() - wall, time.process_time() - process
        assert result.tally.done == combinations * SEEDS
        cpu = result.index["cpu_s"].sum()
        size = sum(f.stat().st_size for f in out.rglob("*") if f.is_file())
        again = time.perf_counter()
        assert made.run(out, pool=Threads(threads)).tally.reused == combinations * SEEDS
        again = time.perf_counter() - again
    n, ideal = combinations * SEEDS, cpu / threads
    return {
        "runs": n,
        "threads": threads,
        "run_cpu_s": cpu / n,
        "wall_s": wall,
        "ideal_s": ideal,
        "overhead_time_s": (wall - ideal) / n,
        "overhead_time_share": (wall - ideal) / ideal,
        "overhead_cpu_s": (process - cpu) / n,
        "overhead_cpu_share": (process - cpu) / cpu,
        "bytes": size / n,
        "open_again_s": again,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--work", type=float, default=0.1, help="CPU seconds of a run")
    parser.add_argument("--threads", type=int, default=available_threads())
    parser.add_argument("--json", action="store_true")
    a = parser.parse_args()
    got = measure(a.runs, a.work, a.threads)
    if a.json:
        print(json.dumps(got, indent=1))
    else:
        print(
            f"{got['runs']} runs of {got['run_cpu_s'] * 1e3:.1f} ms on {a.threads} threads: {got['wall_s']:.1f} s, ideal {got['ideal_s']:.1f} s"
        )
        for what, name in (("time", "time"), ("CPU", "cpu")):
            print(f"overhead, {what:<5}{got[f'overhead_{name}_s'] * 1e3:8.2f} ms a run{got[f'overhead_{name}_share']:8.1%}")
        print(f"{got['bytes'] / 1e3:.1f} kB a run, all reused in {got['open_again_s']:.2f} s")
    return int(got["overhead_cpu_share"] > BUDGET)


if __name__ == "__main__":
    sys.exit(main())
