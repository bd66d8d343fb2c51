"""Which settings are run: a designed sample over all parameters together, and settings near the best of them.

The sample is a scrambled Sobol sequence (Owen, Scrambling Sobol' and Niederreiter-Xing points, Journal of Complexity 14, 1998): it fills
the space evenly in all directions at once, and any beginning of it is a sample as well, so that more settings can be asked for later.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

import numpy as np

from .model import Open, Setting, Value, base_of, check_opens, text_of

_FINITE = 4096
"""Up to so many settings a space is run through whole rather than drawn from for ever."""


def key_of(setting: Mapping[str, Value]) -> tuple[str, ...]:
    """Equal for settings with the same values."""
    return tuple(text_of(v) for v in setting.values())


def size(opens: Sequence[Open]) -> int | None:
    """How many different settings there are; None if values are dense."""
    counts = [o.over.count for o in opens]
    return None if any(c is None for c in counts) else prod(c for c in counts if c is not None)


def design(opens: Sequence[Open], n: int, seed: int = 1) -> list[Setting]:
    """`n` different settings, fewer if there are not so many: the base first, then points of a scrambled Sobol sequence.

    The first settings of a longer design are those of a shorter one.
    """
    check_opens(opens)
    found = {key_of(base_of(opens)): base_of(opens)}
    there = size(opens)
    wanted = n if there is None else min(n, there)
    if wanted <= 1 or not opens:
        return list(found.values())[: max(0, n)]
    for point in _points(len(opens), seed, 64 * max(wanted, 16)):
        if len(found) >= wanted:
            break
        setting = _setting(opens, point)
        found.setdefault(key_of(setting), setting)
    if len(found) < wanted and there is not None and there <= _FINITE:  # what the sequence reaches last
        for places in product(*(range(o.over.count or 1) for o in opens)):
            setting = _setting(opens, [(p + 0.5) / (o.over.count or 1) for p, o in zip(places, opens, strict=True)])
            found.setdefault(key_of(setting), setting)
            if len(found) >= wanted:
                break
    return list(found.values())[:wanted]


def near(
    opens: Sequence[Open],
    best: Sequence[Mapping[str, Value]],
    n: int,
    width: float,
    seed: int = 1,
    few: int | None = None,
    known: Iterable[Mapping[str, Value]] = (),
) -> list[Setting]:
    """`n` different settings around the `best` ones, each drawn evenly within `width` (a share of the whole span) of one of them.

    Choices without an order stay as they are in that setting, but for a share `width` of them. With `few` only one to so many things
    differ, choices among them whatever the width: of a number it is not worth to move all at once. None of the `best` is among the answers,
    and none of those `known`.
    """
    check_opens(opens)
    old = {key_of(b) for b in (*best, *known)}
    found: dict[tuple[str, ...], Setting] = {}
    if not best or not opens or n <= 0:
        return []
    for i, point in enumerate(_points(2 * len(opens), seed, 64 * max(n, 16))):
        if len(found) >= n:
            break
        centre = best[i % len(best)]
        lots = point[len(opens) :]
        moved = None if few is None else sorted(range(len(opens)), key=lambda k: lots[k])[: 1 + i // len(best) % few]
        setting: Setting = {}
        for k, (o, u, lot) in enumerate(zip(opens, point[: len(opens)], lots, strict=True)):
            at = o.over.place(centre[o.name])
            if moved is not None and k not in moved:
                setting[o.name] = centre[o.name]
            elif o.ordered:
                low, high = max(0.0, at - width / 2), min(1.0, at + width / 2)
                setting[o.name] = o.over.at(low + (high - low) * u)
            else:
                setting[o.name] = o.over.at(u) if moved is not None or lot < width else centre[o.name]
        if key_of(setting) not in old:
            found.setdefault(key_of(setting), setting)
    return list(found.values())


def _setting(opens: Sequence[Open], point: Sequence[float]) -> Setting:
    return {o.name: o.over.at(u) for o, u in zip(opens, point, strict=True)}


def _points(dimensions: int, seed: int, most: int) -> Iterator[list[float]]:
    """Points of a scrambled Sobol sequence, at most so many."""
    from scipy.stats import qmc

    sequence = qmc.Sobol(dimensions, scramble=True, seed=np.random.default_rng(seed))
    given = 0
    while given < most:
        with warnings.catch_warnings():  # it asks for powers of two; chunks of them in a row are one
            warnings.simplefilter("ignore", UserWarning)
            chunk = sequence.random(256)
        for point in chunk:
            yield [float(u) for u in point]
        given += len(chunk)
