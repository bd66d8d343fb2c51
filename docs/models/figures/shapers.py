"""Figures of the shapers with classes: HTB and HFSC."""

from __future__ import annotations

from functools import partial

from .draw import Drawing, curve, one, spread
from .runs import cbr, mean, net, udp

OFFERED = [0.5, 2, 3.5, 5, 6, 7, 8.5]
"""Mbit/s that B sends."""
FIRST_PARTS = [4, 6, 8, 10, 12, 14, 16, 18, 20]
"""Milliseconds of the first part of a curve."""
UNLIMITED = {"droptail": {"limit": "1000000p"}}


def borrowed(flow: str, offered: float) -> float:
    """Mbit/s of a class of the user guide's tree while B sends `offered`; A's classes always have packets waiting."""
    rates = {"link": ("", 10), "a": ("link", 4), "www": ("a", 3), "mail": ("a", 1), "b": ("link", 6)}
    classes = [
        {"name": name, "parent": parent or None, "rate": f"{rate}Mbit/s", "ceil": "10Mbit/s", "quantum": f"{rate}kB"}
        | ({"match": f"flow:{name}", "queue": UNLIMITED} if name in ("www", "mail", "b") else {})
        for name, (parent, rate) in rates.items()
    ]
    flows = udp(cbr(9), "www"), udp(cbr(9), "mail"), udp(cbr(offered), "b")
    network = net("12s", *flows, warmup="4s", rate="100Mbit/s", queue={"htb": {"classes": classes}})
    return mean(network, "throughput", flow=flow, scale=1e-6)


def left(part: float, offered: float) -> float:
    """Rate of a class of A from a fluid server: its part of 4 Mbit/s, and of what B leaves."""
    return part * (10 - min(offered, 6))


def borrowing() -> Drawing:
    """Rates of the three classes against what B sends."""
    fine = spread(0.2, 9, 0.1)
    laws = {"b": lambda x: min(x, 6), "www": partial(left, 0.75), "mail": partial(left, 0.25)}
    names = {"b": "B", "www": "A's WWW", "mail": "A's mail"}
    curves = [
        curve(f"{names[flow]}, measured", OFFERED, partial(borrowed, flow), law, formula=f"{names[flow]}, fluid", fine=fine)
        for flow, law in laws.items()
    ]
    return one("rate that B sends (Mbit/s)", "rate that a class gets (Mbit/s)", *curves, size=(7, 3.2), ylim=(0, None))


def longest_delay(first: float, burst: bool) -> float:
    """Longest delay of a call in ms, without its propagation: its curve serves 160 bytes in the first part, or is a line."""
    line = {"m2": "64kbit/s"}
    rt = {"m1": f"{round(160 * 8 / first * 1000)}bit/s", "d": f"{first}ms", **line} if burst else line
    classes = [
        {"match": "flow:call", "rt": rt},
        {"match": "any", "rt": {"m2": "9600kbit/s"}, "ls": {"m2": "9600kbit/s"}, "queue": UNLIMITED},
    ]
    call = udp({"cbr": {"rate": "64kbit/s", "size": "160B"}}, "call", start="1s")
    network = net("11s", call, udp(cbr(12), "rest"), warmup="1s", queue={"hfsc": {"classes": classes}})
    return mean(network, "delay_max", flow="call", scale=1e3, less=1.0)


def promised() -> Drawing:
    """Longest delay of a call against the first part of its curve."""
    bound = 1000 * 8 / 10e6 * 1e3
    return one(
        "d, length of the first part (ms)",
        "longest delay of the call (ms)",
        curve("curve of 160 bytes in d, then 64 kbit/s", FIRST_PARTS, partial(longest_delay, burst=True), lambda d: d + bound,
              formula="promise: d and one packet in transmission"),
        curve("line of 64 kbit/s", FIRST_PARTS, partial(longest_delay, burst=False), lambda _: 20 + bound,
              formula="promise of the line: 20 ms and one packet"),
        size=(7, 3.2), ylim=(0, None),
    )  # fmt: skip
