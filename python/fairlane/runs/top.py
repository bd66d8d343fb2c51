"""Live statistics of a running simulation for `fairlane top`: queues, flows, and rates since the previous snapshot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..base.format import number, scale, seconds
from ..look.sheet import Sheet

if TYPE_CHECKING:
    from .simulation import Simulation

TOP_SCHEMA = "fairlane.top/1"
BAR = 16
"""Width of a bar in characters."""
_NARROW = 10
"""Width of the bar of a queue."""
_FULL, _EMPTY = "#", "."
_LEAST = 3
"""Least rows of a table, on a screen of any height."""
_AROUND = 9
"""Lines of the screen around the rows: head, headings, notes, keys."""


@dataclass(frozen=True)
class LinkState:
    """State of a link direction."""

    name: str
    packets: int
    bytes: int
    most: int
    """Largest queue length of all snapshots so far."""
    capacity: float
    rate: float | None
    """Bits per second that left the queue since the previous snapshot, or since the warm-up if it ended later; None in the first."""
    drops: int
    marks: int
    average: float | None
    """Average that the queue discipline keeps, such as RED's, in its unit; None without one."""


@dataclass(frozen=True)
class FlowState:
    """State of a flow."""

    name: str
    rate: float | None
    """Bits of data per second that arrived since the previous snapshot; None in the first one."""
    cwnd: int | None
    in_flight: int | None
    srtt: float | None
    delivered: int
    """Bytes of data that arrived since the start."""
    state: str
    """`waits`, `open`, `recovery`..., `sends` or `over`."""


@dataclass(frozen=True)
class Snapshot:
    """State of all links and flows at one instant."""

    time: float
    links: list[LinkState]
    flows: list[FlowState]

    def document(self) -> dict[str, Any]:
        """Returns the snapshot as JSON data."""
        return {"time": self.time, "links": [vars(x) for x in self.links], "flows": [vars(x) for x in self.flows]}


class Top:
    """Takes snapshots of a simulation."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._at: float | None = None
        self._warmup = seconds(sim.scenario["warmup"])
        self._sent: dict[str, int] = {}
        self._got: dict[str, int] = {}
        self._most: dict[str, int] = {}
        self._last: Snapshot | None = None

    def look(self) -> Snapshot:
        """Returns the current state; a second call at the same instant returns the same snapshot."""
        sim = self._sim
        if self._last is not None and self._at == sim.time:
            return self._last
        span = of_links = None if self._at is None else sim.time - self._at
        if self._at is not None and self._at < self._warmup <= sim.time:
            # Counters of links restart at the end of the warm-up.
            of_links, self._sent = sim.time - self._warmup, dict.fromkeys(sim.links, 0)
        links, flows = [], []
        for number_, name in enumerate(sim.links):
            row = sim._core.queue(number_)
            queue, link = row["queue"], row["link"]
            self._most[name] = max(self._most.get(name, 0), queue["packets"])
            rate = _rate(link["sent"], self._sent.get(name), of_links)
            self._sent[name] = link["sent"]
            links.append(
                LinkState(
                    name,
                    queue["packets"],
                    queue["bytes"],
                    self._most[name],
                    link["rate"],
                    rate,
                    link["drops"],
                    link["marks"],
                    row.get("gauge", {}).get("avg"),
                )
            )
        for number_, name in enumerate(sim.flows):
            row = sim._core.flow(number_)
            flow, of = row["flow"], row["transport"]
            rate = _rate(flow["delivered"], self._got.get(name), span)
            self._got[name] = flow["delivered"]
            state = "over" if flow["completed"] is not None else "waits" if flow["started"] is None else of.get("state", "sends")
            flows.append(FlowState(name, rate, of.get("cwnd"), of.get("in_flight"), of.get("srtt"), flow["delivered"], state))
        self._at = sim.time
        self._last = Snapshot(sim.time, links, flows)
        return self._last


def _rate(now: int, before: int | None, span: float | None) -> float | None:
    return None if before is None or not span else 8 * (now - before) / span


def bar(share: float, width: int = BAR) -> str:
    """Returns a bar of `width` characters."""
    full = round(width * min(1.0, max(0.0, share)))
    return _FULL * full + _EMPTY * (width - full)


def sheets(look: Snapshot, rows: int | None = None) -> list[Sheet]:
    """Returns the tables of links and flows, in the order of the scenario; `rows`: lines of the screen (None: no limit).

    Links are left out while no packet has waited for them, except the first of the slowest.
    """
    slowest = min((x.capacity for x in look.links), default=0.0)
    first = next((x.name for x in look.links if x.capacity == slowest), "")
    busy = [x for x in look.links if x.most or x.drops or x.name == first]
    height = None if rows is None else max(2 * _LEAST, rows - _AROUND)
    few = len(busy) if height is None else max(_LEAST, min(len(busy), height - min(len(look.flows), height // 2)))
    many = len(look.flows) if height is None else max(_LEAST, height - min(few, len(busy)))
    links = _most(busy, few, lambda x: (x.most, x.drops))
    flows = _most(look.flows, many, lambda x: x.delivered)
    return [_links(links, _left(len(busy), len(links), "queue"), len(look.links) - len(busy)), _flows(flows, look.flows)]


def _most(rows: Sequence[Any], count: int, key: Callable[[Any], Any]) -> list[Any]:
    """Returns the `count` largest rows so far, in their order: rows keep their places."""
    if len(rows) <= count:
        return list(rows)
    kept = sorted(range(len(rows)), key=lambda i: (key(rows[i]), -i))[-count:]
    return [rows[i] for i in sorted(kept)]


def _left(of: int, shown: int, what: str) -> str:
    more = of - shown
    return f"{more} more {what}{'s' * (more != 1)} not shown" if more else ""


def _links(links: list[LinkState], left: str, idle: int) -> Sheet:
    per, factor = _unit([x.capacity for x in links])
    averages = any(x.average is not None for x in links)
    heads = ["queue", "packets", *(["average"] if averages else []), "of peak", per, "utilisation", "drops", "marks"]
    rows = [
        [x.name, str(x.packets), *([_average(x.average)] if averages else []), bar(x.packets / x.most if x.most else 0.0, _NARROW),
         _number(x.rate, factor), "" if x.rate is None or not x.capacity else f"{100 * x.rate / x.capacity:.0f} %", str(x.drops),
         str(x.marks)]
        for x in links
    ]  # fmt: skip
    empty = f"{idle} link{'s' * (idle != 1)} without a queue not shown" if idle else ""
    return Sheet(heads, rows, styles={heads.index("of peak"): "cyan"}, note="; ".join(filter(None, (left, empty))))


def _average(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _flows(flows: list[FlowState], every: list[FlowState]) -> Sheet:
    top = max((x.rate or 0.0 for x in every), default=0.0)
    per, factor = _unit([top])
    rows = [
        [x.name, _number(x.rate, factor), bar((x.rate or 0.0) / top if top else 0.0), "" if x.cwnd is None else f"{x.cwnd / 1000:.1f}",
         "" if x.srtt is None else f"{x.srtt * 1000:.1f}", x.state]
        for x in flows
    ]  # fmt: skip
    return Sheet(["flow", per, "of fastest flow", "cwnd kB", "SRTT ms", "TCP state"], rows, styles={2: "green"},
                 note=_left(len(every), len(flows), "flow"))  # fmt: skip


def _unit(rates: Sequence[float]) -> tuple[str, float]:
    factor, per = scale("bit/s", max(rates, default=0.0))
    return per, factor


def _number(rate: float | None, factor: float) -> str:
    return "" if rate is None else number(rate * factor, 3)
