"""Theoretical curves in a plot, with the parameters of its flows and links."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...base.format import number, scale
from ...errors import FairlaneError, suggest
from .formulas import NAMES, Routes, bandwidth_delay, fair_share

if TYPE_CHECKING:
    from . import Kind
    from .pen import Pen
    from .view import View

MOST_LEVELS = 6
"""Most values of one formula in a plot."""
_WORDS = {
    "fair": "fair share",
    "capacity": "capacity",
    "rtt": "base RTT",
    "full": "full buffer",
    "delay": "base delay",
    "bdp": "bandwidth-delay product",
    "md1": "M/D/1",
}


def check(kind: Kind, names: Sequence[str]) -> None:
    """Raises an error for an unknown formula, or one that this kind of plot cannot show."""
    from . import KINDS

    for name in names:
        if name not in NAMES:
            raise suggest(name, list(NAMES), "theory")
        if name not in kind.theory:
            others = ", ".join(k.name for k in KINDS.values() if name in k.theory)
            has = f"it can show {', '.join(kind.theory)}" if kind.theory else "it can show none"
            raise FairlaneError(f"{kind.name} cannot show the theory {name!r}: {has}; use {name} with {others}")


def levels(pen: Pen, views: Sequence[View], units: Mapping[str, tuple[str, float]], *, upright: bool = False) -> None:
    """Draws straight lines at the values of the formulas for the drawn flows; `units`: unit and factor of the axis by formula."""
    for name, (unit, factor) in units.items():
        if name not in views[0].wish.theory:
            continue
        found: dict[float, list[str]] = {}
        for v in views:
            routes = Routes(v.result.scenario)
            for flow in v.flows():
                found.setdefault(float(f"{_value(routes, name, flow, unit, size_of(v, flow)):.9g}"), []).append(v.called(flow))
        if len(found) > MOST_LEVELS:
            raise FairlaneError(f"{name} differs for {len(found)} flows: select some with --flow NAME, or flow=")
        for value, flows in sorted(found.items()):
            if math.isinf(value):
                raise FairlaneError(f"{name}: the bottleneck link of {flows[0]} has no buffer limit")
            fitted, shown = scale(unit, value)
            of = "" if len(found) == 1 else f" of {flows[0]}" + (f" and {len(flows) - 1} more" if len(flows) > 1 else "")
            pen.level(f"{_WORDS[name]}{of} {number(value * fitted, 3)} {shown}".rstrip(), value * factor, upright=upright)
            reach(pen, value * factor, upright=upright)


def reach(pen: Pen, value: float, *, upright: bool = False) -> None:
    """Extends the axis to show a level."""
    low, high = pen.ax.get_xlim() if upright else pen.ax.get_ylim()
    if value > high - 0.05 * (high - low):
        (pen.ax.set_xlim if upright else pen.ax.set_ylim)(low, low + 1.12 * (value - low))
    elif value < low:
        (pen.ax.set_xlim if upright else pen.ax.set_ylim)(value - 0.05 * (high - value), high)


def size_of(view: View, flow: str) -> float | None:
    """Returns the mean packet size of a UDP flow in bytes; None for TCP, whose segment size is in the scenario."""
    from .view import number_of

    if next(f["transport"] for f in view.result.scenario["expanded"]["flows"] if f["name"] == flow) == "tcp":
        return None
    start, end = view.measured
    packets = number_of(view, "flows", "packets_received", {"flow": flow})
    size = number_of(view, "flows", "throughput", {"flow": flow}) * (end - start) / 8 / packets if packets else math.nan
    return size if math.isfinite(size) else None


def _value(routes: Routes, name: str, flow: str, unit: str, size: float | None) -> float:
    path = routes.path(flow, size)
    if name == "fair":
        share = fair_share(path.rate, routes.over(path.narrowest))
        return bandwidth_delay(share, path.rtt) if unit == "byte" else share
    return {
        "capacity": path.rate,
        "rtt": path.rtt,
        "full": path.full,
        "delay": path.delay,
        "bdp": bandwidth_delay(path.rate, path.rtt),
    }[name]
