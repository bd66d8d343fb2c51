"""TCP over the air beside ns-3.37, in whole scenarios (`python -m validation.ns3.air`, docs/validation/wireless.md)."""

from __future__ import annotations

from validation.ns3.air import rows


def test_tcp_over_the_air_is_that_of_ns3():
    """Chains within 6 %, access points within 2 %, grids within 15 %; the cells of a kind in the same order."""
    bounds = {"TCP": 0.06, "access": 0.02, "grid": 0.15}
    found = list(rows())
    for r in found:
        within = bounds[r.cell.name.split()[0]]
        assert abs(r.goodput / r.cell.goodput - 1) < within, (r.cell.name, r.goodput)
        assert abs(r.jain - r.cell.jain) < 0.1, (r.cell.name, r.jain)
        if r.waiting is not None and r.cell.waiting is not None:
            assert abs(r.waiting / r.cell.waiting - 1) < 0.05, (r.cell.name, r.waiting)
    for kind in bounds:
        of = [r for r in found if r.cell.name.startswith(kind)]
        assert sorted(of, key=lambda r: r.goodput) == sorted(of, key=lambda r: r.cell.goodput), kind
