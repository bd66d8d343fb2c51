"""Why the claims of Yang and Fu 2001 come out as they do, with the numbers of the runs that show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from .yang2001_net import CLASSES, ENVS, QUEUES
from .yang2001_tables import Means
from .yang2001_text import DEALT, RING, ROOMY, RTO64, RTO384, SAME, SLOW_CBR, SPREAD, TCP, Values, chance, mean, printed, values

if TYPE_CHECKING:
    from .definition import Paper, Results

Look = Callable[[str, str, int, str], float]
"""The value of an environment, a queue, a source and a class."""
Says = Callable[[Look], list[bool]]
"""What a claim says of each cell it speaks of."""
_UDP, _LOW = CLASSES[4:], CLASSES[1:]
_BEST_EFFORT = (("cc/be", 2), ("ts/be", 2), ("be/be", 1), ("be/be", 2))


def _rank(queue: str, pick: Callable[[list[float]], float], where: Sequence[tuple[str, int]], flows: Sequence[str]) -> Says:
    """This queue has the least or the most of all four."""

    def says(v: Look) -> list[bool]:
        return [v(e, queue, s, f) == pick([v(e, q, s, f) for q in QUEUES]) for e, s in where for f in flows]

    return says


def _both(*envs: str) -> list[tuple[str, int]]:
    return [(e, s) for e in envs for s in (1, 2)]


_DRR_PAIRS = (("ts/ts", "cc/cc", 1), ("ts/ts", "cc/cc", 2), ("ts/be", "cc/be", 1))
_SAYS: dict[str, Says] = {
    "Y8": lambda v: [v(e, q, s, "UDP3") < v(e, q, s, "TCP3") for e, s in _both(*ENVS) for q in QUEUES],
    "Y10": lambda v: [v("cc/cc", q, s, f) < v("ts/ts", q, s, f) for q in QUEUES for s in (1, 2) for f in CLASSES],
    "Y11": lambda v: [v("cc/be", q, 1, f) < v("ts/be", q, 1, f) for q in QUEUES for f in CLASSES],
    "Y13": lambda v: [v("cc/be", q, 1, f) > v("be/be", q, 1, f) for q in QUEUES for f in TCP[1:]],
    "Y14": _rank("FCFS", min, _BEST_EFFORT, _UDP),
    "Y16": _rank("DRR", max, _both("cc/cc"), _LOW),
    "Y17": _rank("DRR", max, _both("be/be"), _LOW),
    "Y19": lambda v: [v(a, "DRR", s, f) < v(b, "DRR", s, f) for a, b, s in _DRR_PAIRS for f in CLASSES],
    "Y20": lambda v: [v(e, "RED", s, f) < v(e, "FCFS", s, f) for e, s in _both(*ENVS[2:]) for f in TCP],
    "Y21": _rank("RED", min, _BEST_EFFORT, TCP),
    "Y21b": lambda v: [sorted(v(e, q, s, f) for q in QUEUES)[1] >= v(e, "RED", s, f) for e, s in _both(*ENVS[:4]) for f in _UDP],
    "Y22": lambda v: [*_rank("RED", max, _both("ts/ts"), TCP)(v), *_rank("RED", min, _both("ts/ts"), _UDP)(v)],
    "Y23": _rank("SFQ", max, _both(*ENVS), _UDP),
    "Y23b": _rank("SFQ", max, _BEST_EFFORT, _UDP),
    "Y18": lambda v: [
        *_rank("DRR", min, [("ts/be", 1)], TCP)(v),
        *_rank("DRR", max, [("ts/be", 2)], TCP)(v),
    ],
}
"""Claims on Table 4."""
_SPREADS: dict[str, Says] = {
    "Y24": lambda v: [v(e, "SFQ", s, f) < 0.56 * v(e, "FCFS", s, f) for e, s in _BEST_EFFORT for f in _UDP],
    "Y25": lambda v: [v(a, q, 1, f) > v(b, q, 1, f) for a, b in (("cc/cc", "ts/ts"), ("cc/be", "ts/be")) for q in QUEUES for f in CLASSES],
    "Y26": lambda v: [v(e, q, 1, a) < v(e, q, 1, b) for e in ENVS[:4] for q in QUEUES for a, b in pairwise(TCP)],
    "Y26b": lambda v: [v("cc/cc", q, 1, a) < v("cc/cc", q, 1, b) for q in QUEUES for a, b in pairwise(TCP)],
    "Y27": lambda v: [
        max(v("cc/cc", q, 1, f) for q in ("FCFS", "RED")) < min(v("cc/cc", q, 1, f) for q in ("DRR", "SFQ")) for f in CLASSES
    ],
    "Y28": _rank("DRR", max, _both("cc/cc", "cc/be", "be/be"), TCP),
    "Y29": _rank("SFQ", min, _both(*ENVS[2:]), _UDP),
    "Y30": _rank("SFQ", min, _both("cc/be", "ts/be"), TCP),
}
"""Claims on Table 6."""


def _count(v: Values, says: Says) -> str:
    got = says(lambda e, q, s, f: v[e, q, s, f])
    return f"{sum(got)} of {len(got)}"


def causes(paper: Paper, r: Results, others: Mapping[str, Results]) -> Mapping[str, str]:
    """Of each claim how many cells agree here and in print, what other choices make of it, and why."""
    v, p, sd, psd = values(r), printed(paper), values(r, "table6"), printed(paper, "table6")
    alt = {name: values(x) for name, x in others.items()}

    def tried(says: Says, names: Mapping[str, str]) -> str:
        """The counts with other choices, on four ratios."""
        if not alt:
            return ""
        same = _count(alt[SAME], says)
        return f"On four of the ratios {same}; " + ", ".join(f"{k} {_count(alt[n], says)}" for k, n in names.items()) + ". "

    drr: dict[str, str] = {"with ns-2's 25 kB for DRR": ROOMY}
    timers: dict[str, str] = {"with the longest RTO at 64 s": RTO64, "at 384 s": RTO384}
    why = {
        "Y8": _ring(v, alt),
        "Y11": "With a buffer of 10 kB DRR makes TCP time out so often that held and released flows lose more than flows that "
        "wait for turns. ",
        "Y13": "With FCFS, RED and SFQ the flows of S2 are over early, and S1's lower classes then have the link one after the "
        "other; with DRR "
        "the best-effort flows themselves sit out long timers. ",
        "Y14": _udp(v, alt),
        "Y16": f"TCP4: {v['cc/cc', 'DRR', 1, 'TCP4']:.0f} s here, {p['cc/cc', 'DRR', 1, 'TCP4']:.0f} s printed: DRR wastes more "
        f"of the link "
        "the smaller the buffer that its queues share. ",
        "Y17": f"UDP is worst with SFQ: {v['be/be', 'SFQ', 1, 'UDP3']:.0f} s at S1, with DRR {v['be/be', 'DRR', 1, 'UDP3']:.0f} "
        f"s; so in the "
        "printed table (contradiction 4). ",
        "Y18": f"TCP1 of S1: {v['ts/be', 'DRR', 1, 'TCP1']:.0f} s with DRR, {v['ts/be', 'FCFS', 1, 'TCP1']:.0f} s with FCFS. ",
        "Y19": "Where the link is never idle, serving one class after the other ends the better classes sooner than turns do. ",
        "Y20": _red(v),
        "Y21": f"All classes of be/be: SFQ {mean(v, 'be/be', 'SFQ'):.0f} s, RED {mean(v, 'be/be', 'RED'):.0f} s, FCFS "
        f"{mean(v, 'be/be', 'FCFS'):.0f} s. ",
        "Y21b": _alike(v, "UDP3"),
        "Y22": _alike(v, "TCP1"),
        "Y23": "SFQ slows the flood of UDP of a source without control. Where the source holds its UDP back there is no flood. ",
        "Y23b": "",
        "Y10": "",
    }
    choices = {
        "Y10": drr, "Y11": drr, "Y13": drr | timers, "Y14": drr, "Y16": drr, "Y17": drr, "Y18": drr, "Y19": drr, "Y20": timers,
        "Y21": timers, "Y22": {"with starts spread over 0.5 s": SPREAD}, "Y23": drr, "Y23b": drr,
    }  # fmt: skip
    out = {}
    for claim, says in _SAYS.items():
        counts = f"True in {_count(v, says)} cells here, in {_count(p, says)} of the printed ones. "
        out[claim] = counts + (tried(says, choices[claim]) if claim in choices else "") + why[claim]
    for claim, says in _SPREADS.items():
        out[claim] = f"True in {_count(sd, says)} cells here, in {_count(psd, says)} of the printed ones. " + _chance(r, claim)
    out["Y24"] += _hashed(sd, others)
    out["Y15"] = _law(r, v, sd)
    out["Y5"], out["Y3"] = _share(others), _last(r)
    return out


def _ring(v: Values, alt: Mapping[str, Values]) -> str:
    text = (
        f"In ts/ts UDP3 needs {v['ts/ts', 'FCFS', 1, 'UDP3']:.0f} s and TCP3 {v['ts/ts', 'FCFS', 1, 'TCP3']:.0f} s: the UDP "
        f"flows come last in "
        "the round, and all turns of a priority are equally long (contradiction 3). "
    )
    if RING in alt:
        of = [alt[RING]["ts/ts", "FCFS", 1, f] for f in ("UDP3", "TCP3")]
        text += f"If TCP and UDP take turns alternately, they need {of[0]:.0f} and {of[1]:.0f} s. "
    return text


def _udp(v: Values, alt: Mapping[str, Values]) -> str:
    fcfs, red, drr = (v["cc/be", q, 2, "UDP3"] for q in ("FCFS", "RED", "DRR"))

    def nearly(look: Look) -> list[bool]:
        return [look(e, "FCFS", s, f) <= 1.05 * min(look(e, q, s, f) for q in QUEUES) for e, s in _BEST_EFFORT for f in _UDP]

    text = (
        f"FCFS and RED differ by {100 * abs(red / fcfs - 1):.1f} % (UDP3 in cc/be). With a buffer of 10 kB DRR gives UDP {drr:.0f} s, FCFS "
        f"{fcfs:.0f} s: under DRR UDP flows end one after the other, under FCFS all near the end. With the tolerance of 5 % of the notes: "
        f"{_count(v, nearly)}"
    )
    return text + (f", with DRR's buffer at 25 kB {_count(alt[ROOMY], nearly)}. " if ROOMY in alt else ". ")


def _red(v: Values) -> str:
    def of(e: str, s: int) -> str:
        return f"{mean(v, e, 'RED', (s,)):.0f} against {mean(v, e, 'FCFS', (s,)):.0f} s"

    return (
        f"Means of the TCP classes, RED against FCFS: be/be {of('be/be', 1)} (S1) and {of('be/be', 2)} (S2), cc/be {of('cc/be', 2)} (S2), "
        f"ts/be {of('ts/be', 2)} (S2). The longer timers may grow, the better RED looks. "
    )


def _alike(v: Values, flow: str) -> str:
    times = ", ".join(f"{v['ts/ts', q, 1, flow]:.0f} ({q})" for q in QUEUES)
    return f"In ts/ts one flow of each source is open and the queue has little to decide: {flow} of S1 needs {times} s. "


def _hashed(sd: Values, others: Mapping[str, Results]) -> str:
    """The deviation of best-effort UDP with SFQ as a share of that with FCFS."""

    def span(t: Values) -> str:
        shares = [t[e, "SFQ", s, f] / t[e, "FCFS", s, f] for e, s in _BEST_EFFORT for f in _UDP]
        return f"{min(shares):.2f} to {max(shares):.2f}"

    text = (
        f"The deviation with SFQ is {span(sd)} of that with FCFS. In print UDP hardly needs more than the 128 s of a flow that has one of "
        "the 16 queues for itself, as if flows had been dealt to the queues in turn. Here they are hashed at random, and flows that happen "
        "to share a queue share its turn. "
    )
    if DEALT in others:
        same, dealt = (span(values(others[name], "table6")) for name in (SAME, DEALT))
        text += f"On four of the ratios the share is {same}, and {dealt} with flows dealt in turn. "
    return text


def _last(r: Results) -> str:
    """When the last UDP flow of 100 MB is over, in each replication."""
    cell = next(c for c in r.cells if c["part"] == "table1" and c["size"] == "100MB")
    ends = [max(xs) for xs in zip(*(r.samples(cell, f"UDP{i}") for i in range(1, 7)), strict=True)]
    rates = ", ".join(f"{6 * 100e6 * 8 / x / 1e6:.4f}" for x in ends)
    return (
        f"In the single replications the six UDP flows have had {rates} Mbit/s together when the last of them ends: the claim is true in "
        "each. Another flow is the last one each time, so the largest of the means over replications comes too early. "
    )


def _chance(r: Results, claim: str) -> str:
    """How much of a deviation is chance: of TCP4 in cc/cc under FCFS, or of UDP3 in cc/be under SFQ."""
    env, queue, quantity = ("cc/be", "SFQ", "UDP3/2") if claim in ("Y24", "Y29") else ("cc/cc", "FCFS", "TCP4/1")
    over, again = chance(r, env, queue, quantity)
    if again != again:
        return ""
    name = f"{quantity[:4]} of S{quantity[-1]} in {env} ({queue})"
    return f"{name} deviates by {over:.0f} s from ratio to ratio, and by {again:.0f} s between runs of one ratio with other seeds. "


def _law(r: Results, v: Values, sd: Values) -> str:
    """UDP of S2 in cc/be beside 8 s for each UDP flow, over the ratios at hand."""
    got = [t["cc/be", "FCFS", 2, f] for t in (v, sd) for f in _UDP]
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
