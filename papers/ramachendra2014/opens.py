"""Parameters that Ramachendra et al. 2014 do not state, each with its plausible values, and the changes of a setting to a scenario."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from fairlane.papers import Combination, Levels, Open, Span, Tree, Value

WHOLE = "the whole link"
UNIFORM = "uniform within a third"
EVERY = "every packet"
GROW = "grow with the limit"
REAL = "its own packets"
LINK = 10e6
"""Rate of the bottleneck, bit/s."""
HEADER = 40
"""Bytes of headers on a segment."""


def opens() -> list[Open]:
    """In the order in which the text comes to them. Bases are the defaults of QualNet, and the guesses that need nothing else."""
    return [
        Open("priority queues", 3, Levels((1, 3)), "several are drawn, no number is given: QualNet has three; a queue limit is given for "
        "one"),
        Open("queue limits are", "each queue's", Levels(("each queue's", "the router's")), "25, 100 and 250 packets are called the "
        "queue size"),
        Open("round trip", "150ms", Span("25ms", "300ms", "log"), "150 ms are called data transfer time: a round trip, one way (then it "
        "is 300 ms), or "
             "not propagation at all (then any wired network)"),
        Open("round trips", "equal", Levels(("equal", UNIFORM)), "the conclusion speaks of uniformly distributed ones, without a range"),
        Open("segment", "512B", Levels(("512B", "1000B", "1460B")), "not given: QualNet's default, and two common ones"),
        Open("window", "16384B", Span("4096B", "65535B", "log"), "not given: QualNet's default is 16384 bytes; up to the most without "
        "scaling"),
        Open("acknowledged", "every second packet", Levels(("every second packet", EVERY)), "not given: receivers may delay "
        "acknowledgments"),
        Open("acknowledgments wait", "200ms", Span("40ms", "500ms", "log"), "not given: where they are delayed, up to the 500 ms that "
        "are allowed"),
        Open("least timeout", "1s", Span("200ms", "1s", "log"), "not given: QualNet's and the standard's second, down to what systems use"),
        Open("TCP", "reno", Levels(("reno", "newreno")), "not named: QualNet's is a Reno, later studies have NewReno"),
        Open("starts within", "1s", Span("1s", "20s", "log"), "not told"),
        Open("simulated time", "40s", Span("15s", "40s", "log"), "the paper: variable; a tenth of it is cut"),
        Open("thresholds", "QualNet's", Levels(("QualNet's", GROW)), "not given: the defaults, which 100 and 250 packets never reach, "
        "or such as grow "
             "with the limit"),
        Open("weight", 0.002, Span(0.002, 0.02, "log"), "of the averages, not given: the usual one, up to ten times as fast"),
        Open("drop probability", 0.02, Span(0.02, 0.1, "log"), "not given: QualNet's, up to that of most studies"),
        Open("idle queue ages by", "packets of 10 ms", Levels(("packets of 10 ms", REAL)), "not given: QualNet's small-packet time, or "
        "RED as published"),
        Open("AVQ's capacity", "a queue's turn", Levels(("a queue's turn", WHOLE)), "not told what it is when queues take turns"),
        Open("AVQ's damping", 0.15, Span(0.15, 0.6, "log"), "not given: as in its authors' study, up to four times as fast"),
        Open("contract", 1.0, Span(0.1, 2.0, "log"), "not told: the share of a fair share of the link that is IN"),
        Open("fair share of", "all nodes", Levels(("all nodes", "active senders")), "not told"),
        Open("contract's bucket", "10p", Span("5p", "50p", "log"), "not told"),
        Open("bursts last", "1s", Span("100ms", "2s", "log"), "bursty traffic is not defined"),
        Open("bursts send at", 4, Span(2, 8), "times the mean rate; not defined"),
        Open("offered load", 0.9, Span(0.5, 1.2), "of the link, by smooth and by bursty senders; not defined"),
        Open("losses at 50 % are of", 64, Levels((16, 32, 64)), "0.36 % and 0 are given without a number of nodes"),
    ]  # fmt: skip


DECLARED: Mapping[str, Value] = {
    "priority queues": 1,
    "round trips": UNIFORM,
    "segment": "1460B",
    "window": "50000B",
    "least timeout": "400ms",
    "TCP": "newreno",
    "losses at 50 % are of": 16,
}
"""The setting of the study's own tables: the stated 150 ms, and near the four published losses. What is not named has its base."""


@dataclass(frozen=True)
class InSetting(Combination):
    """A combination that knows its setting."""

    values: Mapping[str, Value] = field(default_factory=dict, compare=False)


def number(value: Value) -> float:
    """A quantity as a number, in the unit in which it is written; times in seconds."""
    text = str(value)
    if text.endswith("ms"):
        return 1e-3 * float(text[:-2])
    return float(text.rstrip("Bsp"))


def wire(values: Mapping[str, Value]) -> int:
    """Bytes of a full segment on the wire."""
    return int(number(values["segment"])) + HEADER


