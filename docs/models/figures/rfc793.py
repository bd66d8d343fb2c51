"""TCP without congestion control against NewReno: what a window of 60 segments gets through queues that are too short for it."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl

WINDOW, SIZE, TIMEOUT = 60, 960, 1.0
"""Segments, their bytes, and the least timeout in seconds, which is the one in force."""


def by_timer(limit: int) -> float:
    """Mbit/s without congestion control: of a window that is sent at once `limit` and the one in transmission get through.

    The others go again one a timeout, each letting a new one out. Then all is acknowledged, and another window is sent, at once.
    """
    return 1e-6 * (2 * WINDOW - 1) * SIZE * 8 / ((WINDOW - 1 - limit) * TIMEOUT)


def goodput(cc: str, limit: int) -> float:
    """Mbit/s of one flow."""
    net = fl.Network(duration="120s", warmup="20s")
    net.link("a", "b", name="link", rate="10Mbit/s", delay="22ms", queue=fl.Droptail(limit=f"{limit}p"))
    net.flow("tcp", "a", "b", tcp={"preset": "rfc", "cc": cc, "mss": f"{SIZE}B", "ack_every": 1, "window": f"{WINDOW}p"})
    return 1e-6 * float(net.run(seeds=1).value("goodput", flow="tcp").mean or 0.0)


def figure() -> Figure:
    """NewReno's window finds its size; without it the queue must hold all of the window."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    limits = [1, 2, 4, 6, 10, 15, 20, 30, 40, 50, 55, 58, 59, 60, 65]
    axes.semilogy(limits, [goodput("newreno", q) for q in limits], "s-", ms=3, label="newreno, measured")
    (line,) = axes.semilogy(range(WINDOW - 1), [by_timer(q) for q in range(WINDOW - 1)], label="rfc793, formula")
    axes.semilogy(limits, [goodput("rfc793", q) for q in limits], "o", ms=4, color=line.get_color(), label="rfc793, measured")
    axes.axvline(WINDOW - 1, color="0.4", lw=1, ls="--", label="the queue holds the window")
    axes.set(xlabel="limit of the queue (packets)", ylabel="goodput (Mbit/s)")
    axes.legend(fontsize="small")
    return drawing
