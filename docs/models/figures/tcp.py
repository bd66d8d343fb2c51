"""Table of the figures of TCP and congestion controls, by the name of their page."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from validation.formulas import cases, measure
from validation.formulas import formulas as published

import fairlane as fl

from . import endpoints, formulas
from .draw import (
    DASHED,
    HOLLOW,
    THIN,
    Drawing,
    Item,
    Panel,
    curve,
    law,
    level,
    mark_at,
    note,
    one,
    panel,
    plot,
    spread,
    steps,
    two,
    written,
)
from .runs import Points, average_window, bulk, cuts, droptail, lossy_window, mean, net, one_flow, run, series, tcp, window
from .special import PIPE, band, cubic_window, illinois, stages, summed

ROOT = Path(__file__).resolve().parents[3]
PATH = {"rate": "100Mbit/s", "delay": "50ms", "limit": "200p", "sample": "100ms"}
BDP = 67
"""Packets that 20 Mbit/s and 40 ms hold."""
RENO = {"cc": "sack", "initial_ssthresh": "800p"}


def share(cc: str, others: int, buffer: float) -> float:
    """Share of a link of 20 Mbit/s that one flow has against Reno flows, with a buffer in BDP."""
    flows = tcp({"cc": cc}, "model"), tcp({"cc": "sack"}, "reno", count=others, spread="1s")
    network = net("120s", *flows, warmup="40s", rate="20Mbit/s", delay="20ms", queue=droptail(buffer * BDP))
    return mean(network, "goodput", flow="model", seeds="1..3", scale=1500 / 1460 / 20e6)


def left_over(cc: str, percent: float) -> float:
    """Share of a link of 20 Mbit/s that one flow uses with random loss."""
    path = {"rate": "20Mbit/s", "delay": "20ms", "queue": droptail(200), "loss": percent / 100, "reverse": {"loss": 0.0}}
    network = net("60s", tcp({"cc": cc, "recovery": "sack", "rack": True}), warmup="10s", **path)
    return mean(network, "goodput", flow="tcp", seeds="1..3", scale=1500 / 1460 / 20e6)


def paced(pacing: bool, flows: int, limit: int) -> float:
    """Use of a link of 20 Mbit/s by flows of 40 ms."""
    flow = tcp({"cc": "sack", "pacing": pacing}, count=flows, spread="1s")
    network = net("60s", flow, warmup="20s", rate="20Mbit/s", delay="20ms", queue=droptail(limit))
    return mean(network, "utilisation", link="link", seeds="1..3")


def windows_after_loss(
    label: str,
    settings: dict[str, Any],
    duration: str,
    line: Callable[..., Points],
    text: str,
    *items: Item,
    first: int = 0,
    every: int = 2,
    **axes: Any,
) -> Drawing:
    """Window of one flow over 100 Mbit/s and 100 ms, and its formula."""
    found = partial(window, {"initial_ssthresh": "800p", **settings}, duration=duration, **PATH)
    drawn = plot(label, found, ".", every=every, ms=4), stages(found, line, text, first)
    legend = {"loc": "lower right", "ncols": 3}
    return one("time (s)", "congestion window (segments)", *drawn, *items, legend=legend, **axes)


def reno(duration: str) -> Item:
    """Reno on the same path."""
    return plot("Reno with SACK", partial(window, RENO, duration=duration, **PATH), color="C1", lw=1)


def marked(cc: str, k: int, seconds: float, since: float) -> tuple[list[float], list[float]]:
    """Queue of one flow and a step: packets that wait for K others are marked (CoDel's `ce_threshold` alone, K packets as time)."""
    queue = {"codel": {"limit": "1000p", "target": "1s", "interval": "10s", "ecn": True, "ce_threshold": f"{k * 120}us"}}
    flow = tcp({"preset": "rfc", "cc": cc, "ack_every": 1} | ({"ecn": "classic"} if cc == "sack" else {}))
    return series(net(f"{seconds}s", flow, sample="200us", rate="100Mbit/s", delay="5.0ms", queue=queue), "queue", since=since)


def swing(k: int) -> float:
    """Distance between the longest and the shortest queue."""
    queue = marked("dctcp", k, 8.0, 4)[1]
    return max(queue) - min(queue)


def with_ecn(ecn: str, flows: int, duration: str, warmup: str, sample: str | None = None) -> Any:
    """SACK flows over RED."""
    queue = {"red": {"min": "10p", "max": "60p", "limit": "200p", "ecn": True}}
    return bulk(queue, flows, duration, warmup, sample, {"cc": "sack", "ecn": ecn})


def sent_again(ecn: str, flows: int) -> float:
    """Share of the packets that are retransmissions."""
    found = run(with_ecn(ecn, flows, "60s", "10s")).flows
    return float(found["retransmits"].sum() / found["packets_sent"].sum())


def file_time(mode: str, delay: int) -> float:
    """Milliseconds until the second of two files has arrived."""
    flow = {"settings": {"cc": "newreno", "fast_open": mode}, "source": {"file": {"size": "1000B"}}}
    network = net("5s", tcp(name="first", **flow), tcp(name="second", start="2s", **flow), delay=f"{delay}ms")
    return 1e3 * run(network).flows["completion_time"][1]


def hybla(cc: str) -> list[Item]:
    """Rates of a flow with 300 initial segments on paths of three round-trip times, and their formulas."""
    items: list[Item] = []
    for n, rtt in enumerate((0.025, 0.1, 0.3)):
        path = {"rate": "10Gbit/s", "delay": f"{rtt * 500}ms", "limit": "100000p", "duration": "10s", "sample": "250ms"}
        slope = 1 / 0.025**2 if cc == "hybla" else 1 / rtt**2

        def rate(rtt: float = rtt, path: dict[str, str] = path) -> Points:
            times, found = window({"cc": cc, "initial_window": "300p", "initial_ssthresh": "10p"}, **path)
            return times, [w / rtt / 1000 for w in found]

        # Two round trips pass before the window begins to grow: the handshake, and the first data.
        line = partial(lambda t, rtt, slope: (300 / rtt + slope * max(0.0, t - 2 * rtt)) / 1000, rtt=rtt, slope=slope)
        items.append(law(None, spread(0, 10, 0.25), line, color=f"C{n}", lw=1))
        items.append(plot(f"{1000 * rtt:.0f} ms", rate, "osx"[n], every=2, color=f"C{n}", ms=4, mfc="none"))
    return items


def recovery(cc: str, pipe: float) -> float:
    """Round trips between one loss and the next, the median, with a buffer of a twentieth of the bandwidth-delay product."""
    rate = round(pipe * 1488 * 8 / 0.1 / 1e6)
    path = {"rate": f"{rate}Mbit/s", "delay": "50ms", "limit": f"{max(4, int(pipe / 20))}p", "sample": "50ms"}
    duration = "40s" if cc == "scalable" else f"{40 + 2 * rate}s"
    times, found = window({"cc": cc, "initial_ssthresh": f"{int(0.9 * pipe)}p"}, duration=duration, **path)
    gaps = sorted(b - a for a, b in pairwise([times[i] for i in cuts(found)][1:]))
    return gaps[len(gaps) // 2] / 0.1


def without_control(cc: str, limit: int) -> float:
    """Mbit/s of one flow with a window of 60 segments."""
    settings = {"preset": "rfc", "cc": cc, "mss": "960B", "ack_every": 1, "window": "60p"}
    network = net("120s", tcp(settings), warmup="20s", delay="22ms", queue=droptail(limit))
    return mean(network, "goodput", flow="tcp", scale=1e-6)


def from_outside(segments: int) -> float:
    """Mbit/s of one flow whose window is set from outside."""
    settings = {"preset": "rfc", "cc": {"external": {"window": f"{segments}p"}}, "mss": "960B", "ack_every": 1}
    network = net("20s", tcp(settings), warmup="5s", delay="22ms", queue=droptail(200))
    return mean(network, "goodput", flow="tcp", scale=1e-6)


def ledbat() -> Any:
    """A LEDBAT flow alone and, from 60 s to 140 s, in competition with Reno."""
    common = {"mss": "1000B", "ack_every": 1}
    first = tcp({"cc": {"ledbat": {"target": "60ms"}}, "timestamps": True, **common}, "ledbat")
    second = tcp({"cc": "reno", "recovery": "sack", **common}, "reno", start="60s", stop="140s")
    return net("200s", first, second, sample="1s", delay="22ms", queue=droptail(200))


def side_by_side(kind: str, column: str, pairs: int) -> float:
    """Mean of a column over the flows of a kind, of as many of Prague and of CUBIC over DualPI2."""
    flows = tcp("prague", "prague", count=pairs, spread="1s"), tcp({"cc": "cubic", "ecn": "classic"}, "cubic", count=pairs, spread="1s")
    rows = run(net("40s", *flows, warmup="15s", rate="40Mbit/s", delay="5.0ms", queue="dualpi2")).flows
    return float(rows.filter(rows["flow"].str.starts_with(kind))[column].mean())


def vegas() -> Points:
    """Times and windows in packets of one flow over the dumbbell of case C1 of the validation against ns-2."""
    made = fl.Network(duration="4.0s", sample="10ms")
    for name, start, end, rate, delay in (
        ("in", "s", "r1", "100", "1"),
        ("middle", "r1", "r2", "10", "20"),
        ("out", "r2", "d", "100", "1"),
    ):
        made.link(start, end, name=name, rate=f"{rate}Mbit/s", delay=f"{delay}ms", queue=droptail(50))
    made.flow("tcp", "s", "d", tcp={"preset": "ns2", "cc": "vegas", "window": "10000p"})
    return series(made, "cwnd", "tcp", scale=1e-3)


def vegas_ns2() -> Points:
    """Times and windows in packets of ns-2."""
    with (ROOT / "validation/data/ns2/C1_cwnd.csv").open(newline="", encoding="ascii") as file:
        rows = [(float(r["time_s"]), float(r["cwnd_pkts"])) for r in csv.DictReader(file) if r["case"] == "Vegas"]
    shown = [row for row in rows if row[0] <= 4.0]
    return [t for t, _ in shown], [w for _, w in shown]


def against_formula(cc: str, loss: float) -> float:
    """Segments a second of a run of 1000 s, as in the validation against formulas."""
    case = cases.LossCase(cc, 1, loss, "", published.square_root, 0.0)
    return float(measure.segments_per_second(case, seconds=1000, seeds="1..2")[0])


def spike(axes: Axes) -> None:
    """Window of SACK alone, with F-RTO and with Eifel."""
    for label, extra in {"neither": {}, "F-RTO": {"frto": True}, "Eifel": {"eifel": True, "timestamps": True}}.items():
        found, again = endpoints.stalled(extra)
        axes.step(*found, "--" if label == "Eifel" else "-", where="post", label=f"{label}: {again} sent again")


def recovered(cc: str, name: str, **settings: Any) -> Panel:
    """Window of a scheme after three losses in a window of 20 segments."""

    def draw(axes: Axes) -> None:
        found, again, delivered, _ = endpoints.windows({"cc": cc}, endpoints.link(0.001, lambda n, _: n in (20, 24, 28)))
        axes.step(*found, where="post", lw=1.2, label="cwnd")
        axes.plot(*again, "|", ms=9, mew=1.3, color="C3", label="retransmission")
        axes.set_title(f"{name}: {delivered:.0f} segments in 3 s", fontsize="medium")

    return panel("", "", draw, xlim=(0, 3), ylim=(0, 42), **{"legend": None, **settings})


def in_flight(title: str, lost: int, ylabel: str = "", **settings: Any) -> Panel:
    """Segments in flight from the first duplicate on, for each bound of PRR."""
    bounds = {"off": "cut at once (RFC 6675)", "crb": "PRR-CRB", "ssrb": "PRR-SSRB", "rfc9937": "RFC 9937"}
    params = {"cc": "sack", "initial_window": "20p", "initial_ssthresh": "2p", "loss_basis": "cwnd"}
    curves = [
        steps(
            label,
            partial(endpoints.dropped, {**params, "prr": prr}, dict.fromkeys(range(lost), 1), "in_flight", until=0.45, unit=1e3),
            lw=1.2,
        )
        for prr, label in bounds.items()
    ]
    axes = {"title": title, "xlim": (100, 400), "ylim": (0, 24)}
    return panel("time (ms)", ylabel, *curves, level(10, lw=0.6, color="0.5", ls="-"), **axes, **settings)


def acknowledged(title: str, lost: dict[int, int], segments: int, ylabel: str = "", **settings: Any) -> Panel:
    """Segments acknowledged over time, by count and by time."""
    schemes = {"RFC 6675": {}, "RACK": {"rack": True, "prr": "rfc9937"}, "RACK-TLP": {"rack": True, "tlp": True, "prr": "rfc9937"}}
    curves = [
        steps(
            label,
            partial(endpoints.dropped, {"cc": "sack", "initial_window": "10p", **scheme}, lost, "acked", until=3.0, write=segments * 1000),
            lw=1.4 - 0.3 * i,
        )
        for i, (label, scheme) in enumerate(schemes.items())
    ]
    return panel("time (s)", ylabel, *curves, title=title, xlim=(0, None), ylim=(0, None), **settings)


def timers(axes: Axes) -> None:
    """Retransmissions of a segment that is never acknowledged."""
    for preset, cap in {"rfc": 60.0, "ns2": 60.0, "linux": 120.0}.items():
        times, rto = endpoints.silence(preset, 400.0)
        line = axes.plot(*formulas.back_off(rto, cap, 400.0), label=f"{preset}: doubling from {rto:.3g} s to {cap:.0f} s")
        axes.plot(range(1, len(times) + 1), times, "o", ms=5, mfc="none", color=line[0].get_color())


BUFFERS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
SMALL = (2, 4, 8, 16, 32, 64)
RATES = [PIPE * rate / 100 for rate in (10, 20, 50, 100, 200)]
LOST = {1e-2: "60s", 3e-3: "60s", 1e-3: "120s", 3e-4: "120s", 1e-4: "120s", 3e-5: "90s"}
RANDOM = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02)
LIMITS = [1, 2, 4, 6, 10, 15, 20, 30, 40, 50, 55, 58, 59, 60, 65]
LOG = {"xscale": "log", "yscale": "log"}
CC = {
    "reno": ("PFTK", published.pftk, (0.1, 1, 1.0)),
    "sack": ("square-root law", published.square_root, (0.1, 1)),
    "cubic": ("RFC 9438 section 5.1", published.cubic, (0.1,)),
}

# fmt: off
FIGURES = {
    "tcp": one(
        "retransmission of the same segment", "seconds after the first transmission", timers,
        yscale="log", legend={"title": "lines: formula; circles: endpoint", "title_fontsize": "small"},
    ),
    "tcp-recovery": Drawing(
        [recovered("tahoe", "Tahoe", legend={"loc": "upper right"}), recovered("reno", "Reno"), recovered("newreno", "NewReno"),
            recovered("sack", "SACK")],
        (7, 4.6), 2, {"sharex": True, "sharey": True}, ("time (s)", "segments"),
    ),
    "tcp-formulas": one(
        "probability of loss", "goodput (segments/s)",
        *(item for k, (cc, (text, f, rest)) in enumerate(CC.items()) for item in (
            law(text, [1e-5 * 6000 ** (i / 199) for i in range(200)], lambda p, f=f, rest=rest: f(p, *rest), color=f"C{k}", lw=1),
            curve(cc, (*((1e-5, 3e-5) if cc == "cubic" else ()), *cases.LOSSES), partial(against_formula, cc), fmt="oxs"[k],
                color=f"C{k}", ms=5, fillstyle="none"))),
        size=(7, 3.6), legend={"ncols": 2}, **LOG,
    ),
    "fast-open": one(
        "delay one way (ms)", "time to arrive (ms)",
        *(curve(text, range(5, 101, 5), partial(file_time, mode), lambda d, n=n: n * d, line=DASHED | {"lw": 0.8}, ms=3)
          for mode, text, n in (("off", "three-way handshake first", 3), ("cookie", "data in the SYN", 1))),
        note("1.5 and 0.5 round trips", **DASHED | {"lw": 0.8}), size=(7, 3), xlim=(0, None), ylim=(0, None),
    ),
    "ecn": two(
        panel(
            "time (s)", "congestion window (segments)",
            *(plot(text, lambda ecn=ecn: series(with_ecn(ecn, 1, "40s", "0s", "20ms"), "cwnd", "tcp", since=5, scale=1 / 1460), lw=1)
              for text, ecn in (("without ECN", "off"), ("ECN", "classic"))),
            ylim=(0, None),
        ),
        panel(
            "TCP flows", "share of packets sent again",
            *(curve(text, [2, 5, 10, 20, 30], partial(sent_again, ecn)) for text, ecn in (("without ECN", "off"), ("ECN", "classic"))),
                ylim=(-0.002, None),
        ),
    ),
    "pacing": one(
        "buffer (packets); the BDP is 67", "use of the link",
        *(curve(f"{n} flow{'s' * (n > 1)}, {text}", SMALL, partial(paced, on, n), fmt=fmt, color=color)
          for n, color in ((1, "C0"), (10, "C1")) for on, text, fmt in ((True, "paced", "o-"), (False, "in bursts", "x--"))),
        size=(6, 3.4), xscale="log", ticks=(SMALL, [str(b) for b in SMALL]),
    ),
    "fack": one(
        "time since the loss was found (ms)", "segments sent",
        steps("plain", partial(endpoints.after_loss, False)), steps("rampdown", partial(endpoints.after_loss, True)),
        law("half the previous rate", [0, 100], lambda t: t / 5, "k:", lw=1), size=(6, 3.2), xlim=(0, 200), ylim=(0, None),
    ),
    "rack": two(
        acknowledged("the last 3 of 30 are lost", {27: 1, 28: 1, 29: 1}, 30, ylabel="segments acknowledged", legend={"loc": "lower right"}),
        acknowledged("a retransmission is lost", {20: 2}, 200, legend=None), size=(7, 3.2),
    ),
    "prr": two(
        in_flight("the first of 20 is lost", 1, ylabel="segments in flight", legend=None), in_flight("the first 15 of 20 are lost", 15),
        size=(7, 3.2), sharey=True,
    ),
    "spurious": one("time (s)", "cwnd (segments)", spike, band(1.0, 1.4, across=True, color="0.9", zorder=0), size=(6, 3.2), xlim=(0, 3),
        ylim=(0, None)),
    "rfc793": one(
        "limit of the queue (packets)", "goodput (Mbit/s)",
        curve("newreno, measured", LIMITS, partial(without_control, "newreno"), fmt="s-", ms=3),
        curve("rfc793, measured", LIMITS, partial(without_control, "rfc793"), formulas.rfc793, formula="rfc793, formula", fine=range(59)),
        mark_at(59, "the queue holds the window", **DASHED), yscale="log",
    ),
    "external": one(
        "window (segments)", "goodput (Mbit/s)",
        curve("measured", [2, 5, 10, 20, 30, 40, 50, 60, 80], from_outside, formulas.window_limited, formula="window / RTT"),
    ),
    "highspeed": one(
        "probability of loss", "average window (segments)",
        *(curve(name, list(LOST), lambda p, cc=cc: average_window(cc, p, LOST[p]), f, formula=text, fmt=fmt, width=1, **HOLLOW)
          for cc, name, fmt, text, f in (
              ("highspeed", "HighSpeed TCP", "o", "0.12 / p^0.835, RFC 3649", lambda p: 0.12 / p**0.835 if p < 1e-3 else 1.2 / p**0.5),
              ("sack", "Reno with SACK", "s", "1.2 / p^0.5, RFC 5681", lambda p: 1.2 / p**0.5))),
        **LOG,
    ),
    "scalable": one(
        "bandwidth-delay product (segments)", "round trips from loss to loss",
        curve("Scalable TCP", RATES, partial(recovery, "scalable"), lambda _: math.log(1 / 0.875) / math.log(1.01),
            formula="ln(1/(1-b)) / ln(1+a), Kelly 2003", width=1, **HOLLOW),
        curve("Reno with SACK", RATES, partial(recovery, "sack"), lambda w: w * 1.05 / 2, formula="half of the window", fmt="s",
            width=1, **HOLLOW), **LOG,
    ),
    "hybla": two(
        panel("time (s)", "window / RTT (1000 segments/s)", *hybla("hybla"), title="Hybla: slope 1 / RTT0²",
            legend={"title": "circles and so on: runs; lines: formula", "title_fontsize": "small"}),
        panel("time (s)", "", *hybla("reno"), title="Reno: slope 1 / RTT²"), sharey=True,
    ),
    "cubic": windows_after_loss(
        "CUBIC", {"cc": {"cubic": {"fast_convergence": False}}}, "60s", cubic_window, "C (t - K)³ + W_max", reno("60s"), first=1,
            every=3, ylim=(400, 1150),
    ),
    "bic": windows_after_loss(
        "BIC", {"cc": {"bic": {"fast_convergence": False}}}, "60s", partial(summed, lambda w, top, *_: formulas.bic(w, top)),
            "sum of the steps",
        level(PIPE, "bandwidth-delay product", color="0.7", lw=0.8), ylim=(700, 1100),
    ),
    "htcp": windows_after_loss(
        "H-TCP", {"cc": "htcp"}, "40s", partial(summed, lambda _, top, first, t: 2 * (1 - first / top) * formulas.htcp(t + 0.1)),
            "sum of 2 (1 - beta) alpha",
        reno("40s"), ylim=(350, 1150),
    ),
    "hystart": one(
        "time (s)", "congestion window (segments)",
        *(plot(text, partial(window, {"cc": "sack", "slow_start": kind, "byte_counting": 2}, rate="50Mbit/s", delay="40ms", limit="900p",
            duration="2500ms", sample="20ms"), lw=1.2)
          for kind, text in (("standard", "standard"), ("limited", "limited, RFC 3742"), ("hystart", "HyStart"), ("hystart_plus_plus",
              "HyStart++, RFC 9406"))),
        *(item for w, text in ((336.0215, "path"), (378.0242, "+ 1/8 of the RTT"), (1236.0215, "path and buffer")) for item in (level(w,
            color="0.5", lw=0.8), written(2.5, w, text))),
        ylim=(0, 2500), legend={"loc": "upper left", "ncols": 2},
    ),
    "vegas": one(
        "time (s)", "cwnd (packets)", plot("fairlane", vegas, lw=1.2), plot("ns-2.35", vegas_ns2, "o", ms=4, mfc="none"),
        # Round trip of a packet of 1000 bytes and its acknowledgment of 40 over the empty path, in packets of the bottleneck.
        *(level((2 * 0.022 + 1040 * 8 * (1 / 10e6 + 2 / 100e6)) * 10e6 / 8000 + extra, lw=0.8) for extra in (1, 3)),
    ),
    "westwood": one(
        "part of the segments lost", "segments a round trip",
        *(curve(name, (*RANDOM, 0.05), partial(lossy_window, cc, rate="10Mbit/s"), fmt=fmt, lw=0.8, capsize=2) for cc, name,
            fmt in (("westwood", "Westwood+", "o-"), ("reno", "Reno", "s-"))),
        law("sqrt(3 / 2p)", (*RANDOM, 0.05), lambda p: (1.5 / p) ** 0.5, **DASHED),
        # 100 ms and the time to send a packet, at 10 Mbit/s.
        level(10e6 / 8320 * (0.1 + 8320 / 10e6), "what the path holds", color="0.7", ls=":"), **LOG,
    ),
    "veno": one(
        "part of the segments lost", "segments a round trip",
        *(curve(cc.capitalize(), RANDOM, partial(lossy_window, cc, rate="100Mbit/s"), lambda p, b=b: ((2 - b) / (2 * b * p)) ** 0.5,
            formula=f"AIMD, cut of {b}", line={"ls": "--"}, fmt=fmt, capsize=2)
          for cc, b, fmt in (("veno", 0.2, "o"), ("reno", 0.5, "s"))),
        **LOG,
    ),
    "yeah": one(
        "time (s)", "packets in the queue",
        *(plot(text, partial(series, one_flow({"cc": cc, "initial_ssthresh": "1000p"}, "1000p", "60s"), "queue"), lw=1) for cc,
            text in (("scalable", "Scalable TCP"), ("yeah", "YeAH"))),
        level(80, "Qmax", lw=0.8),
    ),
    "illinois": one("time (s)", "cwnd (segments)", *illinois()),
    "ledbat": Drawing(
        [
            panel("", "goodput (Mbit/s)", *(plot(text, lambda flow=flow: series(ledbat(), "goodput", flow, scale=1e-6), lw=1) for flow,
                text in (("ledbat", "LEDBAT"), ("reno", "Reno")))),
            panel("time (s)", "queueing delay (ms)", plot(None, lambda: series(ledbat(), "queue", scale=1.04 * 8 / 10), lw=1,
                color="0.2"), level(60, "target", lw=0.8)),
        ],
        (7, 4.2), 2, {"sharex": True},
    ),
    "bbr": two(
        panel(
            "buffer (BDP), with one Reno flow", "share of the link",
            *(curve(cc, BUFFERS, partial(share, cc, 1), fmt=fmt) for cc, fmt in (("bbr", "o-"), ("bbr3", "s-"), ("sack", "x:"))),
            xscale="log", ylim=(0, 1), ticks=(BUFFERS, [f"{b:g}" for b in BUFFERS]),
        ),
        panel(
            "flows of Reno, buffer 10 BDP", "",
            *(curve(cc, (1, 2, 4, 8, 16), lambda n, cc=cc: share(cc, n, 10), fmt=fmt) for cc, fmt in (("bbr", "o-"), ("bbr3", "s-"))),
            law("equal shares", (1, 2, 4, 8, 16), lambda n: 1 / (n + 1), ":", color="0.4"), xscale="log", ticks=((1, 2, 4, 8, 16), ["1",
                "2", "4", "8", "16"]),
        ),
        size=(7.5, 3.2), sharey=True,
    ),
    "bbr3": one(
        "packets lost at random (%); dotted: the threshold of version 3", "use of the link",
        *(curve(cc, (0.01, 0.03, 0.1, 0.3, 1, 2, 4, 8), partial(left_over, cc), fmt=fmt) for cc, fmt in (("bbr", "o-"), ("bbr3", "s-"),
            ("cubic", "^-"), ("sack", "x-"))),
        mark_at(2, color="0.6", lw=0.8, ls=":"), size=(6, 3.4), xscale="log", ylim=(0, 1.02),
    ),
    "dctcp": two(
        panel(
            "time (s)", "packets waiting, K = 20",
            *(plot(text, partial(marked, cc, 20, 6.0, 5), every=5, lw=1) for text, cc in (("Reno with ECN", "sack"), ("DCTCP",
                "dctcp"))), ylim=(0, None),
        ),
        panel(
            "K (packets)", "swing of the queue (packets)", curve("DCTCP", [15, 20, 30, 40, 60, 80], swing),
            law("sqrt(2 (C RTT + K)) / 2", range(10, 91), lambda k: (2 * (1e6 / 12000 + k)) ** 0.5 / 2, **THIN), ylim=(0, 14),
                legend={"loc": "lower right"},
        ),
    ),
    "prague": two(
        panel(
            "flows of each kind", "wait in the queue (ms): mean, 99 %",
            *(curve(text if fmt == "o" else "_", [1, 2, 4, 6, 8], lambda n, cc=cc, column=column: 1e3 * (side_by_side(cc, column,
                n) - 0.0053), fmt=fmt, color=color, ms=ms)
              for cc, text, color in (("prague", "Prague", "C0"), ("cubic", "CUBIC with ECN", "C1")) for column, fmt,
                  ms in (("delay_mean", "o", 4), ("delay_p99", "_", 9))),
            yscale="log",
        ),
        panel(
            "flows of each kind", "mean goodput of a flow (Mbit/s)",
            *(curve(text, [1, 2, 4, 6, 8], lambda n, cc=cc: 1e-6 * side_by_side(cc, "goodput", n)) for cc, text in (("prague", "Prague"),
                ("cubic", "CUBIC with ECN"))),
            law("equal shares", [1, 2, 4, 6, 8], lambda n: 20 / n, **THIN), ylim=(0, None),
        ),
    ),
}
# fmt: on
