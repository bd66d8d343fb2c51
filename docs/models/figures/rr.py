"""Round robin between packets of two lengths, against the share that turns of one packet give."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl


def share(queue: object, lengths: tuple[int, int]) -> float:
    """Share of the first of two flows in a link of 10 Mbit/s that each alone would fill."""
    net = fl.Network(duration="12s", warmup="2s").link("a", "b", name="link", rate="10Mbit/s", delay="1ms", queue=queue)
    for name, length in zip("xy", lengths, strict=True):
        net.flow(name, "a", "b", udp={"header": "0B"}, source=fl.Cbr(rate="10Mbit/s", size=f"{length}B", jitter=1.0))
    result = net.run(seeds=1)
    x, y = (result.value("throughput", flow=name).mean or 0.0 for name in "xy")
    return x / (x + y)


def figure() -> Figure:
    """Share of a flow by the length of its packets, against a flow of 1000-byte packets."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    axes = drawing.add_subplot()
    lengths = [100, 250, 400, 600, 800, 1000, 1200, 1400, 1500]
    axes.plot(range(50, 1551, 50), [n / (n + 1000) for n in range(50, 1551, 50)], label="formula, L / (L + 1000 bytes)")
    axes.plot(lengths, [share("rr", (n, 1000)) for n in lengths], "o", ms=5, mfc="none", color="C0", label="rr, measured")
    axes.axhline(0.5, color="C1", label="equal shares")
    axes.plot(lengths, [share("drr", (n, 1000)) for n in lengths], "s", ms=4, mfc="none", color="C1", label="drr, measured")
    axes.set(xlabel="length L of the first flow's packets (byte); the second's have 1000", ylabel="share of the first flow", ylim=(0, 0.7))
    axes.legend(fontsize="small")
    return drawing
