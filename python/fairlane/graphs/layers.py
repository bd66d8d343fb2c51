"""Layout in columns from the senders at the left to the receivers at the right (after Sugiyama, Tagawa and Toda 1981)."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence

Point = tuple[float, float]
_SWEEPS = 4
"""Passes that sort each column by the means of its neighbours."""


def layered(names: Sequence[str], links: Iterable[tuple[str, str]], flows: Iterable[tuple[str, str]]) -> dict[str, Point]:
    """Returns positions in units of a link, y upwards, with the data of the first flow from left to right.

    Empty if the links do not all join neighbouring columns, as in a ring or a mesh.

    >>> layered(["b", "r", "a"], [("b", "r"), ("r", "a")], [("a", "b")])
    {'b': (2.0, 0.0), 'r': (1.0, 0.0), 'a': (0.0, 0.0)}
    """
    near: dict[str, list[str]] = {n: [] for n in names}
    for a, b in links:
        if a != b and a in near and b in near and b not in near[a]:
            near[a].append(b)
            near[b].append(a)
    column = _columns(near, _directed(near, flows))
    if not column or any(abs(column[a] - column[b]) != 1 for a in near for b in near[a]):
        return {}
    rows: dict[int, list[str]] = defaultdict(list)
    for n in names:
        rows[column[n]].append(n)
    first = min(rows)
    height = _heights(rows, near)
    return {n: (float(column[n] - first), height[n]) for n in names}


def _directed(near: Mapping[str, Sequence[str]], flows: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Returns the links in the direction of the data of the first flow that crosses each."""
    after: dict[str, set[str]] = defaultdict(set)
    trees: dict[str, dict[str, str]] = {}
    for start, end in dict.fromkeys(flows):
        if start not in near or end not in near:
            continue
        if start not in trees:
            trees[start] = _tree(near, start)
        node, before = end, trees[start]
        while node != start and node in before:
            if before[node] not in after[node]:
                after[before[node]].add(node)
            node = before[node]
    return after


def _tree(near: Mapping[str, Sequence[str]], start: str) -> dict[str, str]:
    """Returns the node before each node on a shortest path from `start`."""
    before, wave = {start: start}, deque([start])
    while wave:
        node = wave.popleft()
        for n in near[node]:
            if n not in before:
                before[n] = node
                wave.append(n)
    return before


def _columns(near: Mapping[str, Sequence[str]], after: Mapping[str, set[str]]) -> dict[str, int]:
    """Returns the column of each node: the longest way from a sender; a sender stands next to its first hop. Empty with a cycle."""
    left = {n: 0 for n in near}
    for own in after.values():
        for n in own:
            left[n] += 1
    on_way = {n for n in near if left[n] or after.get(n)}
    column = {n: 0 for n in on_way if not left[n]}
    wave, done = deque(column), 0
    while wave:
        node = wave.popleft()
        done += 1
        for n in sorted(after.get(node, ())):
            column[n] = max(column.get(n, 0), column[node] + 1)
            left[n] -= 1
            if not left[n]:
                wave.append(n)
    if done < len(on_way):
        return {}
    entered = {n for own in after.values() for n in own}
    for n in on_way - entered:
        column[n] = min(column[x] for x in after[n]) - 1
    # Nodes without a flow stand next to a neighbour, outwards.
    middle = sum(column.values()) / len(column) if column else 0.0
    rest = deque(n for n in near if n in column)
    while rest:
        node = rest.popleft()
        for n in near[node]:
            if n not in column:
                column[n] = column[node] + (1 if column[node] > middle else -1)
                rest.append(n)
    return column if len(column) == len(near) else {}


def _heights(rows: Mapping[int, list[str]], near: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Returns the heights of the nodes: a lone router in the middle of its column, the others around it."""
    order = {n: float(-k) for own in rows.values() for k, n in enumerate(own)}
    for sweep in range(_SWEEPS):
        for c in sorted(rows, reverse=bool(sweep % 2)):
            other = c + (1 if sweep % 2 else -1)
            means = {n: [order[m] for m in near[n] if m in rows.get(other, ())] for n in rows[c]}
            own = sorted(rows[c], key=lambda n: -(sum(means[n]) / len(means[n]) if means[n] else order[n]))
            _spread(own, near, order)
            rows[c][:] = own
    return order


def _spread(own: Sequence[str], near: Mapping[str, Sequence[str]], order: dict[str, float]) -> None:
    hubs = [n for n in own if len(near[n]) > 1]
    if len(hubs) == 1 and len(own) > 1:
        rest = [n for n in own if n != hubs[0]]
        half = (len(rest) + 1) // 2
        order[hubs[0]] = 0.0
        order.update({n: float(half - k) for k, n in enumerate(rest[:half])})
        order.update({n: float(-1 - k) for k, n in enumerate(rest[half:])})
        return
    order.update({n: (len(own) - 1) / 2 - k for k, n in enumerate(own)})
