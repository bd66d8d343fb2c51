"""What one room needs after a change: `make check ROOM=study`, or `make check` for all rooms that differ from the last commit.

A room of Rust is a crate; its tests run, and those of the registry over all algorithms. A room of Python has the files of `FILES`
and the doctests that it holds.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATES = sorted(p.parent.name for p in ROOT.glob("crates/*/Cargo.toml"))
PACKAGE = ROOT / "python" / "fairlane"

FILES = {
    "base": ("replacing", "package", "rooms", "python_api", "cli_errors", "startup"),
    "bench": ("cli", "bench_against"),
    "claims": ("claims", "papers", "paper_verdicts"),
    "cli": (
        "output_encodings",
        "cli",
        "verbose",
        "width",
        "cli_errors",
        "outputs",
        "budget",
        "doubts",
        "mutations",
        "package",
        "startup",
        "first_minute",
    ),
    "comparison": ("compare", "compare_factors", "which_queue"),
    "docs": ("docs", "package", "registered", "site"),
    "examples": ("examples", "docs", "notebooks"),
    "formats": ("hostile_files", "import", "export", "nam", "ns2_trace"),
    "graphs": ("draw", "graph_files", "graphs", "load"),
    "linux": ("tc",),
    "look": ("sheet", "paper_charts", "width", "saved", "notebook", "compare", "cli_study"),
    "own": ("own_c_ends", "interrupt", "own_queue", "own_queue_c", "own_cc", "plugin"),
    "papers": (
        "strangers",
        "papers",
        "paper_layout",
        "paper_verdicts",
        "paper_settings",
        "paper_again",
        "paper_emulator",
        "paper_charts",
        "studies",
        "study_folder_mistakes",
        "own_paper",
        "findings",
    ),
    "reports": ("report", "report_browser"),
    "runs": (
        "declarations",
        "liveness",
        "threads",
        "again",
        "changes",
        "outages",
        "radiotap",
        "simulation",
        "listening",
        "top",
        "flow_count",
        "generated",
        "groups",
        "lessons",
        "why",
        "python_api",
        "possible",
        "notebook",
        "cli",
        "determinism",
        "pcap",
        "plots",
        "plots_command",
        "plots_paper",
        "plots_together",
        "routes",
        "topologies",
        "trace",
        "query",
        "series_folder",
        "ns2_trace",
        "wireless",
    ),
    "script": ("script", "fast_open", "script_buffer", "script_closing", "script_command", "script_errors", "script_idling", "script_rfc"),
    "stats": (
        "stats_bounded",
        "stats",
        "stats_anova",
        "stats_bootstrap",
        "stats_compare",
        "stats_docs",
        "stats_sequential",
        "stats_warmup",
    ),
    "watch": ("watch", "watch_strangers", "rooms", "package"),
    "study": (
        "study_modules",
        "kept",
        "replay",
        "study_one_run",
        "study_dask",
        "study_file",
        "study_mistakes",
        "study_store",
        "study_result",
        "study_sequential",
        "study_contrast",
        "cli_study",
        "study_crew",
        "study_settings",
    ),
    "tcp": ("endpoint",),
    "multiverse": ("multiverse",),
    "tuning": ("tune", "tune_space", "tune_mistakes"),
    "validation": ("formulas", "kernel", "ns2_rate", "ns2_reference", "ns2_differential", "ns3_reference", "ns3_air", "rfc_table"),
    "nowak2009": ("paper_nowak2009",),
    "ramachendra2014": ("paper_ramachendra2014",),
    "sarma2013": ("papers", "paper_sarma2013"),
    "syla2022": ("paper_syla2022",),
    "yang2001": ("paper_yang2001",),
}
"""Files of tests by room, without `test_` and `.py`: each is some room's, but for those of `WHOLE`."""
OF_ALL = {
    "net": ("links", "sources", "topologies"),
    "queue": ("queues", "registry", "series"),
    "tcp": ("gauges", "registry", "series"),
    "traffic": ("registry", "series", "sources"),
}
"""Modules of the scenario crate's tests that run all algorithms of a crate below it; the record of trajectories is run besides."""
WHOLE = ("stats_coverage", "study_kill", "orphans", "wheel")
"""What only all of the tests run: they take minutes."""


def rooms_of(paths: Iterable[str]) -> list[str]:
    """The rooms that these files belong to."""
    found = set()
    for path in paths:
        parts = Path(path).parts
        if len(parts) > 1 and parts[0] == "crates":
            found.add(parts[1])
        elif len(parts) > 2 and parts[:2] == ("python", "fairlane"):
            found.add(parts[2] if parts[2] in FILES else "base")
        elif len(parts) > 1 and parts[0] == "papers":
            found |= {parts[1], "papers"}
        elif len(parts) == 2 and parts[0] == "tests":
            found |= {room for room, files in FILES.items() if f"{parts[1]}" in {f"test_{f}.py" for f in files}}
        elif parts[0] in FILES:
            found.add(parts[0])
        elif parts[-1].endswith(".md"):
            found.add("docs")
    return sorted(found & {*FILES, *CRATES})


def changed() -> list[str]:
    """Files that differ from the last commit, or are new."""
    listed = subprocess.run(["git", "-C", ROOT, "status", "--porcelain", "-uall"], capture_output=True, text=True, check=True).stdout
    return [line[3:].split(" -> ")[-1].strip('"') for line in listed.splitlines()]


def commands(rooms: Sequence[str], jobs: str = "auto") -> list[list[str]]:
    """What to run for these rooms."""
    crates = [room for room in rooms if room in CRATES]
    made = []
    if crates:
        made.append(["cargo", "test", *(f"--package=fairlane-{c}" for c in crates)])
        below = sorted({f"{module}::" for c in crates for module in OF_ALL.get(c, ())})
        if below and "scenario" not in crates:
            made.append(["cargo", "test", "--package=fairlane-scenario", "--test=golden"])
            made.append(["cargo", "test", "--package=fairlane-scenario", "--test=all", "--", *below])
    files = sorted({f"tests/test_{f}.py" for room in rooms for f in FILES.get(room, ())})
    doctests = sorted(str(p.relative_to(ROOT)) for room in rooms for p in (PACKAGE / room, PACKAGE / f"{room}.py") if p.exists())
    existing = [f for f in files if (ROOT / f).exists()]
    if existing or doctests:
        made.append([sys.executable, "-m", "pytest", "-n", jobs, "--dist", "loadfile", "-m", "not long", *existing, *doctests])
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help="crates and rooms of the package; without any, those that changed")
    named, differ = parser.parse_args().rooms, changed()
    rooms = named or rooms_of(differ)
    unknown = sorted({*rooms} - {*FILES, *CRATES})
    if unknown:
        parser.error(f"no room is called {unknown[0]}: there are {', '.join(sorted({*FILES, *CRATES}))}")
    if not rooms:
        what = (
            f"no room has tests for {differ[0]}: make test"
            if differ
            else "nothing differs from the last commit; name a room: make check ROOM=study"
        )
        sys.stderr.write(f"check: {what}\n")
        return 0
    sys.stderr.write(f"check: {', '.join(rooms)}\n")
    # All are run: a room that fails says nothing of the next.
    return max(subprocess.run(command, cwd=ROOT, check=False).returncode for command in commands(rooms))


if __name__ == "__main__":
    sys.exit(main())
