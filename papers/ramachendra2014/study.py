"""Ramachendra, Banu and Ali Ahammed 2014: RED, WRED, AVQ and ModRED behind a round robin, as wired networks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from fairlane.papers import (
    Built,
    Combination,
    Compared,
    Comparison,
    Curve,
    Experiment,
    Open,
    Paper,
    Results,
    Row,
    RunTables,
    Tree,
    Value,
    compare,
    factors_of,
    jain,
    row_of,
)

from . import air, airtext, figures, net, opens
from .figures import METRICS
from .net import NETWORKS
from .text import causes, findings, notes
from .unit import modred_unit, rr_unit, turned

COLOURS = {"drops_in": "packets", "drops_out": "packets", "drop_share_in": "percent", "drop_share_out": "percent"}
STEADY = {"queue_deviation": "packets", "loss_synchronisation": "percent"}
"""Metrics of the matrix that only claims read."""
ON_AIR = ("throughput", "loss_rate", "jitter")
"""Metrics of the wireless networks that claims read."""
_KINDS = (
    ("drops_out", "OUT packets dropped", "packets"), ("drop_share_out", "share of the OUT packets", "percent"),
    ("drops_in", "IN packets dropped", "packets"), ("drop_share_in", "share of the IN packets", "percent"),
    ("in_share", "IN packets of all", "percent"),
)  # fmt: skip
_CAPTIONS = {32: "fig5.1", 16: "fig5.2", 64: "fig5.3", 128: "fig5.5"}
Wanted = Callable[[Combination], bool]


def _matrix(c: Combination) -> bool:
    return c["traffic"] == "bulk"


def _quoted_combination(c: Combination) -> bool:
    named = c["network"] == "64" and c["load"] == "75" and c["queue"] in ("100", "250")
    return _matrix(c) and c["aqm"] == "DropTail" and (named or (c["load"] == "50" and c["queue"] in ("25", "250")))


def _measured(factors: Mapping[str, object], name: str, row: Row) -> Compared:
    return Compared(factors_of(**factors), name, row.unit, None, row.value, row.low, row.high, max(1, len(row.samples)))


class Ramachendra2014(Paper):
    """The study and how it is rebuilt."""

    minutes = 2.5
    single_runs = True  # replications are not stated
    setting_seeds = (1,)
    most_settings = 256
    declared = opens.DECLARED
    tables = ("results", "uncongested", "air", "modred_unit", "rr_unit")
    flow_columns = ("throughput", "goodput", "jitter", "packets_received", "timeouts", "fast_recoveries")
    link_columns = (
        "utilisation",
        "arrivals",
        "departures",
        "drops",
        "drops_overflow",
        "queue_mean",
        "queue_std",
        "queue_max",
        "sojourn_mean",
        "loss_synchronisation",
        *air.COLUMNS,
    )
    network_columns = ("packets_sent", "delay_mean")
    link_series = ("queue", "green_packets", "yellow_packets", "red_packets", "class0_clamping", "class1_clamping", "class2_clamping")
    links = ("bottleneck", "d0.reverse", *air.LINKS)
    hop_probe = False
    seeds = (1, 2, 3, 4)
    quick_seeds = (1,)
    meant = ("so the window limits it", "is coarser than the round-trip time", "delivered no data after the warm-up")

    def opens(self) -> list[Open]:
        """See `opens.py`."""
        return opens.opens()

    def combinations(self) -> list[Combination]:
        """Returns the matrix and the extra combinations."""
        return [*self._with([*net.matrix(), *net.special()]), *self._on_air(air.combinations())]

    def quick_combinations(self) -> list[Combination]:
        """64 nodes, and what claims read of the others."""
        return [*self._with(net.quick()), *self._on_air(air.quick())]

    def setting(self, values: Mapping[str, Value]) -> list[Combination]:
        """The combinations that claims and published losses read."""
        return [*self._with(net.claimed(), values), *self._on_air(air.claimed(), values)]

    def _with(self, combinations: Sequence[Combination], values: Mapping[str, Value] | None = None) -> list[Combination]:
        return net.with_trees(self.scenario("net.toml"), self.scenario("combinations.toml"), combinations, values or self.declared_setting)

    def _on_air(self, combinations: Sequence[Combination], values: Mapping[str, Value] | None = None) -> list[Combination]:
        """The wireless combinations: TCP, queues and contract of a setting, with another medium."""
        wired = (self.scenario("net.toml"), self.scenario("combinations.toml"))
        return air.with_trees(
            self.scenario("air.toml"), wired, combinations, values or self.declared_setting, {o.name: o.base for o in self.opens()}
        )

    def topology(self) -> Tree:
        """64 nodes."""
        return self._drawn(64)

    def _drawn(self, n: int) -> Tree:
        """A network with n nodes, all round trips at their mean: they would be as many labels."""
        plain = {**self.declared_setting, "round trips": "equal"}
        return self._with([net.combination(n, 100, 100, "DropTail")], plain)[0].tree(1)

    def measure(self, run: RunTables, combination: Combination) -> dict[str, float]:
        """The paper's metrics of one run; those of the queue at the bottleneck, the others over all flows."""
        if air.is_air(combination) or air.is_choice(combination):
            return air.measure(run)
        f = run.flows

        def link(column: str) -> float:
            return run.link("bottleneck", column)

        got = sum(f["packets_received"])
        jitter = sum((j or 0.0) * k for j, k in zip(f["jitter"], f["packets_received"], strict=True)) / got
        m = {
            "throughput": sum(f["throughput"]) / 1e3,
            "utilization": 100 * link("utilisation"),
            "loss_rate": 100 * link("drops") / link("arrivals"),
            "mean_queue": link("queue_mean"),
            "mean_time_in_queue": 1e3 * link("sojourn_mean"),
            "one_way_delay": 1e3 * float(run.network["delay_mean"][0]),
            "jitter": 1e3 * jitter,
            "sent": float(run.network["packets_sent"][0]),
            "received": link("arrivals"),
            "enqueued": link("arrivals") - link("drops"),
            "dequeued": link("departures"),
            "dropped": link("drops"),
            "queue_deviation": link("queue_std"),
            # Of the senders that a loss event hits; without an event none is.
            "loss_synchronisation": 100 * _or_zero(run.links["loss_synchronisation"][run.links["name"].index("bottleneck")]),
            "overflows": link("drops_overflow"),
            "timeouts": float(sum(f["timeouts"])),
            "recoveries": float(sum(f["fast_recoveries"])),
            # Over all flows, whatever link limits each.
            "fairness": jain(f["goodput"]),
        }
        if combination["traffic"] == "counted":
            m |= _by_colour(run)
        if combination["traffic"] == "watched" and combination["aqm"] == "ModRED":
            queues = int(combination.values["priority queues"]) if isinstance(combination, opens.InSetting) else 3
            m["cutting"] = 100 * sum(_mean(run, f"class{i}_clamping") for i in range(queues)) / queues
        return m

    def curves(self, run: RunTables, combination: Combination) -> dict[str, Curve]:
        """A stretch of the queue (half a minute of 200 s), and how many of the three queues cut windows."""
        if combination["traffic"] != "watched" or combination["load"] != "75":
            return {}
        times, waiting = run.series("bottleneck", "queue")
        at = [i for i, t in enumerate(times) if 0.5 <= t / times[-1] <= 0.65]
        made: dict[str, Curve] = {"queue": ([times[i] for i in at], [waiting[i] for i in at])}
        if combination["aqm"] == "ModRED":
            cut = [run.series("bottleneck", f"class{k}_clamping")[1] for k in range(3)]
            made["cutting"] = ([times[i] for i in at], [sum(c[i] or 0.0 for c in cut) for i in at])
        return made

    # The tables that claims read

    def claim_tables(self, results: Results, built: Mapping[str, Built]) -> Mapping[str, list[Row]]:
        """Returns the tables that claims.toml names, for the available combinations."""
        tables = {
            "results": self._results(results, _matrix),
            "bursty": self._gains(results),
            "quoted_values": self._quoted(results),
            "modred_unit": modred_unit(self.folder),
            "rr_unit": rr_unit(self.folder),
        }
        counted = [c for c in results.combinations if c["traffic"] == "counted"]
        tables["results"] += [self._row(results, c, m, unit) for c in counted for m, unit in COLOURS.items()]
        tables["results"] += self._results(results, _matrix, tuple(STEADY))
        tables["air"] = [self._row(results, c, m, air.METRICS[m]) for c in results.combinations if air.is_air(c) for m in ON_AIR]
        wide = [c for c in results.combinations if c["traffic"] == "uncongested"]
        tables["uncongested"] = [
            row_of({k: c[k] for k in ("network", "load")}, "throughput", results.samples(c, "throughput"), "kbit/s") for c in wide
        ]
        return tables

    def _row(self, r: Results, c: Combination, metric: str, unit: str) -> Row:
        factors = {"network": c["network"], "load": c["load"], "queue": c["queue"], "aqm": c["aqm"]}
        return row_of(factors, metric, r.samples(c, metric), unit)

    def _results(self, r: Results, wanted: Wanted, metrics: Sequence[str] = tuple(METRICS)) -> list[Row]:
        return [self._row(r, c, m, {**METRICS, **STEADY}[m]) for c in r.combinations if wanted(c) for m in metrics]

    def _gains(self, r: Results) -> list[Row]:
        rows = []
        for t in ("bursty", "smooth"):
            pair = [c for a in ("ModRED", "RED") for c in r.combinations if c["traffic"] == t and c["aqm"] == a]
            if len(pair) == 2:
                mod, red = (r.samples(c, "throughput") for c in pair)
                gains = [100 * (a / b - 1) for a, b in zip(mod, red, strict=True)]
                rows.append(row_of({"traffic": t}, "throughput_gain_modred_over_red", gains, "percent"))
        return rows

    def _quoted(self, r: Results) -> list[Row]:
        """The four published losses with DropTail; where the paper names no network, that of the setting."""
        rows = []
        for p in self.published("quoted_values"):
            wanted = {"load": p["load_percent"], "queue": p["queue_packets"], "aqm": "DropTail", "traffic": "bulk"}
            for c in (c for c in r.combinations if _matrix(c)):
                own = c.values if isinstance(c, opens.InSetting) else {}
                network = p["network_nodes"] if p["network_nodes"] in map(str, NETWORKS) else str(own["losses at 50 % are of"])
                if c["network"] == network and all(c[k] == x for k, x in wanted.items()):
                    names = ("network_nodes", "load_percent", "queue_packets", "aqm")
                    rows.append(row_of({k: p[k] for k in names}, "loss_rate", r.samples(c, "loss_rate"), "percent"))
        return rows

    # Experiments

    def experiments(self) -> list[Experiment]:
        """All tables and figures that the paper speaks of."""
        e = self.experiment
        loads: Callable[..., Wanted] = lambda *xs: lambda c: _matrix(c) and c["network"] == "64" and int(c["load"]) in xs  # noqa: E731
        kind: Callable[..., Wanted] = lambda *ts: lambda c: c["traffic"] in ts  # noqa: E731
        seen: Callable[..., Wanted] = lambda *xs: (  # noqa: E731
            lambda c: c["traffic"] in ("bulk", "uncongested", "watched", net.ACKED) and int(c["load"]) in xs
        )

        def on_air(n: int) -> Experiment:
            return e(_CAPTIONS[n], lambda r: self._network(r, n), lambda c: airtext.needed(c, n))

        return [
            on_air(64),
            e("matrix", self._matrix, _matrix),
            e("quoted_values", self._published, _quoted_combination),
            e("loss-vs-queue", lambda r: self._losses(r, 50), lambda c: _matrix(c) and c["load"] == "50"),
            e("loss-64n-75", lambda r: self._losses(r, 75), loads(75)),
            e("modred-25", lambda r: self._at(r, 25), seen(25)),
            e("modred-50", lambda r: self._at(r, 50), seen(50)),
            e("modred-75-100", self._congested, seen(75, 100)),
            e("bursty", self._bursty, kind("smooth", "bursty")),
            e("fig2.1", self._red, lambda _: False),
            e("fig3.1", self._two_curves, kind("counted")),
            e("fig4.1", self._turns, lambda _: False),
            on_air(32),
            on_air(16),
            on_air(128),
            e("modred-unit", self._unit, lambda _: False),
        ]

    def _matrix(self, r: Results) -> Built:
        rows = self._results(r, _matrix)
        return Built(compare(rows, []), rows, figures.matrix(r), notes("matrix", r), show_table=False)

    def _published(self, r: Results) -> Built:
        rows = self._quoted(r)
        return Built(compare(rows, self.published("quoted_values")), rows)

    def _losses(self, r: Results, load: int) -> Built:
        built = Built(notes=notes(f"losses-{load}", r))
        published = [p for p in self.published("quoted_values") if p["load_percent"] == str(load)]
        wanted: Wanted = lambda c: _matrix(c) and c["load"] == str(load) and (load == 50 or c["network"] == "64")  # noqa: E731
        built.comparison = compare(self._results(r, wanted, ("loss_rate",)), [])
        built.group_by = ("network",)
        name, at = ("loss-vs-queue", NETWORKS) if load == 50 else ("loss-64n-75", (64,))
        points = {int(p["queue_packets"]): float(p["value"]) for p in published}
        n = int(self.declared_setting["losses at 50 % are of"]) if load == 50 else 64
        built.pictures.append(figures.losses(r, load, at, points, n, name, self.title_of(name)))
        return built

    def _at(self, r: Results, *loads: int) -> Built:
        shown = ("throughput", "utilization", "loss_rate", "mean_queue", "one_way_delay")
        rows = self._results(r, lambda c: _matrix(c) and c["network"] == "64" and int(c["load"]) in loads, shown)
        limit: Callable[[Row], str] = lambda x: dict(x.factors)["queue"]  # noqa: E731
        first = ("25", "100") if loads == (50,) else ("100",)
        built = Built(compare([x for x in rows if limit(x) in first], []), group_by=("network", "load", "queue", "metric"))
        built.notes = notes(f"modred-{'-'.join(map(str, loads))}", r)
        built.more = compare([x for x in rows if limit(x) not in first], []).rows
        built.more_title = "The other queue limits"
        return built

    def _congested(self, r: Results) -> Built:
        built = self._at(r, 75, 100)
        built.pictures.append(figures.over_time(r))
        return built

    def _bursty(self, r: Results) -> Built:
        shown = ("throughput", "loss_rate", "mean_queue", "one_way_delay")
        combinations = [c for c in r.combinations if c["traffic"] in ("smooth", "bursty")]
        rows = [row_of({"traffic": c["traffic"], "aqm": c["aqm"]}, m, r.samples(c, m), METRICS[m]) for c in combinations for m in shown]
        return Built(compare([*self._gains(r), *rows], []), self._gains(r), notes=notes("bursty", r), group_by=("metric",))

    def _red(self, _: Results) -> Built:
        p = self.scenario("combinations.toml")["queue"]["RED"]["red"]
        rows = [Compared(factors_of(threshold=k), "average queue", "packets", ours=float(p[k][:-1])) for k in ("min", "max")]
        return Built(Comparison(rows), [], [figures.red(p, self.title_of("fig2.1"))])

    def _two_curves(self, r: Results) -> Built:
        rows = []
        for c in r.combinations:
            if c["traffic"] == "counted":
                at = {"aqm": c["aqm"], "load": c["load"]}
                rows += [_measured(at, words, row_of({}, m, r.samples(c, m), unit)) for m, words, unit in _KINDS]
        queues = self.scenario("combinations.toml")["queue"]
        picture = figures.two_curves(queues["WRED"]["wred"], queues["ModRED"]["modred"], self.title_of("fig3.1"))
        return Built(Comparison(rows), [], [picture], notes("fig3.1", r), group_by=("aqm",))

    def _turns(self, _: Results) -> Built:
        rows = [_measured({}, x.metric, x) for x in rr_unit(self.folder)]
        return Built(Comparison(rows), [], [turned(self.folder, self.title_of("fig4.1"))])

    def _network(self, r: Results, n: int) -> Built:
        """A wireless network: a drawing, its metrics next to those of the wired one, and the varied choices."""
        name = _CAPTIONS[n]
        there = air.stations(self.folder / "air.toml", n)
        rows = [Compared(factors_of(of="network"), "nodes", "", None, float(len(there.at)))]
        own = [
            self._row(r, c, m, unit) for c in r.combinations if air.is_air(c) and c["network"] == str(n) for m, unit in air.METRICS.items()
        ]
        built = Built(Comparison([*rows, *airtext.beside_wired(r, n)]), own, group_by=("metric",), peer_name="wired")
        built.pictures = [figures.field(there, n, name, self.title_of(name)), *figures.on_air(r, n)]
        if n == 64:  # that of the tables
            built.pictures.insert(0, figures.network(self._drawn(n), n))
        built.notes = airtext.notes(r, n, there)
        if n == air.VARIED:
            built.more, built.more_title = airtext.choices(r), "Other choices on the air, each varied once"
        return built

    def _unit(self, _: Results) -> Built:
        rows = [_measured(dict(x.factors), x.metric, x) for x in modred_unit(self.folder)]
        return Built(Comparison(rows), notes=notes("modred-unit", None), group_by=("case",))

    def findings(self, results: Results, others: Mapping[str, Results]) -> list[str]:
        """See `text.py`."""
        return findings(results)

    def causes(self, results: Results, others: Mapping[str, Results]) -> Mapping[str, str]:
        """See `text.py`."""
        return causes(results)


