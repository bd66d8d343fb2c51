"""Shares of two flows with packets of different lengths: DRR against one packet a turn."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl

LONG = 1500


def share(queue: dict[str, object], length: int) -> float:
    """Share of the link that a flow of short packets gets against one of long packets; both offer 12 Mbit/s to 10 Mbit/s."""
    net = fl.Network(duration="10s", warmup="1s")
    net.link("a", "b", name="link", rate="10Mbit/s", delay="1ms", queue=queue)
    for name, size in (("short", length), ("long", LONG)):
        net.flow(name, "a", "b", udp={"header": "0B"}, source=fl.Poisson(rate="12Mbit/s", size=f"{size}B"))
    result = net.run(seeds=1)
    rates = [result.value("goodput", flow=name).mean for name in ("short", "long")]
    return rates[0] / sum(rates)


def figure() -> Figure:
    """Deficits make shares independent of the length; turns of one packet make them proportional to it."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    axes = drawing.add_subplot()
    lengths = [50, 100, 200, 350, 500, 750, 1000, 1250, 1500]
    cases = [
        ("drr, quantum 1500 B", {"drr": {"limit": "400kB"}}, lambda _: 0.5),
        ("drr, quantum 100 B", {"drr": {"limit": "400kB", "quantum": "100B"}}, lambda _: 0.5),
        ("sfq, a packet a turn", {"sfq": {"limit": "400kB", "salt": 1}}, lambda length: length / (length + LONG)),
    ]
    for (label, queue, formula), mark in zip(cases, "o+o", strict=True):
        (line,) = axes.plot(lengths, [formula(length) for length in lengths], label=f"{label}: formula")
        axes.plot(lengths, [share(queue, length) for length in lengths], mark, ms=5, color=line.get_color(), label="measured")
    axes.set(xlabel="length of the short packets (byte); the long ones have 1500", ylabel="share of the short packets", ylim=(0, 0.6))
    axes.legend(fontsize="small", ncols=3)
    return drawing
