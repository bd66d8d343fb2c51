"""Lengths of bursts, and what losses alone and in bursts cost TCP."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl

from .common import errors

LOSSES = (0.002, 0.005, 0.01, 0.02, 0.04)
BURST = 8.0
SEEDS = "1..10"


def chain(loss: float, burst: float) -> dict[str, object]:
    """Gilbert's chain with this loss and mean burst."""
    r = 1 / burst
    return {"gilbert_elliott": {"p": r * loss / (1 - loss), "r": r}}


def over(loss: object, queue: str = "100p") -> fl.Network:
    """A link of 10 Mbit/s and 20 ms each way that loses packets one way."""
    net = fl.Network(duration="60s", warmup="5s")
    return net.link("a", "b", name="link", rate="10Mbit/s", delay="20ms", queue=fl.Droptail(limit=queue), loss=loss, reverse={"loss": 0.0})


def burst_lengths(loss: object) -> list[int]:
    """Lengths of the runs of losses among packets a millisecond apart, looked at once a millisecond."""
    net = fl.Network(duration="200s", sample="1ms").link("a", "b", name="link", rate="1Gbit/s", delay="1us", loss=loss)
    net.flow("udp", "a", "b", udp={"header": "0B"}, source=fl.Cbr(rate="8Mbit/s", size="1000B"), start="500us")
    came = net.run(seeds=1).flow_series["goodput"]
    return [len(run) for run in "".join(" " if rate else "x" for rate in came).split()]


def figure() -> Figure:
    """Tails of the burst lengths, and goodput of SACK over the loss."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    left, right = drawing.subplots(1, 2)
    lengths = range(25)
    for label, loss, stay in (("alone", 0.04, 0.04), ("chain, mean of 8", chain(0.04, BURST), 1 - 1 / BURST)):
        bursts = burst_lengths(loss)
        tail = [sum(b > k for b in bursts) / len(bursts) for k in lengths]
        (line,) = left.semilogy(lengths, [stay**k for k in lengths], lw=1)
        left.semilogy(lengths, tail, "o", ms=3, color=line.get_color(), label=label)
    left.set(xlabel="packets k", ylabel="share of bursts longer than k", ylim=(1e-4, 1.5))
    left.legend(fontsize="small")
    for label, of in (("alone", lambda x: x), ("chain, bursts of 8", lambda x: chain(x, BURST))):
        found = [over(of(x)).flow("tcp", "a", "b", tcp={"preset": "rfc", "cc": "sack"}).run(seeds=SEEDS).value("goodput", flow="tcp") for x in LOSSES]
        means, half = errors(found)
        right.errorbar(LOSSES, [m / 1e6 for m in means], [h / 1e6 for h in half], fmt="o-", ms=4, capsize=3, label=label)
    right.set(xlabel="loss of the link (%)", ylabel="goodput (Mbit/s)", xscale="log", ylim=(0, 10))
    right.set_xticks(LOSSES, [f"{100 * x:g}" for x in LOSSES])
    right.set_xticks([], minor=True)
    right.legend(fontsize="small")
    return drawing
