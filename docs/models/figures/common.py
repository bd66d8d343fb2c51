"""What several figures need: a network of one link, seeds, and intervals as error bars."""

from __future__ import annotations

import fairlane as fl

SEEDS = "1..10"
"""Ten replications, for figures with intervals."""


def one_link(
    *, duration: str, warmup: str = "0s", queue: object = None, sample: str | None = None, loss: float = 0.0, **flow: object
) -> fl.Network:
    """A UDP flow without headers over a link of 10 Mbit/s and 1 ms; 1000 byte take 0.8 ms."""
    settings = {"sample": sample} if sample else {}
    net = fl.Network(duration=duration, warmup=warmup, **settings)
    net.link("a", "b", name="link", rate="10Mbit/s", delay="1ms", queue=queue or fl.Droptail(limit="1000000p"), loss=loss)
    return net.flow("udp", "a", "b", udp={"header": "0B"}, **flow)


def bulk_flows(queue: object, flows: int, *, duration: str, warmup: str, sample: str | None = None, tcp: object = "newreno") -> fl.Network:
    """Long TCP flows that begin within a second and share a link of 10 Mbit/s and 20 ms."""
    settings = {"sample": sample} if sample else {}
    net = fl.Network(duration=duration, warmup=warmup, **settings)
    net.link("a", "b", name="link", rate="10Mbit/s", delay="20ms", queue=queue)
    return net.flow("tcp", "a", "b", count=flows, tcp=tcp, spread="1s")


def errors(values: list[fl.Interval]) -> tuple[list[float], list[float]]:
    """Means and half widths of intervals."""
    return [v.mean or 0.0 for v in values], [v.half_width or 0.0 for v in values]
