"""Scenarios of the figures: one link with flows, dumbbells, and the values and series of their runs."""

from __future__ import annotations

from functools import cache
from typing import Any

import polars as pl

import fairlane as fl

Points = tuple[list[float], list[float]]
Flow = tuple[str, dict[str, Any]]

SEEDS = "1..10"
"""Ten replications, for figures with intervals."""
EMPTY = {"header": "0B"}


@cache
def _kept(text: str, seeds: int | str) -> fl.Result:
    return fl.Network.from_toml(text).run(seeds=seeds)


def forget() -> None:
    """Drops the results of all runs."""
    _kept.cache_clear()


def run(network: fl.Network, seeds: int | str = 1) -> fl.Result:
    """Runs a network once, however many curves need it."""
    return _kept(network.to_toml(), seeds)


def net(duration: str, *flows: Flow, warmup: str = "0s", sample: str | None = None, **link: Any) -> fl.Network:
    """Flows over a link from a to b; unless said otherwise 10 Mbit/s, 1 ms and a queue without limit; 1000 bytes take 0.8 ms."""
    made = fl.Network(duration=duration, warmup=warmup, **({"sample": sample} if sample else {}))
    made.link("a", "b", **{"name": "link", "rate": "10Mbit/s", "delay": "1ms", "queue": fl.queues.Droptail(limit="1000000p"), **link})
    for name, settings in flows:
        made.flow(name, "a", "b", **settings)
    return made


def udp(source: object, name: str = "udp", **settings: Any) -> Flow:
    """A UDP flow without headers."""
    return name, {"udp": EMPTY, "source": source, **settings}


def tcp(settings: object = "newreno", name: str = "tcp", **rest: Any) -> Flow:
    """A TCP flow."""
    return name, {"tcp": settings, **rest}


def cbr(mbps: float, size: int = 1000, **rest: Any) -> fl.sources.Cbr:
    """A constant bit rate."""
    return fl.sources.Cbr(rate=f"{round(mbps * 1e6)}bit/s", size=f"{size}B", **rest)


def poisson(mbps: float, size: int = 1000, **rest: Any) -> fl.sources.Poisson:
    """Packets of a Poisson process."""
    return fl.sources.Poisson(rate=f"{round(mbps * 1e6)}bit/s", size=f"{size}B", **rest)


def bulk(queue: object, flows: int, duration: str, warmup: str, sample: str | None = None, cc: object = "newreno") -> fl.Network:
    """Long TCP flows that begin within a second and share a link of 10 Mbit/s and 20 ms."""
    return net(duration, tcp(cc, count=flows, spread="1s"), warmup=warmup, sample=sample, delay="20ms", queue=queue)


def droptail(packets: float) -> fl.queues.Droptail:
    """A drop-tail queue."""
    return fl.queues.Droptail(limit=f"{round(packets)}p")


def value(
    network: fl.Network, metric: str, *, seeds: int | str = 1, scale: float = 1.0, less: float = 0.0, **of: str
) -> tuple[float, float]:
    """Mean of a metric and the half width of its interval, times `scale`; `less` is taken off."""
    found = run(network, seeds).value(metric, **of)
    return scale * (found.mean or 0.0) - less, scale * (found.half_width or 0.0)


def mean(network: fl.Network, metric: str, **settings: Any) -> float:
    """Mean of a metric."""
    return value(network, metric, **settings)[0]


def table(network: fl.Network, of: str = "link", since: float = -1.0) -> pl.DataFrame:
    """Series of the link, or of a flow, from a time on."""
    result = run(network)
    series = result.link_series if of == "link" else result.flow_series
    return series.filter((pl.col("link" if of == "link" else "flow") == of) & (pl.col("time") >= since))


def series(network: fl.Network, column: str, of: str = "link", *, since: float = -1.0, scale: float = 1.0) -> Points:
    """Times and values of a column of the link or of a flow."""
    found = table(network, of, since)
    return found["time"].to_list(), (found[column] * scale).to_list()


def late(network: fl.Network, column: str, since: float) -> float:
    """Mean of a column of the link from a time on."""
    return float(table(network, since=since)[column].mean())


RFC = {"preset": "rfc", "ack_every": 1}
LARGE = {**RFC, "mss": "1448B", "receive_window": "1GiB"}


