"""Page load times on an idle link, against arithmetic."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl

MSS, HEADER, RATE, DELAY = 1460, 40, 10e6, 0.02


def wire(size: float) -> float:
    """Seconds that a packet of `size` bytes takes on the link."""
    return 8 * size / RATE


def predicted(size: int, window: int) -> float:
    """Handshake, request, rounds of slow start that leave the link idle, and the transmission of what is left."""
    full, rest = divmod(size, MSS)
    time = 2 * DELAY + 2 * wire(52) + DELAY + wire(HEADER) + wire(390) + wire(HEADER)
    round_trip = 2 * DELAY + wire(1500) + wire(HEADER)
    while full + (rest > 0) > window and window * wire(1500) < round_trip:
        time, full, window = time + round_trip, full - window, 2 * window
    return time + DELAY + full * wire(1500) + (wire(rest + HEADER) if rest else 0)


def figure() -> Figure:
    """Load time of one page over its size, for two initial windows."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    axes = drawing.add_subplot()
    sizes = [2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 400_000, 700_000]
    for k, window in enumerate((2, 10)):
        measured = []
        for size in sizes:
            net = fl.Network(duration="20s").link("server", "browser", rate="10Mbit/s", delay="20ms", queue=fl.Droptail(limit="10000p"))
            tcp = {"cc": "newreno", "initial_window": f"{window}p", "ack_every": 1, "idle_restart": "off"}
            page = fl.Web(model="rfc7928", page=f"{size}B", pages=1)
            run = net.flow("web", "server", "browser", tcp=tcp, source=page).run(seeds=1)
            measured.append(run.value("transaction_time_mean", flow="web").mean)
        axes.plot(sizes, [predicted(size, window) for size in sizes], color=f"C{k}", label=f"initial window {window}: formula")
        axes.plot(sizes, measured, "o", color=f"C{k}", label=f"initial window {window}: simulated")
    axes.set(xlabel="size of the page, byte", ylabel="load time, s", xscale="log", yscale="log")
    axes.legend(fontsize="small")
    return drawing
