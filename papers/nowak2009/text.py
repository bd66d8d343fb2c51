"""What we find in Nowak et al. 2009, in sentences with the numbers of the runs at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from fairlane.papers import Results

from .measure import TCP_HEADER
from .net import (
    BURST,
    CASES,
    GAPS,
    GREEDY,
    LASTING,
    LAWS,
    LONG,
    RIVALS,
    SAME,
    SHORT_RED,
    STATED,
    STATED_LASTING,
    THRESHOLD,
    TOGETHER,
    TRANSFER,
)

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
    """Whether claim N9 holds in every replication."""
    plain, modified = ([r.samples(r.cell(set="table", case=c), f"queue{n}_mean") for n in (1, 2)] for c in ("C3", "C3m"))
    first, second = ([m / p for m, p in zip(*both, strict=True)] for both in zip(modified, plain, strict=True))
    return all(abs(x - 1) < 0.15 for x in first) and all(x > 0.85 for x in second)


def _nearly_the_same(o: Results) -> str:
    queues = [_of(o, f"queue{n}_mean", c) for n in (1, 2) for c in ("C3", "C3m")]
    losses = [_of(o, "tcp_loss", c) for c in ("C3", "C3m")]
    return (
        f"With the stated parameters the loss grows less, from {losses[0]:.1f} to {losses[1]:.1f} %, and the two are nearly the same, "
        f"as the paper says: {queues[0]:.1f} and {queues[1]:.1f} packets of TCP, {queues[2]:.0f} and {queues[3]:.0f} of the video."
    )


def _fifos(r: Results) -> str:
    """Mean lengths of the FIFO queues of TCP."""
    first, second, third = (f"{_of(r, 'queue1_mean', c):.0f}" for c in ("C4", "C5", "C6"))
    return f"{first}, {second} and {third}"


def _then(holds: bool) -> str:
    return ", and the claim holds" if holds else ", which is not enough for the claim"


def _between(o: Results) -> bool:
    """Whether claim N13 holds."""
    return all(15 <= _of(o, "queue1_mean", c) <= 25 for c in _RED)


def _as_reference(o: Results) -> bool:
    """Whether claim N14 holds."""
    mean, sd, rtt = (_of(o, q, "C3") for q in ("queue1_mean", "queue1_sd", "rtt"))
    return abs(mean - 11.3) < 1.5 and abs(sd - 3.4) < 1 and abs(rtt - 0.12) < 0.015


def _steadier(o: Results) -> bool:
    """Whether claim N6 holds."""
    return all(_of(o, f"queue1_{q}", "C2") < _of(o, f"queue1_{q}", "C1") for q in ("mean", "sd"))


def _equal(o: Results) -> bool:
    """Whether claim N4 holds."""
    backlogs = [_of(o, "queue2_mean", c) for c in ("C3", "C4", "C6", "C7")]
    return max(backlogs) < 1.05 * min(backlogs)


def _reds(r: Results) -> str:
    return ", ".join(f"{_of(r, 'queue1_mean', c):.1f}" for c in _RED)


def _with(others: Mapping[str, Results], name: str, say: Callable[[Results], str]) -> str:
    """A sentence about an alternative, if it was run."""
    return " " + say(others[name]) if name in others else ""


def _range(r: Results, quantity: str, case: str) -> str:
    values = [_of(r, f"{quantity}_{k}", case) for k in (1, 2, 3)]
    return f"{min(values):.2f} to {max(values):.2f} s"


def _waits(r: Results, case: str, length: float) -> float:
    """Round trip of a segment that finds so many packets in the queue of TCP, by Little's law with our share of the link, s."""
    t = r.cell(set="table", case=case).tree(1)
    path = 2e-3 * sum(float(t["links"][name]["delay"].removesuffix("ms")) for name in ("s1", "bottleneck", "s3"))
    rate = 1e6 * float(t["links"]["bottleneck"]["rate"].removesuffix("Mbit/s")) * _of(r, "tcp_share", case) / 100
    return path + (length + 1) * 8 * (int(t["flows"]["tcp"]["tcp"]["mss"].removesuffix("B")) + TCP_HEADER) / rate


def _listed(values: Iterable[float], digits: int = 2) -> str:
    *first, last = (f"{x:.{digits}f}" for x in values)
    return f"{', '.join(first)} and {last}"


def _printed_trips(printed: Sequence[Mapping[str, str]], case: str, metric: str = "rtt") -> list[float]:
    """What is printed for the three connections."""
    return [float(p["value"]) for p in printed if (p["case"], p["metric"]) == (case, metric)]


def _printed_trip(printed: Sequence[Mapping[str, str]], case: str) -> float:
    """Their mean."""
    return sum(_printed_trips(printed, case)) / 3


