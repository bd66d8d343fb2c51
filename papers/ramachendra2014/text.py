"""What we find in Ramachendra et al. 2014, in sentences with the numbers of the runs at hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from fairlane.papers import Results

from . import net

AQMS = ("RED", "WRED", "AVQ", "ModRED")
PATH = 1e-3 * net.LINK * net.TRIP / 8
"""What the empty path holds, kbyte."""
FULL_WINDOW = 1e-3 * net.WINDOW * net.PACKET
"""A sender's window with headers, kbyte."""


def of(r: Results, quantity: str, load: int, queue: int, aqm: str, n: int = 64, traffic: str = "bulk") -> float:
    """The mean of a quantity in a cell with our choices."""
    return r.mean(quantity, network=n, load=load, queue=queue, aqm=aqm, traffic=traffic, setup=net.BASE)


def use(r: Results, load: int, queue: int, aqm: str) -> float:
    """Utilization of the bottleneck with 64 nodes, percent."""
    return of(r, "utilization", load, queue, aqm)


def gain(r: Results, traffic: str) -> float:
    """ModRED's throughput over RED's, percent."""
    mod, red = (of(r, "throughput", 100, 100, a, traffic=traffic) for a in ("ModRED", "RED"))
    return 100 * (mod / red - 1)


def against(x: float) -> str:
    """A gain in words: "61 % below", "3 % above" or "level with" RED's."""
    return "level with" if abs(x) < 0.5 else f"{abs(x):.0f} % {'below' if x < 0 else 'above'}"


def one_segment(senders: int, wire: int = net.PACKET, trip: float = net.TRIP) -> float:
    """What senders with one packet each in a round trip carry, Mbit/s."""
    return 1e-6 * senders * wire * 8 / trip


def fits(r: Results) -> list[tuple[float, str, int]]:
    """The set-ups at hand, the nearest to the printed losses first, each with the network nearest to 0.36 and 0 % at 50 % load."""

    def loss(s: str, n: int, load: int, queue: int) -> float:
        return r.mean("loss_rate", network=n, load=load, queue=queue, aqm="DropTail", setup=s)

    def ratio(x: float, y: float) -> float:
        return abs(math.log(max(x, 1e-3) / y))

    found = []
    for s in net.tried(r):
        at_50, near = min((ratio(loss(s, n, 50, 25), 0.36) + 10 * loss(s, n, 50, 250), n) for n in net.NETWORKS)
        found.append((ratio(loss(s, 64, 75, 100), 3.58) + ratio(loss(s, 64, 75, 250), 1.6) + at_50, s, near))
    return sorted(found)


def fit(r: Results) -> tuple[str, tuple[float, float], tuple[int, float, float]]:
    """The set-up nearest to the printed losses: its losses at 75 %, and the network nearest to 0.36 % and 0 at 50 %."""
    _, best, near = fits(r)[0]
    a, b, c, d = (
        r.mean("loss_rate", network=n, load=load, queue=q, aqm="DropTail", setup=best)
        for n, load, q in ((64, 75, 100), (64, 75, 250), (near, 50, 25), (near, 50, 250))
    )
    return best, (a, b), (near, c, d)


def notes(name: str, r: Results | None) -> list[str]:
    """Sentences under an experiment."""
    made: Mapping[str, Callable[[Results], list[str]]] = {
        "matrix": _matrix, "losses-50": _losses_50, "losses-75": _losses_75, "calibration": _calibrated,
        "modred-25": _low, "modred-50": _middle, "modred-75-100": _high, "bursty": _bursts, "fig3.1": _colours,
    }  # fmt: skip
    if r is None:
        return [
            "A window of zero cannot be had from these receivers, which read at once; the case is measured with the smallest window there "
            "is, one byte, which has to stay as it is. The engine's own test (crates/net/tests/clamp.rs) has the zero.",
            "Above the maximum (a threshold of 2 packets, so the average moves between 2 and 3) the one acknowledgment came back while "
            "the average was at 2, and was cut; what arrived at 3 was dropped.",
            "Sender and receiver are ordinary: nothing about them knows of ModRED.",
        ]
    return made[name](r) if name in made else []


