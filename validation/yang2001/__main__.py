"""`python -m validation.yang2001`: runs the cases and prints the table."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

try:
    from . import runs
except ImportError as error:  # the project's own package is what may be missing
    sys.exit(f"fairlane is not installed here ({error}); run `make build` and use .venv/bin/python")
from .cases import CC, CLASSES, FLUID, RATES, SHARE, STRICT, TABLE1, TS, Expected, around

CASES = ("udp", "ts", "cc", "table1", "fig2")


def rows(case: str) -> Iterator[tuple[str, float, Expected]]:
    """Name, value and what is expected."""
    if case == "udp":
        for k in range(1, 20):
            yield f"udp/{k} flows, mean time (s)", runs.udp_alone(k), around(8.0 * k, 0.02, "8 k s")
    elif case == "ts":
        means = runs.class_means("time_slots", "0s")
        for name, model, printed in zip(CLASSES, FLUID, TS[0], strict=True):
            for s in range(2):
                yield f"ts/{name} of source {s} (s)", means[f"{name}/{s}"], around(model, 0.05, "fluid model", f"{printed}")
    elif case == "cc":
        means = runs.class_means("congestion_signal", "0.5s")
        for name, (low, high), printed in zip(CLASSES, STRICT, CC[0], strict=True):
            for s in range(2):
                expected = Expected(0.97 * low, 1.03 * high, "strict priority, 3 %", f"{printed}")
                yield f"cc/{name} of source {s} (s)", means[f"{name}/{s}"], expected
    elif case == "table1":
        for size, (tcp, udp) in TABLE1.items():
            for kind, values, expected in zip(("TCP", "UDP"), runs.together(size), (tcp, udp), strict=True):
                yield f"table1/{size} {kind}, mean time (s)", sum(values) / len(values), expected
    else:
        for rate in RATES:
            yield f"fig2/TCP's share after 100 s, CBR {rate} (%)", runs.tcp_share(rate, 100.0), SHARE


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 all within bounds, 1 some are not, 2 wrong use."""
    parser = argparse.ArgumentParser(prog="python -m validation.yang2001", description="Runs the environments of Yang and Fu 2001.")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"one of {', '.join(CASES)}")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args(arguments)
    unknown = [c for c in options.cases if c not in CASES]
    if unknown:
        print(f"error: no case is called {unknown[0]!r}; there are {', '.join(CASES)}", file=sys.stderr)
        return 2
    table, failed = [], 0
    for case in options.cases or CASES:
        for name, value, expected in rows(case):
            ok = expected.low <= value <= expected.high
            failed += not ok
            table.append({"case": name, "ours": value, "low": expected.low, "high": expected.high, "source": expected.source, "ok": ok})
            if not options.json:
                printed = f", printed {expected.printed}" if expected.printed else ""
                text = f"{name:<44} {value:9.2f}   {expected.low:.2f} to {expected.high:.2f} ({expected.source}{printed})"
                print(text + ("" if ok else "  OUTSIDE"), flush=True)
    if options.json:
        print(json.dumps({"schema": "fairlane.validation.yang2001/1", "failed": failed, "rows": table}, indent=1))
    else:
        print(f"\n{len(table)} values, {failed} outside their bounds")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
