"""Syla, Alla and Xhabafti: TCP variants, DropTail and RED, and a queue called Management."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from itertools import pairwise
from statistics import fmean, pstdev

from fairlane.papers import Built, Combination, Curve, Experiment, Open, Results, Row, RunTables, Tree, Value, copy_tree, factors_of, jain

from .figures import Figures
from .opens import COUNTED, DECLARED, THIRDS, InSetting, Plan, far_flows, in_setting, number, opens, tcp_begins
from .text import causes, findings

VARIANTS = ("Tahoe", "Vegas", "Sack", "Fack")
PUBLISHED = ("Vegas", "Sack", "Fack")
"""The variants of part 1 that the paper tabulates."""
QUEUES = ("DropTail", "RED")
RATES = ("0.5", "1", "1.5", "2", "2.5", "3")
TABULATED = (("DropTail", "0.5"), ("DropTail", "3"), ("RED", "3"))
PAIRS = ("Vegas-Fack", "Vegas-Sack", "Fack-Sack")
THRESHOLDS = (5, 10, 15, 20, 25, 30)
LIMITS = (1, 2, 3, 10, 50)
READ = (
    "table2",
    "fig5",
    "fig6",
    "fig7",
    "fig8",
    "fig9",
    "fig10",
    "table3",
    "part2-mixed",
    "part2-rtt",
    "part2-latency",
    "fig11",
    "part3-fairness",
    "management-unit",
)
"""Experiments whose rows claims read."""
RENAMED = (
    ("part2_mixed", "part2-mixed"),
    ("part2_rtt", "part2-rtt"),
    ("part2_latency", "part2-latency"),
    ("management_unit", "management-unit"),
)
"""Tables of claims, and the experiments that make them."""
UNIT_SECONDS = 10.0
SAMPLED = 0.1
"""Seconds between two samples of a window."""


class Syla2022(Figures):
    """The study and how it is rebuilt."""

    minutes = 1.5
    tables = ("part2", "part2_mixed", "part2_rtt", "part2_latency", "management_unit")
    seeds = tuple(range(1, 21))
    quick_seeds = (1,)
    setting_seeds = (1,)
    most_settings = 256
    single_runs = True  # the paper shows one run of each kind, and says nothing of others
    declared = DECLARED
    hop_probe = False
    flow_columns = (
        "packets_sent", "packets_received", "packets_lost", "throughput", "goodput", "delay_mean", "retransmits", "timeouts", "acks_lost",
        "rtt_mean",
    )  # fmt: skip
    link_columns = ("utilisation", "queue_mean", "queue_max", "arrivals", "drops")
    links = ("bottleneck", "bottleneck.reverse")
    meant = ("sampling step", "delivered no data", "so the window limits it")

    def series_of(self, combination: Combination) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Returns the series that figures draw: windows of part 1 without overload and of the sketch, throughputs of the others."""
        if combination["part"] == "window":
            return ("cwnd", "ssthresh"), ()
        if not self._draws_series(dict(combination.factors)):
            return (), ()
        return ("throughput", "cwnd") if self._draws_window(combination) else ("throughput",), ()

    # The combinations

    def opens(self) -> list[Open]:
        """See `opens.py`."""
        return opens()

    def combinations(self) -> list[Combination]:
        """Three parts: one flow against CBR, five flows and pairs of flows, Management against RED; and two unit experiments."""
        return list(self._own)

    @cached_property
    def _own(self) -> list[Combination]:
        return self._combinations(self.declared_setting)

    def setting(self, values: Mapping[str, Value]) -> list[Combination]:
        """The combinations that claims and published tables read."""
        return [c for c in self._combinations(values) if self._claimed(c)]

    def _combinations(self, values: Mapping[str, Value]) -> list[Combination]:
        blocks, base = self.scenario("combinations.toml"), self.scenario("network.toml")
        plain = {o.name: o.base for o in opens()}
        combinations: list[Combination] = []

        def add(factors: Mapping[str, object], queue: str, flows: Sequence[str], **more: object) -> None:
            plan = Plan(factors_of(**factors), queue, flows, sampled=self._draws_series(factors), **more)  # type: ignore[arg-type]
            own = plain if factors["part"] == "unit" else values  # what Management is does not hang on the setting
            combinations.append(InSetting(plan.factors, lambda seed: in_setting(plan, base, blocks, own, seed), own))

        for q in QUEUES:
            for c in RATES:
                for t in VARIANTS:
                    add({"part": "one", "tcp": t, "queue": q, "cbr_rate_mbps": c}, q, [t], cbr=c)
        for q in QUEUES:
            for t in VARIANTS:
                add({"part": "five", "tcp": t, "queue": q}, q, [t] * 5)
        add({"part": "latency", "tcp": "Vegas", "queue": "RED"}, "RED", ["Vegas"] * 5, extra=far_flows(values))
        over = str(values["mixed flows over"])
        for p in PAIRS:
            add({"part": "mixed", "pair": p}, over, p.split("-"))
        for t in VARIANTS:
            add({"part": "rtt", "tcp": t}, over, [t, t], extra=(0.0, number(values["longer path"])))
        step, flows = number(values["steps of delay in part 3"]), THIRDS[str(values["flows of part 3"])]
        for queue in ("Management", "RED"):
            for n in THRESHOLDS:
                add({"part": "threshold", "queue": queue, "threshold": n}, queue, flows, threshold=n)
                add(
                    {"part": "fairness", "queue": queue, "threshold": n},
                    queue,
                    ["Sack"] * 5,
                    threshold=n,
                    extra=[step * i for i in range(5)],
                )
        for queue in ("Management", "DropTail", "DropTail that keeps n"):
            for n in LIMITS:
                if n > 1 or queue == "Management":  # fairlane refuses a DropTail that nothing fits
                    add({"part": "unit", "queue": queue, "limit": n}, queue, ["Sack"], cbr="3", threshold=n, seconds=UNIT_SECONDS)
        window = self.scenario("window.toml")
        combinations.append(Combination(factors_of(part="window"), lambda seed: {**copy_tree(window), "seed": seed}))
        return combinations

    @staticmethod
    def _claimed(c: Combination) -> bool:
        """The combinations that claims and published tables read; the others are not run in each setting."""
        if c["part"] == "one":
            return c["tcp"] in PUBLISHED and (c["queue"], c["cbr_rate_mbps"]) in TABULATED
        if c["part"] == "five":
            return (c["tcp"] == "Tahoe") == (c["queue"] == "DropTail")
        return True

    @staticmethod
    def _draws_series(factors: Mapping[str, object]) -> bool:
        """Combinations whose run a figure draws over time."""
        if factors["part"] == "one":
            return factors["tcp"] in PUBLISHED and (factors["queue"], factors["cbr_rate_mbps"]) in TABULATED
        return factors["part"] in ("five", "latency")

    @staticmethod
    def _draws_window(combination: Combination) -> bool:
        return combination["part"] == "one" and (combination["queue"], combination["cbr_rate_mbps"]) == TABULATED[0]

    def topology(self) -> Tree:
        """One flow against CBR streams."""
        return self.combinations()[2].tree(1)

    # Measures

    def measure(self, run: RunTables, combination: Combination) -> dict[str, float]:
        """The paper's metrics of one run: those of the TCP flows together, and of each; counted as the setting of the combination does."""
        f = run.flows
        if not isinstance(combination, InSetting):
            return self._phases(run)
        tcp = [i for i, name in enumerate(f["name"]) if name.startswith("tcp")]
        udp = [i for i in range(len(f["name"])) if i not in tcp]

        def total(column: str, of: Sequence[int] = tcp) -> float:
            return float(sum(f[column][i] for i in of))

        times = int(combination.values["a packet counts"])
        received = total("packets_received")
        waited = sum(f["delay_mean"][i] * f["packets_received"][i] for i in tcp if f["packets_received"][i])
        rates = [f["throughput"][i] * 1e-6 for i in tcp]
        times_added = COUNTED[str(combination.values["throughput counts a packet"])]
        sinks = len(tcp) if combination.values["acknowledgments of"] == "one sink" else 1
        out = {
            "packets_sent": times * total("packets_sent"),
            "packets_lost": times * total("packets_lost"),
            "mean_delay": 1e3 * waited / received if received else math.nan,
            "throughput": sum(rates),
            "throughput_counted": times_added
            * sum(x * self._longer(run, combination, f["name"][i]) for i, x in zip(tcp, rates, strict=True)),
            "timeouts": total("timeouts"),
            "acks_from_sinks": run.link("bottleneck.reverse", "arrivals") / sinks,
            "ack_drops": total("acks_lost"),
            "udp_received": total("packets_received", udp),
            "tcp_received": received,
            "jain": jain(rates) if any(rates) else math.nan,
            "max_waiting": run.link("bottleneck", "queue_max"),
            "queue_mean": run.link("bottleneck", "queue_mean"),
            "delivered": received + total("packets_received", udp),
            "trace": float(int(run.fingerprint, 16) % 2**50),
        }
        out.update({f"throughput_{i}": x for i, x in enumerate(rates)})
        if combination["part"] in ("five", "latency") and run.flow_series:
            out["unsteadiness"] = fmean(self._unsteadiness(run, f["name"][i]) for i in tcp)
        if self._draws_window(combination) and run.flow_series:
            segment = number(combination.values["TCP segment"])
            windows = [w / segment for w in run.series("tcp0", "cwnd")[1] if w is not None]
            steps = sorted(b - a for a, b in pairwise(windows) if b > a)
            out["cwnd_max"], out["cwnd_mean"] = max(windows), sum(windows) / len(windows)
            trips = max(1.0, SAMPLED / f["rtt_mean"][tcp[0]])
            out["cwnd_step"] = steps[len(steps) // 2] / trips if steps else 0.0
        return out

    @staticmethod
    def _longer(run: RunTables, combination: InSetting, flow: str) -> float:
        """How many times longer the whole run is than the time from a flow's first packet to its last, where throughput is over that."""
        if combination["part"] != "one" or combination.values["throughput is over"] == "the run" or not run.flow_series:
            return 1.0
        times, rates = run.series(flow, "throughput")
        arrived = [t for t, x in zip(times, rates, strict=True) if x]
        own = arrived[-1] - tcp_begins(combination.values) if arrived else 0.0
        return times[-1] / own if own > 0 else 1.0

    @staticmethod
    def _unsteadiness(run: RunTables, flow: str) -> float:
        """Coefficient of variation of a flow's throughput in intervals of a second, in the second half of a run."""
        rates = [x or 0.0 for x in run.series(flow, "throughput")[1]]
        late = rates[len(rates) // 2 :]
        bins = [sum(late[i : i + 10]) for i in range(0, len(late) - 9, 10)]
        return pstdev(bins) / fmean(bins) if any(bins) else math.nan

    @staticmethod
    def _phases(run: RunTables) -> dict[str, float]:
        """Growth of the window in its phases, from samples one round trip apart."""
        pairs = zip(run.series("tcp", "cwnd")[1], run.series("tcp", "ssthresh")[1], strict=True)
        w = [(0.0 if a is None else a / 1e3, 0.0 if b is None else b / 1e3) for a, b in pairs]
        steps = list(pairwise(w))
        doubling = [b[0] / a[0] for a, b in steps if 2 <= a[0] < a[1] and b[0] > a[0]]
        linear = [b[0] - a[0] for a, b in steps if a[0] >= a[1] and b[0] > a[0] and a[0] > 17.5]
        fall = next(i for i, (a, b) in enumerate(steps) if a[0] > 2 and b[0] == 1)
        recovery = next(b for a, b in steps if b[0] < 0.6 * a[0])
        return {
            "growth_per_rtt_slow_start": sorted(doubling)[len(doubling) // 2],
            "growth_per_rtt_avoidance_packets": sum(linear) / len(linear),
            "window_after_fast_retransmit": recovery[0],
            "window_before_timeout": w[fall][0],
            "window_after_timeout": w[fall + 1][0],
            "threshold_after_timeout": w[fall + 1][1],
        }

    def curves(self, run: RunTables, combination: Combination) -> dict[str, Curve]:
        """Windows (packets), and throughput in intervals of half a second (part 1) and two seconds (part 2)."""
        if not run.flow_series:
            return {}
        out: dict[str, Curve] = {}
        bins = 20 if combination["part"] == "five" else 5
        segment = number(combination.values["TCP segment"]) if isinstance(combination, InSetting) else 1000.0
        for name in dict.fromkeys(n for n in run.flow_series.names if n.startswith("tcp")):
            for column, word in (("cwnd", "window"), ("ssthresh", "threshold")):
                if column in run.flow_series:
                    times, packets = run.series(name, column)
                    out[f"{word} {name}"] = (times, [None if x is None else x / segment for x in packets])
            if "throughput" in run.flow_series:
                times, rates = run.series(name, "throughput")
                groups = [range(i + 1, i + 1 + bins) for i in range(0, len(times) - bins, bins)]
                out[f"rate {name}"] = ([times[g[-1]] for g in groups], [sum((rates[i] or 0.0) for i in g) / bins * 1e-6 for g in groups])
        return out

    # Tables and figures

    def experiments(self) -> list[Experiment]:
        """All tables and figures of the paper."""
        e = self.experiment
        one: Callable[[Combination], bool] = lambda c: c["part"] == "one"  # noqa: E731

        def part(name: str, **factors: str) -> Callable[[Combination], bool]:
            return lambda c: c["part"] == name and all(c[k] == x for k, x in factors.items())

        nine = [
            Experiment(
                f"table2/{t.lower()}-{q.lower()}-{c}",
                f"{t}, {q}, CBR {c} Mbit/s",
                "One cell of Table 2.",
                partial(self.table2_combination, t, q, c),
                part("one", tcp=t, queue=q, cbr_rate_mbps=c),
                "table2",
            )
            for q, c in TABULATED
            for t in PUBLISHED
        ]
        return [
            e("fig1", self.fig1, lambda _: False),
            e("table1", self.table1, lambda _: False),
            e("table2", self.table2, lambda c: one(c) and self._claimed(c)),
            *nine,
            *(
                e(name, partial(self.over_time, name, q, c), part("one", queue=q, cbr_rate_mbps=c))
                for name, (q, c) in zip(("fig2", "fig3", "fig4"), TABULATED, strict=True)
            ),
            e("part1-cbr-sweep", self.sweep, one),
            e("fig5", self.fig5, lambda c: one(c) and self._draws_window(c) and self._claimed(c)),
            e("fig6", self.fig6, part("window")),
            *(
                e(name, partial(self.five, name, t, q), part("five", tcp=t, queue=q))
                for name, t, q in zip(("fig7", "fig8", "fig9", "fig10"), VARIANTS, ("DropTail", "RED", "RED", "RED"), strict=True)
            ),
            e("table3", self.table3, lambda c: c["part"] == "five" and self._claimed(c)),
            e("part2-mixed", self.mixed, part("mixed")),
            e("part2-rtt", self.rtt, part("rtt")),
            e("part2-latency", self.latency, lambda c: c["part"] in ("five", "latency") and c["tcp"] == "Vegas" and c["queue"] == "RED"),
            e("fig11", self.fig11, lambda c: c["part"] in ("threshold", "fairness")),
            e("part3-fairness", self.fairness, part("fairness")),
            e("management-unit", self.unit, part("unit")),
        ]

    def claim_tables(self, results: Results, built: Mapping[str, Built]) -> Mapping[str, list[Row]]:
        """The claims read some tables under other names: part2 (Figs. 7 to 10), and Fig. 11 with the fairness of part 3."""
        have = {c.factors for c in results.combinations}
        tables: dict[str, list[Row]] = {}
        for e in self.experiments():
            need = [c for c in self.combinations() if e.needs(c) and self._claimed(c)]
            if e.id in built:
                tables[e.id] = built[e.id].rows
            elif e.id in READ and need and all(c.factors in have for c in need):
                tables[e.id] = e.build(results).rows
        tables["part2"] = [r for name in ("fig7", "fig8", "fig9", "fig10") for r in tables.get(name, [])]
        if "fig11" not in tables:  # its rows have those of part 3's fairness
            tables["fig11"] = tables.get("part3-fairness", [])
        for name, experiment in RENAMED:
            tables[name] = tables.get(experiment, [])
        return tables

    def findings(self, results: Results, others: Mapping[str, Results]) -> list[str]:
        """See `text.py`."""
        return findings(results)

    def causes(self, results: Results, others: Mapping[str, Results]) -> Mapping[str, str]:
        """See `text.py`."""
        return causes(results, self.published("ns2_ties"))
