"""Listeners of a simulation: events one at a time as `Event`, or in batches as tables."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from ..errors import FairlaneError

if TYPE_CHECKING:
    import polars as pl

    from .simulation import Simulation

ROW = struct.Struct("<5Q5I4B")
"""Row of the core: time, packet, seq, ack, queue_bytes, queue_packets, flow, link, length, payload, kind, flags, field, detail."""
FIELDS = (
    "time_ps",
    "packet",
    "seq",
    "ack",
    "queue_bytes",
    "queue_packets",
    "flow",
    "link",
    "length",
    "payload",
    "event",
    "flags",
    "field",
    "detail",
)
NONE = 2**32 - 1
_NO_THRESHOLD = 2**64 - 1
_TIME = "time_ps"
_SOURCES = {
    "cwnd": "seq", "ssthresh": "ack", "value": "seq", "ecn": "field", "back": "field",
    "reason": "detail", "state": "detail", "gauge": "detail",
}  # fmt: skip
"""Fields of a row that hold columns of other names."""
_NARROW = ("length", "payload", "queue_packets")
"""Columns of 32 bits."""


class Event(NamedTuple):
    """Event of a simulation, with the columns of event traces; columns that do not apply are None.

    `docs/guides/traces.md` describes the columns.
    """

    time: float
    event: str
    flow: str | None = None
    link: str | None = None
    packet: int | None = None
    back: bool | None = None
    length: int | None = None
    ecn: str | None = None
    queue_packets: int | None = None
    queue_bytes: int | None = None
    reason: str | None = None
    seq: int | None = None
    ack: int | None = None
    payload: int | None = None
    flags: str | None = None
    cwnd: int | None = None
    ssthresh: int | None = None
    state: str | None = None
    gauge: str | None = None
    value: float | None = None
    time_ps: int = 0

    def __repr__(self) -> str:
        known = (f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True) if value is not None and name != _TIME)
        return f"Event({', '.join(known)})"


class Listener:
    """Registered listener that `Simulation.on` returns; `off()` or the end of a `with` block removes it."""

    def __init__(self, simulation: Simulation, number: int, heard: Callable[[Any], object], batch: bool, what: str) -> None:
        self._simulation, self._number, self._heard, self._batch, self._what = simulation, number, heard, batch, what

    @property
    def on(self) -> bool:
        """True while the listener is registered."""
        return self in self._simulation.listeners

    def off(self) -> None:
        """Removes the listener; a second call has no effect."""
        if self.on:
            self._simulation.off(self)

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: object) -> None:
        self.off()

    def __repr__(self) -> str:
        return f"<Listener to {self._what}{', in batches' if self._batch else ''}{'' if self.on else ', off'}>"


class Listeners:
    """Listeners of a simulation with their pending events."""

    def __init__(self, simulation: Simulation, core: _core.Simulation) -> None:
        self._simulation, self._core = simulation, core
        self.listeners: dict[int, Listener] = {}
        self._left: list[tuple[int, Any]] = []
        self._delivering = False
        self._texts: dict[str, list[str]] = {}

    def on(
        self,
        events: Iterable[str],
        flows: Iterable[str],
        links: Iterable[str],
        span: tuple[str | None, str | None],
        batch: bool,
        heard: Any,
    ) -> Listener:
        """Adds a listener; see `Simulation.on`."""
        names = list(events), list(flows), list(links)
        for name in (n for own in names for n in own):
            if not isinstance(name, str):
                raise FairlaneError(f"{name!r} is not a name: write text, such as 'drop'")
        for time in span:
            if time is not None and not isinstance(time, str):
                raise FairlaneError(f"the time {time!r} has no unit: write it as text, such as '10s'")
        if not callable(heard):
            raise FairlaneError(f"{heard!r} is not callable: give a function that takes {'a batch' if batch else 'an event'}")
        if batch:
            from ..base.extras import need

            need("tables")
        number = self._core.listen((*names, *span), not batch)
        listener = Listener(self._simulation, number, heard, batch, ", ".join(names[0]) or "all events")
        self.listeners[number] = listener
        return listener

    def off(self, listener: Listener) -> None:
        """Removes a listener."""
        if self.listeners.get(listener._number) is not listener:
            raise FairlaneError(f"{listener!r} is not registered with this simulation")
        del self.listeners[listener._number]
        self._core.leave(listener._number)

    def advance(self, to: int) -> None:
        """Advances to a time in picoseconds and delivers events on the way."""
        if self._delivering:
            raise FairlaneError("a listener cannot advance its own run: advance a branch, or advance after the listener has returned")
        self._delivering = True
        try:
            self._deliver()
            while True:
                there = self._core.advance(to)
                self._left += self._core.told()
                if self._left:
                    self._deliver()
                elif not self._take() and there:
                    break
        finally:
            self._delivering = False

    def _take(self) -> bool:
        self._left += self._core.batches()
        taken = bool(self._left)
        self._deliver()
        return taken

    def _deliver(self) -> None:
        while self._left:
            number, rows = self._left.pop(0)
            if listener := self.listeners.get(number):
                listener._heard(self._frame(rows) if listener._batch else self._event(rows))

    def _text(self, column: str, number: int) -> str:
        own = self._texts.get(column, ())
        if number >= len(own):
            # Gauges are numbered on first use.
            self._texts = self._core.texts() or self._texts
            own = self._texts[column]
        return own[number]

    def _event(self, row: bytes) -> Event:
        ps, packet, seq, ack, queue_bytes, queue_packets, flow, link, length, payload, kind, flags, field, detail = ROW.unpack(row)
        has = _has(kind)
        fields: dict[str, Any] = {"time": ps / 1e12, "event": self._text("event", kind), "time_ps": ps}
        if flow != NONE:
            fields["flow"] = self._text("flow", flow)
        if link != NONE:
            fields["link"] = self._text("link", link)
        if "packet" in has:
            fields |= {"packet": packet, "back": bool(field & 4), "length": length, "ecn": self._text("ecn", field & 3)}
        if "queue_packets" in has:
            fields |= {"queue_packets": queue_packets, "queue_bytes": queue_bytes}
        if "seq" in has:
            fields |= {"seq": seq, "ack": ack, "payload": payload, "flags": self._text("flags", flags)}
        if "reason" in has:
            fields["reason"] = self._text("reason", detail)
        if "cwnd" in has:
            fields |= {"cwnd": seq, "ssthresh": None if ack == _NO_THRESHOLD else ack}
        if "state" in has:
            fields["state"] = self._text("state", detail)
        if "gauge" in has:
            fields |= {"gauge": self._text("gauge", detail), "value": struct.unpack("<d", struct.pack("<Q", seq))[0]}
        return Event(**fields)

    def _frame(self, rows: bytes) -> pl.DataFrame:
        self._texts = self._core.texts() or self._texts
        return frame(rows, self._texts)


@cache
def _columns() -> dict[str, int]:
    return dict(_core.event_columns())


@cache
def _has(kind: int) -> frozenset[str]:
    return frozenset(name for name, kinds in _columns().items() if kinds >> kind & 1)


def frame(rows: bytes, texts: dict[str, list[str]]) -> pl.DataFrame:
    """Converts rows of the core to a table with the columns of event traces."""
    import numpy as np
    import polars as pl

    raw = np.frombuffer(rows, np.dtype([(name, f"<u{size}") for name, size in zip(FIELDS, (8,) * 5 + (4,) * 5 + (1,) * 4, strict=True)]))
    kind = np.ascontiguousarray(raw["event"])
    there = np.flatnonzero(np.bincount(kind, minlength=16)).tolist()
    masks: dict[int, Any] = {}
    series: list[pl.Series] = [pl.Series("time", raw[_TIME] / 1e12)]
    for name, kinds in _columns().items():
        own = sum(1 << k for k in there if kinds >> k & 1)
        dtype: Any = (
            pl.String if name in texts else {"value": pl.Float64, "back": pl.Boolean}.get(name, pl.Int32 if name in _NARROW else pl.Int64)
        )
        if not own:
            # No event of this batch has the column.
            series.append(pl.Series([None], dtype=dtype).new_from_index(0, len(raw)).alias(name))
            continue
        if own not in masks:
            masks[own] = None if own == sum(1 << k for k in there) else (np.uint16(own) >> kind & 1).astype(bool)
        has = masks[own]
        values = np.ascontiguousarray(raw[_SOURCES.get(name, name)])
        none = NONE if name in ("flow", "link") else _NO_THRESHOLD if name == "ssthresh" else None
        if none is not None and not (known := values != none).all():
            has = known if has is None else has & known
        if name in texts:
            numbers = (values & 3 if name == "ecn" else values).astype(np.uint32)
            # One text per number, and None as the last entry.
            words = [*texts[name], None]
            places = numbers if has is None else np.where(has, numbers, np.uint32(len(words) - 1))
            series.append(pl.Series(words, dtype=dtype).gather(pl.Series(places)).alias(name))
            continue
        if name == "value":
            column = pl.Series(name, values.view("<f8"))
        elif name == "back":
            column = pl.Series(name, (values & 4).astype(bool))
        else:
            column = pl.Series(name, values.astype(np.int32 if dtype == pl.Int32 else np.int64))
        if has is not None:
            column = column.zip_with(pl.Series(has), pl.Series([None], dtype=dtype).new_from_index(0, len(raw)))
        series.append(column.alias(name))
    time_ps = series.pop(1)
    return pl.DataFrame([*series, time_ps])


def names(value: str | Iterable[str] | None) -> Iterator[str]:
    """Yields the names of one name, of several, or of a text with commas."""
    if value is None:
        return
    for one in [value] if isinstance(value, str) else value:
        if isinstance(one, str):
            yield from (part.strip() for part in one.split(","))
        else:
            yield one