def _matrix(r: Results) -> list[str]:
    def samples(metric: str, *, only: Sequence[str] = ()) -> list[float]:
        cells = [c for c in r.cells if c["traffic"] == "bulk" and c["setup"] == net.BASE and (not only or c["aqm"] in only)]
        return [x for c in cells for x in r.samples(c, metric)]

    apart = max(abs(x / 100 - y) for x, y in zip(samples("throughput"), samples("utilization"), strict=True))
    left = max(abs(x - y) for x, y in zip(samples("enqueued"), samples("dequeued"), strict=True))
    notes = [
        f"Throughput and utilization have one shape: what crosses the bottleneck arrives (they agree to {apart:.2f} % of the link in every "
        f"run). Packets enqueued and dequeued differ by at most {left:.0f} in a run, those that wait when the measured time begins or "
        "ends.",
    ]
    if r.has(network=16, load=50, queue=250, aqm="ModRED", traffic="bulk"):
        quiet = [of(r, "throughput", 50, q, a, 16) / 1e3 for q in net.LIMITS for a in net.QUEUES]
        slow, quick = f"{min(quiet):.2f}", f"{max(quiet):.2f}"
        late = max(of(r, "mean_queue", x, q, a, 16) for x in (25, 50) for q in net.LIMITS for a in net.QUEUES)
        notes.append(
            f"With 16 nodes at 25 and 50 % load no queue forms (at most {late:.3f} packets in the mean): 4 or 8 windows of 16 kbyte fit "
            f"into the path, and all disciplines have {slow if slow == quick else f'{slow} to {quick}'} Mbit/s at 50 %. There they cannot "
            "differ."
        )
    same = [
        a
        for a in ("RED", "WRED", "ModRED")
        if all(of(r, m, x, 100, a) == of(r, m, x, 250, a) for x in net.LOADS for m in ("throughput", "loss_rate", "one_way_delay"))
    ]
    if same:
        notes.append(
            f"{' and '.join(same)} have the same numbers with 100 and with 250 packets: their thresholds end at 15 or 20 packets, so that "
            "neither limit is reached."
        )
    if not r.has(network=16, load=50, queue=250, aqm="ModRED", traffic="bulk"):
        notes.append("A quick look has the charts of 64 nodes only; those of 16 and 32 nodes are in the whole study.")
    return notes


def _losses_50(r: Results) -> list[str]:
    a, b, c = (of(r, "loss_rate", 50, q, "DropTail") for q in net.LIMITS)
    return [
        f"DropTail, 64 nodes: {a:.2f} % with 25 packets, {b:.2f} % with 100 and {c:.2f} % with 250; printed are 0.36 % and 0. The zero is "
        f"arithmetic: {room()}."
    ]


def room(limit: int = 250) -> str:
    """Whether the windows of 32 senders fit into path and queues, in words."""
    return (
        f"32 windows of {net.WINDOW} segments are {32 * FULL_WINDOW:.0f} kbyte with headers, and the path with three queues of {limit} "
        f"packets holds {PATH + 3e-3 * limit * net.PACKET:.0f}"
    )


def _losses_75(r: Results) -> list[str]:
    a, b = (of(r, "loss_rate", 75, q, "DropTail") for q in (100, 250))
    return [
        f"Ours are {a:.2f} and {b:.2f} %: in the same order, but {3.58 / a:.0f} and {1.6 / b:.0f} times less. Three queues that hold 100 "
        "packets each are one with 300. What gives losses near the printed ones is shown below."
    ]


def _calibrated(r: Results) -> list[str]:
    best, (a, b), (n, c, d) = fit(r)
    ranked = [s for _, s, _ in fits(r)]
    ones = next((i for i, s in enumerate(ranked) if not s.startswith("1 queue")), len(ranked))
    nearest = (
        f"Of the {len(ranked)} set-ups the {ones} nearest all have one queue instead of three: the printed limits look like those of the "
        "whole router. "
        if ones > 1
        else ""
    )
    return [
        f'Nearest to the printed numbers is "{best}": {a:.2f} and {b:.2f} % where 3.58 and 1.6 are printed, and {c:.2f} % falling to '
        f"{d:.2f} % with {n} nodes at 50 % load where 0.36 and 0 are printed. {nearest}",
        "Four numbers do not fix five open parameters; the conclusions on this page are therefore also tried with each choice alone.",
    ]


