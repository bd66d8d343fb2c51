"""The links of random networks against the laws that they are drawn by."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

from matplotlib.figure import Figure

import fairlane as fl


def drawn(builder: str, **settings: Any) -> tuple[list[tuple[float, float]], list[tuple[int, int]]]:
    """Places of the nodes, and the links between them by number."""
    found = fl.Network(duration="1s").topology(builder, **settings).flow("f", "n0", "n1", tcp={}).resolve()["expanded"]
    links = [x for x in found["links"] if not x["name"].endswith(".reverse")]
    places = [(found["positions"][n]["x"], found["positions"][n]["y"]) for n in found["nodes"]]
    return places, [(int(x["from"][1:]), int(x["to"][1:])) for x in links]


def figure() -> Figure:
    """Waxman's probability over the distance, and the degrees of Barabasi and Albert's network."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    left, right = drawing.subplots(1, 2)
    n, classes = 60, 20
    for colour, (alpha, beta) in zip(("C0", "C1"), ((0.3, 0.9), (0.1, 0.6)), strict=True):
        pairs, joined = Counter[int](), Counter[int]()
        for seed in range(1, 61):
            places, links = drawn("waxman", nodes=n, alpha=alpha, beta=beta, seed=seed)
            longest = max(math.dist(a, b) for a, b in itertools.combinations(places, 2))
            pairs.update(min(classes - 1, int(classes * math.dist(a, b) / longest)) for a, b in itertools.combinations(places, 2))
            joined.update(min(classes - 1, int(classes * math.dist(places[a], places[b]) / longest)) for a, b in links)
        xs = [(k + 0.5) / classes for k in range(classes)]
        left.plot(xs, [beta * math.exp(-x / alpha) for x in xs], color=colour, label=f"alpha {alpha}, beta {beta}")
        left.plot(xs, [joined[k] / pairs[k] for k in range(classes)], "o", ms=4, mfc="none", color=colour)
    left.set(xlabel="distance / largest distance", ylabel="share of pairs with a link")
    left.legend(fontsize="small", title="lines: Waxman 1988; marks: drawn", title_fontsize="small")
    size, m = 20_000, 3
    degrees = Counter(Counter(itertools.chain.from_iterable(drawn("barabasi_albert", nodes=size, links=m)[1])).values())
    most = max(degrees)
    # The share with at least that many links: no classes, no noise of single counts.
    ks = [k for k in range(m, most + 1) if degrees[k]]
    right.plot(ks, [m * (m + 1) / (k * (k + 1)) for k in ks], label="m (m + 1) / (k (k + 1))")
    right.plot(ks, [sum(degrees[j] for j in range(k, most + 1)) / size for k in ks], "o", ms=3, mfc="none", label="drawn")
    right.set(xlabel="k, links of a node", ylabel="share of nodes with k links or more", xscale="log", yscale="log")
    right.legend(fontsize="small")
    return drawing
