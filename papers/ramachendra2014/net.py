"""Ramachendra 2014: its networks as scenario trees, and the choices that the paper leaves open."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fairlane.papers import Cell, Change, Results, Tree, all_of, factors_of

NETWORKS = (16, 32, 64)
LOADS = (25, 50, 75, 100)
LIMITS = (25, 100, 250)
QUEUES = ("DropTail", "RED", "WRED", "AVQ", "ModRED")
LINK = 10e6
"""Rate of the bottleneck, bit/s."""
PACKET = 552
"""Bytes of a full segment on the wire."""
WINDOW = 32
"""Segments of a sender's window."""
TRIP = 0.150
"""Round trip of an empty network, seconds."""
IDLE_DELAY = 1e3 * (TRIP / 2 + 3 * 8 * PACKET / LINK)
"""One-way delay of a full segment where nothing waits, ms: three links."""
BASE = "as chosen"
"""The set-up with our own choices."""


def cell(network: int, load: int, queue: int, aqm: str, traffic: str = "bulk", setup: str = BASE) -> Cell:
    """The factors of a cell; `tree_of` makes its tree."""
    return Cell(factors_of(network=network, load=load, queue=queue, aqm=aqm, traffic=traffic, setup=setup), lambda _: {})


def matrix() -> list[Cell]:
    """All disciplines at all queue limits, loads and networks."""
    return [cell(n, x, q, a) for n in NETWORKS for x in LOADS for q in LIMITS for a in QUEUES]


def special() -> list[Cell]:
    """Cells beside the matrix: smooth and bursty senders, a look at the queue over time, drops counted by colour."""
    cells = [cell(64, 100, 100, a, t) for t in ("smooth", "bursty") for a in ("DropTail", "RED", "ModRED")]
    cells += [cell(64, 75, 100, a, "watched") for a in ("RED", "ModRED")] + [cell(64, 50, q, "ModRED", "watched") for q in (25, 100)]
    return cells + [cell(64, x, 100, a, "counted") for x in (75, 100) for a in ("WRED", "ModRED")]


def claimed() -> list[Cell]:
    """The cells that claims read: what is run again with each other choice."""
    cells = [cell(n, 50, q, "DropTail") for n in NETWORKS for q in LIMITS]
    cells += [cell(64, x, q, "DropTail") for x in (75, 100) for q in LIMITS]
    cells += [cell(n, 100, q, "RED") for n in NETWORKS for q in LIMITS]
    cells += [cell(64, 25, 100, a) for a in ("DropTail", "ModRED")] + [cell(64, 50, q, "ModRED") for q in (25, 100)]
    cells += [cell(64, 75, 100, a) for a in ("RED", "ModRED")] + [cell(64, 100, 100, a) for a in ("WRED", "AVQ", "ModRED")]
    cells += [cell(64, 100, 100, a, t) for t in ("smooth", "bursty") for a in ("RED", "ModRED")]
    return cells + [cell(64, x, 100, "ModRED", "counted") for x in (75, 100)]


def quick() -> list[Cell]:
    """The part of a quick look: 64 nodes, and what claims read of the other networks."""
    own = [c for c in matrix() if c["network"] == "64"]
    own += [cell(n, load, q, a) for n in (16, 32) for load, a in ((50, "DropTail"), (100, "RED")) for q in LIMITS]
    return own + special()


def tree_of(base: Tree, blocks: Tree, c: Cell, seed: int, change: Change | None = None) -> Tree:
    """The scenario of a cell: the base network with the cell's nodes, load and queue."""
    t = copy.deepcopy(base)
    n, load, limit = int(c["network"]), int(c["load"]), int(c["queue"])
    t["name"] = f"{n} nodes, {load} % load, {c['aqm']} with {limit} packets, {c['traffic']}"
    t["seed"] = seed
    t["topology"]["dumbbell"]["pairs"] = n
    t["flows"]["ftp"].update(count=n, active=load / 100)
    marker(t)["cir"] = f"{round(LINK / n)}bit/s"
    block = copy.deepcopy(blocks["queue"][c["aqm"]])
    next(iter(block.values()))["limit"] = f"{limit}p"
    turns(t)["queue"] = block
    if c["traffic"] in ("smooth", "bursty"):
        t["flows"]["ftp"]["source"] = copy.deepcopy(blocks["source"][c["traffic"]])
    if c["traffic"] == "watched":
        t["sample"] = "100ms"
    if c["traffic"] == "counted":
        _count_colours(t)
    if change is not None:
        change(t, c)
    return t


