"""The environments of Yang and Fu 2001.

Parameters that the paper does not state follow from its numbers: MB = 10^6 bytes, packets of 1000 bytes without headers,
50 ms a link, the plain TCP agent of ns-2.1b5 with a window of 20, CBR of 2 Mbit/s with jitter, UDP that sends
until the receiver has all of it.
"""

from __future__ import annotations

from collections.abc import Iterable

import fairlane as fl

from .cases import CLASSES, RATIOS

AGENT = {
    "preset": "ns2",
    "cc": "tahoe",
    "handshake": False,
    "data_header": "0B",
    "initial_window": "1p",
    "limited_transmit": False,
    "rto_initial": "6s",
    "rto_max": "64s",
    "rto_granularity": "100ms",
}
"""TCP of ns-2.1b5 (1999), as far as it differs from the preset."""


def network(
    flows: Iterable[tuple[int, int]], size: str | None, *, cbr: str = "2Mbit/s", duration: str = "4000s", spread: str = "0s"
) -> fl.Network:
    """Sources with so many TCP and UDP flows each over a shared link of 1 Mbit/s; transfers of a size, or endless ones."""
    access = {"rate": "10Mbit/s", "delay": "50ms", "queue": fl.queues.Droptail(limit="10000p")}
    bottleneck = {"rate": "1Mbit/s", "delay": "50ms", "queue": fl.queues.Droptail(limit="50p")}
    net = fl.Network(duration=duration).dumbbell(pairs=2, access=access, bottleneck=bottleneck)
    for s, (tcp, udp) in enumerate(flows):
        if tcp:
            file = {"source": fl.sources.File(size=size)} if size else {}
            net.flow(f"tcp{s}", f"s{s}", f"d{s}", count=tcp, class_=[1, 2, 3, 4], tcp=AGENT, spread=spread, **file)
        if udp:
            source = fl.sources.Cbr(rate=cbr, size="1000B", jitter=1.0)
            end = {"amount": size} if size else {}
            net.flow(f"udp{s}", f"s{s}", f"d{s}", count=udp, class_=[3, 4], udp={"header": "0B"}, spread=spread, source=source, **end)
    return net


def times(net: fl.Network) -> dict[str, list[float]]:
    """Transmission times by class and source: `TCP1/0`."""
    found: dict[str, list[float]] = {}
    for row in net.run(seed=1).flows.iter_rows(named=True):
        group, _, number = row["flow"].partition(".")
        member = int(number or 0)
        priority = 1 + member % 4 if group.startswith("tcp") else 3 + member % 2
        found.setdefault(f"{group[:3].upper()}{priority}/{group[3]}", []).append(row["completion_time"])
    return found


def class_means(control: str, spread: str) -> dict[str, float]:
    """Returns the mean time of each class and source, averaged over the ratios; both sources have this control, or none."""
    found: dict[str, list[float]] = {f"{c}/{s}": [] for s in range(2) for c in CLASSES}
    for tcp in RATIOS:
        net = network([(tcp, 100 - tcp)] * 2, "1MB", spread=spread)
        for name, values in times(net.control(control)).items():
            found[name].append(sum(values) / len(values))
    return {name: sum(values) / len(values) for name, values in found.items()}


def udp_alone(flows: int) -> float:
    """Returns the mean time of this number of UDP flows of 1 MB alone on the link."""
    values = [t for ts in times(network([(0, flows)], "1MB", spread="0.5s", duration="400s")).values() for t in ts]
    return sum(values) / len(values)


def together(size: str) -> tuple[list[float], list[float]]:
    """Times of the seven TCP and the six UDP flows of table 1."""
    found = times(network([(4, 3), (3, 3)], size, cbr="3Mbit/s"))
    pick = lambda kind: [t for name, ts in found.items() if name.startswith(kind) for t in ts]  # noqa: E731
    return pick("TCP"), pick("UDP")


def tcp_share(cbr: str, seconds: float) -> float:
    """Percent of all that was delivered up to then that TCP has, with endless flows of table 1's numbers."""
    network_row = network([(4, 3), (3, 3)], None, cbr=cbr, duration=f"{seconds}s").run(seed=1).network
    return 100 * network_row["goodput_tcp"][0] / network_row["goodput"][0]
