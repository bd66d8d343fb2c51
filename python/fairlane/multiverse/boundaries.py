"""Where a claim changes, and the parameters it depends on.

A boundary is the split of one parameter that separates settings in which a claim holds best from those in which it does not: the root of a
regression tree (Breiman et al., Classification and Regression Trees, 1984), and on either side of it the next. A best split is found in
pure chance, too, so each is compared with the best ones of outcomes dealt again: a permutation test over all parameters and all splits
together, whose level is shared by all that is looked at in a layer of the tree. So of claims that depend on nothing at most one in a
hundred has a boundary, however many things are open. Outcomes are dealt until the answer is sure (Besag and Clifford, Biometrika 78, 1991):
most chance finds are recognised after a few.

The parameters that matter at all are found by the first-order index of given data (Gamboa, Gremaud, Klein and Lagnoux, Bernoulli 28, 2022),
which needs no further runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..base.literals import SI, written
from .model import Levels, Open, Value, text_of
from .verdicts import Boundary

_DEALT = 99
"""Times that values are dealt again for the parameter with the largest effect."""
_UNUSUAL = 0.05
"""Share of them in which chance alone may have as large an effect."""
PERMUTATIONS = 399
"""Times the outcomes are dealt again, at most."""
RARE = 0.01
"""Share of claims that depend on nothing in which a boundary may be found; and of trees with a chance find in one of the layers below."""
_AT_ONCE = (19, 80, 300)
"""How many of these are dealt at once, until it is known whether a split is rare."""
DEPTH = 3
"""Boundaries one after the other."""
_LEAST = 6
"""Settings on each side of a split, at least."""
_PLACES = 7
"""Places of a split that are tried where only two together separate."""
_PARTITIONS = 6
"""Levels up to which all their partitions are tried; beyond, each level against the rest."""
_Matrix = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class _Split:
    """A parameter cut in two: above a number, or with some of its levels."""

    open: Open
    at: float = 0.0
    levels: tuple[int, ...] = ()

    def inside(self, x: _Matrix) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which of the numbers lie above, or are of these levels."""
        return np.isin(x, self.levels) if self.levels else x > self.at

    def _value(self, above: bool) -> str:
        """The value above or below which a side lies; between whole numbers the one that the side begins after."""
        unit, whole = getattr(self.open.over, "unit", ""), getattr(self.open.over, "whole", False)
        at = self.at / SI[unit]
        return text_of(written(float(math.floor(at) + (not above)) if whole else at, unit, whole))

    def words(self, inside: bool) -> str:
        """One of the two sides."""
        if isinstance(self.open.over, Levels):
            chosen = [text_of(v) for i, v in enumerate(self.open.over.values) if (i in self.levels) == inside]
            return f"{self.open.name} {' or '.join(chosen)}"
        return f"{self.open.name} {'above' if inside else 'below'} {self._value(inside)}"

    def boundary(self, share_in: float, share_out: float, where: str, n: int) -> Boundary:
        """The split as a boundary, seen from the side on which the claim holds more often."""
        there, other = max(share_in, share_out), min(share_in, share_out)
        inside = share_in >= share_out
        if isinstance(self.open.over, Levels):
            levels = tuple(text_of(v) for i, v in enumerate(self.open.over.values) if (i in self.levels) == inside)
            return Boundary(self.open.name, levels, "with", there, other, where, n)
        return Boundary(self.open.name, self._value(inside), "above" if inside else "below", there, other, where, n)


def _numbers(o: Open, settings: Sequence[Mapping[str, Value]]) -> list[float]:
    """The values of a parameter as numbers, each different one converted once."""
    values = [s[o.name] for s in settings]
    known = {(type(v), v): 0.0 for v in values}
    for kind, v in known:
        known[kind, v] = o.number(v)
    return [known[type(v), v] for v in values]


