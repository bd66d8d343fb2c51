"""Cost of reordering for TCP that counts duplicates and for TCP that waits."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl

LATE = (0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20)


def figure() -> Figure:
    """Retransmissions and goodput over the lateness of one packet in fifty."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    left, right = drawing.subplots(1, 2)
    for label, tcp in (("SACK", {}), ("SACK with RACK", {"rack": True})):
        again, goodput = [], []
        for ms in LATE:
            net = fl.Network(duration="60s", warmup="5s")
            late = {"share": 0.02, "delay": f"{ms}ms"}
            none = {"reorder": {"share": 0.0, "delay": "1ms"}}
            net.link("a", "b", name="link", rate="10Mbit/s", delay="20ms", queue=fl.Droptail(limit="100p"), reorder=late, reverse=none)
            run = net.flow("tcp", "a", "b", tcp={"preset": "rfc", "cc": "sack", **tcp}).run(seeds=1)
            sent = run.value("packets_sent", flow="tcp").mean or 1.0
            again.append((run.value("retransmits", flow="tcp").mean or 0.0) / sent * 100)
            goodput.append((run.value("goodput", flow="tcp").mean or 0.0) / 1e6)
        left.plot(LATE, again, "o-", ms=3, label=label)
        right.plot(LATE, goodput, "o-", ms=3, label=label)
    left.set(xlabel="late by (ms)", ylabel="sent again (% of packets)", xscale="log")
    right.set(xlabel="late by (ms)", ylabel="goodput (Mbit/s)", xscale="log", ylim=(0, None))
    for axes in (left, right):
        axes.axvline(3 * 1.2, color="0.6", lw=0.8, ls=":")
        axes.legend(fontsize="small")
    return drawing
