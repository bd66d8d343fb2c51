"""An example to replace: how the study is rebuilt. docs/guides/own-paper.md goes through it."""

from __future__ import annotations

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
    Row,
    RunTables,
    SensitivityColumn,
    Tree,
    charts,
    compare,
    copy_tree,
    drawings,
    factors_of,
)

SENDERS = (2, 5, 10)
QUEUES = {
    "DropTail": {"droptail": {"limit": "50p"}},
    "RED": {"red": {"min": "5p", "max": "15p", "limit": "50p"}},
}


class Study(Paper):
    """The one subclass of `Paper` in study.py is the study."""

    link_columns = ("utilisation", "sojourn_mean")  # what is kept of each run: `fairlane explain` lists all metrics
    links = ("bottleneck",)
    seeds = tuple(range(1, 11))  # the replications; a quick look has fewer
    quick_seeds = (1, 2, 3)

    # Runs

    def combinations(self) -> list[Combination]:
        """All scenarios: every combination of what the paper varies."""
        return self._combinations()

    def _combinations(self, change: Change | None = None) -> list[Combination]:
        return [self._combination(n, q, change) for q in QUEUES for n in SENDERS]

    def _combination(self, senders: int, queue: str, change: Change | None) -> Combination:
        base = self.scenario("scenario.toml")

        def tree(seed: int) -> Tree:
            """The scenario of one replication, as the tree of its TOML file."""
            t = copy_tree(base)
            t["name"], t["seed"] = f"{senders} senders, {queue}", seed
            t["topology"]["dumbbell"]["bottleneck"]["queue"] = copy_tree(QUEUES[queue])
            t["flows"]["tcp"]["count"] = senders
            if change is not None:
                change(t, combination)
            return t

        combination = Combination(factors_of(senders=senders, queue=queue), tree)
        return combination

    # Measures of a run

    def measure(self, run: RunTables, combination: Combination) -> dict[str, float]:
        """The paper's quantities, in its units."""
        return {"use": 100 * run.link("bottleneck", "utilisation"), "wait": 1e3 * run.link("bottleneck", "sojourn_mean")}

    # Tables and figures

    def experiments(self) -> list[Experiment]:
        """All tables and figures, in the order of the page; their words are in paper.toml."""
        return [
            self.experiment("fig1", self._topology, lambda combination: False),  # needs no combination
            self.experiment("table1", self._table),
            self.experiment("fig2", self._figure),
        ]

    def _topology(self, results: Results) -> Built:
        picture = Picture("fig1", self.title_of("fig1"), "Drawn from the scenario.", [drawings.Topology(self.topology())])
        return Built(pictures=[picture])

    def _rows(self, results: Results) -> list[Row]:
        """Our table, tidy as the published one: factors, metric, value, unit."""
        return results.rows("use", "use", "percent") + results.rows("wait", "wait", "ms")

    def _table(self, results: Results) -> Built:
        rows = self._rows(results)
        impossible = {factors_of(senders=2, queue="RED"): 1}  # published values of contradiction 1
        return Built(compare(rows, self.published("table1"), impossible=impossible), rows, group_by=("metric", "queue"))

    def _figure(self, results: Results) -> Built:
        lines = [c for c in compare(self._rows(results), self.published("table1")).rows if c.metric == "wait"]
        curves = []
        for queue in QUEUES:
            of = [c for c in lines if dict(c.factors)["queue"] == queue]
            curves.append(
                charts.Curve(
                    queue,
                    [float(dict(c.factors)["senders"]) for c in of],
                    [c.ours for c in of],
                    [c.low for c in of],
                    [c.high for c in of],
                    [c.published for c in of],
                )
            )
        panel = charts.Lines(curves, charts.Axes("waiting time", "senders", "ms", ticks=SENDERS))
        caption = "Filled marks and solid lines: our mean with its 95 % interval. Hollow marks and dotted lines: published."
        return Built(Comparison(lines), pictures=[Picture("fig2", self.title_of("fig2"), caption, [panel])], show_table=False)

    # Other choices for unstated parameters: each is run too, and the page names the claims whose outcome changes.
    # Where you can name plausible values, declare them in `opens` and `setting` instead: settings are then drawn from everything
    # together (docs/guides/own-paper.md).

    def alternatives(self) -> list[Alternative]:
        """Other choices, each changed alone."""

        def together(t: Tree, combination: Combination) -> None:
            t["flows"]["tcp"]["spread"] = "0s"

        def delayed(t: Tree, combination: Combination) -> None:
            t["flows"]["tcp"]["tcp"]["ack_every"] = 2

        return [
            Alternative("all start at once", "the paper may have done so", lambda: self._combinations(together)),
            Alternative("delayed acknowledgments", "the receivers of most systems", lambda: self._combinations(delayed)),
        ]

    def sensitivity_columns(self) -> list[SensitivityColumn]:
        """The numbers shown for each other choice."""
        return [SensitivityColumn(f"wait, {q}, 2 senders", "wait", "ms", {"senders": 2, "queue": q}) for q in QUEUES]

    # Findings

    def findings(self, results: Results, others: Mapping[str, Results]) -> list[str]:
        """Sentences at the top of the page, with the numbers of the runs at hand."""
        waits = [results.mean("wait", senders=10, queue=q) for q in QUEUES]
        return [f"With ten senders a packet waits {waits[0]:.1f} ms with DropTail and {waits[1]:.1f} ms with RED."]

    def causes(self, results: Results, others: Mapping[str, Results]) -> Mapping[str, str]:
        """Why a claim comes out as it does, where that needs saying, by its id."""
        use = min(results.mean("use", senders=n, queue="RED") for n in SENDERS)
        return {"C1": f"The least busy link has RED and is used for {use:.1f} % of the time."}