def _trips(r: Results, case: str, metric: str = "rtt") -> list[float]:
    return [_of(r, f"{metric}_{k}", case) for k in (1, 2, 3)]


def round_trips(r: Results, printed: Sequence[Mapping[str, str]]) -> list[str]:
    """What the printed queues without RED say about the round trips beside them, and ours about ours; and what cannot be."""
    lengths = {p["case"]: float(p["value"]) for p in printed if (p["object"], p["metric"]) == ("queue1", "mean_size")}
    theirs = [_printed_trip(printed, c) for c in FIFOS]
    ours = [_of(r, "rtt", c) for c in FIFOS]
    waits = [_waits(r, c, lengths[c]) for c in FIFOS]
    own = [_waits(r, c, _of(r, "queue1_mean", c)) for c in FIFOS]
    measured, smoothed = (_printed_trips(printed, "C6", q) for q in ("rtt", "srtt"))

    def shorter(trips: Sequence[float], than: Sequence[float]) -> str:
        return _listed((100 * (1 - x / y) for x, y in zip(trips, than, strict=True)), 0)

    def ratios(below: Iterable[float], above: Iterable[float]) -> str:
        return _listed(x / y for x, y in zip(below, above, strict=True))

    return [
        f"What the queues without RED (C4, C5, C6) say about the round trips. By Little's law a segment takes {_listed(waits)} s where "
        f"TCP's queue has the printed lengths; the printed means of the three connections, {_listed(theirs)} s, are "
        f"{shorter(theirs, waits)} % shorter. With our queues it takes {_listed(own)} s, and over all segments we have "
        f"{_listed(_of(r, 'rtt_all', c) for c in FIFOS)} s; but a mean over one segment a window, as it is recorded, is {_listed(ours)} s, "
        f"{shorter(ours, own)} % shorter: a small window counts as much as a large one, and waits less.",
        f"The third connection of C6 cannot be: its smoothed round trip is {smoothed[2]:g} s in the mean, its measured one {measured[2]:g} "
        "s, but a filter that begins at 0 gives each sample a weight below one. If the measured ones of the first and the third have "
        f"changed places, the smoothed are {ratios(smoothed, measured[::-1])} of the measured; with us they are "
        f"{ratios(_trips(r, 'C6', 'srtt'), _trips(r, 'C6'))}.",
    ]


def _in_order(r: Results, printed: Sequence[Mapping[str, str]], case: str) -> str:
    return f"{case} {_listed(sorted(_trips(r, case)))} s ({_listed(sorted(_printed_trips(printed, case)))})"


