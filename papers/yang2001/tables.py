"""The tables of Yang and Fu 2001 from the times of single runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from fairlane.papers import Built, Combination, Compared, Comparison, Paper, Results, Row, Tables, factors_of, row_of, tables_of

from .net import CLASSES, ENVS, QUEUES, RATIOS, SIZES, key

if TYPE_CHECKING:
    from fairlane.papers import Factors

FACTORS = ("env", "queue", "traffic", "flow")
_FLOWS = [f"TCP{i}" for i in range(1, 8)] + [f"UDP{i}" for i in range(1, 7)]


def _deviation(xs: Sequence[float]) -> float:
    """Standard deviation of the population; `statistics.pstdev` is exact and takes twenty times as long."""
    m = sum(xs) / len(xs)
    return float((sum((x - m) ** 2 for x in xs) / len(xs)) ** 0.5)


METRICS: dict[str, tuple[str, Callable[[list[float]], float]]] = {
    "table4": ("mean_transmission_time", fmean),
    "table6": ("stddev_transmission_time", _deviation),
}
"""Metric of each table, and the statistic over the ratios."""


_MADE: WeakKeyDictionary[Results, dict[tuple[str, str], list[Row]]] = WeakKeyDictionary()
"""The rows made of results, by table and size: claims, causes and findings read the same."""


class Means:
    """Class means of the factorial with transfers of one size: per ratio, and over the ratios at hand."""

    def __init__(self, r: Results, size: str = "1MB") -> None:
        self.r, self.size = r, size
        have = {c.factors for c in r.combinations}
        self.ratios = [n for n in RATIOS if any(key("grid", e, q, size, n) in have for e in ENVS for q in QUEUES)]
        self.have = have

    def samples(self, env: str, queue: str, n: int, quantity: str) -> Sequence[float] | None:
        """Over the replications; `None` where there is no such class, or it was not run."""
        at = key("grid", env, queue, self.size, n)
        if at not in self.have:
            return None
        try:
            return self.r.samples(_combination(at), quantity)
        except KeyError:
            return None

    def all_ratios(self, env: str, queue: str) -> bool:
        """Returns true if every ratio was run."""
        return all(key("grid", env, queue, self.size, n) in self.have for n in RATIOS)

    def over_ratios(self, env: str, queue: str, quantity: str, take: Callable[[list[float]], float]) -> list[float]:
        """One number a replication: what `take` makes of the ratios."""
        of = [s for n in self.ratios if (s := self.samples(env, queue, n, quantity)) is not None]
        return [take([float(x) for x in one]) for one in zip(*of, strict=True)]

    def rows(self, table: str) -> list[Row]:
        """All combinations of a table, in the order of the published one."""
        made = _MADE.setdefault(self.r, {})
        if (table, self.size) not in made:
            made[table, self.size] = self._rows(table)
        return list(made[table, self.size])

    def _rows(self, table: str) -> list[Row]:
        metric, take = METRICS[table]
        out = []
        for e in ENVS:
            for q in QUEUES:
                if table == "table6" and not self.all_ratios(e, q):
                    continue  # a deviation over some of the ratios is another number
                for s in (1, 2):
                    for c in CLASSES:
                        if xs := self.over_ratios(e, q, f"{c}/{s}", take):
                            out.append(row_of({"env": e, "queue": q, "traffic": s, "flow": c}, metric, xs, "s"))
        return out


def _combination(factors: Factors) -> Combination:
    return Combination(factors, lambda _: {})


def _part(r: Results, part: str) -> list[Combination]:
    return [c for c in r.combinations if c["part"] == part]


def table1(r: Results) -> list[Row]:
    """Times of the thirteen flows."""
    out = []
    for c in _part(r, "table1"):
        size = c["size"]
        bytes_ = {"KB": 10**3, "MB": 10**6}[size[-2:]] * int(size[:-2])
        for name in _FLOWS:
            path = "S1-D1" if int(name[3:]) <= (4 if name[0] == "T" else 3) else "S2-D2"
            at = {"path": path, "flow": name, "size": size, "size_bytes": bytes_}
            out.append(row_of(at, "transmission_time", r.samples(c, name), "s"))
    return out


def fig2(r: Results) -> list[Row]:
    """Cumulative shares."""
    out = []
    for c in _part(r, "fig2"):
        tcp = r.samples(c, "tcp_share")
        out.append(row_of({"t": c["what"]}, "tcp_share", tcp, "percent"))
        out.append(row_of({"t": c["what"]}, "udp_share", [100 - x for x in tcp], "percent"))
    return out


def fig7(r: Results) -> list[Row]:
    """When the n-th transfer of 10 KB is over under ts, FCFS."""
    out = []
    m = Means(r, "10KB")
    for e in ("ts/ts", "ts/be"):
        for n in m.ratios:
            for k in range(10, 101, 10):
                if (xs := m.samples(e, "FCFS", n, f"rank {k}")) is not None:
                    out.append(row_of({"env": e, "ratio": f"{n}:{100 - n}", "flow_rank": k}, "completion_time", xs, "s"))
    return out


def fig8(r: Results) -> list[Row]:
    """Class means of traffic 1 at each ratio, FCFS."""
    out = []
    m = Means(r)
    for e in ENVS[:4]:
        for n in m.ratios:
            for c in CLASSES:
                if (xs := m.samples(e, "FCFS", n, f"{c}/1")) is not None:
                    at = {"env": e, "queue": "FCFS", "traffic": 1, "tcp_flows": n, "flow": c}
                    out.append(row_of(at, "mean_transmission_time", xs, "s"))
    return out


def sizes(r: Results) -> list[Row]:
    """cc/cc and ts/ts with both sizes, FCFS, traffic 1."""
    out = []
    for env in ("cc/cc", "ts/ts"):
        for size in SIZES:
            m = Means(r, size)
            for c in CLASSES:
                if xs := m.over_ratios(env, "FCFS", f"{c}/1", fmean):
                    out.append(row_of({"env": env, "size": size, "flow": c}, "mean_transmission_time", xs, "s"))
    return out


def fluid_means(r: Results) -> list[Row]:
    """The fluid model of ts/ts over the same ratios, with the slot of the setting."""
    m = Means(r)
    each = [(c, m.over_ratios("ts/ts", "FCFS", f"fluid {c}", fmean)) for c in CLASSES]
    return [row_of({"flow": c}, "mean_transmission_time", xs, "s") for c, xs in each if xs]


def slots(r: Results) -> list[Row]:
    """Goodput of TCP, and differentiation, by the length of a slot."""
    out = []
    for c in _part(r, "slots"):
        at = {"env": c["env"], "turn": c["what"]}
        out.append(row_of(at, "tcp_goodput", r.samples(c, "tcp_goodput"), "kbit/s"))
        out.append(row_of(at, "timeouts", r.samples(c, "timeouts"), ""))
        try:
            ratio = [a / b for a, b in zip(r.samples(c, "TCP4/1"), r.samples(c, "TCP1/1"), strict=True)]
        except KeyError:
            continue
        out.append(row_of(at, "differentiation", ratio, "times"))
    return sorted(out, key=lambda x: x.metric)


def aging(r: Results) -> list[Row]:
    """Class means with aging."""
    out = []
    for c in sorted(_part(r, "aging"), key=lambda c: c["env"]):
        for k in CLASSES:
            at = {"env": c["env"], "aging": c["what"], "flow": k}
            out.append(row_of(at, "mean_transmission_time", r.samples(c, f"{k}/1"), "s"))
    return out


def unit(r: Results) -> list[Row]:
    """Slots of a turn, measured."""
    out = []
    for c in _part(r, "unit"):
        out += [row_of({"priority": p}, "slots_per_turn", r.samples(c, f"slots of {p}"), "") for p in range(1, 7)]
    return out


# Table 5

_TCP, _UDP = CLASSES[:4], CLASSES[4:]
_BE = (("cc/be", 2), ("ts/be", 2), ("be/be", 1), ("be/be", 2))
_CC = (("cc/cc", 1), ("cc/cc", 2), ("cc/be", 1))
_TS = (("ts/ts", 1), ("ts/ts", 2), ("ts/be", 1))
_OBSERVED = (
    ("best-effort UDP: FCFS is best", "Y14", "FCFS", "best", _BE, _UDP),
    ("cc/cc, all but TCP1: DRR is worst", "Y16", "DRR", "worst", _CC[:2], (*_TCP[1:], *_UDP)),
    ("be/be, TCP 2 to 4: DRR is worst", "Y17", "DRR", "worst", _BE[2:], _TCP[1:]),
    ("be/be, UDP: DRR is worst", "Y17", "DRR", "worst", _BE[2:], _UDP),
    ("ts/be, controlled TCP: DRR is best", "Y18", "DRR", "best", _TS[2:], _TCP),
    ("ts/be, best-effort TCP: DRR is worst", "Y18", "DRR", "worst", _BE[1:2], _TCP),
    ("best-effort TCP: RED is best", "Y21", "RED", "best", _BE, _TCP),
    ("ts/ts, TCP: RED is worst", "Y22", "RED", "worst", _TS[:2], _TCP),
    ("ts/ts, UDP: RED is best", "Y22", "RED", "best", _TS[:2], _UDP),
    ("all UDP: SFQ is worst", "Y23", "SFQ", "worst", (*_CC, *_TS, *_BE), _UDP),
    ("best-effort UDP: SFQ is worst", "Y23b", "SFQ", "worst", _BE, _UDP),
)


def _counted(t: Tables) -> dict[str, tuple[str, float]]:
    """Returns the claim of each observation and the share of cells in which it is true."""

    def v(e: str, q: str, s: int, c: str) -> float:
        return t.v("t", env=e, queue=q, traffic=s, flow=c)

    out = {}
    for text, claim, queue, kind, where, classes in _OBSERVED:
        pick = min if kind == "best" else max
        true = [v(e, queue, s, c) == pick(v(e, q, s, c) for q in QUEUES) for e, s in where for c in classes]
        out[text] = (claim, 100 * fmean(true))
    pairs = [("ts/ts", "cc/cc", 1), ("ts/ts", "cc/cc", 2), ("ts/be", "cc/be", 1)]
    true = [v(a, "DRR", s, c) < v(b, "DRR", s, c) for a, b, s in pairs for c in CLASSES]
    out["DRR: ts is faster than cc"] = ("Y19", 100 * fmean(true))
    extra = [(e, s) for e in ENVS[2:] for s in (1, 2)]
    true = [v(e, "RED", s, c) < v(e, "FCFS", s, c) for e, s in extra for c in _TCP]
    out["next to best effort, TCP: RED is better than FCFS"] = ("Y20", 100 * fmean(true))
    rank = [sorted(v(e, q, s, c) for q in QUEUES)[1] >= v(e, "RED", s, c) for e in ENVS[:4] for s in (1, 2) for c in _UDP]
    out["under cc or ts, UDP: RED is best or second"] = ("Y21b", 100 * fmean(rank))
    return out


def observations(paper: Paper, ours: list[Row], notes: list[str]) -> Built:
    """The share of cells of Table 4 that agree with each observation, published and ours."""
    published = _counted(Tables({"t": paper.published("table4")}))
    own = _counted(tables_of({"t": ours}))
    rows = [
        Compared(factors_of(observation=text, claim=claim), "cells that agree", "percent", published[text][1], share)
        for text, (claim, share) in own.items()
    ]
    return Built(Comparison(rows), notes=notes)