def window(settings: dict[str, Any], *, rate: str, delay: str, limit: str, duration: str, sample: str) -> Points:
    """Times in seconds and windows in segments of one long flow of 1448-byte segments; `delay` is one way."""
    path = net(duration, tcp({**LARGE, **settings}), sample=sample, rate=rate, delay=delay, queue=fl.queues.Droptail(limit=limit))
    return series(path, "cwnd", "tcp", scale=1 / 1448)


def one_flow(settings: dict[str, Any], limit: str, duration: str) -> fl.Network:
    """A long flow of segments of 1000 bytes over 100 Mbit/s and 50 ms each way with a drop-tail queue, sampled every 0.1 s."""
    flow = tcp({**RFC, "mss": "1000B", **settings})
    return net(duration, flow, sample="100ms", rate="100Mbit/s", delay="50ms", queue=fl.queues.Droptail(limit=limit))


def cuts(windows: list[float]) -> list[int]:
    """Indices of the first sample of each ascent after a cut."""
    return [i for i in range(2, len(windows)) if windows[i - 1] < 0.95 * windows[i - 2] and windows[i] >= windows[i - 1]]


def lossy_window(cc: str, loss: float, rate: str) -> tuple[float, float]:
    """Segments a round trip of 100 ms that a flow delivers with random loss."""
    flow = tcp({**RFC, "cc": cc, "recovery": "sack", "mss": "1000B"})
    path = net("120s", flow, warmup="20s", rate=rate, delay="50ms", queue=droptail(500), loss=loss, reverse={"loss": 0.0})
    return value(path, "goodput", flow="tcp", seeds=SEEDS, scale=0.1 / 8000)


def lossy_rate(source: object, loss: float) -> fl.Network:
    """One flow of a rate control over a path of 100 ms there and back with random losses."""
    path = {"rate": "1Gbit/s", "delay": "50ms", "queue": droptail(10000), "loss": loss, "reverse": {"loss": 0.0}}
    return net("220s", udp(source, "rate", udp={}), warmup="20s", **path)


def average_window(cc: str, loss: float, duration: str) -> float:
    """Segments of 1448 bytes in flight, on average, over 10 ms with random loss."""
    # Acknowledgments get lost, too, which says nothing: the next one tells the same.
    path = net(duration, tcp({**LARGE, "cc": cc}), warmup="3s", name=None, rate="100Gbit/s", delay="5.0ms", loss=loss)
    return run(path).flows["goodput"][0] * 0.01 / 8 / 1448


CLASSES = ("TCP1", "TCP2", "TCP3", "TCP4", "UDP3", "UDP4")
"""Classes of Yang and Fu 2001: transport and priority."""


def two_sources(flows: int, control: str) -> fl.Network:
    """Two sources of Yang and Fu 2001 with 100 transfers of 1 MB each over a shared link of 1 Mbit/s, under one control."""
    access = {"rate": "10Mbit/s", "delay": "50ms", "queue": droptail(10000)}
    made = fl.Network(duration="4000s").dumbbell(pairs=2, access=access, bottleneck={**access, "rate": "1Mbit/s", "queue": droptail(50)})
    agent = {"preset": "ns2", "cc": "tahoe", "handshake": False, "data_header": "0B", "initial_window": "1p", "limited_transmit": False}
    agent |= {"rto_initial": "6s", "rto_max": "64s", "rto_granularity": "100ms"}
    for s in range(2):
        made.flow(f"tcp{s}", f"s{s}", f"d{s}", count=flows, class_=[1, 2, 3, 4], tcp=agent, source=fl.sources.File(size="1MB"))
        settings = {"udp": EMPTY, "source": cbr(2, jitter=1.0), "amount": "1MB"}
        made.flow(f"udp{s}", f"s{s}", f"d{s}", count=100 - flows, class_=[3, 4], **settings)
    return made.control(control)


@cache
def class_means(control: str) -> dict[str, float]:
    """Mean completion time of each class at the first source, averaged over 81 to 99 TCP flows of 100."""
    found: dict[str, list[float]] = {name: [] for name in CLASSES}
    for flows in range(81, 100):
        times: dict[str, list[float]] = {}
        for row in run(two_sources(flows, control)).flows.iter_rows(named=True):
            group, _, number = row["flow"].partition(".")
            if group in ("tcp0", "udp0"):
                member = int(number or 0)
                priority = 1 + member % 4 if group == "tcp0" else 3 + member % 2
                times.setdefault(f"{group[:3].upper()}{priority}", []).append(row["completion_time"])
        for name, values in times.items():
            found[name].append(sum(values) / len(values))
    return {name: sum(values) / len(values) for name, values in found.items()}
