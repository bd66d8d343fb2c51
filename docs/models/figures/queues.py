"""Table of the figures of queues, by the name of their page."""

from __future__ import annotations

import math
from functools import partial

from . import formulas, shapers, special
from .draw import HOLLOW, THIN, Drawing, Item, curve, law, level, note, one, panel, plot, spread, steps, two
from .runs import SEEDS, bulk, cbr, late, mean, net, poisson, series, tcp, udp, value

LOADS = [0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9]
OVERLOADS = [1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0]
RATES = [0.1, 0.25, 0.5, 0.8, 1.2, 2.0, 3.0, 4.0]
"""Rates of an unresponsive source, in units of the link."""
COUNTS = [2, 5, 10, 20, 30, 40]
"""Numbers of TCP flows."""
SIX = [5, 10, 15, 20, 30, 40]
THREE = "1..3"
FINE = spread(0.1, 0.925, 0.005)


def share_of_source(queue: object, rate: float) -> tuple[float, float]:
    """Share of the link that UDP gets in competition with 60 TCP flows."""
    flows = tcp({"cc": "newreno", "mss": "960B"}, count=60, spread="1s"), udp(poisson(10 * rate))
    return value(net("60s", *flows, warmup="20s", delay="20ms", queue=queue), "goodput", flow="udp", seeds=THREE, scale=1e-7)


def unresponsive(queues: dict[str, object], *bounds: Item, top: float = 1.05) -> Drawing:
    """Share of the link against the rate of the source; without `bounds` next to what it sends and the fair share."""
    curves = [curve(label, RATES, partial(share_of_source, queue)) for label, queue in queues.items()]
    sends = law("nothing is taken from it", spread(0.02, 4.08, 0.02), lambda r: min(r, 1.0), **THIN)
    bounds = bounds or (sends, level(1 / 61, "fair share"))
    return one("rate of the UDP source / link", "share of the link", *curves, *bounds, ylim=(0, top))


def held(
    label: str,
    queue: object,
    metric: str,
    counts: list[int],
    *,
    seeds: int | str = THREE,
    scale: float = 1,
    times: tuple[str, str] = ("120s", "40s"),
    **style: object,
) -> Item:
    """A mean of the queue against the number of TCP flows."""
    return curve(label, counts, lambda n: value(bulk(queue, n, *times), metric, link="link", seeds=seeds, scale=scale), **style)


def late_average(queue: object, flows: int) -> float:
    """Mean of RED's average queue."""
    return late(bulk(queue, flows, "120s", "40s", "100ms"), "avg", 40)


def arrivals(queue: object, flows: int, times: tuple[str, str] = ("150s", "50s"), seeds: int | str = 1) -> float:
    """Arrivals over capacity."""
    network = bulk(queue, flows, *times)
    return mean(network, "utilisation", link="link", seeds=seeds) / (1 - mean(network, "loss", link="link", seeds=seeds))


def wait_sent(name: str, load: float) -> float:
    """Milliseconds that a packet waits in a queue of 100 places."""
    network = net("60s", udp(poisson(10 * load)), warmup="10s", queue={name: {"limit": "100p"}})
    return mean(network, "delay_mean", flow="udp", scale=1000, less=1.8)


def overload(*names: str) -> Drawing:
    """Wait under a steady overload, by the place at which packets are lost; fluid limits of a full queue."""
    laws = {"droptail": lambda _: 80.0, "randomdrop": lambda r: 80 * math.log(r) / (r - 1), "headdrop": lambda r: 80 / r}
    curves = [curve(n, OVERLOADS, partial(wait_sent, n), laws[n], fine=spread(1.05, 3.04, 0.01)) for n in names]
    return one("offered load", "wait of a packet that is sent (ms)", *curves, ylim=(0, 90))


def poisson_queue(metric: str, sizes: str, load: float) -> tuple[float, float]:
    """A metric of the link under Poisson arrivals, ten runs."""
    return value(net("210s", udp(poisson(10 * load, sizes=sizes)), warmup="10s"), metric, link="link", seeds=SEEDS)


