"""Why the claims of Ramachendra et al. 2014 come out as they do, each with the runs that show it."""

from __future__ import annotations

from collections.abc import Mapping

from fairlane.papers import Results
from fairlane.stats import interval

from . import net
from .text import AQMS, FULL_WINDOW, PATH, against, gain, of, one_segment, room, use


def causes(r: Results, others: Mapping[str, Results]) -> Mapping[str, str]:
    """By the id of the claim."""
    overflow = [of(r, "overflows", 50, q, "ModRED") for q in (25, 100)]
    recovered = [of(r, "recoveries", 50, q, "ModRED") for q in (25, 100)]
    carried = [of(r, "throughput", 100, 100, "RED", traffic=t) / 1e3 for t in ("smooth", "bursty")]
    made = {
        "R1": f"Direction only: which network and discipline the printed 0.36 % belongs to is not said. The zero is arithmetic: {room()}. ",
        "R5": f"16 senders have windows of {16 * FULL_WINDOW:.0f} kbyte together (with headers), the path holds {PATH:.0f}: DropTail's "
        f"queue has {of(r, 'mean_queue', 25, 100, 'DropTail'):.0f} packets in the mean, and ModRED, whose queues start to cut windows at "
        f"5, uses {use(r, 25, 100, 'ModRED'):.0f} % of the link. ",
        "R6": f"ModRED uses {use(r, 50, 25, 'ModRED'):.0f} % of the link with 25 packets and {use(r, 50, 100, 'ModRED'):.0f} % with 100. "
        f"Small queues overflow ({overflow[0]:.0f} packets a run, {overflow[1]:.0f} with 100), and overflow is what makes the senders "
        f"reduce their congestion windows ({recovered[0]:.0f} fast recoveries a run, {recovered[1]:.0f} with 100), so that the bursts that "
        "set off the cutting become smaller. ",
        "R7": f"Cut windows leave the link idle: {use(r, 75, 100, 'ModRED'):.0f} and {use(r, 100, 100, 'ModRED'):.0f} % of it are used at "
        f"75 and 100 % load, RED has {use(r, 75, 100, 'RED'):.0f} and {use(r, 100, 100, 'RED'):.0f} %. A loss with one segment under way "
        f"has no duplicate acknowledgments and costs a timeout: ModRED's senders have {of(r, 'recoveries', 75, 100, 'ModRED'):.1f} fast "
        f"recoveries a run, RED's {of(r, 'recoveries', 75, 100, 'RED'):.0f}. ",
        "R8": _near(r),
        "R9": f"The loss is lower, {of(r, 'loss_rate', 100, 100, 'ModRED'):.2f} % against {of(r, 'loss_rate', 100, 100, 'RED'):.2f} (RED), "
        f"{of(r, 'loss_rate', 100, 100, 'WRED'):.2f} (WRED) and {of(r, 'loss_rate', 100, 100, 'AVQ'):.2f} % (AVQ); the utilization is not "
        f"higher: {use(r, 100, 100, 'ModRED'):.0f} % against {use(r, 100, 100, 'RED'):.0f}, {use(r, 100, 100, 'WRED'):.0f} and "
        f"{use(r, 100, 100, 'AVQ'):.0f} %. ",
        "R10": f"ModRED's throughput is {against(gain(r, 'smooth'))} RED's with smooth senders and {against(gain(r, 'bursty'))} it with "
        f"bursty ones. There is nothing to gain: of 9.00 Mbit/s offered RED carries {carried[0]:.2f} and {carried[1]:.2f}. ",
        "R11": "In shares of the arrivals of their kind, too: with ModRED "
        + " and ".join(_shares(r, load) for load in (75, 100))
        + ". ",
        "R12": "The field of zero itself is held by a test of the engine; see the note at modred-unit.",
    }  # fmt: skip
    if others:
        _elsewhere(made, others)
    return made


def _shares(r: Results, load: int) -> str:
    out, in_ = (r.mean(f"drop_share_{k}", aqm="ModRED", load=load, traffic="counted") for k in ("out", "in"))
    return f"{out:.1f} % of the OUT packets and {in_:.2f} % of the IN packets at {load} % load"


def _values(r: Results, metric: str, load: int, aqm: str) -> list[float]:
    return list(r.samples(r.cell(network=64, load=load, queue=100, aqm=aqm, traffic="bulk", setup=net.BASE), metric))


def _at_senders(r: Results, load: int, aqm: str) -> float:
    """What a packet waits outside of the bottleneck's queue: at its sender's own link, ms."""
    return of(r, "one_way_delay", load, 100, aqm) - net.IDLE_DELAY - of(r, "mean_time_in_queue", load, 100, aqm)


def _near(r: Results) -> str:
    """R8: two of three quantities are plain, the third is near."""
    q, d, x, w = (
        [of(r, m, load, 100, a) for load in (75, 100) for a in ("ModRED", "RED")]
        for m in ("mean_queue", "one_way_delay", "loss_rate", "mean_time_in_queue")
    )
    mod, red = (_values(r, "one_way_delay", 75, a) for a in ("ModRED", "RED"))
    apart = interval([a - b for a, b in zip(mod, red, strict=True)])
    spread = f" ({apart.low:+.1f} to {apart.high:+.1f} ms, 95 %)" if apart.low is not None and apart.high is not None else ""
    return (
        f"ModRED against RED at 75 and 100 % load: mean queue {q[0]:.1f} and {q[2]:.1f} against {q[1]:.1f} and {q[3]:.1f} packets, loss "
        f"{x[0]:.2f} and {x[2]:.2f} against {x[1]:.2f} and {x[3]:.2f} %. Only the delay is close: {d[0]:.1f} and {d[2]:.1f} against "
        f"{d[1]:.1f} and {d[3]:.1f} ms, and at 75 % the replications do not tell the two apart{spread}. In the router ModRED's packets "
        f"wait less, {w[0]:.1f} and {w[2]:.1f} against {w[1]:.1f} and {w[3]:.1f} ms. What makes up for it is the wait at the senders' own "
        f"links of 10 Mbit/s, {_at_senders(r, 75, 'ModRED'):.1f} against {_at_senders(r, 75, 'RED'):.1f} ms at 75 %: when windows open "
        f"again, up to {net.WINDOW} segments leave a sender at once. "
    ).replace("-", "−")


