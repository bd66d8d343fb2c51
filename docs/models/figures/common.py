"""Helpers of several figures: a network of one link, seeds, and intervals as error bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import fairlane as fl

if TYPE_CHECKING:
    from matplotlib.axes import Axes
from fairlane.tcp import Endpoint, Segment

SEEDS = "1..10"
"""Ten replications, for figures with intervals."""


def one_link(
    *, duration: str, warmup: str = "0s", queue: object = None, sample: str | None = None, loss: float = 0.0, **flow: object
) -> fl.Network:
    """A UDP flow without headers over a link of 10 Mbit/s and 1 ms; 1000 bytes take 0.8 ms."""
    settings = {"sample": sample} if sample else {}
    net = fl.Network(duration=duration, warmup=warmup, **settings)
    net.link("a", "b", name="link", rate="10Mbit/s", delay="1ms", queue=queue or fl.Droptail(limit="1000000p"), loss=loss)
    return net.flow("udp", "a", "b", udp={"header": "0B"}, **flow)


def bulk_flows(queue: object, flows: int, *, duration: str, warmup: str, sample: str | None = None, tcp: object = "newreno") -> fl.Network:
    """Long TCP flows that begin within a second and share a link of 10 Mbit/s and 20 ms."""
    settings = {"sample": sample} if sample else {}
    net = fl.Network(duration=duration, warmup=warmup, **settings)
    net.link("a", "b", name="link", rate="10Mbit/s", delay="20ms", queue=queue)
    return net.flow("tcp", "a", "b", count=flows, tcp=tcp, spread="1s")


def one_flow(tcp: dict[str, object], *, rate: str, limit: str, duration: str) -> fl.Result:
    """A long flow of segments of 1000 bytes over a link of 50 ms each way with a drop-tail queue, sampled every 0.1 s."""
    net = fl.Network(duration=duration, sample="100ms")
    net.link("a", "b", name="link", rate=rate, delay="50ms", queue=fl.Droptail(limit=limit))
    return net.flow("tcp", "a", "b", tcp={"preset": "rfc", "mss": "1000B", "ack_every": 1, **tcp}).run(seeds=1)


def lossy_window(cc: str, losses: tuple[float, ...], *, rate: str) -> tuple[list[float], list[float]]:
    """Segments a round trip of 100 ms that a flow delivers at each loss rate, and the half widths of their intervals."""
    found = []
    for loss in losses:
        net = fl.Network(duration="120s", warmup="20s")
        net.link("a", "b", name="link", rate=rate, delay="50ms", queue=fl.Droptail(limit="500p"), loss=loss, reverse={"loss": 0.0})
        tcp = {"preset": "rfc", "cc": cc, "recovery": "sack", "mss": "1000B", "ack_every": 1}
        found.append(net.flow("tcp", "a", "b", tcp=tcp).run(seeds=SEEDS).value("goodput", flow="tcp"))
    scale = 0.1 / 8000
    return [scale * (v.mean or 0.0) for v in found], [scale * (v.half_width or 0.0) for v in found]


def errors(values: list[fl.Interval]) -> tuple[list[float], list[float]]:
    """Means and half widths of intervals."""
    return [v.mean or 0.0 for v in values], [v.half_width or 0.0 for v in values]


def dropped(params: dict[str, object], lost: dict[int, int], *, until: float, write: int | None = None) -> list[tuple[float, float, float]]:
    """Two endpoints with a round trip of 100 ms and a link of 200 segments a second; a segment's first `lost[n]` transmissions are lost.

    What is in flight and what is acknowledged over time, in segments.
    """
    values = {"preset": "rfc", "mss": "1000B", "ack_every": 1, "handshake": False, "fin": False, "receive_window": "60000B", **params}
    sender, receiver = Endpoint(values), Endpoint(values, passive=True)
    now, count, free, left = 0.0, 0, 0.0, dict(lost)
    flying: list[tuple[float, int, bool, Segment]] = []
    trace: list[tuple[float, float, float]] = []

    def post(segments: list[Segment], forward: bool) -> None:
        nonlocal count, free
        for s in segments:
            count += 1
            leave = now
            if forward and s.payload:
                leave = free = max(free, now) + 0.005
                number = (s.seq - 1) // 1000
                if left.get(number, 0) > 0:
                    left[number] -= 1
                    continue
            flying.append((leave + 0.05, count, forward, s))

    post(receiver.start(0.0), False)
    post(sender.start(0.0), True)
    post(sender.write(0.0) if write is None else sender.write(0.0, write), True)
    while now < until:
        deadlines = [d for d in (sender.next_deadline, receiver.next_deadline) if d is not None]
        events = [w[0] for w in flying] + deadlines
        if not events:
            break
        now = min(events)
        for w in sorted(w for w in flying if w[0] <= now):
            flying.remove(w)
            post((receiver if w[2] else sender).receive(now, w[3]), not w[2])
        post(sender.advance(now), True)
        post(receiver.advance(now), False)
        view = sender.view()
        trace.append((now, view["in_flight"] / 1000, view["acked"] / 1000))
    return trace


def window_of(tcp: object, *, rate: str, delay: str, limit: str, duration: str, sample: str) -> tuple[list[float], list[float]]:
    """Times in seconds and windows in segments of one long flow of 1448-byte segments; `delay` is one way."""
    net = fl.Network(duration=duration, sample=sample)
    net.link("a", "b", name="link", rate=rate, delay=delay, queue=fl.Droptail(limit=limit))
    net.flow("tcp", "a", "b", tcp={"preset": "rfc", "mss": "1448B", "receive_window": "1GiB", "ack_every": 1, **tcp})
    series = net.run(seeds=1).flow_series
    return series["time"].to_list(), [w / 1448 for w in series["cwnd"].to_list()]


def cuts_of(windows: list[float]) -> list[int]:
    """Where a window is back from a cut: the first sample of each ascent after the first."""
    return [i for i in range(2, len(windows)) if windows[i - 1] < 0.95 * windows[i - 2] and windows[i] >= windows[i - 1]]


def average_window(tcp: object, p: float, *, duration: str, rtt: float = 0.01) -> float:
    """Segments of 1448 bytes in flight, on average, where each is lost with probability p."""
    net = fl.Network(duration=duration, warmup="3s")
    # Acknowledgments get lost, too, which says nothing: the next one tells the same.
    net.link("a", "b", rate="100Gbit/s", delay=f"{rtt * 500}ms", queue=fl.Droptail(limit="1000000p"), loss=p)
    net.flow("tcp", "a", "b", tcp={"preset": "rfc", "mss": "1448B", "receive_window": "1GiB", "ack_every": 1, **tcp})
    goodput = net.run(seeds=1).flows["goodput"][0]
    return goodput * rtt / 8 / 1448


RATIOS = range(81, 100)
"""Numbers of TCP flows among the 100 of a source in Yang and Fu 2001."""

CLASSES = ("TCP1", "TCP2", "TCP3", "TCP4", "UDP3", "UDP4")
"""Their classes: transport and priority."""


def two_sources(tcp: int, control: str) -> fl.Network:
    """The environment of Yang and Fu 2001: two sources with 100 transfers of 1 MB each over a shared link of 1 Mbit/s, under one control."""
    access = {"rate": "10Mbit/s", "delay": "50ms", "queue": fl.Droptail(limit="10000p")}
    bottleneck = {"rate": "1Mbit/s", "delay": "50ms", "queue": fl.Droptail(limit="50p")}
    net = fl.Network(duration="4000s").dumbbell(pairs=2, access=access, bottleneck=bottleneck)
    agent = {"preset": "ns2", "cc": "tahoe", "handshake": False, "data_header": "0B", "initial_window": "1p", "limited_transmit": False}
    agent |= {"rto_initial": "6s", "rto_max": "64s", "rto_granularity": "100ms"}
    cbr = fl.Cbr(rate="2Mbit/s", size="1000B", jitter=1.0)
    for s in range(2):
        net.flow(f"tcp{s}", f"s{s}", f"d{s}", count=tcp, class_=[1, 2, 3, 4], tcp=agent, source=fl.File(size="1MB"))
        net.flow(f"udp{s}", f"s{s}", f"d{s}", count=100 - tcp, class_=[3, 4], udp={"header": "0B"}, source=cbr, amount="1MB")
    return net.control(control)


def class_means(control: str) -> dict[str, float]:
    """Mean completion time of each class at the first source, averaged over the ratios."""
    found: dict[str, list[float]] = {name: [] for name in CLASSES}
    for tcp in RATIOS:
        rows = two_sources(tcp, control).run(seeds=1).flows.iter_rows(named=True)
        times: dict[str, list[float]] = {}
        for row in rows:
            group, _, number = row["flow"].partition(".")
            if group in ("tcp0", "udp0"):
                member = int(number or 0)
                priority = 1 + member % 4 if group == "tcp0" else 3 + member % 2
                times.setdefault(f"{group[:3].upper()}{priority}", []).append(row["completion_time"])
        for name, values in times.items():
            found[name].append(sum(values) / len(values))
    return {name: sum(values) / len(values) for name, values in found.items()}


def who_sends(axes: Axes, control: fl.TimeSlots | fl.CongestionSignal, **settings: object) -> None:
    """Draws the goodput of four flows of one source, priorities 1 to 4, and when they are open."""
    net = fl.Network(duration="60s", sample="500ms")
    net.link("a", "b", rate="1Mbit/s", delay="50ms", queue=fl.Droptail(limit="20p"))
    net.flow("f", "a", "b", count=4, class_=[1, 2, 3, 4], tcp="newreno", **settings)
    series = net.control(control).run(seeds=1).flow_series
    for i in range(4):
        own = series.filter(series["flow"] == f"f.{i}")
        base = 3 - i
        axes.fill_between(own["time"], base, base + 0.9 * own["open"], step="pre", color=f"C{i}", alpha=0.2, lw=0)
        axes.step(own["time"], base + 0.9 * own["goodput"] / 1e6, color=f"C{i}", lw=1)
    axes.set(xlabel="time (s)", yticks=[3.4, 2.4, 1.4, 0.4], yticklabels=[f"priority {p}" for p in (1, 2, 3, 4)])