def _low(r: Results) -> list[str]:
    fits_in = [n for n in (16, 32) if r.has(network=n, load=25, queue=100, aqm="ModRED", traffic="bulk")]
    small = "".join(
        f" With {n} nodes ({n // 4} senders) both have the same throughput to {abs(x):.2f} %."
        for n in fits_in
        for x in [100 * (of(r, "throughput", 25, 100, "ModRED", n) / of(r, "throughput", 25, 100, "DropTail", n) - 1)]
    )
    return [
        f"16 senders keep {of(r, 'mean_queue', 25, 100, 'DropTail'):.0f} packets waiting with DropTail, since their windows "
        f"({16 * FULL_WINDOW:.0f} kbyte with headers) are larger than the path ({PATH:.0f} kbyte), and use "
        f"{use(r, 25, 100, 'DropTail'):.0f} % of the link; ModRED cuts them down to {use(r, 25, 100, 'ModRED'):.0f} % of it.{small}"
    ]


def _cut(r: Results, load: int, queue: int) -> float:
    return r.mean("cutting", aqm="ModRED", traffic="watched", load=load, queue=queue)


def _middle(r: Results) -> list[str]:
    a, b = (use(r, 50, q, "ModRED") for q in (25, 100))
    full, room_left = (of(r, "overflows", 50, q, "ModRED") for q in (25, 100))
    again, never = (of(r, "recoveries", 50, q, "ModRED") for q in (25, 100))
    return [
        f"ModRED uses {a:.0f} % of the link with 25 packets and {b:.0f} % with 100: the smaller buffer is better. It overflows ({full:.0f} "
        f"packets a run are lost that way, {room_left:.0f} with 100), and a sender that loses a packet while its whole window is under way "
        f"hears of it by duplicate acknowledgments and halves the window ({again:.0f} times a run, {never:.0f} with 100). Later bursts are "
        f"smaller, and a queue cuts windows {_cut(r, 50, 25):.0f} % of the time instead of {_cut(r, 50, 100):.0f} %."
    ]


def _high(r: Results) -> list[str]:
    m, d = use(r, 75, 100, "ModRED"), use(r, 75, 100, "RED")
    return [
        f"A queue cuts windows {_cut(r, 75, 100):.0f} % of the time at 75 % load. Meanwhile 48 senders with one segment a round trip, and "
        f"receivers that delay its acknowledgment by up to 200 ms, carry {one_segment(48, trip=net.TRIP + 0.2):.1f} to "
        f"{one_segment(48):.1f} Mbit/s: ModRED uses {m:.0f} % of the link, RED {d:.0f} %. When the average has sunk the old congestion "
        "windows go out at once, the queue jumps up, and the average is back between the thresholds.",
    ]


def _bursts(r: Results) -> list[str]:
    return [
        f"ModRED's throughput is {against(gain(r, 'smooth'))} RED's with smooth senders and {against(gain(r, 'bursty'))} it with bursty "
        "ones. RED already carries all of the 9 Mbit/s that are offered "
        f"({of(r, 'throughput', 100, 100, 'RED', traffic='smooth') / 1e3:.2f} and "
        f"{of(r, 'throughput', 100, 100, 'RED', traffic='bursty') / 1e3:.2f} Mbit/s with what is sent again), so that there is nothing to "
        "gain."
    ]


def _colours(r: Results) -> list[str]:
    share = [r.mean(f"drop_share_{k}", aqm="ModRED", load=100, traffic="counted") for k in ("out", "in")]
    return [
        f"OUT before IN, in shares as well as in counts: with ModRED at 100 % load {share[0]:.1f} % of the OUT packets are dropped and "
        f"{share[1]:.2f} % of the IN packets. Counted over whole runs without warm-up, with sources that end 10 s early so that nothing is "
        "under way at the end."
    ]