def _splits(o: Open, x: _Matrix, places: int | None = None) -> list[_Split]:
    """Returns the ways of cutting a parameter in two that the settings distinguish."""
    there = np.unique(x)
    if len(there) < 2:
        return []
    if isinstance(o.over, Levels):
        levels = [int(v) for v in there]
        if len(levels) > _PARTITIONS:
            return [_Split(o, levels=(v,)) for v in levels]
        sides = [c for k in range(1, len(levels) // 2 + 1) for c in combinations(levels, k)]
        return [_Split(o, levels=c) for c in sides if 2 * len(c) < len(levels) or levels[0] in c]
    if places is not None and len(there) > places:
        there = np.unique(np.quantile(x, np.linspace(0, 1, places + 2)[1:-1], method="nearest"))
        return [_Split(o, float(v)) for v in there]
    logarithmic = getattr(o.over, "scale", "") == "log"
    cuts = np.sqrt(there[1:] * there[:-1]) if logarithmic else (there[1:] + there[:-1]) / 2
    return [_Split(o, float(v)) for v in cuts]


def _gains(masks: _Matrix, ys: _Matrix) -> _Matrix:
    """For each split (row) and each dealing of outcomes (column): the sum of squares that lies between the two sides."""
    n = ys.shape[0]
    inside = masks.sum(axis=1, keepdims=True)
    sums, total = masks @ ys, ys.sum(axis=0, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        gains: _Matrix = sums**2 / inside + (total - sums) ** 2 / (n - inside) - total**2 / n
    gains[(inside[:, 0] < _LEAST) | (n - inside[:, 0] < _LEAST)] = 0.0
    return gains


@dataclass(frozen=True)
class Boundaries:
    """The boundaries that separate the settings in which a claim holds."""

    boundaries: tuple[Boundary, ...]
    explained: float
    """Share of the variation of the outcomes between settings that lies between the parts, not within them."""


def changes_at(
    opens: Sequence[Open], settings: Sequence[Mapping[str, Value]], outcomes: Sequence[float | bool | None], seed: int = 1
) -> Boundaries:
    """Finds where a claim changes, from its outcome in each setting: the boundaries by separation; none if chance separates as well."""
    heard = [i for i, y in enumerate(outcomes) if y is not None]
    y = np.array([float(outcomes[i] or 0.0) for i in heard])
    total = float(((y - y.mean()) ** 2).sum()) if len(y) else 0.0
    if len(y) < 2 * _LEAST or total < 1e-12:
        return Boundaries((), 0.0)
    x = np.array([_numbers(o, [settings[i] for i in heard]) for o in opens]).reshape(len(opens), len(heard)).T
    rng = np.random.default_rng(seed)
    found: list[tuple[float, Boundary]] = []
    within = _grown(opens, x, y, {}, DEPTH, rng, found)
    found.sort(key=lambda g: -g[0])
    return Boundaries(tuple(t for _, t in found), max(0.0, 1.0 - within / total))


def _grown(
    opens: Sequence[Open],
    x: _Matrix,
    y: _Matrix,
    where: Mapping[str, str],
    depth: int,
    rng: np.random.Generator,
    found: list[tuple[float, Boundary]],
) -> float:
    """Splits these settings as far as it is worth; the sum of squares that is left within the parts.

    `where` has the sides of the splits above, by parameter and direction: a closer split of the same parameter replaces the wider one.
    """
    own = float(((y - y.mean()) ** 2).sum())
    if depth == 0 or len(y) < 2 * _LEAST or own < 1e-12:
        return own
    split = _boundary(opens, x, y, depth, rng)
    if split is None:
        return own
    inside = split.inside(x[:, opens.index(split.open)])
    place = len(found)
    levels = isinstance(split.open.over, Levels)
    there, other = float(y[inside].mean()), float(y[~inside].mean())
    same = split.open.name if levels else f"{split.open.name} {there >= other}"
    others = [words for name, words in where.items() if name != same]
    found.append((0.0, split.boundary(there, other, " and ".join(others), len(y))))
    left = 0.0
    for side in (True, False):
        part = inside == side
        name = split.open.name if levels else f"{split.open.name} {side}"
        left += _grown(opens, x[part], y[part], {**where, name: split.words(side)}, depth - 1, rng, found)
    found[place] = (own - left, found[place][1])
    return left


def _boundary(opens: Sequence[Open], x: _Matrix, y: _Matrix, depth: int, rng: np.random.Generator) -> _Split | None:
    """The split of these settings that is worth telling: the best one, or where none separates alone the first of the best two.

    All parts of a layer share its level: there are two below the root and four below these, with two tests each.
    """
    level = RARE / 2 ** (DEPTH - depth)
    tests = [_best(opens, x)]
    if depth > 1:
        tests.append(_best_of_two(opens, x))
    return next((found for test in tests if (found := _rare(test, y, level / len(tests), rng)) is not None), None)


_Test = Callable[[_Matrix], tuple[_Split | None, _Matrix]]
"""Finds the best split for the first column of outcomes, and how well the best split of each column separates it."""


def _best(opens: Sequence[Open], x: _Matrix) -> _Test:
    """The split that separates best."""
    splits = [s for k, o in enumerate(opens) for s in _splits(o, x[:, k])]
    masks = np.array([s.inside(x[:, opens.index(s.open)]) for s in splits], dtype=float)

    def test(ys: _Matrix) -> tuple[_Split | None, _Matrix]:
        if not splits:
            return None, np.zeros(ys.shape[1])
        gains = _gains(masks, ys)
        return splits[int(gains[:, 0].argmax())], gains.max(axis=0)

    return test


def _best_of_two(opens: Sequence[Open], x: _Matrix) -> _Test:
    """The first of two splits that separate together."""
    splits = [s for k, o in enumerate(opens) for s in _splits(o, x[:, k], _PLACES)]
    masks = np.array([s.inside(x[:, opens.index(s.open)]) for s in splits], dtype=float)

    def test(ys: _Matrix) -> tuple[_Split | None, _Matrix]:
        best, chosen = np.zeros(ys.shape[1]), None
        for s, mask in zip(splits, masks, strict=True):
            if min(mask.sum(), len(mask) - mask.sum()) < 2 * _LEAST:
                continue
            gain = _gains(mask[None, :], ys)[0]
            for side in (mask > 0.5, mask < 0.5):
                gain = gain + _gains(masks[:, side], ys[side]).max(axis=0)
            if gain[0] > best[0]:
                chosen = s
            best = np.maximum(best, gain)
        return chosen, best

    return test


def _rare(test: _Test, y: _Matrix, level: float, rng: np.random.Generator) -> _Split | None:
    """The split of the outcomes as they are, if chance would hardly separate as well: in at most this share of all dealings of them."""
    allowed = level * (PERMUTATIONS + 1)
    as_good, split = 1, None
    for n in _AT_ONCE:
        ys = np.column_stack([y, *(rng.permutation(y) for _ in range(n))])
        split, gains = test(ys)
        as_good += int((gains[1:] >= gains[0] - 1e-9).sum())
        if split is None or gains[0] <= 1e-9 or as_good > allowed:
            return None
    return split


def decisive(opens: Sequence[Open], settings: Sequence[Mapping[str, Value]], values: Sequence[float | None]) -> str:
    """Returns the name of the parameter with the largest index of `matters`; empty if chance gives one as large in more than 5 % of cases.

    The values are dealt again among the settings, and the largest index of all parameters is taken each time.
    """
    at, y = _known(values)
    if not opens or y is None:
        return ""
    rng = np.random.default_rng(1)
    index = _indices(opens, [settings[i] for i in at], np.column_stack([y, *(rng.permutation(y) for _ in range(_DEALT))]))
    first = int(index[:, 0].argmax())
    as_good = 1 + int((index[:, 1:].max(axis=0) >= index[first, 0]).sum())
    return opens[first].name if as_good <= _UNUSUAL * (_DEALT + 1) else ""


def matters(opens: Sequence[Open], settings: Sequence[Mapping[str, Value]], values: Sequence[float | None]) -> dict[str, float]:
    """How much of the variance of a number between settings each parameter accounts for alone: its first-order index, from 0 to 1.

    `values`: a margin, a distance, an outcome in each setting; None does not count. For a span it is the rank-based estimator, for levels
    the share of the variance that lies between them. From few settings it is rough: about one over the root of their number.
    """
    at, y = _known(values)
    if y is None:
        return {o.name: 0.0 for o in opens}
    index = _indices(opens, [settings[i] for i in at], y[:, None])
    return {o.name: float(x) for o, x in zip(opens, index[:, 0], strict=True)}


def _known(values: Sequence[float | None]) -> tuple[list[int], _Matrix | None]:
    """Returns where values are known, and these; None if there are fewer than three, or all are the same."""
    at = [i for i, v in enumerate(values) if v is not None and np.isfinite(v)]
    y = np.array([float(values[i] or 0.0) for i in at])
    return at, y if len(y) >= 3 and y.var() >= 1e-300 else None


def _indices(opens: Sequence[Open], settings: Sequence[Mapping[str, Value]], ys: _Matrix) -> _Matrix:
    """The first-order index of each parameter (a row each) for each column of values."""
    mean, var = ys.mean(axis=0), ys.var(axis=0)
    out = []
    for o in opens:
        x = np.array(_numbers(o, settings))
        if isinstance(o.over, Levels):
            groups = [x == v for v in np.unique(x)]
            between = sum(g.sum() * (ys[g].mean(axis=0) - mean) ** 2 for g in groups) / len(ys)
            index = (between - var * (len(groups) - 1) / len(ys)) / var  # what chance alone puts between groups is taken off
        else:
            following = ys[np.argsort(x, kind="stable")]
            index = ((following * np.roll(following, -1, axis=0)).mean(axis=0) - mean**2) / var
        out.append(np.clip(index, 0.0, 1.0))
    return np.array(out).reshape(len(opens), ys.shape[1])
