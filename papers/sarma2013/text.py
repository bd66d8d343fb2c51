"""What we find in Sarma 2013, in sentences with the numbers of the runs at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from fairlane.papers import Results

_TCP = (3, 5, 8, 10, 25, 35, 50)
_DELAY = "mean_end_to_end_delay"
ROOMY = "RED with DropTail's buffer, 75 kbyte"
AT_ONCE = "all starts at exactly 0"
DELAYED, SLOW, SLOW_DELAYED = "delayed acknowledgments", "timeouts from 1 s", "both: delayed acknowledgments, timeouts from 1 s"
"""Alternatives that the sentences quote."""
Printed = Sequence[tuple[int, str, str, float]]
"""Clients, queue, quantity and printed value of TCP rows."""


def _tcp(r: Results, quantity: str, queue: str) -> list[float]:
    return [r.mean(quantity, clients=n, queue=queue, traffic="TCP") for n in _TCP]


def _of(r: Results, quantity: str, n: int, queue: str, traffic: str) -> float:
    return r.mean(quantity, clients=n, queue=queue, traffic=traffic)


def _overflows(r: Results) -> str:
    """Share of RED's drops at the router that are overflows, 50 TCP clients, in words."""
    share = _of(r, "router_overflow_share", 50, "RED", "TCP")
    return "all" if share >= 99.5 else f"{share:.0f} %"


def _with_room(r: Results, others: Mapping[str, Results]) -> str:
    """What RED does with a buffer of 75 kbyte, from the study of the open parameters."""
    roomy = others.get(ROOMY)
    if roomy is None:
        return ""
    lost, rate, at = "packet_loss_rate", "throughput_per_client", (8, 10, 50)
    ours = ", ".join(f"{_of(roomy, lost, n, 'RED', 'TCP'):.2f}" for n in at)
    theirs = ", ".join(f"{_of(r, lost, n, 'DropTail', 'TCP'):.2f}" for n in at)
    gain = ", ".join(f"{round(100 * (_of(roomy, rate, n, 'RED', 'TCP') / _of(r, rate, n, 'DropTail', 'TCP') - 1)):+d}" for n in at)
    fewer = [n for n in _TCP if _of(roomy, lost, n, "RED", "TCP") < _of(r, lost, n, "DropTail", "TCP")]
    where = (
        f"loses fewer packets than DropTail at {' and '.join(map(str, fewer))} clients and more at the others"
        if fewer
        else "still loses more"
    )
    return (
        f"Given the same 75 kbyte, RED loses {ours} % at 8, 10 and 50 clients where DropTail loses {theirs} %, and its throughput differs "
        f"by {gain} %. Of all {len(_TCP)} rows it {where}: much of the comparison is the size of the buffer."
    )


def _at_once(others: Mapping[str, Results]) -> str:
    """UDP's delays if all clients start at the same instant."""
    if AT_ONCE not in others:
        return "With all starts at exactly one instant the packets meet at the router and wait."
    a, b = (_of(others[AT_ONCE], _DELAY, n, "DropTail", "UDP") for n in (3, 5))
    return f"With all starts at exactly one instant the packets meet at the router and need {a:.2f} and {b:.2f} ms."