def findings(r: Results, others: Mapping[str, Results]) -> list[str]:
    """The summary at the top of the page."""
    uses = [use(r, 100, 100, a) for a in AQMS]
    lost = [of(r, "loss_rate", 100, 100, a) for a in AQMS]
    queues = [of(r, "mean_queue", 100, 100, a) for a in ("RED", "ModRED")]
    delays = [of(r, "one_way_delay", 100, 100, a) for a in ("RED", "ModRED", "DropTail")]
    waits = [of(r, "mean_time_in_queue", 100, 100, a) for a in ("RED", "ModRED")]
    best, (a, b), (n, c, d) = fit(r)
    out = [
        f"ModRED does not raise the throughput. With 64 nodes, all sending, and 100 packets a queue it uses {uses[3]:.0f} % of the link "
        f"where RED uses {uses[0]:.0f}, WRED {uses[1]:.0f} and AVQ {uses[2]:.0f} %. One segment of 512 byte a round trip from each sender "
        f"is {one_segment(64, 512):.2f} Mbit/s at most, less with delayed acknowledgments.",
        f"It does lose less: {lost[3]:.2f} % against {lost[0]:.2f} (RED), {lost[1]:.2f} (WRED) and {lost[2]:.2f} % (AVQ). An idle link has "
        "little to drop.",
        f"Its mean queue is {queues[1]:.1f} packets, RED's {queues[0]:.1f}, yet packets are hardly faster: {delays[1]:.1f} ms one way "
        f"against {delays[0]:.1f} (DropTail: {delays[2]:.0f}). In the router they wait {waits[1]:.1f} instead of {waits[0]:.1f} ms; the "
        "rest is lost at the senders' own links, where the bursts queue that leave when windows open again.",
        f'The four printed losses have the order of ours but are several times larger. Of the set-ups tried "{best}" is nearest: {a:.2f} '
        f"and {b:.2f} % (printed 3.58 and 1.6), {c:.2f} and {d:.2f} % with {n} nodes (printed 0.36 and 0).",
        "At 25 % load ModRED equals drop tail only while the senders' windows together fit into the path: with 16 and 32 nodes (4 and 8 "
        f"senders), not with 64, where it has {use(r, 25, 100, 'ModRED'):.0f} % of the link and drop tail "
        f"{use(r, 25, 100, 'DropTail'):.0f} %.",
        "Nothing is said of wireless networks: four captions show some, fairlane gets them later, and their experiments are undecided. No "
        "claim rests on them.",
    ]
    return out + (_open(others) if others else [])


def _open(others: Mapping[str, Results]) -> list[str]:
    """What the other choices show."""
    full = others[net.FULL]
    slow = {name: others[name] for name, _, _ in net.CHOICES}
    won = [name for name, x in others.items() if use(x, 75, 100, "ModRED") > use(x, 75, 100, "RED")]
    used = {name: use(x, 75, 100, "ModRED") for name, x in slow.items()}
    most = ", ".join(f"{name} ({used[name]:.0f} %)" for name in sorted(used, key=lambda k: -used[k])[:4])
    less = [name for name in slow if name not in won]
    whole = others[net.WHOLE]
    avq, tail = (of(whole, "loss_rate", 100, 100, a) for a in ("AVQ", "DropTail"))
    return [
        "What decides is n x packet / round trip against the link. With 1460 byte, 50 ms and no delayed acknowledgments 48 senders with "
        f"one packet each carry {one_segment(48, 1500, 0.05):.1f} Mbit/s, and ModRED then uses {use(full, 75, 100, 'ModRED'):.1f} % of the "
        f"link (RED {use(full, 75, 100, 'RED'):.1f} %) and loses {of(full, 'loss_rate', 75, 100, 'ModRED'):.2f} % (RED "
        f"{of(full, 'loss_rate', 75, 100, 'RED'):.2f} %). Ahead of RED at 75 % load it is "
        + (f"with {' and '.join(won)}, and with nothing else that was tried." if won else "with nothing that was tried."),
        f"How far ModRED falls behind is wide open: with the {len(slow)} other choices for what the paper leaves open it uses "
        f"{min(used.values()):.0f} to {max(used.values()):.0f} % of the link at 75 % load; most with {most}. It uses less than RED with "
        f"{'every one' if len(less) == len(slow) else len(less)} of them.",
        f"AVQ in each of three queues with the whole link as its capacity is drop tail (both lose {avq:.2f} %): no queue ever sees more "
        "than a third of the link."
        if avq == tail
        else f"AVQ in each of three queues with the whole link as its capacity loses {avq:.2f} %, drop tail {tail:.2f} %.",
    ]
