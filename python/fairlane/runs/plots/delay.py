"""Distribution of the one-way delay and its tail."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import FairlaneError
from . import distributions
from .formulas import Routes, md1_cdf
from .pen import Pen
from .samples import delays
from .view import View, number_of


def cdf(pen: Pen, views: Sequence[View]) -> None:
    """Draws the cumulative distribution."""
    _draw(pen, views, tail=False)


def ccdf(pen: Pen, views: Sequence[View]) -> None:
    """Draws the share of packets with a longer delay, on a logarithmic axis."""
    _draw(pen, views, tail=True)


def _draw(pen: Pen, views: Sequence[View], *, tail: bool) -> None:
    factor, _ = distributions.draw(pen, views, delays, "delay", "one-way delay", tail=tail)
    if "md1" not in views[0].wish.theory:
        return
    limits = pen.ax.get_xlim()
    for v in views:
        base, load, service = _station(v)
        times = np.linspace(0, min(max(limits[1] / factor - base, 4 * service), 400 * service), 300)
        shares = md1_cdf(times, load, service)
        y = np.maximum(1 - shares, 1e-12) if tail else shares
        pen.curve(f"M/D/1 at load {load:.2f}" + (f", {v.label}" if v.many else ""), (base + times) * factor, y)
    pen.ax.set_xlim(limits)


def _station(view: View) -> tuple[float, float, float]:
    """Returns base delay, load and service time of the common bottleneck link of all drawn flows."""
    routes = Routes(view.result.scenario)
    names = view.flows()
    links = {routes.path(f).narrowest for f in names}
    if len(links) != 1:
        raise FairlaneError(
            f"md1 needs flows with one common bottleneck link, not {', '.join(sorted(links))}: select some with --flow, or flow="
        )
    link = links.pop()
    start, end = view.measured
    packets = number_of(view, "links", "departures", {"link": link})
    size = number_of(view, "links", "throughput", {"link": link}) * (end - start) / 8 / packets if packets else float("nan")
    paths = [routes.path(f, size) for f in names] if size == size else []
    if not paths:
        raise FairlaneError(f"md1: no packet left the link {link}")
    service = 8 * size / paths[0].rate
    load = number_of(view, "links", "utilisation", {"link": link})
    if load >= 0.999:
        raise FairlaneError(f"md1 is undefined at full load: the load of {link} is {load:.3f}")
    return float(np.mean([p.delay for p in paths])), load, service
