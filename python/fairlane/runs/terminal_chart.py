"""Chart that `fairlane run` draws on a terminal: the longest queue and the throughput of the flows over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ..base.format import number, scale
from ..base.metrics import unit
from ..look.braille import area, resample
from .tables import Columns, columns

if TYPE_CHECKING:
    from .data import ResultData

MAX_CURVES = 6
MAX_WIDTH = 110
_QUEUE_LINES, _RATE_LINES = 6, 3
_NUMBERS = 5
"""Width of the numbers on an axis in characters."""
_QUEUE = "cyan"
_RATES = ("green", "yellow", "magenta", "blue", "red", "cyan")
"""Colours of the terminal's palette, readable on its background."""


def picture(result: ResultData, width: int) -> list[Any]:
    """Returns lines of at most `width` characters with rich's styles; none without samples or traffic.

    The chart shows the run with the first seed. Above six flows it shows the sums of their groups.
    """
    flows: Columns = columns(result, "flow_series")[0] if result.rows_of == "flows" else {}
    links = columns(result, "link_series")[0]
    rates, waits = _rates(flows), _longest_queue(links)
    if not rates and waits is None:
        return []
    width = min(width, MAX_WIDTH)
    label = min(max((len(name) for name, _ in rates), default=0), max(8, width // 3))
    drawn = max(10, width - label - _NUMBERS - 3)
    sizes = (label, drawn)
    many = f", seed {result.seeds[0]}" if len(result.seeds) > 1 else ""
    out: list[Any] = []
    if waits is not None:
        link, queue = waits
        out.append(_title(f"queue of {link} (packets){many}", width))
        out += _chart("", resample(queue, 2 * drawn), max(queue), sizes, _QUEUE_LINES, _QUEUE)
    if rates:
        curves = [(name, resample(values, 2 * drawn, fmean)) for name, values in rates]
        top = max(x for _, curve in curves for x in curve if math.isfinite(x))
        factor, per = scale(unit("throughput"), top)
        out.append(_title(f"throughput ({per}){many}", width))
        height = _RATE_LINES if len(curves) <= MAX_CURVES // 2 else _RATE_LINES - 1
        for i, (name, curve) in enumerate(curves):
            out += _chart(name, [x * factor for x in curve], top * factor, sizes, height, _RATES[i % len(_RATES)])
    return [*out, _axis(flows or links, label + _NUMBERS + 2, drawn)]


def _finite(x: float) -> float:
    return x if math.isfinite(x) else 0.0


def _of_each(table: Columns, key: str, what: str) -> dict[str, list[float]]:
    """Returns the series of each flow or link. A table has all names of one instant, then those of the next."""
    if not table or what not in table:
        return {}
    names, values = table[key], table[what]
    count = next((i for i in range(1, len(names)) if names[i] == names[0]), len(names))
    return {names[i]: list(values[i::count]) for i in range(count)}


def _rates(flows: Columns) -> list[tuple[str, list[float]]]:
    each = {name: values for name, values in _of_each(flows, "flow", "throughput").items() if any(x > 0 for x in values)}
    if len(each) > MAX_CURVES:
        groups: dict[str, list[float]] = {}
        for name, values in each.items():
            group = name.partition(".")[0]
            groups[group] = [a + _finite(b) for a, b in zip(groups.get(group, [0.0] * len(values)), values, strict=True)]
        each = groups
    return list(each.items())[:MAX_CURVES]


def _longest_queue(links: Columns) -> tuple[str, list[float]] | None:
    """Returns the link with the longest mean queue and its series; None if all queues stayed empty."""
    each = {name: [_finite(x) for x in values] for name, values in _of_each(links, "link", "queue").items()}
    name = max(each, key=lambda n: sum(each[n]), default=None)
    return None if name is None or max(each[name]) <= 0 else (name, each[name])


def _tick(x: float) -> str:
    return number(x, 3)


def _title(text: str, width: int) -> Any:
    from rich.text import Text

    return Text(text[:width], style="bold")


def _chart(name: str, values: Sequence[float], top: float, sizes: tuple[int, int], height: int, colour: str) -> list[Any]:
    """Returns the lines of one curve, with its name and the numbers of its axis at the left."""
    from rich.text import Text

    label = sizes[0]
    short = name if len(name) <= label else f"{name[: label - 1]}…"
    out = []
    for i, line in enumerate(area(values, top, height)):
        tick = _tick(top) if i == 0 else "0" if i == height - 1 else ""
        out.append(Text.assemble((f"{short if i == 0 else '':<{label}} {tick:>{_NUMBERS}} ", "dim" if i else ""), (line, colour)))
    return out


def _axis(table: Columns, margin: int, width: int) -> Any:
    """Returns the time axis with labels at both ends and in the middle."""
    from rich.text import Text

    first, last = table["time"][0], table["time"][len(table["time"]) - 1]
    factor, per = scale("s", last)
    marks = [f"{number(x * factor, 3)} {per}" for x in (first, (first + last) / 2, last)]
    marks[0] = number(first * factor, 3)
    gap = width - sum(map(len, marks))
    left = max(1, width // 2 - len(marks[0]) - len(marks[1]) // 2)
    return Text(f"{'':<{margin}}{marks[0]}{'':<{left}}{marks[1]}{'':<{max(1, gap - left)}}{marks[2]}", style="dim")