def findings(r: Results, others: Mapping[str, Results], printed: Sequence[Mapping[str, str]]) -> list[str]:
    """The summary at the top of the page."""
    mean, sd, longest = (_of(r, f"queue2_{q}", "C3") for q in ("mean", "sd", "max"))
    ended = {c: _of(r, "transfer_last", c) for c in ("C3", "C6", "C8")}
    classic, wide = (r.mean("mean_size", set="alone", rate="1.5", queue="RED, 5 to 50", law=law) for law in LAWS)
    first, second = _modified(r)
    chosen, best = (r.mean("rtt_all", set="long", case=c) for c in ("chosen", "C8"))
    return [
        f"The ordering is the paper's. TCP first with RED gives TCP the shortest round trip ({1e3 * _of(r, 'rtt', 'C3'):.0f} ms) and "
        f"makes the video wait; the video first with RED for TCP delivers {_of(r, 'udp_delivered', 'C8'):.1f} % of the video and "
        f"leaves TCP {_of(r, 'tcp_share', 'C8'):.0f} % of the link with {1e3 * _of(r, 'rtt', 'C8'):.0f} ms; 4:1 turns with RED do the "
        f"same ({1e3 * _of(r, 'rtt', 'C9'):.0f} ms); without RED the same "
        f"turns cost {_of(r, 'rtt', 'C5'):.1f} s.",
        f"The printed backlogs of the video tell how much TCP sent, which the paper does not. With {TRANSFER} kbyte a connection the queue "
        f"fills to {longest:.0f} packets while TCP is served ({ended['C3']:.0f} s) and then empties; recorded at every packet that is "
        f"a mean of {mean:.0f} and a deviation of {sd:.0f} packets (printed: 960 and 570). Short connections also explain why the "
        "printed smoothed "
        "round trips, which begin at 0, lie below the measured ones.",
        "The printed queues of TCP without RED tell when its connections start, which the paper does not either. Opened 3 s apart, "
        f"as the second source is in the simulator's example, they hold {_fifos(r)} packets with TCP first, 4:1 and 1:1 turns "
        "(printed: 69, 111 and 90.9)"
        + (f", and {_fifos(others[TOGETHER])} if all open within a second" if TOGETHER in others else "")
        + (
            ". No other open parameter brings them as near; the best values of three that might: "
            + "; ".join(f"{name.split('; ')[1]}, {_fifos(others[name])}" for name in RIVALS)
            if all(name in others for name in RIVALS)
            else ""
        )
        + ". The first connection is alone for a while, and has the shorter round trips that the paper prints for one of the three; "
        f"the smoothed ones with 4:1 turns are {_listed(_trips(r, 'C5', 'srtt'))} s (printed: 0.7, 1.7 and 1.7).",
        "In print another connection has the shortest round trips in each of these cases. From the shortest to the longest ours are "
        + "; ".join(_in_order(r, printed, c) for c in FIFOS)
        + ": one segment a window is timed, and each counts once. What is left is C6, where ours are "
        f"{100 * (_of(r, 'rtt', 'C6') / _printed_trip(printed, 'C6') - 1):.0f} % longer in the mean"
        + _with(others, THRESHOLD, lambda o: f"and no choice found brings them nearer without moving the queues: with a {THRESHOLD} they "
                f"are {_listed(sorted(_trips(o, 'C6')))} s, but C4, C5 and C6 have {_fifos(o)} packets") + ".",
        f"With 1:1 turns TCP takes longer ({ended['C6']:.0f} s) and the queue grows a third as fast: "
        f"{_of(r, 'queue2_mean', 'C6'):.0f} packets, not the printed 960. Equal backlogs need a video that takes nearly the whole link"
        + _with(others, GREEDY, lambda o: f"(at 99 %: {_backlog(o)} packets),") + " and then 4:1 turns are not enough for it.",
        "The stated parameters are not behind Table 1. Printed for the four cases with RED (C2, C3, C7, C8) are 32, 11, 6.9 and 7.7 "
        f"packets; with the parameters of the simulator's example we have {_reds(r)}"
        + _with(others, STATED, lambda o: f"and with the stated ones, at the same rate, {_reds(o)}") + ".",
        f"How RED spaces its drops matters as much as its thresholds. Three connections alone with RED 5 to 50 keep {classic:.0f} "
        f"packets with the classic law (gaps of 1 to 1/p packets), which the paper's simulator has, and {wide:.0f} with that of "
        "ns-2 (1/p to 2/p). The reference runs, which were made with the latter, are met with it.",
        "The modified priority is not the same as the plain one. Each packet that RED drops lets one of the video's pass, the pass "
        f"makes TCP's queue wait, and RED drops more: the loss of TCP grows from {_of(r, 'tcp_loss', 'C3'):.1f} to "
        f"{_of(r, 'tcp_loss', 'C3m'):.1f} %, its queue is {100 * (1 - first):.0f} % shorter, that of the video "
        f"{100 * (1 - second):.0f} %, and its share of the link falls from {_of(r, 'tcp_share', 'C3'):.0f} to "
        f"{_of(r, 'tcp_share', 'C3m'):.0f} %."
        + _with(others, STATED, _nearly_the_same),
        f"One queue for both does not starve TCP. With RED the video takes {_of(r, 'udp_share', 'C2'):.0f} % of the link, what it "
        f"sends less what is lost, and TCP {_of(r, 'tcp_share', 'C2'):.0f} %; both lose "
        "packets.",
        "The closing question has an answer: fairlane tune, given the scenario and what is wanted, also puts the video first, and "
        f"gives TCP three packets of room in the place of RED: a round trip of {1e3 * chosen:.0f} ms where the paper's choice, "
        f"C8, has {1e3 * best:.0f}, at nearly the same goodput.",
    ]  # fmt: skip


