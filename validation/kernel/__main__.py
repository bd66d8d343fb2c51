"""`python -m validation.kernel`: runs the cases on this machine's kernel and in fairlane, and prints the table."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

try:
    from . import machine, report
    from .cases import Case, select
    from .measures import Found, of_kernel, of_simulation
    from .report import Row
except ImportError as error:  # the project's own package is what may be missing
    sys.exit(f"fairlane is not installed here ({error}); run `make build` and use .venv/bin/python")

STORED = Path(__file__).resolve().parents[1] / "data" / "kernel" / "results.json"
#: Beyond this the relay was not in time, and the kernel's side measured this machine instead of the path.
LATE_US = 3000.0


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 all within bounds or skipped, 1 some differ, 2 wrong use."""
    options = _options(arguments)
    try:
        cases = select(options.cases, options.quick)
        if not options.stored:
            machine.check()
        rows = []
        if not options.json:
            print(report.head(), flush=True)
        for case in cases:
            kernel = stored(case) if options.stored else [_live(case, seed) for seed in range(1, options.runs + 1)]
            if not kernel:
                continue
            rows.append(Row(case, kernel, [of_simulation(case, seed) for seed in range(1, options.seeds + 1)]))
            if not options.json:
                print(report.line(rows[-1]), flush=True)
    except machine.KernelMissing as missing:
        print(f"SKIPPED: {missing}; --stored compares with stored results")
        return 0
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.record:
        _record(rows)
    failed = sum(len(row.failed) for row in rows)
    if options.json:
        print(json.dumps({"schema": "fairlane.validation.kernel/1", "failed": failed, "rows": [r.as_dict() for r in rows]}, indent=1))
    else:
        if options.markdown:
            print("\n" + report.markdown(rows))
        print(f"\n{len(rows)} cases, {2 * len(rows)} judged values, {failed} outside their bounds (goodput 5 %, RTT 10 %)")
    return 1 if failed else 0


def stored(case: Case) -> list[Found]:
    """Runs of a case that were recorded; none if it was not."""
    if not STORED.exists():
        return []
    return [Found(**values) for values in json.loads(STORED.read_text())["cases"].get(case.name, [])]


def _live(case: Case, seed: int) -> Found:
    run = machine.run(case, seed)
    if run["late_us"] > LATE_US:
        print(f"warning: {case.name}: the relay was up to {run['late_us'] / 1e3:.1f} ms late; run on a quiet machine", file=sys.stderr)
    return of_kernel(case, run)


def _record(rows: list[Row]) -> None:
    known = json.loads(STORED.read_text()) if STORED.exists() else {"cases": {}}
    known["kernel"] = Path("/proc/sys/kernel/osrelease").read_text().split("-")[0].strip()
    for row in rows:
        known["cases"][row.case.name] = [{k: round(v, 5) for k, v in f.as_dict().items()} for f in row.kernel]
    STORED.parent.mkdir(parents=True, exist_ok=True)
    STORED.write_text(json.dumps(known, indent=1) + "\n")


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m validation.kernel", description="Compares fairlane with this machine's own Linux TCP on the same scenarios."
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help="the start of a case's name, such as cubic or cubic/10mbit")
    parser.add_argument("--quick", action="store_true", help="only the cases at 10 Mbit/s")
    parser.add_argument("--stored", action="store_true", help="compare with the stored results instead of running the kernel")
    parser.add_argument("--record", action="store_true", help="store what the kernel does")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown, too")
    parser.add_argument("--runs", type=int, default=2, metavar="N", help="runs of each case on the kernel (default 2)")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="runs of each case in fairlane (default 3)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
