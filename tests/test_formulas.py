"""TCP's throughput against the formulas of theory; `python -m validation.formulas` runs all cases."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from validation.formulas import cases, formulas, measure

QUICK = [c for c in cases.LOSS if c.p >= 1e-3 and c.cc != "cubic"]


def test_the_formulas_agree_where_timeouts_are_rare() -> None:
    """Padhye and others 1998 section II: without timeouts equation 30 is the square-root law; at 5 % it is less than half of it."""
    assert formulas.pftk(1e-6, 0.1, 2, 1.0) == pytest.approx(formulas.square_root(1e-6, 0.1, 2), rel=0.01)
    assert formulas.pftk(0.05, 0.1, 2, 1.0) < formulas.square_root(0.05, 0.1, 2) / 2
    # RFC 9438 section 5.1, table 3: RTT 0.1 s, p = 1e-4: an average window of 187 segments.
    assert formulas.cubic(1e-4, 0.1) * 0.1 == pytest.approx(187, rel=0.01)


@pytest.mark.parametrize("case", QUICK, ids=lambda c: c.title)
def test_goodput_under_random_loss(case: cases.LossCase) -> None:
    got, rtt = measure.segments_per_second(case, seconds=1000, seeds="1..2")
    assert got == pytest.approx(case.expected(case.p, rtt, case.b), rel=case.bound + 0.03)


@pytest.mark.parametrize("case", [c for c in cases.RTTS if c.short_ms == 20], ids=lambda c: c.title)
def test_who_gets_more_with_the_shorter_round_trip(case: cases.RttCase) -> None:
    assert case.low <= measure.exponent(case, seconds=100, seeds="1..2") <= case.high