def _count_colours(t: Tree) -> None:
    """One receiver for all, behind a meter that counts colours; the sources end early, so that nothing is under way at the end.

    The receiver's link is as fast as the bottleneck, so nothing waits there, as nothing waits before receivers of their own.
    """
    meter = {"mode": "aware", "cir": "1Tbit/s", "cbs": "1GB", "ebs": "1GB", "queue": {"droptail": {"limit": "1000p"}}}
    t["links"]["d0"] = {"reverse": {"queue": {"srtcm": meter}}}
    t["flows"]["ftp"]["to"] = "d0"
    t["sample"] = t["duration"]
    t["warmup"] = "0s"
    t["flows"]["ftp"]["stop"] = "190s"


def with_trees(base: Tree, blocks: Tree, cells: Iterable[Cell], change: Change | None = None) -> list[Cell]:
    """The cells with what makes their trees."""

    def made(c: Cell) -> Cell:
        return Cell(c.factors, lambda seed: tree_of(base, blocks, c, seed, change))

    return [made(c) for c in cells]


def marker(t: Tree) -> Tree:
    """The edge marker's parameters."""
    found: Tree = t["links"]["bottleneck"]["queue"]["srtcm"]
    return found


def turns(t: Tree) -> Tree:
    """The round robin's parameters."""
    found: Tree = marker(t)["queue"]["rr"]
    return found


def tcp(**values: Any) -> Change:
    """Other parameters of TCP."""

    def change(t: Tree, _: Cell) -> None:
        t["flows"]["ftp"]["tcp"].update(values)

    return change


def of_queue(aqm: str, **values: Any) -> Change:
    """Other parameters of one discipline."""

    def change(t: Tree, c: Cell) -> None:
        if c["aqm"] == aqm:
            next(iter(turns(t)["queue"].values())).update(values)

    return change


def segment(size: int) -> Change:
    """Another segment size: TCP's, the window that ModRED leaves, the marker's buckets, and the packet that AVQ and RED count with."""
    wire = size + 40

    def change(t: Tree, c: Cell) -> None:
        t["flows"]["ftp"]["tcp"]["mss"] = f"{size}B"
        marker(t).update(cbs=f"{10 * wire}B", ebs=f"{10 * wire}B")
        of_queue("ModRED", window=f"{size}B")(t, c)
        of_queue("AVQ", mean_packet=f"{wire}B")(t, c)
        of_queue("RED", mean_packet=f"{wire}B")(t, c)

    return change


def round_trip(ms: float) -> Change:
    """Another round trip of an empty network."""

    def change(t: Tree, _: Cell) -> None:
        t["topology"]["dumbbell"]["bottleneck"]["delay"] = f"{ms / 2 - 10:g}ms"

    return change


def uneven(t: Tree, c: Cell) -> None:
    """Round trips uniform in 100 to 200 ms, the same for all replications of a network."""
    n = int(c["network"])
    ways = [5 + 50 * (i + 0.5) / n for i in range(n)]
    random.Random(n).shuffle(ways)
    t["topology"]["dumbbell"]["bottleneck"]["delay"] = "40ms"
    t["topology"]["dumbbell"]["delays"] = [f"{x:.4f}ms" for x in ways]


def scaled(t: Tree, c: Cell) -> None:
    """Thresholds that grow with the limit: RED at a quarter and three quarters of it, the others in proportion to the limit of 25."""
    limit, p = int(c["queue"]), next(iter(turns(t)["queue"].values()))

    def part(x: float) -> str:
        return f"{max(1, round(x * limit))}p"

    if c["aqm"] == "RED":
        p.update(min=part(0.25), max=part(0.75))
    elif c["aqm"] == "ModRED":
        p.update(min=part(5 / 25), out_max=part(10 / 25), in_max=part(20 / 25))
    elif c["aqm"] == "WRED":
        for level, (low, high) in zip(p["levels"], ((10, 20), (5, 10), (2, 5)), strict=True):
            level.update(min=part(low / 25), max=part(high / 25))


