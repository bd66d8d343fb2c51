"""Curves that are more than a value for each x."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

import fairlane as fl
from fairlane.stats import interval

from . import formulas
from .draw import THIN, Drawing, Item, curve, law, level, one, plot, spread, steps
from .runs import SEEDS, Points, bulk, cbr, cuts, droptail, late, mean, net, one_flow, poisson, run, series, table, tcp, udp, value

DATA = Path(__file__).resolve().parents[3] / "examples" / "data"
PIPE = 100e6 * 0.1 / 8 / 1488
"""Segments of 1448 bytes that 100 Mbit/s and 100 ms hold."""


def band(low: float, high: float, *, across: bool = False, **style: Any) -> Item:
    """Shades a range of y, or of x if `across`."""
    style = {"color": "0.85", **style}
    return lambda axes: (axes.axvspan if across else axes.axhspan)(low, high, **style) and None


def root_mean_square(network: fl.Network, column: str, since: float) -> float:
    """Root of the mean square of a column of the link."""
    return float((table(network, since=since)[column] ** 2).mean() ** 0.5)


def coloured(queue: object, colour: str, mbps: float) -> float:
    """Share of a colour among the packets of a CBR flow, after a second in which the buckets were emptied."""
    found = table(net("11s", udp(cbr(mbps)), sample="1s", queue=queue), since=0.999).sort("time")
    counts = {c: found[f"{c}_packets"][-1] - found[f"{c}_packets"][0] for c in ("green", "yellow", "red")}
    return float(counts[colour] / sum(counts.values()))


def red_under_overload() -> list[Item]:
    """Share dropped at a steady overload against the mean of the average queue, with `wait` and without."""

    def points(wait: bool) -> Points:
        # A slow average makes p_b nearly constant, which the formula supposes.
        queue = fl.queues.Red(limit="1000p", min="20p", max="60p", max_p=0.1, w_q=0.0005, gentle=True, wait=wait)
        loads = [10 / (1 - d) for d in (0.02, 0.04, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.4)]
        nets = [net("120s", udp(cbr(x)), warmup="60s", sample="50ms", queue=queue) for x in loads]
        return [late(n, "avg", 60) for n in nets], [mean(n, "loss", link="link") for n in nets]

    items: list[Item] = []
    for k, wait in enumerate((False, True)):
        label = f"wait = {str(wait).lower()}"
        items.append(
            law(f"formula, {label}", spread(20.25, 79.75, 0.25), partial(formulas.gentle, low=20, high=60, wait=wait), color=f"C{k}")
        )
        items.append(plot(f"measured, {label}", partial(points, wait), "o", ms=4, color=f"C{k}"))
    return items


def own_curves(nets: list[fl.Network], cases: list[tuple[str, str, str, int, int]], last: int) -> list[Item]:
    """Loss of each flow against the average that judges it, and its RED curve; a case is flow, column, label and thresholds."""
    items: list[Item] = []
    for k, (flow, column, label, low, high) in enumerate(cases):
        fine = spread(low + 0.25, last - 0.25, 0.25)
        text = f"{label}, formula" + (f", {low} to {high}" if column == "avg" and len(cases) > 2 else "")
        items.append(law(text, fine, partial(formulas.gentle, low=low, high=high), color=f"C{k}"))

        def points(flow: str = flow, column: str = column) -> Points:
            return [late(n, column, 60) for n in nets], [mean(n, "loss", flow=flow) for n in nets]

        items.append(plot(f"{label}, measured", points, "o", ms=4, color=f"C{k}"))
    return items


def classed(queue: object, *loads: tuple[str, int, float]) -> fl.Network:
    """Poisson streams of several code points at a steady overload."""
    flows = [udp(poisson(10 * load), name, **{"class": code}) for name, code, load in loads]
    return net("120s", *flows, warmup="60s", sample="50ms", queue=queue)


def precedences() -> Drawing:
    """WRED with three drop precedences."""
    levels = {"AFx1": (10, 40, 70), "AFx2": (12, 25, 55), "AFx3": (14, 10, 40)}
    params = [{"match": f"dscp:{code}", "min": f"{low}p", "max": f"{high}p", "max_p": 0.1} for code, low, high in levels.values()]
    queue = {"wred": {"limit": "1000p", "levels": params, "w_q": 0.0005, "gentle": True}}
    drops = (0.01, 0.02, 0.04, 0.06, 0.09, 0.12, 0.16, 0.2, 0.3)
    nets = [classed(queue, *((n.lower(), code, 1 / (1 - d) / 3) for n, (code, _, _) in levels.items())) for d in drops]
    items = own_curves(nets, [(n.lower(), "avg", n, low, high) for n, (_, low, high) in levels.items()], 80)
    return one("average queue (packets)", "share of arrivals dropped", *items, ylim=(0, 0.6), xlim=(5, 65))


def profile() -> Drawing:
    """RIO with packets in and out of profile."""
    params = {"in_min": "20p", "in_max": "60p", "in_max_p": 0.1, "out_min": "10p", "out_max": "50p", "out_max_p": 0.1}
    queue = {"rio": {"limit": "1000p", "w_q": 0.0005, "gentle": True, **params}}
    inside = (0.3, 0.5, 0.5, 0.7, 0.8, 0.9, 1.0, 1.05, 1.1, 1.15)
    outside = (0.75, 0.55, 0.6, 0.4, 0.3, 0.2, 0.15, 0.2, 0.2, 0.3)
    nets = [classed(queue, ("in", 10, x), ("out", 12, y)) for x, y in zip(inside, outside, strict=True)]
    cases = [("in", "avg_in", "IN, by the average of IN", 20, 60), ("out", "avg", "OUT, by the total average", 10, 50)]
    return one("average queue (packets)", "share of arrivals dropped", *own_curves(nets, cases, 100), ylim=(0, 1), xlim=(0, 100))


def prices(target: int) -> list[Item]:
    """REM's queue, and the balance of its price: alpha (queue - b*) = capacity - arrivals, both in packets of an update."""
    counts, color = [10, 20, 30, 40, 50], f"C{target // 20 // 3}"

    def network(flows: int) -> fl.Network:
        return bulk({"rem": {"limit": "400p", "target": f"{target}p", "mean_packet": "1500B"}}, flows, "400s", "200s")

    def balance(flows: float) -> float:
        used, lost = (mean(network(int(flows)), m, link="link", seeds="1..3") for m in ("utilisation", "loss"))
        # 1500 bytes at 10 Mbit/s take 1.2 ms: the link sends 2 / 1.2 packets in an update of 2 ms.
        return target - (used / (1 - lost) - 1) * 2 / 1.2 / 0.1

    measured = curve(f"measured, b* = {target}", counts, lambda n: value(network(n), "queue_mean", link="link", seeds="1..3"), color=color)
    return [measured, law("balance of the price", counts, balance, "-", lw=1, color=color), level(target, color=color, lw=0.8, ls=":")]