def blocked(name: str, limit: int) -> tuple[float, float]:
    """Loss of Poisson arrivals with exponential sizes at a load of 0.9."""
    network = net("210s", udp(poisson(9, sizes="exponential")), warmup="10s", queue={name: {"limit": f"{limit}p"}})
    return value(network, "loss", link="link", seeds="1..5")


def m_m_1_k(extra: int, limit: float) -> float:
    """Blocking of M/M/1/K at a load of 0.9 (Kleinrock, volume 1)."""
    return 0.1 * 0.9 ** (limit + extra) / (1 - 0.9 ** (limit + extra + 1))


def squared(*cases: tuple[str, int, object], counts: tuple[int, ...] = (2, 5, 10, 20, 30, 40, 60)) -> Drawing:
    """Loss against the controller's output, whose square is dropped, and delays against their targets."""

    def points(queue: object) -> tuple[list[float], list[float]]:
        # What is dropped is the mean of p' squared, a little more than the square of its mean.
        nets = [bulk(queue, n, "120s", "40s", "100ms") for n in counts]
        return [special.root_mean_square(n, "p", 40) for n in nets], [mean(n, "loss", link="link") for n in nets]

    def wait(queue: object, flows: int) -> float:
        return mean(bulk(queue, flows, "120s", "40s", "100ms"), "sojourn_mean", link="link", scale=1000)

    left = [plot(label, partial(points, queue), "o", ms=4) for label, _, queue in cases]
    right = [curve(label, counts, partial(wait, queue), level=target) for label, target, queue in cases]
    line = law("p' squared", spread(0, 0.3975, 0.0025), lambda p: p * p, **THIN)
    return two(
        panel("p', root mean square", "share of arrivals dropped", *left, line, xlim=(0, 0.4), ylim=(0, None)),
        panel("TCP flows", "mean wait in the queue (ms)", *right, ylim=(0, None)),
    )


def two_lengths(queue: object, first: int, second: int, offer: str, metric: str) -> float:
    """Share of the first of two flows with packets of different lengths, each of which fills the link."""
    if offer == "cbr":
        flows, times = [udp(cbr(10, size, jitter=1.0), name) for name, size in (("x", first), ("y", second))], ("12s", "2s")
    else:
        flows, times = [udp(poisson(12, size), name) for name, size in (("short", first), ("long", second))], ("10s", "1s")
    network = net(times[0], *flows, warmup=times[1], queue=queue)
    x, y = (mean(network, metric, flow=name) for name, _ in flows)
    return x / (x + y)


LENGTHS = [100, 250, 400, 600, 800, 1000, 1200, 1400, 1500]


def round_robin(queue: str, length: int) -> float:
    """Share of a flow against one with packets of 1000 bytes."""
    return two_lengths(queue, length, 1000, "cbr", "throughput")


def weighted(count: str, weight: int) -> float:
    """Share of a class with 500-byte packets against one of weight 1 with 1500-byte packets."""
    classes = [{"match": "flow:x", "weight": weight}, {"match": "flow:y", "weight": 1}]
    return two_lengths({"wrr": {"classes": classes, "count": count, "quantum": "1500B"}}, 500, 1500, "cbr", "throughput")


def priority_wait(name: str, load: float) -> tuple[float, float]:
    """Milliseconds that packets wait of two equal Poisson flows, one with priority."""
    classes = [{"match": f"flow:{flow}", "queue": {"droptail": {"limit": "1000000p"}}} for flow in ("high", "low")]
    flows = [udp(poisson(5 * load), flow) for flow in ("high", "low")]
    return value(
        net("110s", *flows, warmup="10s", queue={"prio": {"classes": classes}}), "delay_mean", flow=name, seeds=SEEDS, scale=1e3, less=1.8
    )


