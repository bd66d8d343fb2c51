"""Throughput of a closed loop, within the bounds of operational analysis."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl


def figure() -> Figure:
    """Answers a second over the number of requests in the loop, for TCP and UDP."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    axes = drawing.add_subplot()
    rate, delay, think, answer = 10e6, 0.02, 0.2, 20_000
    loop = [1, 2, 4, 6, 8, 10, 12, 16, 20, 24, 32]
    transports = {"UDP": {"udp": {}}, "TCP": {"tcp": {"cc": "cubic", "initial_window": "20p", "idle_restart": "off"}}}
    for k, (name, transport) in enumerate(transports.items()):
        measured, law = [], []
        for n in loop:
            net = fl.Network(duration="30s", warmup="2s").link(
                "server", "client", rate="10Mbit/s", delay="20ms", queue=fl.Droptail(limit="10000p")
            )
            source = fl.RequestResponse(response=f"{answer}B", think="200ms", outstanding=n)
            run = net.flow("rpc", "server", "client", source=source, **transport).run(seeds="1..3")
            time = run.value("transaction_time_mean", flow="rpc").mean
            measured.append(run.value("transactions", flow="rpc").mean / 28)
            law.append(n / (time + think))
        axes.plot(loop, measured, "o" if k else "s", color=f"C{k}", mfc="none", label=f"{name}: answers a second")
        axes.plot(loop, law, "+", color=f"C{k}", label=f"{name}: N / (R + Z), R measured")
    wire = answer + 28 * 14
    idle = 2 * delay + 8 * 378 / rate + 8 * wire / rate
    full = rate / 8 / wire
    axes.plot(loop, [min(n / (idle + think), full) for n in loop], color="0.5", lw=1, label="bounds, UDP")
    axes.set(xlabel="requests in the loop, N", ylabel="answers a second", ylim=(0, None))
    axes.legend(fontsize="small")
    return drawing
