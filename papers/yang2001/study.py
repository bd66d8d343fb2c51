"""Yang and Fu 2001: time slots and a congestion signal at the source, for TCP and UDP flows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property

from fairlane.papers import (
    Alternative,
    Built,
    Cell,
    Change,
    Curve,
    Experiment,
    Factors,
    Paper,
    Picture,
    Results,
    Row,
    RunTables,
    SensitivityColumn,
    Tree,
    all_of,
    compare,
    factors_key,
)

from . import diagrams, figures, net
from .causes import causes
from .dots import dots
from .findings import findings
from .net import ENVS, FEW, QUICK, RATIOS, SIZES, SMALL, Network, key
from .tables import FACTORS, Means, aging, fig2, fig7, fig8, observations, sizes, slots, table1, unit
from .text import ACCESS, BOUNDED, DEAF, HASHED, HEAD, NEARER, RANDOM, RELEASED, RING, ROOMY, RTO64, RTO384, SAME, SLOW_CBR, SPREAD, notes

Wanted = Callable[[Cell], bool]


def _suspects(printed: Sequence[Mapping[str, str]]) -> dict[Factors, int]:
    """Cells whose printed value another number makes doubtful: means above those of a busy link (11)."""
    out: dict[Factors, int] = {}
    for p in printed:
        controlled_by_ts = p["env"].startswith("ts")
        if p["queue"] == "DRR" and not controlled_by_ts and float(p["value"]) > 1600:
            out[factors_key(p, FACTORS)] = 11
        elif p["env"] == "be/be" and p["flow"].startswith("TCP"):
            out[factors_key(p, FACTORS)] = 10
    return out


class Yang2001(Paper):
    """The study and how it is rebuilt."""

    minutes = 3.6
    tables = ("sec5_1", "slots", "aging", "tsn")
    hop_probe = False
    meant = ("so the window limits it", "less than 50 round trips", "sampling step", "delivered nothing")
    flow_columns = ("completion_time", "open_time", "turns", "timeouts")
    network_columns = ("goodput", "goodput_tcp")
    flow_series = ("goodput", "open")
    links = ("bottleneck",)
    seeds = (1, 2, 3)
    quick_seeds = (1,)
    alternative_seeds = (1,)
    reference = SAME

    @cached_property
    def _files(self) -> tuple[Tree, Tree]:
        return self.scenario("net.toml"), self.scenario("cells.toml")

    def _network(self, change: Change | None = None) -> Network:
        return Network(*self._files, change)

    def cells(self) -> list[Cell]:
        """The whole factorial, and the runs beside it."""
        n = self._network()
        return [*n.beside(), *n.grid(SIZES, RATIOS)]

    def quick_cells(self) -> list[Cell]:
        """Nine of the nineteen ratios, three with 10 KB; Fig. 2 without its two last times."""
        n = self._network()
        return [*n.beside([t for t in net.TIMES if t <= 2000]), *n.grid(("1MB",), QUICK), *n.grid(("10KB",), SMALL)]

    def _few(self, change: Change | None) -> list[Cell]:
        """What claims read, with four ratios: with 10 KB they read FCFS alone."""
        n = self._network(change)
        return [*n.beside([t for t in net.TIMES if t <= 500]), *n.grid(("1MB",), FEW), *n.grid(("10KB",), SMALL, ("FCFS",))]

    def topology(self) -> Tree:
        """Two sources without control."""
        return self._network().cell("grid", "be/be", "FCFS", "1MB", 90).tree(1)

    def measure(self, run: RunTables, cell: Cell) -> dict[str, float]:
        """Times of the classes, by source; of single flows where the study shows them."""
        f, part = run.flows, cell["part"]
        tcp, whole = float(run.network["goodput_tcp"][0]), float(run.network["goodput"][0])
        if part == "fig2":
            return {"tcp_share": 100 * tcp / whole}
        if part == "fig5":
            return {"at once": max(sum(x or 0.0 for x in at) for at in _open(run).values())}
        if part == "unit":
            slot = [o / n / 0.1 for o, n in zip(f["open_time"], f["turns"], strict=True)]
            return {f"slots of {i + 1}": float(round(x)) for i, x in enumerate(slot)}
        classes = _classes(tuple(f["name"]))
        ended = f["completion_time"]
        if part == "table1":
            return {_thirteenth(n): float("nan") if t is None else t for n, t in zip(f["name"], ended, strict=True)}
        out: dict[str, float] = {}
        for c, at in classes.items():
            of = [t for i in at if (t := ended[i]) is not None]
            if len(of) == len(at):
                out[c] = sum(of) / len(of)
        out["timeouts"] = float(sum(x for x in f["timeouts"] if x is not None))
        out["last"] = max(float("inf") if t is None else t for t in ended)
        out["TCP"] = _mean(t for c, at in classes.items() if c[0] == "T" for i in at if (t := ended[i]) is not None)
        if part == "grid" and cell["queue"] == "DRR":
            out["timeouts of TCP1/1"] = _mean(f["timeouts"][i] or 0.0 for i in classes["TCP1/1"])
        if part == "slots":
            out["tcp_goodput"] = tcp / 1e3 * 4000 / min(4000.0, out["last"])
        if part == "grid" and cell["size"] == "10KB" and cell["env"].startswith("ts"):
            own = sorted(t for c, at in classes.items() if c.endswith("/1") for i in at if (t := ended[i]) is not None)
            out |= {f"rank {k}": own[k - 1] for k in range(10, 101, 10) if k <= len(own)}
        return out

    def curves(self, run: RunTables, cell: Cell) -> dict[str, Curve]:
        """Goodput of the flows of S1 in the snapshots."""
        if cell["part"] != "fig5":
            return {}
        return {n: run.series(n, "goodput") for n in run.flows["name"] if n[3] == "0"}

    def experiments(self) -> list[Experiment]:
        """All tables and figures, and the sections that have numbers of their own."""
        e = self.experiment
        part: Callable[[str], Wanted] = lambda p: lambda c: c["part"] == p  # noqa: E731
        large: Wanted = lambda c: c["part"] == "grid" and c["size"] == "1MB"  # noqa: E731
        alone: Wanted = lambda c: c["part"] == "grid" and c["queue"] == "FCFS"  # noqa: E731
        small: Wanted = lambda c: alone(c) and c["size"] == "10KB" and c["env"] in ("ts/ts", "ts/be")  # noqa: E731
        fcfs: Wanted = lambda c: large(c) and c["queue"] == "FCFS" and c["env"] != "be/be"  # noqa: E731
        cc: Wanted = lambda c: c["part"] == "grid" and c["env"] == "cc/cc" and c["queue"] == "FCFS"  # noqa: E731
        return [
            e("fig1", lambda r: figures.topology(self), lambda _: False),
            e("table1", lambda r: figures.thirteen(self, table1(r)), part("table1")),
            e("table2", lambda _: Built(), lambda _: False),
            e("table3", lambda _: Built(), lambda _: False),
            e("fig3", lambda _: diagrams.signal(self), lambda _: False),
            e("fig4", lambda _: diagrams.slots(self), lambda _: False),
            e("fig6", lambda _: diagrams.run(self), lambda _: False),
            e("fig2", lambda r: figures.shares(self, fig2(r)), part("fig2")),
            e("table4", lambda r: self._table(r, "table4"), part("grid")),
            e("table6", lambda r: self._table(r, "table6"), large),
            e("table5", lambda r: observations(self, Means(r).rows("table4"), notes("table5", r)), large),
            e("fig5", lambda r: figures.snapshots(self, r), part("fig5")),
            e("fig7", lambda r: figures.ranks(self, fig7(r)), small),
            e("fig8", lambda r: figures.ratios(self, fig8(r)), fcfs),
            e("fig9", lambda r: figures.against(self, fig8(r)), fcfs),
            e("sec5.1", lambda r: self._plain(sizes(r), r, "sec5.1", ("size",)), cc),
            e("sec5.6-slots", lambda r: self._plain(slots(r), r, "slots", ("metric",)), part("slots")),
            e("sec5.6-aging", lambda r: self._plain(aging(r), r, "aging", ("env", "aging")), part("aging")),
            e("ts-mechanism", lambda r: self._plain(unit(r), r, "unit", ()), part("unit")),
        ]

    def _plain(self, rows: list[Row], r: Results, name: str, by: tuple[str, ...]) -> Built:
        """A table that the paper does not print."""
        return Built(compare(rows, []), notes=notes(name, r), group_by=by)

    def _table(self, r: Results, name: str) -> Built:
        printed = self.published(name)
        rows = Means(r).rows(name)
        suspects = _suspects(printed) if name == "table4" else {}
        built = Built(compare(rows, printed, impossible=suspects), rows, group_by=("env", "queue"), notes=notes(name, r, self))
        caption = (
            "Filled: ours, with 95 % intervals. Hollow: printed. T1 to T4: TCP of priority 1 to 4; U3 and U4: UDP of priority 3 and 4. "
            "Seconds, in steps of equal ratio."
        )
        built.pictures.append(Picture(name, self.title_of(name), caption, dots(ENVS, rows, printed)))
        if name == "table4":
            built.more = compare(Means(r, "10KB").rows(name), []).rows
            built.more_title = "The same with transfers of 10 KB (not printed in the paper)"
        return built

    def claim_tables(self, results: Results, built: Mapping[str, Built]) -> Mapping[str, list[Row]]:
        """Those named in claims.toml, of the cells at hand."""
        r, m = results, Means(results)
        return {
            "table1": table1(r), "fig2": fig2(r), "table4": m.rows("table4"), "table6": m.rows("table6"), "fig7": fig7(r),
            "fig8": fig8(r), "sec5_1": sizes(r), "slots": slots(r), "aging": aging(r), "tsn": unit(r),
        }  # fmt: skip

    # What the conclusions depend on

    def alternatives(self) -> list[Alternative]:
        """The open choices, each changed alone; the first changes nothing but the number of ratios."""

        def of(name: str, why: str, change: Change | None) -> Alternative:
            return Alternative(name, why, lambda: self._few(change))

        def grid(name: str, why: str, change: Change) -> Alternative:
            """One that says nothing about the runs beside the factorial."""
            return Alternative(name, why, lambda: self._network(change).grid(("1MB",), FEW))

        def hashed(by: str) -> Change:
            return all_of(net.queue("sfq", hash=by), net.queue("drr", hash=by))

        return [
            of(SAME, "nothing else changed; those below have these ratios (83, 86, 93, 97) and are compared with this one", None),
            of(RTO64, "what ns-2 of the time is said to have had", net.tcp(rto_max="64s")),
            of(RTO384, "64 times the first RTO: where ns-2's backoff ends without another limit", net.tcp(rto_max="384s")),
            of(SPREAD, "flows that do not begin at one instant", net.starts("0.5s")),
            of(ACCESS, "UDP then fills the access links, too", net.links(access="10Mbit/s")),
            of(SLOW_CBR, "the default of ns-2: one UDP flow cannot fill the link", net.cbr("448kbit/s")),
            of("CBR of 1 Mbit/s", "one UDP flow just fills the link", net.cbr("1Mbit/s")),
            of("10 ms a link", "a round trip of 60 ms", net.links(delay="10ms")),
            grid(NEARER, "a round trip of 0.25 s: two windows of 20 packets then reach RED's lower threshold", net.links(delay="42ms")),
            of("TCP Reno", "fast recovery in place of slow start after a loss", net.tcp(cc="reno")),
            grid(RANDOM, "as hashing by addresses and ports is usually done", hashed("flow")),
            grid(HASHED, "as ns-2.35 does; the sources then have half the link each", hashed("ns2_source")),
            grid("TCP window of 40 packets", "twice ns-2's default", net.tcp(window="40p")),
            grid("FCFS with 100 packets", "twice ns-2's default", net.queue("droptail", limit="100p")),
            grid("RED with thresholds of 10 and 30 packets", "twice ns-2's defaults", net.queue("red", min="10p", max="30p")),
            grid("SFQ with 80 packets", "twice ns-2's default", net.queue("sfq", limit="80p")),
            grid(ROOMY, "the default of ns-2", net.queue("drr", limit="25kB")),
            grid(HEAD, "ns-2.35 drops the first packet of the longest queue", net.queue("drr", drop="head")),
            of("cc: held until the better class is over", "no release after 5 s", net.control("congestion_signal", clear="10000s")),
            of("cc: one class held at a time", "the worst only", net.control("congestion_signal", hold="worst")),
            of(RELEASED, "after 5 s without a signal, not the best class alone", net.control("congestion_signal", release="all")),
            of(RING, "the paper does not tell the order of the round", net.control("time_slots", order="interleaved")),
            of(DEAF, "the other reading of what closing means", BOUNDED),
        ]  # fmt: skip

    def sensitivity_columns(self) -> list[SensitivityColumn]:
        """Numbers the open choices move, at one ratio (86 TCP and 14 UDP flows)."""

        def of(title: str, quantity: str, env: str, queue: str, printed: float) -> SensitivityColumn:
            factors = dict(key("grid", env, queue, "1MB", 86))
            return SensitivityColumn(title, quantity, "s", factors, printed)

        return [
            of("be/be FCFS, TCP", "TCP", "be/be", "FCFS", 1070.4),
            of("be/be RED, TCP", "TCP", "be/be", "RED", 955.4),
            of("be/be DRR, TCP", "TCP", "be/be", "DRR", 1813.6),
            of("cc/cc FCFS, TCP1", "TCP1/1", "cc/cc", "FCFS", 290.39),
            of("cc/be FCFS, TCP1", "TCP1/1", "cc/be", "FCFS", 582.2),
            of("cc/be DRR, TCP1", "TCP1/1", "cc/be", "DRR", 579.4),
            of("ts/ts FCFS, TCP1", "TCP1/1", "ts/ts", "FCFS", 450.42),
            of("ts/be FCFS, TCP1", "TCP1/1", "ts/be", "FCFS", 1214.9),
        ]

    def findings(self, results: Results, others: Mapping[str, Results]) -> list[str]:
        """See `findings.py`."""
        return findings(self, results, others)

    def causes(self, results: Results, others: Mapping[str, Results]) -> Mapping[str, str]:
        """See `causes.py`."""
        return causes(self, results, others)


@cache
def _classes(names: tuple[str, ...]) -> dict[str, list[int]]:
    """The flows of each class and source: TCP1/1 is TCP of priority 1 of S1."""
    out: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        group, _, number = name.partition(".")
        i, kind = int(number or 0), group[:3].upper()
        out.setdefault(f"{kind}{1 + i % 4 if kind == 'TCP' else 3 + i % 2}/{int(group[3]) + 1}", []).append(at)
    return out


def _thirteenth(name: str) -> str:
    """The name in Table 1 of a flow."""
    group, _, number = name.partition(".")
    kind = group[:3].upper()
    return f"{kind}{1 + int(number or 0) + int(group[3]) * (4 if kind == 'TCP' else 3)}"


def _mean(xs: Iterable[float]) -> float:
    values = list(xs)
    return sum(values) / len(values) if values else float("nan")


def _open(run: RunTables) -> dict[float, list[float | None]]:
    """The shares of each step in which the flows of S1 were open."""
    out: dict[float, list[float | None]] = {}
    for name in run.flows["name"]:
        if name[3] == "0":
            for t, x in zip(*run.series(name, "open"), strict=True):
                out.setdefault(t, []).append(x)
    return out