def findings(r: Results, others: Mapping[str, Results], printed: Printed) -> list[str]:
    """The summary at the top of the page; `others`: with other choices; `printed`: TCP rows of 8 and more clients."""
    lost, early = _tcp(r, "packet_loss_rate", "DropTail"), _tcp(r, "packet_loss_rate", "RED")
    more = sum(b > a for a, b in zip(lost, early, strict=True))
    rates = zip(_tcp(r, "throughput_per_client", "DropTail"), _tcp(r, "throughput_per_client", "RED"), strict=True)
    gain = [100 * (a / b - 1) for a, b in rates]
    share = _overflows(r)
    slow, fast = (_of(r, _DELAY, 50, q, "TCP") for q in ("DropTail", "RED"))
    whole = _of(r, "full_one_way_delay", 3, "DropTail", "TCP")
    flood, flood_red = (_of(r, _DELAY, 10, q, "UDP") for q in ("DropTail", "RED"))
    udp3, udp5 = (_of(r, _DELAY, n, "DropTail", "UDP") for n in (3, 5))
    shared = r.samples(r.cell(clients=10, queue="DropTail", traffic="TCP-UDP"), "packet_loss_rate")
    return [
        f"The queues trade delay against throughput, as the paper says: with 50 TCP clients a packet needs {slow:.1f} ms with DropTail and "
        f"{fast:.1f} ms with RED, while DropTail carries {min(gain):.0f} to {max(gain):.0f} % more, depending on the number of clients.",
        _agreement(r),
        *_timers(r, others, printed),
        f"RED does not lose fewer packets. It loses more than DropTail in {more} of {len(_TCP)} rows ({early[-1]:.1f} against "
        f"{lost[-1]:.1f} % with 50 clients). In ns-2.34's automatic setting its buffer is 25 kbyte where DropTail's 49 packets are 75, "
        f"and {share} of its drops at the router are overflows of that small buffer, not early drops. " + _with_room(r, others),
        "UDP fills the shared link exactly: min(10, 50/n) Mbit/s a client with either queue, and everything above is lost. The queue only "
        f"decides how long the rest waits: {flood:.1f} ms with DropTail, {flood_red:.1f} ms with RED at 10 clients. The printed 13.9 and "
        "13.6 ms cannot be had from a full queue (contradiction 3).",
        "Up to 5 clients the router's queue is empty and the access links are the limit. A TCP packet waits in its own client's queue: "
        f"{whole:.0f} ms from end to end with DropTail, {whole / 13.246:.1f} times the 13.2 ms that the printed delays, counted from the "
        "router, show.",
        "The printed UDP delays at 3 and 5 clients (13.30 and 13.52 ms) fit clients that start a fraction of a millisecond apart: "
        f"{udp3:.2f} and {udp5:.2f} ms here. {_at_once(others)}",
        "In the shared network UDP takes what it sends and TCP lives on the rest. At 10 clients the loss depends on how the UDP packets "
        f"happen to interleave: {min(shared):.1f} to {max(shared):.1f} % between replications that differ by a millisecond in their "
        "starts. A single run, as in the paper (0.70 %), says little there.",
    ]


def _apart(r: Results, printed: Printed) -> str:
    """The median difference from printed throughputs and losses, in words."""
    both = []
    for quantity in ("throughput_per_client", "packet_loss_rate"):
        both.append(median(abs(_of(r, q, n, queue, "TCP") / x - 1) for n, queue, q, x in printed if q == quantity))
    return f"{100 * both[0]:.1f} % in throughput and {100 * both[1]:.0f} % in loss"


def _timers(r: Results, others: Mapping[str, Results], printed: Printed) -> list[str]:
    """How near the printed numbers are with the timers that the paper does not give."""
    if SLOW_DELAYED not in others:
        return []
    lost = [_of(others[DELAYED], "packet_loss_rate", n, "RED", "TCP") for n in (25, 35, 50)]
    least = min(_of(others[k], _DELAY, 50, "DropTail", "TCP") for k in (DELAYED, SLOW, SLOW_DELAYED))
    rate = [_of(others[SLOW], "throughput_per_client", n, "RED", "TCP") for n in (35, 50)]
    return [
        f"With 8 and more TCP clients the median difference from the printed numbers is {_apart(r, printed)}. TCP's timers, which the "
        f"paper does not give, matter there: with acknowledgments delayed it is {_apart(others[DELAYED], printed)} (RED at 25 to 50 "
        f"clients loses {lost[0]:.2f}, {lost[1]:.2f} and {lost[2]:.2f} %, printed 1.93, 3.22 and 4.23), with timeouts from 1 s instead of "
        f"ns-2's 0.2 s {_apart(others[SLOW], printed)} (RED at 35 and 50 clients carries {rate[0]:.0f} and {rate[1]:.0f} kbit/s, printed "
        f"1235 and 882), with both {_apart(others[SLOW_DELAYED], printed)}. The printed delays stay out of reach: {least:.1f} ms at the "
        "least with DropTail at 50 clients, printed 14.51."
    ]


