"""TCP over the air beside ns-3.37, in whole scenarios (`python -m validation.ns3.air`, docs/validation/wireless.md)."""

from __future__ import annotations

from validation.ns3 import field
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


FIELD = {1: (952, {1: (5, 0), 3: (2, 0), 4: (1, 0), 5: (2, 2), 6: (2, 1)}), 2: (1296, {1: (2, 1), 2: (4, 0), 3: (3, 2), 4: (3, 0)}),
         3: (1603, {1: (2, 1), 2: (2, 1), 3: (3, 1), 4: (2, 2), 5: (3, 3)})}  # fmt: skip
"""ns-3's field of 16 nodes by seed: kbit/s of all flows; by hops how many flows there are, and how many of them deliver nothing."""


def test_flows_that_deliver_nothing_do_so_in_ns3():
    """At 75 % load a third of the flows of 16 nodes is silent for 12 s in both; of each length at most one in one of them alone."""
    ours = {seed: field.ours(field.scenario(16), seed) for seed in FIELD}
    for seed, (goodput, lengths) in FIELD.items():
        assert abs(sum(ours[seed].goodput) / goodput - 1) < 0.1, seed
        got = ours[seed].by_hops()
        assert got.keys() == lengths.keys()
        for hops, (many, silent) in lengths.items():
            assert got[hops][0] == many and abs(got[hops][1] - silent) <= 1, (seed, hops)
    theirs = sum(s for _, by in FIELD.values() for _, s in by.values())
    assert abs(sum(s for f in ours.values() for _, s in f.by_hops().values()) - theirs) <= 2
