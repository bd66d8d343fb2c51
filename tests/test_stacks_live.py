"""quinn over real sockets through a live link, and the same quinn in simulated time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from validation.kernel import machine, quic
from validation.kernel.runs import LATE_US, MOST_LATE_US, LateError

from fairlane import _core

pytestmark = pytest.mark.skipif(
    "quinn" not in {name for name, _, built in _core.stacks() if built}, reason="quinn is not built: cargo build --features quinn"
)


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n == "cubic/10mbit-44ms-fifo50" else pytest.mark.long) for n in quic.CASES])
def test_within_the_bounds_of_the_kernel(name: str) -> None:
    real = quic.stored()[name]
    assert all(0 < f.late_p99_us <= LATE_US and f.late_max_us <= MOST_LATE_US for f in real)
    ours = [quic.of_simulation(name, n) for n in range(1, len(real) + 1)]
    assert quic.outside(real, ours) == [], (real, ours)


def test_another_control_is_outside_of_the_bounds() -> None:
    """NewReno instead of CUBIC: the bounds tell them apart."""
    real, other = quic.stored()["cubic/10mbit-44ms-fifo50"], quic.stored()["newreno/10mbit-44ms-fifo50"]
    assert {"rtt", "retransmits"} <= set(quic.outside(real, other))


@pytest.mark.long
def test_quinn_goes_through_our_queue() -> None:
    """A run in real time."""
    try:
        real = quic.of_sockets("cubic/10mbit-44ms-fifo50")
    except (machine.KernelMissing, LateError) as why:
        pytest.skip(f"the sockets' side cannot run: {why}")
    assert quic.outside([real], [quic.of_simulation("cubic/10mbit-44ms-fifo50")]) == []
