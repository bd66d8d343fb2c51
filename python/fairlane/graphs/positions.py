"""Positions of nodes in a drawing, in pixels: from the scenario, else in columns from senders to receivers, else by hops."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median

from ..look.layout import stress_layout
from .layers import layered
from .network import Graph

_GOLDEN = math.pi * (3 - math.sqrt(5))
_APART = 46.0
"""Distance between adjacent nodes in pixels."""
_LENGTH = 120.0
"""Median length of links in pixels."""
_LARGEST = 3200.0
"""Longer side in pixels, unless adjacent nodes would touch."""
_LEAST = 24.0
"""Distance between adjacent nodes in large drawings in pixels."""
_BY_DISTANCE = 400
"""Most nodes that are laid out by distances; above that, by breadth-first order on a spiral."""

Point = tuple[float, float]


def node_positions(graph: Graph) -> dict[str, Point]:
    """Returns a position for each node, y downwards, with the smallest coordinates zero."""
    names = [n.name for n in graph.nodes]
    links = [(x.start, x.end) for x in graph.links]
    known = any(n in graph.places for n in names)
    if not known:
        sources = {n.name for n in graph.nodes if n.sends}
        if len(names) > _BY_DISTANCE:
            at = _spiral(names, links)
        else:
            at = layered(names, links, graph.flows) or stress_layout(names, links, sources)
    else:
        at = _place_rest({n: graph.places[n] for n in names if n in graph.places}, names, links)
    return _scaled(_separate(at), links, stretched=known)


def to_drawing(graph: Graph, at: Mapping[str, Point], points: Sequence[Point]) -> list[Point]:
    """Converts points in the units of the scenario's positions to a drawing with the nodes `at`."""
    known = [(graph.places[n], at[n]) for n in at if n in graph.places]
    factor: list[float | None] = []
    for k in (0, 1):
        first, last = min(known, key=lambda p: p[0][k]), max(known, key=lambda p: p[0][k])
        apart = last[0][k] - first[0][k]
        factor.append((last[1][k] - first[1][k]) / apart if apart > 0 else None)
    across, down = factor
    across, down = across or -(down or -1.0), down or -(across or 1.0)
    (x0, y0), (left, top) = known[0]
    return [(left + across * (x - x0), top + down * (y - y0)) for x, y in points]


def _spiral(names: Sequence[str], links: Sequence[tuple[str, str]]) -> dict[str, Point]:
    """Returns the nodes in breadth-first order from the one with most links, on a sunflower spiral."""
    near = _neighbours(links)
    first = max(names, key=lambda n: len(near.get(n, ())))
    order = dict.fromkeys([first])
    for start in (first, *names):
        wave = [start]
        order.setdefault(start)
        while wave:
            wave = [m for n in wave for m in near.get(n, ()) if m not in order and order.setdefault(m) is None]
    return {n: (math.sqrt(i) * math.cos(_GOLDEN * i), math.sqrt(i) * math.sin(_GOLDEN * i)) for i, n in enumerate(order)}


def _neighbours(links: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    near: dict[str, list[str]] = {}
    for a, b in links:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    return near


def _place_rest(known: dict[str, Point], names: Sequence[str], links: Sequence[tuple[str, str]]) -> dict[str, Point]:
    """Returns all nodes; those without a position are placed next to their neighbours, away from the centre."""
    at, near = dict(known), _neighbours(links)
    step = median([math.dist(known[a], known[b]) for a, b in links if a in known and b in known] or [1.0]) or 1.0
    middle = _mean(list(known.values()))
    left = [n for n in names if n not in at]
    for turn in range(len(left) + 1):
        for number, name in enumerate(list(left)):
            placed_neighbours = [at[n] for n in near.get(name, ()) if n in at]
            if placed_neighbours or turn == len(left):
                x, y = _mean(placed_neighbours or [middle])
                away = math.atan2(y - middle[1], x - middle[0]) + (number % 7 - 3) * 0.35
                at[name] = (x + step * math.cos(away), y + step * math.sin(away))
                left.remove(name)
        if not left:
            break
    return {n: at[n] for n in names}


def _mean(points: Sequence[Point]) -> Point:
    return sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)


def _separate(at: Mapping[str, Point]) -> dict[str, Point]:
    """Separates nodes at equal positions on a small spiral."""
    taken: dict[Point, int] = {}
    near = _nearest(list(dict.fromkeys(at.values())))
    step = 0.4 * min([d for d in near if d > 0] or [1.0])
    out = {}
    for name, (x, y) in at.items():
        k = taken[x, y] = taken.get((x, y), -1) + 1
        out[name] = (x + step * math.sqrt(k) * math.cos(_GOLDEN * k), y + step * math.sqrt(k) * math.sin(_GOLDEN * k)) if k else (x, y)
    return out


def _nearest(points: Sequence[Point]) -> list[float]:
    """Returns the distance from each point to its nearest neighbour, in increasing order of x."""
    order = sorted(points)
    out = []
    for i, p in enumerate(order):
        best = math.inf
        for way in (range(i + 1, len(order)), range(i - 1, -1, -1)):
            for j in way:
                if abs(order[j][0] - p[0]) >= best:
                    break
                best = min(best, math.dist(p, order[j]))
        out.append(best)
    return [d for d in out if d < math.inf]


def _scaled(at: Mapping[str, Point], links: Sequence[tuple[str, str]], *, stretched: bool) -> dict[str, Point]:
    points = list(at.values())
    near = sorted(_nearest(points)) or [1.0]
    lengths = [math.dist(at[a], at[b]) for a, b in links if a != b]
    low = near[len(near) // 10] or 1.0
    left, top = min(x for x, _ in points), max(y for _, y in points)
    wide, high = max(x for x, _ in points) - left, top - min(y for _, y in points)
    factor = max(_APART / low, _LENGTH / (median(lengths) if lengths else 1.0))
    factor = max(min(factor, _LARGEST / (max(wide, high) or 1.0)), _LEAST / low)
    across, down = factor, factor
    # Long and thin layouts, such as layers of hosts, are stretched across; maps and layouts by hops keep their shape.
    if not stretched:
        pass
    elif wide > 3 * high and high * factor > _LEAST:
        down = min(factor * wide / (3 * high), max(factor, 420.0 / high))
    elif high > 3 * wide and wide * factor > _LEAST:
        across = min(factor * high / (3 * wide), max(factor, 640.0 / wide))
    return _apart({n: ((x - left) * across, (top - y) * down) for n, (x, y) in at.items()})


def _apart(at: dict[str, Point]) -> dict[str, Point]:
    """Moves overlapping nodes apart."""
    for _ in range(60):
        cells: dict[tuple[int, int], list[str]] = {}
        for name, (x, y) in at.items():
            cells.setdefault((int(x // _LEAST), int(y // _LEAST)), []).append(name)
        still = True
        for (cx, cy), here in cells.items():
            around = [n for dx in (-1, 0, 1) for dy in (-1, 0, 1) for n in cells.get((cx + dx, cy + dy), ())]
            for a, b in ((a, b) for a in here for b in around if a < b):
                (x, y), (u, v) = at[a], at[b]
                far = math.hypot(u - x, v - y)
                if 0 < far < 0.999 * _LEAST:
                    k = 0.5 * (_LEAST - far) / far
                    at[a], at[b] = (x - k * (u - x), y - k * (v - y)), (u + k * (u - x), v + k * (v - y))
                    still = False
        if still:
            break
    left, top = min(x for x, _ in at.values()), min(y for _, y in at.values())
    return {n: (x - left, y - top) for n, (x, y) in at.items()}
