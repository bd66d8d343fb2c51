"""Ramachendra 2014: its networks as scenario trees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fairlane.papers import Combination, Tree, Value, copy_tree, factors_of

from .opens import EVERY, InSetting, changed

NETWORKS = (16, 32, 64)
LOADS = (25, 50, 75, 100)
LIMITS = (25, 100, 250)
ACKED = "every packet acknowledged"
"""The traffic of the combinations in which no acknowledgment waits."""
QUEUES = ("DropTail", "RED", "WRED", "AVQ", "ModRED")


def combination(network: int, load: int, queue: int, aqm: str, traffic: str = "bulk") -> Combination:
    """The factors of a combination; `with_trees` adds its tree."""
    return Combination(factors_of(network=network, load=load, queue=queue, aqm=aqm, traffic=traffic), lambda _: {})


def matrix() -> list[Combination]:
    """All disciplines at all queue limits, loads and networks."""
    return [combination(n, x, q, a) for n in NETWORKS for x in LOADS for q in LIMITS for a in QUEUES]


def special() -> list[Combination]:
    """Further combinations: smooth and bursty senders, an uncongested link, queue samples, no delayed acknowledgments, drops by colour."""
    combinations = [combination(64, 100, 100, a, t) for t in ("smooth", "bursty") for a in ("RED", "ModRED")]
    combinations += [combination(n, x, 100, "DropTail", "uncongested") for n in NETWORKS for x in (25, 50)]
    combinations += [combination(64, 75, 100, a, "watched") for a in ("RED", "ModRED")] + [
        combination(64, 50, q, "ModRED", "watched") for q in (25, 100)
    ]
    combinations += [combination(64, 100, 100, a, ACKED) for a in ("RED", "ModRED")]
    return [*combinations, *counted(), *(combination(64, x, 100, "WRED", "counted") for x in (75, 100))]


def counted() -> list[Combination]:
    """ModRED's drops by colour."""
    return [combination(n, x, 100, "ModRED", "counted") for n, x in ((64, 75), (64, 100), (32, 100), (16, 100))]


def claimed() -> list[Combination]:
    """The combinations that claims and published losses read: what each setting runs."""
    combinations = [combination(n, x, q, "DropTail") for n in NETWORKS for x in (50, 100) for q in LIMITS]
    combinations += [combination(64, 75, q, "DropTail") for q in (100, 250)] + [combination(n, 25, 100, "DropTail") for n in NETWORKS]
    combinations += [combination(n, 100, q, "RED") for n in NETWORKS for q in LIMITS] + [combination(n, 75, 100, "RED") for n in NETWORKS]
    combinations += [combination(n, x, 100, "ModRED") for n in NETWORKS for x in LOADS] + [
        combination(n, 50, 25, "ModRED") for n in NETWORKS
    ]
    combinations += [combination(n, 100, 100, a) for n in NETWORKS for a in ("WRED", "AVQ")]
    return [*combinations, *(c for c in special() if c["traffic"] in ("smooth", "bursty", "uncongested")), *counted()]


def quick() -> list[Combination]:
    """The part of a quick look: 64 nodes, and what claims read of the other networks."""
    own = {c.factors: c for c in (*(c for c in matrix() if c["network"] == "64"), *claimed(), *special())}
    return list(own.values())


def tree_of(base: Tree, blocks: Tree, c: Combination, seed: int, values: Mapping[str, Value]) -> Tree:
    """The scenario of a combination in a setting: the base network with the combination's nodes, load and queue."""
    t = copy_tree(base)
    n, load, limit = int(c["network"]), int(c["load"]), int(c["queue"])
    t["name"] = f"{n} nodes, {load} % load, {c['aqm']} with {limit} packets, {c['traffic']}"
    t["seed"] = seed
    t["topology"]["dumbbell"]["pairs"] = n
    t["flows"]["ftp"].update(count=n, active=load / 100)
    block = copy_tree(blocks["queue"][c["aqm"]])
    next(iter(block.values()))["limit"] = f"{limit}p"
    t["links"]["bottleneck"]["queue"]["srtcm"]["queue"]["rr"]["queue"] = block
    if c["traffic"] in ("smooth", "bursty"):
        t["flows"]["ftp"]["source"] = copy_tree(blocks["source"][c["traffic"]])
    if c["traffic"] == "watched":
        t["sample"] = "100ms"
    if c["traffic"] == "counted":
        _count_colours(t)
    changed(t, c, {**values, "acknowledged": EVERY} if c["traffic"] == ACKED else values)
    return t


def _count_colours(t: Tree) -> None:
    """One receiver for all, behind a meter that counts colours; the sources end early, so that nothing is in flight at the end.

    The receiver's link is as fast as the bottleneck, so nothing waits there, as nothing waits before receivers of their own.
    """
    meter = {"mode": "aware", "cir": "1Tbit/s", "cbs": "1GB", "ebs": "1GB", "queue": {"droptail": {"limit": "1000p"}}}
    t["links"]["d0"] = {"reverse": {"queue": {"srtcm": meter}}}
    t["flows"]["ftp"]["to"] = "d0"


def with_trees(base: Tree, blocks: Tree, combinations: Iterable[Combination], values: Mapping[str, Value]) -> list[Combination]:
    """The combinations in a setting, with what makes their trees."""

    def made(c: Combination) -> Combination:
        return InSetting(c.factors, lambda seed: tree_of(base, blocks, c, seed, values), values)

    return [made(c) for c in combinations]
