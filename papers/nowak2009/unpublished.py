"""Nowak et al. 2009: what the paper says it studied without printing results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from fairlane.papers import Built, Comparison, Picture, Results, Row, charts, compare, row_of
from fairlane.tuning import TuneSpec, Tuning, cost_of

from .net import ALONE, LAWS, RATES, SETTINGS
from .rows import WORDS, Shows


def _lines(curves: Sequence[charts.Curve], title: str, x: str, y: str, log_x: bool = False, log_y: bool = False) -> charts.Lines:
    ticks = sorted({t for c in curves for t in c.x})
    return charts.Lines(curves, charts.Axes(title, x, y, log_x=log_x, log_y=log_y, ticks=ticks))


class Studies(Shows):
    """Experiments without published results."""

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
        own = sorted(
            (c for c in r.combinations if c["set"] == "alone"), key=lambda c: (ALONE.index((c["rate"], c["queue"])), c["law"] != LAWS[0])
        )
        rows = self._quantities(r, [(c, {**dict(c.factors[1:]), "rate": f"{c['rate']} Mbit/s"}) for c in own], of)
        peer = [
            {
                "rate": f"{float(p['rate_mbps']):g} Mbit/s",
                "queue": q,
                "law": LAWS[1] if q.startswith("RED") else "",
                "metric": p["metric"],
                "value": p["value"],
            }
            for p in self.published("checks")
            for q, text in names.items()
            if p["parameters"] == text
        ]
        peer += [{**p, "rate": f"{float(p['rate']):g} Mbit/s"} for p in self.published("ns2_red") if p["law"] == LAWS[0]]
        built = Built(compare(rows, [], peer), rows, peer_name=self.words["peer"], group_by=("metric",))
        classic, wide = (r.mean("mean_size", set="alone", rate="1.5", queue="RED, 5 to 50", law=law) for law in LAWS)
        (ns2,) = (
            float(p["value"])
            for p in self.published("ns2_red")
            if (p["rate"], p["queue"], p["law"], p["metric"]) == ("1.5", "RED, 5 to 50", LAWS[0], "mean_size")
        )
        built.notes.append(
            "The reference runs have RED's drops as ns-2 spaces them, 1/p to 2/p packets apart (wait_): with RED 5 to 50 the queue "
            f"holds {wide:.0f} packets that way. With the classic law, 1 to 1/p packets apart, which is that of the paper's simulator, "
            f"it holds {classic:.0f}: at the same average that law drops about three times as often. ns-2.35 with wait_ off agrees "
            f"({ns2:.1f} packets); its values follow the rows with the classic law. Round trips here are means over all segments."
        )
        return built

    def _rates(self, r: Results) -> Built:
        of = (
            ("rtt", "TCP round trip", "s"), ("queue1_mean", "queue 1", "packets"), ("queue2_mean", "queue 2", "packets"),
            ("tcp_share", "TCP's share", "percent"), ("udp_delivered", "video delivered", "percent"),
            ("udp_delay_p99", "video delay, 99th percentile", "ms"), ("tcp_loss", "TCP loss", "percent"),
            ("transfer_last", "last transfer ends (or 200)", "s"),
        )  # fmt: skip
        combinations = [(c, {"rate": f"{c['rate']} Mbit/s", "case": c["case"]}) for c in r.combinations if c["set"] == "stated"]
        trips, rest = self._quantities(r, combinations, of[:1]), self._quantities(r, combinations, of[1:])
        built = Built(Comparison([self._ours(x) for x in trips]), [*trips, *rest], group_by=("metric", "rate"))
        built.more, built.more_title = [self._ours(x) for x in rest], "Queues, shares, delays and losses"
        rates = [x for x in RATES if any(c["rate"] == x for c, _ in combinations)]
        xs = [float(x) for x in rates]

        def curve(q: str, case: str) -> charts.Curve:
            found = [self._row(r, r.combination(set="stated", rate=x, case=case), q, {}, q, "") for x in rates]
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

    @cached_property
    def _search(self) -> TuneSpec:
        """Returns the design of the search: objectives, constraints and training scenarios of tune.toml."""
        return Tuning.from_file(self.folder / "tune.toml").spec

    def _costs(self, r: Results, case: str) -> list[float]:
        """Returns the cost of a queue in the held-out scenarios by the search's own objective, one value per replication."""
        combinations = [c for c in r.combinations if c["set"] == "unseen" and c["case"] == case]
        measured = {"video_delay": ("udp_delay_p99", 1e-3), "tcp_rtt": ("rtt_all", 1.0), "tcp_goodput": ("tcp_goodput", 1e3)}
        means = {name: scale * np.mean([r.samples(c, q) for c in combinations], axis=0) for name, (q, scale) in measured.items()}
        scales = {o.label: (o.good, o.bad) for o in self._search.objectives if o.good is not None and o.bad is not None}
        return [cost_of(self._search, scales, {name: float(x[i]) for name, x in means.items()}) for i in range(len(means["tcp_rtt"]))]

    def _lost(self, r: Results, case: str) -> float:
        """Share of the video that a queue loses in the held-out scenario in which it loses most, percent."""
        return max(
            r.mean("udp_loss", set="unseen", scenario=c["scenario"], case=case)
            for c in r.combinations
            if c["set"] == "unseen" and c["case"] == case
        )

    def _unseen_rows(self, r: Results) -> list[Row]:
        """The chosen queue and the paper's on unseen traffic: cost, what it is above that of the chosen one, and video lost."""
        cost = {case: self._costs(r, case) for case in SETTINGS}
        cost = {case: values for case, values in cost.items() if all(math.isfinite(x) for x in values)}
        named = {case: {"case": case, "queues": WORDS[case]} for case in SETTINGS}
        rows = [row_of(named[case], "cost on unseen traffic", values, "") for case, values in cost.items()]
        for case, values in cost.items():
            if case != "chosen":
                above = [x - y for x, y in zip(values, cost["chosen"], strict=True)]
                rows.append(row_of(named[case], "cost on unseen traffic, above that of the chosen queue", above, ""))
        return [*rows, *(row_of(named[case], "video lost, worst held-out scenario", [self._lost(r, case)], "percent") for case in SETTINGS)]

    def _closing(self, r: Results) -> Built:
        of = (
            ("udp_delay_p99", "video delay, 99th percentile", "ms"), ("rtt_all", "TCP round trip, all segments", "s"),
            ("tcp_goodput", "TCP goodput", "kbit/s"), ("udp_delivered", "video delivered", "percent"), ("tcp_loss", "TCP loss", "percent"),
        )  # fmt: skip
        combinations = [c for c in r.combinations if c["set"] == "long"]
        rows = self._quantities(r, [(c, {"case": c["case"], "queues": WORDS[c["case"]]}) for c in combinations], of)
        tested = self._unseen_rows(r)
        built = Built(Comparison([self._ours(x) for x in [*rows, *tested]]), [*rows, *tested], group_by=("metric",))

        def mean(quantity: str, case: str) -> float:
            return r.mean(quantity, set="long", case=case)

        def over(quantity: str, case: str) -> float:
            return float(np.mean([r.samples(c, quantity) for c in r.combinations if c["set"] == "unseen" and c["case"] == case]))

        words = {"video_delay": ("the video is late", "ms"), "tcp_rtt": ("TCP is sluggish", "ms"), "tcp_goodput": ("TCP is slow", "kbit/s")}
        scales = {"ms": 1e3, "kbit/s": 1e-3}
        complaints = "; ".join(
            f"{what} (0 at {(o.good or 0) * scales[unit]:g} {unit}, 1 at {(o.bad or 0) * scales[unit]:g})"
            for o in self._search.objectives
            for what, unit in (words[o.label],)
        )
        built.notes.append(
            "The search is not run again for this page. It is run by fairlane tune papers/nowak2009/tune.toml: "
            f"{self._search.trials} settings in addition to the paper's cases, {len(self._search.training_scenarios)} training "
            "scenarios, a minute or "
            "two on two cores. What it chose is kept in papers/nowak2009/chosen.toml; that queue is run here, next to the paper's."
        )
        built.notes.append(
            f"Compared with the paper's choice, C8: the same delay for the video, a round trip of {1e3 * mean('rtt_all', 'chosen'):.0f} in "
            f"place of {1e3 * mean('rtt_all', 'C8'):.0f} ms for TCP, and "
            f"{100 * (mean('tcp_goodput', 'chosen') / mean('tcp_goodput', 'C8') - 1):+.1f} % goodput."
        )
        cost = {dict(x.factors)["case"]: x.value for x in tested if x.metric == "cost on unseen traffic"}
        above = [x for x in tested if x.metric.endswith("chosen queue")]
        worse = [dict(x.factors)["case"] for x in above if x.low is not None and x.low > 0]
        absent = [c for c in SETTINGS if c not in cost]
        built.notes.append(
            f"On traffic that the search did not see ({'; '.join(m.name for m in self._search.holdout)}) and with other seeds, by the "
            f"search's own objective, the chosen queue costs {cost['chosen']:.3f} and C8 {cost['C8']:.3f}. It costs less than {len(worse)} "
            f"of the {len(above)} cases that have a cost, with an interval of the difference above zero ({', '.join(worse) or 'none'})"
            + (f"; {', '.join(absent)} has none, since nothing of the video arrives in one of the scenarios" if absent else "")
            + f". It is a trade: there TCP's goodput is {over('tcp_goodput', 'chosen'):.0f} kbit/s with the chosen queue and "
            f"{over('tcp_goodput', 'C8'):.0f} with C8, the round trip {1e3 * over('rtt_all', 'chosen'):.0f} and "
            f"{1e3 * over('rtt_all', 'C8'):.0f} ms. A cost is the largest of three complaints, and a twentieth of their sum: {complaints}."
        )
        points = [
            charts.Curve(c["case"], [1e3 * mean("rtt_all", c["case"])], [1e-3 * mean("udp_delay_p99", c["case"])]) for c in combinations
        ]
        alone = {o.label: o.good or 0.0 for o in self._search.objectives}
        points.append(charts.Curve("", [1e3 * alone["tcp_rtt"]], [alone["video_delay"]]))
        ticks = [50, 100, 200, 500, 1000, 2000, 5000]
        axes = charts.Axes(
            "what the two streams feel", "TCP round trip, ms", "video delay, s", log_x=True, log_y=True, ticks=ticks, size=(4.4, 3.6)
        )
        picture = Picture(
            "closing-question",
            self.title_of("closing-question"),
            "The paper's cases and the chosen queue, on the network that the search saw; below and left is good for both. The point "
            "without a name: what the path alone takes.",
            [charts.Lines(points, axes)],
        )
        built.pictures.append(picture)
        return built