def blue_climbs(freeze: int, step: float) -> list[Item]:
    """BLUE's probability at twice the rate of the link: it climbs by `step` every `freeze` milliseconds once 100 packets wait."""
    queue = {"blue": {"limit": "100p", "freeze_time": f"{freeze}ms", "increment": step, "decrement": step / 10}}
    color = "C0" if freeze == 100 else "C1"
    network = net("6s", udp(poisson(20)), sample="20ms", queue=queue)
    measured = plot(f"measured, d1 = {step}, freeze_time {freeze} ms", partial(series, network, "drop_prob"), ".", ms=2, color=color)
    return [measured, plot(None, lambda: ([0, 0.08, 0.08 + 0.5 / step * freeze / 1000], [0, 0, 0.5]), color=color, lw=1)]


def cobalt_counts() -> list[Item]:
    """Count in two seconds of 13 Mbit/s over a link of 10, with 1 Mbit/s before and after: up and down by the same rule."""

    def network(name: str) -> fl.Network:
        burst = udp(cbr(12), "burst", start="1s", stop="3s")
        return net("8s", udp(cbr(1)), burst, sample="50ms", queue={name: {"limit": "1000000p"}})

    def peak() -> tuple[float, int]:
        times, counts = series(network("cobalt"), "count")
        return max(t for t, c in zip(times, counts, strict=True) if c == max(counts)), int(max(counts))

    def up() -> Points:
        # Above target from 1.02 s on: a packet that arrives t later waits 0.3 t and leaves at 1.3 t.
        first = 1 + 0.005 / 0.3 * 1.3 + 0.1
        times, counts, t = [first - 0.1], [1], first
        while t < peak()[0]:
            times.append(t)
            counts.append(counts[-1] + 1)
            t += 0.1 / counts[-1] ** 0.5
        return times, counts

    measured = [plot(f"{n}, measured", partial(series, network(n), "count"), m, ms=3) for n, m in (("cobalt", "o"), ("codel", "x"))]
    down = steps(None, lambda: formulas.cobalt_down(*peak()), **THIN)
    return [*measured, steps("interval / sqrt(count), up and down", up, **THIN), down]