def causes(r: Results, others: Mapping[str, Results]) -> Mapping[str, str]:
    """Why claims come out as they do, each with the runs that show it."""
    first, second = _modified(r)
    same = [name for name, o in others.items() if name != SAME and all(o.has(set="table", case=c) for c in CASES) and _same(o)]
    low = [_of(r, f"rtt_{k}", "C5") for k in (1, 2, 3)]
    return {
        "N4": f"The mean backlogs are {_of(r, 'queue2_mean', 'C3'):.0f} and {_of(r, 'queue2_mean', 'C4'):.0f} packets with TCP first, "
        f"{_of(r, 'queue2_mean', 'C6'):.0f} and {_of(r, 'queue2_mean', 'C7'):.0f} with 1:1 turns. While TCP sends V packets the video, "
        "taking a share u of the link, falls behind by u V packets if it gets nothing and by (2 u - 1) V if it gets half: 0.75 and "
        "0.5 V. They come within 5 % of one another only if u is above 0.95."
        + _with(others, GREEDY, lambda o: f"Run with 99 %: {_backlog(o)} packets, "
                f"{'equal enough for' if _equal(o) else 'not equal enough for'} the claim, but then the queue with 4:1 turns (C5) has "
                f"{_of(o, 'queue2_mean', 'C5'):.0f}, where N2 asks for less than 2.")
        + _with(others, BURST, lambda o: f"Run with all frames at once: {_backlog(o)} packets, and with the video first still "
                f"{_of(o, 'queue2_mean', 'C8'):.0f}.")
        + _with(others, LONG, lambda o: f"With transfers that do not end (10 MB) the two differ by a factor of "
                f"{_of(o, 'queue2_mean', 'C3') / _of(o, 'queue2_mean', 'C6'):.1f}."),
        "N6": f"RED's queue is shorter in the mean ({_of(r, 'queue1_mean', 'C2'):.1f} against {_of(r, 'queue1_mean', 'C1'):.1f} packets) "
        f"but hardly steadier: the deviations are {_of(r, 'queue1_sd', 'C2'):.1f} and {_of(r, 'queue1_sd', 'C1'):.1f} packets, and "
        "differ less than between replications. Both queues are full now and then, RED's because its hard limit is also 50 packets."
        + _with(others, LONG, lambda o: f"With 10 MB a connection they are {_of(o, 'queue1_sd', 'C2'):.1f} and "
                f"{_of(o, 'queue1_sd', 'C1'):.1f}.")
        + _with(others, SHORT_RED, lambda o: f"With RED 5 to 15 in the one queue RED's is "
                f"{_of(o, 'queue1_sd', 'C2'):.1f}{_then(_steadier(o))}."),
        "N9": f"With the modified priority TCP's queue is {100 * (1 - first):.0f} % shorter and the video's {100 * (1 - second):.0f} "
        f"%. RED drops {_of(r, 'tcp_loss', 'C3'):.1f} % of TCP's packets under plain priority, but {_of(r, 'tcp_loss', 'C3m'):.1f} % "
        f"under the modified one, and TCP has {_of(r, 'timeouts', 'C3m'):.0f} timeouts instead of {_of(r, 'timeouts', 'C3'):.0f}, in "
        "which the video has the link."
        + (f" It holds in every replication with: {'; '.join(same)}." if same else ""),
        "N12": f"The three connections have {_range(r, 'rtt', 'C5')} (printed: 1.3 to 2.4 s). The queue grows with TCP's windows for "
        "as long as the transfers last, so a connection that is done early sees less of it."
        + _with(others, LONG, lambda o: f"With 10 MB each they have {_range(o, 'rtt', 'C5')}.") if min(low) < 1.15 else "",
        "N13": f"The four queues hold {_reds(r)} packets (printed: 32, 11, 6.9, 7.7)."
        + _with(others, STATED, lambda o: f"With the stated 15, 25, weight 0.02 and max_p 0.03 at 1.5 Mbit/s they hold {_reds(o)}: nearer "
                "to what the claim asks for, and unlike the printed numbers.")
        + _with(others, STATED_LASTING, lambda o: f"With those, ns-2's gaps between drops and 10 MB a connection they "
                f"hold {_reds(o)}{_then(_between(o))}."),
        "N14": f"The queue holds {_of(r, 'queue1_mean', 'C3'):.1f} packets (deviation {_of(r, 'queue1_sd', 'C3'):.1f}), the round trip is "
        f"{_of(r, 'rtt', 'C3'):.3f} s. The reference run of 11.6 packets has RED's drops spaced as in ns-2, and three connections "
        "without end."
        + _with(others, GAPS, lambda o: f"With that spacing C3 has {_of(o, 'queue1_mean', 'C3'):.1f} packets "
                f"({_of(o, 'queue1_sd', 'C3'):.1f}) and {_of(o, 'rtt', 'C3'):.3f} s here; alone and without end the queue has "
                f"{r.mean('mean_size', set='alone', rate='1.5', queue='RED, 5 to 15', law=LAWS[1]):.1f} packets "
                f"({r.mean('stddev_size', set='alone', rate='1.5', queue='RED, 5 to 15', law=LAWS[1]):.1f}) and "
                f"{r.mean('rtt', set='alone', rate='1.5', queue='RED, 5 to 15', law=LAWS[1]):.3f} s.")
        + _with(others, LASTING, lambda o: f"With both, ns-2's gaps and 10 MB a connection, C3 has "
                f"{_of(o, 'queue1_mean', 'C3'):.1f} packets ({_of(o, 'queue1_sd', 'C3'):.1f}) and {_of(o, 'rtt', 'C3'):.3f} s"
                f"{_then(_as_reference(o))}."),
        "N8": f"The video takes {_of(r, 'udp_share', 'C2'):.0f} % of the link and loses what is missing from its {75:.0f} %; TCP keeps "
        f"{_of(r, 'tcp_share', 'C2'):.0f} %. The words of the claim go further than its check: TCP does not starve.",
    }  # fmt: skip