def changed(t: Tree, c: Combination, values: Mapping[str, Value]) -> None:
    """Lays a setting over the scenario of a combination."""
    _tcp(t, values)
    _paths(t, int(c["network"]), number(values["round trip"]) / 2, values["round trips"] == UNIFORM)
    _contract(t, c, values)
    _queues(t, c, values)
    seconds = number(values["simulated time"])
    t["duration"] = values["simulated time"]
    t["warmup"] = f"{seconds / 10:g}s"
    t["flows"]["ftp"]["spread"] = f"{min(number(values['starts within']), seconds / 10):g}s"
    if c["traffic"] == "counted":
        t.update(warmup="0s", sample=t["duration"])
        t["flows"]["ftp"]["stop"] = f"{seconds - 5:g}s"
    if c["traffic"] == "uncongested":
        t["topology"]["dumbbell"]["bottleneck"]["rate"] = "1Gbit/s"
    if c["traffic"] in ("smooth", "bursty"):
        _offered(t, c, values)


def _tcp(t: Tree, values: Mapping[str, Value]) -> None:
    t["flows"]["ftp"]["tcp"].update(
        cc=values["TCP"], mss=values["segment"], receive_window=values["window"], ack_every=1 if values["acknowledged"] == EVERY else 2,
        ack_delay=values["acknowledgments wait"], rto_min=values["least timeout"],
    )  # fmt: skip


def _paths(t: Tree, n: int, way: float, uniform: bool) -> None:
    """`way`: seconds of propagation one way. Uniform ones are the same for all replications of a network."""
    d, end = t["topology"]["dumbbell"], min(0.005, way / 5)
    d["access"]["delay"] = f"{1e3 * end:.4f}ms"
    shared = (way * 2 / 3 if uniform else way) - 2 * end
    d["bottleneck"]["delay"] = f"{1e3 * shared:.4f}ms"
    if uniform:
        own = [end + way * 2 / 3 * (i + 0.5) / n for i in range(n)]
        random.Random(n).shuffle(own)
        d["delays"] = [f"{1e3 * x:.4f}ms" for x in own]


def _contract(t: Tree, c: Combination, values: Mapping[str, Value]) -> None:
    of = int(c["network"]) * (int(c["load"]) / 100 if values["fair share of"] != "all nodes" else 1.0)
    depth = int(number(values["contract's bucket"]))
    bucket = f"{depth * wire(values)}B"
    t["links"]["bottleneck"]["queue"]["srtcm"].update(cir=f"{round(LINK * float(values['contract']) / of)}bit/s", cbs=bucket, ebs=bucket)


def _queues(t: Tree, c: Combination, values: Mapping[str, Value]) -> None:
    turns = t["links"]["bottleneck"]["queue"]["srtcm"]["queue"]["rr"]
    queues, limit = int(values["priority queues"]), int(c["queue"])
    turns["queues"] = queues
    if queues > 1 and values["queue limits are"] == "the router's":
        turns["limit"] = f"{limit}p"
    (name,), packet = turns["queue"], f"{wire(values)}B"
    p, real, grow = turns["queue"][name], values["idle queue ages by"] == REAL, values["thresholds"] == GROW
    if name in ("red", "wred", "modred"):
        p["w_q"] = values["weight"]

    def part(x: float) -> str:
        return f"{max(1, round(x * limit))}p"

    if name == "red":
        p.update(mean_packet=packet, max_p=values["drop probability"], **({"idle_packet": packet} if real else {}))
        p.update({"min": part(0.25), "max": part(0.75)} if grow else {})
    elif name == "wred":
        p.update({"mean_packet": packet} if real else {})
        for level, (low, high) in zip(p["levels"], ((10, 20), (5, 10), (2, 5)), strict=True):
            level.update(max_p=values["drop probability"], **({"min": part(low / 25), "max": part(high / 25)} if grow else {}))
    elif name == "modred":
        p.update(window=values["segment"], **({"mean_packet": packet} if real else {}))
        p.update({"min": part(5 / 25), "out_max": part(10 / 25), "in_max": part(20 / 25)} if grow else {})
    elif name == "avq":
        share = 1.0 if values["AVQ's capacity"] == WHOLE else 1 / queues
        p.update(gamma=round(0.98 * share, 6), initial=round(share, 6), alpha=values["AVQ's damping"], mean_packet=packet)


def _offered(t: Tree, c: Combination, values: Mapping[str, Value]) -> None:
    """Senders that together offer a part of the link, evenly or in bursts."""
    size = number(values["segment"])
    rate = LINK * float(values["offered load"]) / int(c["network"]) * size / wire(values)
    times, on = int(values["bursts send at"]), number(values["bursts last"])
    source = t["flows"]["ftp"]["source"]
    if c["traffic"] == "smooth":
        source["cbr"].update(rate=f"{rate:.0f}bit/s", size=values["segment"])
    else:
        source["on_off"].update(rate=f"{times * rate:.0f}bit/s", size=values["segment"], on=f"{on:g}s", off=f"{(times - 1) * on:g}s")
