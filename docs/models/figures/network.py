"""Table of the figures of sources, links, topologies, controls at the source and metrics, by the name of their page."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes

import fairlane as fl

from . import formulas
from .draw import HOLLOW, THIN, Drawing, Item, Panel, curve, law, level, mark_at, one, panel, plot, spread, steps, two
from .runs import CLASSES, SEEDS, Points, cbr, class_means, droptail, lossy_rate, mean, net, poisson, run, series, table, tcp, udp, value
from .special import band, call_delays, cellular, degrees, over_cellular, over_satellite, recorded, replayed, satellite, waxman

FAST = {"rate": "100Gbit/s"}
PRINTED = {
    "congestion_signal": (290.39, 612.04, 1084.67, 1581.06, 802.65, 1390.16),
    "time_slots": (450.42, 1114.75, 1447.57, 1910.88, 1533.65, 1719.07),
}
"""Yang and Fu 2001, table 4, FCFS, first source: cc/cc and ts/ts."""
BOUNDS = ((187, 366), (551, 728), (996, 1171), (1427, 1600), (775, 1171), (1212, 1600))
"""Seconds under strict priority: one flow of a class after the other, and equal shares within a class."""
FLUID = (448.3, 1106.9, 1428.7, 1895.2, 1548.3, 1804.8)
"""Seconds: 0.5 Mbit/s a source, slots of 0.1 s, 1 s lost in each turn of TCP."""
LOSSES = (0.002, 0.005, 0.01, 0.02, 0.04)
LATE = (0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20)
SIZES = [2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 400_000, 700_000]
LOOP = [1, 2, 4, 6, 8, 10, 12, 16, 20, 24, 32]


def who_sends(control: Any, **settings: Any) -> Panel:
    """Goodput of four flows of one source, priorities 1 to 4, and when they are open."""

    def draw(axes: Axes) -> None:
        made = net(
            "60s", tcp(name="f", count=4, class_=[1, 2, 3, 4], **settings), sample="500ms", rate="1Mbit/s", delay="50ms", queue=droptail(20)
        )
        made.control(control)
        for i in range(4):
            own, base = table(made, f"f.{i}"), 3 - i
            axes.fill_between(own["time"], base, base + 0.9 * own["open"], step="pre", color=f"C{i}", alpha=0.2, lw=0)
            axes.step(own["time"], base + 0.9 * own["goodput"] / 1e6, color=f"C{i}", lw=1)

    names = [f"priority {p}" for p in (1, 2, 3, 4)]
    return panel("time (s)", "", draw, legend=None, yticks=[3.4, 2.4, 1.4, 0.4], yticklabels=names)


def classes(control: str) -> Panel:
    """Means of the classes of 200 flows next to the paper."""
    places = range(len(CLASSES))

    def draw(axes: Axes) -> None:
        means = [class_means(control)[c] for c in CLASSES]
        if control == "time_slots":
            axes.bar(places, means, color="C0", alpha=0.6, label="fairlane")
            axes.plot(places, FLUID, "k_", ms=18, label="fluid model")
        else:
            axes.vlines(places, *zip(*BOUNDS, strict=True), color="0.75", lw=9, label="strict priority")
            axes.plot(places, means, "C0o", ms=5, label="fairlane")
        axes.plot(places, PRINTED[control], "rx", ms=5, label="Yang and Fu 2001")

    return panel("", "mean transmission time (s)", draw, xticks=list(places), xticklabels=CLASSES, ylim=(0, None))


def chain_delay(hops: int) -> float:
    """Milliseconds over links of 1, 2, 3... Mbit/s and ms."""
    made = fl.Network(duration="2s")
    for k in range(hops):
        made.link(f"n{k}", f"n{k + 1}", rate=f"{k + 1}Mbit/s", delay=f"{k + 1}ms")
    made.flow("udp", "n0", f"n{hops}", udp={"header": "0B"}, source=cbr(0.08))
    return mean(made, "delay_max", flow="udp", scale=1e3)


def flow_loss(loss: float) -> tuple[float, float]:
    """Loss of a flow over a link with a loss."""
    return value(net("100s", udp(cbr(8)), loss=loss), "loss", flow="udp", seeds=SEEDS)


def gilbert(loss: float, burst: float = 8.0) -> dict[str, object]:
    """Gilbert's chain with this loss and mean burst."""
    return {"gilbert_elliott": {"p": loss / burst / (1 - loss), "r": 1 / burst}}