def longest(clock: str, others: int) -> float:
    """Longest time in the router, in packet times, of a flow of 2 Mbit/s that has as much weight as all others together."""
    inner = {"droptail": {"limit": "20p"}}
    classes = [{"match": "flow:mine", "weight": others, "queue": inner}]
    classes += [{"match": f"flow:other.{k}", "queue": inner} for k in range(others)]
    flows = udp(cbr(2, jitter=0.5), "mine"), udp(cbr(10), "other", count=others)
    network = net("21s", *flows, warmup="1s", queue={"wfq": {"classes": classes, "clock": clock}})
    return (mean(network, "delay_max", flow="mine", scale=1e3) - 1) / 0.8


def sparse_wait(queue: object, bulk_flows: int) -> float:
    """Milliseconds that packets of a sparse flow wait."""
    flows = udp(poisson(20 / bulk_flows), "bulk", count=bulk_flows), udp(poisson(0.0016, 100), "sparse")
    network = net("200s", *flows, warmup="5s", delay="20ms", queue=queue)
    return mean(network, "delay_mean", flow="sparse", scale=1e3, less=20.08)


def peak(mark_from: str, threshold: int) -> float:
    """Longest queue of one flow in slow start behind a queue that marks from a threshold on."""
    step = {"min": f"{threshold}p", "max": f"{threshold}p", "max_p": 1.0, "w_q": 1.0, "gentle": False, "ecn": True, "hard_drop": False}
    flow = tcp({"cc": "sack", "ecn": "classic", "mss": "960B", "ack_every": 1})
    queue = {"red": {**step, "limit": "10000p", "mark_from": mark_from}}
    return mean(net("2s", flow, delay="20ms", queue=queue), "queue_max", link="link")


def drops(queue: object) -> tuple[list[float], list[float]]:
    """Drops so far at an overload of a quarter."""
    times, found = series(net("6.0s", udp(cbr(12.5)), sample="100ms", queue=queue), "drops")
    return times, [sum(found[: k + 1]) for k in range(len(found))]


def colours(marker: str, laws: dict[str, object], profile: tuple[str, str] = ("cir", "cbs"), **params: str) -> Drawing:
    """Share of each colour by the offered load, and the shares that its profile allows."""
    loads = [0.8, 1.5, 2.2, 3, 3.8, 4.5, 5.5, 6.5, 8, 9.5]
    shade = {"green": "C2", "yellow": "C1", "red": "C3"}
    queue = {marker: {profile[0]: "2Mbit/s", profile[1]: "5000B", **params}}
    curves = [
        curve(c, loads, partial(special.coloured, queue, c), f, fine=spread(0.5, 10, 0.02), color=shade[c], **HOLLOW)
        for c, f in laws.items()
    ]
    settings = {"ylim": (-0.03, 1.03), "legend": {"loc": "center left", "bbox_to_anchor": (1, 0.5)}, "size": (7, 3)}
    return one("rate of the flow (Mbit/s)", "share of its packets", *curves, **settings)


def green(rtt: int, flows: int, metric: str, scale: float = 1) -> tuple[float, float]:
    """Loss or wait under GREEN."""
    queue = {"green": {"limit": "1000p", "rtt": f"{rtt}ms", "mss": "1000B", "c": 1.22}}
    network = bulk(queue, flows, "120s", "40s", cc={"cc": "newreno", "mss": "1000B", "ack_every": 1})
    return value(network, metric, link="link", seeds=THREE, scale=scale)


def modred(params: dict[str, str], every: int, flows: int) -> tuple[float, float]:
    """Utilisation by TCP flows under ModRED."""
    settings = {"cc": "newreno", "mss": "1000B", "ack_every": every, "ack_delay": "40ms"}
    network = bulk({"modred": {"limit": "100p", "window": "1000B", **params}}, flows, "60s", "20s", cc=settings)
    return value(network, "utilisation", link="link", seeds=THREE)


ARED = {"limit": "300p", "min": "20p", "max": "60p", "mean_packet": "1500B"}
CROWD = {"limit": "300p", "min": "50p", "max": "100p", "max_p": 0.02, "w_q": 0.002}
AFD = {"limit": "300p", "target": "75p"}
CHOKE = {"limit": "1000p", "min": "50p", "max": "600p", "max_p": 0.05}
CUT = {"min": "0p", "in_max": "1000p", "out_max": "1000p"}

