"""Draws the moving picture of the README: packets of an upload and a call on a home uplink, ten times slower.

`python docs/living.py FILE.svg` writes it. Every packet is one of a simulation, with its times in the queue and on the link. For readers
who prefer reduced motion, the picture shows one moment.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import polars as pl

import fairlane as fl

SCENARIO = """
duration = "20s"
warmup = "5s"

[links.line]
from = "home"
to = "internet"
rate = "2Mbit/s"
delay = "40ms"
queue.droptail = { limit = "40p" }

[flows.upload]
from = "home"
to = "internet"
tcp = "cubic"

[flows.call]
from = "home"
to = "internet"
udp = {}
source.cbr = { rate = "80kbit/s", size = "200B", jitter = 0.2 }
"""
BEGIN, SHOWN, SLOWER = 9.0, 0.9, 10
STILL = 0.45
"""The moment that is drawn without motion, in seconds after `BEGIN`."""
HEAD, SLOT, END, LEFT = 452, 8, 690, 84
"""Horizontal places: the head of the queue, the width of a packet's place in it, the receiver, the senders."""
COLOURS = {"upload": "#0072b2", "call": "#d55e00"}  # colours that colour-blind readers can distinguish (Okabe and Ito)
SIZES = {"upload": 16, "call": 8}
AWAY = "-50 0"


class Packet(NamedTuple):
    """A packet's times in seconds and its place in the queue; no `sent` means that it was dropped."""

    flow: str
    arrived: float
    place: int
    sent: float | None
    received: float


def packets(result: fl.Result, fair: bool) -> list[Packet]:
    """The packets of the link that are seen, in the order of their arrival. A fair queue has a row for each flow."""
    rows = result.trace().filter(pl.col("link") == "line").select("time", "event", "flow", "packet").collect()
    waiting: dict[str, int] = defaultdict(int)
    seen: dict[int, Packet] = {}
    for time, event, flow, number in rows.iter_rows():
        row = flow if fair else ""
        if event == "enqueue":
            waiting[row] += 1
            seen[number] = Packet(flow, time, waiting[row], None, time + 0.05)
        elif event in ("dequeue", "drop"):
            waiting[row] -= 1
            if event == "dequeue":
                seen[number] = seen[number]._replace(sent=time)
        elif event == "arrive":
            seen[number] = seen[number]._replace(received=time)
    return [p for p in seen.values() if p.received > BEGIN and p.arrived < BEGIN + SHOWN]


def path(packet: Packet, fair: bool, top: float) -> list[tuple[float, float, float]]:
    """The times since `BEGIN`, and the places at which the packet is: from its sender through the queue to the receiver."""
    lane = {"upload": -16.0, "call": 16.0}[packet.flow]
    row = top + (lane if fair else 0.0)
    slot = max(HEAD - SLOT * packet.place, LEFT)
    at = [(packet.arrived - 0.02, float(LEFT), top + lane), (packet.arrived, slot, row)]
    if packet.sent is None:
        at.append((packet.received, slot, top + 60))
    else:
        at += [(packet.sent, HEAD, row), (packet.sent + 0.004, HEAD + 12, top), (packet.received, END, top)]
    return [(t - BEGIN, x, y) for t, x, y in at]


def between(points: list[tuple[float, float, float]], time: float) -> tuple[float, float] | None:
    """Where a packet is at a time; None before it is sent and after its end."""
    for (t0, x0, y0), (t1, x1, y1) in pairwise(points):
        if t0 <= time <= t1:
            share = (time - t0) / (t1 - t0) if t1 > t0 else 0.0
            return x0 + share * (x1 - x0), y0 + share * (y1 - y0)
    return None


def moving(packet: Packet, points: list[tuple[float, float, float]]) -> str:
    """The packet as an element that moves in a loop."""
    inside = [p for p in points if 0 <= p[0] <= SHOWN]
    first, last = between(points, 0.0), between(points, SHOWN)
    inside = [*([(0.0, *first)] if first else []), *inside, *([(SHOWN, *last)] if last else [])]
    times = [f"{t / SHOWN:.4f}" for t, _, _ in inside]
    places = [f"{x:.0f} {y:.0f}" for _, x, y in inside]
    if not first:
        times, places = ["0", times[0], *times], [AWAY, AWAY, *places]
    if not last:
        times, places = [*times, times[-1], "1"], [*places, AWAY, AWAY]
    return (
        f'<use href="#{packet.flow}"><animateTransform attributeName="transform" type="translate" dur="{SHOWN * SLOWER:g}s" '
        f'repeatCount="indefinite" keyTimes="{";".join(times)}" values="{";".join(places)}"/></use>'
    )


def panel(title: str, result: fl.Result, fair: bool, top: float) -> str:
    """One queue with its packets, moving and still."""
    delay = result.value("delay_mean", flow="call").mean or 0.0
    shown = [(p, path(p, fair, top)) for p in packets(result, fair)]
    still = [(p, place) for p, points in shown if (place := between(points, STILL))]
    queue = "".join(
        f'<rect x="{HEAD - 41 * SLOT}" y="{y - 13:.0f}" width="{41 * SLOT + 4}" height="26" rx="4" class="box"/>'
        for y in ((top - 16, top + 16) if fair else (top,))
    )
    return "\n".join(
        [
            f'<text x="{HEAD - 41 * SLOT}" y="{top - 40:.0f}"><tspan class="title">{title}</tspan>: the call takes {1e3 * delay:.0f} ms</text>',
            f'<text x="8" y="{top - 11:.0f}">upload</text><text x="8" y="{top + 21:.0f}">call</text>',
            f'<rect x="{HEAD + 8}" y="{top - 10:.0f}" width="{END - HEAD}" height="20" class="link"/>{queue}',
            f'<text x="{END + 14}" y="{top + 5:.0f}">internet</text>',
            '<g class="moving">' + "".join(moving(p, points) for p, points in shown) + "</g>",
            '<g class="still">' + "".join(f'<use href="#{p.flow}" x="{x:.0f}" y="{y:.0f}"/>' for p, (x, y) in still) + "</g>",
        ]
    )


def main(file: str) -> None:
    """Runs both queues and writes the picture."""
    made = []
    for title, queue, fair, top in (("DropTail", None, False, 80.0), ("FQ-CoDel", "fq_codel", True, 208.0)):
        net = fl.Network.from_toml(SCENARIO)
        if queue:
            net.set("links.line.queue", queue)
        made.append(panel(title, net.run(trace="enqueue,dequeue,drop,arrive link=line"), fair, top))
    shapes = "".join(
        f'<rect id="{name}" x="0" y="{-SIZES[name] / 2:g}" width="{SLOT - 1.5:g}" height="{SIZES[name]}" rx="1.5" fill="{colour}"/>'
        for name, colour in COLOURS.items()
    )
    Path(file).write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 770 260" font-family="system-ui, sans-serif" font-size="14" fill="#222">\n'
        "<title>Packets of an upload and a call on a home uplink, behind DropTail and behind FQ-CoDel, ten times slower</title>\n"
        "<style>.title{font-weight:600}.box{fill:none;stroke:#8a94a0;stroke-width:1.2}.link{fill:#dfe4ea}.still{display:none}"
        "@media (prefers-reduced-motion:reduce){.moving{display:none}.still{display:inline}}</style>\n"
        f'<rect width="770" height="260" fill="#fff"/><defs>{shapes}</defs>\n' + "\n".join(made) + "\n</svg>\n",
        "utf-8",
    )


if __name__ == "__main__":
    main(sys.argv[1])