@cache
def bursts(alone: bool) -> list[int]:
    """Lengths of the runs of losses among packets a millisecond apart."""
    loss = 0.04 if alone else gilbert(0.04)
    network = net("200s", udp(cbr(8), start="500us"), sample="1ms", rate="1Gbit/s", delay="1us", loss=loss)
    return [len(found) for found in "".join(" " if rate else "x" for rate in series(network, "goodput", "udp")[1]).split()]


def sack_over(alone: bool, loss: float) -> tuple[float, float]:
    """Mbit/s of SACK over a link that loses packets one way."""
    path = {"delay": "20ms", "queue": droptail(100), "loss": loss if alone else gilbert(loss), "reverse": {"loss": 0.0}}
    network = net("60s", tcp({"preset": "rfc", "cc": "sack"}), warmup="5s", **path)
    return value(network, "goodput", flow="tcp", seeds=SEEDS, scale=1e-6)


def reordered(settings: dict[str, Any], late: float) -> fl.Network:
    """One packet in fifty is late."""
    path = {"reorder": {"share": 0.02, "delay": f"{late}ms"}, "reverse": {"reorder": {"share": 0.0, "delay": "1ms"}}}
    return net("60s", tcp({"preset": "rfc", "cc": "sack", **settings}), warmup="5s", delay="20ms", queue=droptail(100), **path)


def again(settings: dict[str, Any], late: float) -> float:
    """Percentage of the packets that are retransmissions."""
    network = reordered(settings, late)
    return 100 * mean(network, "retransmits", flow="tcp") / mean(network, "packets_sent", flow="tcp")


def rates(network: fl.Network, since: float, last: int | None = None) -> np.ndarray:
    """Throughput of the link in each sample."""
    return table(network, since=since)["throughput"].to_numpy()[:last]


