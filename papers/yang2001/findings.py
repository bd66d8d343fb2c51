"""The summary at the top of the page of Yang and Fu 2001, with the numbers of the runs at hand."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING

from .net import CLASSES, QUEUES, TABLE1
from .says import SPREADS, chance_of, true_in
from .tables import Means
from .text import HEAD, RANDOM, ROOMY, RTO64, SAME, SPREAD, TCP, Values, apart, beyond, mean, printed, replications, signed, values

if TYPE_CHECKING:
    from fairlane.papers import Paper, Results

_IDLE_BY = {"ns-2's 25 kB": ROOMY, "timers of at most 64 s": RTO64, "starts spread over 0.5 s": SPREAD}
"""Without any one of these choices DRR leaves nothing idle."""
_UDP = CLASSES[4:]


def findings(paper: Paper, r: Results, others: Mapping[str, Results]) -> list[str]:
    """The summary at the top of the page."""
    v, p = values(r), printed(paper)
    alt = {name: values(x) for name, x in others.items()}
    out = [*_controls(v, p), *_without(r, v, p, alt), *_thirteen(paper, r, others)]
    if alt:
        out += [_timers(alt, p), *_drr(others, alt, p)]
    out += _spreads(paper, r)
    return out


def _controls(v: Values, p: Values) -> list[str]:
    """The two mechanisms, and UDP beside them."""
    ts = list(apart(v, p, lambda k: k[0] == "ts/ts").values())
    cc = list(apart(v, p, lambda k: k[0] == "cc/cc" and k[1] != "DRR").values())
    udp = [v["cc/be", q, 2, f] for q in ("FCFS", "RED") for f in _UDP]
    own1, own2, none = v["cc/be", "FCFS", 1, "TCP1"], v["ts/be", "FCFS", 1, "TCP1"], mean(v, "be/be", "FCFS")
    return [
        f"Time slots do what the paper says: in ts/ts all 48 means lie between {signed(min(ts))} and {signed(max(ts))} of print, "
        f"with every queue. {sum(abs(x) < 5 for x in ts)} of 48 are within 5 %.",
        "The congestion signal acts as strict priority among the flows of a source: FCFS, RED and SFQ lie between "
        f"{signed(min(cc))} and {signed(max(cc))} of the printed means of cc/cc, half of them within {median(map(abs, cc)):.0f} %.",
        f"Beside a source without control, holding back costs time: under ts even TCP of priority 1 needs {own2:.0f} s (FCFS), more than "
        f"the {none:.0f} s of no control at all; under cc it needs {own1:.0f} s, and the lower classes pay for it. The paper's table says "
        "the same.",
        f"UDP without control takes the whole link with FCFS and RED: k flows of 1 MB need 8 k s, {fmean(udp):.1f} s as mean here. "
        "SFQ gives a flood no more than its queues' share: "
        f"{fmean(v['cc/be', 'SFQ', 2, f] for f in _UDP):.0f} s, hardly dependent on k.",
    ]


def _without(r: Results, v: Values, p: Values, alt: Mapping[str, Values]) -> list[str]:
    """Without control, and what of it is farther than 15 % from print."""
    best = {q: (mean(v, "be/be", q), mean(p, "be/be", q)) for q in QUEUES}
    text = (
        "Without control (be/be) TCP needs, as mean of all classes, "
        + ", ".join(f"{a:.0f} s with {q} (printed {b:.0f})" for q, (a, b) in best.items())
        + ". The printed 1000 s seem too short for 200 equal transfers on a link that is busy for 1600 s. They come out when all flows "
        "start at one instant and timers may grow to minutes: most flows then lose their first packets and wait while a few have the link."
    )
    far = beyond(v, p)
    n = sum(k[0] == "be/be" for k in v)
    more = f"Of the {n} means without control {n - len(far)} are within 15 % of print"
    if not far:
        return [text, more + "."]
    groups: dict[tuple[str, int, str], list[str]] = {}
    for (_, q, s, f), x in far.items():
        groups.setdefault((q, s, f[:3]), []).append(f"{f} {signed(x, 1)}")
    why = " ".join(f"{q}, S{s}: {', '.join(xs)}{_why_far(q, s, kind, r, p, alt)}" for (q, s, kind), xs in groups.items())
    return [text, f"{more}. The others, with what other choices make of the mean of their protocol: {why}"]


def _why_far(q: str, s: int, kind: str, r: Results, p: Values, alt: Mapping[str, Values]) -> str:
    """A protocol of a source: its difference from print, its deviation between seeds, and the other choice that comes nearest."""
    flows = TCP if kind == "TCP" else _UDP

    def off(v: Values) -> float:
        return 100 * (mean(v, "be/be", q, (s,), flows) / mean(p, "be/be", q, (s,), flows) - 1)

    words = f" (all {kind} {signed(off(values(r)))}"
    each = [off(one) for one in replications(r)]
    if len(each) > 1:
        words += f", from seed to seed by {stdev(each):.0f} %"
    if len(alt) > 1:
        with_choice = {name: off(x) for name, x in alt.items() if name != SAME}
        near = min(with_choice, key=lambda name: abs(with_choice[name]))
        words += f'; on four of the ratios {signed(off(alt[SAME]))}, with "{near}" {signed(with_choice[near])}, which is nearest'
    return words + ")."


def _thirteen(paper: Paper, r: Results, others: Mapping[str, Results]) -> list[str]:
    """Table 1: each row's difference, and what other choices make of those beyond 15 %."""
    old = paper.published("table1")

    def print_of(kind: str, size: str) -> float:
        return fmean(float(x["value"]) for x in old if x["size"] == size and x["flow"].startswith(kind))

    def mean_of(x: Results, kind: str, size: str) -> float | None:
        cell = next((c for c in x.cells if c["part"] == "table1" and c["size"] == size), None)
        names = [f"{kind}{i}" for i in range(1, 8 if kind == "TCP" else 7)]
        return None if cell is None else fmean(y for n in names for y in x.samples(cell, n))

    words, far = [], []
    for kind in ("TCP", "UDP"):
        off = {}
        for size in TABLE1:
            own = mean_of(r, kind, size)
            if own is None:
                return []
            off[size] = 100 * (own / print_of(kind, size) - 1)
            if abs(off[size]) > 15:
                tried = [y for name, x in others.items() if (y := mean_of(x, kind, size)) is not None]
                span = f", with the other choices {min(tried):.2f} to {max(tried):.2f} s" if tried else ""
                far.append(f"{kind} with {size[:-2]} {size[-2:]}: {own:.2f} s, printed {print_of(kind, size):.2f} s{span}.")
        words.append(f"{kind} " + ", ".join(f"{signed(x)} ({size[:-2]} {size[-2:]})" for size, x in off.items()))
    text = f"The thirteen flows of Table 1, difference of their mean from the printed one: {'; '.join(words)}."
    why = (
        " The printed mean of UDP with 10 KB has one flow of 1.4 s in it and is 0.76 s without; the 60 packets of UDP need 0.48 s on the "
        "link and 0.15 s on the way. That of TCP with 1 MB has one of 207.5 s (contradiction 12)."
    )
    return [text + (f" Beyond 15 %: {' '.join(far)}" if far else " All are within 15 %.") + why]