def burst_left(queue: str) -> Points:
    """Times in packet times, and packets that wait of a burst of eleven of a class with half of the link (Bennett and Zhang)."""
    classes: list[dict[str, object]] = [{"match": "flow:burst", "weight": 10}]
    classes += [{"match": f"flow:other.{k}"} for k in range(10)]
    flows = udp(cbr(10_000), "burst", stop="8.5us"), udp(cbr(10_000), "other", count=10, start="9us", stop="9.5us")
    times, left = series(net("17.6ms", *flows, sample="80us", queue={queue: {"classes": classes}}), "class0_queue", since=1e-9)
    return [t / 0.8e-3 for t in times], left


def sharing(flows: int) -> tuple[float, float]:
    """Share of the flows that get at most 3/4 of what the best get: they share a queue."""
    queue = {"sfq": {"limit": "2000p", "buckets": 64}}
    network = net("12s", udp(poisson(2), "f", count=flows), warmup="2s", rate="2Mbit/s", queue=queue)
    rates = [seed["goodput"] for _, seed in run(network, SEEDS).flows.group_by("seed")]
    found = interval([float((r < 0.75 * r.max()).mean()) for r in rates])
    return found.mean or 0.0, found.half_width or 0.0


def max_min_shares() -> Drawing:
    """Goodput of six flows under FQ and DropTail, against the max-min fair shares."""
    demands, lengths = [0.5, 1.0, 2.0, 3.0, 4.0, 8.0], [200, 1500, 500, 1000, 300, 1500]
    places = range(len(demands))

    def bars(axes: Axes) -> None:
        axes.bar(places, demands, width=0.9, color="0.9", label="offered")
        for k, name in enumerate(("fq", "droptail")):
            flows = [udp(poisson(d, n), f"f{i}") for i, (d, n) in enumerate(zip(demands, lengths, strict=True))]
            network = net("20s", *flows, warmup="2s", queue={name: {"limit": "200kB"}})
            rates = [mean(network, "goodput", flow=f"f{i}", scale=1e-6) for i in places]
            axes.bar([x + 0.3 * (k - 0.5) for x in places], rates, width=0.28, label=f"{name}, measured")
        for x, rate in zip(places, formulas.max_min(demands, 10.0), strict=True):
            axes.hlines(rate, x - 0.45, x + 0.45, colors="black", label=None if x else "max-min fair")

    ticks = list(places), [f"{n} B" for n in lengths]
    return one("flow, by the length of its packets", "rate (Mbit/s)", bars, ticks=ticks, size=(7, 3.2))


def isolated(isolation: str, flows: int) -> float:
    """Share that a host with one flow gets against a host with many, of 10 Mbit/s on a link of 100 Mbit/s."""
    made = fl.Network(duration="30s", warmup="5s")
    for host in ("one", "many"):
        made.link(host, "r", rate="1Gbit/s", delay="5ms")
    queue = {"cake": {"bandwidth": "10Mbit/s", "isolation": isolation}}
    made.link("r", "d", name="link", rate="100Mbit/s", delay="5ms", queue=queue)
    made.flow("one", "one", "d", tcp="newreno", spread="100ms").flow("many", "many", "d", tcp="newreno", count=flows, spread="1s")
    rates = run(made).flows
    return float(rates.filter(rates["flow"] == "one")["goodput"].sum() / rates["goodput"].sum())


