"""Why the claims of Yang and Fu 2001 come out as they do, with the numbers of the runs that show it."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from .net import QUEUES
from .says import BEST_EFFORT, MEANS, SPREADS, UDP, Margins, chance_of, count, true_in
from .tables import Means
from .text import HASHED, HEAD, NEARER, RANDOM, RING, ROOMY, RTO64, SAME, SLOW_CBR, SPREAD, Values, mean, printed, values

if TYPE_CHECKING:
    from fairlane.papers import Paper, Results

_CLOSE = ("Y14", "Y20", "Y21", "Y21b", "Y22")
"""Claims on Table 4 that rest on small differences."""


def causes(paper: Paper, r: Results, others: Mapping[str, Results]) -> Mapping[str, str]:
    """Of each claim how many comparisons agree here and in print, with which other choice most would, what is chance, and why."""
    out = {}
    for table, claims in (("table4", MEANS), ("table6", SPREADS)):
        v, p = values(r, table), printed(paper, table)
        alt = {name: values(x, table) for name, x in others.items()}
        for claim, says in claims.items():
            words = f"True in {count(v, says)} comparisons here, in {count(p, says)} of the printed ones. "
            if true_in(v, says)[0] < true_in(v, says)[1]:
                words += _nearest(alt, says)
                if (table == "table6" or claim in _CLOSE) and (chance := chance_of(r, p, table, says)):
                    words += chance.text()
            out[claim] = words
    v, p, sd = values(r), printed(paper), values(r, "table6")
    alt = {name: values(x) for name, x in others.items()}
    for claim, why in _reasons(v, p, alt).items():
        out[claim] += why
    out["Y24"] += _hashed(sd, others)
    out["Y15"] = _law(r, v, sd)
    out["Y5"], out["Y3"] = _share(others), _last(r)
    return out


def _nearest(alt: Mapping[str, Values], says: Margins) -> str:
    """With which other choice most comparisons are true."""
    got = {name: true_in(v, says) for name, v in alt.items()}
    if len(got) < 2:
        return ""
    here, total = got.pop(SAME)
    most = max(n for n, _ in got.values())
    least = min(n for n, _ in got.values())
    best = [name for name, (n, _) in got.items() if n == most]
    if most <= here:
        return f"On four of the ratios {here} of {total}; none of the {len(got)} other choices gives more (the fewest are {least}). "
    names = " or ".join(f'"{name}"' for name in best[:3])
    return f"On four of the ratios {here} of {total}, and {'all' if most == total else most} with {names}. "


def _reasons(v: Values, p: Values, alt: Mapping[str, Values]) -> Mapping[str, str]:
    """What is to be said of single claims on Table 4."""
    drr, udp = v["cc/cc", "DRR", 1, "TCP4"], v["be/be", "DRR", 1, "UDP3"]
    return {
        "Y8": _ring(v, alt),
        "Y11": _drr(v, alt, "cc/be", "TCP1"),
        "Y13": "With FCFS, RED and SFQ the flows of S2 are over early, and S1's lower classes then have the link one after the other; "
        f"with DRR the best-effort flows themselves sit out long timers ({mean(v, 'be/be', 'DRR', (1,)):.0f} s without control). ",
        "Y14": _tolerance(v, alt),
        "Y16": f"TCP4: {drr:.0f} s here, {p['cc/cc', 'DRR', 1, 'TCP4']:.0f} s printed. " + _drr(v, alt, "cc/cc", "TCP4"),
        "Y17": f"UDP is worst with SFQ: {v['be/be', 'SFQ', 1, 'UDP3']:.0f} s at S1, with DRR {udp:.0f} s; so in the printed table "
        "(contradiction 4). ",
        "Y18": f"TCP1 of S1: {v['ts/be', 'DRR', 1, 'TCP1']:.0f} s with DRR, {v['ts/be', 'FCFS', 1, 'TCP1']:.0f} s with FCFS. ",
        "Y19": "Where the link is hardly ever idle, serving one class after the other ends the better classes sooner than turns do. "
        + _drr(v, alt, "cc/cc", "TCP4"),
        "Y20": _red(v),
        "Y21": f"All classes of be/be: SFQ {mean(v, 'be/be', 'SFQ'):.0f} s, RED {mean(v, 'be/be', 'RED'):.0f} s, FCFS "
        f"{mean(v, 'be/be', 'FCFS'):.0f} s; printed {mean(p, 'be/be', 'SFQ'):.0f}, {mean(p, 'be/be', 'RED'):.0f} and "
        f"{mean(p, 'be/be', 'FCFS'):.0f} s. " + _half(alt),
        "Y21b": _threshold(v, p, alt, "UDP3"),
        "Y22": _threshold(v, p, alt, "TCP2", "UDP3"),
        "Y23": "SFQ slows the flood of UDP of a source without control. Where the source holds its UDP back there is no flood: UDP3 of S1 "
        f"in cc/cc needs {v['cc/cc', 'SFQ', 1, 'UDP3']:.0f} s with SFQ and {v['cc/cc', 'DRR', 1, 'UDP3']:.0f} s with DRR. ",
    }


def _half(alt: Mapping[str, Values]) -> str:
    """SFQ with a queue a source in place of one for few flows."""
    if not alt:
        return ""
    few, source = (mean(alt[name], "be/be", "SFQ") for name in (SAME, HASHED))
    return (
        f"SFQ is as good for TCP as RED because it keeps UDP in few of its queues. With a queue a source UDP crowds out TCP of its own "
        f"source: {source:.0f} s in place of {few:.0f} s on four of the ratios, and RED is best. "
    )


def _ring(v: Values, alt: Mapping[str, Values]) -> str:
    text = (
        f"In ts/ts UDP3 needs {v['ts/ts', 'FCFS', 1, 'UDP3']:.0f} s and TCP3 {v['ts/ts', 'FCFS', 1, 'TCP3']:.0f} s: the UDP "
        "flows come last in the round, and all turns of a priority are equally long (contradiction 3). "
    )
    if RING in alt:
        of = [alt[RING]["ts/ts", "FCFS", 1, f] for f in ("UDP3", "TCP3")]
        text += f"If TCP and UDP take turns alternately, they need {of[0]:.0f} and {of[1]:.0f} s. "
    return text


def _drr(v: Values, alt: Mapping[str, Values], env: str, flow: str) -> str:
    """A class of S1 under DRR with its other choices."""
    if not alt:
        return ""
    names = {"as chosen": SAME, "25 kB": ROOMY, "the first packet dropped": HEAD, "timers of 64 s": RTO64, "spread starts": SPREAD}
    of = ", ".join(f"{alt[n][env, 'DRR', 1, flow]:.0f} s ({words})" for words, n in names.items())
    return f"{flow} of S1 in {env} with DRR on four of the ratios: {of}. "


def _tolerance(v: Values, alt: Mapping[str, Values]) -> str:
    """FCFS against the best queue for UDP, with the tolerance of 5 % that the notes to the claim ask for."""

    def says(times: float) -> Margins:
        return lambda x: [(f, times * min(x(e, q, s, f) for q in QUEUES) - x(e, "FCFS", s, f)) for e, s in BEST_EFFORT for f in UDP]

    fcfs, red, drr = (v["cc/be", q, 2, "UDP3"] for q in ("FCFS", "RED", "DRR"))
    text = (
        f"UDP3 of S2 in cc/be needs {fcfs:.1f} s with FCFS, {red:.1f} s with RED and {drr:.1f} s with DRR: a flood takes the whole link "
        f"with each. With the tolerance of 5 % of the notes the claim is true in {count(v, says(1.05))}, with 10 % in "
        f"{count(v, says(1.1))}"
    )
    return text + (f"; with DRR's buffer at 25 kB and 5 % in {count(alt[ROOMY], says(1.05))}. " if ROOMY in alt else ". ")


def _red(v: Values) -> str:
    def of(e: str, s: int) -> str:
        return f"{mean(v, e, 'RED', (s,)):.0f} against {mean(v, e, 'FCFS', (s,)):.0f} s"

    return (
        f"Means of the TCP classes, RED against FCFS: be/be {of('be/be', 1)} (S1) and {of('be/be', 2)} (S2), cc/be {of('cc/be', 1)} (S1) "
        f"and {of('cc/be', 2)} (S2), ts/be {of('ts/be', 1)} (S1) and {of('ts/be', 2)} (S2). "
    )


def _threshold(v: Values, p: Values, alt: Mapping[str, Values], *flows: str) -> str:
    """Classes of ts/ts with the four queues, and what a shorter round trip makes of them."""

    def of(x: Values, flow: str) -> str:
        return ", ".join(f"{x['ts/ts', q, 1, flow]:.0f} ({q})" for q in QUEUES)

    text = "".join(f"{f} of S1 in ts/ts: {of(v, f)} s; printed {of(p, f)} s. " for f in flows)
    if NEARER in alt:
        text += (
            "Where one flow of each source is open, two windows of 20 packets just fill a link with a round trip of 0.3 s, RED's queue "
            "stays below its threshold of 5 packets, and RED drops no more than FCFS. With 42 ms a link, a round trip of 0.25 s, RED drops "
            f"TCP, and UDP gains: {'; '.join(f'{f} {of(alt[NEARER], f)} s' for f in flows)}. "
        )
    return text


def _hashed(sd: Values, others: Mapping[str, Results]) -> str:
    """The deviation of best-effort UDP with SFQ as a share of that with FCFS."""

    def span(t: Values) -> str:
        shares = [t[e, "SFQ", s, f] / t[e, "FCFS", s, f] for e, s in BEST_EFFORT for f in UDP]
        return f"{min(shares):.2f} to {max(shares):.2f}"

    text = (
        f"The deviation with SFQ is {span(sd)} of that with FCFS. ns-2 of 1999 hashed addresses that had the port in them, so consecutive "
        "flows fell into consecutive queues, and a UDP flow shared its queue with few others. "
    )
    if RANDOM in others:
        same, hashed = (span(values(others[name], "table6")) for name in (SAME, RANDOM))
        text += f"On four of the ratios the share is {same}, and {hashed} if flows are hashed at random: the claim then fails. "
    return text


def _last(r: Results) -> str:
    """When the last UDP flow of 100 MB is over, in each replication."""
    cell = next(c for c in r.cells if c["part"] == "table1" and c["size"] == "100MB")
    ends = [max(xs) for xs in zip(*(r.samples(cell, f"UDP{i}") for i in range(1, 7)), strict=True)]
    rates = [6 * 100e6 * 8 / x / 1e6 for x in ends]
    true = sum(0.99 < x <= 1 for x in rates)
    of = ", ".join(f"{x:.4f}" for x in rates)
    return (
        f"In the single replications the six UDP flows have had {of} Mbit/s together when the last of them ends: the claim is true in "
        f"{true} of {len(rates)}. Another flow is the last one each time, so the largest of the means over replications comes too early. "
    )


def _law(r: Results, v: Values, sd: Values) -> str:
    """UDP of S2 in cc/be beside 8 s for each UDP flow, over the ratios at hand."""
    got = [t["cc/be", "FCFS", 2, f] for t in (v, sd) for f in UDP]
    flows = [100 - n for n in Means(r).ratios]
    law = [8 * take([k for k in flows if k >= least]) for take in (fmean, pstdev) for least in (1, 2)]
    of = [", ".join(f"{x:.1f}" for x in xs) for xs in (got, law)]
    return (
        f"Means and deviations of UDP3 and UDP4 over {len(flows)} ratios: {of[0]} s; by the law {of[1]} s. The claim has those of all 19."
    )


def _share(others: Mapping[str, Results]) -> str:
    if SLOW_CBR not in others:
        return ""
    at = {c["what"]: c for c in others[SLOW_CBR].cells if c["part"] == "fig2"}
    share = others[SLOW_CBR].samples(at["100"], "tcp_share")[0]
    return (
        f"With ns-2's default rate of 448 kbit/s for a UDP flow TCP has {share:.1f} % of the first 100 s. (A run of ns-2 whose starts are "
        "not known had 3.4 %.)"
    )