def one_queue(t: Tree, c: Cell) -> None:
    """One priority queue; AVQ's capacity is the link's then."""
    turns(t)["queues"] = 1
    of_queue("AVQ", gamma=0.98, initial=1.0)(t, c)


def shared_limit(t: Tree, c: Cell) -> None:
    """The limit is that of the three queues together."""
    turns(t)["limit"] = f"{c['queue']}p"


def contract(share: float = 1.0, active: bool = False) -> Change:
    """Another rate of the service contract: times a fair share of the nodes, or of the active ones."""

    def change(t: Tree, c: Cell) -> None:
        n = int(c["network"]) * (int(c["load"]) / 100 if active else 1.0)
        marker(t)["cir"] = f"{round(LINK * share / n)}bit/s"

    return change


def weight(w: float) -> Change:
    """Another weight of the averages."""

    def change(t: Tree, c: Cell) -> None:
        for a in ("RED", "WRED", "ModRED"):
            of_queue(a, w_q=w)(t, c)

    return change


def probability(p: float) -> Change:
    """Another greatest probability of early drops."""

    def change(t: Tree, c: Cell) -> None:
        of_queue("RED", max_p=p)(t, c)
        if c["aqm"] == "WRED":
            for level in next(iter(turns(t)["queue"].values()))["levels"]:
                level["max_p"] = p

    return change


def bucket(packets: int) -> Change:
    """Another depth of the contract's buckets."""

    def change(t: Tree, _: Cell) -> None:
        marker(t).update(cbs=f"{packets * PACKET}B", ebs=f"{packets * PACKET}B")

    return change


def access_rate(rate: str) -> Change:
    """Another rate of the senders' and receivers' own links."""

    def change(t: Tree, _: Cell) -> None:
        t["topology"]["dumbbell"]["access"]["rate"] = rate

    return change


def busy_ageing(t: Tree, c: Cell) -> None:
    """An idle queue ages its average by packets of 552 byte at the link's rate, not one each 10 ms."""
    of_queue("RED", idle_packet="552B")(t, c)
    for a in ("WRED", "ModRED"):
        of_queue(a, mean_packet="552B")(t, c)


def starts(within: str) -> Change:
    """Starts spread over another time."""

    def change(t: Tree, _: Cell) -> None:
        t["flows"]["ftp"]["spread"] = within

    return change


def run_time(seconds: int) -> Change:
    """Another simulated time; a tenth of it is cut."""

    def change(t: Tree, c: Cell) -> None:
        t["duration"] = f"{seconds}s"
        if c["traffic"] == "counted":
            t.update(sample=f"{seconds}s")
            t["flows"]["ftp"]["stop"] = f"{seconds - 10}s"
        else:
            t["warmup"] = f"{seconds // 10}s"

    return change


SAME = "the first two replications alone"
UNCHANGED: tuple[str, str, Change] = (
    SAME,
    "nothing is changed: the choices below, of two replications each, are compared with this",
    lambda *_: None,
)
"""What the other choices are compared with."""

WHOLE = "AVQ with the whole link's capacity"
CHOICES: Sequence[tuple[str, str, Change]] = (
    ("limits shared by the three queues", "the paper does not say what 25, 100 and 250 packets bound", shared_limit),
    ("one priority queue", "the number of queues is not given; one of them is plain FIFO", one_queue),
    ("thresholds that grow with the limit", "QualNet's thresholds do not, but then 100 and 250 packets are never reached", scaled),
    ("weight 0.02", "averages that follow the queue ten times as fast", weight(0.02)),
    ("drop probability up to 0.1", "the early drops of RED and WRED, five times as many", probability(0.1)),
    ("no 10 ms packets while idle", "QualNet ages an idle average by one packet in 10 ms; others by packets of real length", busy_ageing),
    (WHOLE, "each queue takes itself for the link", of_queue("AVQ", gamma=0.98, initial=1.0)),
    ("AVQ as in ns-2", "its authors' code", of_queue("AVQ", preset="ns2", gamma=0.98 / 3, initial=1 / 3, spare_incapable=False, ecn=False)),
    ("AVQ with damping 0.6", "its capacity follows the arrivals four times as fast", of_queue("AVQ", alpha=0.6)),
    ("contract of the active senders", "10 Mbit/s / active senders instead of / nodes", contract(active=True)),
    ("contract of a tenth", "nearly all packets are OUT", contract(0.1)),
    ("contract with 50 packets", "buckets of 50 packets instead of 10", bucket(50)),
    ("round trips 100 to 200 ms", "the conclusion speaks of a uniform distribution without its range", uneven),
    ("round trip 50 ms", "if the 150 ms are not a propagation time", round_trip(50)),
    ("windows of 64 kbyte", "buffers of 65 535 byte instead of 16 384", tcp(receive_window="65535B")),
    ("windows of 8 segments", "buffers of 4096 byte", tcp(receive_window="4096B")),
    ("segments of 1460 byte", "the usual length instead of QualNet's", segment(1460)),
    ("no delayed acknowledgments", "the receiver answers each segment at once", tcp(ack_every=1)),
    ("timeouts from 200 ms", "the least timeout of ns-2 and Linux instead of 1 s", tcp(rto_min="200ms")),
    ("NewReno", "the agent of most later studies", tcp(cc="newreno")),
    ("windows cut to 4 segments", "a gentler ModRED", of_queue("ModRED", window="2048B")),
    ("starts spread over 20 s", "sessions that do not begin together", starts("20s")),
    ("60 s simulated", "the paper: variable", run_time(60)),
)
"""Other choices for what the paper leaves open, each changed alone: name, why, change."""

