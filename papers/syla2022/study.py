"""Syla, Alla and Xhabafti: TCP variants, DropTail and RED, and a queue called Management."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from itertools import pairwise

from fairlane.papers import (
    Alternative,
    Built,
    Cell,
    Change,
    Curve,
    Experiment,
    Results,
    Row,
    RunTables,
    SensitivityColumn,
    Tree,
    all_of,
    factors_of,
    jain,
)

from .figures import Figures
from .text import causes, findings

VARIANTS = ("Tahoe", "Vegas", "Sack", "Fack")
PRINTED = ("Vegas", "Sack", "Fack")
"""The variants of part 1 that the paper tabulates."""
QUEUES = ("DropTail", "RED")
RATES = ("0.5", "1", "1.5", "2", "2.5", "3")
TABULATED = (("DropTail", "0.5"), ("DropTail", "3"), ("RED", "3"))
PAIRS = ("Vegas-Fack", "Vegas-Sack", "Fack-Sack")
THRESHOLDS = (5, 10, 15, 20, 25, 30)
LIMITS = (1, 2, 3, 10, 50)
READ = ("table2", "fig5", "fig7", "fig8", "fig9", "fig10", "table3", "part2-mixed", "part2-rtt", "fig11", "part3-fairness")
"""Experiments whose rows claims read and whose runs the open parameters change."""
SECONDS = 100.0

PACKETS = {"measure": "packets", "byte_mode": False, "mean_packet": "1000B", "w_q": 0.002, "max_p": 0.1}
"""RED as its authors describe it: counted in packets."""
COUNTED = "RED counted in packets, 3 to 9"
JITTER = "CBR with jitter"
ROOMY = "queue limit 50"
PHASES = "each CBR stream with a phase of its own"
EQUAL = "starts at exactly the same time"
ONE_CBR = "one CBR flow"
SPACIOUS = "RED 20 to 60 packets, limit 100"
UNEQUAL = "access links that differ by microseconds"
SHORT = "shared link of 2 ms"
WIDE = "TCP window unlimited"
OLD = "older timers"
SINGLE = "Sack and Fack with a window of 1"
AUTHORS = "Vegas alpha 2, beta 4"
FEW = "as chosen, four replications"
"""What the others are compared with: they have four replications, too."""


def bottleneck(tree: Tree) -> Tree:
    """The shared link of a scenario."""
    link: Tree = tree["topology"]["dumbbell"]["bottleneck"]
    return link


class Syla2022(Figures):
    """The study and how it is rebuilt."""

    minutes = 1.3
    tables = ("part2", "part2_mixed", "part2_rtt", "management_unit")
    seeds = tuple(range(1, 31))  # Vegas beside a loss-based flow over RED has two outcomes, by the start: ten runs do not settle its mean
    alternative_seeds = (1, 2, 3, 4)
    reference = FEW
    hop_probe = False
    flow_columns = (
        "packets_sent", "packets_received", "packets_lost", "throughput", "goodput", "delay_mean", "retransmits", "timeouts", "acks_lost",
    )  # fmt: skip
    link_columns = ("utilisation", "queue_mean", "queue_max", "arrivals", "drops")
    links = ("bottleneck", "bottleneck.reverse")
    meant = ("sampling step", "delivered nothing", "so the window limits it")

    def series_of(self, cell: Cell) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What figures draw over time: windows of part 1 without overload and of the sketch, throughputs of the others."""
        if cell["part"] == "window":
            return ("cwnd", "ssthresh"), ()
        if not self._draws_series(dict(cell.factors)):
            return (), ()
        return ("throughput", "cwnd") if self._draws_window(cell) else ("throughput",), ()

    # The cells

    def cells(self) -> list[Cell]:
        """Three parts: one flow against CBR, five flows and pairs of flows, Management beside RED; and two unit experiments."""
        return list(self._own)

    @cached_property
    def _own(self) -> list[Cell]:
        return self._cells()

    def _cells(self, change: Change | None = None) -> list[Cell]:
        blocks, base = self.scenario("cells.toml"), self.scenario("network.toml")
        make = partial(self._cell, blocks, base, change)
        cells = [
            make({"part": "one", "tcp": t, "queue": q, "cbr_rate_mbps": c}, q, [t], cbr=c) for q in QUEUES for c in RATES for t in VARIANTS
        ]
        cells += [make({"part": "five", "tcp": t, "queue": q}, q, [t] * 5) for q in QUEUES for t in VARIANTS]
        cells += [make({"part": "mixed", "pair": p, "queue": q}, q, p.split("-")) for q in QUEUES for p in PAIRS]
        cells += [make({"part": "rtt", "tcp": t, "queue": q}, q, [t, t], delays=("2ms", "100ms")) for q in QUEUES for t in VARIANTS]
        for queue in ("Management", "RED"):
            for n in THRESHOLDS:
                of = {"queue": queue, "threshold": n}
                cells.append(make({"part": "threshold", **of}, queue, ["Sack", "Fack"], limit=n))
                delays = [f"{2 + 10 * i}ms" for i in range(5)]
                cells.append(make({"part": "fairness", **of}, queue, ["Sack"] * 5, limit=n, delays=delays))
        for queue in ("Management", "DropTail", "DropTail that keeps n"):
            own = [n for n in LIMITS if n > 1 or queue == "Management"]  # fairlane refuses a DropTail that nothing fits
            cells += [make({"part": "unit", "queue": queue, "limit": n}, queue, ["Sack"], cbr="3", limit=n, seconds=10) for n in own]
        window = self.scenario("window.toml")
        cells.append(Cell(factors_of(part="window"), lambda seed: {**copy.deepcopy(window), "seed": seed}))
        return cells

    def _cell(
        self, blocks: Tree, base: Tree, change: Change | None, factors: Mapping[str, object], queue: str, flows: Sequence[str],
        cbr: str | None = None, limit: int | None = None, delays: Sequence[str] = (), seconds: int | None = None,
    ) -> Cell:  # fmt: skip
        def tree(seed: int) -> Tree:
            t = copy.deepcopy(base)
            t["name"] = ", ".join(str(x) for x in factors.values())
            t["seed"] = seed
            if seconds is not None:
                t["duration"] = f"{seconds}s"
            bottleneck(t)["queue"] = self._queue(blocks, queue, limit)
            if delays:
                t["topology"]["dumbbell"]["delays"] = [*delays, *["2ms"] * (10 - len(delays))]
            t["flows"] = {}
            for i, cc in enumerate(flows):
                block = copy.deepcopy(blocks["flow"]["tcp"])
                block["tcp"]["cc"] = cc.lower()
                t["flows"][f"tcp{i}"] = {"from": f"s{i}", "to": f"d{i}", **block}
            if cbr is not None:
                t["flows"]["tcp0"].update(blocks["flow"]["beside_cbr"])
                t["flows"]["cbr"] = copy.deepcopy(blocks["flow"]["cbr"])
                t["flows"]["cbr"]["source"]["cbr"]["rate"] = f"{cbr}Mbit/s"
            if self._draws_series(factors):
                t["sample"] = "100ms"
            if change is not None:
                change(t, cell)
            return t

        cell = Cell(factors_of(**factors), tree)
        return cell

    @staticmethod
    def _queue(blocks: Tree, queue: str, limit: int | None) -> Tree:
        q: Tree = copy.deepcopy(blocks["queue"][queue.split(" ")[0]])
        (name,) = q
        if limit is not None:
            q[name]["limit"] = f"{limit}p"
            if name == "red":
                q[name].update(min=f"{max(1, round(limit / 3))}p", max=f"{limit}p")
        if "keeps n" in queue:
            q[name]["admit"] = "fits"
        return q

    @staticmethod
    def _draws_series(factors: Mapping[str, object]) -> bool:
        """Cells whose run a figure draws over time."""
        if factors["part"] == "one":
            return factors["tcp"] in PRINTED and (factors["queue"], factors["cbr_rate_mbps"]) in TABULATED
        return factors["part"] == "five"

    @staticmethod
    def _draws_window(cell: Cell) -> bool:
        return cell["part"] == "one" and (cell["queue"], cell["cbr_rate_mbps"]) == TABULATED[0]

    def topology(self) -> Tree:
        """One flow against five CBR streams."""
        return self.cells()[2].tree(1)

    # What is measured

    def measure(self, run: RunTables, cell: Cell) -> dict[str, float]:
        """The paper's metrics of one run: those of the TCP flows together, and of each."""
        f = run.flows
        if cell["part"] == "window":
            return self._phases(run)
        tcp = [i for i, name in enumerate(f["name"]) if name.startswith("tcp")]
        udp = [i for i in range(len(f["name"])) if i not in tcp]
        seconds = 10.0 if cell["part"] == "unit" else SECONDS

        def total(column: str, of: Sequence[int] = tcp) -> float:
            return float(sum(f[column][i] for i in of))

        received = total("packets_received")
        waited = sum(f["delay_mean"][i] * f["packets_received"][i] for i in tcp if f["packets_received"][i])
        rates = [f["throughput"][i] * 1e-6 for i in tcp]
        out = {
            "packets_sent": total("packets_sent"),
            "packets_lost": total("packets_lost"),
            "mean_delay": 1e3 * waited / received if received else math.nan,
            "throughput": sum(rates),
            "goodput": total("goodput") * 1e-6,
            "timeouts": total("timeouts"),
            "acks_from_sinks": run.link("bottleneck.reverse", "arrivals"),
            "ack_drops": total("acks_lost"),
            "udp_received": total("packets_received", udp),
            "udp_throughput": total("throughput", udp) * 1e-6,
            "jain": jain(rates),
            "max_waiting": run.link("bottleneck", "queue_max"),
            "queue_mean": run.link("bottleneck", "queue_mean"),
            "delivered": received + total("packets_received", udp),
            "trace": float(int(run.fingerprint, 16) % 2**50),
            "seconds": seconds,
        }
        out.update({f"throughput_{i}": x for i, x in enumerate(rates)})
        if self._draws_window(cell) and run.flow_series:
            windows = [w for w in run.series("tcp0", "cwnd")[1] if w is not None]
            out["cwnd_max"], out["cwnd_mean"] = max(windows) / 1e3, sum(windows) / len(windows) / 1e3
        return out

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

    def curves(self, run: RunTables, cell: Cell) -> dict[str, Curve]:
        """Windows (packets), and throughput in intervals of half a second (part 1) and two seconds (part 2)."""
        if not run.flow_series:
            return {}
        out: dict[str, Curve] = {}
        bins = 20 if cell["part"] == "five" else 5
        for name in dict.fromkeys(n for n in run.flow_series.names if n.startswith("tcp")):
            for column, word in (("cwnd", "window"), ("ssthresh", "threshold")):
                if column in run.flow_series:
                    times, packets = run.series(name, column)
                    out[f"{word} {name}"] = (times, [None if x is None else x / 1e3 for x in packets])
            if "throughput" in run.flow_series:
                times, rates = run.series(name, "throughput")
                groups = [range(i + 1, i + 1 + bins) for i in range(0, len(times) - bins, bins)]
                out[f"rate {name}"] = ([times[g[-1]] for g in groups], [sum((rates[i] or 0.0) for i in g) / bins * 1e-6 for g in groups])
        return out

    # What is shown

    def experiments(self) -> list[Experiment]:
        """All tables and figures of the paper."""
        e = self.experiment
        one: Callable[[Cell], bool] = lambda c: c["part"] == "one"  # noqa: E731

        def part(name: str, **factors: str) -> Callable[[Cell], bool]:
            return lambda c: c["part"] == name and all(c[k] == x for k, x in factors.items())

        nine = [
            Experiment(
                f"table2/{t.lower()}-{q.lower()}-{c}",
                f"{t}, {q}, CBR {c} Mbit/s",
                "One cell of Table 2.",
                partial(self.table2_cell, t, q, c),
                part("one", tcp=t, queue=q, cbr_rate_mbps=c),
                "table2",
            )
            for q, c in TABULATED
            for t in PRINTED
        ]
        return [
            e("fig1", self.fig1, lambda _: False),
            e("table1", self.table1, lambda _: False),
            e("table2", self.table2, lambda c: one(c) and c["tcp"] in PRINTED and (c["queue"], c["cbr_rate_mbps"]) in TABULATED),
            *nine,
            *(
                e(name, partial(self.over_time, name, q, c), part("one", queue=q, cbr_rate_mbps=c))
                for name, (q, c) in zip(("fig2", "fig3", "fig4"), TABULATED, strict=True)
            ),
            e("part1-cbr-sweep", self.sweep, one),
            e("fig5", self.fig5, lambda c: one(c) and c["queue"] == "DropTail" and c["cbr_rate_mbps"] == "0.5" and c["tcp"] in PRINTED),
            e("fig6", self.fig6, part("window")),
            *(
                e(name, partial(self.five, name, t, q), part("five", tcp=t, queue=q))
                for name, t, q in zip(("fig7", "fig8", "fig9", "fig10"), VARIANTS, ("DropTail", "RED", "RED", "RED"), strict=True)
            ),
            e("table3", self.table3, part("five")),
            e("part2-mixed", self.mixed, part("mixed")),
            e("part2-rtt", self.rtt, part("rtt")),
            e("fig11", self.fig11, lambda c: c["part"] in ("threshold", "fairness")),
            e("part3-fairness", self.fairness, part("fairness")),
            e("management-unit", self.unit, part("unit")),
        ]

    def claim_tables(self, results: Results, built: Mapping[str, Built]) -> Mapping[str, list[Row]]:
        """The claims read some tables under other names: part2 (Figs. 7 to 10), and Fig. 11 with the fairness of part 3."""
        have = {c.factors for c in results.cells}
        tables: dict[str, list[Row]] = {}
        for e in self.experiments():
            need = [c for c in self.cells() if e.needs(c) and self._claimed(c)]
            if e.id in built:
                tables[e.id] = built[e.id].rows
            elif e.id in READ and need and all(c.factors in have for c in need):
                tables[e.id] = e.build(results).rows
        tables["part2"] = [r for name in ("fig7", "fig8", "fig9", "fig10") for r in tables.get(name, [])]
        if "fig11" not in tables:  # its rows have those of part 3's fairness
            tables["fig11"] = tables.get("part3-fairness", [])
        for name, experiment in (("part2_mixed", "part2-mixed"), ("part2_rtt", "part2-rtt"), ("management_unit", "management-unit")):
            tables[name] = tables.get(experiment, [])
        return tables

    # What the conclusions depend on

    @staticmethod
    def _claimed(c: Cell) -> bool:
        """The cells that claims read; the others are not run again with each alternative."""
        if c["part"] == "one":
            return c["tcp"] in PRINTED and (c["queue"], c["cbr_rate_mbps"]) in TABULATED
        if c["part"] == "five":
            return (c["tcp"] == "Tahoe") == (c["queue"] == "DropTail")
        return c["part"] in ("threshold", "fairness") or (c["part"] in ("mixed", "rtt") and c["queue"] == "RED")

    def alternatives(self) -> list[Alternative]:
        """The open choices, each changed alone."""

        def of(name: str, why: str, *changes: Change) -> Alternative:
            return Alternative(name, why, lambda: [c for c in self._cells(all_of(*changes)) if self._claimed(c)])

        def tcp(only: str | None = None, **values: object) -> Change:
            def change(t: Tree, cell: Cell) -> None:
                for name, group in t["flows"].items():
                    if name != "cbr" and only in (None, group["tcp"]["cc"]):
                        group["tcp"].update(values)

            return change

        def cbr(**values: object) -> Change:
            def change(t: Tree, cell: Cell) -> None:
                group = t["flows"].get("cbr", {})
                for key, value in values.items() if group else ():
                    (group["source"]["cbr"] if key in ("size", "jitter") else group)[key] = value

            return change

        def red(**values: object) -> Change:
            def change(t: Tree, cell: Cell) -> None:
                q = bottleneck(t)["queue"].get("red")
                if q is not None:
                    q.update({k: x for k, x in values.items() if k not in q})

            return change

        def spacious(t: Tree, cell: Cell) -> None:
            if cell["part"] in ("one", "five", "mixed", "rtt") and "red" in bottleneck(t)["queue"]:
                red(min="20p", max="60p", **PACKETS)(t, cell)
                bottleneck(t)["queue"]["red"]["limit"] = "100p"

        def roomy(t: Tree, cell: Cell) -> None:
            if cell["part"] in ("one", "five", "mixed", "rtt"):
                for q in bottleneck(t)["queue"].values():
                    q["limit"] = "50p"

        def delays(shared: str) -> Change:
            return lambda t, _: bottleneck(t).update(delay=shared)

        def unequal(t: Tree, cell: Cell) -> None:
            if cell["part"] in ("one", "five", "mixed"):
                t["topology"]["dumbbell"]["delays"] = [f"{2000 + 20 * i}us" for i in range(10)]

        def others(t: Tree, _: Cell) -> None:
            small = {"droptail": {"limit": "10p", "admit": "under"}}
            t["topology"]["dumbbell"]["access"]["queue"] = small
            bottleneck(t)["reverse"] = {"queue": copy.deepcopy(small)}

        def together(t: Tree, _: Cell) -> None:
            for group in t["flows"].values():
                group["spread"] = "0s"

        one_packet = {"window": "1p", "initial_window": "1p"}
        old = tcp(rtt_tick="100ms", rto_granularity="100ms", rto_min="1s", initial_window="1p")
        vegas = tcp("vegas", cc={"vegas": {"alpha": 2, "beta": 4}})
        return [
            of(FEW, "nothing is changed: what four replications say of the choices above"),
            of(COUNTED, "packet mode, weight 0.002: RED as its authors describe it", red(min="3p", max="9p", **PACKETS)),
            of("RED counted in packets, 5 to 15", "ns-2's automatic thresholds, counted in packets", red(min="5p", max="15p", **PACKETS)),
            of(SPACIOUS, "thresholds above what five Vegas flows keep waiting, parts 1 and 2", spacious),
            of(ROOMY, "ns-2's default in place of the stated 10, parts 1 and 2", roomy),
            of(SHORT, "a round trip of 12 ms", delays("2ms")),
            of("shared link of 30 ms", "a round trip of 68 ms", delays("30ms")),
            of(UNEQUAL, "sources 20 microseconds farther each, parts 1 and 2", unequal),
            of("other queues of 10 packets", "the stated limit on every link", others),
            of(WIDE, "what a modern host would have", tcp(window="10000p")),
            of("TCP packets of 512 byte", "a common size of the time", tcp(mss="512B")),
            of(OLD, "tick 100 ms, minimum RTO 1 s, initial window 1: ns-2 before 2.27", old),
            of(AUTHORS, "the values of the authors of Vegas", vegas),
            of("Fack with ramp-down and overdamping", "both extensions on", tcp("fack", fack_rampdown=True, fack_overdamping=True)),
            of(SINGLE, "what the text says of Fig. 5", tcp("sack", **one_packet), tcp("fack", **one_packet)),
            of("CBR packets of 210 byte", "ns-2's default", cbr(size="210B")),
            of(JITTER, "ns-2's random_: intervals vary by half", cbr(jitter=0.5)),
            of(ONE_CBR, "the least that the drawing may have", cbr(count=1)),
            of("two CBR flows", "the fewest that overload the link at 3 Mbit/s", cbr(count=2)),
            of("CBR begins 0.1 s before TCP", "the other order", cbr(start="0ms")),
            of("CBR begins together with TCP", "all at once", cbr(start="100ms")),
            of("CBR begins 0.5 s after TCP", "a shorter lead", cbr(start="600ms")),
            of("CBR begins 2 s after TCP", "a longer lead", cbr(start="2100ms")),
            of(PHASES, "five streams that do not know of one another", cbr(spread="16ms")),
            of(EQUAL, "TCP exactly at 0.1 s: one locked phase decides", together),
        ]

    def sensitivity_columns(self) -> list[SensitivityColumn]:
        """Numbers the open choices move most."""

        def one(quantity: str, unit: str, tcp: str, queue: str, rate: str, published: float | None) -> SensitivityColumn:
            factors = {"part": "one", "tcp": tcp, "queue": queue, "cbr_rate_mbps": rate}
            what = {"throughput": "throughput", "packets_sent": "packets sent"}[quantity]
            return SensitivityColumn(f"{what}, {tcp} {queue} {rate}", quantity, unit, factors, published)

        fair = {"part": "five", "tcp": "Vegas", "queue": "RED"}
        share = {"part": "mixed", "pair": "Vegas-Fack", "queue": "RED"}
        return [
            *(one("throughput", "Mbit/s", t, "DropTail", "0.5", None) for t in PRINTED),
            *(one("packets_sent", "packets", t, "DropTail", "3", x) for t, x in zip(PRINTED, (2990 / 5, 390 / 5, 1470 / 5), strict=True)),
            SensitivityColumn("Jain, five Vegas RED", "jain", "1", fair),
            SensitivityColumn("Vegas beside Fack, RED", "throughput_0", "Mbit/s", share),
        ]

    def findings(self, results: Results, others: Mapping[str, Results]) -> list[str]:
        """See `text.py`."""
        return findings(results, others, self.published("ns2_ties"))

    def causes(self, results: Results, others: Mapping[str, Results]) -> Mapping[str, str]:
        """See `text.py`."""
        return causes(results, others, self.published("ns2_ties"))
