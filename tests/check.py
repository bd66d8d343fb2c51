"""Runs the tests of a package: `make check PACKAGE=study`, or `make check` for all packages that differ from the last commit.

For a crate its tests run, and those of the registry over all algorithms; for a Python package the files of `FILES` and its doctests.
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
    package: files.split()
    for package, files in {
        "base": "api atomic_files package packages python_api cli_errors startup",
        "bench": "cli bench_against",
        "claims": "claims papers paper_verdicts",
        "cli": """
            output_encodings cli verbose width cli_errors outputs budget warnings mutations package startup first_minute demo_environment
            usability
            """,
        "comparison": "compare compare_factors compare_metrics which_queue",
        "docs": "audiences docs demo_environment usability glossary package readme registry site coming_from",
        "examples": "examples docs notebooks",
        "formats": "capture_links capture_parts hostile_files import import_logs import_flent import_networks export nam ns2_trace",
        "graphs": "draw graph_files graphs matrices traffic_matrix",
        "linux": "tc tc_script tc_parameters tc_import tc_several tc_police tc_classes cake_ack_filter nat import_networks audiences",
        "look": "sheet paper_charts width page_downloads notebook compare cli_study",
        "own": "own_c_exit interrupt own_queue own_queue_c own_stack_c own_cc plugin",
        "papers": """
            untrusted_studies papers paper_layout paper_verdicts paper_settings paper_records paper_emulator paper_charts
            studies study_folder_mistakes own_paper findings paper_search run_cache
            """,
        "reports": "first_screen report report_browser browser",
        "runs": """
            declarations profiles liveness prepared threads reconnect changes outages radiotap simulation listeners top flow_count generated
            groups lessons stacks stacks_live stacks_media why python_api plausibility notebook cli determinism pcap plots plots_command
            plots_paper plots_overlays routes topologies trace query series_folder ns2_trace wireless quality
            """,
        "script": "script fast_open script_buffer script_closing script_command script_errors script_idling script_rfc",
        "stats": "docs stats_bounded stats stats_anova stats_bootstrap stats_compare stats_sequential stats_warmup",
        "watch": "watch watch_animation watch_hostile_clients lessons packages package",
        "study": """
            study_modules integrity replay study_one_run study_dask study_file study_mistakes study_store study_result
            study_sequential study_contrast cli_study study_executors study_settings study_again
            """,
        "tcp": "endpoint",
        "multiverse": "multiverse",
        "learning": "learning",
        "tuning": "tune tune_recommendation tune_space tune_mistakes",
        "worst": "worst worst_mistakes worst_corpus",
        "cards": "cards cards_known",
        "validation": "validation_pages formulas kernel ns2_rate ns2_reference ns2_differential ns3_reference ns3_air rfc_table",
        "nowak2009": "paper_nowak2009",
        "ramachendra2014": "paper_ramachendra2014",
        "sarma2013": "papers paper_sarma2013",
        "sarpkaya2025": "paper_sarpkaya2025",
        "syla2022": "paper_syla2022",
        "yang2001": "paper_yang2001",
    }.items()
}
"""Test files by package, without `test_` and `.py`; files in no package are in `WHOLE`."""
OF_ALL = {
    "net": ("links", "sources", "topologies"),
    "queue": ("queues", "registry", "series"),
    "tcp": ("gauges", "registry", "series"),
    "traffic": ("registry", "series", "sources"),
}
"""Modules of the scenario crate's tests that run all algorithms of a crate below it; the record of trajectories is run besides."""
WHOLE = ("stats_coverage", "study_kill", "orphans", "wheel")
"""Files that only the whole suite runs: they take minutes."""


def packages_of(paths: Iterable[str]) -> list[str]:
    """Returns the packages and crates that these files belong to."""
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
            found |= {package for package, files in FILES.items() if f"{parts[1]}" in {f"test_{f}.py" for f in files}}
        elif parts[0] in FILES:
            found.add(parts[0])
        elif parts[-1].endswith(".md"):
            found.add("docs")
    return sorted(found & {*FILES, *CRATES})


def changed() -> list[str]:
    """Files that differ from the last commit, or are new."""
    listed = subprocess.run(["git", "-C", ROOT, "status", "--porcelain", "-uall"], capture_output=True, text=True, check=True).stdout
    return [line[3:].split(" -> ")[-1].strip('"') for line in listed.splitlines()]


def commands(packages: Sequence[str], jobs: str = "auto") -> list[list[str]]:
    """Returns the commands that test these packages."""
    crates = [package for package in packages if package in CRATES]
    made = []
    if crates:
        made.append(["cargo", "test", *(f"--package=fairlane-{c}" for c in crates)])
        below = sorted({f"{module}::" for c in crates for module in OF_ALL.get(c, ())})
        if below and "scenario" not in crates:
            made.append(["cargo", "test", "--package=fairlane-scenario", "--test=golden"])
            made.append(["cargo", "test", "--package=fairlane-scenario", "--test=all", "--", *below])
    files = sorted({f"tests/test_{f}.py" for package in packages for f in FILES.get(package, ())})
    doctests = sorted(
        str(p.relative_to(ROOT)) for package in packages for p in (PACKAGE / package, PACKAGE / f"{package}.py") if p.exists()
    )
    existing = [f for f in files if (ROOT / f).exists()]
    if existing or doctests:
        made.append([sys.executable, "-m", "pytest", "-n", jobs, "--dist", "loadfile", "-m", "not long", *existing, *doctests])
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help="crates and Python packages (default: those that changed)")
    named, differ = parser.parse_args().packages, changed()
    packages = named or packages_of(differ)
    unknown = sorted({*packages} - {*FILES, *CRATES})
    if unknown:
        parser.error(f"unknown package {unknown[0]}; known: {', '.join(sorted({*FILES, *CRATES}))}")
    if not packages:
        what = (
            f"no package has tests for {differ[0]}: make test"
            if differ
            else "nothing differs from the last commit; name a package: make check PACKAGE=study"
        )
        sys.stderr.write(f"check: {what}\n")
        return 0
    sys.stderr.write(f"check: {', '.join(packages)}\n")
    # All are run: the next package may fail as well.
    return max(subprocess.run(command, cwd=ROOT, check=False).returncode for command in commands(packages))


if __name__ == "__main__":
    sys.exit(main())
