"""Findings on Nowak et al. 2009, in sentences with the numbers of the runs at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from fairlane.papers import Results

from .measure import TCP_HEADER
from .net import BURST, CAPTIONED, EXAMPLE, FAR, GREEDY, LASTING, LAWS, LONG, REFERENCE, SAME, SHORT_RED, STATED, STATED_LASTING, TOGETHER

_RED = ("C2", "C3", "C7", "C8")
FIFOS = ("C4", "C5", "C6")


def _of(r: Results, quantity: str, case: str) -> float:
    return r.mean(quantity, set="table", case=case)


def _backlog(r: Results) -> str:
    """The video's mean backlog with TCP first and with turns, in words."""
    return f"{_of(r, 'queue2_mean', 'C3'):.0f} and {_of(r, 'queue2_mean', 'C6'):.0f}"


def _modified(r: Results) -> tuple[float, float]:
    """Both queues with the modified priority, relative to those with the plain one."""
    ours = [_of(r, f"queue{n}_mean", "C3m") / _of(r, f"queue{n}_mean", "C3") for n in (1, 2)]
    return ours[0], ours[1]


def _same(r: Results) -> bool:
    """Returns true if claim N9 holds in every replication."""
    plain, modified = ([r.samples(r.combination(set="table", case=c), f"queue{n}_mean") for n in (1, 2)] for c in ("C3", "C3m"))
    first, second = ([m / p for m, p in zip(*both, strict=True)] for both in zip(modified, plain, strict=True))
    return all(abs(x - 1) < 0.15 for x in first) and all(x > 0.85 for x in second)


def _differ(others: Mapping[str, Results], name: str) -> str:
    """Describes the effect of the modified priority with another choice."""
    if name not in others:
        return ""
    first, second = _modified(others[name])
    return f" With {name} the two queues are {100 * (1 - first):.0f} and {100 * (1 - second):.0f} % shorter."


def _fifos(r: Results) -> str:
    """Mean lengths of the FIFO queues of TCP."""
    first, second, third = (f"{_of(r, 'queue1_mean', c):.0f}" for c in ("C4", "C5", "C6"))
    return f"{first}, {second} and {third}"


def _then(holds: bool) -> str:
    return ", and the claim holds" if holds else ", which is not enough for the claim"


def _between(o: Results) -> bool:
    """Returns true if claim N13 holds."""
    return all(15 <= _of(o, "queue1_mean", c) <= 25 for c in _RED)


def _far(o: Results, published: Sequence[Mapping[str, str]] = ()) -> str:
    """Describes the setting in which the backlogs of the video are equal, and how far the rest is from the published values."""
    backlogs = _listed((_of(o, "queue2_mean", c) for c in ("C3", "C4", "C6", "C7")), 0)
    rest = f", but the rest of the table is then {_apart(o, published):.0f} % off in the median" if published else ""
    return (
        f"With {FAR} a turn of one packet each gives TCP most of the link, and the backlogs are {backlogs} packets"
        f"{rest}{'' if _equal(o) else ', not equal enough for the claim'}."
    )


def _equal(o: Results) -> bool:
    """Returns true if claim N4 holds."""
    backlogs = [_of(o, "queue2_mean", c) for c in ("C3", "C4", "C6", "C7")]
    return max(backlogs) < 1.05 * min(backlogs)


def _reds(r: Results) -> str:
    return ", ".join(f"{_of(r, 'queue1_mean', c):.1f}" for c in _RED)


def _with(others: Mapping[str, Results], name: str, say: Callable[[Results], str]) -> str:
    """A sentence about an alternative, if it was run."""
    return " " + say(others[name]) if name in others else ""


def _waits(r: Results, case: str, length: float) -> float:
    """Round trip of a segment that finds so many packets in the queue of TCP, by Little's law with our share of the link, s."""
    t = r.combination(set="table", case=case).tree(1)
    path = 2e-3 * sum(float(t["links"][name]["delay"].removesuffix("ms")) for name in ("s1", "bottleneck", "s3"))
    rate = 1e6 * float(t["links"]["bottleneck"]["rate"].removesuffix("Mbit/s")) * _of(r, "tcp_share", case) / 100
    return path + (length + 1) * 8 * (int(t["flows"]["tcp"]["tcp"]["mss"].removesuffix("B")) + TCP_HEADER) / rate


