"""What we find in Sarma 2013, in sentences with the numbers of the runs at hand."""

from __future__ import annotations

from collections.abc import Mapping

from .definition import Results

_TCP = (3, 5, 8, 10, 25, 35, 50)
_DELAY = "mean_end_to_end_delay"


def _tcp(r: Results, quantity: str, queue: str) -> list[float]:
    return [r.mean(quantity, clients=n, queue=queue, traffic="TCP") for n in _TCP]


def _of(r: Results, quantity: str, n: int, queue: str, traffic: str) -> float:
    return r.mean(quantity, clients=n, queue=queue, traffic=traffic)


def _overflows(r: Results) -> str:
    """Share of RED's drops at the router that are overflows, 50 TCP clients, in words."""
    share = _of(r, "router_overflow_share", 50, "RED", "TCP")
    return "all" if share >= 99.5 else f"{share:.0f} %"


def _with_room(r: Results, roomy: Results | None) -> str:
    """What RED does with a buffer of 75 kbyte, from the study of the open parameters."""
    if roomy is None:
        return ""
    lost, rate, at = "packet_loss_rate", "throughput_per_client", (8, 10, 50)
    ours = ", ".join(f"{_of(roomy, lost, n, 'RED', 'TCP'):.2f}" for n in at)
    theirs = ", ".join(f"{_of(r, lost, n, 'DropTail', 'TCP'):.2f}" for n in at)
    gain = ", ".join(f"{round(100 * (_of(roomy, rate, n, 'RED', 'TCP') / _of(r, rate, n, 'DropTail', 'TCP') - 1)):+d}" for n in at)
    return (
        f"Given the same 75 kbyte, RED loses {ours} % at 8, 10 and 50 clients where DropTail loses {theirs} %, and its throughput "
        f"differs by {gain} %: much of the comparison is the size of the buffer."
    )


def findings(r: Results, roomy: Results | None) -> list[str]:
    """The summary at the top of the page; `roomy`: with RED given the buffer of DropTail."""
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
        "The queues trade delay against throughput, as the paper says: with 50 TCP clients a packet needs "
        f"{slow:.1f} ms with DropTail and {fast:.1f} ms with RED, while DropTail carries {min(gain):.0f} to {max(gain):.0f} % more, "
        "depending on the number of clients.",
        f"RED does not lose fewer packets. It loses more than DropTail in {more} of {len(_TCP)} rows ({early[-1]:.1f} against "
        f"{lost[-1]:.1f} % with 50 clients). In ns-2.34's automatic setting its buffer is 25 kbyte where DropTail's 49 packets are 75, "
        f"and {share} of its drops at the router are overflows of that small buffer, not early drops. " + _with_room(r, roomy),
        "UDP fills the shared link exactly: min(10, 50/n) Mbit/s a client with either queue, and everything above is lost. The queue "
        f"only decides how long the rest waits: {flood:.1f} ms with DropTail, {flood_red:.1f} ms with RED at 10 clients. The printed "
        "13.9 and 13.6 ms cannot be had from a full queue (contradiction 3).",
        "Up to 5 clients the router's queue is empty and the access links are the limit. A TCP packet waits in its own client's queue: "
        f"{whole:.0f} ms from end to end with DropTail, {whole / 13.246:.1f} times the 13.2 ms that the printed delays, counted from "
        "the router, show.",
        "The printed UDP delays at 3 and 5 clients (13.30 and 13.52 ms) fit clients that start a fraction of a millisecond apart: "
        f"{udp3:.2f} and {udp5:.2f} ms here. With all starts at exactly one instant the packets meet at the router and need 13.48 "
        "and 13.72 ms.",
        "In the shared network UDP takes what it sends and TCP lives on the rest. At 10 clients the loss depends on how the UDP packets "
        f"happen to interleave: {min(shared):.1f} to {max(shared):.1f} % between replications that differ by a millisecond in their "
        "starts. A single run, as in the paper (0.70 %), says little there.",
    ]


def causes(r: Results, roomy: Results | None) -> Mapping[str, str]:
    """Why claims come out as they do."""
    d3, d5, d8, d50 = (_of(r, _DELAY, n, "DropTail", "TCP") for n in (3, 5, 8, 50))
    pairs = zip(_tcp(r, "packet_loss_rate", "RED"), _tcp(r, "packet_loss_rate", "DropTail"), strict=True)
    losses = ", ".join(f"{a:.2f} against {b:.2f}" for a, b in pairs)
    share = _overflows(r)
    router = f"{_of(r, 'router_loss', 3, 'DropTail', 'TCP'):.3f} %".replace("0.000 %", "none")
    udp3, tcp3 = _of(r, _DELAY, 3, "RED", "UDP"), _of(r, _DELAY, 3, "RED", "TCP")
    udp5, tcp5 = _of(r, _DELAY, 5, "RED", "UDP"), _of(r, _DELAY, 5, "RED", "TCP")
    step = 1e3 * (d5 - d3)
    return {
        "S1": "Everything turns on the first step. With 3 and 5 clients the router hardly ever holds a packet, so both delays are the "
        f"fixed path of 13.246 ms; they differ by {abs(step):.2f} microseconds ({'up' if step >= 0 else 'down'}), which the phases of "
        f"the packets decide. From 5 clients on ({d5:.3f} ms) the delay grows with every step: {d8:.2f} ms at 8, {d50:.2f} ms at 50.",
        "S4": f"With few clients the phases decide: with RED {udp3:.3f} (UDP) against {tcp3:.3f} ms (TCP) at 3 clients, {udp5:.3f} "
        f"against {tcp5:.3f} ms at 5. In overload UDP keeps the router's queue full, and the claim is physics.",
        "S7": "The only printed exception is the impossible 6558.24 kbit/s (contradiction 4).",
        "S11": "A simulator cannot send more than the link carries; the printed value that does is contradiction 4.",
        "S14": f"RED loses more in the runs (percent, RED against DropTail, 3 to 50 clients: {losses}). Its buffer on the shared link is "
        f"25 kbyte, 16 packets, where DropTail keeps 49, so that {share} of its drops at 50 clients are overflows. "
        "With less room TCP's windows are smaller, and a smaller window means a higher loss rate. " + _with_room(r, roomy),
        "S15": "The loss rises with every step. The printed 0.19 % at 25 clients and 1.95 % at 50 do not fit their own neighbours "
        "(contradictions 6 and 11).",
        "S21": f"The loss happens in the clients' own queues ({router} at the router): a window of 120 packets is more than the "
        "22 packets that the path holds and the 50 of the queue.",
    }
