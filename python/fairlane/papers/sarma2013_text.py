"""What we find in Sarma 2013, in sentences with the numbers of the runs at hand."""

from __future__ import annotations

from collections.abc import Mapping

from .definition import Results

_TCP = (3, 5, 8, 10, 25, 35, 50)


def _tcp(r: Results, quantity: str, queue: str) -> list[float]:
    return [r.mean(quantity, clients=n, queue=queue, traffic="TCP") for n in _TCP]


def _of(r: Results, quantity: str, n: int, queue: str, traffic: str) -> float:
    return r.mean(quantity, clients=n, queue=queue, traffic=traffic)


def findings(r: Results) -> list[str]:
    """The summary at the top of the page."""
    delay = "mean_end_to_end_delay"
    dt, red = _tcp(r, "packet_loss_rate", "DropTail"), _tcp(r, "packet_loss_rate", "RED")
    wins = sum(b > a for a, b in zip(dt, red, strict=True))
    gain = [a / b - 1 for a, b in zip(_tcp(r, "throughput_per_client", "DropTail"), _tcp(r, "throughput_per_client", "RED"), strict=True)]
    d50, r50 = (_of(r, delay, 50, q, "TCP") for q in ("DropTail", "RED"))
    full = _of(r, "full_one_way_delay", 3, "DropTail", "TCP")
    u10, ur10 = (_of(r, delay, 10, q, "UDP") for q in ("DropTail", "RED"))
    u3, u5 = (_of(r, delay, n, "DropTail", "UDP") for n in (3, 5))
    shared = _of(r, "packet_loss_rate", 10, "DropTail", "TCP-UDP")
    return [
        f"The queues trade delay against throughput, as the paper says: with 50 TCP clients a packet needs {d50:.1f} ms with DropTail and {r50:.1f} ms "
        f"with RED, while DropTail carries {100 * min(gain):.0f} to {100 * max(gain):.0f} % more, depending on the number of clients.",
        f"RED does not lose fewer packets. It loses more than DropTail in {wins} of {len(_TCP)} rows ({red[-1]:.1f} against {dt[-1]:.1f} % with 50 clients): "
        "its buffer is 25 kbyte where DropTail's 49 packets are 75, and it begins to drop before the buffer is full.",
        "UDP fills the shared link exactly: min(10, 50/n) Mbit/s a client with either queue, and everything above is lost. "
        f"The queue only decides how long the rest waits: {u10:.1f} ms with DropTail, {ur10:.1f} ms with RED at 10 clients. "
        "The printed 13.9 and 13.6 ms cannot be reached with a full queue (contradiction 3).",
        f"Up to 5 clients the router's queue is empty and the access links are the limit. There a TCP packet waits in its own client's queue: {full:.0f} ms "
        "from end to end with DropTail, four times the 13.2 ms that the printed delays, counted from the router, show.",
        f"The printed UDP delays at 3 and 5 clients (13.30 and 13.52 ms) fit clients that start a fraction of a millisecond apart: {u3:.2f} and {u5:.2f} ms here. "
        "With all starts at exactly the same instant the packets meet at the router and need 13.48 and 13.72 ms.",
        f"In the shared network UDP takes what it sends and TCP lives on the rest. At 10 clients the loss depends on the phases of the UDP sources "
        f"({shared:.2f} % on the mean, with a wide interval): a single run, as in the paper, says little.",
    ]


def causes(r: Results) -> Mapping[str, str]:
    """Why claims come out as they do."""
    delay = "mean_end_to_end_delay"
    d3, d5, d8, d50 = (_of(r, delay, n, "DropTail", "TCP") for n in (3, 5, 8, 50))
    lost = [
        f"{b:.2f} against {a:.2f}" for a, b in zip(_tcp(r, "packet_loss_rate", "DropTail"), _tcp(r, "packet_loss_rate", "RED"), strict=True)
    ]
    overflow = _of(r, "router_overflow_share", 50, "RED", "TCP")
    at_router = _of(r, "router_loss", 3, "DropTail", "TCP")
    u3, t3 = _of(r, delay, 3, "RED", "UDP"), _of(r, delay, 3, "RED", "TCP")
    u5, t5 = _of(r, delay, 5, "RED", "UDP"), _of(r, delay, 5, "RED", "TCP")
    step = 1e3 * (d5 - d3)
    return {
        "S1": f"Everything turns on the first step. With 3 and 5 clients the router never holds more than a packet or two, so both delays are the fixed path of "
        f"13.246 ms; they differ by {abs(step):.2f} microseconds ({'up' if step >= 0 else 'down'}), which depends on the phases of the packets. "
        f"From 5 clients on ({d5:.3f} ms) the delay grows with every step, {d8:.2f} ms at 8 and {d50:.2f} ms at 50.",
        "S4": f"With few clients the difference is a matter of phases: {u3:.3f} (UDP) and {t3:.3f} ms (TCP) at 3 clients with RED, {u5:.3f} and {t5:.3f} ms at 5. "
        "In overload UDP keeps the router's queue full, and the claim is physics.",
        "S7": "The only printed exception is the impossible 6558.24 kbit/s (contradiction 4).",
        "S11": "A simulator cannot send more than the link carries; the printed value that does is contradiction 4.",
        "S14": f"RED loses more in the runs (percent, RED against DropTail, 3 to 50 clients: {', '.join(lost)}). Two reasons: its buffer on the shared link is 25 kbyte, "
        f"16 packets, where DropTail keeps 49, so that {overflow:.0f} % of its drops at 50 clients are overflows; and early drops come on top. "
        "With less room TCP's windows are smaller, and smaller windows mean a higher loss rate at the same throughput.",
        "S15": "The loss rises with every step; the printed 0.19 % at 25 clients and 1.95 % at 50 are out of line with their own neighbours (contradictions 6 and 11).",
        "S21": f"The loss happens in the clients' own queues ({at_router:.3f} % at the router): a window of 120 packets is more than the 22 packets of the path and the 50 of the queue.",
    }  # fmt: skip