FULL = "1460 byte, round trip 50 ms, no delayed acknowledgments"
"""One packet of each sender a round trip is more than the link carries: what ModRED needs."""
FAST = "access links of 100 Mbit/s"
MILDER = "bursts of 0.5 s with 0.5 s of silence"
SHORT = "512 byte, round trip 25 ms, no delayed acknowledgments"
"""64 senders with a packet each in a round trip are more than the link carries, 48 are not."""
EXTREMES: Sequence[tuple[str, str, Change]] = (
    (FULL, "48 senders with a packet each in a round trip are 11.5 Mbit/s: what ModRED would need", all_of(
        segment(1460), round_trip(50), tcp(ack_every=1))),
    (SHORT, "64 senders with a packet each in a round trip are 11.3 Mbit/s, 48 are 8.5",
     all_of(round_trip(25), tcp(ack_every=1))),
    (FAST, "the paper states 10 Mbit/s; with 100 a burst hardly waits at its sender", access_rate("100Mbit/s")),
    (MILDER, "other bursts with the same mean", lambda t, c: _milder(t, c)),
)  # fmt: skip
"""Values at which claims come out otherwise."""


def _milder(t: Tree, c: Cell) -> None:
    if c["traffic"] == "bursty":
        t["flows"]["ftp"]["source"]["on_off"].update(rate="260.87kbit/s", on="500ms", off="500ms")


SETUPS: Mapping[str, Change] = {
    f"{q} queue{'s' if q > 1 else ''}, {r} ms, {m} byte, {d}": all_of(
        *([one_queue] if q == 1 else []), round_trip(r), segment(m), tcp(ack_every=2 if d == "delayed ACK" else 1)
    )
    for q in (3, 1) for r in (150, 50) for m in (512, 1460) for d in ("delayed ACK", "each ACK")
}  # fmt: skip
"""Set-ups in which the four printed losses are looked for."""


QUICK_SETUPS = (
    "3 queues, 150 ms, 512 byte, delayed ACK", "1 queue, 150 ms, 512 byte, delayed ACK", "1 queue, 50 ms, 512 byte, delayed ACK",
    "1 queue, 50 ms, 512 byte, each ACK",
)  # fmt: skip
"""The way from our choices to the set-up nearest to the printed losses, one change a step."""


def tried(r: Results) -> list[str]:
    """The set-ups at hand."""
    there = {c["setup"] for c in r.cells}
    return [s for s in SETUPS if s in there]


def calibration(setups: Iterable[str] = tuple(SETUPS)) -> list[Cell]:
    """The cells of the printed losses with each set-up, DropTail: 64 nodes at 75 %, all networks at 50 %."""
    return [
        c
        for s in setups
        for c in (
            *(cell(64, 75, q, "DropTail", setup=s) for q in (100, 250)),
            *(cell(n, 50, q, "DropTail", setup=s) for n in NETWORKS for q in (25, 250)),
        )
    ]


def set_up(t: Tree, c: Cell) -> None:
    """The change of a calibration cell; a third of the simulated time is enough."""
    SETUPS[c["setup"]](t, c)
    t["duration"] = "65s"
