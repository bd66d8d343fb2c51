"""Seeds of replications: how many, such as 10, or which, such as 3..7 or 1,2,9."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Sequence

from ..errors import ArgumentError, short

_MOST = 1_000_000


def parse_seeds(seeds: int | str | Iterable[int]) -> list[int]:
    """Parses a number of seeds (10 is 1 to 10), a list, or text such as "10", "3..7" or "1,2,5..7".

    >>> parse_seeds(4), parse_seeds("4"), parse_seeds([4]), parse_seeds("4..4")
    ([1, 2, 3, 4], [1, 2, 3, 4], [4], [4])
    >>> parse_seeds("1..3,7"), parse_seeds(range(2))
    ([1, 2, 3, 7], [0, 1])
    """
    if isinstance(seeds, str):
        out = _counted(int(seeds)) if re.fullmatch(r"\s*\d{1,20}\s*", seeds) else _listed(seeds)
    elif isinstance(seeds, int) and not isinstance(seeds, bool):
        out = _counted(seeds)
    else:
        try:
            out = [operator.index(s) for s in seeds]  # type: ignore[union-attr]
        except TypeError:
            raise ArgumentError(f'cannot read seeds {seeds!r}: give a number of seeds, a list, or text such as "3..7"') from None
    if not out:
        raise ArgumentError("at least one seed is needed")
    if any(not 0 <= s < 2**64 for s in out):
        raise ArgumentError("a seed is a whole number from 0 to 2^64 - 1")
    if len(set(out)) != len(out):
        raise ArgumentError("a seed is given twice: replications with the same seed are the same run")
    return out


def _counted(number: int) -> list[int]:
    if number < 1:
        raise ArgumentError(f"cannot use {number} seeds: write how many, such as 10; seed 0 alone is 0..0")
    if number > _MOST:
        raise ArgumentError(f"cannot use {number} seeds: at most {_MOST}; this seed alone is {number}..{number}")
    return list(range(1, number + 1))


def _listed(text: str) -> list[int]:
    out: list[int] = []
    for part in text.split(","):
        m = re.fullmatch(r"\s*(\d{1,20})(?:\s*\.\.\s*(\d{1,20}))?\s*", part)
        if not m:
            raise ArgumentError(f"cannot read seeds {short(text)}: write how many, such as 10, or which, such as 1..10 or 1,2,3")
        first, last = int(m[1]), int(m[2] or m[1])
        if last < first or last - first >= _MOST:
            raise ArgumentError(f"cannot use seeds {short(part.strip())}: the range is empty or has over a million")
        out.extend(range(first, last + 1))
    return out


def either(seeds: int | str | Iterable[int] | None, seed: int | None) -> int | str | Iterable[int] | None:
    """Returns the seeds of the two arguments that select them: `seeds`, or the single `seed`.

    >>> either("1..3", None), either(None, 3), either(None, None)
    ('1..3', [3], None)
    """
    if seed is None:
        return seeds
    if seeds is not None:
        raise ArgumentError("seed=N and seeds=... exclude each other: give one of them")
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise ArgumentError(f"cannot read seed {seed!r}: give a whole number; several are seeds=[1, 2]")
    return [seed]


def seed_range(seeds: Sequence[int]) -> str:
    """Formats seeds for a reader.

    >>> seed_range([1, 2, 3]), seed_range([7]), seed_range([1, 2, 9])
    ('1..3', '7', '1,2,9')
    """
    if len(seeds) > 1 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]}..{seeds[-1]}"
    return ",".join(map(str, seeds))


def seed_words(numbers: Sequence[int]) -> str:
    """Seeds in short: "1 to 10", or a list.

    >>> seed_words([1, 2, 3]), seed_words([4]), seed_words([1, 5])
    ('1 to 3', '4', '1, 5')
    """
    whole = len(numbers) > 2 and list(numbers) == list(range(numbers[0], numbers[0] + len(numbers)))
    return f"{numbers[0]} to {numbers[-1]}" if whole else ", ".join(map(str, numbers[:20])) + (", ..." if len(numbers) > 20 else "")


def seed_options(seeds: Sequence[int]) -> list[str]:
    """Returns the options of a command that repeats these seeds.

    >>> seed_options([1, 2, 3]), seed_options([7])
    (['--seeds', '1..3'], ['--seed', '7'])
    """
    return ["--seed", str(seeds[0])] if len(seeds) == 1 else ["--seeds", seed_range(seeds)]