def bucket() -> list[Item]:
    """Data sent by a saturated source behind one bucket and behind a second one with a peak rate, against the envelopes."""

    def sent(params: dict[str, str]) -> Points:
        queue = {"tbf": {"rate": "2Mbit/s", "burst": "50000B", "queue": {"droptail": {"limit": "100p"}}, **params}}
        times, rates = series(net("150ms", udp(cbr(50)), sample="1ms", rate="100Mbit/s", queue=queue), "throughput", since=1e-9)
        return [1e3 * t for t in times], list(accumulate(v * 1e-3 / 8e3 for v in rates))

    def plain(t: float) -> float:
        return min(6.25 * t, 50 + 0.25 * t)

    def peak(t: float) -> float:
        return min(plain(t), 1.5 + 1.25 * t)

    items: list[Item] = []
    for k, (name, envelope, params) in enumerate(
        (("one bucket", plain, {}), ("with a peak rate", peak, {"peakrate": "10Mbit/s", "mtu": "1500B"}))
    ):
        items.append(law(f"{name}, envelope", spread(0, 150, 0.25), envelope, color=f"C{k}"))
        items.append(plot(f"{name}, sent", partial(sent, params), "o", every=3, ms=3.5, mfc="none", color=f"C{k}"))
    return items


def drawn(builder: str, **settings: Any) -> tuple[list[tuple[float, float]], list[tuple[int, int]]]:
    """Places of the nodes of a topology, and the links between them by number."""
    found = fl.Network(duration="1s").topology(builder, **settings).flow("f", "n0", "n1", tcp={}).resolve()["expanded"]
    links = [x for x in found["links"] if not x["name"].endswith(".reverse")]
    places = [(*found["positions"][n],) for n in found["nodes"]]
    return places, [(int(x["from"][1:]), int(x["to"][1:])) for x in links]


def waxman(alpha: float, beta: float, color: str) -> list[Item]:
    """Share of pairs with a link by their distance in 60 networks of 60 nodes, and the probability."""
    xs = [(k + 0.5) / 20 for k in range(20)]

    def points() -> Points:
        pairs, joined = Counter[int](), Counter[int]()
        for seed in range(1, 61):
            places, links = drawn("waxman", nodes=60, alpha=alpha, beta=beta, seed=seed)
            all_ = [math.dist(a, b) for a, b in itertools.combinations(places, 2)]
            pairs.update(min(19, int(20 * d / max(all_))) for d in all_)
            longest = max(all_)
            joined.update(min(19, int(20 * math.dist(places[a], places[b]) / longest)) for a, b in links)
        return xs, [joined[k] / pairs[k] for k in range(20)]

    line = law(f"alpha {alpha}, beta {beta}", xs, lambda x: beta * math.exp(-x / alpha), color=color)
    return [line, plot(None, points, "o", ms=4, mfc="none", color=color)]


def degrees() -> Points:
    """Share of 20,000 nodes with at least so many links: no classes, no noise of single counts."""
    links = drawn("barabasi_albert", nodes=20_000, links=3)[1]
    found = Counter(Counter(itertools.chain.from_iterable(links)).values())
    ks = sorted(k for k in found if k >= 3)
    return ks, [sum(n for j, n in found.items() if j >= k) / 20_000 for k in ks]


def cellular(axes: Axes) -> None:
    """Capacity of a recorded link in quarters of a second."""
    times = [int(line) / 1000 for line in (DATA / "cellular.down").read_text().splitlines() if not line.startswith("#")]
    bins = [0.0] * 64
    for k in range(int(16 / times[-1]) + 1):
        for t in (t + k * times[-1] for t in times):
            if t < 16:
                bins[int(t / 0.25)] += 12_000 / 0.25 / 1e6
    axes.bar([0.25 * (i + 0.5) for i in range(64)], bins, width=0.25, color="0.85", label="what the link could carry")


def satellite(axes: Axes) -> None:
    """Rate of the shipped profile `leo` in its first minute."""
    lines = (DATA.parents[1] / "crates/scenario/src/check/file/profiles/leo.csv").read_text().splitlines()[2:]
    rows = [tuple(map(float, line.split(","))) for line in lines]
    shown = [row for row in rows if row[0] <= 60]
    axes.step([row[0] for row in shown], [row[1] for row in shown], where="post", color="0.6", label="rate of the profile")


def over_satellite(cc: str, column: str, of: str, scale: float) -> Points:
    """A series of a flow over the shipped profile `leo`, or of the link."""
    path = {"profile": "leo", "queue": "fq_codel"}
    made = fl.Network(duration="60s", sample="0.5s").link("a", "b", name="link", **path).flow("tcp", "a", "b", tcp=cc)
    return series(made, column, of, since=1e-9, scale=scale)


