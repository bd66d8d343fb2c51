"""`python -m validation.ns2`: runs the cases on both sides and prints the table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial

try:
    from validation.sides import command
    from validation.sides.judge import Row

    from . import compare, ours, peer, reference, report
    from .cases import select
    from .measures import NS2
    from .network import Unsupported
except ImportError as error:  # the project's own package is what may be missing
    sys.exit(f"fairlane is not installed here ({error}); run `make build` and use .venv/bin/python")

CASES = "a family (C1, C2, C3, C5, C8, Q1 to Q5, T1 to T3) or the start of a case such as C1/Reno"


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 all within bounds or skipped, 1 some differ, 2 wrong use or a side could not run."""
    options = command.options(NS2, CASES, arguments)

    def compared() -> Iterator[list[Row]]:
        cases = select(options.cases, quick=options.quick, everything=options.all)
        if not options.stored:
            peer.executable()
        for case in cases:
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
                raise ValueError(f"{case.family}/{case.name}: {error}") from error

    wrong = (ValueError, ours.OursMissing, peer.PeerFailed)
    return command.compare(NS2, options, compared, report.markdown, peer.PeerMissing, wrong)


if __name__ == "__main__":
    sys.exit(main())
