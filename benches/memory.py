#!/usr/bin/env python3
"""Memory of many TCP flows: the most one run holds, against a budget.

usage: benches/memory.py [--update] [PRESET-CC ...] [pairs] [short]

PRESET-CC: 100,000 flows share a link of 10 Gbit/s, start within a second and then all have data in flight until the end. pairs: each of
100,000 flows has two hosts with links of their own, in a dumbbell of 400,000 ports, for a second. short: a million flows of 20 kB, one
every 100 us. Fails (exit 1) if the peak of a run is above the budget in benches/memory.json. --update writes the new figures, not the
budgets.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from instructions import built

STORED = Path(__file__).resolve().parent / "memory.json"
SHARED = """
duration = "4s"
[links.link]
from = "a"
to = "b"
rate = "10Gbit/s"
delay = "20ms"
queue.droptail.limit = "100000p"
[flows.tcp]
from = "a"
to = "b"
count = 100000
spread = "1s"
tcp = {{ preset = "{preset}", cc = "{cc}" }}
"""
PAIRS = """
duration = "1s"
[topology.dumbbell]
pairs = 100000
bottleneck.rate = "10Gbit/s"
[flows.tcp]
from = "s{i}"
to = "d{i}"
count = 100000
spread = "0.1s"
tcp = { preset = "rfc", cc = "newreno" }
"""
SHORT = """
duration = "101s"
report = "groups"
[links.link]
from = "a"
to = "b"
rate = "10Gbit/s"
delay = "5ms"
queue.droptail.limit = "10000p"
[flows.tcp]
from = "a"
to = "b"
count = 1000000
stagger = "100us"
amount = "20kB"
tcp = {}
"""


def scenario(case: str) -> str:
    """The scenario of a case."""
    if case in ("pairs", "short"):
        return {"pairs": PAIRS, "short": SHORT}[case]
    preset, cc = case.split("-")
    return SHARED.format(preset=preset, cc=cc)


def peak(binary: Path, case: str) -> int | None:
    """Most memory of one run in bytes, where the system tells."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "flows.toml"
        file.write_text(scenario(case))
        run = subprocess.run([str(binary), "perf", str(file)], capture_output=True, text=True, check=True)
    found = re.search(r"peak_rss_bytes=(\d+)", run.stdout)
    return int(found.group(1)) if found else None


def main(arguments: list[str]) -> int:
    stored = json.loads(STORED.read_text())
    names = [a for a in arguments if not a.startswith("-")] or list(stored)
    binary, failed = built(None), False
    for name in names:
        got = peak(binary, name)
        if got is None:
            print("skipped: the system does not tell the peak of a process")
            return 0
        known = stored.setdefault(name, {})
        budget = known.get("budget_bytes", float("inf"))
        failed |= got > budget
        print(f"{name}: {got / 1e6:.0f} MB, {'ok' if got <= budget else f'ABOVE {budget / 1e6:.0f}'}")
        known["peak_bytes"] = got
    if "--update" in arguments:
        STORED.write_text(json.dumps(stored, indent=2) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
