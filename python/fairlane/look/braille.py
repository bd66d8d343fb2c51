"""Charts for a terminal: areas of Braille dots, two columns and four rows per character."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

_BLANK = 0x2800
_COLUMNS = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))
"""The bits of a character's dots, from the bottom up: left column, right column (Unicode 17.0, chart U+2800)."""


def resample(values: Sequence[float], count: int, of: Callable[[list[float]], float] = max) -> list[float]:
    """Resamples values to `count` numbers with the aggregate `of`; NaN without a finite value.

    With fewer values than numbers, values are repeated.

    >>> resample([1.0, 3.0, 2.0, 5.0], 2), resample([1.0, 2.0], 4)
    ([3.0, 5.0], [1.0, 1.0, 2.0, 2.0])
    """
    n = len(values)
    out = []
    for i in range(count):
        first, last = i * n // count, (i + 1) * n // count
        part = [x for x in values[first : max(last, first + 1)] if math.isfinite(x)]
        out.append(of(part) if part else math.nan)
    return out


def area(values: Sequence[float], top: float, height: int) -> list[str]:
    """Draws the area under the values in `height` lines, two values per character; `top`: the value at the upper edge.

    Values above zero have at least one dot, NaN has none.

    >>> area([1, 2, 3, 4, 5, 6, 7, 8], 8, 2)
    ['  ⣠⣾', '⣠⣾⣿⣿']
    """
    levels = [0 if not x > 0 or top <= 0 else max(1, min(4 * height, round(x / top * 4 * height))) for x in values]
    lines = []
    for row in range(height - 1, -1, -1):
        cells = []
        for left in range(0, len(levels), 2):
            pair = zip(_COLUMNS, levels[left : left + 2], strict=False)
            bits = sum(sum(dots[: max(0, level - 4 * row)]) for dots, level in pair)
            cells.append(chr(_BLANK + bits) if bits else " ")
        lines.append("".join(cells))
    return lines
