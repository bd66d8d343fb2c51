"""Live statistics of a running simulation for `fairlane top`: queues, flows, and rates since the previous snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..base.format import number, scale
from ..look.sheet import Sheet

if TYPE_CHECKING:
    from .simulation import Simulation

TOP_SCHEMA = "fairlane.top/1"
BAR = 16
"""Width of a bar in characters."""
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
    """Bits per second that left the queue since the previous snapshot; None in the first one."""
    drops: int
    marks: int


@dataclass(frozen=True)
class FlowState:
    """State of a flow."""

    name: str
    rate: float | None
    """Bits of data per second that arrived since the previous snapshot; None in the first one."""
    cwnd: int | None
    in_flight: int | None
    srtt: float | None
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
        self._sent: dict[str, int] = {}
        self._got: dict[str, int] = {}
        self._most: dict[str, int] = {}
        self._last: Snapshot | None = None

    def look(self) -> Snapshot:
        """Returns the current state; a second call at the same instant returns the same snapshot."""
        sim = self._sim
        if self._last is not None and self._at == sim.time:
            return self._last
        span = None if self._at is None else sim.time - self._at
        links, flows = [], []
        for number_, name in enumerate(sim.links):
            row = sim._core.queue(number_)
            queue, link = row["queue"], row["link"]
            self._most[name] = max(self._most.get(name, 0), queue["packets"])
            rate = _rate(link["sent"], self._sent.get(name), span)
            self._sent[name] = link["sent"]
            links.append(
                LinkState(name, queue["packets"], queue["bytes"], self._most[name], link["rate"], rate, link["drops"], link["marks"])
            )
        for number_, name in enumerate(sim.flows):
            row = sim._core.flow(number_)
            flow, of = row["flow"], row["transport"]
            rate = _rate(flow["delivered"], self._got.get(name), span)
            self._got[name] = flow["delivered"]
            state = "over" if flow["completed"] is not None else "waits" if flow["started"] is None else of.get("state", "sends")
            flows.append(FlowState(name, rate, of.get("cwnd"), of.get("in_flight"), of.get("srtt"), state))
        self._at = sim.time
        self._last = Snapshot(sim.time, links, flows)
        return self._last


def _rate(now: int, before: int | None, span: float | None) -> float | None:
    # Counters of links restart at the end of the warm-up.
    return None if before is None or not span or now < before else 8 * (now - before) / span


def bar(share: float, width: int = BAR) -> str:
    """Returns a bar of `width` characters."""
    full = round(width * min(1.0, max(0.0, share)))
    return _FULL * full + _EMPTY * (width - full)


def sheets(look: Snapshot, rows: int | None = None) -> list[Sheet]:
    """Returns the tables of links and flows; `rows`: lines of the screen (None: no limit)."""
    busy = sorted(look.links, key=lambda x: (-x.packets, -(x.rate or 0.0), -x.most))
    busy = [x for x in busy if x.most or x.rate or x.drops] or busy[:1]
    flows = look.flows if rows is None else sorted(look.flows, key=lambda x: -(x.rate or 0.0))
    height = None if rows is None else max(2 * _LEAST, rows - _AROUND)
    few = len(busy) if height is None else max(_LEAST, min(len(busy), height - min(len(flows), height // 2)))
    many = len(flows) if height is None else max(_LEAST, height - min(few, len(busy)))
    return [_links(busy, few), _flows(flows, many)]


def _left(all_: Sequence[Any], shown: int, what: str) -> str:
    return f"{len(all_) - shown} more {what} not shown" if len(all_) > shown else ""


def _links(links: list[LinkState], shown: int) -> Sheet:
    per, factor = _unit([x.capacity for x in links])
    rows = [
        [x.name, str(x.packets), bar(x.packets / x.most if x.most else 0.0), _number(x.rate, factor),
         "" if x.rate is None or not x.capacity else f"{100 * x.rate / x.capacity:.0f} %", str(x.drops), str(x.marks)]
        for x in links[:shown]
    ]  # fmt: skip
    return Sheet(["queue", "packets", "of peak", per, "utilisation", "drops", "marks"], rows, styles={2: "cyan"},
                 note=_left(links, shown, "queues"))  # fmt: skip


def _flows(flows: list[FlowState], shown: int) -> Sheet:
    top = max((x.rate or 0.0 for x in flows), default=0.0)
    per, factor = _unit([top])
    rows = [
        [x.name, _number(x.rate, factor), bar((x.rate or 0.0) / top if top else 0.0), "" if x.cwnd is None else f"{x.cwnd / 1000:.1f}",
         "" if x.srtt is None else f"{x.srtt * 1000:.1f}", x.state]
        for x in flows[:shown]
    ]  # fmt: skip
    return Sheet(["flow", per, "of fastest flow", "cwnd kB", "SRTT ms", "TCP state"], rows, styles={2: "green"},
                 note=_left(flows, shown, "flows"))  # fmt: skip


def _unit(rates: Sequence[float]) -> tuple[str, float]:
    factor, per = scale("bit/s", max(rates, default=0.0))
    return per, factor


def _number(rate: float | None, factor: float) -> str:
    return "" if rate is None else number(rate * factor, 3)
