"""Ramachendra 2014: what ModRED and the round robin do packet by packet, read from captured packets of small networks."""

from __future__ import annotations

import functools
import struct
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairlane.papers import Picture, Row, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MSS = 512
WINDOW = 16384
"""Window advertised by the receiver of `clamp.toml`, bytes."""
SETTLED = 0.5
"""Second from which the standing queue of `clamp.toml` is there."""
_MODRED = "links.bottleneck.queue.modred"
CASES: dict[str, dict[str, Any]] = {
    "below_min": {f"{_MODRED}.limit": "9000p", f"{_MODRED}.min": "4000p", f"{_MODRED}.out_max": "5000p", f"{_MODRED}.in_max": "5000p"},
    "between": {},
    "above_max": {
        f"{_MODRED}.min": "1p", f"{_MODRED}.out_max": "2p", f"{_MODRED}.in_max": "2p", "flows.stream.source.cbr.rate": "20Mbit/s",
    },
    "zero_window": {"flows.ftp.tcp.receive_window": "1B"},
}  # fmt: skip
"""Changes to `clamp.toml`, whose average lies between the thresholds."""


@dataclass(frozen=True)
class Seen:
    """A captured IPv4 packet: time in seconds, source port, window (TCP, else `None`), and whether it acknowledges to its reader."""

    time: float
    port: int
    window: int | None
    syn: bool
    payload: int


def captured(path: Path) -> Iterator[Seen]:
    """The packets of the first interface of a pcapng file of ours: what was on the wire."""
    data, at = path.read_bytes(), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            interface, high, low, size = struct.unpack_from("<IIII", data, at + 8)
            if interface == 0:
                yield _packet(((high << 32) | low) / 1e9, data[at + 28 : at + 28 + size])
        at += length


def _packet(time: float, frame: bytes) -> Seen:
    ip = frame[14:]
    whole, head = struct.unpack_from(">H", ip, 2)[0], 4 * (ip[0] & 15)
    port = struct.unpack_from(">H", ip, head)[0]
    if ip[9] != 6:
        return Seen(time, port, None, False, whole - head - 8)
    offset, flags, window = struct.unpack_from(">BBH", ip, head + 12)
    return Seen(time, port, window, bool(flags & 2), whole - head - 4 * (offset >> 4))


def _run(scenario: Path, what: str, sets: Mapping[str, Any]) -> tuple[Any, list[Seen]]:
    from fairlane import Pcap, run

    with tempfile.TemporaryDirectory() as folder:
        result = run(scenario, sets=dict(sets), pcap=Pcap(what, folder=folder))
        return result, list(captured(Path(result.captures[0])))


def _row(case: str, metric: str, value: float, unit: str) -> Row:
    return Row((("case", case),) if case else (), metric, float(value), unit)


@functools.cache
def modred_unit(folder: Path) -> list[Row]:
    """The table `modred_unit`: windows of the acknowledgments that reach the sender, and drops, in four states of the queue."""
    rows = []
    for case, sets in CASES.items():
        result, packets = _run(folder / "clamp.toml", "ftp", sets)
        own = 1 if case == "zero_window" else WINDOW
        acks = [p for p in packets if p.time > SETTLED and p.payload == 0 and not p.syn and p.window is not None and p.port < 49152]
        link = {c: result.value(c, link="bottleneck").mean for c in ("drops_early", "drops_forced", "drops_overflow", "queue_max")}
        rows += [
            _row(case, "rewritten", sum(p.window != own for p in acks), "packets"),
            _row(case, "acknowledgments", len(acks), "packets"),
            _row(case, "early_drops", link["drops_early"] + link["drops_forced"], "packets"),
        ]
        if acks:
            rows.append(_row(case, "window_bytes", max(p.window or 0 for p in acks), "byte"))
        if case == "between":
            rows.append(_row(case, "mss_bytes", MSS, "byte"))
        if case == "above_max":  # thresholds of 2: an arrival that finds 3 waiting has to go, so there are never 4
            rows.append(_row(case, "dropped", link["drops_forced"] > 0 and link["drops_overflow"] == 0 and link["queue_max"] <= 3, ""))
    return rows


@functools.cache
def turns(folder: Path) -> tuple[list[int], float]:
    """The queues in the order in which they were served while all three were busy, and the use of the link in percent."""
    result, packets = _run(folder / "turns.toml", "bottleneck", {})
    first = min(p.port for p in packets)
    served = [p.port - first for p in packets if p.time > 0.1]
    return served, 100 * (result.value("utilisation", link="bottleneck").mean or 0.0)


def rr_unit(folder: Path) -> list[Row]:
    """The table `rr_unit`: over any stretch of time, by how many packets the service of two busy queues differs at most."""
    served, use = turns(folder)
    counts: Counter[int] = Counter()
    extremes: dict[tuple[int, int], list[int]] = {}
    for q in served:  # the difference over a stretch is that of two running differences
        counts[q] += 1
        for a, b in ((0, 1), (0, 2), (1, 2)):
            extremes.setdefault((a, b), [0]).append(counts[a] - counts[b])
    most = max(max(xs) - min(xs) for xs in extremes.values())
    rounds = [tuple(served[i : i + 3]) for i in range(served.index(0), len(served) - 2, 3)]
    in_order = 100 * sum(r == (0, 1, 2) for r in rounds) / len(rounds)
    return [
        _row("", "max_service_difference_backlogged", most, "packets"),
        _row("", "rounds in order of precedence", in_order, "percent"),
        _row("", "rounds", len(rounds), "count"),
        _row("", "utilization", use, "percent"),
    ]


@dataclass(frozen=True)
class Turns:
    """Which queue sends, packet by packet."""

    served: list[int]
    size = (4.4, 1.9)
    margins = (0.95, 0.46, 0.2, 0.3)

    def draw(self, figure: Figure, ax: Axes) -> None:
        """Draws the panel."""
        xs = range(1, len(self.served) + 1)
        ax.plot(xs, self.served, color=theme.INK, lw=0.5, alpha=0.4)
        for q in sorted(set(self.served)):
            ax.plot(
                [x for x, s in zip(xs, self.served, strict=True) if s == q], [q] * self.served.count(q), "s", color=theme.hue("", q), ms=6
            )
        ax.set_xticks(range(1, len(self.served) + 1))
        ax.set_yticks([0, 1, 2], ["first queue", "second", "third"])
        ax.set_ylim(2.5, -0.5)
        ax.grid(visible=False)
        ax.set_title("Round robin with three busy queues")
        ax.set_xlabel("packet on the link")


def turned(folder: Path, title: str) -> Picture:
    """The first six rounds."""
    served, _use = turns(folder)
    caption = "Each mark is a packet; while all three queues have packets, each sends one a round, in the same order."
    return Picture("fig4.1", title, caption, [Turns(served[:18])])
