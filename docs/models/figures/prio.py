"""Waiting times under strict priority, against the formula for M/G/1 with two classes."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl

from .common import SEEDS, errors

SERVICE = 0.8
"""Milliseconds that a packet of 1000 bytes takes at 10 Mbit/s."""


def figure() -> Figure:
    """Mean waiting time of two equal Poisson flows, the first with priority (Cobham 1954; Kleinrock, volume 2, section 3.2)."""
    loads = [0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9]
    fine = [i / 200 for i in range(20, 186)]
    # A packet in transmission is not interrupted: its mean rest is rho * s / 2.
    laws = {
        "high": lambda r: r * SERVICE / 2 / (1 - r / 2),
        "low": lambda r: r * SERVICE / 2 / ((1 - r / 2) * (1 - r)),
    }
    found: dict[str, list[fl.Interval]] = {"high": [], "low": []}
    for load in loads:
        net = fl.Network(duration="110s", warmup="10s")
        inner = {"droptail": {"limit": "1000000p"}}
        classes = [{"match": f"flow:{name}", "queue": inner} for name in laws]
        net.link("a", "b", name="link", rate="10Mbit/s", delay="1ms", queue={"prio": {"classes": classes}})
        for name in laws:
            net.flow(name, "a", "b", udp={"header": "0B"}, source=fl.Poisson(rate=f"{round(load * 5e6)}bit/s", size="1000B"))
        result = net.run(seeds=SEEDS)
        for name in laws:
            found[name].append(result.value("delay_mean", flow=name))
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    for name, law in laws.items():
        (line,) = axes.plot(fine, [law(r) for r in fine], label=f"{name} priority, formula")
        means, half = errors(found[name])
        waits = [1e3 * m - SERVICE - 1 for m in means]
        axes.errorbar(
            loads,
            waits,
            [1e3 * h for h in half],
            fmt="o",
            ms=4,
            capsize=3,
            color=line.get_color(),
            label=f"{name} priority, ten runs, 95 %",
        )
    axes.set(xlabel="load of both flows together", ylabel="mean wait (ms)", yscale="log")
    axes.legend(fontsize="small")
    return drawing
