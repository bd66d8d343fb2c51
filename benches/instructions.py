#!/usr/bin/env python3
"""Instructions per packet-hop, counted by callgrind: the gate against slow drift of the hot path.

usage: benches/instructions.py [--update] [--plain] [P1 ...]

Counts the build with the profile of the engine (`make profile`), where there is one for the compiler at hand;
--plain: the one without, which has counts of its own.

Runs each scenario twice with different durations and divides the difference of the counts by the difference of the hops,
so that start-up cancels out. Counts repeat exactly for the same binary, whatever else the machine does. Fails (exit 1) if a count
is more than 3 % above the one in benches/instructions.json, or above the budget there. --update writes the new counts.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STORED = ROOT / "benches" / "instructions.json"
#: Says how to build with the profile.
PROFILE = ROOT / "benches" / "profile" / "flags"
#: Two durations of each scenario: long enough to be past the start, short enough for an instrumented run.
DURATIONS = {"P1": ("10s", "20s"), "P4": ("12s", "15s"), "P5": ("1ms", "2ms"), "A1": ("3s", "6s"), "A2": ("10s", "15s")}
#: Scenarios that are not of the benchmark set: over the air.
AIR = ROOT / "benches" / "air"
TOLERANCE = 0.03


def built(flags: str | None) -> Path:
    """The release binary of the developer tool, built with these flags of the compiler; None: with those of the environment."""
    env = os.environ if flags is None else {**os.environ, "CARGO_ENCODED_RUSTFLAGS": flags}
    # Together with the extension, from which the names of functions in the profile are.
    packages = ["--package", "fairlane-dev", "--package", "fairlane-py"]
    build = ["cargo", "build", "--quiet", "--release", *packages, "--message-format=json"]
    run = subprocess.run(build, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=env)
    if run.returncode:
        sys.exit("instructions.py: the build failed")
    out = run.stdout
    paths = [json.loads(line).get("executable") for line in out.splitlines()]
    return Path(next(p for p in reversed(paths) if p))


def count(binary: Path, scenario: str, duration: str) -> tuple[int, int]:
    """Instructions of one run, and its packet-hops."""
    files = (folder / f"{scenario}.toml" for folder in (ROOT / "python" / "fairlane" / "scenarios", AIR))
    file = next(f for f in files if f.exists())
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(binary), "perf", str(file), f"duration={duration}"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    instructions = int(re.search(r"Collected : (\d+)", run.stderr).group(1))
    return instructions, int(re.search(r"packet_hops=(\d+)", run.stdout).group(1))


def main(arguments: list[str]) -> int:
    update = "--update" in arguments
    names = [a for a in arguments if not a.startswith("-")] or list(DURATIONS)
    if shutil.which("valgrind") is None:
        print("skipped: valgrind is not installed")
        return 0
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    flags = "" if "--plain" in arguments else subprocess.run([PROFILE], capture_output=True, text=True, check=True).stdout or None
    binary, failed = built(flags), False
    kind = "with_profile" if flags else "instructions_per_packet_hop"
    print("built with" if flags else "built without", "the profile of the engine")
    for name in names:
        (i1, h1), (i2, h2) = (count(binary, name, d) for d in DURATIONS[name])
        got = (i2 - i1) / (h2 - h1)
        known = stored.get(name, {})
        limit = min(known.get(kind, got) * (1 + TOLERANCE), known.get("budget", float("inf")))
        verdict = "ok" if got <= limit else f"ABOVE {limit:.0f}"
        failed |= got > limit
        print(f"{name}: {got:.1f} instructions per packet-hop, {h2} hops; {verdict}")
        stored[name] = {**known, kind: round(got, 1)}
    if update:
        STORED.write_text(json.dumps(stored, indent=2) + "\n")
    return int(failed and not update)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