def _elsewhere(made: dict[str, str], others: Mapping[str, Results]) -> None:
    """Adds the runs in which the claims come out otherwise."""
    full, short, milder, fast_links = (others[k] for k in (net.FULL, net.SHORT, net.MILDER, net.FAST))
    same, eight, fast, timer, single = (
        others[k] for k in (net.SAME, "windows of 8 segments", "weight 0.02", "timeouts from 200 ms", "one priority queue")
    )

    def pair(x: Results, at: tuple[int, int, str], other: tuple[int, int, str], digits: int = 0) -> str:
        return f"{use(x, *at):.{digits}f} and {use(x, *other):.{digits}f} %"

    low, high = (50, 25, "ModRED"), (50, 100, "ModRED")
    mod, red = ((75, 100, "ModRED"), (100, 100, "ModRED")), ((75, 100, "RED"), (100, 100, "RED"))
    made["R1"] += f"With one queue of 250 packets {of(single, 'loss_rate', 50, 250, 'DropTail'):.2f} % are lost."
    made["R5"] += (
        f"With windows of 8 segments, 16 of which fit into the path, ModRED uses {use(eight, 25, 100, 'ModRED'):.1f} % and DropTail "
        f"{use(eight, 25, 100, 'DropTail'):.1f} %: without congestion there is no difference, as the claim's own second half says."
    )
    timeouts = [of(x, "timeouts", 50, 100, "ModRED") for x in (timer, same)]
    made["R6"] += (
        f"The two limits give the same with windows of 8 segments ({pair(eight, low, high)}: no congestion), with a weight of 0.02, where "
        f"averages follow faster ({pair(fast, low, high)}), and with timeouts from 200 ms ({pair(timer, low, high)}: {timeouts[0]:.0f} "
        f"timeouts a run instead of {timeouts[1]:.0f})."
    )
    made["R7"] += (
        "What it takes is that one packet from each sender in a round trip is more than the link carries. With 1460 byte, 50 ms and no "
        f"delayed acknowledgments ({one_segment(48, 1500, 0.05):.1f} and {one_segment(64, 1500, 0.05):.1f} Mbit/s) ModRED uses "
        f"{pair(full, *mod, 2)}, RED {pair(full, *red, 2)}. With 512 byte and 25 ms ({one_segment(48, trip=0.025):.1f} and "
        f"{one_segment(64, trip=0.025):.1f} Mbit/s) ModRED has {pair(short, *mod)}, RED {pair(short, *red)}."
    )
    quick, plain = ([of(x, "one_way_delay", 75, 100, a) for a in ("ModRED", "RED")] for x in (fast_links, full))
    made["R8"] += (
        f"With access links of 100 Mbit/s, where a burst hardly waits there, the delays are {quick[0]:.1f} against {quick[1]:.1f} ms at 75 "
        f"%; with 1460 byte, 50 ms and no delayed acknowledgments {plain[0]:.0f} against {plain[1]:.0f} ms."
    )
    won = [use(short, 100, 100, a) for a in (AQMS[3], *AQMS[:3])]
    made["R9"] += (
        f"With 512 byte, a round trip of 25 ms and no delayed acknowledgments (64 senders carry {one_segment(64, trip=0.025):.1f} Mbit/s "
        f"with a packet each) it is {won[0]:.1f} % against {won[1]:.1f}, {won[2]:.1f} and {won[3]:.1f} %."
    )
    late = others["starts spread over 20 s"]
    turned = [name for name, x in others.items() if gain(x, "bursty") > gain(x, "smooth")]
    most = max(gain(x, t) for x in others.values() for t in ("smooth", "bursty"))
    made["R10"] += (
        f"What sets off the cutting is chance: with starts spread over 20 s smooth senders are {against(gain(late, 'smooth'))} RED's, "
        f"bursty ones {against(gain(late, 'bursty'))}. Bursts of 0.5 s with as much silence are {against(gain(milder, 'bursty'))} where "
        f"smooth senders are {against(gain(milder, 'smooth'))}. Bursty senders lose less than smooth ones with "
        f"{', '.join(turned) or 'none of the choices'}; the most that ModRED gains with any choice and traffic is {most:+.1f} %."
    )
    made["R11"] += (
        f"With one priority queue for all 64 senders, which overflows, {_dropped(single, 100)}; with contracts of 50 packets, where nearly "
        f"all packets are IN, {_dropped(others['contract with 50 packets'], 75)}."
    )


def _dropped(x: Results, load: int) -> str:
    """What ModRED drops of both kinds, in counts and shares."""
    n = {k: x.mean(k, aqm="ModRED", load=load, traffic="counted") for k in ("drops_in", "drops_out", "drop_share_in", "drop_share_out")}
    return (
        f"{n['drops_in']:.0f} IN packets are dropped and {n['drops_out']:.0f} OUT packets at {load} % load, {n['drop_share_in']:.2f} and "
        f"{n['drop_share_out']:.2f} % of their kind"
    )
