"""CHOKe: what an unresponsive flow gets of the link, against the model of Tang, Wang and Low 2003."""

from __future__ import annotations

import math

from matplotlib.figure import Figure

import fairlane as fl

from .common import errors

FLOWS, LINK = 60, 10.0
"""TCP flows, and the link in Mbit/s."""


def model(rate: float) -> float:
    """Share m of a flow that sends `rate` times the link among very many others: (1 - m) ln((rate + m) / (2 m)) = (rate + m) / 2."""
    low, high = 1e-9, min(rate, 1.0) - 1e-9
    for _ in range(80):
        m = (low + high) / 2
        # The left side falls with m, the right one grows.
        if (1 - m) * math.log((rate + m) / (2 * m)) > (rate + m) / 2:
            low = m
        else:
            high = m
    return m


def unresponsive(queue: object, rate: float) -> fl.Network:
    """One UDP flow of `rate` times the link, and the TCP flows."""
    net = fl.Network(duration="60s", warmup="20s")
    net.link("a", "b", name="link", rate=f"{LINK}Mbit/s", delay="20ms", queue=queue)
    net.flow("tcp", "a", "b", count=FLOWS, tcp={"cc": "newreno", "mss": "960B"}, spread="1s")
    source = fl.Poisson(rate=f"{round(rate * LINK * 1e6)}bit/s", size="1000B")
    return net.flow("udp", "a", "b", udp={"header": "0B"}, source=source)


def shares(queue: object, rates: list[float]) -> tuple[list[float], list[float]]:
    """Share of the link that UDP gets, with half widths."""
    means, half = errors([unresponsive(queue, r).run(seeds="1..3").value("goodput", flow="udp") for r in rates])
    return [m / LINK / 1e6 for m in means], [h / LINK / 1e6 for h in half]


def against_fair_share(queues: dict[str, object]) -> Figure:
    """Share of the link against the rate of the source, for queues by their labels; lines: all that it sends, and the fair share."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    rates = [0.1, 0.25, 0.5, 0.8, 1.2, 2.0, 3.0, 4.0]
    for label, queue in queues.items():
        means, half = shares(queue, rates)
        axes.errorbar(rates, means, half, fmt="o", ms=4, capsize=3, label=label)
    fine = [i / 50 for i in range(1, 205)]
    axes.plot(fine, [min(r, 1.0) for r in fine], color="0.4", lw=1, label="nothing is taken from it")
    axes.axhline(1 / (FLOWS + 1), color="0.4", lw=1, ls="--", label="fair share")
    axes.set(xlabel="rate of the UDP source / link", ylabel="share of the link", ylim=(0, 1.05))
    axes.legend(fontsize="small")
    return drawing


def figure() -> Figure:
    """Share of the link against the rate of the source, for DropTail, CHOKe and CHOKe with three draws."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    rates = [0.1, 0.25, 0.5, 0.8, 1.2, 2.0, 3.0, 4.0]
    wide = {"limit": "1000p", "min": "50p", "max": "600p", "max_p": 0.05}
    for label, queue in (
        ("DropTail, 200 packets", {"droptail": {"limit": "200p"}}),
        ("CHOKe", {"choke": wide}),
        ("CHOKe, 3 draws", {"choke": {**wide, "draws": 3}}),
    ):
        means, half = shares(queue, rates)
        axes.errorbar(rates, means, half, fmt="o", ms=4, capsize=3, label=label)
    fine = [i / 50 for i in range(1, 205)]
    axes.plot(fine, [model(r) for r in fine], color="0.4", lw=1, label="Tang, Wang and Low 2003, very many TCP flows")
    axes.axhline(1 / (math.e + 1), color="0.4", lw=1, ls="--", label="1 / (e + 1) = 26.9 %")
    axes.set(xlabel="rate of the UDP source / link", ylabel="share of the link", ylim=(0, 1))
    axes.legend(fontsize="small")
    return drawing
