"""The figures of Ramachendra et al. 2014: every metric against the load, losses, drop curves, the queue over time, networks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairlane.papers import Picture, Results, Tree, charts, drawings, row_of, series, theme

from . import air
from .net import LIMITS, LOADS, NETWORKS, QUEUES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


METRICS = {
    "throughput": "kbit/s", "utilization": "percent", "loss_rate": "percent", "mean_queue": "packets", "mean_time_in_queue": "ms",
    "one_way_delay": "ms", "jitter": "ms", "sent": "packets", "received": "packets", "enqueued": "packets", "dequeued": "packets",
    "dropped": "packets",
}  # fmt: skip
"""All metrics of the matrix with their units."""

_Drawn = tuple[str, str, str, float]
DRAWN: Sequence[tuple[str, str, tuple[_Drawn, _Drawn]]] = (
    ("use", "Throughput: what reaches all receivers together, headers included. Utilization: how much of the bottleneck is used.", (
        ("throughput", "throughput", "Mbit/s", 1e-3), ("utilization", "link utilization", "%", 1.0))),
    ("loss", "Drop rate: of the packets that come to the bottleneck, the share that is dropped. Packets dropped: how many that are.", (
        ("loss_rate", "drop rate", "%", 1.0), ("dropped", "packets dropped", "thousands", 1e-3))),
    ("queue", "Mean queue: packets that wait in all queues, over time. Time in queue: how long a packet waits there.", (
        ("mean_queue", "mean queue", "packets", 1.0), ("mean_time_in_queue", "time in queue", "ms", 1.0))),
    ("delay", "Delay: from the sender's own queue to the receiver. Jitter: how much it differs between successive packets of a sender.", (
        ("one_way_delay", "one-way delay", "ms", 1.0), ("jitter", "jitter", "ms", 1.0))),
    ("packets", "Received: packets that come to the bottleneck. Enqueued: those taken in; the packets dequeued make the same curves.", (
        ("received", "packets received", "thousands", 1e-3), ("enqueued", "packets enqueued", "thousands", 1e-3))),
)  # fmt: skip
"""The pictures of each network: name, caption, and two metrics, each with its words, unit and scale."""


def matrix(r: Results) -> list[Picture]:
    """Each metric against the load: two to a picture, a field a queue limit, a curve a discipline."""
    pictures = []
    for n in NETWORKS:
        if all(r.has(network=n, load=x, queue=q, aqm=a, traffic="bulk") for x in LOADS for q in LIMITS for a in QUEUES):
            for name, words, metrics in DRAWN:
                panels = [
                    AgainstLoad(f"{n} nodes: {title}", f"{title}, {unit}", _fields(r, n, m, scale)) for m, title, unit, scale in metrics
                ]
                pictures.append(Picture(f"matrix-{n}-{name}", f"{n} nodes", words, [*panels]))
    return pictures


def _fields(r: Results, n: int, metric: str, scale: float) -> dict[int, list[charts.Curve]]:
    """The curves of each queue limit."""
    fields: dict[int, list[charts.Curve]] = {}
    for q in LIMITS:
        fields[q] = []
        for a in QUEUES:
            combinations = [r.combination(network=n, load=x, queue=q, aqm=a, traffic="bulk") for x in LOADS]
            rows = [row_of({}, metric, [scale * x for x in r.samples(c, metric)], "") for c in combinations]
            fields[q].append(charts.Curve(a, LOADS, [x.value for x in rows], [x.low for x in rows], [x.high for x in rows]))
    return fields


@dataclass(frozen=True)
class AgainstLoad:
    """Plots a metric by load, one panel for each queue limit, all to one scale."""

    title: str
    y: str
    fields: Mapping[int, Sequence[charts.Curve]]
    size = (4.2, 2.6)
    margins = (0.66, 0.46, 0.85, 0.48)

    def draw(self, figure: Figure, ax: Axes) -> None:
        """Draws the panel."""
        step = len(LOADS) + 0.4
        begins = [step * g for g in range(len(self.fields))]
        ends = []
        for i, name in enumerate(QUEUES):
            colour = theme.hue(name, i)
            xs: list[float] = []
            ys: list[float] = []
            bars: list[tuple[float, float, float]] = []
            for begin, curves in zip(begins, self.fields.values(), strict=True):
                c = curves[i]
                xs += [*(begin + k for k in range(len(c.x))), float("nan")]
                ys += [*(float("nan") if y is None else y for y in c.ours), float("nan")]
                bars += [(begin + k, a, b) for k, (a, b) in enumerate(zip(c.low, c.high, strict=True)) if a is not None and b is not None]
            ax.plot(xs, ys, marker=charts.MARKS[i], ms=3.6, color=colour, lw=1.4, zorder=4)
            if bars:
                ax.vlines([x for x, _, _ in bars], [a for _, a, _ in bars], [b for _, _, b in bars], color=colour, lw=1.0, zorder=3)
            ends.append(((xs[-2], ys[-2]), name, colour))
        for begin, limit in zip(begins, self.fields, strict=True):
            middle = begin + (len(LOADS) - 1) / 2
            ax.annotate(
                f"{limit} packets",
                (middle, 1.0),
                (0, 3),
                ("data", "axes fraction"),
                "offset points",
                ha="center",
                fontsize=8.5,
                color=theme.MUTED,
            )
            if begin:
                ax.axvline(begin - 0.7, color=theme.GRID, lw=1.2, zorder=1)
        ax.set_ylim(*charts.span([c for curves in self.fields.values() for c in curves]))
        ax.set_xlim(-0.4, begins[-1] + len(LOADS) - 0.6)
        named = [f"{x:g}" if x in (LOADS[0], LOADS[-1]) else "" for x in LOADS]
        ax.set_xticks([b + k for b in begins for k in range(len(LOADS))], named * len(begins))
        ax.grid(axis="x", visible=False)
        ax.tick_params(length=3)
        ax.set_title(self.title, pad=16)
        ax.set_xlabel(f"load, % ({', '.join(f'{x:g}' for x in LOADS)})")
        ax.set_ylabel(self.y)
        charts.end_labels(figure, ax, ends)


def losses(r: Results, load: int, networks: Iterable[int], published: dict[int, float], at: int, name: str, title: str) -> Picture:
    """DropTail's loss against the queue limit, with the published losses on the curve of `at` nodes."""
    curves = []
    for n in networks:
        combinations = [r.combination(network=n, load=load, queue=q, aqm="DropTail", traffic="bulk") for q in LIMITS]
        own = [row_of({}, "", r.samples(c, "loss_rate"), "") for c in combinations]
        points = [published.get(q) if n == at else None for q in LIMITS]
        curves.append(charts.Curve(f"{n} nodes", LIMITS, [x.value for x in own], [x.low for x in own], [x.high for x in own], points))
    axes = charts.Axes(f"DropTail, {load} % load", "queue limit, packets", "loss, %", ticks=LIMITS)
    where = "" if len(curves) == 1 else f", drawn with {at} nodes although the text names no network"
    return Picture(name, title, f"Filled: ours, with intervals. Hollow: the published losses{where}.", [charts.Lines(curves, axes)])


