"""`python -m validation.kernel`: runs the cases on this machine's kernel and in fairlane, and prints the table."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

try:
    from . import machine, report
    from .cases import Case, select
    from .measures import Found, of_simulation
    from .report import Row
    from .runs import LateError, live, record, stored
except ImportError as error:  # the project's own package is what may be missing
    sys.exit(f"fairlane is not installed here ({error}); run `make build` and use .venv/bin/python")


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
        for case, kernel in _kernel(cases, options):
            if options.record or options.add:
                record(case, kernel)
            rows.append(Row(case, kernel, [of_simulation(case, run) for run in range(1, options.seeds + 1)]))
            if not options.json:
                print(report.line(rows[-1]), flush=True)
    except machine.KernelMissing as missing:
        print(f"SKIPPED: {missing}; --stored compares with stored results")
        return 0
    except (ValueError, LateError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    failed = sum(len(row.failed) for row in rows)
    if options.json:
        print(json.dumps({"schema": "fairlane.validation.kernel/2", "failed": failed, "rows": [r.as_dict() for r in rows]}, indent=1))
    else:
        if options.markdown:
            print("\n" + report.markdown(rows))
        print(f"\n{len(rows)} cases, {sum(row.judged for row in rows)} judged values, {failed} outside their bounds")
    return 1 if failed else 0


def _kernel(cases: list[Case], options: argparse.Namespace) -> Iterator[tuple[Case, list[Found]]]:
    """Yields the kernel's results of each case."""
    if options.stored:
        yield from ((case, found) for case in cases if (found := stored(case)))
        return
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        known = {case: stored(case) if options.add else [] for case in cases}
        count = {case: options.runs * (2 if case.chaotic else 1) for case in cases}
        runs = {case: [pool.submit(live, case, len(known[case]) + n) for n in range(1, count[case] + 1)] for case in cases}
        try:
            yield from ((case, known[case] + [run.result() for run in of]) for case, of in runs.items())
        finally:
            pool.shutdown(cancel_futures=True)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m validation.kernel", description="Compares fairlane with this machine's own Linux TCP on the same scenarios."
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help="the start of a case's name, such as cubic or cubic/10mbit")
    parser.add_argument("--quick", action="store_true", help="only a path of 10 Mbit/s and 44 ms")
    parser.add_argument("--stored", action="store_true", help="compare with the stored results instead of running the kernel")
    parser.add_argument("--record", action="store_true", help="store what the kernel does")
    parser.add_argument("--add", action="store_true", help="like --record, in addition to the stored runs")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown, too")
    parser.add_argument(
        "--runs", type=int, default=3, metavar="N", help="runs of each case on the kernel (default 3), twice as many where chance decides"
    )
    parser.add_argument("--seeds", type=int, default=6, metavar="N", help="runs of each case in fairlane (default 6)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="runs of the kernel at the same time (default 1)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
