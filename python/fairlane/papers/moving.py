"""Runs of a published study that move in its page."""

from __future__ import annotations

import json
from collections.abc import Sequence

from .. import _core
from ..errors import suggest
from ..watch.inset import Inset, asked, inset
from .definition import Cell, Paper


def chosen(paper: Paper, cells: Sequence[Cell], replays: Sequence[str]) -> list[Cell]:
    """The first cell with each of these levels ("queue=red load=0.8"); raises what is wrong, before anything runs."""
    out = []
    for where in asked(replays):
        left = list(cells)
        for name, level in where.items():
            factors = [dict(c.factors) for c in cells]
            if not any(name in f for f in factors):
                raise suggest(name, list(dict.fromkeys(n for f in factors for n in f)), f"factor of {paper.called}")
            if not any(f.get(name) == level for f in factors):
                raise suggest(level, list(dict.fromkeys(f[name] for f in factors if name in f)), f"level of {name}")
            before, left = left, [c for c in left if dict(c.factors).get(name) == level]
            if not left:
                raise suggest(
                    level, list(dict.fromkeys(f[name] for c in before if name in (f := dict(c.factors)))), f"level of {name} there"
                )
        out.append(left[0])
    return out


def insets(paper: Paper, cells: Sequence[Cell], seed: int) -> list[Inset]:
    """Each with this seed."""
    return [inset(_scenario(paper, c, seed), seed, ", ".join(f"{k} {x}" for k, x in c.factors if x)) for c in cells]


def _scenario(paper: Paper, cell: Cell, seed: int) -> _core.Resolved:
    tree = {k: x for k, x in cell.tree(seed).items() if k not in ("name", "description", "seed")}
    return _core.resolve(json.dumps(tree), f"{paper.key}.json", "json", [])