def over_cellular(queue: object, column: str, of: str, scale: float) -> Points:
    """A series of a CUBIC flow over the recorded link, or of the link."""
    path = {"trace": str(DATA / "cellular.down"), "delay": "20ms", "queue": queue, "reverse": {"rate": "10Mbit/s"}}
    made = fl.Network(duration="16s", sample="0.25s").link("a", "b", name="link", **path).flow("tcp", "a", "b", tcp="cubic")
    return series(made, column, of, since=1e-9, scale=scale)


def recorded() -> Points:
    """Times and kilobytes of a recorded call."""
    rows = [line.split() for line in (DATA / "call.txt").read_text().splitlines() if not line.startswith("#")]
    return [float(t) - float(rows[0][0]) for t, _ in rows], [x / 1e3 for x in accumulate(int(s) for _, s in rows)]


def replayed() -> Points:
    """Times and kilobytes sent."""
    network = net("2100ms", udp(fl.sources.Replay(file=str(DATA / "call.txt"))), sample="50ms", rate="10Gbit/s", delay="1us")
    times, rates = series(network, "throughput", since=1e-9)
    return times, list(accumulate(x * 0.05 / 8 / 1e3 for x in rates))


def call_delays(axes: Axes) -> None:
    """Percentiles of the delay of a call in competition with a download."""
    for k, (label, queue) in enumerate((("100 packets", droptail(100)), ("FQ-CoDel", fl.queues.FqCodel()))):
        flows = udp(fl.sources.Replay(file=str(DATA / "call.txt"), repeat=True), "call", udp={}), tcp("cubic")
        network = net("60s", *flows, warmup="5s", rate="5Mbit/s", delay="20ms", queue=queue)
        values = [mean(network, f"delay_p{n}", flow="call", scale=1e3) for n in (50, 95, 99)]
        axes.bar([i + 0.4 * k - 0.2 for i in range(3)], values, width=0.4, label=label)


def stages(points: Callable[[], Points], line: Callable[[Points, int, int], Points], text: str, first: int = 0) -> Item:
    """Draws the formula from each loss on."""

    def draw(axes: Axes) -> None:
        times, windows = found = points()
        starts = cuts(windows)[first:]
        for n, (i, end) in enumerate(zip(starts, [*starts[1:], len(times)], strict=True)):
            axes.plot(*line(found, i, end), **THIN, label=None if n else text)

    return draw


def cubic_window(found: Points, i: int, end: int) -> Points:
    """W_cubic(t) of RFC 9438 section 4.2."""
    times, windows = found
    top = max(windows[max(0, i - 20) : i])
    k = (top * 0.3 / 0.4) ** (1 / 3)
    span = [t for t in times[i:end] if t < times[end - 1] - 0.3]
    return span, [0.4 * (t - times[i] - k) ** 3 + top for t in span]


def summed(growth: Callable[[float, float, float, float], float], found: Points, i: int, end: int) -> Points:
    """Sum of the steps of each round trip; `growth` of the window, the top and the first window, and the time since the cut."""
    times, windows = found
    top, w, t = max(windows[max(0, i - 20) : i]), windows[i], times[i]
    line: Points = [], []
    while t < times[end - 1] - 0.3:
        line[0].append(t)
        line[1].append(w)
        w += growth(w, top, windows[i], t - times[i])
        # Beyond what the path holds a round trip takes as long as the queue is.
        t += 0.1 * max(1.0, w / PIPE)
    return line


def illinois() -> list[Item]:
    """Window of one flow with a buffer of 300 packets, and the formula from each loss on."""
    network = one_flow({"cc": "illinois", "initial_ssthresh": "1000p"}, "300p", "240s")

    def formula(axes: Axes) -> None:
        times, windows = series(network, "cwnd", "tcp", scale=1e-3)
        starts = [k for k in range(1, len(times)) if windows[k] < 0.95 * windows[k - 1] and times[k] > 5]
        for begin, end in zip(starts, [*starts[1:], len(times) - 1], strict=True):
            points = formulas.illinois(windows[begin], times[begin], times[end])
            axes.plot(*points, color="0.2", lw=1, ls="--", label="formula" if begin == starts[0] else None)

    return [plot("fairlane", partial(series, network, "cwnd", "tcp", scale=1e-3), lw=1.2), formula]
