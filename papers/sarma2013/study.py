"""Sarma 2013: TCP and UDP with DropTail and RED in a fast local network."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from fairlane.papers import (
    Alternative,
    Built,
    Change,
    Combination,
    Compared,
    Comparison,
    Experiment,
    Factors,
    Open,
    Paper,
    Picture,
    Results,
    Row,
    RunTables,
    SensitivityColumn,
    Tree,
    Value,
    all_of,
    charts,
    compare,
    copy_tree,
    drawings,
    factors_key,
    factors_of,
    row_of,
)

from .opens import DECLARED, ONE, OPENS, change_to
from .text import DEEP, ONE_LIMIT, PROMPT, ROOMY, causes, findings

CONGESTED = (3, 5, 8, 10)
HEAVY = (25, 35, 50)
QUEUES = ("DropTail", "RED")
SHARED_LINK = 50_000.0
"""Rate of the router-server link, kbit/s."""
COUNTED = 1500
"""Bytes the published throughput counts for each packet."""
_FIXED = 3.0 + 10.0
"""Propagation over an access link and the shared one, ms."""
SAME = "the first two replications alone"
"""Baseline of the other choices."""
_IMPOSSIBLE = 3
"""The contradiction whose value is crossed out in figures."""

# Combinations whose published value contradicts another number; the number is that of the list in paper.toml.
_SUSPECT: dict[str, dict[tuple[str, str, str], int]] = {
    "table2": {("3", "DropTail", "TCP-UDP"): 2},
    "table3": {("8", "DropTail", "TCP"): _IMPOSSIBLE},
}


def _measured(factors: Factors, name: str, row: Row) -> Compared:
    return Compared(factors, name, row.unit, None, row.value, row.low, row.high, len(row.samples))


def _after_access(run: RunTables) -> float:
    """Mean delay of the packets from the router on, plus 3 ms, in ms: what the published numbers count (contradiction 1).

    All packets of the shared link come from clients, so it is their mean wait there, the transmission of a packet (40 bytes more with TCP)
    and 13 ms of propagation.
    """
    f = run.flows
    bits = sum(8 * k * (COUNTED + (40 if n.startswith("tcp") else 0)) for n, k in zip(f["name"], f["packets_received"], strict=True))
    sending: float = bits / sum(f["packets_received"]) / SHARED_LINK
    return 1e3 * run.link("server", "sojourn_mean") + sending + _FIXED


class Sarma2013(Paper):
    """The study and how it is rebuilt."""

    minutes = 1.5
    declared = DECLARED
    most_settings = 256
    quick_seeds = (1,)
    hop_probe = False  # what it measures is the wait at the shared link and what is fixed: see `_after_access`
    flow_columns = (
        "packets_sent", "packets_received", "packets_lost", "throughput", "goodput", "delay_mean", "retransmits", "timeouts", "rtt_mean",
    )  # fmt: skip
    link_columns = (
        "utilisation", "sojourn_mean", "queue_mean", "queue_max", "arrivals", "drops", "drops_overflow", "drops_early", "drops_forced",
    )  # fmt: skip
    links = ("server", "c0")
    reference = SAME

    def opens(self) -> list[Open]:
        """See `opens.py`."""
        return list(OPENS)

    def setting(self, values: Mapping[str, Value]) -> list[Combination]:
        """TCP and UDP with both queues, TCP also with many clients, and the shared network with DropTail."""
        return self._combinations(change_to(values), float(values["TCP share"]))

    def combinations(self) -> list[Combination]:
        """Returns the values of the declared setting."""
        return self.setting(self.declared_setting)

    def _combinations(self, change: Change, tcp_share: float) -> list[Combination]:
        kinds = [(n, q, t) for t in ("TCP", "UDP") for q in QUEUES for n in CONGESTED + (HEAVY if t == "TCP" else ())]
        kinds += [(n, "DropTail", "TCP-UDP") for n in CONGESTED]
        return [self._combination(n, q, t, change, tcp_share) for n, q, t in kinds]

    def _combination(self, n: int, queue: str, traffic: str, change: Change, tcp_share: float) -> Combination:
        blocks, base = self.scenario("combinations.toml"), self.scenario("lan.toml")

        def tree(seed: int) -> Tree:
            t = copy_tree(base)
            t["name"] = f"{traffic}, {queue}, {n} clients"
            t["seed"] = seed
            t["topology"]["star"].update(clients=n, queue=copy_tree(blocks["queue"][queue]))
            tcp = {"TCP": n, "UDP": 0, "TCP-UDP": min(n - 1, math.ceil(n * tcp_share))}[traffic]
            t["flows"] = {}
            for name, first, count in (("tcp", 0, tcp), ("udp", tcp, n - tcp)):
                if count:
                    block = copy_tree(blocks["flow"][name])
                    t["flows"][name] = {"from": "c{i}", "to": "server", "count": count, "first": first, **block}
            change(t, combination)
            return t

        combination = Combination(factors_of(clients=n, queue=queue, traffic=traffic), tree)
        return combination

    def topology(self) -> Tree:
        """Ten clients."""
        declared = self.declared_setting
        return self._combination(10, "DropTail", "TCP", change_to(declared), float(declared["TCP share"])).tree(1)

    def measure(self, run: RunTables, combination: Combination) -> dict[str, float]:
        """The paper's metrics of one run: means over the clients, delays over the delivered packets."""
        f, seconds, n = run.flows, 100.0, int(combination["clients"])
        received, sent, lost = sum(f["packets_received"]), sum(f["packets_sent"]), sum(f["packets_lost"])

        def over_packets(column: str) -> float:
            pairs = zip(f[column], f["packets_received"], strict=True)
            return float(1e3 * sum(d * k for d, k in pairs if k and d is not None) / received)

        counted = received * COUNTED * 8 / seconds / 1e3
        dropped = run.link("server", "drops")
        early = run.link("server", "drops_early") if "drops_early" in run.links else 0.0
        forced = run.link("server", "drops_forced") if "drops_forced" in run.links else 0.0
        return {
            "throughput_per_client": counted / n,
            "throughput_on_wire": sum(f["throughput"]) / n / 1e3,
            "utilization": 100 * counted / SHARED_LINK,
            "packet_loss_rate": 100 * lost / sent,
            "mean_end_to_end_delay": _after_access(run),
            "full_one_way_delay": over_packets("delay_mean"),
            "router_loss": 100 * dropped / sent,
            "router_overflow_share": 100 * (dropped - early - forced) / dropped if dropped else 0.0,
            "router_queue": run.link("server", "queue_mean"),
            "round_trip": 1e3 * sum(x or 0.0 for x in f["rtt_mean"]) / n,
            "timeouts": sum(x or 0 for x in f["timeouts"]) / n,
        }

    def experiments(self) -> list[Experiment]:
        """All tables and figures of the paper."""
        e = self.experiment
        unshared: Callable[[Combination], bool] = lambda c: c["traffic"] != "TCP-UDP"  # noqa: E731
        return [
            e("fig2", self._fig2, lambda _: False),
            e("table1", self._table1),
            e("fig3", lambda r: self._drawn(self._delay_table(r), "fig3", "delay, ms")),
            e("table2", self._delay_table),
            e("fig4", lambda r: self._drawn(self._throughput_table(r), "fig4", "throughput, kbit/s", log=True), unshared),
            e("table3", self._throughput_table, unshared),
            e("fig5", lambda r: self._drawn(self._loss_table(r), "fig5", "loss, %")),
            e("table4", self._loss_table),
            e("fig6", lambda r: self._utilization(r, "fig6", "DropTail"), lambda c: unshared(c) and c["queue"] == "DropTail"),
            e("fig7", lambda r: self._utilization(r, "fig7", "RED"), lambda c: unshared(c) and c["queue"] == "RED"),
            e("bdp", self._bdp, lambda c: c["traffic"] == "TCP" and c["clients"] == "10" and c["queue"] == "DropTail"),
            e("fig1", self._fig1, lambda c: c["traffic"] == "TCP" and c["clients"] == "50" and c["queue"] == "RED"),
        ]

    # Tables

    def _suspect(self, table: str) -> dict[Factors, int]:
        names = ("clients", "queue", "traffic")
        return {tuple(zip(names, combination, strict=True)): number for combination, number in _SUSPECT.get(table, {}).items()}

    def _peer(self, metric: str) -> list[dict[str, str]]:
        """The ns-2 values of a metric with the same parameters and starts, which are those of the TCP runs: its runs with UDP have their
        limit, too. Throughput counts 1500 bytes per packet, as published."""
        return [dict(r) for r in self.published("ns2_declared") if r["metric"] == metric and r["traffic"] == "TCP"]

    def _side_by_side(self, r: Results, table: str, metric: str, unit: str) -> Built:
        wanted = {factors_key(p, ("clients", "queue", "traffic")) for p in self.published(table)}
        rows = r.rows(metric, metric, unit, lambda c: c.factors in wanted)
        comparison = compare(rows, self.published(table), self._peer(metric), self._suspect(table))
        return Built(comparison, rows, peer_name=self.words["peer"], group_by=("traffic", "queue"))

    def _delay_table(self, r: Results) -> Built:
        built = self._side_by_side(r, "table2", "mean_end_to_end_delay", "ms")
        full = r.rows("full_one_way_delay", "full_one_way_delay", "ms")
        built.more = compare(full, [], self._peer("full_one_way_delay")).rows
        built.more_title = "The full one-way delay, from the client's queue to the server (not published in the paper)"
        return built

    def _throughput_table(self, r: Results) -> Built:
        built = self._side_by_side(r, "table3", "throughput_per_client", "kbit/s")
        wire = [row for row in r.rows("throughput_on_wire", "throughput_on_wire", "kbit/s") if dict(row.factors)["traffic"] == "TCP"]
        built.more = compare(wire, []).rows
        built.more_title = "TCP throughput counting all 1540 bytes of a packet on the wire"
        return built

    def _loss_table(self, r: Results) -> Built:
        return self._side_by_side(r, "table4", "packet_loss_rate", "percent")

    def _table1(self, r: Results) -> Built:
        rows: list[Compared] = []
        published = {int(p["clients"]): p for p in self.published("table1")}
        columns = (("TCP", "tcp"), ("UDP", "udp"), ("TCP-UDP", "shared_tcp_udp"))
        for n, p in published.items():
            factors = factors_of(clients=n, label=p["congestion_level"])
            kinds = sum(p[column] == "yes" for _, column in columns)
            ours = sum(r.has(clients=n, traffic=traffic) for traffic, _ in columns)
            rows.append(Compared(factors, "kinds of traffic simulated", "", float(kinds), float(ours)))
            for traffic in ("TCP", "UDP"):
                if r.has(clients=n, queue="DropTail", traffic=traffic):
                    combination = r.combination(clients=n, queue="DropTail", traffic=traffic)
                    row = row_of(factors_of(clients=n), "router_loss", r.samples(combination, "router_loss"), "percent")
                    name = f"lost at the router, {traffic}, DropTail"
                    rows.append(_measured(factors, name, row))
            rows.append(Compared(factors, "offered load", "times the shared link", ours=n / 5, impossible=6 if n == 5 else None))
        return Built(Comparison(sorted(rows, key=lambda row: row.metric)), group_by=("metric",))

    def _bdp(self, r: Results) -> Built:
        path, link = 2 * (3 + 10) / 1e3, 2 * 10 / 1e3
        bits = SHARED_LINK * 1e3
        trip = row_of({}, "round_trip", r.samples(r.combination(clients=10, queue="DropTail", traffic="TCP"), "round_trip"), "ms")
        waiting = int(str(self.declared_setting["server limit"]).removesuffix("p")) - 1
        product, need = "bandwidth-delay product", factors_of(of="round trip that 4 000 000 bit would need")
        buffer = "buffer of one bandwidth-delay product"
        rows = [
            Compared(factors_of(of="path, empty (round trip 26 ms)"), product, "bit", 4e6, bits * path, impossible=5),
            Compared(factors_of(of="shared link alone (20 ms)"), product, "bit", 4e6, bits * link, impossible=5),
            Compared(need, "round trip", "ms", ours=4e6 / bits * 1e3),
            _measured(factors_of(of="10 TCP clients, DropTail"), "measured round trip", trip),
            Compared(factors_of(of="path, empty"), buffer, "kbyte", 512.0, bits * path / 8e3, impossible=5),
            Compared(factors_of(of=f"buffer of the shared link here: {waiting} waiting packets"), "buffer", "kbyte", ours=waiting * 1.54),
        ]
        use = r.mean("utilization", clients=10, queue="DropTail", traffic="TCP")
        notes = [
            "Either way the path is far above the 100 000 bit from which a network counts as long and fat.",
            f"Ten TCP clients use {use:.1f} % of the shared link with {waiting} waiting packets ({waiting * 1.54:.0f} kbyte), a small part "
            "of the published 512 kbyte.",
        ]
        return Built(Comparison(rows), notes=notes)

    # Figures

    def _drawn(self, built: Built, name: str, y: str, log: bool = False) -> Built:
        kinds = (("TCP", "TCP clients"), ("UDP", "UDP clients"), ("TCP-UDP", "TCP and UDP clients together"))
        panels = []
        for traffic, title in kinds:
            rows = [c for c in built.comparison.rows if dict(c.factors)["traffic"] == traffic]
            if rows:
                panels.append(self._panel(rows, title, y, log))
        words = self.words["experiments"][name]
        caption = "Filled marks and solid lines: our mean with its 95 % interval. Hollow marks and dotted lines: published in the paper."
        if any(c.impossible == _IMPOSSIBLE for c in built.comparison.rows):
            caption += f" Crossed: published, and more than the link carries (contradiction {_IMPOSSIBLE})."
        built.pictures.append(Picture(name, words["title"], caption, panels))
        return Built(built.comparison, [], built.pictures, peer_name=built.peer_name, group_by=built.group_by, show_table=False)

    def _panel(self, rows: Sequence[Compared], title: str, y: str, log: bool, by: str = "queue") -> charts.Lines:
        curves = []
        for name in dict.fromkeys(dict(c.factors)[by] for c in rows):
            of = [c for c in rows if dict(c.factors)[by] == name]
            curves.append(
                charts.Curve(
                    name,
                    [float(dict(c.factors)["clients"]) for c in of],
                    [c.ours for c in of],
                    [c.low for c in of],
                    [c.high for c in of],
                    [c.published for c in of],
                    [c.impossible == _IMPOSSIBLE for c in of],
                )
            )
        return charts.Lines(curves, charts.Axes(title, "clients", y, log_y=log, log_x=True, ticks=sorted(curves[0].x)))

    def _utilization(self, r: Results, name: str, queue: str) -> Built:
        rows = [
            row_of({"clients": c["clients"], "traffic": c["traffic"]}, "utilization", r.samples(c, "utilization"), "percent")
            for c in r.combinations
            if c["queue"] == queue and c["traffic"] != "TCP-UDP"
        ]
        published = []
        for p in self.published("table3"):
            if p["queue"] == queue:
                share = 100 * int(p["clients"]) * float(p["value"]) / SHARED_LINK
                published.append(
                    {"clients": p["clients"], "traffic": p["traffic"], "metric": "utilization", "value": f"{share:.2f}", "unit": "percent"}
                )
        suspect = {factors_of(clients=8, traffic="TCP"): _IMPOSSIBLE} if queue == "DropTail" else {}
        built = Built(compare(rows, published, (), suspect), rows, group_by=("traffic",))
        built.notes.append(
            "Published values computed from the paper's Table 3: clients x throughput / 50 Mbit/s. The figure itself is not available."
        )
        panel = self._panel(built.comparison.rows, f"{queue}: TCP and UDP", "utilization, %", False, by="traffic")
        caption = (
            "Filled: ours with 95 % interval. Hollow: from the published throughputs. Crossed: above 100 %, impossible (contradiction 3)."
        )
        caption = caption if queue == "DropTail" else caption.split(" Crossed")[0]
        built.pictures.append(Picture(name, self.title_of(name), caption, [panel]))
        return built

    def _fig1(self, r: Results) -> Built:
        values, settings = self.declared_setting, []
        for name, kbits, limit in (
            ("access link, 10 Mbit/s", 10_000.0, values["access limit"]), ("shared link, 50 Mbit/s", SHARED_LINK, values["server limit"]),
        ):  # fmt: skip
            low = max(5.0, 0.5 * 0.005 * kbits * 1e3 / 8 / 500) * 500
            room = 500.0 * int(str(limit).removesuffix("p"))
            settings.append(drawings.RedCurve(name, low, 3 * low, float(values["RED max_p"]), bool(values["RED gentle"]), room))
        rows = [
            Compared(factors_of(link=s.name, threshold=t), "average queue", "byte", ours=x)
            for s in settings
            for t, x in (("min: early drops begin", s.low), ("max: drops at max_p", s.high), ("buffer, in packets of 500 bytes", s.limit))
        ]
        overflow = r.mean("router_overflow_share", clients=50, queue="RED", traffic="TCP")
        note = (
            f"On the shared link the buffer ({settings[1].limit / 1e3:g} kbyte) ends below the automatic lower threshold "
            f"({settings[1].low / 1e3:.1f} kbyte): RED never drops early there. With 50 TCP clients {overflow:.0f} % of the drops at the "
            "router are plain overflows."
        )
        picture = Picture("fig1", self.title_of("fig1"), "Shaded: the states named in the paper. Dashed: the size of the buffer.", [
            *settings
        ])  # fmt: skip
        return Built(Comparison(rows), [], [picture], [note], group_by=("link",))

    def _fig2(self, _: Results) -> Built:
        star = self.scenario("lan.toml")["topology"]["star"]
        of = (("access link", "access", 10.0, 3.0), ("router-server link", "server", 50.0, 10.0))
        rows = []
        for name, key, rate, delay in of:
            ours_rate, ours_delay = float(star[key]["rate"].removesuffix("Mbit/s")), float(star[key]["delay"].removesuffix("ms"))
            rows.append(Compared(factors_of(link=name), "rate", "Mbit/s", rate, ours_rate))
            rows.append(Compared(factors_of(link=name), "propagation delay", "ms", delay, ours_delay))
        tree = self.topology()
        picture = Picture("fig2", self.title_of("fig2"), "Ten clients; the other combinations have 3 to 50.", [drawings.Topology(tree)])
        return Built(Comparison(rows), [], [picture], group_by=("link",))

    # Other choices

    def alternatives(self) -> list[Alternative]:
        """Single changes of the declared setting that a sentence of ours needs; the joint sample has all of them together."""

        def roomy(t: Tree, _: Combination) -> None:
            for queue in (t["topology"]["star"]["queue"], t["topology"]["star"]["server"]["queue"]):
                if "red" in queue:
                    queue["red"]["limit"] = f"{3 * int(queue['red']['limit'].removesuffix('p'))}p"

        declared = self.declared_setting

        def of(name: str, why: str, **changed: Value) -> Alternative:
            values = {**declared, **{k.replace("_", " "): v for k, v in changed.items()}}
            return Alternative(name, why, lambda: self.setting(values))

        share = float(declared["TCP share"])
        with_room = all_of(change_to(declared), roomy)
        return [
            of(SAME, "nothing is changed: the choices below, of two replications each, are compared with this"),
            of(DEEP, "ns-2's default on the shared link, too", server_limit="50p", limits=ONE),
            of(ONE_LIMIT, "the same limit in all runs: those with UDP get that of the TCP runs", limits=ONE),
            of(PROMPT, "an answer to every packet: the other of ns-2's sinks", delayed_ACKs=False),
            Alternative(ROOMY, "1500 bytes for each packet of the limit, not 500", lambda: self._combinations(with_room, share)),
        ]

    def sensitivity_columns(self) -> list[SensitivityColumn]:
        """Numbers the open choices move most."""
        c = SensitivityColumn
        return [
            c(
                "throughput, TCP DropTail 3",
                "throughput_per_client",
                "kbit/s",
                {"clients": 3, "queue": "DropTail", "traffic": "TCP"},
                9687.62,
            ),
            c("throughput, TCP RED 3", "throughput_per_client", "kbit/s", {"clients": 3, "queue": "RED", "traffic": "TCP"}, 8827.97),
            c("loss, TCP DropTail 3", "packet_loss_rate", "%", {"clients": 3, "queue": "DropTail", "traffic": "TCP"}, 0.1055),
            c("loss, TCP DropTail 50", "packet_loss_rate", "%", {"clients": 50, "queue": "DropTail", "traffic": "TCP"}, 1.95),
            c("loss, TCP RED 50", "packet_loss_rate", "%", {"clients": 50, "queue": "RED", "traffic": "TCP"}, 4.23),
            c("delay, UDP DropTail 3", "mean_end_to_end_delay", "ms", {"clients": 3, "queue": "DropTail", "traffic": "UDP"}, 13.3),
            c("loss, shared DropTail 10", "packet_loss_rate", "%", {"clients": 10, "queue": "DropTail", "traffic": "TCP-UDP"}, 0.7016),
        ]

    def findings(self, results: Results, others: Mapping[str, Results]) -> list[str]:
        """See `text.py`."""
        published = {
            (int(p["clients"]), p["queue"], p["traffic"], p["metric"]): float(p["value"])
            for table in ("table2", "table3", "table4")
            for p in self.published(table)
        }
        return findings(results, others, published)

    def causes(self, results: Results, others: Mapping[str, Results]) -> Mapping[str, str]:
        """See `text.py`."""
        return causes(results, others)
