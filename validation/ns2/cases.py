"""The cases that are compared: the families C1, C2 and C5 for TCP, and those of `tcp_cases` and `queue_cases`; each is a
scenario file with a few changes."""

from __future__ import annotations

import math
from collections.abc import Iterator

from . import queue_cases, tcp_cases
from .case import Case

VARIANTS = {"Tahoe": "tahoe", "Reno": "reno", "Newreno": "newreno", "Sack1": "sack", "Fack": "fack", "Vegas": "vegas"}
"""ns-2's name of each TCP variant and ours."""


def _cc(variant: str) -> tuple[str, str]:
    return "flows.tcp.tcp.cc", f'"{VARIANTS[variant]}"'


def _c1() -> Iterator[Case]:
    extras: dict[str, tuple[tuple[str, str], ...]] = {
        "": (),
        "-ss60": (("flows.tcp.tcp.initial_ssthresh", '"60p"'),),
        "-w100": (("flows.tcp.tcp.window", '"100p"'),),
    }
    for suffix, sets in extras.items():
        for variant in VARIANTS:
            yield Case(
                name=variant + suffix,
                family="C1",
                file="c1.toml",
                watch="bottleneck",
                sets=(_cc(variant), *sets),
                quick=suffix != "-w100",
                sawtooth=suffix != "-w100",
            )


def _c2() -> Iterator[Case]:
    for variant in VARIANTS:
        stored = variant in ("Newreno", "Sack1")
        for queue, peer_seeds in (("DropTail", range(5)), ("RED", range(1, 11))):
            yield Case(
                name=f"{variant}/{queue}",
                family="C2",
                file=f"c2-{queue.lower()}.toml",
                watch="bottleneck",
                sets=(_cc(variant),),
                seeds=tuple(range(1, 11)),
                peer_runs=tuple((seed, 0.0) for seed in peer_seeds),
                quick=stored,
            )


CLOCKS = (0.0, 128.0, 300.0, 64.0, 16.0)
"""Clock readings at which ns-2 starts C5. All clients are alike there, so packets of different clients reach the router
at the same instant; which of them goes first is decided by the rounding of ns-2's clock, a 64-bit float, and so depends
on the power of two that the clock is in. The same scenario begun at another reading is an independent draw."""

LIMITS = (50, 100, 250, 342)
CLIENTS = (3, 5, 8, 10, 25, 35, 50)


def _c5() -> Iterator[Case]:
    for limit in LIMITS:
        for queue in ("DropTail", "RED"):
            for mix in ("tcp", "udp", "half"):
                for variant in ("CBR",) if mix == "udp" else ("Tahoe", "Newreno"):
                    for window in (20,) if mix == "udp" else (20, 10000):
                        for n in CLIENTS:
                            yield _star(limit, queue, mix, variant, window, n)


def _ties(mix: str) -> tuple[tuple[str, float], ...]:
    lost = ("drops", "loss", "retransmits")
    if mix == "half":
        # CBR clients that keep step with each other or with the server's link lose everything or nothing.
        return *((name, math.inf) for name in lost), ("queue_mean", 4.0)
    return tuple((name, 4.0) for name in ("utilisation", "goodput", "queue_mean", *lost)) if mix == "tcp" else ()


def _star(limit: int, queue: str, mix: str, variant: str, window: int, n: int) -> Case:
    n_tcp = {"tcp": n, "udp": 0, "half": (n + 1) // 2}[mix]
    path = f"topology.star.queue.{queue.lower()}.limit"
    sets: list[tuple[str, str]] = [(path, f'"{limit}p"'), ("topology.star.clients", str(n))]
    if n_tcp:
        sets += [_cc(variant), ("flows.tcp.tcp.window", f'"{window}p"'), ("flows.tcp.count", str(n_tcp))]
    if n - n_tcp:
        sets.append(("flows.udp.count", str(n - n_tcp)))
    if mix == "half":
        sets += [("flows.udp.first", str(n_tcp)), ("flows.udp.start", f'"{n_tcp * 100}ms"')]
    standard = limit == 50 and n in ((3, 10, 25) if mix == "tcp" else (10,))
    return Case(
        name=f"{mix}/{variant}/w{window}/{queue}{limit}/n{n}",
        family="C5",
        file=f"c5-{mix}-{queue.lower()}.toml",
        watch="server",
        sets=tuple(sets),
        seeds=tuple(range(1, 11 if standard else 4)),
        explained=_ties(mix) if n > 5 else (),
        peer_runs=tuple(zip(range(queue == "RED", 5), CLOCKS, strict=False)),
        quick=standard and n in (3, 10) and mix != "half",
        standard=standard,
    )


def catalogue() -> list[Case]:
    """All cases."""
    return [*_c1(), *_c2(), *_c5(), *queue_cases.catalogue(), *tcp_cases.catalogue()]


def select(names: list[str], *, quick: bool = False, everything: bool = False) -> list[Case]:
    """The cases whose family or name (or the start of it) is among `names`; all families if `names` is empty."""
    cases = catalogue()
    known = {case.family for case in cases}
    for name in names:
        if name not in known and not any(f"{c.family}/{c.name}".startswith(name) for c in cases):
            raise ValueError(f"no case called {name!r}; families are {', '.join(sorted(known))}; C1/Reno selects single cases")
    chosen = []
    for case in cases:
        whole = f"{case.family}/{case.name}"
        exact = any(name not in known and whole.startswith(name) for name in names)
        if exact or ((not names or case.family in names) and (everything or (case.quick if quick else case.standard))):
            chosen.append(case)
    return chosen
