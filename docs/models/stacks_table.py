"""Writes the table of transports in stacks.md again; needs a program with quinn and noq.

Each algorithm of each transport over 20 Mbit/s and 40 ms: alone, next to a flow of its own kind, and next to TCP CUBIC. Goodput is that of
5 s to 20 s in Mbit/s; where two flows compete it is the mean of three runs, in which the second flow starts 0.1 s to 1.1 s after the first.
"""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import fairlane as fl

PAGE = Path(__file__).with_name("stacks.md")
BEGIN, END = "<!-- transports -->\n", "<!-- /transports -->"
STARTS = ["100ms", "600ms", "1100ms"]
QUEUES = {
    "DropTail, 200 packets": {"droptail": {"limit": "200p"}},
    "DropTail, 15 packets": {"droptail": {"limit": "15p"}},
    "CoDel": "codel",
}
#: Names of an algorithm in quinn, noq and TCP.
ALGORITHMS = {"CUBIC": ("cubic", "cubic", "cubic"), "NewReno": ("newreno", "newreno", "newreno")}
BBR = {"BBR": ("bbr", None, "bbr"), "BBRv3": (None, "bbr3", "bbr3")}
TCP_CUBIC = {"tcp": {"preset": "linux", "cc": "cubic"}}


def run(queue: object, first: dict[str, object], second: dict[str, object] | None = None, start: str = "0s") -> tuple[float, ...]:
    """Goodput of each flow, and the packets that the first one sends again."""
    net = fl.Network(duration="20s", warmup="5s")
    bottleneck = {"rate": "20Mbit/s", "delay": "18ms", "queue": queue}
    net.dumbbell(pairs=2, access={"rate": "1Gbit/s", "delay": "1ms"}, bottleneck=bottleneck)
    net.flow("app", "s0", "d0", **first)
    if second:
        net.flow("other", "s1", "d1", start=start, **second)
    result = net.run(seeds=[1])
    mean = lambda metric, flow: result.value(metric, flow=flow).mean or 0.0  # noqa: E731
    return mean("goodput", "app") / 1e6, mean("goodput", "other") / 1e6 if second else 0.0, mean("retransmits", "app")


def transports(names: tuple[str | None, ...]) -> dict[str, dict[str, object]]:
    """The flows of an algorithm, by transport."""
    quinn, noq, tcp = names
    flows: dict[str, dict[str, object]] = {}
    if quinn:
        flows["quinn"] = {"stack": {"quinn": {"cc": quinn, "ecn": False}}}
    if noq:
        flows["noq"] = {"stack": {"noq": {"cc": noq, "ecn": False}}}
    return flows | {"fairlane": {"tcp": {"preset": "linux", "cc": tcp}}}


def seeded() -> bool:
    """True if this program seeds the random numbers that BBR of the stacks draws."""
    try:
        fl.Network(duration="1s").link("a", "b", rate="1Mbit/s", delay="1ms").flow("f", "a", "b", stack={"noq": {"cc": "bbr3"}}).resolve()
    except fl.ScenarioError:
        return False
    return True


def rows() -> list[str]:
    """Lines of the table."""
    lines = ["| algorithm | queue | transport | alone | sent again | next to itself | next to TCP CUBIC |", "|---|---|---|---|---|---|---|"]
    for algorithm, names in (ALGORITHMS | (BBR if seeded() else {})).items():
        for queue, value in QUEUES.items():
            for transport, flow in transports(names).items():
                alone, _, again = run(value, flow)
                pairs = [[run(value, flow, other, start)[:2] for start in STARTS] for other in (flow, TCP_CUBIC)]
                cells = [" : ".join(f"{fmean(side):.2f}" for side in zip(*pair, strict=True)) for pair in pairs]
                lines.append(f"| {algorithm} | {queue} | {transport} | {alone:.2f} | {again:.0f} | {cells[0]} | {cells[1]} |")
                print(lines[-1], flush=True)
    return lines


if __name__ == "__main__":
    table = "\n".join(rows())
    head, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(head + BEGIN + table + "\n" + END + rest.split(END)[1])
