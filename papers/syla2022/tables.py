"""The tables of Syla et al., and the experiments that the paper only tells of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fairlane.papers import Built, Compared, Comparison, Paper, Picture, Results, Row, charts, compare, drawings, factors_of, row_of

from .text import outcomes

UNITS = {
    "packets_sent": "packets",
    "packets_lost": "packets",
    "mean_delay": "ms",
    "throughput": "Mbit/s",
    "udp_received": "packets",
    "tcp_received": "packets",
}
_SUSPECT = {("throughput", "0.5"): 1}
"""Published values of Table 2 that a link cannot carry if each packet counts once, with the number of the contradiction in paper.toml."""


class BuildsTables(Paper):
    """Tables side by side."""

    def fig1(self, _: Results) -> Built:
        """The topology."""
        wide = self.scenario("network.toml")["topology"]["dumbbell"]
        rows = [
            Compared(factors_of(link=name), what, unit, value, ours)
            for name, rate, published, delay in (
                ("access links", wide["access"]["rate"], 100.0, wide["access"]["delay"]),
                ("shared link", wide["bottleneck"]["rate"], 5.0, wide["bottleneck"]["delay"]),
            )
            for what, unit, value, ours in (
                ("rate", "Mbit/s", published, float(rate.removesuffix("Mbit/s"))),
                ("propagation delay", "ms", None, float(delay.removesuffix("ms"))),
            )
        ]
        picture = Picture("fig1", self.title_of("fig1"), self.words["experiments"]["fig1"]["caption"], [drawings.Topology(self.topology())])
        return Built(Comparison(rows), [], [picture], group_by=("link",))

    def table1(self, _: Results) -> Built:
        """The parameter list."""
        tree = self.topology()
        pairs = int(tree["topology"]["dumbbell"]["pairs"])
        rows = [
            Compared((), "nodes", "", 22.0, 2.0 * pairs + 2),
            Compared((), "fast links", "Mbit/s", 100.0, 100.0),
            Compared((), "slow link", "Mbit/s", 5.0, 5.0),
            Compared((), "simulated time", "s", 0.1, float(str(tree["duration"]).removesuffix("s")), impossible=2),
        ]
        return Built(Comparison(rows), notes=["Sources: Vegas, Sack and Fack (Tahoe appears in Fig. 7 only). Queues: DropTail or RED."])

    def table2(self, r: Results) -> Built:
        """One flow against CBR streams."""
        published = self.published("table2")
        wanted = dict.fromkeys((p["tcp"], p["queue"], p["cbr_rate_mbps"]) for p in published)
        rows = [self._row(r, tcp, queue, rate, metric) for metric in UNITS for tcp, queue, rate in wanted]
        built = Built(compare(rows, published), rows, group_by=("metric", "queue", "cbr_rate_mbps"))
        built.comparison.rows = [_flagged(c) for c in built.comparison.rows]
        built.notes = [self._counting()]
        panels = [self._by_streams(built.comparison.rows, m, f"{m.replace('_', ' ')}, {UNITS[m]}") for m in list(UNITS)[:4]]
        caption = "Filled: ours, with 95 % intervals; hollow: published; crossed: published, more than the link can carry."
        built.pictures.append(Picture("table2", self.title_of("table2"), caption, panels))
        return built

    @staticmethod
    def _by_streams(rows: Sequence[Compared], metric: str, title: str) -> charts.Lines:
        """One metric of each variant, published and ours, for each queue and rate of the streams."""
        of = {tuple(dict(x.factors)[k] for k in ("tcp", "queue", "cbr_rate_mbps")): x for x in rows if x.metric == metric}
        places = list(dict.fromkeys(key[1:] for key in of))
        curves = []
        for tcp in dict.fromkeys(key[0] for key in of):
            at = [of.get((tcp, *place)) for place in places]
            curves.append(
                charts.Curve(
                    tcp,
                    [float(i) for i in range(len(places))],
                    [None if x is None else x.ours for x in at],
                    [None if x is None else x.low for x in at],
                    [None if x is None else x.high for x in at],
                    published=[None if x is None else x.published for x in at],
                    crossed=[bool(x and x.impossible) for x in at],
                )
            )
        names = [f"{queue}, {rate}" for queue, rate in places]
        log = metric != "mean_delay"
        what, _, unit = title.rpartition(", ")
        return charts.Lines(curves, charts.Axes(what, "queue, Mbit/s of a stream", unit, log_y=log, names=names))

    def _counting(self) -> str:
        """How packets are counted in the setting of these tables."""
        times, added = self.declared_setting["a packet counts"], self.declared_setting["throughput counts a packet"]
        told = (
            f"Counts are ours times {times}: all published counts of packets are multiples of five."
            if times != 1
            else "Each packet counts once."
        )
        return told if added == "once" else f"{told} The throughput of Table 2 adds the bytes of a packet {added}."

    def _row(self, r: Results, tcp: str, queue: str, rate: str, metric: str) -> Row:
        combination = r.combination(part="one", tcp=tcp, queue=queue, cbr_rate_mbps=rate)
        quantity = "throughput_counted" if metric == "throughput" else metric
        return row_of({"tcp": tcp, "queue": queue, "cbr_rate_mbps": rate}, metric, r.samples(combination, quantity), UNITS[metric])

    def table2_combination(self, tcp: str, queue: str, rate: str, r: Results) -> Built:
        """One cell of Table 2."""
        published = [p for p in self.published("table2") if (p["tcp"], p["queue"], p["cbr_rate_mbps"]) == (tcp, queue, rate)]
        built = Built(compare([self._row(r, tcp, queue, rate, metric) for metric in UNITS], published))
        built.comparison.rows = [_flagged(c) for c in built.comparison.rows]
        return built

    def table3(self, r: Results) -> Built:
        """Five flows of one variant over RED: counts and delay."""
        units = {"tcp_packets": "packets", "acks_from_sinks": "packets", "tcp_drops": "packets", "ack_drops": "packets", "mean_delay": "ms"}
        ours = {"tcp_packets": "packets_sent", "tcp_drops": "packets_lost"}

        def rows_of(combinations: Sequence[tuple[str, str]]) -> list[Row]:
            return [
                row_of(
                    {"tcp": t, "queue": q},
                    metric,
                    r.samples(r.combination(part="five", tcp=t, queue=q), ours.get(metric, metric)),
                    units[metric],
                )
                for metric in units
                for t, q in combinations
                if r.has(part="five", tcp=t, queue=q)
            ]

        rows = rows_of([(t, "RED") for t in ("Vegas", "Sack", "Fack")])
        built = Built(compare(rows, self.published("table3")), rows, group_by=("metric",), notes=[self._counting()])
        others = [("Tahoe", "RED"), *((t, "DropTail") for t in ("Tahoe", "Vegas", "Sack", "Fack"))]
        built.more = compare(rows_of(others), []).rows
        built.more_title = "The same with the other queue, and Tahoe (not published)"
        return built

    def mixed(self, r: Results) -> Built:
        """Two flows of different variants."""
        rows = [
            row_of({"pair": combination["pair"], "tcp": tcp}, "throughput", r.samples(combination, f"throughput_{i}"), "Mbit/s")
            for combination in r.combinations
            if combination["part"] == "mixed"
            for i, tcp in enumerate(combination["pair"].split("-"))
        ]
        built = Built(compare(rows, []), rows, group_by=("pair",))
        built.notes = [f"The paper tells of this without numbers and names no queue. {outcomes(r)}"]
        return built

    def rtt(self, r: Results) -> Built:
        """Two flows, one with a longer path."""
        rows = [
            row_of({"tcp": combination["tcp"], "flow": flow}, "throughput", r.samples(combination, f"throughput_{i}"), "Mbit/s")
            for combination in r.combinations
            if combination["part"] == "rtt"
            for i, flow in enumerate(("short", "long"))
        ]
        return Built(compare(rows, []), rows, group_by=("tcp",))

    def latency(self, r: Results) -> Built:
        """Five Vegas flows, over the path of part 2 and over a longer one: how much their throughputs vary over time."""
        rows = [
            row_of({"tcp": "Vegas", "latency": name}, metric, r.samples(r.combination(part=part, tcp="Vegas", queue="RED"), metric), unit)
            for metric, unit in (("unsteadiness", "1"), ("throughput", "Mbit/s"), ("jain", "1"))
            for name, part in (("short", "five"), ("long", "latency"))
        ]
        return Built(compare(rows, []), rows, group_by=("metric",))

    def unit(self, r: Results) -> Built:
        """How many packets Management holds, and that it is ns-2's DropTail."""
        rows: list[Row] = []
        shown: list[Row] = []
        for limit in sorted({int(c["limit"]) for c in r.combinations if c["part"] == "unit"}):
            own = r.combination(part="unit", queue="Management", limit=limit)
            rows += [row_of({"limit": limit}, m, r.samples(own, m), "packets") for m in ("max_waiting", "delivered")]
            for name, queue in (("ns-2's DropTail", "DropTail"), ("a DropTail that keeps n", "DropTail that keeps n")):
                if r.has(part="unit", queue=queue, limit=limit):
                    other = r.combination(part="unit", queue=queue, limit=limit)
                    same = [100.0 * (a == b) for a, b in zip(r.samples(own, "trace"), r.samples(other, "trace"), strict=True)]
                    shown.append(row_of({"limit": limit}, f"runs equal, packet for packet, to those of {name}", same, "percent"))
        every = sorted([*rows, *shown], key=lambda row: row.metric)
        return Built(compare(every, []), rows, group_by=("metric",))


def _flagged(c: Compared) -> Compared:
    number = _SUSPECT.get((c.metric, dict(c.factors).get("cbr_rate_mbps", "")))
    return replace(c, impossible=number) if number is not None and c.published is not None else c