def _listed(values: Iterable[float], digits: int = 2) -> str:
    *first, last = (f"{x:.{digits}f}" for x in values)
    return f"{', '.join(first)} and {last}"


def _published_trips(published: Sequence[Mapping[str, str]], case: str, metric: str = "rtt") -> list[float]:
    """Returns the published round trips of the three connections."""
    return [float(p["value"]) for p in published if (p["case"], p["metric"]) == (case, metric)]


def _published_trip(published: Sequence[Mapping[str, str]], case: str) -> float:
    """Their mean."""
    return sum(_published_trips(published, case)) / 3


def _trips(r: Results, case: str, metric: str = "rtt") -> list[float]:
    return [_of(r, f"{metric}_{k}", case) for k in (1, 2, 3)]


def round_trips(r: Results, published: Sequence[Mapping[str, str]]) -> list[str]:
    """Compares the round trips implied by the queues without RED with the published ones, for the paper and for our runs."""
    lengths = {p["case"]: float(p["value"]) for p in published if (p["object"], p["metric"]) == ("queue1", "mean_size")}
    theirs = [_published_trip(published, c) for c in FIFOS]
    ours = [_of(r, "rtt", c) for c in FIFOS]
    waits = [_waits(r, c, lengths[c]) for c in FIFOS]
    own = [_waits(r, c, _of(r, "queue1_mean", c)) for c in FIFOS]
    measured, smoothed = (_published_trips(published, "C6", q) for q in ("rtt", "srtt"))

    def shorter(trips: Sequence[float], than: Sequence[float]) -> str:
        return _listed((100 * (1 - x / y) for x, y in zip(trips, than, strict=True)), 0)

    def ratios(below: Iterable[float], above: Iterable[float]) -> str:
        return _listed(x / y for x, y in zip(below, above, strict=True))

    return [
        f"What the queues without RED (C4, C5, C6) say about the round trips. By Little's law a segment takes {_listed(waits)} s where "
        f"TCP's queue has the published lengths; the published means of the three connections, {_listed(theirs)} s, are "
        f"{shorter(theirs, waits)} % shorter. With our queues it takes {_listed(own)} s, and over all segments we have "
        f"{_listed(_of(r, 'rtt_all', c) for c in FIFOS)} s; but a mean over one segment a window, as it is recorded, is {_listed(ours)} s, "
        f"{shorter(ours, own)} % shorter: a small window counts as much as a large one, and waits less.",
        f"The third connection of C6 differs: its smoothed round trip is {smoothed[2]:g} s in the mean, its measured one "
        f"{measured[2]:g} s, but a filter that begins at 0 gives each sample a weight below one. If the measured ones of the first and the "
        f"third have changed places, the smoothed are {ratios(smoothed, measured[::-1])} of the measured; with us they are "
        f"{ratios(_trips(r, 'C6', 'srtt'), _trips(r, 'C6'))}.",
    ]


def _in_order(r: Results, published: Sequence[Mapping[str, str]], case: str) -> str:
    return f"{case} {_listed(sorted(_trips(r, case)))} s ({_listed(sorted(_published_trips(published, case)))})"


def _apart(r: Results, published: Sequence[Mapping[str, str]]) -> float:
    """The median difference from the published values, percent."""
    events = {c["case"] for c in r.combinations if c["set"] == "events"}
    apart = []
    for p in published:
        case, thing, metric = p["case"], p["object"], p["metric"]
        if thing.startswith("queue"):
            quantity = f"{thing}_{'mean' if metric == 'mean_size' else 'sd'}"
            ours = r.mean(quantity, set="events" if thing == "queue2" and case in events else "table", case=case)
        else:
            ours = _of(r, f"{metric}_{thing[-1]}", case)
        apart.append(abs(ours / float(p["value"]) - 1))
    return 100 * median(apart)


