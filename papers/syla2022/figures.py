"""The figures of Syla et al."""

from __future__ import annotations

from collections.abc import Sequence

from fairlane.papers import Built, Combination, Comparison, Picture, Results, Row, charts, compare, row_of, series

from .tables import BuildsTables

_MEANS = "Solid: our mean with its 95 % interval."


class Figures(BuildsTables):
    """Figures redrawn; the paper's own are not available as numbers."""

    def _traces(self, r: Results, combinations: Sequence[tuple[str, Combination]], names: Sequence[str]) -> list[series.Trace]:
        """One series of each combination, from the first replication."""
        out = []
        for (label, combination), name in zip(combinations, names, strict=True):
            curves = r.curves(combination, name)
            if curves:
                out.append(series.Trace(label, *curves[0]))
        return out

    def over_time(self, name: str, queue: str, rate: str, r: Results) -> Built:
        """Throughput of one flow over time, one curve a variant."""
        combinations = [
            (c["tcp"], c)
            for c in r.combinations
            if c["part"] == "one" and c["queue"] == queue and c["cbr_rate_mbps"] == rate and c["tcp"] != "Tahoe"
        ]
        traces = self._traces(r, combinations, ["rate tcp0"] * len(combinations))
        rows = [row_of({"tcp": t}, "throughput", r.samples(c, "throughput"), "Mbit/s") for t, c in combinations]
        whole = series.Series(traces, f"{queue}, CBR {rate} Mbit/s", "time, s", "throughput, Mbit/s")
        panels = [whole]
        caption = "First replication, in intervals of half a second. The paper's curves are not available; its means are in Table 2."
        if rate == "3":
            begin = [series.Trace(t.name, t.times[:12], t.values[:12]) for t in traces]
            panels = [whole, series.Series(begin, "the first six seconds", "time, s", "throughput, Mbit/s")]
        built = Built(compare(rows, []), rows)
        built.pictures.append(Picture(name, self.title_of(name), caption, list(panels)))
        return built

    def sweep(self, r: Results) -> Built:
        """All variants and both queues over the CBR rate."""
        metrics = {"throughput": "Mbit/s", "packets_lost": "packets", "mean_delay": "ms", "udp_received": "packets"}
        combinations = [c for c in r.combinations if c["part"] == "one"]
        rows = [row_of(c.factors[1:], m, r.samples(c, m), unit) for m, unit in metrics.items() for c in combinations]
        compared = compare(rows, []).rows
        built = Built(Comparison(), rows, group_by=("metric", "queue", "tcp"), show_table=False)
        built.more, built.more_title = compared, "All values"
        panels = []
        for m, title in (("throughput", "TCP throughput, Mbit/s"), ("mean_delay", "delay, ms")):
            for q in ("DropTail", "RED"):
                of = [x for x in rows if x.metric == m and dict(x.factors)["queue"] == q]
                panels.append(self._panel(of, "cbr_rate_mbps", f"{q}: {title.split(',')[0]}", "rate of a CBR stream, Mbit/s", title))
        built.pictures.append(Picture("part1-cbr-sweep", self.title_of("part1-cbr-sweep"), _MEANS, list(panels)))
        return built

    def _panel(self, rows: Sequence[Row], x: str, title: str, across: str, up: str, by: str = "tcp") -> charts.Lines:
        curves = []
        for name in sorted(
            dict.fromkeys(dict(row.factors)[by] for row in rows), key=lambda x: x == "Tahoe"
        ):  # colours as in the other figures
            of = [row for row in rows if dict(row.factors)[by] == name and row.value == row.value]
            curves.append(
                charts.Curve(
                    name, [float(dict(o.factors)[x]) for o in of], [o.value for o in of], [o.low for o in of], [o.high for o in of]
                )
            )
        return charts.Lines(curves, charts.Axes(title, across, up, ticks=sorted({v for c in curves for v in c.x})))

    def fig5(self, r: Results) -> Built:
        """The window over time."""
        combinations = [(t, r.combination(part="one", tcp=t, queue="DropTail", cbr_rate_mbps="0.5")) for t in ("Vegas", "Sack", "Fack")]
        rows = [row_of({"tcp": t}, m, r.samples(c, m), "packets") for t, c in combinations for m in ("cwnd_max", "cwnd_mean", "cwnd_step")]
        traces = self._traces(r, combinations, ["window tcp0"] * 3)
        short = [series.Trace(t.name, t.times[:201], t.values[:201]) for t in traces]
        panels = [series.Series([t], t.name, "time, s", "window, packets", size=(3.9, 2.3)) for t in short]
        caption = "First replication, the first 20 s. The paper says that Vegas grows in steps of one and that Sack and Fack stay at 1."
        built = Built(compare(rows, []), rows, group_by=("metric",))
        built.pictures.append(Picture("fig5", self.title_of("fig5"), caption, list(panels)))
        return built

    def fig6(self, r: Results) -> Built:
        """The phases of a window, from a run."""
        combination = r.combination(part="window")
        units = {
            "growth_per_rtt_slow_start": "times", "growth_per_rtt_avoidance_packets": "packets", "window_after_fast_retransmit": "packets",
            "window_before_timeout": "packets", "window_after_timeout": "packets", "threshold_after_timeout": "packets",
        }  # fmt: skip
        rows = [row_of({}, m, r.samples(combination, m), unit) for m, unit in units.items()]
        built = Built(compare(rows, []), rows)
        traces = self._traces(r, [("window", combination), ("threshold", combination)], ["window tcp", "threshold tcp"])
        spans = [(0.0, 0.45, "SS"), (0.45, 2.35, "CA"), (2.35, 4.15, "FR, CA"), (4.15, 4.65, "SS"), (4.65, 9.0, "CA")]
        caption = (
            "A run, not a sketch: Reno over a path of 100 ms that loses one packet at 2.4 s and sixteen in a row at 4.2 s. SS: slow start, "
            "CA: congestion avoidance, FR: fast retransmit."
        )
        built.pictures.append(
            Picture("fig6", self.title_of("fig6"), caption, [series.Series(traces, "", "time, s", "packets", spans=spans, size=(4.4, 2.6))])
        )
        return built

    def five(self, name: str, tcp: str, queue: str, r: Results) -> Built:
        """Five flows of one variant."""
        combination = r.combination(part="five", tcp=tcp, queue=queue)
        rows = [
            row_of({"tcp": tcp, "queue": queue, "flow": f"n{5 + i}"}, "throughput", r.samples(combination, f"throughput_{i}"), "Mbit/s")
            for i in range(5)
        ]
        fair = row_of({"tcp": tcp, "queue": queue, "flow": "all"}, "Jain's index", r.samples(combination, "jain"), "1")
        built = Built(compare([*rows, fair], []), rows, group_by=("metric",))
        traces = self._traces(r, [(f"n{5 + i}", combination) for i in range(5)], [f"rate tcp{i}" for i in range(5)])
        caption = "First replication, in intervals of two seconds; one curve for each sink."
        panel = series.Series(traces, f"five {tcp} flows, {queue}", "time, s", "throughput, Mbit/s", level=1.0)
        built.pictures.append(Picture(name, self.title_of(name), caption + " Dashed: a fifth of the link.", [panel]))
        shares = [r.samples(combination, f"throughput_{i}") for i in range(5)]
        wins = [per_run.index(max(per_run)) for per_run in zip(*shares, strict=True)]
        won = ", ".join(f"n{5 + i} {wins.count(i)}" for i in range(5) if wins.count(i))
        built.notes.append(
            f"The flow that gets most, over the replications: {won}. Which one n9 of the paper was depends on a drawing that is not at "
            f"hand."
        )
        return built

    def fig11(self, r: Results) -> Built:
        """Throughput against the threshold."""
        built = self._against_threshold(r, "threshold", "throughput", "Mbit/s", "fig11", "throughput of both flows, Mbit/s")
        built.rows += self.fairness(r).rows  # claims read both as one table
        return built

    def fairness(self, r: Results) -> Built:
        """Fairness against the buffer."""
        return self._against_threshold(r, "fairness", "jain", "1", "part3-fairness", "Jain's index")

    def _against_threshold(self, r: Results, part: str, metric: str, unit: str, name: str, up: str) -> Built:
        combinations = [c for c in r.combinations if c["part"] == part]
        rows = [row_of(c.factors[1:], metric, r.samples(c, metric), unit) for c in combinations]
        built = Built(compare(rows, []), rows, group_by=("queue",))
        panel = self._panel(rows, "threshold", self.title_of(name), "threshold, packets", up, by="queue")
        built.pictures.append(Picture(name, self.title_of(name), _MEANS, [panel]))
        return built
