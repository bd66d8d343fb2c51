"""Flows of unequal demand under FQ, against the max-min fair allocation."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl

DEMANDS = [0.5, 1.0, 2.0, 3.0, 4.0, 8.0]
LENGTHS = [200, 1500, 500, 1000, 300, 1500]
CAPACITY = 10.0


def max_min() -> list[float]:
    """Returns the max-min fair shares: no flow gets more than it demands, unsatisfied flows share the rest equally (Demers, Keshav and Shenker 1989, section 1)."""
    given, left, wanting = [0.0] * len(DEMANDS), CAPACITY, sorted(range(len(DEMANDS)), key=DEMANDS.__getitem__)
    while wanting:
        i = wanting.pop(0)
        given[i] = min(DEMANDS[i], left / (len(wanting) + 1))
        left -= given[i]
    return given


def figure() -> Figure:
    """Goodput of each flow under FQ and DropTail."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    axes = drawing.add_subplot()
    places = range(len(DEMANDS))
    axes.bar(places, DEMANDS, width=0.9, color="0.9", label="offered")
    for k, (name, limit) in enumerate((("fq", "200kB"), ("droptail", "200kB"))):
        net = fl.Network(duration="20s", warmup="2s")
        net.link("a", "b", name="link", rate=f"{CAPACITY:g}Mbit/s", delay="1ms", queue={name: {"limit": limit}})
        for i, (demand, length) in enumerate(zip(DEMANDS, LENGTHS, strict=True)):
            net.flow(f"f{i}", "a", "b", udp={"header": "0B"}, source=fl.Poisson(rate=f"{demand}Mbit/s", size=f"{length}B"))
        result = net.run(seeds=1)
        rates = [result.value("goodput", flow=f"f{i}").mean / 1e6 for i in places]
        axes.bar([x + 0.3 * (k - 0.5) for x in places], rates, width=0.28, label=f"{name}, measured")
    for x, rate in zip(places, max_min(), strict=True):
        axes.hlines(rate, x - 0.45, x + 0.45, colors="black", label=None if x else "max-min fair")
    axes.set_xticks(list(places), [f"{length} B" for length in LENGTHS])
    axes.set(xlabel="flow, by the length of its packets", ylabel="rate (Mbit/s)")
    axes.legend(fontsize="small")
    return drawing