def findings(r: Results, others: Mapping[str, Results], published: Sequence[Mapping[str, str]]) -> list[str]:
    """The summary at the top of the page."""
    mean, sd, longest = (_of(r, f"queue2_{q}", "C3") for q in ("mean", "sd", "max"))
    ended = {c: _of(r, "transfer_last", c) for c in ("C3", "C6")}
    classic, wide = (r.mean("mean_size", set="alone", rate="1.5", queue="RED, 5 to 50", law=law) for law in LAWS)
    first, second = _modified(r)
    chosen, best = (r.mean("rtt_all", set="long", case=c) for c in ("chosen", "C8"))
    return [
        "The cases rank as in the paper. The best compromise is the video first, with RED for TCP (C8): "
        f"{_of(r, 'udp_delivered', 'C8'):.1f} % of the video arrives, and TCP keeps {_of(r, 'tcp_share', 'C8'):.0f} % of the link with a "
        f"round trip of {1e3 * _of(r, 'rtt', 'C8'):.0f} ms. One TCP packet and then four of the video does the same with RED (C9: "
        f"{1e3 * _of(r, 'rtt', 'C9'):.0f} ms); without RED (C5) TCP's round trip is {_of(r, 'rtt', 'C5'):.1f} s. TCP first with RED (C3) "
        f"gives TCP the shortest round trip ({1e3 * _of(r, 'rtt', 'C3'):.0f} ms) and makes the video wait.",
        f"The median deviation from the published values of Table 1 is {_apart(r, published):.1f} %"
        + "".join(f", and {_apart(others[n], published):.1f} % with {n}" for n in (EXAMPLE, STATED) if n in others) + ".",
        f"The published backlogs of the video tell how much TCP sent, which the paper does not. The queue fills to {longest:.0f} packets "
        f"while TCP is served ({ended['C3']:.0f} s) and then empties; recorded at every packet that is a mean of {mean:.0f} and a "
        f"deviation of {sd:.0f} packets (published: 960 and 570).",
        f"With connections that start 3 s apart the FIFO queues of TCP hold {_fifos(r)} packets with TCP first (C4), 4:1 turns (C5) and "
        "1:1 turns (C6); published are 69, 111 and 90.9"
        + (f"; if all start within a second, {_fifos(others[TOGETHER])}" if TOGETHER in others else "")
        + ".",
        "The round trips of the three connections without RED, the shortest first (published in brackets): "
        + "; ".join(_in_order(r, published, c) for c in FIFOS)
        + ". In the paper another connection has the shortest in each of these cases. Those of C6 differ most.",
        f"The video's backlogs with 1:1 turns are smaller than published: TCP takes longer ({ended['C6']:.0f} s) and the queue grows "
        f"a third as fast, to {_of(r, 'queue2_mean', 'C6'):.0f} packets in the mean; 960 are published."
        + _with(others, GREEDY, lambda o: f"They are equal with a video of nearly the whole link (at 99 %: {_backlog(o)} packets), "
                f"but then 4:1 turns are not enough for it: its queue there holds {_of(o, 'queue2_mean', 'C5'):.0f}.")
        + _with(others, FAR, lambda o: _far(o, published)),
        "The lengths of TCP's queues with RED differ next to the video: published for C2, C3, C7 and C8 are 32, 11, 6.9 and 7.7 packets, "
        f"ours are {_reds(r)}"
        + _with(others, STATED, lambda o: f"and with the queues as the text states them {_reds(o)}") + ".",
        f"How RED spaces its drops matters as much as its thresholds. Three connections alone with RED 5 to 50 keep {classic:.0f} "
        f"packets with the classic law (gaps of 1 to 1/p packets) and {wide:.0f} with that of ns-2 (1/p to 2/p).",
        "The modified priority: each packet that RED drops lets one of the video's pass. The loss of TCP grows from "
        f"{_of(r, 'tcp_loss', 'C3'):.1f} to {_of(r, 'tcp_loss', 'C3m'):.1f} %, its queue is {100 * (1 - first):.0f} % shorter, that of the "
        f"video {100 * (1 - second):.0f} %." + _differ(others, EXAMPLE) + _differ(others, STATED),
        f"One queue for both does not starve TCP. With RED the video takes {_of(r, 'udp_share', 'C2'):.0f} % of the link (what it "
        f"sends, less what is lost) and TCP {_of(r, 'tcp_share', 'C2'):.0f} %.",
        "The paper ends with a question: can the queue be chosen automatically? fairlane tune, given the scenario and what is wanted, also "
        "puts the video first, and gives TCP a queue of three packets in the place of RED: a "
        f"round trip of {1e3 * chosen:.0f} ms where the paper's choice, "
        f"C8, has {1e3 * best:.0f}, at nearly the same goodput.",
    ]  # fmt: skip


