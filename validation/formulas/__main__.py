"""`python -m validation.formulas`: runs the cases and prints the table."""

from __future__ import annotations

import argparse
import json
import sys

try:
    from . import measure
    from .cases import LOSS, RTTS, LossCase
except ImportError as error:  # the project's own package is what may be missing
    sys.exit(f"fairlane is not installed here ({error}); run `make build` and use .venv/bin/python")


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 all within bounds, 1 some are not, 2 wrong use."""
    parser = argparse.ArgumentParser(prog="python -m validation.formulas", description="Compares TCP's throughput with published formulas.")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="the start of a case such as pftk/reno or rtt")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args(arguments)
    chosen = [c for c in (*LOSS, *RTTS) if not options.cases or any(c.title.startswith(n) for n in options.cases)]
    if not chosen:
        print(f"error: no case begins with {options.cases[0]!r}", file=sys.stderr)
        return 2
    rows, failed = [], 0
    for case in chosen:
        if isinstance(case, LossCase):
            got, rtt = measure.segments_per_second(case)
            expected = case.expected(case.p, rtt, case.b)
            ok = abs(got / expected - 1) <= case.bound
            difference = f"{100 * (got / expected - 1):+.1f} %, bound {100 * case.bound:.0f} %"
            text = f"{case.title:<24} {got:9.2f} segments/s, formula {expected:9.2f} ({difference})"
            rows.append({"case": case.title, "ours": got, "formula": expected, "bound": case.bound, "ok": ok})
        else:
            got = measure.exponent(case)
            ok = case.low <= got <= case.high
            text = f"{case.title:<24} exponent {got:5.2f}, published {case.low:g} to {case.high:g} ({case.source})"
            rows.append({"case": case.title, "ours": got, "low": case.low, "high": case.high, "ok": ok})
        failed += not ok
        if not options.json:
            print(text + ("" if ok else "  OUTSIDE"), flush=True)
    if options.json:
        print(json.dumps({"schema": "fairlane.validation.formulas/1", "failed": failed, "rows": rows}, indent=1))
    else:
        print(f"\n{len(rows)} cases, {failed} outside their bounds")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
