"""Mathis et al. 1997: the throughput of TCP under random losses, next to their equation."""

from __future__ import annotations

import copy
from collections.abc import Mapping

from fairlane.papers import (
    Alternative,
    Built,
    Change,
    Combination,
    Comparison,
    Experiment,
    Paper,
    Picture,
    Results,
    RunTables,
    SensitivityColumn,
    Tree,
    charts,
    compare,
    factors_of,
)

TRIPS = (40, 80, 160)
"""Round trips, ms."""
LOSSES = (0.1, 1, 4)
"""Losses, percent."""


class Mathis1997(Paper):
    """Combinations of round trip and loss."""

    flow_columns = ("goodput", "timeouts")
    link_columns = ("utilisation",)
    links = ("bottleneck",)
    seeds = tuple(range(1, 11))
    quick_seeds = (1, 2, 3, 4)

    def combinations(self) -> list[Combination]:
        """All round trips with all losses."""
        return self._combinations()

    def _combinations(self, change: Change | None = None) -> list[Combination]:
        return [self._combination(r, p, change) for r in TRIPS for p in LOSSES]

    def _combination(self, trip: int, loss: float, change: Change | None) -> Combination:
        base = self.scenario("scenario.toml")

        def tree(seed: int) -> Tree:
            t = copy.deepcopy(base)
            t["name"], t["seed"] = f"round trip {trip} ms, loss {loss} %", seed
            t["topology"]["dumbbell"]["bottleneck"].update(delay=f"{trip / 2:g}ms", loss=loss / 100)
            if change is not None:
                change(t, combination)
            return t

        combination = Combination(factors_of(rtt=trip, loss=loss), tree)
        return combination

    def measure(self, run: RunTables, combination: Combination) -> dict[str, float]:
        """Payload of a connection in Mbit/s, in the mean and of each."""
        first, second = (x / 1e6 for x in run.flows["goodput"])
        timeouts = sum(run.flows["timeouts"]) / 2
        return {"throughput": (first + second) / 2, "first": first, "second": second, "timeouts": timeouts}

    def experiments(self) -> list[Experiment]:
        """The table of the equation, and its picture."""
        return [self.experiment("table1", self._table), self.experiment("fig1", self._figure)]

    def _table(self, results: Results) -> Built:
        rows = results.rows("throughput", "throughput", "Mbit/s")
        each = results.rows("first", "first", "Mbit/s") + results.rows("second", "second", "Mbit/s")
        built = Built(compare(rows, self.published("table1")), rows + each, group_by=("loss",))
        built.more, built.more_title = compare(each, []).rows, "Each of the two connections"
        return built

    def _figure(self, results: Results) -> Built:
        lines = compare(results.rows("throughput", "throughput", "Mbit/s"), self.published("table1")).rows
        curves: list[charts.Curve] = []
        for trip in TRIPS:
            of = [c for c in lines if dict(c.factors)["rtt"] == str(trip)]
            ours, low, high, published = ([getattr(c, x) for c in of] for x in ("ours", "low", "high", "published"))
            curves.append(charts.Curve(f"{trip} ms", LOSSES, ours, low, high, published))
        axes = charts.Axes("throughput by round trip", "loss, %", "Mbit/s", log_x=True, log_y=True, ticks=LOSSES)
        caption = "Filled marks and solid lines: our mean with its 95 % interval. Hollow marks and dotted lines: the equation."
        picture = Picture("fig1", self.title_of("fig1"), caption, [charts.Lines(curves, axes)])
        return Built(Comparison(lines), pictures=[picture], show_table=False)

    def alternatives(self) -> list[Alternative]:
        """Returns the assumptions that the equation does not state."""

        def tcp(**values: object) -> Change:
            return lambda t, combination: t["flows"]["tcp"]["tcp"].update(values)

        return [
            Alternative("selective acknowledgments", "several losses of a window at once", lambda: self._combinations(tcp(cc="sack"))),
            Alternative("delayed acknowledgments", "the constant is then sqrt(3/4)", lambda: self._combinations(tcp(ack_every=2))),
        ]

    def sensitivity_columns(self) -> list[SensitivityColumn]:
        """Few losses and many."""
        published = {(p["rtt"], p["loss"]): float(p["value"]) for p in self.published("table1")}
        return [SensitivityColumn(f"80 ms, {p} %", "throughput", "Mbit/s", {"rtt": 80, "loss": p}, published["80", str(p)]) for p in LOSSES]

    def causes(self, results: Results, others: Mapping[str, Results]) -> Mapping[str, str]:
        """Returns the effects that the equation omits."""
        few, many = (results.mean("timeouts", rtt=80, loss=p) for p in (0.1, 4))
        return {"M2": f"With losses of 4 % a connection waits for {many:.0f} timeouts in 100 s (80 ms), with 0.1 % for {few:.1f}."}
