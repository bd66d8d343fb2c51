"""Longest delay of a flow with half of the link, by both clocks of WFQ, against their bounds."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl

SERVICE = 0.8
"""Milliseconds that a packet of 1000 bytes takes at 10 Mbit/s."""


def longest(clock: str, others: int) -> float:
    """Longest time in the router, in packet times, of a flow of 2 Mbit/s that has as much weight as all others together."""
    inner = {"droptail": {"limit": "20p"}}
    classes: list[dict[str, object]] = [{"match": "flow:mine", "weight": others, "queue": inner}]
    classes += [{"match": f"flow:other.{k}", "queue": inner} for k in range(others)]
    net = fl.Network(duration="21s", warmup="1s")
    net.link("a", "b", name="link", rate="10Mbit/s", delay="1ms", queue={"wfq": {"classes": classes, "clock": clock}})
    net.flow("mine", "a", "b", udp={"header": "0B"}, source=fl.Cbr(rate="2Mbit/s", size="1000B", jitter=0.5))
    net.flow("other", "a", "b", count=others, udp={"header": "0B"}, source=fl.Cbr(rate="10Mbit/s", size="1000B"))
    return ((net.run(seeds=1).value("delay_max", flow="mine").mean or 0.0) * 1e3 - 1) / SERVICE


def figure() -> Figure:
    """Longest delay by the number of other flows, all of which send as fast as they can."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    numbers = [2, 4, 8, 12, 16, 20, 25, 30]
    # One packet at a rate of half the link takes two packet times; then one packet, or one of each other flow, in the way.
    bounds = {
        "gps": ("bound of Parekh and Gallager: L/r + L/C", lambda _: 3),
        "scfq": ("bound of Golestani: L/r + n L/C", lambda n: 2 + n),
    }
    for clock, (name, law) in bounds.items():
        (line,) = axes.plot(numbers, [law(n) for n in numbers], label=name)
        found = [longest(clock, n) for n in numbers]
        axes.plot(numbers, found, "o", ms=5, mfc="none", color=line.get_color(), label=f'clock = "{clock}", longest of 5000')
    axes.set(xlabel="n, number of other flows", ylabel="delay (packet times)", ylim=(0, None))
    axes.legend(fontsize="small")
    return drawing
