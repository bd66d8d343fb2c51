"""Formulas of queueing and TCP throughput with their sources, and their parameters from a scenario.

Rates are in bit/s, times in seconds, sizes in bytes.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _core
from ...base.format import seconds as as_seconds
from ...errors import FairlaneError

NAMES = {
    "fair": "fair share: bottleneck rate / number of flows (Jain, Chiu and Hawe 1984: equal shares)",
    "capacity": "bottleneck rate",
    "rtt": "base RTT: propagation and transmission without queueing (Kurose and Ross, section 1.4)",
    "full": "RTT with a full buffer at the bottleneck link",
    "delay": "base one-way delay: propagation and transmission of a packet",
    "bdp": "bandwidth-delay product: rate times base RTT (RFC 1072, section 1)",
    "md1": "M/D/1 queue: Poisson arrivals, one packet size (Kleinrock 1975, section 5; Franx 2001)",
    "ideal": "ideal completion time: one RTT plus size / rate",
    "sqrt": "square-root law: MSS / RTT * sqrt(3 / (2 b p)) (Mathis, Semke, Mahdavi and Ott 1997)",
    "pftk": "TCP throughput with timeouts (Padhye, Firoiu, Towsley and Kurose 1998, equation 30)",
}
"""Theoretical curves with their sources."""


# --- formulas -------------------------------------------------------------------------------------------------


def fair_share(rate: float, flows: int) -> float:
    """Returns the equal share of a link for `n` flows.

    >>> fair_share(10e6, 4)
    2500000.0
    """
    return rate / max(1, flows)


def bandwidth_delay(rate: float, rtt: float) -> float:
    """Returns the bytes in flight that fill a path without a queue (RFC 1072, section 1).

    >>> bandwidth_delay(10e6, 0.04)
    50000.0
    """
    return rate * rtt / 8


def square_root(rtt: float, p: Any, mss: float, b: float = 1.0) -> Any:
    """Returns the TCP rate with periodic losses: MSS / RTT * sqrt(3 / (2 b p)), `b` segments per acknowledgment (Mathis et al. 1997).

    >>> round(float(square_root(0.1, 0.0001, 1460)) / 1e6, 2)
    14.31
    """
    return 8 * mss / rtt * np.sqrt(3 / (2 * b * np.asarray(p, float)))


def pftk(rtt: float, p: Any, mss: float, b: float = 1.0, rto: float = 1.0) -> Any:
    """Returns the Reno rate with timeouts of `rto` (Padhye, Firoiu, Towsley and Kurose 1998, equation 30, without a window limit)."""
    p = np.asarray(p, float)
    timeouts = rto * np.minimum(1.0, 3 * np.sqrt(3 * b * p / 8)) * p * (1 + 32 * p * p)
    return 8 * mss / (rtt * np.sqrt(2 * b * p / 3) + timeouts)


def md1_waiting(load: float) -> float:
    """Returns the mean queue length without the packet in service: load^2 / (2 (1 - load)) (Kleinrock 1975, section 5.6).

    >>> round(md1_waiting(0.5), 6)
    0.25
    """
    return load * load / (2 * (1 - load)) if load < 1 else math.inf


def md1_cdf(times: Any, load: float, service: float) -> np.ndarray:
    """Returns P(wait <= t) in an M/D/1 queue, by positive terms only (Franx, Operations Research Letters 29, 2001, theorem 1, one server).

    >>> md1_cdf([0.0], 0.75, 1.0).round(9).tolist()
    [0.25]
    """
    t = np.asarray(times, float)
    most = int(np.ceil(max(t.max(initial=0.0) / service, 0.0))) + 2
    sums = np.cumsum(_md1_numbers(load, most + 1))
    # Q[m]: probability of at most m waiting, that is at most m + 1 in the system.
    q = sums[1:]
    out = np.zeros(t.shape)
    rate = load / service
    for i, x in np.ndenumerate(t):
        if x < 0:
            continue
        k = math.floor(x / service) + 1
        rest = rate * (k * service - x)
        terms, term = 0.0, 1.0
        for j in range(k):
            terms += q[k - 1 - j] * term
            term *= rest / (j + 1)
        out[i] = math.exp(-rest) * terms
    return out


def _md1_numbers(load: float, most: int) -> np.ndarray:
    """Returns P(n in the system), n = 0 ... `most`, by Ramaswami's recursion without subtractions (Stochastic Models 4, 1988)."""
    a = np.empty(most + 2)
    a[0] = math.exp(-load)
    for k in range(1, most + 2):
        a[k] = a[k - 1] * load / k
    tail = np.maximum(0.0, 1.0 - np.cumsum(a))  # tail[k] = P(more than k arrive during a service)
    # Summed from the small end: one minus a sum would lose digits.
    for k in range(most + 1):
        if tail[k] < 1e-6:
            tail[k] = math.fsum(a[k + 1 :])
    p = np.zeros(most + 1)
    p[0] = 1 - load
    for i in range(1, most + 1):
        p[i] = (p[0] * tail[i - 1] + sum(p[j] * tail[i - j] for j in range(1, i))) / (1 - tail[0])
    return p


# --- a path ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Path:
    """Path of a flow and its return path."""

    links: tuple[str, ...]
    narrowest: str
    rate: float
    """Rate of the bottleneck link."""
    delay: float
    """One-way delay of a full-sized packet without queueing."""
    back: float
    """One-way delay of an acknowledgment on the return path without queueing."""
    buffer: float
    """Buffer of the bottleneck link in bytes; infinite if unknown."""
    size: float
    """Packet size on the wire in bytes."""

    @property
    def rtt(self) -> float:
        """Base round-trip time."""
        return self.delay + self.back

    @property
    def full(self) -> float:
        """Round-trip time with a full buffer."""
        return self.rtt + 8 * self.buffer / self.rate


