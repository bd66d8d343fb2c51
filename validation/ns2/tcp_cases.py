"""Cases that compare TCP beyond C1, C2 and C5.

T1: five flows with unequal round trips, DropTail and RED; T2: one flow against a CBR stream through a queue of ten packets;
T3: a hundred transfers of 100 kB over 1 Mbit/s. Flows start at random times, the same in both simulators, so that DropTail
gives a distribution and not one locked phase.
"""

from __future__ import annotations

from collections.abc import Iterator

from .case import Case

SEEDS = tuple(range(1, 11))


def _case(family: str, name: str, file: str, variant: str, spread: str, *extra: tuple[str, str]) -> Case:
    return Case(
        name=f"{name}/{variant}" if name else variant,
        family=family,
        file=f"{file}.toml",
        watch="bottleneck",
        sets=(("flows.tcp.tcp.cc", f'"{variant}"'), ("flows.tcp.spread", f'"{spread}"'), *extra),
        seeds=SEEDS,
        peer_runs=tuple((seed, 0.0) for seed in SEEDS),
        bounds="flows",
        random_starts=True,
        quick=variant in ("newreno", "fack", "vegas"),
    )


def catalogue() -> Iterator[Case]:
    """All cases."""
    for variant in ("tahoe", "reno", "newreno", "sack", "fack", "vegas"):
        for queue in ("droptail", "red"):
            yield _case("T1", queue, f"unequal-{queue}", variant, "100ms")
    for variant in ("tahoe", "reno", "newreno", "sack", "fack", "vegas"):
        yield _case("T2", "", "one-cbr", variant, "1s")
    for variant in ("tahoe", "reno", "newreno", "sack", "fack", "vegas"):
        yield _case("T3", "", "transfers", variant, "100ms")