def _agreement(r: Results) -> str:
    """How far the rows with 3 and 5 TCP clients are from the printed ones."""
    rates = [(3, "DropTail", 9687.62), (5, "DropTail", 9687.26), (3, "RED", 8827.97), (5, "RED", 8840.07)]
    apart = [abs(_of(r, "throughput_per_client", n, q, "TCP") / x - 1) for n, q, x in rates]
    lost = [_of(r, "packet_loss_rate", 3, q, "TCP") for q in ("DropTail", "RED")]
    return (
        f"With 3 and 5 TCP clients the throughputs are the printed ones within {100 * max(apart[:2]):.1f} % (DropTail) and "
        f"{100 * max(apart[2:]):.1f} % (RED). The loss is with DropTail ({lost[0]:.3f} %, printed 0.1055), not with RED: {lost[1]:.2f} % "
        "here and in ns-2.35, printed 0.18. From 8 clients on the order agrees with the paper, and the numbers with ns-2."
    )


def _sooner(others: Mapping[str, Results]) -> str:
    """UDP against TCP with equal starts."""
    if AT_ONCE not in others:
        return ""
    at_once = others[AT_ONCE]
    cells = [(q, n) for q in ("DropTail", "RED") for n in (3, 5, 8, 10)]
    pairs = [(q, n, _of(at_once, _DELAY, n, q, "UDP"), _of(at_once, _DELAY, n, q, "TCP")) for q, n in cells]
    told = ", ".join(f"{u:.2f} against {t:.2f} ({q}, {n} clients)" for q, n, u, t in pairs if n < 8)
    slower = sum(u > t for _, _, u, t in pairs)
    return (
        f" If all clients start at the same instant UDP's packets meet at the router in every round, and UDP is slower in {slower} of "
        f"{len(pairs)} cells: {told}."
    )


def causes(r: Results, others: Mapping[str, Results]) -> Mapping[str, str]:
    """Why claims come out as they do."""
    d3, d5, d8, d50 = (_of(r, _DELAY, n, "DropTail", "TCP") for n in (3, 5, 8, 50))
    pairs = zip(_tcp(r, "packet_loss_rate", "RED"), _tcp(r, "packet_loss_rate", "DropTail"), strict=True)
    losses = ", ".join(f"{a:.2f} against {b:.2f}" for a, b in pairs)
    share = _overflows(r)
    router = f"{_of(r, 'router_loss', 3, 'DropTail', 'TCP'):.3f} %".replace("0.000 %", "none")
    udp3, tcp3 = _of(r, _DELAY, 3, "RED", "UDP"), _of(r, _DELAY, 3, "RED", "TCP")
    udp5, tcp5 = _of(r, _DELAY, 5, "RED", "UDP"), _of(r, _DELAY, 5, "RED", "TCP")
    step = 1e3 * (d5 - d3)
    full = [_of(r, _DELAY, 10, q, t) for q in ("DropTail", "RED") for t in ("UDP", "TCP")]
    return {
        "S1": "Everything turns on the first step. With 3 and 5 clients the router hardly ever holds a packet, so both delays are the "
        f"fixed path of 13.246 ms; they differ by {abs(step):.2f} microseconds ({'up' if step >= 0 else 'down'}), which the phases of the "
        f"packets decide. From 5 clients on ({d5:.3f} ms) the delay grows with every step: {d8:.2f} ms at 8, {d50:.2f} ms at 50.",
        "S4": f"With few clients the phases decide: with RED {udp3:.3f} (UDP) against {tcp3:.3f} ms (TCP) at 3 clients, {udp5:.3f} against "
        f"{tcp5:.3f} ms at 5. In overload UDP keeps the router's queue full, and it holds: {full[0]:.1f} against {full[1]:.1f} ms "
        f"with DropTail at 10 clients, {full[2]:.1f} against {full[3]:.1f} ms with RED." + _sooner(others),
        "S7": "The only printed exception is the impossible 6558.24 kbit/s (contradiction 4).",
        "S11": "A simulator cannot send more than the link carries; the printed value that does is contradiction 4.",
        "S14": f"RED loses more in the runs (percent, RED against DropTail, 3 to 50 clients: {losses}). Its buffer on the shared link is "
        f"25 kbyte, 16 packets, where DropTail keeps 49, so that {share} of its drops at 50 clients are overflows. "
        "With less room TCP's windows are smaller, and a smaller window means a higher loss rate. " + _with_room(r, others),
        "S15": "The loss rises with every step. The printed 0.19 % at 25 clients and 1.95 % at 50 do not fit their own neighbours "
        "(contradictions 6 and 11).",
        "S21": f"The loss happens in the clients' own queues ({router} at the router): a window of 120 packets is more than the 22 packets "
        "that the path holds and the 50 of the queue.",
    }
