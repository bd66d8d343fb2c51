"""What we find in Yang and Fu 2001, in sentences with the numbers of the runs at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median, pstdev, stdev
from typing import TYPE_CHECKING

from .yang2001_net import CLASSES, QUEUES, both, control
from .yang2001_tables import Means

if TYPE_CHECKING:
    from .definition import Paper, Results
    from .tables import Row

SAME = "as chosen, with four of the ratios"
RTO64, RTO384, SPREAD = "longest RTO 64 s", "longest RTO 384 s", "starts spread over 0.5 s"
ROOMY, ACCESS, RING = "DRR with 25 kB", "access links of 10 Mbit/s", "ts: TCP and UDP take turns alternately"
SLOW_CBR = "CBR of 448 kbit/s"
DEALT = "SFQ with flows dealt to the queues in turn"
HASHED, DEAF = "SFQ and DRR hash by source", "a closed TCP flow hears no ACKs"
BOUNDED = both(control("congestion_signal", acks="ignored"), control("time_slots", acks="ignored"))
TCP = CLASSES[:4]
_FOR_DRR = (
    (SAME, "with all three"),
    (ROOMY, "with ns-2's buffer of 25 kB"),
    (RTO64, "with timers of 64 s"),
    (SPREAD, "with spread starts"),
)
Key = tuple[str, str, int, str]
Values = Mapping[Key, float]


def values(r: Results, table: str = "table4") -> dict[Key, float]:
    """Our table as numbers by environment, queue, source and class."""
    out: dict[Key, float] = {}
    for row in Means(r).rows(table):
        f = dict(row.factors)
        out[f["env"], f["queue"], int(f["traffic"]), f["flow"]] = row.value
    return out


def printed(paper: Paper, table: str = "table4") -> dict[Key, float]:
    """The published table as numbers."""
    return {(p["env"], p["queue"], int(p["traffic"]), p["flow"]): float(p["value"]) for p in paper.published(table)}


def mean(v: Values, env: str, queue: str, sources: Sequence[int] = (1, 2), flows: Sequence[str] = TCP) -> float:
    """The mean over classes and sources."""
    return fmean(v[env, queue, s, f] for s in sources for f in flows)


def _apart(v: Values, p: Values, wanted: Callable[[Key], bool]) -> list[float]:
    """Relative differences from the printed values, in percent."""
    return [100 * (v[k] / p[k] - 1) for k in v if k in p and wanted(k)]


def chance(r: Results, env: str, queue: str, quantity: str) -> tuple[float, float]:
    """Deviation over the ratios in one replication, and over the replications at one ratio: means of both."""
    m = Means(r)
    own = [s for n in m.ratios if (s := m.samples(env, queue, n, quantity)) is not None]
    over = fmean(pstdev([float(x) for x in one]) for one in zip(*own, strict=True))
    again = fmean(stdev([float(x) for x in s]) for s in own) if len(own[0]) > 1 else float("nan")
    return over, again


def notes(name: str, r: Results | None, paper: Paper | None = None, rows: Sequence[Row] = ()) -> list[str]:
    """Sentences under a table or figure."""
    fixed = {
        "table1": ["Compared are the means over the flows of a protocol, because which flows get ahead is chance: with 100 MB two of seven "
                   "TCP flows in print, four or five here. The printed mean of TCP at 1 MB has an outlier in it (contradiction 12) and is "
                   "124 s without; that of UDP at 10 KB has one flow of 1.4 s and is 0.76 s without. The 60 packets of UDP need 0.48 s on "
                   "the link and 0.15 s on the way; no choice tried gives more than 0.70 s."],
        "table5": ["Shares of cells, not of runs: where two queues are within a few percent, which of them is better is chance."],
        "fig2": ["TCP sends only before the UDP flows have filled the queue: of all it ever delivers, nearly everything is "
        "delivered in the "
                 "first second."],
        "fig7": ["The curves of the ratios coincide up to the share of UDP, whose transfers need no four round trips."],
        "fig8": ["The paper has a picture only; the means and deviations of these curves are in Tables 4 and 6."],
        "slots": ["Metrics that end in _deaf: a closed TCP sender ignores acknowledgments, which the paper leaves open. Only then does TCP "
                  "retransmit over and over when turns are shorter than the round trip; else it is slow, but rarely times out."],
        "unit": ["The rule holds exactly; the printed formula for the difference of two allotments does not (contradiction 1)."],
        "aging": ["Under cc a short aging time releases the UDP flows, which then take the link first, as without any control."],
    }  # fmt: skip
    return fixed.get(name, [])


def findings(paper: Paper, r: Results, others: Mapping[str, Results]) -> list[str]:
    """The summary at the top of the page."""
    v, p = values(r), printed(paper)
    ts = _apart(v, p, lambda k: k[0] == "ts/ts")
    best = {q: (mean(v, "be/be", q), mean(p, "be/be", q)) for q in QUEUES}
    cc = _apart(v, p, lambda k: k[0] == "cc/cc" and k[1] != "DRR")
    udp = [v["cc/be", q, 2, f] for q in ("FCFS", "RED") for f in CLASSES[4:]]
    own1, own2 = v["cc/be", "FCFS", 1, "TCP1"], v["ts/be", "FCFS", 1, "TCP1"]
    out = [
        f"Time slots do what the paper says: in ts/ts all 48 means lie between {min(ts):+.0f} and {max(ts):+.0f} % of the printed ones, "
        f"with every queue. {sum(abs(x) < 5 for x in ts)} of 48 are within 5 %.",
        "The congestion signal acts as strict priority among the flows of a source: FCFS, RED and SFQ lie between "
        f"{min(cc):+.0f} and {max(cc):+.0f} % of the printed means of cc/cc, half of them within {median(map(abs, cc)):.0f} %.",
        "Without control (be/be) TCP needs, as mean of all classes, "
        + ", ".join(f"{a:.0f} s with {q} (printed {b:.0f})" for q, (a, b) in best.items())
        + ". The printed 1000 s seem too short for 200 equal transfers on a link that is busy for 1600 s. They come out when "
        "all flows start "
        "at one instant and timers may grow to minutes: most flows then lose their first packets and wait while a few have the link.",
        "Beside a source without control, holding back costs time: under ts even TCP of priority 1 needs "
        f"{own2:.0f} s (FCFS), more than the {best['FCFS'][0]:.0f} s of no control at all; under cc it needs {own1:.0f} s, and the lower "
        "classes pay for it. The paper's table says the same.",
        f"UDP without control takes the whole link with FCFS and RED: k flows of 1 MB need 8 k s, {fmean(udp):.1f} s as mean here. "
        "SFQ doubles that, because 16 queues give a flood no more than its share.",
    ]
    if others:
        of = {name: values(x) for name, x in others.items()}
        long, short = (mean(of[SAME], "be/be", "RED"), mean(of[RTO64], "be/be", "RED"))
        out.append(
            f"How long a timer may grow decides what TCP without control gets: with at most 64 s RED gives {short:.0f} s (with 240 s "
            f"{long:.0f} s on the same ratios; printed {best['RED'][1]:.0f}). The order of the classes under control hardly depends on it."
        )
        drr = [f"{mean(of[name], 'be/be', 'DRR'):.0f} s {text}" for name, text in _FOR_DRR]
        out.append(
            f"That DRR leaves much of the link idle (printed {best['DRR'][1]:.0f} s for TCP without control) takes a small buffer, long "
            f"timers and starts at one instant together: {', '.join(drr)}. With one of them missing DRR leaves nothing idle."
        )
    over, again = chance(r, "cc/cc", "FCFS", "TCP4/1")
    if again == again:
        out.append(
            f"Most of the deviation over the ratios is chance. TCP of priority 4 in cc/cc (FCFS) deviates by {over:.0f} s from "
            f"ratio to ratio "
            f"within one series of runs, and by {again:.0f} s between runs of one ratio that differ in their seed. The rankings "
            f"of queues by "
            "deviation (Table 6) rest on single runs and do not last."
        )
    return out
