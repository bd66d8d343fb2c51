"""Ramachendra 2014: the wireless networks of its captions as combinations, their measures, and the choices varied one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fairlane import Network
from fairlane.papers import Combination, RunTables, Tree, Value, copy_tree, quantity

from . import net
from .opens import LINK

NETWORKS = (16, 32, 64, 128)
LOADS, LIMITS, QUEUES = net.LOADS, net.LIMITS, net.QUEUES
LOAD, LIMIT = 75, 100
"""Where the load, or the queue limit, is not what is varied."""
AIR = "air"
"""The traffic of these combinations; of those with another choice it is followed by its name."""
VARIED = 32
"""Nodes of the network in which choices are varied."""
LINKS = tuple(f"n{i}-air" for i in range(max(NETWORKS)))
COLUMNS = ("attempts", "retries", "given_up", "medium_busy")

METRICS = {
    "throughput": "kbit/s", "sent": "packets", "received": "packets", "enqueued": "packets", "dequeued": "packets", "dropped": "packets",
    "loss_rate": "percent", "given_up": "packets", "air_loss": "percent", "retried": "percent", "medium_busy": "percent",
    "mean_queue": "packets", "mean_time_in_queue": "ms", "one_way_delay": "ms", "jitter": "ms", "most_dropped": "percent",
    "silent": "percent",
}  # fmt: skip
"""All metrics of a network on the air with their units."""


@dataclass(frozen=True)
class Choice:
    """Something else that could have been chosen."""

    name: str
    why: str
    change: Callable[[Tree], None]
    base: bool = False
    """True if TCP and queues have the base values of the unstated parameters, not those of the wired tables."""


def _channel(**values: object) -> Callable[[Tree], None]:
    return lambda t: t["wireless"]["air"].update(values)


def _gateway(t: Tree) -> None:
    f = t["flows"]["ftp"]
    f.update(to="n0", first=1, count=f["count"] - 1, permute=False)


def _field(t: Tree) -> None:
    t["wireless"]["air"]["scatter"].update(width_m=1000, height_m=1000)


CHOICES = (
    Choice("RTS before all frames", "QualNet's threshold is 0: every frame behind an RTS", _channel(rts_threshold="1B")),
    Choice("11 Mbit/s", "QualNet's other common rate, with its sensitivity of −83 dBm", _channel(rate="11Mbit/s", sensitivity_dbm=-83)),
    Choice("all to one node", "node 0 as a gateway, instead of random pairs", _gateway),
    Choice("field of 1000 m", "more stations hear one another, and paths have fewer hops", _field),
    Choice("capture", "a receiver changes to a frame that is 10 dB stronger", _channel(capture_db=10)),
    Choice("reception at 4 dB", "a signal is taken at 4 dB above noise and interference, not at 10", _channel(threshold_db=4)),
    Choice(
        "QualNet's TCP, three queues", "Reno, 512 bytes, 16 384 bytes, timeouts from 1 s: the bases of what is open", lambda _: None, True
    ),
)
_OF = {c.name: c for c in CHOICES}


def is_air(c: Combination) -> bool:
    """Returns true for a wireless combination with the declared choices."""
    return c["traffic"] == AIR


def is_choice(c: Combination) -> bool:
    """Returns true for a wireless combination with another choice."""
    return c["traffic"].startswith(f"{AIR}: ")


def chosen(name: str) -> str:
    """The traffic of combinations with a choice."""
    return f"{AIR}: {name}" if name else AIR


def combinations() -> list[Combination]:
    """Loads with one limit and limits with one load, of every network and discipline, and two disciplines with each choice."""
    made = [net.combination(n, x, LIMIT, a, AIR) for n in NETWORKS for x in LOADS for a in QUEUES]
    made += [net.combination(n, LOAD, q, a, AIR) for n in NETWORKS for q in LIMITS if q != LIMIT for a in QUEUES]
    return [*made, *(net.combination(VARIED, LOAD, LIMIT, a, chosen(c.name)) for c in CHOICES for a in ("RED", "ModRED"))]


def claimed() -> list[Combination]:
    """The combinations that claims read: what each setting runs."""
    return [net.combination(n, LOAD, LIMIT, a, AIR) for n in (16, 32) for a in ("RED", "ModRED")]


def quick() -> list[Combination]:
    """The two small networks at one load and limit."""
    return [net.combination(n, LOAD, LIMIT, a, AIR) for n in (16, 32) for a in QUEUES]


def tree_of(base: Tree, wired: Tree, c: Combination, seed: int) -> Tree:
    """Returns a scenario: stations and channel of `base`, TCP and router queue of the wired network with the same factors."""
    t = copy_tree(base)
    n, load = int(c["network"]), int(c["load"])
    t["name"] = f"{n} nodes on the air, {load} % load, {c['aqm']} with {c['queue']} packets"
    t["seed"] = seed
    channel = t["wireless"]["air"]
    channel["scatter"]["count"] = n
    t["flows"]["ftp"].update(count=n, active=load / 100, tcp=copy_tree(wired["flows"]["ftp"]["tcp"]))
    if is_choice(c):
        _OF[c["traffic"].removeprefix(f"{AIR}: ")].change(t)
    rate = quantity(channel["rate"])
    channel["queue"] = copy_tree(wired["links"]["bottleneck"]["queue"])
    contract = channel["queue"]["srtcm"]
    contract["cir"] = f"{round(quantity(contract['cir']) * rate / LINK)}bit/s"
    (parameters,) = contract["queue"]["rr"]["queue"].values()
    for k in ("mean_packet", "idle_packet"):  # those that stand for 10 ms
        if parameters.get(k) == "12500B":
            parameters[k] = f"{round(12500 * rate / LINK)}B"
    return t


def with_trees(
    base: Tree, blocks: tuple[Tree, Tree], which: Iterable[Combination], declared: Mapping[str, Value], bases: Mapping[str, Value]
) -> list[Combination]:
    """The combinations with what makes their trees: the channel of `base`, the rest from the wired network and its `blocks`."""

    def made(c: Combination) -> Combination:
        own = bases if is_choice(c) and _OF[c["traffic"].removeprefix(f"{AIR}: ")].base else declared
        like = net.combination(int(c["network"]), int(c["load"]), int(c["queue"]), c["aqm"])
        return Combination(c.factors, lambda seed: tree_of(base, net.tree_of(*blocks, like, seed, own), c, seed))

    return [made(c) for c in which]


def measure(run: RunTables) -> dict[str, float]:
    """The metrics of one run: of queues summed over all stations, of flows over all flows."""
    f, links = run.flows, run.links

    def column(name: str) -> list[float]:
        return [float(x or 0.0) for x in links[name]]

    arrivals, departures, drops = column("arrivals"), column("departures"), column("drops")
    came, left, dropped, given_up = sum(arrivals), sum(departures), sum(drops), sum(column("given_up"))
    got = max(1, sum(f["packets_received"]))
    waited = sum(x * k for x, k in zip(column("sojourn_mean"), departures, strict=True))
    return {
        "throughput": sum(f["throughput"]) / 1e3,
        "sent": float(run.network["packets_sent"][0]),
        "received": came,
        "enqueued": came - dropped,
        "dequeued": left,
        "dropped": dropped,
        "loss_rate": 100 * dropped / max(1.0, came),
        "given_up": given_up,
        "air_loss": 100 * given_up / max(1.0, left),
        "retried": 100 * sum(column("retries")) / max(1.0, sum(column("attempts"))),
        "medium_busy": 100 * sum(column("medium_busy")) / len(arrivals),
        "mean_queue": sum(column("queue_mean")),
        "mean_time_in_queue": 1e3 * waited / max(1.0, left),
        "one_way_delay": 1e3 * float(run.network["delay_mean"][0]),
        "jitter": 1e3 * sum((j or 0.0) * k for j, k in zip(f["jitter"], f["packets_received"], strict=True)) / got,
        "most_dropped": 100 * max(drops) / max(1.0, dropped),
        "silent": 100 * sum(not k for k in f["packets_received"]) / len(f["packets_received"]),
    }


@dataclass(frozen=True)
class Stations:
    """Where the stations of a network stand, in metres, and which decode which."""

    at: Mapping[str, tuple[float, float]]
    hops: Sequence[tuple[str, str]]
    pairs: Sequence[tuple[str, str]]
    """Senders and receivers."""

    def lengths(self) -> list[int]:
        """Hops on the shortest path of each pair."""
        near: dict[str, list[str]] = {n: [] for n in self.at}
        for a, b in self.hops:
            near[a].append(b)
        return [_hops(near, a, b) for a, b in self.pairs]


def _hops(near: Mapping[str, Sequence[str]], a: str, b: str) -> int:
    far, wave = {a: 0}, [a]
    while wave and b not in far:
        wave = [m for n in wave for m in near[n] if m not in far and not far.update({m: far[n] + 1})]
    return far.get(b, 0)


def stations(file: Path, n: int) -> Stations:
    """The stations of a network with n nodes that all send."""
    network = Network.from_file(file)
    network.set({"wireless.air.scatter.count": n, "flows.ftp.count": n, "flows.ftp.active": 1.0})
    expanded = network.resolve()["expanded"]
    (channel,) = expanded["channels"]
    names = [s["node"] for s in channel["stations"]]
    at = {n: (x, y) for n, (x, y) in expanded["positions"].items()}
    hops = [(names[a], names[b]) for a, b in channel["hops"]]
    return Stations(at, hops, [(f["from"], f["to"]) for f in expanded["flows"]])