# fmt: off
FIGURES = {
    "droptail": one(
        "load", "packets waiting, time mean",
        *(curve(f"{sizes} sizes, ten runs, 95 %", LOADS, partial(poisson_queue, "queue_mean", sizes), f, formula=f"{name}, formula",
            fine=FINE)
          for sizes, name, f in (("fixed", "M/D/1", lambda r: r * r / (2 * (1 - r))), ("exponential", "M/M/1", lambda r: r * r / (1 - r)))),
        yscale="log",
    ),
    "headdrop": overload("droptail", "headdrop"),
    "randomdrop": overload("droptail", "randomdrop", "headdrop"),
    "management": one(
        "limit n (packets); load 0.9", "share of arrivals lost",
        *(curve(f"{name}, five runs, 95 %", [2, 3, 4, 6, 8, 11, 15, 20], partial(blocked, name), partial(m_m_1_k, k),
            formula=f"{name}, formula with {text}")
          for name, k, text in (("management", 0, "K = n"), ("droptail", 1, "K = n + 1"))),
        yscale="log",
    ),
    "red": one(
        "average queue (packets); min 20, max 60, max_p 0.1", "share of arrivals dropped",
        *special.red_under_overload(), xlim=(18, 80), ylim=(0, 0.5),
    ),
    "ared": one(
        "TCP flows", "average queue (packets)", special.band(36, 44, label="target band"),
        *(curve(label, [5, 10, 15, 20, 30, 40, 60, 80], partial(late_average, queue), fmt="o-", lw=1)
          for label, queue in (("ared", {"ared": ARED}), ("red, max_p = 0.1", {"red": {**ARED, "max_p": 0.1}}), ("red, max_p = 0.02",
              {"red": {**ARED, "max_p": 0.02}}))),
        ylim=(0, 100),
    ),
    "wred": special.precedences(),
    "rio": special.profile(),
    "modred": one(
        "TCP flows", "utilisation",
        *(curve(label, [2, 5, 10, 20, 30, 40, 50], partial(modred, CUT, every), partial(formulas.one_segment, trip),
            formula=f"n segments in {1000 * trip:.0f} ms", line={}, fine=spread(1, 54.75, 0.25))
          for label, every, trip in (("windows always cut, every segment acknowledged", 1, formulas.TRIP),
              ("windows always cut, delayed acknowledgments", 2, formulas.TRIP + 0.04))),
        curve("cut from an average of 5, drops above 10", [2, 5, 10, 20, 30, 40, 50], partial(modred, {}, 1)),
    ),
    "avq": one(
        "TCP flows", "arrivals over capacity",
        *(curve(f"avq, gamma = {g}", SIX, partial(arrivals, {"avq": {"limit": "100p", "gamma": g, "mean_packet": "1500B"}}), level=g)
            for g in (0.98, 0.9, 0.8)),
        curve("droptail", SIX, partial(arrivals, {"droptail": {"limit": "100p"}})),
        ylim=(0.7, 1.2), legend={"loc": "upper left"},
    ),
    "rem": one("TCP flows", "packets waiting, time mean", *special.prices(20), *special.prices(60), ylim=(0, 80)),
    "pi": one(
        "TCP flows", "packets waiting, time mean",
        *(held(label, queue, "queue_mean", [10, 20, 30, 40, 50, 60], times=("400s", "200s"), level=target)
          for label, target, queue in (
              ("pi, target 50", 50, {"pi": {"limit": "400p", "target": "50p"}}),
              ("pi, target 100", 100, {"pi": {"limit": "400p", "target": "100p"}}),
              ("red, 20 to 100", None, {"red": {"limit": "400p", "min": "20p", "max": "100p", "max_p": 0.1, "mean_packet": "1500B"}}))),
        ylim=(0, 130), legend={"loc": "lower right"},
    ),
    "green": two(
        panel(
            "TCP flows", "share of arrivals dropped",
            *(curve(f"measured, RTT {rtt} ms", COUNTS, partial(green, rtt, metric="loss"),
                lambda n, rtt=rtt: (n * 1220 / (1.25e6 * rtt / 1000)) ** 2, line={}, fine=spread(1, 41, 0.25)) for rtt in (60, 100)),
            ylim=(0, None),
        ),
        panel(
            "TCP flows", "mean wait in the queue (ms)",
            *(curve(f"RTT {rtt} ms", COUNTS, partial(green, rtt, metric="sojourn_mean", scale=1000)) for rtt in (60, 100)), ylim=(0, None),
        ),
    ),
    "blue": one(
        "time (s)", "p_m", *special.blue_climbs(100, 0.02), *special.blue_climbs(10, 0.0025), level(0.5, "1 - 1 / load"),
        ylim=(0, 0.6), legend={"loc": "lower right"},
    ),
    "sfb": unresponsive({
        "BLUE": {"blue": {"limit": "200p"}},
        "SFB, 2 levels of 64 bins": {"sfb": {"limit": "200p", "bins": 64}},
        "SFB, preset linux": {"sfb": {"limit": "200p", "preset": "linux"}},
    }),
    "choke": unresponsive(
        {"DropTail, 200 packets": {"droptail": {"limit": "200p"}}, "CHOKe": {"choke": CHOKE}, "CHOKe, 3 draws": {"choke": {**CHOKE,
            "draws": 3}}},
        law("Tang, Wang and Low 2003, very many TCP flows", spread(0.02, 4.08, 0.02), formulas.choke, **THIN),
        level(1 / (math.e + 1), "1 / (e + 1) = 26.9 %"), top=1,
    ),
    "fred": unresponsive({"RED": {"red": CROWD}, "FRED": {"fred": CROWD}, "FRED, many_flows = false": {"fred": {**CROWD,
        "many_flows": False}}}),
    "afd": unresponsive({
        "RED": {"red": CROWD}, "FRED": {"fred": CROWD}, "AFD": {"afd": AFD}, "AFD, shadow = 5000": {"afd": {**AFD, "shadow": 5000,
            "sampling": 1}},
    }),
    "front": one(
        "threshold (packets)", "longest queue (packets)",
        *(curve(f"mark_from = {place}", [40, 50, 60, 80, 100], partial(peak, place), f) for place, f in (("tail", lambda k: 2 * k + 50),
            ("head", lambda k: k + 50))),
        ylim=(0, None),
    ),
    "codel": one(
        "time (s)", "packets dropped so far",
        steps("100 ms / sqrt(count), RFC 8289", lambda: formulas.codel_drops(0.125, 6.0), **THIN),
        plot("CoDel", partial(drops, {"codel": {"limit": "1000000p"}}), "o", ms=4),
        plot("CoDel, preset linux", partial(drops, {"codel": {"preset": "linux", "limit": "1000000p"}}), "x", ms=4),
        plot("COBALT", partial(drops, {"cobalt": {"limit": "1000000p"}}), "+", ms=4),
    ),
    "cobalt": one("time (s)", "count", *special.cobalt_counts()),
    "pie": one(
        "TCP flows", "mean wait in the queue (ms)",
        *(held(label, queue, "sojourn_mean", COUNTS, scale=1000, level=target)
          for label, target, queue in (
              ("target 15 ms", 15, {"pie": {}}), ("target 30 ms", 30, {"pie": {"target": "30ms"}}),
              ("target 15 ms, departure rate", None, {"pie": {"estimate": "dequeue_rate"}}), ("DropTail, 60 packets", None,
                  {"droptail": {"limit": "60p"}}))),
        ylim=(0, None),
    ),
    "pi2": squared(("measured, target 20 ms", 20, {"pi2": {"target": "20ms"}}), ("measured, target 10 ms", 10,
        {"pi2": {"target": "10ms"}})),
    "dualpi2": squared(("target 15 ms", 15, {"dualpi2": {}}), ("target 25 ms", 25, {"dualpi2": {"target": "25ms"}}), ("preset linux", 15,
        {"dualpi2": {"preset": "linux"}})),
    "prio": one(
        "load of both flows together", "mean wait (ms)",
        *(curve(f"{name} priority, ten runs, 95 %", LOADS, partial(priority_wait, name), f, formula=f"{name} priority, formula", fine=FINE)
          for name, f in (("high", lambda r: 0.4 * r / (1 - r / 2)), ("low", lambda r: 0.4 * r / ((1 - r / 2) * (1 - r))))),
        yscale="log",
    ),
    "rr": one(
        "length L of the first flow's packets (byte); the second's have 1000", "share of the first flow",
        curve("rr, measured", LENGTHS, partial(round_robin, "rr"), lambda n: n / (n + 1000), formula="formula, L / (L + 1000 bytes)",
              fine=spread(50, 1550, 50), **HOLLOW),
        level(0.5, "equal shares", color="C1", ls="-", lw=1.5),
        curve("drr, measured", LENGTHS, partial(round_robin, "drr"), fmt="s", color="C1", mfc="none"),
        size=(7, 3.2), ylim=(0, 0.7),
    ),
    "wrr": one(
        "weight w of the class with packets of 500 bytes", "its share of the link",
        *(curve(f"turns in {count}, measured", list(range(1, 11)), partial(weighted, count), f, formula=f"turns in {count}: {text}",
            **HOLLOW)
          for count, text, f in (("packets", "w L / (w L + 3 L)", lambda w: w * 500 / (w * 500 + 1500)), ("bytes", "w / (w + 1)",
              lambda w: w / (w + 1)))),
        size=(7, 3.2), ylim=(0, 1),
    ),
    "wfq": one(
        "n, number of other flows", "delay (packet times)",
        *(curve(f'clock = "{clock}", longest of 5000', [2, 4, 8, 12, 16, 20, 25, 30], partial(longest, clock), f,
            formula=f"bound of {text}", **HOLLOW)
          for clock, text, f in (("gps", "Parekh and Gallager: L/r + L/C", lambda _: 3), ("scfq", "Golestani: L/r + n L/C",
              lambda n: 2 + n))),
        ylim=(0, None),
    ),
    "wf2q": one(
        "time (packet times)", "packets of the burst",
        steps("not yet begun by the fluid server", lambda: (spread(0, 22, 0.02), [max(0, 10 - math.floor(t / 2)) for t in spread(0, 22,
            0.02)]), "k--", lw=1),
        plot("WFQ, waiting", partial(special.burst_left, "wfq"), "o", ms=3, mfc="none"),
        plot("WF2Q+, waiting", partial(special.burst_left, "wf2q"), "o", ms=3, mfc="none"),
        size=(7, 3.2), xlim=(0, 22), ylim=(-0.3, 11),
    ),
    "drr": one(
        "length of the short packets (byte); the long ones have 1500", "share of the short packets",
        *(curve("measured", [50, 100, 200, 350, 500, 750, 1000, 1250, 1500], lambda n, q=queue: two_lengths(q, n, 1500, "poisson",
            "goodput"), f, formula=f"{label}: formula", fmt=mark, ms=5)
          for label, queue, f, mark in (
              ("drr, quantum 1500 B", {"drr": {"limit": "400kB"}}, lambda _: 0.5, "o"),
              ("drr, quantum 100 B", {"drr": {"limit": "400kB", "quantum": "100B"}}, lambda _: 0.5, "+"),
              ("sfq, a packet a turn", {"sfq": {"limit": "400kB", "salt": 1}}, lambda n: n / (n + 1500), "o"))),
        size=(7, 3.2), ylim=(0, 0.6), legend={"ncols": 3},
    ),
    "sfq": one(
        "flows", "share of the flows that share a queue",
        law("formula, 64 queues", range(1, 61), lambda n: 1 - (1 - 1 / 64) ** (n - 1)),
        curve("measured, ten salts, 95 % interval", [2, 5, 10, 15, 20, 30, 40, 60], special.sharing, capsize=2),
        size=(7, 3.2), ylim=(0, 1), xlim=(0, 62),
    ),
    "fq": special.max_min_shares(),
    "fq_codel": one(
        "bulk flows, which offer twice the rate of the link", "wait of a sparse flow (ms)",
        curve("fq_codel, measured", [1, 2, 4, 8, 12, 16, 20], partial(sparse_wait, {"fq_codel": {}}), lambda _: 0.4,
            formula="fq_codel, formula: rest of the packet in transmission"),
        curve("drr, measured", [1, 2, 4, 8, 12, 16, 20], partial(sparse_wait, {"drr": {"limit": "1000p", "quantum": "1000B"}}),
            lambda n: (n - 1) * 0.8 + 0.4, formula="drr, formula: and a packet of every other flow"),
        size=(7, 3.2), ylim=(0, None),
    ),
    "fq_pie": one(
        "target (ms)", "mean wait in the queue (ms)", law("target", [0, 65], lambda t: t, color="black", lw=1),
        *(curve(f"{n} flow{'s' * (n > 1)}, measured", [10, 15, 20, 30, 40, 60],
            lambda t, n=n: mean(bulk({"fq_pie": {"target": f"{t}ms"}}, n, "100s", "20s"), "sojourn_mean", link="link", scale=1e3),
                fmt=mark, ms=5)
          for n, mark in ((1, "o"), (3, "s"), (6, "^"))),
        size=(7, 3.2), xlim=(0, 65), ylim=(0, 75),
    ),
    "cake": one(
        "n, flows of the other host; all go to one destination", "share of the host with one flow",
        *(curve(mode, [1, 2, 3, 5, 8, 12, 16], partial(special.isolated, mode), f, formula="", fmt=mark, ms=6, width=1)
          for mode, f, mark in (("flows", lambda n: 1 / (n + 1), "o"), ("dual_srchost", lambda _: 0.5, "s"), ("dual_dsthost",
              lambda n: 1 / (n + 1), "+"))),
        note("formula: 1/2, 1/(n + 1)", lw=1, color="black"), size=(7, 3.2), ylim=(0, 0.6),
    ),
    "tbf": one("time (ms)", "sent (kilobyte)", *special.bucket(), size=(7, 3.2), xlim=(0, 150), ylim=(0, None)),
    "htb": shapers.borrowing(),
    "hfsc": shapers.promised(),
    "srtcm": colours("srtcm", {"green": lambda x: min(1, 2 / x), "yellow": lambda _: 0.0, "red": lambda x: max(0, 1 - 2 / x)}, ebs="5000B"),
    "trtcm": colours(
        "trtcm", {"green": lambda x: min(1, 2 / x), "yellow": lambda x: max(0, min(1, 5 / x) - 2 / x), "red": lambda x: max(0, 1 - 5 / x)},
        pir="5Mbit/s", pbs="5000B",
    ),
    "policer": colours(
        "policer", {"green": lambda x: min(1, 2 / x), "red": lambda x: max(0, 1 - 2 / x)}, ("rate", "burst"), exceed="af13",
    ),
    "docsis_pie": one(
        "target (ms)", "mean wait in the queue (ms)", law("target", [0, 65], lambda t: t, color="black", lw=1),
        *(curve(f"{n} flow{'s' * (n > 1)}, measured", [5, 10, 15, 20, 30, 40, 60],
            lambda t, n=n: mean(bulk({"docsis_pie": {"target": f"{t}ms", "limit": "400kB"}}, n, "100s", "20s"), "sojourn_mean",
                link="link", scale=1e3), fmt=mark, ms=5)
          for n, mark in ((1, "o"), (3, "s"), (6, "^"))),
        size=(7, 3.2), xlim=(0, 65), ylim=(0, 75),
    ),
}
# fmt: on
