"""Nowak et al. 2009: what the paper says it studied without printing results."""

from __future__ import annotations

from collections.abc import Sequence

from ..report import charts
from .definition import Built, Cell, Picture, Results
from .nowak2009_net import LAWS, RATES
from .nowak2009_rows import WORDS, Shows
from .tables import Comparison, compare


def _lines(curves: Sequence[charts.Curve], title: str, x: str, y: str, log_x: bool = False, log_y: bool = False) -> charts.Lines:
    ticks = sorted({t for c in curves for t in c.x})
    return charts.Lines(curves, charts.Axes(title, x, y, log_x=log_x, log_y=log_y, ticks=ticks))


class Studies(Shows):
    """Experiments without printed results."""

    def _alone_table(self, r: Results) -> Built:
        names = {
            "DropTail, 50": "50 packets", "DropTail, 25": "25 packets", "DropTail, unbounded": "unbounded",
            "RED, 5 to 15": "min 5 max 15 wq 0.002 maxp 0.02", "RED, 5 to 50": "min 5 max 50 wq 0.002 maxp 0.02",
            "RED, 15 to 25": "min 15 max 25 wq 0.02 maxp 0.03",
        }  # fmt: skip
        of = (
            ("mean_size", "mean_size", "packets"), ("stddev_size", "stddev_size", "packets"), ("rtt", "rtt", "s"),
            ("utilisation", "utilisation", "percent"), ("timeouts", "timeouts", "count"),
        )  # fmt: skip
        rows = self._quantities(r, [(c, dict(c.factors[1:])) for c in r.cells if c["set"] == "alone"], of)
        peer = [
            {"rate": p["rate_mbps"], "queue": q, "law": LAWS[1] if q.startswith("RED") else "", "metric": p["metric"], "value": p["value"]}
            for p in self.published("checks")
            for q, text in names.items()
            if p["parameters"] == text
        ]
        peer += [p for p in self.published("ns2_red") if p["law"] == LAWS[0]]
        built = Built(compare(rows, [], peer), rows, peer_name=self.words["peer"], group_by=("metric",))
        classic, wide = (r.mean("mean_size", set="alone", rate="1.5", queue="RED, 5 to 50", law=law) for law in LAWS)
        built.notes.append(
            "The reference runs have RED's drops as ns-2 spaces them, 1/p to 2/p packets apart (wait_): with RED 5 to 50 the queue "
            f"holds {wide:.0f} packets that way. With the classic law, 1 to 1/p packets apart, which is that of the paper's simulator, "
            f"it holds {classic:.0f}: at the same average that law drops about three times as often. ns-2.35 with wait_ off agrees "
            "(18.8 packets); its values stand beside the rows with the classic law."
        )
        return built

    def _rates(self, r: Results) -> Built:
        of = (
            ("rtt", "TCP round trip", "s"), ("queue1_mean", "queue 1", "packets"), ("queue2_mean", "queue 2", "packets"),
            ("tcp_share", "TCP's share", "percent"), ("udp_delivered", "video delivered", "percent"),
            ("udp_delay_p99", "video delay, 99th percentile", "ms"), ("tcp_loss", "TCP loss", "percent"),
            ("transfer_last", "last transfer ends (or 200)", "s"),
        )  # fmt: skip
        cells = [(c, {"rate": c["rate"], "case": c["case"]}) for c in r.cells if c["set"] == "stated"]
        trips, rest = self._quantities(r, cells, of[:1]), self._quantities(r, cells, of[1:])
        built = Built(Comparison([self._ours(x) for x in trips]), [*trips, *rest], group_by=("metric", "rate"))
        built.more, built.more_title = [self._ours(x) for x in rest], "Queues, shares, delays and losses"
        xs = [float(x) for x in RATES]

        def curve(q: str, case: str) -> charts.Curve:
            found = [self._row(r, r.cell(set="stated", rate=x, case=case), q, {}, q, "") for x in RATES]
            return charts.Curve(case, xs, [f[0].value if f else None for f in found])

        shown = ("C1", "C3", "C6", "C8", "C9")
        panels = [
            _lines([curve(q, c) for c in shown], title, "bottleneck, Mbit/s", unit, log_x=True, log_y=q != "tcp_share")
            for q, title, unit in (
                ("rtt", "TCP round trip", "s"),
                ("tcp_share", "TCP's share of the link", "%"),
                ("udp_delay_p99", "video delay, 99th percentile", "ms"),
            )
        ]
        caption = "Drop tail 25, RED 15 to 25; the video takes three quarters of every link."
        built.pictures.append(Picture("rate-sweep", self.title_of("rate-sweep"), caption, list(panels)))
        return built

    def _closing(self, r: Results) -> Built:
        of = (
            ("udp_delay_p99", "video delay, 99th percentile", "ms"), ("rtt", "TCP round trip", "s"),
            ("tcp_goodput", "TCP goodput", "kbit/s"), ("udp_delivered", "video delivered", "percent"), ("tcp_loss", "TCP loss", "percent"),
        )  # fmt: skip
        cells = [c for c in r.cells if c["set"] == "long"]
        rows = self._quantities(r, [(c, {"case": c["case"], "queues": WORDS[c["case"]]}) for c in cells], of)
        built = Built(Comparison([self._ours(x) for x in rows]), rows, group_by=("metric",))

        def mean(quantity: str, cell: Cell) -> float:
            return r.mean(quantity, set=cell["set"], case=cell["case"])

        chosen, best = r.cell(set="long", case="chosen"), r.cell(set="long", case="C8")
        change = 100 * (mean("tcp_goodput", chosen) / mean("tcp_goodput", best) - 1)
        built.notes.append(
            f"Beside the paper's own choice, C8: the same delay for the video, a round trip of {1e3 * mean('rtt', chosen):.0f} in "
            f"place of {1e3 * mean('rtt', best):.0f} ms for TCP, and {change:+.1f} % goodput. The search itself, its objective, and "
            "its test on traffic that it had not seen: fairlane tune papers/nowak2009/tune.toml, and the guide to tuning."
        )
        points = [charts.Curve(c["case"], [1e3 * mean("rtt", c)], [1e-3 * mean("udp_delay_p99", c)]) for c in cells]
        ticks = [50, 100, 200, 500, 1000, 2000, 5000]
        axes = charts.Axes(
            "what the two streams feel", "TCP round trip, ms", "video delay, s", log_x=True, log_y=True, ticks=ticks, size=(6.0, 4.2)
        )
        picture = Picture(
            "closing-question",
            self.title_of("closing-question"),
            "Below and left is good for both. C6 and C7, C3 and C4 make the video wait more than a minute.",
            [charts.Lines(points, axes)],
        )
        built.pictures.append(picture)
        return built