def sums(x: np.ndarray, window: int) -> np.ndarray:
    """Sums over windows."""
    return x[: len(x) // window * window].reshape(-1, window).sum(axis=1)


def dispersed(source: object, window: float) -> float:
    """Variance over mean of the counts in windows of a length in seconds."""
    network = net("2001s", udp(source), sample="10ms", delay="0s", **FAST)
    counts = sums(np.round(rates(network, 0.501, 200_000) * 0.01 / 8000), round(window / 0.01))
    return float(np.var(counts) / np.mean(counts))


def variance(source: object, window: int) -> float:
    """Variance of the mean rate of 50 sources, over that for 2 s: windows of one second are not yet far from the periods."""
    x = rates(net("4100s", udp(source, count=50), sample="1s", rate="1Gbit/s", delay="0s"), 3.001, 4096)
    return float(np.var(sums(x, window) / window) / np.var(sums(x, 2) / 2))


def frames(correlation: float, lag: int) -> float:
    """Autocorrelation of the frame sizes of a video."""
    video = fl.sources.Video(gop="IBBPBBPBBPBB", i_size="15kB", p_size="8kB", b_size="3kB", cv=0.3, correlation=correlation, first=0)
    x = rates(net("200s", udp(video, start="10ms"), sample="40ms", delay="0s", **FAST), 0.021)
    x = x - x.mean()
    return float((x[:-lag] * x[lag:]).mean() / x.var())


def spurts(talk: bool, longer: float) -> float:
    """Share of the spurts or silences of a call that last longer."""
    network = net("20000s", udp(fl.sources.Voip(codec="g711"), udp={}, start="10ms"), sample="20ms", rate="1Gbit/s", delay="0s")
    sent = rates(network, 1.001) > 0
    edges = np.flatnonzero(np.diff(sent))
    lengths, talks = np.diff(edges) * 0.02, sent[edges[:-1] + 1]
    return float((lengths[talks == talk] > longer + 0.01).mean())


def counted(axes: Axes) -> None:
    """Packets in windows of 10 ms, ten in the mean."""
    sources = {"cbr, jitter 1": cbr(8, jitter=1.0), "poisson": poisson(8), "cbr (all in one bar, cut off)": cbr(8)}
    for k, (label, source) in enumerate(sources.items()):
        counts = np.round(rates(net("200s", udp(source, start="5us"), sample="10ms", delay="1us", **FAST), 0.011) * 0.01 / 8000)
        axes.bar(
            [n + 0.27 * (k - 1) for n in range(26)],
            [float((counts == n).mean()) for n in range(26)],
            width=0.27,
            label=label,
            color=f"C{k}",
        )


def load_time(window: int, size: int) -> float:
    """Seconds until a page is there."""
    made = fl.Network(duration="20s").link("server", "browser", rate="10Mbit/s", delay="20ms", queue=droptail(10000))
    settings = {"cc": "newreno", "initial_window": f"{window}p", "ack_every": 1, "idle_restart": "off"}
    made.flow("web", "server", "browser", tcp=settings, source=fl.sources.Web(model="rfc7928", page=f"{size}B", pages=1))
    return mean(made, "transaction_time_mean", flow="web")


def loop(transport: dict[str, Any], requests: int) -> fl.Network:
    """A closed loop of requests."""
    made = fl.Network(duration="30s", warmup="2s").link("server", "client", rate="10Mbit/s", delay="20ms", queue=droptail(10000))
    return made.flow(
        "rpc", "server", "client", source=fl.sources.RequestResponse(response="20000B", think="200ms", outstanding=requests), **transport
    )


def answers(name: str, transport: dict[str, Any], fmt: str, color: str) -> list[Item]:
    """Answers a second, and Little's law with the measured time."""

    def little(n: float) -> float:
        return n / (mean(loop(transport, int(n)), "transaction_time_mean", flow="rpc", seeds="1..3") + 0.2)

    measured = partial(lambda n: mean(loop(transport, n), "transactions", flow="rpc", seeds="1..3", scale=1 / 28))
    return [
        curve(f"{name}: answers a second", LOOP, measured, fmt=fmt, color=color, ms=6, mfc="none"),
        law(f"{name}: N / (R + Z), R measured", LOOP, little, "+", color=color),
    ]


def shared_rates() -> fl.Network:
    """Flows of TFRC and as many of TCP behind a RED queue of 10 Mbit/s and 48 ms."""
    made = fl.Network(duration="100s", sample="1s")
    queue = {"red": {"limit": "100p", "min": "10p", "max": "50p"}}
    bottleneck = {"rate": "10Mbit/s", "delay": "20ms", "queue": queue}
    made.dumbbell(pairs=8, access={"rate": "100Mbit/s", "delay": "2ms"}, bottleneck=bottleneck)
    settings = {"preset": "rfc", "cc": "newreno", "recovery": "sack", "mss": "1000B", "ack_every": 1}
    made.flow("tcp", "s{i}", "d{i}", count=4, spread="1s", tcp=settings)
    return made.flow("rate", "s{i}", "d{i}", count=4, first=4, spread="1s", udp={}, source={"tfrc": {}})


def tfrc_points() -> Points:
    """Loss event rate and packets a round trip: losses of one round trip are one event."""
    nets = [lossy_rate({"tfrc": {}}, x) for x in (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)]
    flows = [run(n, SEEDS).flows for n in nets]
    events = [float(f["cwnd_cuts"].sum()) / float(f["packets_sent"].sum()) for f in flows]
    return events, [mean(n, "goodput", flow="rate", seeds=SEEDS, scale=0.1 / 8000) for n in nets]


def rap_mean(loss: float) -> float:
    """Packets a round trip of RAP with random loss."""
    return mean(lossy_rate({"rap": {}}, loss), "goodput", flow="rate", seeds=SEEDS, scale=0.1 / 8000)


def sawtooth(name: str) -> Points:
    """Allowed rate of one flow."""
    network = net("60s", udp({name: {}}, "rate", udp={}), sample="200ms", delay="20ms", queue=droptail(25))
    return series(network, "rate", "rate", since=30.001, scale=1e-6)


RADIO = {
    "rate": "11Mbit/s",
    "control_rate": "1Mbit/s",
    "after_timeout": "difs",
    "immediate_access": False,
    "queue": {"droptail": {"limit": "50p"}},
}
SATURATED = {"udp": {}, "source": {"cbr": {"rate": "8Mbit/s", "size": "1000B"}}}


@cache
def chain(hops: int) -> float:
    """Goodput in Mbit/s of a saturated chain of stations on ns-2's ground."""
    ground = {"propagation": {"two_ray": {"frequency_ghz": 0.914, "height_m": 1.5}}, "grid": {"columns": hops + 1, "spacing_m": 200}}
    ground |= {"power_dbm": 24.5, "sensitivity_dbm": -64.37, "cca_dbm": -78.07, "floor_dbm": -101, "overlaid_unsensed": True}
    made = fl.Network(duration="22s", warmup="2s").wireless("air", **ground, **RADIO).flow("f", "n0", f"n{hops}", **SATURATED)
    return made.run(seed=4).value("goodput").mean / 1e6


def hidden(rts: str, name: str) -> Points:
    """Goodput over time of one of two saturated stations on both sides of a third one."""
    places = {"a": [0, 0], "r": [200, 0], "b": [400, 0]}
    air = {"propagation": {"fixed_range": {"range_m": 250}}, "rts_threshold": rts, "nodes": places, **RADIO}
    made = fl.Network(duration="6s", warmup="1s", sample="100ms").wireless("air", **air)
    return series(made.flow("a", "a", "r", **SATURATED).flow("b", "b", "r", **SATURATED), "goodput", name, scale=1e-6)


MODES = (0.5, 0.95, 0.99)
ON_OFF = {"rate": "160kbit/s", "size": "1000B", "on": "200ms", "off": "200ms"}
MMPP = fl.sources.Mmpp(states=[{"rate": "800kbit/s", "stay": "150ms"}, {"rate": "7200kbit/s", "stay": "50ms"}], size="1000B")
FRAMELESS = {"frameon": False, "fontsize": 8}
LOG = {"xscale": "log", "yscale": "log"}
UDP = ("UDP", {"udp": {}}, "s", "C0")
TCP = ("TCP", {"tcp": {"cc": "cubic", "initial_window": "20p", "idle_restart": "off"}}, "o", "C1")
QUEUES = (("200 packets", droptail(200)), ("FQ-CoDel", fl.queues.FqCodel()))
LOADS = [0.2, 0.4, 0.6, 0.7, 0.8]

# fmt: off
def windows(who: str) -> fl.Network:
    """One flow of CUBIC, of a real stack or of the simulator, over 20 Mbit/s, 40 ms and a buffer of a bandwidth-delay product."""
    flow = {"stack": "quinn"} if who == "quinn" else {"tcp": {"preset": "linux", "cc": "cubic"}}
    return net("40s", ("f", flow), sample="50ms", rate="20Mbit/s", delay="20ms", queue=droptail(70))


FIGURES = {
    # Needs an extension with quinn: cargo build --features quinn.
    "stacks": one(
        "time (s)", "congestion window (kB)",
        plot("quinn", lambda: series(windows("quinn"), "cwnd", "f", scale=1e-3), lw=1),
        plot("fairlane, RFC 9438", lambda: series(windows("tcp"), "cwnd", "f", scale=1e-3), lw=1),
    ),
    "time-slots": two(who_sends(fl.controls.TimeSlots(slot="30ms")), classes("time_slots"), size=(7.5, 3.2)),
    "congestion-signal": two(who_sends(fl.controls.CongestionSignal(), source=fl.sources.File(size="1MB")), classes("congestion_signal"), size=(7.5, 3.2)),
    "links-and-routing": two(
        panel(
            "links of the path", "one-way delay (ms)",
            law("sum of length / rate + delay", range(1, 11), lambda n: sum(8 / (k + 1) + k + 1 for k in range(n))),
            curve("measured", range(1, 11), chain_delay, **HOLLOW),
        ),
        panel(
            "loss of the link", "loss of the flow",
            law("as asked for", [0.0005, 0.002, 0.01, 0.05, 0.2, 0.5], lambda x: x),
            curve("measured, ten runs, 95 %", [0.0005, 0.002, 0.01, 0.05, 0.2, 0.5], flow_loss), **LOG,
        ),
        size=(7, 3.2),
    ),
    "loss-models": two(
        panel(
            "packets k", "share of bursts longer than k",
            *(curve(text, range(25),
                lambda k, alone=alone: sum(b > k for b in bursts(alone)) / len(bursts(alone)),
                lambda k, stay=stay: stay**k, formula="", width=1, ms=3)
              for text, alone, stay in (("alone", True, 0.04), ("chain, mean of 8", False, 1 - 1 / 8))),
            yscale="log", ylim=(1e-4, 1.5),
        ),
        panel(
            "loss of the link (%)", "goodput (Mbit/s)",
            *(curve(text, LOSSES, partial(sack_over, alone), fmt="o-") for text, alone in (("alone", True), ("chain, bursts of 8", False))),
            xscale="log", ylim=(0, 10), ticks=(LOSSES, [f"{100 * x:g}" for x in LOSSES]),
        ),
        size=(7, 3.2),
    ),
    "reordering": two(
        panel(
            "late by (ms)", "sent again (% of packets)",
            *(curve(text, LATE, partial(again, x), fmt="o-", ms=3) for text, x in (("SACK", {}), ("SACK with RACK", {"rack": True}))),
            mark_at(3.6, color="0.6", lw=0.8, ls=":"), xscale="log",
        ),
        panel(
            "late by (ms)", "goodput (Mbit/s)",
            *(curve(text, LATE, lambda ms, x=x: mean(reordered(x, ms), "goodput", flow="tcp", scale=1e-6), fmt="o-", ms=3) for text,
                x in (("SACK", {}), ("SACK with RACK", {"rack": True}))),
            mark_at(3.6, color="0.6", lw=0.8, ls=":"), xscale="log", ylim=(0, None),
        ),
        size=(7, 3.2),
    ),
    "link-traces": Drawing(
        [
            panel("", "Mbit/s", cellular, *(steps(text, partial(over_cellular, queue, "throughput", "link", 1e-6), where="pre", lw=1)
                for text, queue in QUEUES), legend={"ncols": 3}),
            panel("time (s)", "smoothed RTT (ms)", *(plot(text, partial(over_cellular, queue, "srtt", "tcp", 1e3), lw=1) for text,
                queue in QUEUES), ylim=(0, None)),
        ],
        (7, 4.6), 2, {"sharex": True},
    ),
    "profiles": Drawing(
        [
            panel("", "Mbit/s", satellite, *(steps(cc, partial(over_satellite, cc, "throughput", "link", 1e-6), where="pre", lw=1)
                for cc in ("cubic", "bbr")), legend={"ncols": 3}),
            panel("time (s)", "smoothed RTT (ms)", *(plot(cc, partial(over_satellite, cc, "srtt", "tcp", 1e3), lw=1)
                for cc in ("cubic", "bbr")), ylim=(0, None)),
        ],
        (7, 4.6), 2, {"sharex": True},
    ),
    "replay": two(
        panel("time (s)", "kB", steps("recorded", recorded), plot("sent", replayed, "o", ms=3, mfc="none")),
        panel("", "one-way delay of the call (ms)", call_delays, xticks=range(3), xticklabels=["median", "95 %", "99 %"]), size=(7, 3.2),
    ),
    "metrics": one(
        "load", "one-way delay (ms)",
        *(curve("", LOADS, lambda x, q=q: value(net("310s", udp(poisson(10 * x, sizes="exponential")), warmup="10s"),
            f"delay_p{100 * q:.0f}", flow="udp", seeds=SEEDS, scale=1e3), lambda r, q=q: -math.log(1 - q) * 0.8 / (1 - r) + 1,
            formula=f"delay_p{100 * q:.0f}, formula", fine=spread(0.15, 0.83, 0.01))
          for q in MODES),
        size=(7, 3.2), yscale="log", legend={"title": "points: ten runs, 95 %", "title_fontsize": "small"},
    ),
    "udp-and-sources": one(
        "packets in 10 ms", "share of the windows", counted, law("Poisson law", range(26),
            lambda n: math.exp(-10) * 10**n / math.factorial(n), "k_", ms=9),
        size=(7, 3.2), ylim=(0, 0.5),
    ),
    "on-off": one(
        "window (s)", "variance of the mean rate, over that for 2 s",
        *(curve(text, [2**k for k in range(7)], partial(variance, source), None if fmt == "x" else lambda w, h=h: (w / 2) ** (2 * h - 2),
            formula=f"slope {2 * h - 2:.1f}", line={}, fmt=fmt, ms=5)
          for text, source, h, fmt in (("Pareto, hurst = 0.8", fl.sources.OnOff(**ON_OFF, periods="pareto", hurst=0.8), 0.8, "o"),
              ("exponential", fl.sources.OnOff(**ON_OFF), 0.5, "s"), ("poisson", poisson(0.08), 0.5, "x"))),
        **LOG,
    ),
    "mmpp": one(
        "window (s)", "variance / mean of the counts",
        *(curve(text, [0.01 * 2**k for k in range(9)], partial(dispersed, source), fmt=fmt, ms=6) for text, source, fmt in (("mmpp",
            MMPP, "o"), ("poisson", poisson(2.4), "x"))),
        law("Heffes and Lucantoni 1986", [10 ** (-2 + 2.5 * k / 99) for k in range(100)], formulas.dispersion, **THIN), level(1,
            color="0.7", lw=0.8, ls="-"),
        size=(7, 3.2), xscale="log",
    ),
    "video": one(
        "lag (frames)", "autocorrelation of frame sizes",
        *(curve(f"correlation = {c}", range(1, 37), partial(frames, c), fmt=fmt) for c, fmt in ((0.0, "o"), (0.9, "s"))),
        law("means and variation of the types", range(1, 37), formulas.frame_correlation, **THIN),
        size=(7, 3.2), xticks=range(0, 37, 6), legend={"ncols": 3, "loc": "lower center", "bbox_to_anchor": (0.5, 1.0)},
    ),
    "voip": one(
        "time (s)", "share that lasts longer",
        *(curve(text, spread(0, 8, 0.1), partial(spurts, talk), lambda t, m=m: math.exp(-t / m), formula=f"exp(-t / {m} s), ITU-T P.59",
            line={}, ms=3)
          for text, talk, m in (("talk spurts", True, 1.004), ("silences", False, 1.587))),
        size=(7, 3.2), yscale="log", ylim=(1e-3, 1.2),
    ),
    "web": one(
        "size of the page, byte", "load time, s",
        *(curve(f"initial window {w}: simulated", SIZES, partial(load_time, w), lambda n, w=w: formulas.page_load(n, w),
            formula=f"initial window {w}: formula", ms=6) for w in (2, 10)),
        size=(7, 3.2), **LOG,
    ),
    "request-response": one(
        "requests in the loop, N", "answers a second", *answers(*UDP), *answers(*TCP), law("bounds, UDP", LOOP, formulas.loop_bound,
            color="0.5", lw=1), size=(7, 3.2), ylim=(0, None),
    ),
    "tfrc": two(
        panel(
            "time in s", "rate in Mbit/s",
            *(plot(text, lambda flow=flow: series(shared_rates(), "throughput", flow, since=1.001, scale=1e-6), lw=1) for flow,
                text in (("tcp.0", "TCP"), ("rate.0", "TFRC"))),
            ylim=(0, None), legend=FRAMELESS,
        ),
        panel(
            "loss event rate", "packets a round trip", plot("simulated", tfrc_points, "o", ms=4),
            law("equation", [10 ** (-3.3 + 0.1 * k) for k in range(26)], formulas.tfrc, lw=1), legend=FRAMELESS, **LOG,
        ),
        size=(8, 3.2),
    ),
    "rap": two(
        panel("time in s", "allowed rate in Mbit/s", *(plot(name.upper(), partial(sawtooth, name), lw=1) for name in ("rap", "tfrc")),
            ylim=(0, None), legend=FRAMELESS),
        panel(
            "loss", "packets a round trip", curve("simulated", (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02), rap_mean),
            law("√(1.5 / p)", (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02), lambda p: math.sqrt(1.5 / p), lw=1), legend=FRAMELESS,
                **LOG,
        ),
        size=(8, 3.2),
    ),
    "topologies": two(
        panel(
            "distance / largest distance", "share of pairs with a link", *waxman(0.3, 0.9, "C0"), *waxman(0.1, 0.6, "C1"),
            legend={"title": "lines: Waxman 1988; marks: drawn", "title_fontsize": "small"},
        ),
        panel(
            "k, links of a node", "share of nodes with k links or more",
            plot("m (m + 1) / (k (k + 1))", lambda: (degrees()[0], [12 / (k * (k + 1)) for k in degrees()[0]])), plot("drawn", degrees,
                "o", ms=3, mfc="none"), **LOG,
        ),
        size=(7, 3.2),
    ),
    "wireless": two(
        panel(
            "hops", "goodput, in units of one hop", law("fairlane", range(1, 11), lambda n: chain(n) / chain(1), "-o", ms=4),
            # Goodput in Mbit/s of ns-3.37.
            plot("ns-3.37", lambda: ([1, 2, 4, 8], [x / 4.87013 for x in (4.87013, 2.66107, 1.39307, 1.17733)]), "kx"),
            band(1 / 7, 1 / 4, color="tab:green", alpha=0.15, label="1/7 to 1/4"), ylim=(0, 1.05),
        ),
        panel(
            "time in s", "goodput in Mbit/s",
            *(plot(f"{name}, {text}", partial(hidden, rts, name), line, color=color, lw=1)
              for rts, text, color in (("none", "without RTS", "tab:red"), ("1B", "behind RTS", "tab:blue")) for name, line in (("a",
                  "-"), ("b", ":"))),
            xlim=(1, 6), ylim=(0, 5), legend={"fontsize": "x-small", "ncols": 2},
        ),
        size=(7, 3.2),
    ),
}
# fmt: on
