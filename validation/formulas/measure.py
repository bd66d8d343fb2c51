"""Runs a case."""

from __future__ import annotations

from math import log

import polars as pl

import fairlane as fl

from .cases import RTT, LossCase, RttCase

SEEDS = "1..4"
#: Bottleneck of the two flows, Mbit/s, and the delay of its bandwidth-delay product in seconds.
RATE, HOLDS = 100, 0.08


def segments_per_second(case: LossCase, seconds: int = 2000, seeds: str = SEEDS) -> tuple[float, float]:
    """Goodput in segments of 1000 bytes a second, and the mean round-trip time."""
    net = fl.Network(duration=f"{seconds}s", warmup=f"{seconds // 20}s")
    net.link("a", "b", name="l", rate="10Gbit/s", delay=f"{RTT * 500:g}ms", loss=case.p, reverse={"loss": 0.0})
    tcp = {"preset": "rfc", "cc": case.cc, "mss": "1000B", "ack_every": case.b, "receive_window": "256MiB", "initial_ssthresh": "100p"}
    net.flow("f", "a", "b", tcp=tcp)
    flows = net.run(seeds=seeds).flows
    return flows["goodput"].mean() / 8000, flows["rtt_mean"].mean()


def exponent(case: RttCase, seconds: int = 200, seeds: str = SEEDS) -> float:
    """a in goodput ~ RTT^-a."""
    hold = int(RATE * 1e6 * HOLDS / 8 / 1500)
    red = {"red": {"min": f"{hold // 6}p", "max": f"{hold // 2}p", "limit": f"{2 * hold}p"}}
    net = fl.Network(duration=f"{seconds}s", warmup=f"{seconds // 4}s")
    queue = red if case.queue == "red" else {"droptail": {"limit": f"{hold}p"}}
    net.link("r", "d", name="l", rate=f"{RATE}Mbit/s", delay="1ms", queue=queue)
    for name, rtt in (("short", case.short_ms), ("long", case.long_ms)):
        net.link(f"s.{name}", "r", name=f"a.{name}", rate="1Gbit/s", delay=f"{(rtt - 2) / 2:g}ms")
        net.flow(
            name, f"s.{name}", "d", tcp={"preset": "rfc", "cc": case.cc, "recovery": "sack", "mss": "1448B", "receive_window": "64MiB"}
        )
    flows = net.run(seeds=seeds).flows
    of = {name: flows.filter(pl.col("flow") == name) for name in ("short", "long")}
    share = of["short"]["goodput"].mean() / of["long"]["goodput"].mean()
    stretch = of["long"]["rtt_mean"].mean() / of["short"]["rtt_mean"].mean() if case.seen else case.long_ms / case.short_ms
    return log(share) / log(stretch)