def over_time(r: Results) -> Picture:
    """A stretch of the queue with ModRED and with RED, and how many of ModRED's queues cut windows."""
    combination = {"load": 75, "traffic": "watched"}
    waiting = [series.Trace(a, *r.curves(r.combination(aqm=a, **combination), "queue")[0]) for a in ("ModRED", "RED")]
    cut = r.curves(r.combination(aqm="ModRED", **combination), "cutting")[0]
    panels: list[theme.Panel] = [
        series.Series(waiting, "All queues, 64 nodes, 75 % load", "time, s", "packets waiting"),
        Steps(*cut, "ModRED: queues that cut windows", "time, s", "of all", max(1, round(max((x or 0.0 for x in cut[1]), default=0.0)))),
    ]
    caption = (
        "Half a minute of the first replication, a point each 0.1 s. While a queue cuts windows its senders have one segment a round trip."
    )
    return Picture("modred-75-100", "The queue over time", caption, [*panels])


@dataclass(frozen=True)
class Steps:
    """A count over time, from zero to its most."""

    times: Sequence[float]
    values: Sequence[float | None]
    title: str
    x: str
    y: str
    most: int
    size = (4.4, 2.5)
    margins = (0.72, 0.46, 0.9, 0.3)

    def draw(self, figure: Figure, ax: Axes) -> None:
        """Draws the panel."""
        values = [float("nan") if v is None else v for v in self.values]
        ax.fill_between(self.times, values, step="post", color=theme.HUES[0], alpha=0.25, lw=0)
        ax.step(self.times, values, where="post", color=theme.HUES[0], lw=0.8)
        ax.set_yticks(range(self.most + 1))
        ax.set_ylim(0, self.most + 0.1)
        ax.margins(x=0.01)
        ax.grid(axis="x", visible=False)
        ax.set_title(self.title)
        ax.set_xlabel(self.x)
        ax.set_ylabel(self.y)


