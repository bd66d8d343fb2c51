"""Nowak, Domańska and Domański 2009: which queue, or pair of queues, treats TCP and a video over UDP fairly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from fairlane.papers import Built, Combination, Compared, Experiment, Picture, Results, Row, SensitivityColumn, charts

from .net import CAPTIONED, CASES, REFERENCE, SAME
from .rows import FIGURES, PUBLISHED, WORDS
from .text import FIFOS, causes, findings, round_trips
from .unpublished import Studies


class Nowak2009(Studies):
    """The study and how it is rebuilt."""

    minutes = 1.5
    tables = ("shares", "fig1_fig2", "reference_run")
    seeds = tuple(range(1, 7))
    alternative_seeds = (1, 2, 3)
    quick_seeds = (2,)  # every claim comes out as over all six; in 1, N16 does not
    reference = SAME

    def claim_tables(self, results: Results, built: Mapping[str, Built]) -> Mapping[str, list[Row]]:
        """Claims read Table 1 with C9 and C3m, the shares of the link, and the two windows."""
        cases = [*self._cases(results), *(CAPTIONED for _ in (0,) if results.has(set="table", case=CAPTIONED))]
        return {
            "table1": [x for case in cases for x in self._case_rows(results, case)],
            "shares": [x for case in cases for x in self._share_rows(results, case)],
            "fig1_fig2": self._window_rows(results),
            "reference_run": self._reference_rows(results),
        }

    def _reference_rows(self, r: Results) -> list[Row]:
        """The run of TCP alone that is compared with the reference run; none if it was not made."""
        at = dict(zip(("rate", "queue", "law"), REFERENCE, strict=True))
        if not r.has(set="alone", **at):
            return []
        combination = r.combination(set="alone", **at)
        return [
            x
            for q, unit in (("mean_size", "packets"), ("stddev_size", "packets"), ("rtt", "s"))
            for x in self._row(r, combination, q, {}, q, unit)
        ]

    def experiments(self) -> list[Experiment]:
        """All tables and figures, and the questions that the paper leaves without numbers."""
        e = self.experiment

        def case(*names: str) -> Callable[[Combination], bool]:
            return lambda c: c["set"] in ("table", "events") and c["case"] in names

        parts = [
            Experiment(
                f"table1/{c}",
                f"Table 1, {c}: {WORDS[c]}",
                "One row of Table 1.",
                partial(self._table1_part, c),
                case(c),
                "table1",
            )
            for c in PUBLISHED
        ]
        return [
            e("fig3", self._fig3, lambda _: False),
            e("table1", self._table1, case(*CASES)),
            *parts,
            e("observed", self._observed, case(*CASES)),
            e("prio-mod", self._prio_mod, case("C3", "C3m")),
            e("fig4", self._fig4, case("C2")),
            *(e(name, partial(self._queues_over_time, name, c), case(c)) for name, c in FIGURES.items()),
            e("tcp-only", self._alone_table, lambda c: c["set"] == "alone"),
            e("rate-sweep", self._rates, lambda c: c["set"] == "stated"),
            e("closing-question", self._closing, lambda c: c["set"] in ("long", "unseen")),
            e("fig1", partial(self._window, "fig1", "Reno"), lambda c: c["set"] == "window" and c["tcp"] == "Reno"),
            e("fig2", partial(self._window, "fig2", "Vegas"), lambda c: c["set"] == "window" and c["tcp"] == "Vegas"),
        ]

    def _table1(self, r: Results) -> Built:
        rows = [x for case in self._cases(r) for x in self._case_rows(r, case)]
        built = Built(self._against_published(rows), rows, group_by=("case", "scheduler", "queue1_type", "queue2_type"))
        of = (("time_mean", "mean over time", "packets"), ("time_sd", "deviation over time", "packets"), ("max", "longest", "packets"))
        combinations = [(r.combination(set="table", case=c), {"case": c}) for c in self._cases(r)]
        by_time = self._quantities(
            r, combinations, [(f"queue{n}_{q}", f"queue {n}, {metric}", unit) for n in (1, 2) for q, metric, unit in of]
        )
        built.more, built.more_title = [self._ours(x) for x in by_time], "The same lengths as means over time"
        built.notes.append(
            "Lengths are weighted by packets, as the paper's recorder wrote one value at every packet put in or taken out: a queue "
            "that is empty because its transfer is over does not count. The video's short queues (C5, C8, C9) are taken from samples "
            "a millisecond apart. A connection times one segment a window, and each counts once; the smoothed round trip begins at 0, as "
            "it does in the paper's simulator."
        )
        if all(c in self._cases(r) for c in FIFOS):
            built.notes += round_trips(r, self.published("table1"))
        panels = []
        for quantity, title, y, log in (
            (("TCP", "rtt"), "round trip of TCP", "s, mean of three", True),
            (("queue1", "mean_size"), "queue 1 (TCP)", "packets", True),
            (("queue2", "mean_size"), "queue 2 (video)", "packets", True),
        ):
            panels.append(self._by_case(built.comparison.rows, *quantity, title, y, log))
        titles = {e.id: e.title.partition(": ")[2] for e in self.experiments() if e.id.startswith("table1/")}
        names = "; ".join(f"{c[1:]} {titles[f'table1/{c}']}" for c in PUBLISHED)
        caption = f"Cases: {names}. Filled: ours; hollow: published; crossed: published, in contradiction to other numbers of the paper."
        built.pictures.append(Picture("table1", self.title_of("table1"), caption, list(panels)))
        return built

    @staticmethod
    def _by_case(rows: Sequence[Compared], thing: str, metric: str, title: str, y: str, log: bool) -> charts.Lines:
        """One quantity over the cases, published and ours."""
        found: dict[str, list[Compared]] = {c: [] for c in PUBLISHED}
        for row in rows:
            f = dict(row.factors)
            if row.metric == metric and f["case"] in found and f["object"].startswith(thing):
                found[f["case"]].append(row)
        cases = [c for c in PUBLISHED if found[c]]

        def mean(values: list[float | None]) -> float | None:
            known = [v for v in values if v is not None]
            return sum(known) / len(known) if known else None

        curve = charts.Curve(
            "",
            [float(c[1:]) for c in cases],
            [mean([x.ours for x in found[c]]) for c in cases],
            published=[mean([x.published for x in found[c]]) for c in cases],
            crossed=[any(x.impossible for x in found[c]) for c in cases],
        )
        return charts.Lines([curve], charts.Axes(title, "case", y, log_y=log, ticks=[float(c[1:]) for c in cases]))

    def _table1_part(self, case: str, r: Results) -> Built:
        return Built(self._against_published(self._case_rows(r, case)))

    # Other choices

    def sensitivity_columns(self) -> list[SensitivityColumn]:
        """Numbers the open choices move most."""

        def of(title: str, quantity: str, unit: str, case: str, published: float | None) -> SensitivityColumn:
            return SensitivityColumn(title, quantity, unit, {"set": "table", "case": case}, published)

        return [
            of("C1 queue", "queue1_mean", "packets", "C1", 36.7),
            of("C2 queue", "queue1_mean", "packets", "C2", 32),
            *(of(f"{c} TCP queue", "queue1_mean", "packets", c, x) for c, x in (("C3", 11), ("C4", 69), ("C5", 111), ("C6", 90.9))),
            of("C3 video queue", "queue2_mean", "packets", "C3", 960),
            of("C6 video queue", "queue2_mean", "packets", "C6", 960),
            of("C6 round trip", "rtt", "s", "C6", 0.787),
            of("C8 round trip", "rtt", "s", "C8", 0.277),
        ]

    def findings(self, results: Results, others: Mapping[str, Results]) -> list[str]:
        """See `text.py`."""
        return findings(results, others, self.published("table1"))

    def causes(self, results: Results, others: Mapping[str, Results]) -> Mapping[str, str]:
        """See `text.py`."""
        return causes(results, others, self.published("table1"))
