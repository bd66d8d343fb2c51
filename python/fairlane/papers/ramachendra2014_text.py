"""What we find in Ramachendra et al. 2014, in sentences with the numbers of the runs at hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from . import ramachendra2014_net as net
from .definition import Results

_QUALITIES = ("mean_queue", "one_way_delay", "loss_rate")


def _of(r: Results, quantity: str, load: int, queue: int, aqm: str, n: int = 64, traffic: str = "bulk") -> float:
    return r.mean(quantity, network=n, load=load, queue=queue, aqm=aqm, traffic=traffic, setup=net.BASE)


def _use(r: Results, load: int, queue: int, aqm: str) -> float:
    return _of(r, "utilization", load, queue, aqm)


def _gain(r: Results, traffic: str) -> float:
    mod, red = (_of(r, "throughput", 100, 100, a, traffic=traffic) for a in ("ModRED", "RED"))
    return 100 * (mod / red - 1)


def fit(r: Results) -> tuple[str, tuple[float, float], tuple[int, float, float]]:
    """The set-up nearest to the printed losses: its losses at 75 %, and the network nearest to 0.36 % and 0 at 50 %."""

    def loss(s: str, n: int, load: int, queue: int) -> float:
        return r.mean("loss_rate", network=n, load=load, queue=queue, aqm="DropTail", setup=s)

    def apart(s: str) -> float:
        pairs = ((loss(s, 64, 75, 100), 3.58), (loss(s, 64, 75, 250), 1.6))
        return sum(abs(math.log(max(x, 1e-3) / y)) for x, y in pairs) + min(
            abs(math.log(max(loss(s, n, 50, 25), 1e-3) / 0.36)) + 10 * loss(s, n, 50, 250) for n in net.NETWORKS
        )

    best = min(net.SETUPS, key=apart)
    near = min(net.NETWORKS, key=lambda n: abs(math.log(max(loss(best, n, 50, 25), 1e-3) / 0.36)) + 10 * loss(best, n, 50, 250))
    return best, (loss(best, 64, 75, 100), loss(best, 64, 75, 250)), (near, loss(best, near, 50, 25), loss(best, near, 50, 250))


def notes(name: str, r: Results | None) -> list[str]:
    """Sentences under an experiment."""
    made: Mapping[str, Callable[[Results], list[str]]] = {
        "matrix": _matrix, "losses-50": _losses_50, "losses-75": _losses_75, "calibration": _calibrated,
        "modred-25": _low, "modred-50": _middle,
        "modred-75-100": _high, "bursty": _bursts, "fig3.1": _colours,
    }  # fmt: skip
    if r is None:
        return [
            "A window of zero cannot be had from these receivers, which read at once; the case is measured with the smallest window "
            "there is, one byte, which has to stay as it is. The engine's own test (crates/net/tests/clamp.rs) has the zero.",
            "Sender and receiver are ordinary: nothing about them knows of ModRED.",
        ]
    return made[name](r) if name in made else []


def _matrix(r: Results) -> list[str]:
    same = _of(r, "throughput", 50, 250, "DropTail", 16)
    return [
        f"With 16 nodes at 25 and 50 % load no queue ever forms ({same / 1e3:.2f} Mbit/s at 50 %, whatever the discipline): 4 or 8 "
        "windows of 16 kbyte fit into the path. There the disciplines cannot differ.",
        "RED, WRED and ModRED have the same curves with 100 and with 250 packets: their thresholds end at 20, so neither limit is ever "
        "reached.",
    ]


def _losses_50(r: Results) -> list[str]:
    a, b, c = (_of(r, "loss_rate", 50, q, "DropTail") for q in (25, 100, 250))
    return [
        f"DropTail, 64 nodes: {a:.2f} % with 25 packets, {b:.2f} % with 100 and {c:.2f} % with 250, printed 0.36 % and 0. The zero is "
        "arithmetic: 32 windows of 32 segments are 565 kbyte, and the path with three queues of 250 packets holds 600."
    ]


def _losses_75(r: Results) -> list[str]:
    a, b = (_of(r, "loss_rate", 75, q, "DropTail") for q in (100, 250))
    return [
        f"Ours are {a:.2f} and {b:.2f} %: the same order, but {3.58 / a:.0f} and {1.6 / b:.0f} times less. Three queues that hold 100 "
        "packets each are one with 300. What gives losses near the printed ones is shown below."
    ]


def _calibrated(r: Results) -> list[str]:
    best, (a, b), (n, c, d) = fit(r)
    return [
        f"Nearest to the printed numbers is {best}: {a:.2f} and {b:.2f} % where 3.58 and 1.6 are printed, and {c:.2f} % falling to "
        f"{d:.2f} % with {n} nodes at 50 % load where 0.36 and 0 are printed. One queue instead of three is in all the near ones: the "
        "printed limits look like those of the whole router.",
        "Four numbers do not fix five open parameters; the conclusions below are therefore also tried with each choice alone.",
    ]


def _low(r: Results) -> list[str]:
    return [
        "16 senders keep 166 packets waiting with DropTail (their windows are larger than the path) and use all of the link; ModRED cuts "
        f"them down to {_use(r, 25, 100, 'ModRED'):.0f} % of it."
    ]


def _middle(r: Results) -> list[str]:
    a, b = (_use(r, 50, q, "ModRED") for q in (25, 100))
    return [
        f"ModRED uses {a:.0f} % of the link with 25 packets and {b:.0f} % with 100: the smaller buffer is better. Bursts overflow it, TCP "
        "halves its windows, and the average comes down below the threshold where windows are cut; with 100 packets the whole burst gets "
        "in and the average stays between the thresholds."
    ]


def _high(r: Results) -> list[str]:
    cut = r.mean("cutting", aqm="ModRED", traffic="watched")
    m, d = _use(r, 75, 100, "ModRED"), _use(r, 75, 100, "RED")
    return [
        f"A queue cuts windows {cut:.0f} % of the time at 75 % load. Meanwhile 48 senders with one segment a round trip and a receiver "
        f"that delays its acknowledgment by up to 200 ms carry about 0.6 to 1.4 Mbit/s: ModRED uses {m:.0f} % of the link, RED {d:.0f} %. "
        "When the average has sunk the old congestion windows go out at once, the queue jumps up, and the average is back between the "
        "thresholds.",
    ]


def _bursts(r: Results) -> list[str]:
    smooth, bursty = _gain(r, "smooth"), _gain(r, "bursty")
    return [
        f"ModRED's throughput differs from RED's by {smooth:.0f} % with smooth senders and by {bursty:.0f} % with bursty ones: there is "
        "no gain in either."
    ]


def _colours(r: Results) -> list[str]:
    share = [r.mean(f"drop_share_{k}", aqm="ModRED", load=100, traffic="counted") for k in ("out", "in")]
    return [
        f"OUT before IN, in shares as well as in counts: with ModRED at 100 % load {share[0]:.1f} % of the OUT packets are dropped and "
        f"{share[1]:.2f} % of the IN packets. Counted over whole runs without warm-up, with sources that end 10 s early so that nothing "
        "is under way at the end."
    ]


def _movers(others: Mapping[str, Results]) -> str:
    """The choices with which ModRED uses most of the link at 75 % load."""
    use = {name: _use(others[name], 75, 100, "ModRED") for name, _, _ in net.CHOICES}
    return ", ".join(f"{name} ({use[name]:.0f} %)" for name in sorted(use, key=lambda n: -use[n])[:4])


def _behind(choices: Sequence[Results]) -> str:
    """With how many choices ModRED uses less of the link than RED."""
    less = sum(_use(x, 75, 100, "ModRED") < _use(x, 75, 100, "RED") for x in choices)
    return f"It uses less than RED with {'every one' if less == len(choices) else f'{less}'} of them."


def findings(r: Results, others: Mapping[str, Results]) -> list[str]:
    """The summary at the top of the page."""
    uses = [_use(r, 100, 100, a) for a in ("RED", "WRED", "AVQ", "ModRED")]
    lost = [_of(r, "loss_rate", 100, 100, a) for a in ("RED", "WRED", "AVQ", "ModRED")]
    delays = [_of(r, "one_way_delay", 100, 100, a) for a in ("RED", "ModRED", "DropTail")]
    best, (a, b), (n, c, d) = fit(r)
    out = [
        f"ModRED does not raise the throughput. With 64 nodes, all sending, and 100 packets a queue it uses {uses[3]:.0f} % of the link "
        f"where RED uses {uses[0]:.0f}, WRED {uses[1]:.0f} and AVQ {uses[2]:.0f} %. One segment a round trip from each sender is 1.75 "
        "Mbit/s at most, less with delayed acknowledgments.",
        f"It does lose less: {lost[3]:.2f} % against {lost[0]:.2f} (RED), {lost[1]:.2f} (WRED) and {lost[2]:.2f} % (AVQ). An idle link "
        "has nothing to drop.",
        f"Its mean queue is a fraction of RED's, yet packets are hardly faster: {delays[1]:.1f} ms one way against {delays[0]:.1f} "
        f"(DropTail: {delays[2]:.0f}). The queue is empty most of the time, but packets come in the bursts that leave when the clamp "
        "opens.",
        f"The four printed losses have the order of ours but are several times larger. Of the set-ups tried {best} is nearest: {a:.2f} "
        f"and {b:.2f} % (printed 3.58 and 1.6), {c:.2f} and {d:.2f} % with {n} nodes (printed 0.36 and 0).",
        "At 25 % load ModRED equals drop tail only while the senders' windows together fit into the path: with 16 nodes (4 senders) and "
        "32 nodes (8 senders), not with 64.",
    ]
    if others:
        full, slow = others[net.FULL], [x for name, x in others.items() if name not in {e[0] for e in net.EXTREMES}]
        low, high = (f([_use(x, 75, 100, "ModRED") for x in slow]) for f in (min, max))
        out += [
            "What decides is n x segment / round trip against the link. With 1460 byte, 50 ms and no delayed acknowledgments 48 senders "
            f"with one packet each carry 11.5 Mbit/s, and ModRED then uses {_use(full, 75, 100, 'ModRED'):.1f} % of the link (RED "
            f"{_use(full, 75, 100, 'RED'):.1f} %) and loses {_of(full, 'loss_rate', 75, 100, 'ModRED'):.2f} % (RED "
            f"{_of(full, 'loss_rate', 75, 100, 'RED'):.2f} %): its idea works where this product exceeds the link, and in nothing else "
            "that was tried.",
            f"How far ModRED falls behind is wide open: with the {len(slow)} other choices it uses {low:.0f} to {high:.0f} % of the link "
            f"at 75 % load. What moves it most is open in the paper: {_movers(others)}. {_behind(slow)}",
            "AVQ in each of three queues with the whole link as its capacity is DropTail: no queue ever sees more than a third of the "
            "link.",
        ]
    return out


def causes(r: Results, others: Mapping[str, Results]) -> Mapping[str, str]:
    """Why claims come out as they do, with the runs that show it."""
    q, d, x = ([_of(r, m, load, 100, a) for load in (75, 100) for a in ("ModRED", "RED")] for m in _QUALITIES)
    made = {
        "R1": "Direction only: which network and discipline the printed 0.36 % belongs to is not said. The zero needs windows that fit "
        "into path and queues together, here 565 of 600 kbyte.",
        "R5": "16 senders have windows of 262 kbyte together, the path holds 188: DropTail's queue is never empty and ModRED's average "
        f"is above its threshold, so that it uses {_use(r, 25, 100, 'ModRED'):.0f} % of the link. ",
        "R6": f"ModRED uses {_use(r, 50, 25, 'ModRED'):.0f} % of the link with 25 packets and {_use(r, 50, 100, 'ModRED'):.0f} % with "
        "100, since overflows of the small buffer end the bursts that keep the average between the thresholds. ",
        "R7": f"Cut windows leave the link idle: {_use(r, 75, 100, 'ModRED'):.0f} and {_use(r, 100, 100, 'ModRED'):.0f} % of it are used, "
        f"RED has {_use(r, 75, 100, 'RED'):.0f} and {_use(r, 100, 100, 'RED'):.0f} %. ",
        "R8": f"ModRED against RED at 75 and 100 % load: mean queue {q[0]:.1f} and {q[2]:.1f} against {q[1]:.1f} and {q[3]:.1f} packets, "
        f"loss {x[0]:.2f} and {x[2]:.2f} against {x[1]:.2f} and {x[3]:.2f} %. Only the delay is close: {d[0]:.1f} and {d[2]:.1f} against "
        f"{d[1]:.1f} and {d[3]:.1f} ms. The mean queue is taken over time, the delay over packets, and ModRED's packets come in the "
        "bursts that follow an opened clamp. ",
        "R9": f"The loss is lower, the utilization is not: {_use(r, 100, 100, 'ModRED'):.0f} % against {_use(r, 100, 100, 'RED'):.0f} "
        f"(RED), {_use(r, 100, 100, 'WRED'):.0f} (WRED) and {_use(r, 100, 100, 'AVQ'):.0f} % (AVQ). ",
        "R10": f"ModRED's throughput differs from RED's by {_gain(r, 'smooth'):.0f} % with smooth and {_gain(r, 'bursty'):.0f} % with "
        "bursty senders: a burst is what lifts the average over the threshold. ",
        "R11": "In shares of the arrivals of their kind, too, see fig3.1. ",
        "R12": "The field of zero itself is held by a test of the engine; see the note at modred-unit.",
    }  # fmt: skip
    if others:
        _elsewhere(made, others)
    return made


def _elsewhere(made: dict[str, str], others: Mapping[str, Results]) -> None:
    """Adds the runs in which the claims come out otherwise."""
    full, short, milder = (others[name] for name, _, _ in net.EXTREMES)
    eight, fast, timer, single = (others[k] for k in ("windows of 8 segments", "weight 0.02", "timeouts from 200 ms", "one priority queue"))

    def pair(x: Results, at: tuple[int, int, str], other: tuple[int, int, str], digits: int = 0) -> str:
        return f"{_use(x, *at):.{digits}f} and {_use(x, *other):.{digits}f} %"

    low, high = (50, 25, "ModRED"), (50, 100, "ModRED")
    mod, red = ((75, 100, "ModRED"), (100, 100, "ModRED")), ((75, 100, "RED"), (100, 100, "RED"))
    made["R1"] += f" With one queue of 250 packets {_of(single, 'loss_rate', 50, 250, 'DropTail'):.2f} % are lost."
    made["R5"] += (
        f"With windows of 8 segments, 16 of which fit into the path, both use {_use(eight, 25, 100, 'ModRED'):.1f} %: then it holds, as "
        "the sentence about the uncongested network says itself."
    )
    made["R6"] += (
        f"It holds with windows of 8 segments ({pair(eight, low, high)}: no congestion), with a weight of 0.02, where averages follow "
        f"faster ({pair(fast, low, high)}), and with timeouts from 200 ms ({pair(timer, low, high)}: delayed acknowledgments then cause "
        "needless timeouts all the time)."
    )
    made["R7"] += (
        "It holds where one packet from each sender in a round trip is more than the link carries: with 1460 byte, 50 ms and no delayed "
        f"acknowledgments ModRED uses {pair(full, *mod, 2)}, RED {pair(full, *red, 2)}. With 512 byte and 25 ms, where only all 64 "
        f"senders exceed it, ModRED has {pair(short, *mod)}, RED {pair(short, *red)}."
    )
    delay = [_of(full, "one_way_delay", 75, 100, a) for a in ("ModRED", "RED")]
    made["R8"] += (
        "So near are they that single runs fall on either side, also with choices that cannot touch them (AVQ's). With 1460 byte, 50 ms "
        f"and no delayed acknowledgments it is plain: {delay[0]:.0f} against {delay[1]:.0f} ms at 75 %."
    )
    won = [_use(short, 100, 100, a) for a in ("ModRED", "RED", "WRED", "AVQ")]
    made["R9"] += (
        "With 512 byte, a round trip of 25 ms and no delayed acknowledgments (64 senders carry 11.3 Mbit/s with a packet each) it holds: "
        f"{won[0]:.1f} % against {won[1]:.1f}, {won[2]:.1f} and {won[3]:.1f} %."
    )
    gains = {name: max(_gain(x, t) for t in ("smooth", "bursty")) for name, x in others.items()}
    best = max(gains, key=lambda name: gains[name])
    made["R10"] += (
        f"With bursts of 0.5 s and as much silence it is {_gain(milder, 'bursty'):.0f} % against {_gain(milder, 'smooth'):.0f} %: the "
        f"order turns with the definition of bursty. The best of all choices is {gains[best]:+.1f} % ({best})."
    )
    of = {
        k: single.mean(k, aqm="ModRED", load=100, traffic="counted") for k in ("drops_in", "drops_out", "drop_share_in", "drop_share_out")
    }
    made["R11"] += (
        f"With one priority queue for all 64 senders, which overflows, {of['drops_in']:.0f} IN packets are dropped and "
        f"{of['drops_out']:.0f} OUT packets at 100 % load, {of['drop_share_in']:.2f} and {of['drop_share_out']:.2f} % of their kind."
    )