def _or_zero(x: float | None) -> float:
    """A value, or zero where there is none."""
    return 0.0 if x is None or math.isnan(x) else float(x)


def _mean(run: RunTables, column: str) -> float:
    """The mean of a series after the first tenth of the time, which averages leave out."""
    times, values = run.series("bottleneck", column)
    kept = [x for t, x in zip(times, values, strict=True) if t > times[-1] / 10 and x is not None]
    return sum(kept) / len(kept)


def _by_colour(run: RunTables) -> dict[str, float]:
    """Drops at the bottleneck by colour: what the marker sent in less what the meter before the receiver counted."""

    def last(link: str, column: str) -> float:
        return float(run.series(link, column)[1][-1] or 0.0)

    def sums(*colours: str) -> tuple[float, float]:
        came = sum(last("bottleneck", f"{c}_packets") for c in colours)
        return came, came - sum(last("d0.reverse", f"{c}_packets") for c in colours)

    (came_in, lost_in), (came_out, lost_out) = sums("green"), sums("yellow", "red")
    return {
        "drops_in": lost_in, "drops_out": lost_out, "drop_share_in": 100 * lost_in / max(1.0, came_in),
        "drop_share_out": 100 * lost_out / max(1.0, came_out), "in_share": 100 * came_in / (came_in + came_out),
    }  # fmt: skip
