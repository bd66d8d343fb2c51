"""Draws the figures of the model pages: `python docs/models/plots.py [NAME...]`, with fairlane installed.

Each figure compares a run with a formula or an RFC. The same version of fairlane draws the same figures.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import matplotlib as mpl
import polars as pl
from matplotlib.figure import Figure

import fairlane as fl
from fairlane.tcp import Endpoint, Segment

FOLDER = Path(__file__).resolve().parent / "img"
STYLE = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "white",
    "font.size": 9,
    "grid.alpha": 0.3,
    "legend.framealpha": 0.8,
    "savefig.facecolor": "white",
    "svg.fonttype": "none",
    "svg.hashsalt": "fairlane",
}
SEEDS = "1..10"


def one_link(
    *, duration: str, warmup: str = "0s", queue: object = None, sample: str | None = None, loss: float = 0.0, **flow: object
) -> fl.Network:
    """A UDP flow without headers over a link of 10 Mbit/s and 1 ms; 1000 byte take 0.8 ms."""
    settings = {"sample": sample} if sample else {}
    net = fl.Network(duration=duration, warmup=warmup, **settings)
    net.link("a", "b", name="link", rate="10Mbit/s", delay="1ms", queue=queue or fl.Droptail(limit="1000000p"), loss=loss)
    return net.flow("udp", "a", "b", udp={"header": "0B"}, **flow)


def errors(values: list[fl.Interval]) -> tuple[list[float], list[float]]:
    """Means and half widths of intervals."""
    return [v.mean or 0.0 for v in values], [v.half_width or 0.0 for v in values]


def droptail() -> Figure:
    """Mean number waiting before one link, against M/D/1 and M/M/1 (Kleinrock, volume 1)."""
    loads = [0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9]
    fine = [i / 200 for i in range(20, 186)]
    laws = {
        "fixed": ("fixed sizes", "M/D/1", lambda r: r * r / (2 * (1 - r))),
        "exponential": ("exponential sizes", "M/M/1", lambda r: r * r / (1 - r)),
    }
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    axes = figure.add_subplot()
    for sizes, (label, name, law) in laws.items():
        waiting = []
        for load in loads:
            source = fl.Poisson(rate=f"{round(load * 1e7)}bit/s", size="1000B", sizes=sizes)
            waiting.append(one_link(duration="210s", warmup="10s", source=source).run(seeds=SEEDS).value("queue_mean", link="link"))
        (line,) = axes.plot(fine, [law(r) for r in fine], label=f"{name}, formula")
        means, half = errors(waiting)
        axes.errorbar(loads, means, half, fmt="o", ms=4, capsize=3, color=line.get_color(), label=f"{label}, ten runs, 95 %")
    axes.set(xlabel="load", ylabel="packets waiting, time mean", yscale="log")
    axes.legend(fontsize="small")
    return figure


def mean_gap(p_b: float, *, wait: bool) -> float:
    """Mean number of arrivals from drop to drop at a steady p_b, from p_a of Floyd and Jacobson 1993, section 4."""
    left, mean, count, last = 1.0, 0.0, 0, 2.0 if wait else 1.0
    while left > 1e-12:
        count += 1
        expected = count * p_b
        p = 0.0 if expected < last - 1 else p_b / (last - expected) if expected < last else 1.0
        mean += count * left * min(p, 1.0)
        left *= 1 - min(p, 1.0)
    return mean


def red() -> Figure:
    """Share dropped at a steady overload, against the mean of the average queue."""
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    axes = figure.add_subplot()
    fine = [20 + i * 0.25 for i in range(1, 240)]
    for wait, label in ((False, "wait = false"), (True, "wait = true")):
        formula = []
        for avg in fine:
            p_b = 0.1 * (avg - 20) / 40 if avg < 60 else 0.1 + 0.9 * (avg - 60) / 60
            formula.append(1 / mean_gap(p_b, wait=wait))
        (line,) = axes.plot(fine, formula, label=f"formula, {label}")
        xs, ys = [], []
        for drop in (0.02, 0.04, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.4):
            rate = f"{round(1e7 / (1 - drop))}bit/s"
            # A slow average makes p_b nearly constant, which the formula supposes.
            queue = fl.Red(limit="1000p", min="20p", max="60p", max_p=0.1, w_q=0.0005, gentle=True, wait=wait)
            net = one_link(duration="120s", warmup="60s", sample="50ms", queue=queue, source=fl.Cbr(rate=rate, size="1000B"))
            result = net.run(seeds=1)
            late = result.link_series.filter((pl.col("link") == "link") & (pl.col("time") >= 60))
            xs.append(late["avg"].mean())
            ys.append(result.value("loss", link="link").mean)
        axes.plot(xs, ys, "o", ms=4, color=line.get_color(), label=f"measured, {label}")
    axes.set(xlabel="average queue (packets); min 20, max 60, max_p 0.1", ylabel="share of arrivals dropped", xlim=(18, 80), ylim=(0, 0.5))
    axes.legend(fontsize="small")
    return figure


def backoff_times(preset: str, until: float) -> tuple[list[float], float]:
    """When a sender whose network falls silent retransmits, from the last acknowledgment on, and its RTO then."""
    params = {"preset": preset, "cc": "newreno", "mss": "1000B", "initial_window": "4p"}
    sender, receiver = Endpoint(params), Endpoint(params, passive=True)
    now, rtt, sent = 0.0, 0.1, 0
    wire: list[tuple[float, int, bool, Segment]] = []

    def post(segments: list[Segment], forward: bool) -> None:
        nonlocal sent
        for s in segments:
            sent += 1
            wire.append((now + rtt / 2, sent, forward, s))

    receiver.start(0.0)
    post(sender.start(0.0), True)
    post(sender.write(0.0, 20_000), True)
    while now < 3.0:
        deadlines = [d for d in (sender.next_deadline, receiver.next_deadline) if d is not None]
        now = min([w[0] for w in wire] + deadlines + [3.0])
        due = sorted(w for w in wire if w[0] <= now)
        for w in due:
            wire.remove(w)
            post((receiver if w[2] else sender).receive(now, w[3]), not w[2])
        post(sender.advance(now), True)
        post(receiver.advance(now), False)
    start, rto = now, sender.view()["rto"]
    sender.write(now, 1000)
    times = []
    while sender.next_deadline is not None and sender.next_deadline - start < until:
        now = sender.next_deadline
        if sender.advance(now):
            times.append(now - start)
    return times, rto


def tcp() -> Figure:
    """Exponential back-off (RFC 6298 section 5.5) of a segment that is never acknowledged."""
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    axes = figure.add_subplot()
    most = {"rfc": 60.0, "ns2": 60.0, "linux": 120.0}
    for preset, cap in most.items():
        times, rto = backoff_times(preset, 400.0)
        want, at, span = [], 0.0, rto
        while at + span < 400.0:
            at += span
            want.append(at)
            span = min(2 * span, cap)
        (line,) = axes.plot(range(1, len(want) + 1), want, label=f"{preset}: doubling from {rto:.3g} s to {cap:.0f} s")
        axes.plot(range(1, len(times) + 1), times, "o", ms=5, mfc="none", color=line.get_color())
    axes.set(xlabel="retransmission of the same segment", ylabel="seconds after the first transmission", yscale="log")
    axes.legend(fontsize="small", title="lines: formula; circles: endpoint", title_fontsize="small")
    return figure


LOST = (20, 24, 28)


def recovery_trace(cc: str) -> tuple[list[tuple[float, float]], list[tuple[float, float]], float]:
    """Window over time, retransmissions and end of a transfer that loses three segments of one window."""
    params = {"cc": cc, "mss": "1000B", "initial_window": "20p", "initial_ssthresh": "2p", "ack_every": 1, "handshake": False, "fin": False}
    sender, receiver = Endpoint(params), Endpoint(params, passive=True)
    delay, now, count, sent = 0.05, 0.0, 0, 0
    wire: list[tuple[float, int, bool, Segment]] = []
    window: list[tuple[float, float]] = []
    again: list[tuple[float, float]] = []
    free = 0.0

    def post(segments: list[Segment], forward: bool) -> None:
        nonlocal count, sent, free
        for s in segments:
            count += 1
            leave = now
            if forward and s.payload:
                leave = free = max(free, now) + 0.001  # a link of 1000 segments a second
                if s.retransmission:
                    again.append((now, (s.seq - 1) / 1000))
                sent += 1
                if sent - 1 in LOST:
                    continue
            wire.append((leave + delay, count, forward, s))

    post(receiver.start(0.0), False)
    post(sender.start(0.0), True)
    post(sender.write(0.0), True)
    while now < 3.0:
        deadlines = [d for d in (sender.next_deadline, receiver.next_deadline) if d is not None]
        now = min([w[0] for w in wire] + deadlines)
        for w in sorted(w for w in wire if w[0] <= now):
            wire.remove(w)
            post((receiver if w[2] else sender).receive(now, w[3]), not w[2])
        post(sender.advance(now), True)
        post(receiver.advance(now), False)
        cwnd = sender.view()["cwnd"] / 1000
        if not window or window[-1][1] != cwnd:
            window.append((now, cwnd))
    return window, again, receiver.delivered / 1000


def tcp_recovery() -> Figure:
    """The four schemes after the same three losses in a window of 20 segments."""
    figure = Figure(figsize=(7, 4.6), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, sharey=True).flat
    for axes, (cc, name) in zip(panels, {"tahoe": "Tahoe", "reno": "Reno", "newreno": "NewReno", "sack": "SACK"}.items(), strict=True):
        window, again, delivered = recovery_trace(cc)
        axes.step([t for t, _ in window], [w for _, w in window], where="post", lw=1.2, label="cwnd")
        axes.plot([t for t, _ in again], [1.0] * len(again), "|", ms=9, mew=1.3, color="C3", label="retransmission")
        axes.set_title(f"{name}: {delivered:.0f} segments in 3 s", fontsize="medium")
    figure.supxlabel("time (s)", fontsize="medium")
    figure.supylabel("segments", fontsize="medium")
    panels = figure.axes
    panels[0].set(xlim=(0, 3), ylim=(0, 42))
    panels[0].legend(fontsize="small", loc="upper right")
    return figure


def udp_and_sources() -> Figure:
    """Packets in windows of 10 ms, ten in the mean: Poisson against its probabilities, CBR with and without jitter."""
    figure = Figure(figsize=(7, 3.2), layout="constrained")
    axes = figure.add_subplot()
    sources = {
        "cbr, jitter 1": fl.Cbr(rate="8Mbit/s", size="1000B", jitter=1.0),
        "poisson": fl.Poisson(rate="8Mbit/s", size="1000B"),
        "cbr (all in one bar, cut off)": fl.Cbr(rate="8Mbit/s", size="1000B"),
    }
    for k, (label, source) in enumerate(sources.items()):
        net = fl.Network(duration="200s", sample="10ms").link("a", "b", name="link", rate="100Gbit/s", delay="1us")
        net.flow("udp", "a", "b", udp={"header": "0B"}, source=source).set("flows.udp.start", "5us")
        series = net.run(seeds=1).link_series.filter((pl.col("link") == "link") & (pl.col("time") > 0.01))
        counts = (series["throughput"] * 0.01 / 8000).round().cast(pl.Int64)
        share = [(counts == n).sum() / len(counts) for n in range(26)]
        axes.bar([n + 0.27 * (k - 1) for n in range(26)], share, width=0.27, label=label, color=f"C{k}")
    axes.plot(range(26), [math.exp(-10) * 10**n / math.factorial(n) for n in range(26)], "k_", ms=9, label="Poisson law")
    axes.set(xlabel="packets in 10 ms", ylabel="share of the windows", ylim=(0, 0.5))
    axes.legend(fontsize="small")
    return figure


def links_and_routing() -> Figure:
    """Delay over a chain of store-and-forward links, and losses of an impaired link."""
    figure = Figure(figsize=(7, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    hops = list(range(1, 11))
    delays = []
    for n in hops:
        net = fl.Network(duration="2s")
        for k in range(n):
            net.link(f"n{k}", f"n{k + 1}", rate=f"{k + 1}Mbit/s", delay=f"{k + 1}ms")
        net.flow("udp", "n0", f"n{n}", udp={"header": "0B"}, source=fl.Cbr(rate="80kbit/s", size="1000B"))
        delays.append((net.run().value("delay_max", flow="udp").mean or 0.0) * 1e3)
    left.plot(hops, [sum(8 / (k + 1) + k + 1 for k in range(n)) for n in hops], label="sum of length / rate + delay")
    left.plot(hops, delays, "o", ms=5, mfc="none", label="measured")
    left.set(xlabel="links of the path", ylabel="one-way delay (ms)")
    left.legend(fontsize="small")
    wanted = [0.0005, 0.002, 0.01, 0.05, 0.2, 0.5]
    found = []
    for loss in wanted:
        net = one_link(duration="100s", loss=loss, source=fl.Cbr(rate="8Mbit/s", size="1000B"))
        found.append(net.run(seeds=SEEDS).value("loss", flow="udp"))
    means, half = errors(found)
    right.plot(wanted, wanted, label="as asked for")
    right.errorbar(wanted, means, half, fmt="o", ms=4, capsize=3, label="measured, ten runs, 95 %")
    right.set(xlabel="loss of the link", ylabel="loss of the flow", xscale="log", yscale="log")
    right.legend(fontsize="small")
    return figure


def metrics() -> Figure:
    """Percentiles of the time in an M/M/1 system, which is exponential with mean service time / (1 - load)."""
    figure = Figure(figsize=(7, 3.2), layout="constrained")
    axes = figure.add_subplot()
    loads = [0.2, 0.4, 0.6, 0.7, 0.8]
    fine = [i / 100 for i in range(15, 84)]
    results = []
    for load in loads:
        source = fl.Poisson(rate=f"{round(load * 1e7)}bit/s", size="1000B", sizes="exponential")
        results.append(one_link(duration="310s", warmup="10s", source=source).run(seeds=SEEDS))
    for name, q in (("delay_p50", 0.5), ("delay_p95", 0.95), ("delay_p99", 0.99)):
        (line,) = axes.plot(fine, [-math.log(1 - q) * 0.8 / (1 - r) + 1.0 for r in fine], label=f"{name}, formula")
        means, half = errors([r.value(name, flow="udp") for r in results])
        axes.errorbar(loads, [m * 1e3 for m in means], [h * 1e3 for h in half], fmt="o", ms=4, capsize=3, color=line.get_color())
    axes.set(xlabel="load", ylabel="one-way delay (ms)", yscale="log")
    axes.legend(fontsize="small", title="points: ten runs, 95 %", title_fontsize="small")
    return figure


FIGURES = {
    "droptail": droptail,
    "red": red,
    "tcp": tcp,
    "tcp-recovery": tcp_recovery,
    "udp-and-sources": udp_and_sources,
    "links-and-routing": links_and_routing,
    "metrics": metrics,
}


def main(names: list[str]) -> int:
    """Draws the figures named, or all."""
    unknown = [n for n in names if n not in FIGURES]
    if unknown:
        print(f"no figure is called {unknown[0]}; there are {', '.join(FIGURES)}", file=sys.stderr)
        return 2
    FOLDER.mkdir(exist_ok=True)
    with mpl.rc_context(STYLE):
        for name in names or FIGURES:
            FIGURES[name]().savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
            print(FOLDER / f"{name}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
