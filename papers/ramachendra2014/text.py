"""Findings on Ramachendra et al. 2014, in sentences with the numbers of the runs at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fairlane.papers import Results

from . import airtext, net

AQMS = ("RED", "WRED", "AVQ", "ModRED")


def of(r: Results, quantity: str, load: int, queue: int, aqm: str, n: int = 64, traffic: str = "bulk") -> float:
    """The mean of a quantity in a combination."""
    return r.mean(quantity, network=n, load=load, queue=queue, aqm=aqm, traffic=traffic)


def use(r: Results, load: int, queue: int, aqm: str, n: int = 64) -> float:
    """Utilization of the bottleneck, percent."""
    return of(r, "utilization", load, queue, aqm, n)


def waiting(r: Results) -> str:
    """Describes the link's use by 64 senders with ModRED, with delayed acknowledgments and without."""
    own, acked = use(r, 100, 100, "ModRED"), of(r, "utilization", 100, 100, "ModRED", traffic=net.ACKED)
    return (
        f"A window of one segment waits for the receiver: it acknowledges every second packet, or when its timer ends, and a second packet "
        f"does not come. 64 senders use {own:.1f} % of the link with delayed acknowledgments and {acked:.1f} % when every packet is "
        f"acknowledged; RED uses {of(r, 'utilization', 100, 100, 'RED', traffic=net.ACKED):.1f} % then."
    )


def gain(r: Results, traffic: str) -> float:
    """ModRED's throughput over RED's, percent."""
    mod, red = (of(r, "throughput", 100, 100, a, traffic=traffic) for a in ("ModRED", "RED"))
    return 100 * (mod / red - 1)


def against(x: float) -> str:
    """A gain in words: "61 % below", "3 % above" or "level with" RED's."""
    return "level with" if abs(x) < 0.5 else f"{abs(x):.0f} % {'below' if x < 0 else 'above'}"


def _list(values: Sequence[float], digits: int) -> str:
    words = [f"{x:.{digits}f}" for x in values]
    return f"{', '.join(words[:-1])} and {words[-1]}"


