"""Traffic that arrives under AVQ, against the target utilisation."""

from __future__ import annotations

from matplotlib.figure import Figure

from .common import bulk_flows


def figure() -> Figure:
    """Arrivals over capacity for three values of gamma (lines), for growing numbers of TCP flows; DropTail for comparison."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    counts = [5, 10, 15, 20, 30, 40]
    for gamma in (0.98, 0.9, 0.8, None):
        name = "droptail" if gamma is None else "avq"
        params = {"limit": "100p"} if gamma is None else {"limit": "100p", "gamma": gamma, "mean_packet": "1500B"}
        loads = []
        for flows in counts:
            r = bulk_flows({name: params}, flows, duration="150s", warmup="50s").run(seeds=1)
            loads.append(r.value("utilisation", link="link").mean / (1 - r.value("loss", link="link").mean))
        (line,) = axes.plot(counts, loads, "o", ms=4, label=name if gamma is None else f"avq, gamma = {gamma}")
        if gamma is not None:
            axes.axhline(gamma, color=line.get_color(), lw=1)
    axes.set(xlabel="TCP flows", ylabel="arrivals over capacity", ylim=(0.7, 1.2))
    axes.legend(fontsize="small", loc="upper left")
    return drawing
