"""The command line of a comparison."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable

from . import table
from .judge import Row, Simulator


def options(side: Simulator, cases: str, arguments: list[str] | None) -> argparse.Namespace:
    """Parses the command line; `cases` describes the names of cases."""
    name = f"python -m validation.{side.key}"
    parser = argparse.ArgumentParser(prog=name, description=f"Compares fairlane with {side.name} on the same scenarios.")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=cases)
    parser.add_argument("--quick", action="store_true", help="a small set of cases")
    parser.add_argument("--all", action="store_true", help="every case of the chosen families")
    parser.add_argument("--stored", action="store_true", help=f"compare with the stored results instead of running {side.name}")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--markdown", action="store_true", help="print Markdown, one line a case")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="runs at the same time (default 1)")
    return parser.parse_args(arguments)


def compare(
    side: Simulator,
    chosen: argparse.Namespace,
    compared: Callable[[], Iterable[list[Row]]],
    markdown: Callable[[Iterable[Row]], str],
    missing: type[Exception],
    wrong: tuple[type[Exception], ...],
) -> int:
    """Prints the rows as they come. `compared` finds the other side or raises `missing`; `wrong` ends with a message.

    Exit code: 0 all within bounds or skipped, 1 some differ, 2 wrong use or a side could not run.
    """
    text = not (chosen.json or chosen.markdown)
    rows: list[Row] = []
    try:
        for case_rows in compared():
            if text:
                if not rows:
                    print(table.head(side), flush=True)
                for row in case_rows:
                    print(table.line(row), flush=True)
            rows += case_rows
    except missing as error:
        print(f"SKIPPED: {error}; --stored compares with stored results")
        return 0
    except wrong as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    failed = sum(row.failed for row in rows)
    if chosen.json:
        print(json.dumps({"schema": f"fairlane.validation.{side.key}/1", "failed": failed, "rows": [r.as_dict() for r in rows]}, indent=1))
    else:
        print((markdown(rows) if chosen.markdown else "") + "\n" + table.summary(side, rows))
    return 1 if failed else 0
