"""Current state of the flows and links of a running simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..base.format import number
from ..errors import FairlaneError, suggest

if TYPE_CHECKING:
    from .simulation import Simulation

T = TypeVar("T")
_SECONDS = {"srtt", "rttvar", "rto", "min_rtt", "rto_at", "pace_at", "probe_at", "delay"}
_BYTES = {"cwnd", "ssthresh", "in_flight", "acked", "sent", "bytes", "mss"}


class Names(Mapping[str, T], Generic[T]):
    """Mapping by name; an unknown name is an error with a suggestion."""

    def __init__(self, names: Sequence[str], make: Callable[[str, int], T], what: str) -> None:
        self._names, self._make, self._what = names, make, what

    def __getitem__(self, name: str) -> T:
        try:
            return self._make(name, self._names.index(name))
        except ValueError:
            raise suggest(str(name), self._names, self._what) from None

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<{len(self._names)} {self._what}s: {', '.join(self._names[:8])}{', ...' if len(self._names) > 8 else ''}>"


class Values(Mapping[str, Any]):
    """Values at one instant, by attribute or by name. `gauges`: the internal variables of the algorithm, also readable by attribute."""

    def __init__(self, title: str, values: Mapping[str, Any], gauges: Mapping[str, float]) -> None:
        self._title, self._values = title, dict(values)
        self.gauges: dict[str, float] = dict(gauges)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._values:
            return self._values[name]
        if name in self.gauges:
            return self.gauges[name]
        raise AttributeError(f"{self._title} has no {name!r}; it has {', '.join(self)}")

    def __getitem__(self, name: str) -> Any:
        if name not in self._values and name not in self.gauges:
            raise suggest(name, list(self), "value")
        return self._values[name] if name in self._values else self.gauges[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._values
        yield from (g for g in self.gauges if g not in self._values)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in self._values or name in self.gauges

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def __repr__(self) -> str:
        width = max((len(n) for n in self), default=0)
        return "\n".join([self._title, *(f"  {name:{width}}  {_shown(name, self[name])}" for name in self)])


class Queue(Values):
    """Queue at one instant: `packets`, `bytes`, and the gauges of its discipline."""

    def __init__(self, title: str, row: Mapping[str, Mapping[str, Any]], waiting: Callable[[], dict[str, tuple[int, int]]]) -> None:
        super().__init__(title, row["queue"], row.get("gauge", {}))
        self._waiting = waiting

    @property
    def flows(self) -> dict[str, tuple[int, int]]:
        """Queued packets and bytes by flow, in the order of the flows; acknowledgments count for their flow."""
        return self._waiting()

    @property
    def classes(self) -> dict[int, dict[str, float]]:
        """Gauges of a scheduler by class; empty for a queue without classes."""
        found: dict[int, dict[str, float]] = {}
        for name, value in self.gauges.items():
            head, _, inner = name.partition("_")
            if head.startswith("class") and head[5:].isdecimal() and inner:
                found.setdefault(int(head[5:]), {})[inner] = value
        return found


class _Part:
    def __init__(self, sim: Simulation, name: str, number: int) -> None:
        self._sim, self.name, self._number = sim, name, number

    _table, _key = "", ""

    @property
    def metrics(self) -> dict[str, float]:
        """Metrics of the result so far."""
        from .tables import LABELS, columns

        row = columns(self._sim.result(), self._table)[0]
        names = list(row[self._key])
        if self.name not in names:
            raise FairlaneError(f"flow {self.name!r} does not exist yet (only its room is reserved): raise its `count`")
        at = names.index(self.name)
        return {k: v[at] for k, v in row.items() if k not in LABELS}


class Flow(_Part):
    """Flow of a simulation; each access reads the current state."""

    _table, _key = "flows", "flow"

    def _row(self) -> dict[str, dict[str, Any]]:
        return self._sim._core.flow(self._number)

    @property
    def transport(self) -> Values:
        """State of the sender: of TCP the connection (see `tcp`), of UDP the counters and the gauges of a rate control."""
        row = self._row()
        return Values(f"{self.name} at {self._sim.time:g} s", row["transport"], row.get("gauge", {}))

    @property
    def tcp(self) -> Values:
        """State of the TCP connection: cwnd, ssthresh, state, srtt, rto, in_flight, the scoreboard, and gauges of the congestion control.

        Windows are in bytes, times in seconds, `rto_at` and the like are instants.
        """
        values = self.transport
        if "connection" not in values:
            raise FairlaneError(f"flow {self.name!r} does not use TCP: use its `transport`")
        return values

    @property
    def started(self) -> float | None:
        """Time of the first write in seconds; None before it."""
        at: float | None = self._row()["flow"]["started"]
        return at

    @property
    def completed(self) -> float | None:
        """Time of the last delivery in seconds; None before it."""
        at: float | None = self._row()["flow"]["completed"]
        return at

    @property
    def delivered(self) -> int:
        """Payload bytes delivered to the receiving application."""
        n: int = self._row()["flow"]["delivered"]
        return n

    def __repr__(self) -> str:
        return repr(self.transport)


class Link(_Part):
    """Link direction of a simulation; each access reads the current state."""

    _table, _key = "links", "link"

    def _row(self) -> dict[str, dict[str, Any]]:
        return self._sim._core.queue(self._number)

    @property
    def queue(self) -> Queue:
        """Queue of this link direction."""
        return Queue(f"queue of {self.name} at {self._sim.time:g} s", self._row(), self._waiting)

    def _waiting(self) -> dict[str, tuple[int, int]]:
        found = self._sim._core.waiting(self._number)
        if found is None:
            raise FairlaneError(f"the queue of {self.name} does not report packets by flow")
        return {self._sim._flows[flow]: (packets, size) for flow, packets, size in found}

    @property
    def rate(self) -> float:
        """Rate in bit/s; of a trace the mean rate."""
        rate: float = self._row()["link"]["rate"]
        return rate

    @property
    def delay(self) -> float:
        """Propagation delay in seconds of packets that enter the link now."""
        delay: float = self._row()["link"]["delay"]
        return delay

    @property
    def in_flight(self) -> int:
        """Packets on the link, the one in transmission included."""
        n: int = self._row()["link"]["in_flight"]
        return n

    @property
    def sent(self) -> int:
        """Bytes that have left the queue since the warm-up."""
        n: int = self._row()["link"]["sent"]
        return n

    @property
    def drops(self) -> int:
        """Packets dropped by the queue since the warm-up."""
        n: int = self._row()["link"]["drops"]
        return n

    @property
    def marks(self) -> int:
        """Packets marked by the queue since the warm-up."""
        n: int = self._row()["link"]["marks"]
        return n

    def __repr__(self) -> str:
        return repr(self.queue)


def _shown(name: str, value: Any) -> str:
    if value is None:
        return "none yet"
    if isinstance(value, str):
        return value
    unit = " s" if name in _SECONDS else " B" if name in _BYTES else ""
    return (str(value) if isinstance(value, int) else number(value)) + unit
