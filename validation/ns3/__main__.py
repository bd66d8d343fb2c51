"""`python -m validation.ns3`: runs the cases on both sides and prints the table."""

from __future__ import annotations

import sys
from collections.abc import Iterator

try:
    from validation.sides import command
    from validation.sides.judge import Row

    from . import compare, ours, peer, reference, report
    from .cases import select
    from .measures import NS3
except ImportError as error:  # the project's own package is what may be missing
    sys.exit(f"fairlane is not installed here ({error}); run `make build` and use .venv/bin/python")


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 all within bounds or skipped, 1 some differ, 2 wrong use or a side could not run."""
    options = command.options(NS3, "a family such as N2j, or the start of a case such as N2j/red", arguments)

    def compared() -> Iterator[list[Row]]:
        cases = select(options.cases, quick=options.quick, everything=options.all)
        if not options.stored:
            peer.executable()
        for case in cases:
            stored = reference.stored(case) if options.stored else None
            if options.stored and stored is None:
                continue
            mine = ours.runs(case, options.threads)
            yield compare.rows(case, stored or peer.runs(case, options.threads), mine)

    wrong = (ValueError, ours.OursMissing, peer.PeerFailed)
    return command.compare(NS3, options, compared, report.markdown, peer.PeerMissing, wrong)


if __name__ == "__main__":
    sys.exit(main())
