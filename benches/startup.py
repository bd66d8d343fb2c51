#!/usr/bin/env python3
"""Fixed cost of a command: the CPU time of `fairlane --version` and of a small `fairlane run`.

usage: benches/startup.py [--repeat N] [--json]

Each runs in a process of its own, N times; the lowest CPU time counts, since it depends least on other load. Each line also has the
ratio to an interpreter that does nothing, which depends little on the machine. Fails (exit 1) if a command is above its budget.
`tests/test_startup.py` holds what makes it so: which libraries a command loads.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import fairlane

SCENARIO = """
duration = "10s"
warmup = "2s"
[links.bottleneck]
from = "a"
to = "b"
rate = "10Mbit/s"
delay = "20ms"
queue.droptail.limit = "50p"
[flows.tcp]
from = "a"
to = "b"
count = 2
spread = "100ms"
tcp = "cubic"
"""
BUDGETS = {"fairlane --version": 0.1, "fairlane run small.toml": 0.3, "fairlane run small.toml --seeds 1..5": 0.45}
"""Seconds of CPU."""


def cpu(arguments: list[str], folder: str) -> float:
    """Seconds of CPU that a process takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # The package that this script itself finds, wherever it is.
    env = {**os.environ, "PYTHONPATH": str(Path(fairlane.__file__).parents[1])}
    subprocess.run([sys.executable, *arguments], cwd=folder, env=env, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Measures, prints, compares."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "small.toml").write_text(SCENARIO)
        least = {name: float("inf") for name in ("python", *BUDGETS)}
        for _ in range(options.repeat + 1):  # the first fills the caches
            for name in least:
                words = ["-c", "pass"] if name == "python" else ["-m", *name.split()]
                least[name] = min(least[name], cpu(words, folder))
    rows = [
        {"command": name, "cpu_s": least[name], "interpreters": least[name] / least["python"], "budget_s": budget}
        for name, budget in BUDGETS.items()
    ]
    if options.json:
        print(json.dumps({"python_s": least["python"], "results": rows}, indent=1))
    else:
        print(f"{'python, nothing done':<40}{least['python']:7.3f} s")
        for r in rows:
            verdict = "ok" if r["cpu_s"] <= r["budget_s"] else f"ABOVE {r['budget_s']} s"
            print(f"{r['command']:<40}{r['cpu_s']:7.3f} s  {r['interpreters']:5.1f} times that  {verdict}")
    return int(any(r["cpu_s"] > r["budget_s"] for r in rows))


if __name__ == "__main__":
    sys.exit(main())