def notes(name: str, r: Results | None) -> list[str]:
    """Sentences under an experiment."""
    made: Mapping[str, Callable[[Results], list[str]]] = {
        "losses-50": _losses_50, "losses-75": _losses_75, "modred-25": _low, "modred-50": _middle, "modred-75-100": _high,
        "bursty": _bursts,
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


def _losses_50(r: Results) -> list[str]:
    lost = [f"{_list([of(r, 'loss_rate', 50, q, 'DropTail', n) for q in net.LIMITS], 2)} % with {n} nodes" for n in net.NETWORKS]
    return [f"DropTail with 25, 100 and 250 packets loses {'; '.join(lost)}. The published 0.36 % and 0 name no number of nodes."]


def _losses_75(r: Results) -> list[str]:
    a, b = (of(r, "loss_rate", 75, q, "DropTail") for q in (100, 250))
    return [f"{a:.2f} and {b:.2f} % in the setting of these tables."]


def _apart(r: Results, load: int, queue: int, n: int, other: float) -> float:
    return 100 * (of(r, "throughput", load, queue, "ModRED", n) / other - 1)


def _low(r: Results) -> list[str]:
    there = [n for n in net.NETWORKS if r.has(network=n, load=25, queue=100, aqm="ModRED", traffic="bulk")]
    tail = [f"{_apart(r, 25, 100, n, of(r, 'throughput', 25, 100, 'DropTail', n)):+.1f} % with {n} nodes" for n in there]
    return [f"ModRED's throughput against that of drop tail: {', '.join(tail)}.".replace("-", "−")]


def _middle(r: Results) -> list[str]:
    there = [n for n in net.NETWORKS if all(r.has(network=n, load=50, queue=q, aqm="ModRED", traffic="bulk") for q in (25, 100))]
    told = [f"{use(r, 50, 25, 'ModRED', n):.0f} and {use(r, 50, 100, 'ModRED', n):.0f} % with {n} nodes" for n in there]
    return [f"ModRED with 25 and with 100 packets uses {'; '.join(told)} of the link."]


def _cut(r: Results, load: int, queue: int) -> float:
    return r.mean("cutting", aqm="ModRED", traffic="watched", load=load, queue=queue)


def _high(r: Results) -> list[str]:
    m, d = use(r, 75, 100, "ModRED"), use(r, 75, 100, "RED")
    return [
        waiting(r),
        f"A queue cuts windows {_cut(r, 75, 100):.0f} % of the time at 75 % load with 64 nodes. ModRED uses {m:.1f} % of the link, RED "
        f"{d:.1f} %.",
    ]


def _bursts(r: Results) -> list[str]:
    return [
        f"ModRED's throughput is {against(gain(r, 'smooth'))} RED's with smooth senders and {against(gain(r, 'bursty'))} it with bursty "
        f"ones."
    ]


def findings(r: Results) -> list[str]:
    """The summary at the top of the page."""
    uses = [use(r, 100, 100, a) for a in AQMS]
    lost = [of(r, "loss_rate", 100, 100, a) for a in AQMS]
    queues = [of(r, "mean_queue", 100, 100, a) for a in ("RED", "ModRED")]
    steady, jitters = ([of(r, m, 100, 100, a) for a in ("RED", "ModRED")] for m in ("queue_deviation", "jitter"))
    a, b = (of(r, "loss_rate", 75, q, "DropTail") for q in (100, 250))
    c, d = (of(r, "loss_rate", 50, q, "DropTail", 16) for q in (25, 250))
    return [
        f"ModRED does not carry more than RED, WRED or AVQ: with 64 nodes that all send and 100 packets it uses {uses[3]:.1f} % of the "
        f"link; RED {uses[0]:.1f}, WRED {uses[1]:.1f} and AVQ {uses[2]:.1f} %. It loses {lost[3]:.2f} % of its packets where they lose "
        f"{_list(lost[:3], 2)} %.",
        waiting(r),
        f"ModRED's mean queue is {queues[1]:.1f} packets, RED's {queues[0]:.1f}, with standard deviations of {steady[1]:.1f} and "
        f"{steady[0]:.1f} packets. The mean jitter is {jitters[1]:.1f} ms with ModRED and {jitters[0]:.1f} ms with RED.",
        f"One setting comes near all four published losses: {a:.2f} and {b:.2f} % where 3.58 and 1.6 % are published, {c:.2f} and {d:.2f} "
        "% where 0.36 and 0 % are. It keeps the stated 150 ms and takes one queue of 25, 100 or 250 packets, NewReno with segments of 1460 "
        "bytes, windows of 50 kbyte and timeouts from 400 ms, uniform round trips, and 16 nodes for the losses that name no number. Other "
        "settings do so, too: four numbers do not determine what the paper does not state.",
        *airtext.finding(r),
    ]


def causes(r: Results) -> Mapping[str, str]:
    """Why claims come out as they do, where a run of this study shows it; where a claim turns is shown with its settings."""
    carried = [of(r, "throughput", 100, 100, "RED", traffic=t) / 1e3 for t in ("smooth", "bursty")]
    return {
        "R7": f"With 64 nodes: {use(r, 75, 100, 'ModRED'):.1f} and {use(r, 100, 100, 'ModRED'):.1f} % of the link at 75 and 100 % load, "
        f"RED {use(r, 75, 100, 'RED'):.1f} and {use(r, 100, 100, 'RED'):.1f} %; a queue cuts windows {_cut(r, 75, 100):.0f} % of the time "
        f"at 75 %. {waiting(r)}",
        "R9": waiting(r),
        "R14": f"Jitters at 100 % load: {_both(r, 'jitter')} ms with ModRED and with RED.",
        "R16": f"Deviations of the length at 100 % load: {_both(r, 'queue_deviation')} packets with ModRED and with "
        "RED. When the average falls below the lower threshold all senders "
        "of a queue get their windows back at once, and send a burst.",
        "R17": f"A loss event hits {of(r, 'loss_synchronisation', 100, 100, 'ModRED'):.0f} % of the 64 senders with ModRED and "
        f"{of(r, 'loss_synchronisation', 100, 100, 'DropTail'):.0f} % with drop tail; but cut windows end and return together.",
        "R10": f"ModRED's throughput is {against(gain(r, 'smooth'))} RED's with smooth senders and {against(gain(r, 'bursty'))} it with "
        f"bursty "
        f"ones. RED itself carries {carried[0]:.2f} and {carried[1]:.2f} Mbit/s.",
        "R11": "In the setting of these tables "
        + " and ".join(_shares(r, load) for load in (75, 100))
        + ".",
        "R12": "The field of zero itself is held by a test of the engine; see the note at modred-unit.",
    }  # fmt: skip


def _both(r: Results, quantity: str) -> str:
    """Returns a quantity at full load with ModRED and with RED, for each network that was run."""
    there = [n for n in net.NETWORKS if all(r.has(network=n, load=100, queue=100, aqm=a, traffic="bulk") for a in ("ModRED", "RED"))]
    return "; ".join(" and ".join(f"{of(r, quantity, 100, 100, a, n):.1f}" for a in ("ModRED", "RED")) + f" ({n} nodes)" for n in there)


def _shares(r: Results, load: int) -> str:
    out, in_ = (r.mean(f"drop_share_{k}", aqm="ModRED", network=64, load=load, traffic="counted") for k in ("out", "in"))
    return f"{out:.2f} % of the OUT packets and {in_:.2f} % of the IN packets are dropped at {load} % load with 64 nodes"