def causes(r: Results, others: Mapping[str, Results], published: Sequence[Mapping[str, str]]) -> Mapping[str, str]:
    """Why claims come out as they do, each with the runs that show it."""
    first, second = _modified(r)
    at = dict(zip(("rate", "queue", "law"), REFERENCE, strict=True))
    reference = [r.mean(q, set="alone", **at) for q in ("mean_size", "stddev_size", "rtt")]
    same = [name for name, o in others.items() if name != SAME and _same(o)]
    return {
        "N4": f"The mean backlogs are {_of(r, 'queue2_mean', 'C3'):.0f} and {_of(r, 'queue2_mean', 'C4'):.0f} packets with TCP first, "
        f"{_of(r, 'queue2_mean', 'C6'):.0f} and {_of(r, 'queue2_mean', 'C7'):.0f} with 1:1 turns. While TCP sends V packets the video, "
        "taking a share u of the link, falls behind by u V packets if it gets nothing and by (2 u - 1) V if it gets half."
        + _with(others, GREEDY, lambda o: f"With a video of 99 %: {_backlog(o)} packets, "
                f"{'equal enough for' if _equal(o) else 'not equal enough for'} the claim, but then the queue with 4:1 turns (C5) has "
                f"{_of(o, 'queue2_mean', 'C5'):.0f}, where N2b asks for less than 2.")
        + _with(others, FAR, lambda o: f"{_far(o, published)} The claim is reached only where the rest is far off.")
        + _with(others, BURST, lambda o: f"With all frames at once: {_backlog(o)} packets, and with the video first still "
                f"{_of(o, 'queue2_mean', 'C8'):.0f}.")
        + _with(others, LONG, lambda o: f"With transfers that do not end (10 MB) the two differ by a factor of "
                f"{_of(o, 'queue2_mean', 'C3') / _of(o, 'queue2_mean', 'C6'):.1f}."),
        "N6b": f"The deviations are {_of(r, 'queue1_sd', 'C2'):.1f} packets with RED and {_of(r, 'queue1_sd', 'C1'):.1f} with drop tail."
        + _with(others, SHORT_RED, lambda o: f"With RED 5 to 15 in the one queue RED's is {_of(o, 'queue1_sd', 'C2'):.1f}."),
        "N8c": f"The video takes {_of(r, 'udp_share', 'C2'):.0f} % of the link and loses what is missing from its three quarters; TCP "
        f"keeps {_of(r, 'tcp_share', 'C2'):.0f} %.",
        "N9a": f"With the modified priority TCP's queue is {100 * (1 - first):.0f} % shorter and the video's {100 * (1 - second):.0f} "
        f"%. RED drops {_of(r, 'tcp_loss', 'C3'):.1f} % of TCP's packets under plain priority and {_of(r, 'tcp_loss', 'C3m'):.1f} % "
        f"under the modified one, and TCP has {_of(r, 'timeouts', 'C3m'):.0f} timeouts instead of {_of(r, 'timeouts', 'C3'):.0f}, in "
        "which the video has the link."
        + (f" It holds in every replication with: {'; '.join(same)}." if same else ""),
        "N13": f"The four queues hold {_reds(r)} packets (published: 32, 11, 6.9, 7.7)."
        + _with(others, STATED, lambda o: f"With the stated 15, 25, weight 0.02 and max_p 0.03 they hold {_reds(o)}.")
        + _with(others, STATED_LASTING, lambda o: f"With those, ns-2's gaps between drops and 10 MB a connection they "
                f"hold {_reds(o)}{_then(_between(o))}."),
        "N14": f"The queue holds {reference[0]:.1f} packets (deviation {reference[1]:.1f}), the round trip is {reference[2]:.3f} s."
        + _with(others, LASTING, lambda o: "With such connections next to the video, TCP first and the example's parameters, it is "
                f"{_of(o, 'queue1_mean', 'C3'):.1f} packets ({_of(o, 'queue1_sd', 'C3'):.1f}) and {_of(o, 'rtt', 'C3'):.3f} s."),
        "N17": f"In the one queue {_of(r, 'udp_loss', 'C2'):.1f} % of the video is lost with RED and {_of(r, 'udp_loss', 'C1'):.1f} % with "
        f"drop tail. RED in the video's own queue (Fig. 6 as captioned) loses {_of(r, 'udp_loss', CAPTIONED):.2f} %.",
    }  # fmt: skip
