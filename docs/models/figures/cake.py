"""Share of a host with one flow against a host with many, under CAKE's kinds of isolation."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl


def share(isolation: str, flows: int) -> float:
    """Share that the host with one flow gets of a rate of 10 Mbit/s on a link of 100 Mbit/s."""
    net = fl.Network(duration="30s", warmup="5s")
    queue = {"cake": {"bandwidth": "10Mbit/s", "isolation": isolation}}
    for host in ("one", "many"):
        net.link(host, "r", rate="1Gbit/s", delay="5ms")
    net.link("r", "d", name="link", rate="100Mbit/s", delay="5ms", queue=queue)
    net.flow("one", "one", "d", tcp="newreno", spread="100ms")
    net.flow("many", "many", "d", tcp="newreno", count=flows, spread="1s")
    rates = net.run(seeds=1).flows
    mine = rates.filter(rates["flow"] == "one")["goodput"].sum()
    return float(mine / rates["goodput"].sum())


def figure() -> Figure:
    """Flows share evenly, or hosts do."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    axes = drawing.add_subplot()
    counts = [1, 2, 3, 5, 8, 12, 16]
    for isolation, formula, mark in (
        ("flows", lambda n: 1 / (n + 1), "o"),
        ("dual_srchost", lambda _: 1 / 2, "s"),
        ("dual_dsthost", lambda n: 1 / (n + 1), "+"),
    ):
        (line,) = axes.plot(counts, [formula(n) for n in counts], lw=1)
        axes.plot(counts, [share(isolation, n) for n in counts], mark, ms=6, color=line.get_color(), label=isolation)
    axes.plot([], [], lw=1, color="black", label="formula: 1/2, 1/(n + 1)")
    axes.set(xlabel="n, flows of the other host; all go to one destination", ylabel="share of the host with one flow", ylim=(0, 0.6))
    axes.legend(fontsize="small")
    return drawing
