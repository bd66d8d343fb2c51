"""Causes of the outcomes of the claims of Yang and Fu 2001: how many comparisons of each are true, and how many by chance."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from .net import QUEUES
from .says import BEST_EFFORT, MEANS, SPREADS, UDP, chance_of, count, true_in
from .tables import Means
from .text import Values, mean, published, values

if TYPE_CHECKING:
    from fairlane.papers import Paper, Results

_CLOSE = ("Y14", "Y20", "Y21", "Y21b", "Y22", "Y22b")
"""Claims on Table 4 that rest on small differences."""


def causes(paper: Paper, r: Results) -> Mapping[str, str]:
    """Returns for each claim how many comparisons agree here and in the paper, how many by chance, and the times that it is about."""
    out = {}
    for table, claims in (("table4", MEANS), ("table6", SPREADS)):
        v, p = values(r, table), published(paper, table)
        for claim, says in claims.items() if v else ():
            words = f"True in {count(v, says)} comparisons here, in {count(p, says)} of the published ones. "
            if true_in(v, says)[0] < true_in(v, says)[1] and (table == "table6" or claim in _CLOSE):
                chance = chance_of(r, p, table, says)
                words += chance.text() if chance else ""
            out[claim] = words
    v, p, sd = values(r), published(paper), values(r, "table6")
    for claim, why in _times(v, p).items():
        out[claim] += why
    if sd:
        shares = [sd[e, "SFQ", s, f] / sd[e, "FCFS", s, f] for e, s in BEST_EFFORT for f in UDP]
        out["Y24"] += f"The deviation with SFQ is {min(shares):.2f} to {max(shares):.2f} of that with FCFS. "
        out["Y15"] = _law(r, v, sd)
    out["Y3"] = _last(r)
    return out


def _times(v: Values, p: Values) -> Mapping[str, str]:
    """The times that single claims on Table 4 are about."""

    def four(x: Values, flow: str) -> str:
        return ", ".join(f"{x['ts/ts', q, 1, flow]:.0f} ({q})" for q in QUEUES)

    def both(flow: str) -> str:
        return f"{flow} of S1 in ts/ts: {four(v, flow)} s; published {four(p, flow)} s. "

    def red(e: str, s: int) -> str:
        return f"{mean(v, e, 'RED', (s,)):.0f} against {mean(v, e, 'FCFS', (s,)):.0f} s"

    fcfs, drr = (v["cc/be", q, 2, "UDP3"] for q in ("FCFS", "DRR"))
    return {
        "Y8": f"In ts/ts UDP3 needs {v['ts/ts', 'FCFS', 1, 'UDP3']:.0f} s and TCP3 {v['ts/ts', 'FCFS', 1, 'TCP3']:.0f} s: the UDP flows "
        "come last "
        "in the round, and all turns of a priority are equally long (contradiction 3). ",
        "Y14": f"UDP3 of S2 in cc/be needs {fcfs:.1f} s with FCFS, {v['cc/be', 'RED', 2, 'UDP3']:.1f} s with RED and {drr:.1f} s with "
        "DRR. ",
        "Y16": f"TCP4: {v['cc/cc', 'DRR', 1, 'TCP4']:.0f} s here, {p['cc/cc', 'DRR', 1, 'TCP4']:.0f} s published. ",
        "Y17b": f"UDP3 of S1 needs {v['be/be', 'SFQ', 1, 'UDP3']:.0f} s with SFQ and {v['be/be', 'DRR', 1, 'UDP3']:.0f} s with DRR; so "
        "in the "
        "published table (contradiction 4). ",
        "Y18": f"TCP1 of S1: {v['ts/be', 'DRR', 1, 'TCP1']:.0f} s with DRR, {v['ts/be', 'FCFS', 1, 'TCP1']:.0f} s with FCFS. ",
        "Y20": f"Means of the TCP classes, RED against FCFS: be/be {red('be/be', 1)} (S1) and {red('be/be', 2)} (S2), cc/be "
        f"{red('cc/be', 1)} (S1) "
        f"and {red('cc/be', 2)} (S2), ts/be {red('ts/be', 1)} (S1) and {red('ts/be', 2)} (S2). ",
        "Y21": "All classes of be/be: "
        + ", ".join(f"{q} {mean(v, 'be/be', q):.0f} s (published {mean(p, 'be/be', q):.0f})" for q in ("SFQ", "RED", "FCFS"))
        + ". ",
        "Y22": both("TCP2"),
        "Y22b": both("UDP3"),
        "Y23": f"UDP3 of S1 in cc/cc needs {v['cc/cc', 'SFQ', 1, 'UDP3']:.0f} s with SFQ and {v['cc/cc', 'DRR', 1, 'UDP3']:.0f} s with "
        "DRR. ",
    }


def _last(r: Results) -> str:
    """When the last UDP flow of 100 MB is over, in each replication."""
    combination = next(c for c in r.combinations if c["part"] == "table1" and c["size"] == "100MB")
    ends = [max(xs) for xs in zip(*(r.samples(combination, f"UDP{i}") for i in range(1, 7)), strict=True)]
    of = ", ".join(f"{6 * 100e6 * 8 / x / 1e6:.4f}" for x in ends)
    return f"In the single replications the six UDP flows have had {of} Mbit/s together when the last of them ends. "


def _law(r: Results, v: Values, sd: Values) -> str:
    """Returns UDP of S2 in cc/be against 8 s for each UDP flow, over the available ratios."""
    got = [t["cc/be", "FCFS", 2, f] for t in (v, sd) for f in UDP]
    flows = [100 - n for n in Means(r).ratios]
    law = [8 * take([k for k in flows if k >= least]) for take in (fmean, pstdev) for least in (1, 2)]
    of = [", ".join(f"{x:.1f}" for x in xs) for xs in (got, law)]
    return f"Means and deviations of UDP3 and UDP4 over {len(flows)} ratios: {of[0]} s; by the law {of[1]} s."
