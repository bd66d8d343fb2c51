"""Yang and Fu 2001: time slots and a congestion signal at the source, for TCP and UDP flows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING

from fairlane.papers import (
    Built,
    Combination,
    Curve,
    Experiment,
    Factors,
    Paper,
    Picture,
    Results,
    Row,
    RunTables,
    Tree,
    compare,
    factors_key,
)

from . import figures, net
from .causes import causes
from .diagrams import diagram
from .dots import dots
from .findings import findings
from .fluid import fluid
from .net import ENVS, MIDDLE, QUICK, RATIOS, SIZES, SMALL, Network
from .opens import DECLARED, OPENS, change_of
from .tables import FACTORS, Means, aging, fig2, fig7, fig8, fluid_means, observations, sizes, slots, table1, unit
from .text import notes

if TYPE_CHECKING:
    from fairlane.papers import Open, Value

Wanted = Callable[[Combination], bool]


def _suspects(published: Sequence[Mapping[str, str]]) -> dict[Factors, int]:
    """Combinations whose published value another number makes doubtful: means above those of a busy link (11)."""
    out: dict[Factors, int] = {}
    for p in published:
        controlled_by_ts = p["env"].startswith("ts")
        if p["queue"] == "DRR" and not controlled_by_ts and float(p["value"]) > 1600:
            out[factors_key(p, FACTORS)] = 11
        elif p["env"] == "be/be" and p["flow"].startswith("TCP"):
            out[factors_key(p, FACTORS)] = 10
    return out


class Yang2001(Paper):
    """The study and how it is rebuilt."""

    minutes = 4.5
    tables = ("sec5_1", "slots", "aging", "tsn", "fluid")
    hop_probe = False
    meant = ("so the window limits it", "less than 50 round-trip times", "sampling step", "delivered no data")
    flow_columns = ("completion_time", "open_time", "turns", "timeouts")
    network_columns = ("goodput", "goodput_tcp")
    flow_series = ("goodput", "open")
    links = ("bottleneck",)
    seeds = (1, 2)
    quick_seeds = (1,)
    most_settings = 256
    single_runs = True
    declared = DECLARED

    @cached_property
    def _files(self) -> tuple[Tree, Tree]:
        return self.scenario("net.toml"), self.scenario("combinations.toml")

    def _network(self, values: Mapping[str, Value] | None = None) -> Network:
        """The network in a setting; `None`: the declared one."""
        return Network(*self._files, change_of(self.declared_setting if values is None else values))

    def opens(self) -> list[Open]:
        """See `opens.py`."""
        return list(OPENS)

    def setting(self, values: Mapping[str, Value]) -> Sequence[Combination]:
        """Returns the combinations that claims read, without Table 6, with one ratio: that of the mean number of UDP flows."""
        n = self._network(values)
        kinds = {"table1", "fig2", "slots", "unit"}
        aged = {("aging", "cc/cc", x) for x in ("short", "long")}
        few = n.extra([t for t in net.TIMES if t <= 100])
        extra = [c for c in few if c["part"] in kinds or (c["part"], c["env"], c["what"]) in aged]
        small = [n.combination("grid", e, "FCFS", "10KB", r) for e in ("cc/cc", "ts/ts", "ts/be") for r in SMALL]
        return [*extra, *n.grid(("1MB",), (MIDDLE,)), *small]

    def combinations(self) -> list[Combination]:
        """Returns the whole factorial, and the extra runs."""
        n = self._network()
        return [*n.extra(), *n.grid(SIZES, RATIOS)]

    def quick_combinations(self) -> list[Combination]:
        """Two of the nineteen ratios; Fig. 2 without its three last times."""
        n = self._network()
        return [*n.extra([t for t in net.TIMES if t <= 1000]), *n.grid(("1MB",), QUICK), *n.grid(("10KB",), SMALL)]

    def topology(self) -> Tree:
        """Two sources without control."""
        return self._network().combination("grid", "be/be", "FCFS", "1MB", 90).tree(1)

    def measure(self, run: RunTables, combination: Combination) -> dict[str, float]:
        """Times of the classes, by source; of single flows where the study shows them."""
        f, part = run.flows, combination["part"]
        tcp, whole = float(run.network["goodput_tcp"][0]), float(run.network["goodput"][0])
        if part == "fig2":
            return {"tcp_share": 100 * tcp / whole}
        if part == "fig5":
            return {"at once": max(sum(x or 0.0 for x in at) for at in _open(run).values())}
        if part == "unit":
            length = net.slot_of(combination.tree(1))
            slot = [o / n / length for o, n in zip(f["open_time"], f["turns"], strict=True)]
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
        if part == "grid" and combination["queue"] == "DRR":
            out["timeouts of TCP1/1"] = _mean(f["timeouts"][i] or 0.0 for i in classes["TCP1/1"])
        if part == "grid" and (combination["env"], combination["queue"], combination["size"]) == ("ts/ts", "FCFS", "1MB"):
            out |= {f"fluid {c}": x for c, x in fluid(int(combination["tcp"]), net.slot_of(combination.tree(1))).items()}
        if part == "slots":
            out["tcp_goodput"] = tcp / 1e3 * 4000 / min(4000.0, out["last"])
        if part == "grid" and combination["size"] == "10KB" and combination["env"].startswith("ts"):
            own = sorted(t for c, at in classes.items() if c.endswith("/1") for i in at if (t := ended[i]) is not None)
            out |= {f"rank {k}": own[k - 1] for k in range(10, 101, 10) if k <= len(own)}
        return out

    def curves(self, run: RunTables, combination: Combination) -> dict[str, Curve]:
        """Goodput of the flows of S1 in the snapshots."""
        if combination["part"] != "fig5":
            return {}
        return {n: run.series(n, "goodput") for n in run.flows["name"] if n[3] == "0"}

    def experiments(self) -> list[Experiment]:
        """All tables and figures, and the sections that have numbers of their own."""
        e = self.experiment
        part: Callable[[str], Wanted] = lambda p: lambda c: c["part"] == p  # noqa: E731
        large: Wanted = lambda c: c["part"] == "grid" and c["size"] == "1MB"  # noqa: E731
        one: Wanted = lambda c: large(c) and c["tcp"] == str(MIDDLE)  # noqa: E731
        alone: Wanted = lambda c: c["part"] == "grid" and c["queue"] == "FCFS"  # noqa: E731
        small: Wanted = lambda c: alone(c) and c["size"] == "10KB" and c["env"] in ("ts/ts", "ts/be")  # noqa: E731
        fcfs: Wanted = lambda c: large(c) and c["queue"] == "FCFS" and c["env"] != "be/be"  # noqa: E731
        both: Wanted = lambda c: c["part"] == "grid" and c["env"] in ("cc/cc", "ts/ts") and c["queue"] == "FCFS"  # noqa: E731
        return [
            e("fig1", lambda r: figures.topology(self), lambda _: False),
            e("table1", lambda r: figures.thirteen(self, table1(r)), part("table1")),
            e("table2", lambda _: Built(), lambda _: False),
            e("table3", lambda _: Built(), lambda _: False),
            *(e(name, partial(diagram, self, name), lambda _: False) for name in ("fig3", "fig4", "fig6")),
            e("fig2", lambda r: figures.shares(self, fig2(r)), part("fig2")),
            replace(e("table4", lambda r: self._table(r, "table4"), part("grid")), least=one),
            e("table6", lambda r: self._table(r, "table6"), large),
            e("table5", lambda r: observations(self, Means(r).rows("table4"), notes("table5", r)), large),
            e("fig5", lambda r: figures.snapshots(self, r), part("fig5")),
            e("fig7", lambda r: figures.ranks(self, fig7(r)), small),
            e("fig8", lambda r: figures.ratios(self, fig8(r)), fcfs),
            e("fig9", lambda r: figures.against(self, fig8(r)), fcfs),
            e("sec5.1", lambda r: self._plain(sizes(r), r, "sec5.1", ("env", "size")), both),
            e("sec5.6-slots", lambda r: self._plain(slots(r), r, "slots", ("metric",)), part("slots")),
            e("sec5.6-aging", lambda r: self._plain(aging(r), r, "aging", ("env", "aging")), part("aging")),
            e("ts-mechanism", lambda r: self._plain(unit(r), r, "unit", ()), part("unit")),
        ]

    def _plain(self, rows: list[Row], r: Results, name: str, by: tuple[str, ...]) -> Built:
        """A table that the paper does not print."""
        return Built(compare(rows, []), notes=notes(name, r), group_by=by)

    def _table(self, r: Results, name: str) -> Built:
        published = self.published(name)
        rows = Means(r).rows(name)
        suspects = _suspects(published) if name == "table4" else {}
        built = Built(compare(rows, published, impossible=suspects), rows, group_by=("env", "queue"), notes=notes(name, r, self))
        caption = (
            "Filled: ours, with 95 % intervals. Hollow: published. T1 to T4: TCP of priority 1 to 4; U3 and U4: UDP of priority 3 and 4. "
            "Seconds, in steps of equal ratio."
        )
        if rows:
            built.pictures.append(Picture(name, self.title_of(name), caption, dots(ENVS, rows, published)))
        if name == "table4":
            built.more = compare(Means(r, "10KB").rows(name), []).rows
            built.more_title = "The same with transfers of 10 KB (not published in the paper)"
        return built

    def claim_tables(self, results: Results, built: Mapping[str, Built]) -> Mapping[str, list[Row]]:
        """Returns the tables that claims.toml names, for the available combinations."""
        r, m = results, Means(results)
        return {
            "table1": table1(r), "fig2": fig2(r), "table4": m.rows("table4"), "table6": m.rows("table6"), "fig7": fig7(r),
            "fig8": fig8(r), "sec5_1": sizes(r), "slots": slots(r), "aging": aging(r), "tsn": unit(r),
            "fluid": fluid_means(r),
        }  # fmt: skip

    def findings(self, results: Results, others: Mapping[str, Results]) -> list[str]:
        """See `findings.py`."""
        return findings(self, results)

    def causes(self, results: Results, others: Mapping[str, Results]) -> Mapping[str, str]:
        """See `causes.py`."""
        return causes(self, results)


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
