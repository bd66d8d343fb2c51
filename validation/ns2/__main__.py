"""`python -m validation.ns2`: runs the cases on both sides and prints the table."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from functools import partial

try:
    from . import compare, ours, peer, reference, report
    from .cases import Case, select
    from .compare import Row
    from .network import Unsupported
except ImportError as error:  # the project's own package is what may be missing
    sys.exit(f"fairlane is not installed here ({error}); run `make build` and use .venv/bin/python")


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 all within bounds or skipped, 1 some differ, 2 wrong use or a side could not run."""
    options = _options(arguments)
    try:
        cases = select(options.cases, quick=options.quick, everything=options.all)
        if not options.stored:
            peer.executable()
        rows = []
        for case_rows in _compared(cases, options):
            rows += case_rows
            if not (options.json or options.markdown):
                for row in case_rows:
                    print(report.line(row), flush=True)
    except peer.PeerMissing as missing:
        print(f"SKIPPED: {missing}; --stored compares with stored results")
        return 0
    except (ValueError, ours.OursMissing, peer.PeerFailed) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    failed = sum(row.failed for row in rows)
    if options.json:
        print(json.dumps({"schema": "fairlane.validation.ns2/1", "failed": failed, "rows": [row.as_dict() for row in rows]}, indent=1))
    else:
        print((report.markdown(rows) if options.markdown else "") + "\n" + report.summary(rows))
    return 1 if failed else 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m validation.ns2", description="Compares fairlane with ns-2 on the same scenarios.")
    parser.add_argument(
        "cases",
        nargs="*",
        metavar="CASE",
        help="a family (C1, C2, C3, C5, C8, Q1 to Q5, T1 to T3) or the start of a case such as C1/Reno",
    )
    parser.add_argument("--quick", action="store_true", help="a small set of cases")
    parser.add_argument("--all", action="store_true", help="every case of the chosen families")
    parser.add_argument("--stored", action="store_true", help="compare with the stored results instead of running ns-2")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--markdown", action="store_true", help="print Markdown, one line a case")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="runs at the same time (default 1)")
    return parser.parse_args(arguments)


def _compared(cases: list[Case], options: argparse.Namespace) -> Iterator[list[Row]]:
    if not (options.json or options.markdown):
        print(report.head(), flush=True)
    for case in cases:
        name = f"{case.family}/{case.name}"
        recorded, stored = (reference.recorded(case), reference.stored(case)) if options.stored else (None, None)
        if options.stored and recorded is None and stored is None:
            continue
        try:
            resolved, network = ours.resolve(case)
            mine = ours.run(case, resolved, network, options.threads)
            if recorded is None and stored is not None:
                yield compare.from_stored(case, stored, mine)
            else:
                yield compare.from_runs(case, recorded or peer.runs(case, partial(ours.network_of, case), options.threads), mine)
        except Unsupported as error:
            raise ValueError(f"{name}: {error}") from error


if __name__ == "__main__":
    sys.exit(main())
