"""Lists of seeds such as 1..10 or 1,2,3."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable

from ..errors import FairlaneError, short


def parse_seeds(seeds: int | str | Iterable[int]) -> list[int]:
    """Parses seeds from a number, numbers, or text such as "1..10" or "1,2,5..7".

    >>> parse_seeds("1..3,7"), parse_seeds(4), parse_seeds(range(2))
    ([1, 2, 3, 7], [4], [0, 1])
    """
    if isinstance(seeds, str):
        out: list[int] = []
        for part in seeds.split(","):
            m = re.fullmatch(r"\s*(\d{1,20})(?:\s*\.\.\s*(\d{1,20}))?\s*", part)
            if not m:
                raise FairlaneError(f"cannot read seeds {short(seeds)}: write 1..10 or 1,2,3")
            first, last = int(m[1]), int(m[2] or m[1])
            if last < first or last - first >= 1_000_000:
                raise FairlaneError(f"cannot use seeds {short(part.strip())}: the range is empty or has over a million")
            out.extend(range(first, last + 1))
    else:
        try:
            out = [operator.index(s) for s in ([seeds] if isinstance(seeds, int) else seeds)]
        except TypeError:
            raise FairlaneError(f'cannot read seeds {seeds!r}: give whole numbers, or text such as "1..10"') from None
    if not out:
        raise FairlaneError("at least one seed is needed")
    if any(not 0 <= s < 2**64 for s in out):
        raise FairlaneError("a seed is a whole number from 0 to 2^64 - 1")
    if len(set(out)) != len(out):
        raise FairlaneError("a seed is given twice: replications with the same seed are the same run")
    return out
