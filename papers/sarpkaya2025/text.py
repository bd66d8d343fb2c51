"""Findings on Sarpkaya, Fund and Panwar 2025, in sentences with the numbers of the runs at hand."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

Key = tuple[str, str, str]
Both = Mapping[Key, tuple[float, float]]
"""Published and our value of each cell: competitor, queue, buffer."""
NEAR = 0.05


def _pair(cells: Both, competitor: str, queue: str, buffer: str = "2") -> str:
    found = cells.get((competitor, queue, buffer))
    return f"{found[1]:.3f} (published {found[0]:.3f})" if found else "not run"


def _far(cells: Both) -> str:
    """The families, competitor and queue, of which a cell is not within `NEAR`."""
    far: dict[tuple[str, str], int] = {}
    for (competitor, queue, _), (x, y) in cells.items():
        if abs(x - y) > NEAR:
            far[competitor, queue] = far.get((competitor, queue), 0) + 1
    return ", ".join(f"{c} with {q} ({n})" for (c, q), n in sorted(far.items(), key=lambda f: -f[1]))


def findings(share: Both, srtt: Both) -> list[str]:
    """The summary at the top of the page."""
    near = sum(abs(x - y) <= NEAR for x, y in share.values())
    apart = median(abs(x - y) for x, y in share.values())
    trips = median(abs(y / x - 1) for x, y in srtt.values())
    out = [
        f"Of {len(share)} published shares of Prague in the goodput {near} ({100 * near / len(share):.0f} %) are within {NEAR} of ours, "
        f"and the median difference is {apart:.3f}; Prague's smoothed round trip differs by {100 * trips:.1f} % in the median.",
        "Marks that only one of two flows answers decide who gets a shared queue. In a FIFO that marks, Prague's share of the goodput is "
        f"{_pair(share, 'CUBIC', 'FIFO-ECN')} next to CUBIC without ECN, and {_pair(share, 'CUBIC-ECN', 'FIFO-ECN')} next to CUBIC with "
        "ECN.",
        f"DualPI2 is fair to CUBIC: Prague's share is {_pair(share, 'CUBIC', 'DualPI2')}. It is not fair next to a flow that ignores its "
        f"signals: with BBRv3 with ECN Prague's share is {_pair(share, 'BBRv3-ECN', 'DualPI2')}, because BBRv3 ignores marks at 10 ms and "
        "DualPI2 marks it instead of dropping.",
    ]
    if far := _far(share):
        out.append(f"Shares that differ by more than {NEAR}, with the number of buffers in brackets: {far}.")
    return out


def causes(share: Both) -> Mapping[str, str]:
    """Why claims come out as they do."""
    return {
        "P3": "BBRv3 of Linux answers marks only on a route with `ecn_low`, which the test bed does not set here.",
        "P9": f"The share is {_pair(share, 'CUBIC', 'FIFO')}. Bursts decide who loses at a full FIFO: Prague 0.6 sends pairs.",
        "P14": f"The share is {_pair(share, 'BBRv1', 'DualPI2')}. BBRv1 answers no loss, so PI2's probability grows, and the coupled marks "
        "slow Prague down.",
    }