@dataclass(frozen=True)
class DropCurves:
    """Drop probability against the average queue in packets: each curve by its name, thresholds and probability before the step."""

    title: str
    curves: Sequence[tuple[str, float, float, float]]
    right: float
    grounds: Sequence[tuple[float, float, str]] = ()
    """Named stretches of the average."""
    size = (4.4, 2.9)
    margins = (0.62, 0.46, 0.2, 0.3)

    def draw(self, figure: Figure, ax: Axes) -> None:
        """Draws the panel."""
        for (a, b, words), tint in zip(self.grounds, theme.TINTS, strict=False):
            ax.axvspan(a, b, color=tint, lw=0)
            ax.text((a + b) / 2, 1.09, words, ha="center", va="center", fontsize=8, color=theme.INK)
        for i, (name, low, high, p) in enumerate(self.curves):
            ax.plot([0, low, high, high, self.right], [0, 0, p, 1, 1], color=theme.HUES[i], lw=2, zorder=3 - i / 10)
            ax.text(high + 0.3, 0.55, name, color=theme.HUES[i], weight="bold")
            if p:
                ax.text(high + 0.3, 0.05, f"{100 * p:g} %", color=theme.MUTED, fontsize=8)
        ax.set_xlim(0, self.right)
        ax.set_ylim(-0.02, 1.18 if self.grounds else 1.06)
        ax.set_xticks(sorted({0.0, *(x for _, low, high, _ in self.curves for x in (low, high))}))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.set_yticks([0, 0.5, 1])
        ax.grid(visible=False)
        ax.set_title(self.title)
        ax.set_xlabel("average queue, packets")
        ax.set_ylabel("drop probability")


def red(p: Tree, title: str) -> Picture:
    """RED's rule with the thresholds used."""
    low, high = (float(p[k][:-1]) for k in ("min", "max"))
    grounds = ((0, low, "accept"), (low, high, "some drops"), (high, high + 10, "drop all"))
    return Picture(
        "fig2.1", title, "The same thresholds for limits of 25, 100 and 250 packets.",
        [DropCurves("RED", [("RED", low, high, p["max_p"])], high + 10, grounds)],
    )  # fmt: skip


def two_curves(wred: Tree, modred: Tree, title: str) -> Picture:
    """RIO's curves, as the paper draws them, and what its text makes of them."""
    in_, out = ((float(x["min"][:-1]), float(x["max"][:-1]), x["max_p"]) for x in wred["levels"][:2])
    low, out_max, in_max = (float(modred[k][:-1]) for k in ("min", "out_max", "in_max"))
    right = in_max + 6
    grounds = ((0, low, "accept"), (low, in_max, "windows cut"), (in_max, right, "drop"))
    caption = (
        "OUT is judged by the average of all packets, IN by that of IN packets. Left: early drops between the thresholds, as the paper "
        "draws them. Right: ModRED as its text has it, which drops nothing between them and cuts windows instead."
    )
    return Picture(
        "fig3.1", title, caption,
        [
            DropCurves("Drawn: two drop curves", [("OUT", *out), ("IN", *in_)], right),
            DropCurves("Told: ModRED", [("OUT", out_max, out_max, 0.0), ("IN", in_max, in_max, 0.0)], right, grounds),
        ],
    )  # fmt: skip


