"""The figures of Yang and Fu 2001."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fairlane.papers import Built, Compared, Comparison, Paper, Picture, Results, Row, charts, compare, drawings, factors_of, row_of, series

from .net import CLASSES, ENVS, TABLE1
from .text import notes

if TYPE_CHECKING:
    from fairlane.papers import Panel

_WITH = "Filled marks: our mean with its 95 % interval."


def _curve(name: str, rows: Sequence[Row], x: str, published: Sequence[float | None] = ()) -> charts.Curve:
    at = [float(dict(r.factors)[x]) for r in rows]
    return charts.Curve(name, at, [r.value for r in rows], [r.low for r in rows], [r.high for r in rows], published)


def _of(rows: Sequence[Row], **factors: object) -> list[Row]:
    return [r for r in rows if all(dict(r.factors).get(k) == str(x) for k, x in factors.items())]


def topology(paper: Paper) -> Built:
    """The network, from its scenario."""
    d = paper.topology()["topology"]["dumbbell"]
    rate, delay = (float(d["bottleneck"][k].removesuffix(u)) for k, u in (("rate", "Mbit/s"), ("delay", "ms")))
    rows = [
        Compared(factors_of(link="shared link"), "rate", "Mbit/s", None, rate),
        Compared(factors_of(link="each link"), "delay", "ms", None, delay),
    ]
    caption = (
        "s0 and s1 are the sources S1 and S2. Each has 100 flows to the other side; all of them share the link in the middle. With SFQ and "
        "DRR each flow of a source has a receiver of its own, whose number is what the port was in the addresses that ns-2 of 1999 hashed."
    )
    return Built(Comparison(rows), [], [Picture("fig1", paper.title_of("fig1"), caption, [drawings.Topology(paper.topology())])])


def thirteen(paper: Paper, rows: list[Row]) -> Built:
    """Table 1, and its means drawn."""
    published = paper.published("table1")
    built = Built(Comparison(), rows, notes=notes("table1", None, paper, rows), group_by=("flow",))
    built.more, built.more_title = compare(rows, published).rows, "Every single flow: which of them sits out long timers is chance"
    curves = []
    for kind in ("TCP", "UDP"):
        xs, ours, theirs = [], [], []
        for size in TABLE1:
            own = [r.value for r in _of(rows, size=size) if dict(r.factors)["flow"].startswith(kind)]
            if not own:
                continue
            old = [float(p["value"]) for p in published if p["size"] == size and p["flow"].startswith(kind)]
            xs.append({"K": 1e-3, "M": 1.0}[size[-2]] * float(size[:-2]))
            ours.append(sum(own) / len(own))
            theirs.append(sum(old) / len(old))
            whole = row_of({"flow": f"all {kind}", "size": size}, "mean time", _mean_of(rows, kind, size), "s")
            built.comparison.rows.append(
                Compared(whole.factors, whole.metric, "s", theirs[-1], whole.value, whole.low, whole.high, len(whole.samples))
            )
        curves.append(charts.Curve(kind, xs, ours, (), (), theirs))
    axes = charts.Axes("mean time of TCP and UDP flows", "size, MB", "time, s", log_x=True, log_y=True, ticks=(0.01, 0.1, 1, 10, 100))
    caption = "Filled: means of our flows. Hollow: means of the published flows."
    built.pictures.append(Picture("table1", paper.title_of("table1"), caption, [charts.Lines(curves, axes)]))
    return built


def _mean_of(rows: Sequence[Row], kind: str, size: str) -> list[float]:
    """The mean over the flows of a protocol, a replication."""
    own = [r.samples for r in _of(rows, size=size) if dict(r.factors)["flow"].startswith(kind)]
    return [sum(xs) / len(xs) for xs in zip(*own, strict=True)]


def shares(paper: Paper, rows: list[Row]) -> Built:
    """Shares of TCP and UDP."""
    curves = [_curve(kind, [r for r in rows if r.metric == f"{kind.lower()}_share"], "t") for kind in ("TCP", "UDP")]
    axes = charts.Axes("share of all that was delivered", "time, s", "share, %", log_x=True, ticks=(1, 10, 100, 1000, 10000))
    pictures = [Picture("fig2", paper.title_of("fig2"), _WITH + " Cumulative from the start.", [charts.Lines(curves, axes)])]
    shown = [replace(r, factors=factors_of(**{"until, s": dict(r.factors)["t"]}), metric=f"{r.metric[:3].upper()}'s share") for r in rows]
    return Built(compare(shown, []), rows, pictures, notes("fig2", None, paper, rows), group_by=("metric",))


def snapshots(paper: Paper, r: Results) -> Built:
    """Goodput of single flows under cc and ts."""
    panels: list[Panel] = []
    rows = []
    for env, title in (("cc/cc", "cc"), ("ts/ts", "ts")):
        combination = r.combination(part="fig5", env=env)
        names, labels = ("tcp0.0", "tcp0.1", "tcp0.3", "udp0.0"), ("TCP1", "TCP2", "TCP4", "UDP3")
        traces = []
        for name, label in zip(names, labels, strict=True):
            times, values = r.curves(combination, name)[0]
            traces.append(series.Trace(label, times, [None if v is None else v / 1e3 for v in values]))
        panels.append(series.Series(traces, f"{title}: four flows of S1", "time, s", "goodput, kbit/s"))
        most = r.samples(combination, "at once")
        rows.append(Compared(factors_of(env=env), "flows of S1 open at once, at most", "flows", None, max(most)))
    caption = "The first flow of each of these classes, in steps of 0.5 s."
    return Built(Comparison(rows), [], [Picture("fig5", paper.title_of("fig5"), caption, panels)])


def ranks(paper: Paper, rows: list[Row]) -> Built:
    """Fig. 7: when the n-th transfer is over."""
    panels: list[Panel] = []
    shown = ("81:19", "90:10", "99:1")
    for env in ("ts/ts", "ts/be"):
        curves = [_curve(ratio, _of(rows, env=env, ratio=ratio), "flow_rank") for ratio in shown]
        panels.append(charts.Lines([c for c in curves if c.x], charts.Axes(env, "transfers over", "time, s", ticks=range(0, 101, 20))))
    few = [x for x in rows if dict(x.factors)["ratio"] in shown and dict(x.factors)["flow_rank"] in ("50", "100")]
    built = Built(compare(few, []), rows, [Picture("fig7", paper.title_of("fig7"), _WITH, panels)], group_by=("env",))
    built.notes = notes("fig7", None, paper, rows)
    return built


def ratios(paper: Paper, rows: list[Row]) -> Built:
    """Fig. 8: class means against the ratio."""
    panels: list[Panel] = []
    for kind in ("TCP", "UDP"):
        for env in ENVS[:4]:
            curves = [_curve(c, _of(rows, env=env, flow=c), "tcp_flows") for c in CLASSES if c.startswith(kind)]
            axes = charts.Axes(f"{env}, {kind}", "TCP flows of 100", "time, s", ticks=(81, 85, 90, 95, 99), size=(3.4, 2.3))
            panels.append(charts.Lines([c for c in curves if c.x], axes))
    pictures = [Picture("fig8", paper.title_of("fig8"), _WITH + " The paper reports only a picture.", panels)]
    return Built(compare(rows, []), rows, pictures, notes("fig8", None, paper, rows), show_table=False)


def against(paper: Paper, rows: list[Row]) -> Built:
    """Fig. 9: cc next to ts."""
    panels: list[Panel] = []
    table = []
    for cc, ts in (("cc/cc", "ts/ts"), ("cc/be", "ts/be")):
        curves = [_curve(f"{env[:2]} {c}", _of(rows, env=env, flow=c), "tcp_flows") for env in (cc, ts) for c in ("TCP1", "TCP4")]
        axes = charts.Axes(f"{cc} and {ts}", "TCP flows of 100", "time, s", ticks=(81, 85, 90, 95, 99))
        panels.append(charts.Lines([c for c in curves if c.x], axes))
        table += [x for env in (cc, ts) for c in ("TCP1", "TCP4") for x in _of(rows, env=env, flow=c)]
    pictures = [Picture("fig9", paper.title_of("fig9"), _WITH, panels)]
    return Built(compare(table, []), table, pictures, notes("fig9", None, paper, rows), show_table=False)