_ACK = 40.0
"""Size of an acknowledgment in bytes, IP and TCP without options."""
_HEADERS = 40.0


def quantity(kind: str, text: Any) -> float | None:
    """Parses a quantity of a scenario; None if it is missing. Sizes in packets are negative."""
    if not isinstance(text, str):
        return None
    try:
        value, packets = _core.quantity(kind, text)
    except (FairlaneError, ValueError):
        return None
    return -value if packets else value


Link = Mapping[str, Any]


class Routes:
    """Paths of a scenario's flows, as the engine routes them."""

    def __init__(self, scenario: Mapping[str, Any]) -> None:
        self.scenario = scenario
        self.flows = {f["name"]: f for f in scenario["expanded"]["flows"]}
        leaves: dict[str, list[Link]] = {}
        for x in scenario["expanded"]["links"]:
            leaves.setdefault(x["from"], []).append(x)
        # Hosts at the edge are on no other path, so thousands of them are skipped for each flow.
        self._on = {n: [x for x in own if len(leaves.get(x["to"], ())) > 1] for n, own in leaves.items()}
        self._into: dict[tuple[str, str], list[Link]] = {}
        for x in scenario["expanded"]["links"]:
            self._into.setdefault((x["from"], x["to"]), []).append(x)
        self._known: dict[tuple[str, str], list[Link]] = {}
        self._over: dict[str, int] = {}
        self._by = str(scenario.get("route_by") or "hops")

    def _cost(self, link: Link) -> float:
        if self._by == "delay":
            return as_seconds(link["delay"])
        return float(link.get("weight") or 1) if self._by == "weight" else 1.0

    def path(self, flow: str, size: float | None = None) -> Path:
        """Returns the path of a flow; an error if it is ambiguous, or if a link has no constant rate."""
        own = self.flows[flow]
        spec = self.scenario["flows"].get(own["group"], {})
        if size is None:
            mss = quantity("len", spec["tcp"].get("mss")) if isinstance(spec.get("tcp"), Mapping) else None
            size = (abs(mss) if mss else 1460.0) + _HEADERS
        there, back = self._shortest(own["from"], own["to"], flow), self._shortest(own["to"], own["from"], flow)
        narrow = min(there, key=lambda x: _rate(x, flow))
        delay, returned = _travel(there, size, flow), _travel(back, _ACK, flow)
        return Path(tuple(x["name"] for x in there), narrow["name"], _rate(narrow, flow), delay, returned, _buffer(narrow, size), size)

    def over(self, link: str) -> int:
        """Returns the number of flows over a link."""
        if link not in self._over:
            ways = (self._shortest(f["from"], f["to"], name) for name, f in self.flows.items())
            self._over[link] = sum(any(x["name"] == link for x in way) for way in ways)
        return self._over[link]

    def _shortest(self, start: str, end: str, flow: str) -> list[Link]:
        if (start, end) not in self._known:
            self._known[start, end] = self._laid(start, end, flow)
        return self._known[start, end]

    def _laid(self, start: str, end: str, flow: str) -> list[Link]:
        if self.scenario.get("wireless"):
            raise FairlaneError(f"theory: {flow} has no fixed base RTT, because its path has a Wi-Fi channel")
        best: dict[str, float] = {start: 0.0}
        into: dict[str, list[Link]] = {start: []}
        done: set[str] = set()
        queue = [(0.0, start)]
        while queue:
            cost, node = heapq.heappop(queue)
            if node in done:
                continue
            done.add(node)
            if node == end:
                break
            last = self._into.get((node, end), [])
            for x in (*last, *(x for x in self._on.get(node, ()) if x["to"] != end)):
                to, reached = x["to"], cost + self._cost(x)
                if reached < best.get(to, math.inf) - 1e-12:
                    best[to], into[to] = reached, [x]
                    heapq.heappush(queue, (reached, to))
                elif to not in done and abs(reached - best[to]) <= 1e-12:
                    into[to].append(x)
        if end not in done:
            raise FairlaneError(f"theory: no path for {flow} from {start} to {end}")
        ways: dict[str, set[tuple[tuple[str, str], ...]]] = {start: {()}}

        def alike(node: str) -> set[tuple[tuple[str, str], ...]]:
            if node not in ways:
                ways[node] = {tuple(sorted((*w, (x["rate"], x["delay"])))) for x in into[node] for w in alike(x["from"])}
                if len(ways[node]) > 1:
                    raise FairlaneError(f"theory: {flow} has no unique base RTT, because several different paths are equally short")
            return ways[node]

        alike(end)
        way: list[Link] = []
        while end != start:
            way.append(into[end][0])
            end = way[-1]["from"]
        return way[::-1]


def _rate(link: Link, flow: str) -> float:
    value = quantity("rate", link.get("rate"))
    if value is None or link.get("trace") or link.get("rates"):
        raise FairlaneError(f"theory: the path of {flow} has no constant rate, because that of the link {link['name']} changes")
    return value


def _travel(links: list[Link], size: float, flow: str) -> float:
    return math.fsum(8 * size / _rate(x, flow) + as_seconds(x["delay"]) for x in links)


def _buffer(link: Link, size: float) -> float:
    params: Any = next(iter(link["queue"].values()), {}) if isinstance(link["queue"], Mapping) else {}
    limit = quantity("len", params.get("limit")) if isinstance(params, Mapping) else None
    return math.inf if limit is None else -limit * size if limit < 0 else limit
