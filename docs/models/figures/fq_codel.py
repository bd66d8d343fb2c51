"""Queueing delay of a sparse flow that competes with backlogged flows: FQ-CoDel and DRR against their formulas."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl

RATE, PACKET = 10e6, 1000


def wait(queue: dict[str, object], bulk: int) -> float:
    """Milliseconds that packets of the sparse flow wait."""
    net = fl.Network(duration="200s", warmup="5s")
    net.link("a", "b", name="link", rate="10Mbit/s", delay="20ms", queue=queue)
    source = fl.Poisson(rate=f"{round(2 * RATE / bulk)}bit/s", size=f"{PACKET}B")
    net.flow("bulk", "a", "b", count=bulk, udp={"header": "0B"}, source=source)
    net.flow("sparse", "a", "b", udp={"header": "0B"}, source=fl.Poisson(rate="1600bit/s", size="100B"))
    delay = net.run(seeds=1).value("delay_mean", flow="sparse").mean
    return 1e3 * (delay - 0.02 - 8 * 100 / RATE)


def figure() -> Figure:
    """A new flow waits for the packet in transmission; in a plain round it waits for a turn of every other flow."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    axes = drawing.add_subplot()
    counts = [1, 2, 4, 8, 12, 16, 20]
    sent = 8e3 * PACKET / RATE
    cases = [
        ("fq_codel", {"fq_codel": {}}, lambda _: sent / 2, "rest of the packet in transmission"),
        (
            "drr",
            {"drr": {"limit": "1000p", "quantum": f"{PACKET}B"}},
            lambda n: (n - 1) * sent + sent / 2,
            "and a packet of every other flow",
        ),
    ]
    for name, queue, formula, text in cases:
        (line,) = axes.plot(counts, [formula(n) for n in counts], label=f"{name}, formula: {text}")
        axes.plot(counts, [wait(queue, n) for n in counts], "o", ms=4, color=line.get_color(), label=f"{name}, measured")
    axes.set(xlabel="bulk flows, which offer twice the rate of the link", ylabel="wait of a sparse flow (ms)", ylim=(0, None))
    axes.legend(fontsize="small")
    return drawing