def _timers(alt: Mapping[str, Values], p: Values) -> str:
    long, short = (mean(alt[name], "be/be", "RED") for name in (SAME, RTO64))
    return (
        f"How long a timer may grow decides what TCP without control gets: with at most 64 s RED gives {short:.0f} s (with 240 s "
        f"{long:.0f} s on the same ratios; printed {mean(p, 'be/be', 'RED'):.0f}). The order of the classes under control hardly depends "
        "on it."
    )


def _drr(others: Mapping[str, Results], alt: Mapping[str, Values], p: Values) -> list[str]:
    """What makes DRR slow, and which cells of it speak for which choice."""

    def lower(v: Values) -> float:
        return mean(v, "cc/be", "DRR", (1,), TCP[1:])

    def a_timeout(name: str) -> float:
        """Seconds of a transfer of TCP1 for each of its timeouts."""
        m = Means(others[name])
        (n,) = m.over_ratios("cc/be", "DRR", "timeouts of TCP1/1", fmean)
        return alt[name]["cc/be", "DRR", 1, "TCP1"] / n

    best = {name: v["cc/be", "DRR", 1, "TCP1"] for name, v in (("print", p), *alt.items())}
    without = ", ".join(f"{mean(alt[name], 'be/be', 'DRR'):.0f} s with {words}" for words, name in _IDLE_BY.items())
    return [
        f"DRR leaves much of the link idle in print: TCP without control needs {mean(p, 'be/be', 'DRR'):.0f} s. That takes a small buffer, "
        f"long timers and starts at one instant together: on four of the ratios it is {mean(alt[SAME], 'be/be', 'DRR'):.0f} s as chosen, "
        f"{without}.",
        "The printed cells of cc/be do not all speak for one DRR. Dropping the last packet of the longest queue, as chosen, gives TCP of "
        f"priority 1 {best[SAME]:.0f} s on four of the ratios (printed {best['print']:.0f}), dropping the first {best[HEAD]:.0f}: then a "
        "retransmission that has waited is lost again, timers double, and the class has one timeout in "
        f"{a_timeout(HEAD):.0f} s in place of one in {a_timeout(SAME):.0f} s. The lower classes are nearer to print the other way: "
        f"{lower(alt[SAME]):.0f} s with the last dropped, {lower(alt[HEAD]):.0f} s with the first (printed {lower(p):.0f}). Hashing "
        f"flows at random gives the two {best[RANDOM]:.0f} and {lower(alt[RANDOM]):.0f} s.",
    ]


def _spreads(paper: Paper, r: Results) -> list[str]:
    """What the rankings of Table 6 are worth."""
    p, sd = printed(paper, "table6"), values(r, "table6")
    names = ("Y26", "Y27", "Y28", "Y29", "Y30")
    found = {i: c for i in names if (c := chance_of(r, p, "table6", SPREADS[i])) is not None}
    if not found:
        return []
    total, settled, agree = (sum(x) for x in zip(*((c.comparisons, c.settled, c.agree) for c in found.values()), strict=True))
    held = sum(true_in(sd, SPREADS[i])[0] for i in names)
    share = {i: f"{c.comparisons - c.settled} of {c.comparisons}" for i, c in found.items()}
    return [
        f"Most rankings of queues and classes by deviation (Table 6, claims Y26 to Y30) cannot be told from chance: of {total} printed "
        f"comparisons {total - settled} differ by less than twice what such a difference varies by here between series of runs with other "
        f"seeds ({', '.join(f'{i}: {x}' for i, x in share.items())}). Of the other {settled} our runs agree with {agree}; in all {held} of "
        f"{total} are true here."
    ]