def network(tree: Tree, n: int) -> Picture:
    """The wired network."""
    caption = f"The wired network: {n} senders on the left, {n} receivers on the right; the load says how many of them send."
    return Picture(f"wired-{n}", f"Wired network of {n} nodes", caption, [drawings.Topology(tree)])


@dataclass(frozen=True)
class Field:
    """Stations where they stand, with a line between those that decode one another."""

    there: air.Stations
    title: str
    size = (4.2, 4.2)
    margins = (0.66, 0.46, 0.15, 0.3)

    def draw(self, figure: Figure, ax: Axes) -> None:
        """Draws the panel."""
        at = self.there.at
        gap = (float("nan"), float("nan"))
        ends = [
            end for a, b in self.there.hops if a < b for end in (at[a], at[b], gap)
        ]  # one line with gaps: thousands would be a large page
        ax.plot(*zip(*ends, strict=True), color=theme.MUTED, lw=0.5, alpha=0.5, zorder=1)
        ax.plot(*zip(*at.values(), strict=True), ls="", marker="o", ms=5, color=theme.HUES[0], zorder=2)
        ax.set_aspect("equal")
        ax.grid(visible=False)
        ax.set_title(self.title)
        ax.set_xlabel("metres")
        ax.set_ylabel("metres")


def field(there: air.Stations, n: int, name: str, title: str) -> Picture:
    """A wireless network."""
    caption = f"{n} stations of 802.11b in a field of 1500 m; a line joins two that decode one another if no other station sends."
    return Picture(name, title, caption, [Field(there, f"{n} stations")])


_OVER_AIR: Sequence[_Drawn] = (
    ("throughput", "throughput", "Mbit/s", 1e-3), ("loss_rate", "dropped in queues", "%", 1.0),
    ("air_loss", "given up on the air", "%", 1.0), ("mean_time_in_queue", "time in a queue", "ms", 1.0),
    ("one_way_delay", "one-way delay", "ms", 1.0), ("jitter", "jitter", "ms", 1.0),
)  # fmt: skip


def on_air(r: Results, n: int) -> list[Picture]:
    """The metrics of a wireless network against the load, and against the queue limit."""
    pictures = []
    for varied, words, xs in (("load", "load, %", LOADS), ("queue", "queue limit, packets", LIMITS)):
        at: Mapping[str, object] = {"network": n, "load": air.LOAD, "queue": air.LIMIT, "traffic": air.AIR}
        if not all(r.has(**{**at, varied: x}, aqm=a) for x in xs for a in QUEUES):
            continue
        fixed = f"{air.LIMIT} packets" if varied == "load" else f"load {air.LOAD} %"
        panels = []
        for metric, title, unit, scale in _OVER_AIR:
            curves = []
            for a in QUEUES:
                rows = [
                    row_of({}, metric, [scale * v for v in r.samples(r.combination(**{**at, varied: x}, aqm=a), metric)], "") for x in xs
                ]
                curves.append(charts.Curve(a, xs, [x.value for x in rows], [x.low for x in rows], [x.high for x in rows]))
            panels.append(charts.Lines(curves, charts.Axes(f"{n} stations: {title}", words, f"{title}, {unit}", ticks=xs)))
        caption = (
            f"On the air, {fixed}: dropped is the share of what comes to all queues, given up the share of what they send. Each "
            f"replication draws other pairs, the same for all disciplines: intervals are wide."
        )
        pictures.append(
            Picture(f"air-{n}-{varied}", f"{n} stations against the {'queue limit' if varied == 'queue' else varied}", caption, panels)
        )
    return pictures
