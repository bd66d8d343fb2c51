"""Graph layout: positions with distances proportional to the number of hops."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


def distances(nodes: Sequence[str], links: Iterable[tuple[str, str]]) -> list[list[int]]:
    """Returns the hops between all nodes over undirected links; between unconnected parts, one more than the maximum.

    >>> distances(["a", "b", "c"], [("a", "b")])
    [[0, 1, 2], [1, 0, 2], [2, 2, 0]]
    """
    near: dict[str, set[str]] = {n: set() for n in nodes}
    for a, b in links:
        if a in near and b in near and a != b:
            near[a].add(b)
            near[b].add(a)
    found = []
    for start in nodes:
        hops, wave = {start: 0}, [start]
        while wave:
            wave = [n for m in wave for n in sorted(near[m]) if n not in hops and not hops.update({n: hops[m] + 1})]
        found.append([hops.get(n, -1) for n in nodes])
    apart = max((h for row in found for h in row), default=0) + 1
    return [[h if h >= 0 else apart for h in row] for row in found]


def stress_layout(nodes: Sequence[str], links: Iterable[tuple[str, str]], sources: Iterable[str] = ()) -> dict[str, tuple[float, float]]:
    """Returns positions in units of a link, wider than high, with the sources at the left.

    Stress majorization (Gansner, Koren and North 2005): each node moves to the weighted mean of the positions at distance d from the nodes
    at d hops, with the weight 1/d², until no node moves. It starts on a circle in the order of the nodes, so a graph
    always has the same layout.
    """
    hops = distances(nodes, links)
    n = len(nodes)
    at = [(math.cos(2 * math.pi * i / n), 0.9 * math.sin(2 * math.pi * i / n + 0.1)) for i in range(n)]
    # Fewer iterations for large graphs, which converge early, so that they take seconds.
    for _ in range(max(20, min(300, 3_000_000 // max(1, n * n)))):
        moved = 0.0
        for i in range(n):
            x = y = total = 0.0
            for j in range(n):
                if i != j:
                    dx, dy = at[i][0] - at[j][0], at[i][1] - at[j][1]
                    far, weight = math.hypot(dx, dy) or 1e-9, 1.0 / hops[i][j] ** 2
                    x += weight * (at[j][0] + hops[i][j] * dx / far)
                    y += weight * (at[j][1] + hops[i][j] * dy / far)
                    total += weight
            if total:
                moved = max(moved, math.hypot(x / total - at[i][0], y / total - at[i][1]))
                at[i] = (x / total, y / total)
        if moved < 1e-4:
            break
    return dict(zip(nodes, _turned(at, [i for i, name in enumerate(nodes) if name in set(sources)]), strict=True))


def _turned(at: list[tuple[float, float]], sources: Sequence[int]) -> list[tuple[float, float]]:
    """Rotates the longest axis to horizontal, and mirrors so that the sources are left and the first node is at the top."""
    n = len(at)
    mx, my = sum(x for x, _ in at) / n, sum(y for _, y in at) / n
    own = [(x - mx, y - my) for x, y in at]
    xx, yy, xy = sum(x * x for x, _ in own), sum(y * y for _, y in own), sum(x * y for x, y in own)
    angle = 0.5 * math.atan2(2 * xy, xx - yy)
    c, s = math.cos(angle), math.sin(angle)
    own = [(c * x + s * y, c * y - s * x) for x, y in own]
    if sum(own[i][0] for i in sources) > 0:
        own = [(-x, y) for x, y in own]
    if own[0][1] < 0:
        own = [(x, -y) for x, y in own]
    return own
