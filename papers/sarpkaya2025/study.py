"""Sarpkaya, Fund and Panwar 2025: TCP Prague next to CUBIC, BBRv1 and BBRv3 under nine queues, measured with Linux on a test bed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from fairlane.papers import (
    Built,
    Combination,
    Experiment,
    Open,
    Paper,
    Picture,
    Results,
    Row,
    RunTables,
    Tree,
    Value,
    charts,
    compare,
    drawings,
    factors_of,
    row_of,
)

from .net import APART, BUFFERS, COMPETITORS, QUEUES, SINGLE, alike, scenario
from .opens import OPENS
from .text import causes, findings

Key = tuple[str, str, str]
MISSING: Key = ("BBRv1", "FIFO-ECN", "8")
"""The one cell without published trials."""
CELLS: tuple[Key, ...] = tuple(key for key in ((c, q, b) for c in COMPETITORS for q in QUEUES for b in BUFFERS) if key != MISSING)
"""The published cells."""
CLAIMED: tuple[Key, ...] = (
    *(("CUBIC", q, "2") for q in ("FIFO", "FIFO-ECN", "CoDel", "CoDel-ECN", "FQ-CoDel", "FQ-CoDel-L4S", "DualPI2")),
    ("CUBIC-ECN", "FIFO-ECN", "2"),
    ("BBRv1", "FIFO", "1"),
    ("BBRv1", "FIFO", "8"),
    ("BBRv1", "CoDel", "2"),
    ("BBRv1", "FQ", "1"),
    ("BBRv1", "FQ", "4"),
    ("BBRv1", "DualPI2", "2"),
    ("BBRv3", "FIFO", "1"),
    ("BBRv3", "CoDel-ECN", "2"),
    ("BBRv3-ECN", "FIFO-ECN", "2"),
    ("BBRv3-ECN", "DualPI2", "2"),
)
"""The cells that claims read, which alone are run in each setting: all 224 would take a minute of processor time."""
QUICK: tuple[Key, ...] = (*CLAIMED, ("CUBIC", "PIE", "2"), ("BBRv1", "FIFO", "2"), ("BBRv3", "FIFO", "8"))
SHARE, RTTS = "prague_share", ("prague_srtt", "competitor_srtt")


class Sarpkaya2025(Paper):
    """The study and how it is rebuilt."""

    minutes = 3.0
    seeds = (1, 2, 3)
    quick_seeds = (1,)
    setting_seeds = (1,)
    most_settings = 256
    hop_probe = False
    flow_columns = ("goodput", "packets_received", "retransmits", "timeouts")
    link_columns = ("utilisation", "sojourn_mean", "arrivals", "drops")
    links = ("bottleneck",)
    meant = ("sampling step",)  # iperf3 reads once a second
    flow_series = ("srtt",)

    def opens(self) -> list[Open]:
        """See `opens.py`."""
        return list(OPENS)

    def combinations(self) -> list[Combination]:
        """Returns one combination for all cells that are the same packet for packet."""
        return self._combinations(CELLS, self.declared_setting)

    def quick_combinations(self) -> list[Combination]:
        """Returns the cells that claims read, and some of the figures."""
        return self._combinations(QUICK, self.declared_setting)

    def setting(self, values: Mapping[str, Value]) -> list[Combination]:
        """Returns the cells that claims read."""
        return self._combinations(CLAIMED, values)

    def _combinations(self, cells: Sequence[Key], values: Mapping[str, Value]) -> list[Combination]:
        base, blocks = self.scenario("network.toml"), self.scenario("combinations.toml")
        found = []
        for key in dict.fromkeys(alike(*cell) for cell in cells):
            competitor, queue, buffer = key
            factors = factors_of(competitor=competitor, queue=queue, buffer_bdp=buffer)
            found.append(Combination(factors, partial(self._tree, base, blocks, key, dict(values))))
        return found

    @staticmethod
    def _tree(base: Tree, blocks: Tree, key: Key, values: Mapping[str, Value], seed: int) -> Tree:
        return scenario(base, blocks, key, values, seed)

    def topology(self) -> Tree:
        """All combinations have the same network."""
        return self.combinations()[0].tree(1)

    def measure(self, run: RunTables, combination: Combination) -> dict[str, float]:
        """The goodput of both flows over 60 s, and the mean of the smoothed round trips read each second, as iperf3 reports them."""
        del combination
        goodput = dict(zip(run.flows["name"], run.flows["goodput"], strict=True))
        mine, theirs = goodput["prague"] * 1e-6, goodput["competitor"] * 1e-6
        out = {SHARE: mine / (mine + theirs), "prague_goodput": mine, "competitor_goodput": theirs}
        for name in ("prague", "competitor"):
            known = [x for x in run.series(name, "srtt")[1] if x is not None]
            out[f"{name}_srtt"] = 1e3 * sum(known) / len(known)
        out["dropped"] = 100 * run.link("bottleneck", "drops") / run.link("bottleneck", "arrivals")
        return out

    def experiments(self) -> list[Experiment]:
        """The heat maps of the paper as tables, and drawn."""
        e = self.experiment
        names = {"cubic": COMPETITORS[:2], "bbrv1": COMPETITORS[2:3], "bbrv3": COMPETITORS[3:]}
        drawn = [
            e(f"{name}-{kind}", partial(self._drawn, f"{name}-{kind}", competitors, queues), partial(_among, competitors, queues))
            for name, competitors in names.items()
            for kind, queues in (("single", SINGLE), ("apart", APART))
        ]
        tables = [replace(e(name, build), least=_claimed) for name, build in (("share", self._shares), ("srtt", self._trips))]
        return [*tables, *drawn, e("testbed", self._testbed, lambda _: False)]

    def _rows(self, r: Results, quantity: str, unit: str) -> list[Row]:
        rows = []
        for competitor, queue, buffer in CELLS:
            run = alike(competitor, queue, buffer)
            factors = factors_of(competitor=competitor, queue=queue, buffer_bdp=buffer)
            if r.has(competitor=run[0], queue=run[1], buffer_bdp=run[2]):
                combination = r.combination(competitor=run[0], queue=run[1], buffer_bdp=run[2])
                rows.append(row_of(dict(factors), quantity, r.samples(combination, quantity), unit))
        return rows

    def _shares(self, r: Results) -> Built:
        rows = self._rows(r, SHARE, "of both")
        return Built(compare(rows, self.published("share")), rows, group_by=("competitor",))

    def _trips(self, r: Results) -> Built:
        rows = [row for quantity in RTTS for row in self._rows(r, quantity, "ms")]
        return Built(compare(rows, self.published("srtt")), rows, group_by=("competitor", "metric"))

    def _drawn(self, name: str, competitors: Sequence[str], queues: Sequence[str], r: Results) -> Built:
        built = self._shares(r)
        rows = [c for c in built.comparison.rows if dict(c.factors)["competitor"] in competitors and dict(c.factors)["queue"] in queues]
        built.comparison.rows[:] = rows
        panels = []
        for competitor in competitors:
            curves = []
            for queue in queues:
                of = [c for c in rows if dict(c.factors)["competitor"] == competitor and dict(c.factors)["queue"] == queue]
                x = [float(dict(c.factors)["buffer_bdp"]) for c in of]
                curves.append(
                    charts.Curve(queue, x, [c.ours for c in of], [c.low for c in of], [c.high for c in of], [c.published for c in of])
                )
            axes = charts.Axes(f"against {competitor}", "buffer, BDP", "share of Prague", log_x=True, ticks=[float(b) for b in BUFFERS])
            panels.append(charts.Lines(curves, axes))
        caption = (
            "Filled marks and solid lines: our mean with its 95 % interval. Hollow marks and dotted lines: published, means of 10 trials."
        )
        picture = Picture(name, self.title_of(name), caption, panels)
        return Built(built.comparison, [], [picture], group_by=("competitor",), show_table=False)

    def _testbed(self, _: Results) -> Built:
        picture = Picture("testbed", self.title_of("testbed"), "The two receivers of the test bed are one node here.", [
            drawings.Topology(self.topology())
        ])  # fmt: skip
        return Built(pictures=[picture])

    def findings(self, results: Results, others: Mapping[str, Results]) -> list[str]:
        """See `text.py`."""
        del others
        return findings(self._both(results, SHARE, "share"), self._both(results, "prague_srtt", "srtt"))

    def causes(self, results: Results, others: Mapping[str, Results]) -> Mapping[str, str]:
        """See `text.py`."""
        del others
        return causes(self._both(results, SHARE, "share"))

    def _both(self, r: Results, quantity: str, table: str) -> dict[Key, tuple[float, float]]:
        """Published and our value of each cell at hand."""

        def key(f: Mapping[str, str]) -> Key:
            return f["competitor"], f["queue"], f["buffer_bdp"]

        published = {key(p): float(p["value"]) for p in self.published(table) if p["metric"] == quantity}
        ours = {key(dict(row.factors)): row.value for row in self._rows(r, quantity, "")}
        return {key: (x, ours[key]) for key, x in published.items() if key in ours}


def _among(competitors: Sequence[str], queues: Sequence[str], c: Combination) -> bool:
    """True for a combination that stands for cells of these competitors and queues."""
    return c["queue"] in queues and any(c["competitor"] == alike(name, c["queue"], "2")[0] for name in competitors)


def _claimed(c: Combination) -> bool:
    """True for a combination that stands for cells of claims."""
    return (c["competitor"], c["queue"], c["buffer_bdp"]) in {alike(*cell) for cell in CLAIMED}
